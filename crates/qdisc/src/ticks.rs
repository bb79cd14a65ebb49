//! A periodic update, made up for when the next packet comes: in between nothing happens to a queue, so the outcome is
//! that of a timer, and an idle queue costs nothing.

use dumbbell_units::{Dur, Time};

#[derive(Clone, Debug)]
pub(crate) struct Ticks {
    period: Dur,
    next: Time,
}

impl Ticks {
    /// Ticks at each multiple of `period`, which is above zero.
    pub(crate) fn new(period: Dur) -> Ticks {
        Ticks { period, next: Time::ZERO + period }
    }

    /// Runs every tick up to and with `now`. `tick` is told its time and says whether anything is left to change: once
    /// that is not so, the further ticks are passed over.
    pub(crate) fn run(&mut self, now: Time, mut tick: impl FnMut(Time) -> bool) {
        while self.next <= now {
            let at = self.next;
            self.next = at + self.period;
            if !tick(at) && self.next <= now {
                let missed = now.since(self.next).0 / self.period.0 + 1;
                self.next += self.period * missed;
            }
        }
    }

    /// Whether a tick is due by `now`; they then count as made.
    pub(crate) fn due(&mut self, now: Time) -> bool {
        let due = self.next <= now;
        self.run(now, |_| false);
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks_until(now: u64, rest_from: u64) -> Vec<u64> {
        let mut made = Vec::new();
        Ticks::new(Dur(10)).run(Time(now), |at| {
            made.push(at.0);
            at.0 < rest_from
        });
        made
    }

    #[test]
    fn every_multiple_up_to_now() {
        assert_eq!(ticks_until(9, 99), []);
        assert_eq!(ticks_until(30, 99), [10, 20, 30]);
        assert_eq!(ticks_until(1_000_000_000_000, 20), [10, 20]);
    }

    #[test]
    fn passed_over_ticks_keep_the_rhythm() {
        let mut ticks = Ticks::new(Dur(10));
        ticks.run(Time(1005), |_| false);
        let mut next = None;
        ticks.run(Time(1010), |at| {
            next = Some(at);
            true
        });
        assert_eq!(next, Some(Time(1010)));
        assert!(!ticks.due(Time(1019)));
        assert!(ticks.due(Time(1090)) && !ticks.due(Time(1090)));
    }
}
