//! Intervals in which the algorithm itself sends less than the path carries, such as BBR's ProbeRTT
//! [draft-ietf-ccwg-bbr-06 §4.1.2.4].

use crate::RateSample;

/// An interval in which the algorithm, not the path, limits sending. Its rate samples count as application-limited
/// [draft-ietf-ccwg-bbr-06 §4.1.2.4 MarkConnectionAppLimited; Linux tcp_bbr.c bbr_update_min_rtt sets tp->app_limited].
/// Its ends are the bytes delivered on the connection when a segment was sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct AppLimitedInterval {
    from: u64,
    to: u64,
}

impl AppLimitedInterval {
    /// Marks the segments that are sent from now on, until the data in flight now is delivered.
    pub fn mark(&mut self, delivered: u64, inflight: u64) {
        if delivered > self.to {
            self.from = delivered;
        }
        self.to = (delivered + inflight).max(1);
    }

    /// True if a segment was sent in the interval: `prior_delivered` bytes were delivered when it was sent.
    #[must_use]
    pub fn contains(&self, prior_delivered: u64) -> bool {
        self.to > 0 && (self.from..=self.to).contains(&prior_delivered)
    }

    /// True if a rate sample was limited by the application or by the algorithm.
    #[must_use]
    pub fn is_limited(&self, rate: &RateSample) -> bool {
        rate.app_limited || self.contains(rate.prior_delivered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lasts_until_the_data_in_flight_at_the_mark_is_delivered() {
        let mut interval = AppLimitedInterval::default();
        assert!(!interval.contains(0));
        interval.mark(100, 20);
        interval.mark(110, 30);
        assert!(!interval.contains(99) && interval.contains(100) && interval.contains(140) && !interval.contains(141));
        // A mark after its end begins another interval.
        interval.mark(500, 10);
        assert!(!interval.contains(140) && interval.contains(505));
    }
}
