//! Delivery rates, one after the other.

use dumbbell_units::{Dur, Time};

/// Counts what is delivered and gives its rate at the end of each interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveryRate {
    since: Option<Time>,
    bytes: u64,
}

impl DeliveryRate {
    /// Takes in an ACK; gives a rate, in bytes/s, if at least `interval` has passed since the last one. What this ACK
    /// tells of then counts for the next interval: so many ACKs as gaps between them.
    pub fn on_ack(&mut self, delivered: u64, interval: Dur, now: Time) -> Option<f64> {
        let since = *self.since.get_or_insert(now);
        let passed = now.since(since);
        let over = passed >= interval && passed > Dur::ZERO;
        let rate = over.then(|| self.bytes as f64 / passed.as_secs());
        if over {
            (self.since, self.bytes) = (Some(now), 0);
        }
        self.bytes += delivered;
        rate
    }

    /// Forgets the interval that runs; the next ACK starts one.
    pub fn restart(&mut self) {
        *self = DeliveryRate::default();
    }
}
