//! Delivery rates of consecutive intervals, for variants that measure the rate of ACKs over time (Westwood+, H-TCP).

use dumbbell_units::{Dur, Time};

/// Counts delivered bytes and returns their rate at the end of each interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveryRate {
    since: Option<Time>,
    bytes: u64,
}

impl DeliveryRate {
    /// Processes an ACK. Returns the rate in bytes/s if at least `interval` has passed since the last rate. The bytes
    /// of the ACK that ends an interval belong to the next one, so that the ACKs of an interval are as many as the gaps
    /// between them.
    pub fn on_ack(&mut self, delivered: u64, interval: Dur, now: Time) -> Option<f64> {
        let since = *self.since.get_or_insert(now);
        let elapsed = now.since(since);
        let over = elapsed >= interval && elapsed > Dur::ZERO;
        let rate = over.then(|| self.bytes as f64 / elapsed.as_secs());
        if over {
            (self.since, self.bytes) = (Some(now), 0);
        }
        self.bytes += delivered;
        rate
    }

    /// Discards the current interval; the next ACK starts one.
    pub fn restart(&mut self) {
        *self = DeliveryRate::default();
    }
}
