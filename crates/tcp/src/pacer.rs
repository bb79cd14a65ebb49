//! Pacing: bursts of a quantum are sent at a rate [Linux tcp_output.c tcp_update_skb_after_send, tcp_pacing_check].
//!
//! Each segment moves the time of the next burst by its payload divided by the rate; segments within a burst don't
//! wait. Only payload bytes count, as in delivery rates and windows: pacing at the measured delivery rate then fills
//! the path, whatever the size of headers.
//!
//! A burst may be sent later than allowed, because no data was available or the window was full. The next burst may
//! then be earlier by this delay, at most by a share of the late burst's length (on the stack `linux` half).

use dumbbell_units::{Bytes, Dur, Rate, Time};

/// The pacer of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pacer {
    /// When the next burst may start; without pacing, when the last one did.
    next: Time,
    /// Bytes left of the current quantum; 0 for a burst whose end the sender decides.
    left: u64,
    /// When the current burst started, by how much it was late, and the time that its segments so far take at the rate.
    started: Time,
    late: Dur,
    length: Dur,
}

impl Pacer {
    /// True if a segment has to wait.
    pub(crate) fn holds(&self, now: Time) -> bool {
        self.left == 0 && self.next > now
    }

    /// When the next burst may start.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Starts a burst of `quantum` bytes.
    fn start_burst(&mut self, quantum: u64, now: Time) {
        self.started = self.next.max(now);
        self.late = now.since(self.next);
        (self.left, self.length) = (quantum, Dur::ZERO);
    }

    /// Counts a segment that is sent; the one that completes the quantum ends the burst. `credit` is the largest share
    /// of its length, in percent, by which the burst after a late one may be earlier.
    pub(crate) fn on_sent(&mut self, payload: u32, rate: Rate, quantum: u64, credit: u8, now: Time) {
        if self.next <= now {
            self.start_burst(quantum, now);
        }
        self.left = self.left.saturating_sub(u64::from(payload));
        self.lengthen(payload, rate, credit);
    }

    /// Counts a segment of a burst that the sender forms; `follows` is true if it isn't the first.
    pub(crate) fn on_sent_in_burst(&mut self, payload: u32, rate: Rate, follows: bool, credit: u8, now: Time) {
        if !follows {
            self.start_burst(0, now);
        }
        self.lengthen(payload, rate, credit);
    }

    fn lengthen(&mut self, payload: u32, rate: Rate, credit: u8) {
        self.length += rate.time_for(Bytes(u64::from(payload)));
        let earlier = self.late.min(self.length * u64::from(credit) / 100);
        self.next = self.started + Dur(self.length.0 - earlier.0);
    }

    /// Counts a segment that isn't paced.
    pub(crate) fn on_unpaced(&mut self, now: Time) {
        self.next = self.next.max(now);
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
            pacer.on_sent(1000, rate, quantum, 0, now);
            times.push(now.0 / 1_000_000);
        }
        assert_eq!(times, [5, 5, 5, 8, 8, 8, 11]);
    }

    #[test]
    fn one_segment_at_a_time_with_a_quantum_of_one() {
        let mut pacer = Pacer::default();
        pacer.on_sent(1000, Rate(8_000_000), 1000, 0, Time(0));
        assert!(pacer.holds(Time(999_999)));
        assert!(!pacer.holds(Time(1_000_000)));
        // Late by half a millisecond: the next gap starts now.
        pacer.on_sent(1000, Rate(8_000_000), 1000, 0, Time(1_500_000));
        assert_eq!(pacer.next(), Time(2_500_000));
    }

    #[test]
    fn a_late_burst_advances_the_next_by_its_delay_and_half_its_length_at_most() {
        // 1 ms a segment, bursts of two, the first at 0: the next may start at 2 ms.
        let rate = Rate(8_000_000);
        let burst = |pacer: &mut Pacer, us: u64| {
            for follows in [false, true] {
                pacer.on_sent_in_burst(1000, rate, follows, 50, Time(us * 1000));
            }
            pacer.next().0 / 1000
        };
        let mut pacer = Pacer::default();
        assert_eq!(burst(&mut pacer, 0), 2000);
        // 0.3 ms late: 2.3 + 2 - 0.3.
        assert_eq!(burst(&mut pacer, 2300), 4000);
        // 5 ms late: the next is earlier by half of 2 ms.
        assert_eq!(burst(&mut pacer, 9000), 10_000);
        // An unpaced segment is never late, and gives no credit for the time before it.
        pacer.on_unpaced(Time(20_000_000));
        assert_eq!(burst(&mut pacer, 20_000), 22_000);
    }
}
