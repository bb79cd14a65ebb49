//! Pacing: segments leave at a rate, in bursts of a quantum.
//!
//! Each segment moves the time of the next burst on by its payload divided by the rate; within a burst nothing waits.
//! Payload bytes count, as they do in delivery rates and windows: a law that paces at the rate it has measured fills
//! the path, whatever headers add.

use dumbbell_units::{Bytes, Rate, Time};

/// See the top of this file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pacer {
    /// When the next burst may begin.
    next: Time,
    /// What is left of the running burst, bytes.
    left: u64,
}

impl Pacer {
    /// Whether a segment has to wait.
    pub(crate) fn holds(&self, now: Time) -> bool {
        self.left == 0 && self.next > now
    }

    /// When the next burst may begin.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// A segment leaves. The one that reaches the quantum ends the burst.
    pub(crate) fn on_sent(&mut self, payload: u32, rate: Rate, quantum: u64, now: Time) {
        let bytes = u64::from(payload);
        if self.next <= now {
            self.next = now;
            self.left = quantum;
        }
        self.left = self.left.saturating_sub(bytes);
        self.next += rate.time_for(Bytes(bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_of_a_quantum_keep_the_rate() {
        // 8 Mbit/s: 1000 bytes a millisecond; bursts of 3000 bytes every 3 ms.
        let (rate, quantum) = (Rate(8_000_000), 3000);
        let mut pacer = Pacer::default();
        let mut now = Time(5_000_000);
        let mut times = Vec::new();
        for _ in 0..7 {
            if pacer.holds(now) {
                now = pacer.next();
            }
            pacer.on_sent(1000, rate, quantum, now);
            times.push(now.0 / 1_000_000);
        }
        assert_eq!(times, [5, 5, 5, 8, 8, 8, 11]);
    }

    #[test]
    fn one_segment_at_a_time_with_a_quantum_of_one() {
        let mut pacer = Pacer::default();
        pacer.on_sent(1000, Rate(8_000_000), 1000, Time(0));
        assert!(pacer.holds(Time(999_999)));
        assert!(!pacer.holds(Time(1_000_000)));
        // Late by half a millisecond: the next gap counts from now on.
        pacer.on_sent(1000, Rate(8_000_000), 1000, Time(1_500_000));
        assert_eq!(pacer.next(), Time(2_500_000));
    }
}
