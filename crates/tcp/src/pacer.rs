//! Pacing: segments leave at a rate, in bursts of a quantum.
//!
//! Each segment moves the time of the next burst on by its payload divided by the rate; within a burst nothing waits.
//! Payload bytes count, as they do in delivery rates and windows: a law that paces at the rate it has measured fills
//! the path, whatever headers add.
//!
//! A burst that leaves later than it might have, because nothing was to be sent or the window was used up, may get some of
//! that time back: as much as it is late, and at most this share of its own length (Linux: half).

use dumbbell_units::{Bytes, Dur, Rate, Time};

/// See the top of this file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pacer {
    /// When the next burst may begin; where nothing is paced, when the last one did.
    next: Time,
    /// What is left of the running burst, bytes; a burst that the sender forms itself has none.
    left: u64,
    /// The running burst: when it left, how late that was, how long what of it has left takes.
    began: Time,
    late: Dur,
    length: Dur,
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

    /// A segment begins a burst of so many bytes.
    fn begin(&mut self, quantum: u64, now: Time) {
        self.began = self.next.max(now);
        self.late = now.since(self.next);
        (self.left, self.length) = (quantum, Dur::ZERO);
    }

    /// A segment leaves. The one that reaches the quantum ends the burst. `credit`: the share of its length that a late burst
    /// gets back at most, percent.
    pub(crate) fn on_sent(&mut self, payload: u32, rate: Rate, quantum: u64, credit: u8, now: Time) {
        if self.next <= now {
            self.begin(quantum, now);
        }
        self.left = self.left.saturating_sub(u64::from(payload));
        self.lengthen(payload, rate, credit);
    }

    /// The same where the sender says whether this segment follows within a burst.
    pub(crate) fn on_burst(&mut self, payload: u32, rate: Rate, follows: bool, credit: u8, now: Time) {
        if !follows {
            self.begin(0, now);
        }
        self.lengthen(payload, rate, credit);
    }

    fn lengthen(&mut self, payload: u32, rate: Rate, credit: u8) {
        self.length += rate.time_for(Bytes(u64::from(payload)));
        let back = self.late.min(self.length * u64::from(credit) / 100);
        self.next = self.began + Dur(self.length.0 - back.0);
    }

    /// A segment leaves that isn't paced.
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
        // Late by half a millisecond: the next gap counts from now on.
        pacer.on_sent(1000, Rate(8_000_000), 1000, 0, Time(1_500_000));
        assert_eq!(pacer.next(), Time(2_500_000));
    }

    #[test]
    fn a_late_burst_gets_back_what_it_is_late_and_half_its_length_at_most() {
        // 1 ms a segment, bursts of two, the first at 0: the next may leave at 2 ms.
        let rate = Rate(8_000_000);
        let burst = |pacer: &mut Pacer, us: u64| {
            for follows in [false, true] {
                pacer.on_burst(1000, rate, follows, 50, Time(us * 1000));
            }
            pacer.next().0 / 1000
        };
        let mut pacer = Pacer::default();
        assert_eq!(burst(&mut pacer, 0), 2000);
        // 0.3 ms late: 2.3 + 2 - 0.3.
        assert_eq!(burst(&mut pacer, 2300), 4000);
        // 5 ms late: half of 2 ms back.
        assert_eq!(burst(&mut pacer, 9000), 10_000);
        // What leaves unpaced is never late itself, and nothing is owed for the time before it.
        pacer.on_unpaced(Time(20_000_000));
        assert_eq!(burst(&mut pacer, 20_000), 22_000);
    }
}
