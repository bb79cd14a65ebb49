//! A periodic timer that is evaluated at arrivals and departures, for algorithms such as PIE that update every tupdate.
//!
//! Between two packets nothing changes in a queue. Running the missed updates at the next packet therefore gives the
//! same result as a real timer, and an idle queue costs no events.

use dumbbell_units::{Dur, Time};

#[derive(Clone, Debug)]
pub(crate) struct UpdateTimer {
    period: Dur,
    next: Time,
}

impl UpdateTimer {
    /// Returns a timer that expires at each multiple of `period`, which is above zero.
    pub(crate) fn new(period: Dur) -> UpdateTimer {
        UpdateTimer::starting(period, period)
    }

    /// The same with a first expiry at `first`.
    pub(crate) fn starting(first: Dur, period: Dur) -> UpdateTimer {
        UpdateTimer { period, next: Time::ZERO + first }
    }

    /// Runs every update that is due by `now`. `update` receives the time at which it was due. It returns false if
    /// further updates would change nothing; these are then skipped.
    pub(crate) fn run(&mut self, now: Time, mut update: impl FnMut(Time) -> bool) {
        while self.next <= now {
            let at = self.next;
            self.next = at + self.period;
            if !update(at) && self.next <= now {
                let missed = now.since(self.next).0 / self.period.0 + 1;
                self.next += self.period * missed;
            }
        }
    }

    /// Returns true if an update is due by `now`, and skips all that are.
    pub(crate) fn due(&mut self, now: Time) -> bool {
        let due = self.next <= now;
        self.run(now, |_| false);
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn updates_until(now: u64, idle_from: u64) -> Vec<u64> {
        let mut updates = Vec::new();
        UpdateTimer::new(Dur(10)).run(Time(now), |at| {
            updates.push(at.0);
            at.0 < idle_from
        });
        updates
    }

    #[test]
    fn updates_run_at_every_multiple_of_the_period() {
        assert_eq!(updates_until(9, 99), []);
        assert_eq!(updates_until(30, 99), [10, 20, 30]);
        assert_eq!(updates_until(1_000_000_000_000, 20), [10, 20]);
    }

    #[test]
    fn skipped_updates_keep_the_period() {
        let mut timer = UpdateTimer::new(Dur(10));
        timer.run(Time(1005), |_| false);
        let mut next = None;
        timer.run(Time(1010), |at| {
            next = Some(at);
            true
        });
        assert_eq!(next, Some(Time(1010)));
        assert!(!timer.due(Time(1019)));
        assert!(timer.due(Time(1090)) && !timer.due(Time(1090)));
    }
}
