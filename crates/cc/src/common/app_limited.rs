//! Time that a law itself leaves unused.

use crate::RateSample;

/// A stretch of sending below what the path carries because the law wanted so, not the path: its delivery rates count
/// as held back by the application [draft-ietf-ccwg-bbr-06 §4.1.2.4 MarkConnectionAppLimited]. Counted in bytes
/// delivered when a segment left.
#[derive(Clone, Copy, Debug, Default)]
pub struct AppLimitedInterval {
    from: u64,
    to: u64,
}

impl AppLimitedInterval {
    /// All that is sent from now on, until what is outstanding now is delivered.
    pub fn mark(&mut self, delivered: u64, inflight: u64) {
        if delivered > self.to {
            self.from = delivered;
        }
        self.to = (delivered + inflight).max(1);
    }

    /// Whether a segment was sent in it, which left when so much was delivered.
    #[must_use]
    pub fn contains(&self, prior_delivered: u64) -> bool {
        self.to > 0 && (self.from..=self.to).contains(&prior_delivered)
    }

    /// Whether a rate says too little, be it for the application or for this.
    #[must_use]
    pub fn is_limited(&self, rate: &RateSample) -> bool {
        rate.app_limited || self.contains(rate.prior_delivered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_the_mark_until_what_was_outstanding_is_delivered() {
        let mut interval = AppLimitedInterval::default();
        assert!(!interval.contains(0));
        interval.mark(100, 20);
        interval.mark(110, 30);
        assert!(
            !interval.contains(99)
                && interval.contains(100)
                && interval.contains(140)
                && !interval.contains(141)
        );
        // A later one is another.
        interval.mark(500, 10);
        assert!(!interval.contains(140) && interval.contains(505));
    }
}
