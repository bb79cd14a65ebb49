//! Time that a law itself leaves unused.

use crate::RateSample;

/// A stretch of sending below what the path carries because the law wanted so, not the path: its delivery rates count
/// as held back by the application [draft-ietf-ccwg-bbr-06 §4.1.2.4 MarkConnectionAppLimited]. Counted in bytes
/// delivered when a segment left.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bubble {
    from: u64,
    to: u64,
}

impl Bubble {
    /// All that is sent from now on, until what is outstanding now is delivered.
    pub fn mark(&mut self, delivered: u64, inflight: u64) {
        if delivered > self.to {
            self.from = delivered;
        }
        self.to = (delivered + inflight).max(1);
    }

    /// Whether a segment was sent in it, which left when so much was delivered.
    #[must_use]
    pub fn holds(&self, prior_delivered: u64) -> bool {
        self.to > 0 && (self.from..=self.to).contains(&prior_delivered)
    }

    /// Whether a rate says too little, be it for the application or for this.
    #[must_use]
    pub fn limits(&self, rate: &RateSample) -> bool {
        rate.app_limited || self.holds(rate.prior_delivered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_the_mark_until_what_was_outstanding_is_delivered() {
        let mut bubble = Bubble::default();
        assert!(!bubble.holds(0));
        bubble.mark(100, 20);
        bubble.mark(110, 30);
        assert!(!bubble.holds(99) && bubble.holds(100) && bubble.holds(140) && !bubble.holds(141));
        // A later one is another.
        bubble.mark(500, 10);
        assert!(!bubble.holds(140) && bubble.holds(505));
    }
}
