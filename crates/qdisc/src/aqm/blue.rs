//! The BLUE algorithm: a drop probability that packet loss raises and an idle link lowers [Feng, Shin, Kandlur and
//! Saha, The BLUE Active Queue Management Algorithms, IEEE/ACM Trans. Networking 10(4), 2002].
//!
//! ```text
//! packet loss at a full queue    p_m += increment (d1)
//! link idle                      p_m -= decrement (d2)
//! each at most once per freeze_time, with p_m in 0..1
//! ```

use dumbbell_units::{Dur, Time};

/// The parameters of BLUE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlueParams {
    /// Increase of the probability at a packet loss, d1.
    pub increment: f64,
    /// Decrease on an idle link, d2.
    pub decrement: f64,
    /// Minimum time between two changes; above zero.
    pub freeze_time: Dur,
}

/// The state of BLUE for one queue.
#[derive(Clone, Debug)]
pub struct Blue {
    params: BlueParams,
    p_m: f64,
    /// Earliest time of the next change.
    next_update: Time,
}

impl Blue {
    /// Returns the initial state: probability 0.
    #[must_use]
    pub fn new(params: BlueParams) -> Blue {
        Blue { params, p_m: 0.0, next_update: Time::ZERO }
    }

    /// Returns the probability with which arrivals are dropped or marked.
    #[must_use]
    pub fn p_m(&self) -> f64 {
        self.p_m
    }

    /// A packet was lost at a full queue.
    pub fn on_loss(&mut self, now: Time) {
        if now >= self.next_update {
            self.p_m = (self.p_m + self.params.increment).min(1.0);
            self.next_update = now + self.params.freeze_time;
        }
    }

    /// The link was idle from `since` to `now`.
    pub fn on_idle(&mut self, since: Time, now: Time) {
        let first = self.next_update.max(since);
        if first > now {
            return;
        }
        let further = now.since(first).0 / self.params.freeze_time.0;
        self.p_m = (self.p_m - self.params.decrement * (1 + further) as f64).max(0.0);
        self.next_update = first + self.params.freeze_time * (1 + further);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blue() -> Blue {
        Blue::new(BlueParams { increment: 0.25, decrement: 0.0625, freeze_time: Dur(100) })
    }

    #[test]
    fn losses_raise_the_probability_once_per_freeze_time() {
        let mut blue = blue();
        for (now, p) in [(0, 0.25), (99, 0.25), (100, 0.5), (350, 0.75), (449, 0.75), (450, 1.0), (900, 1.0)] {
            blue.on_loss(Time(now));
            assert_eq!(blue.p_m(), p, "at {now}");
        }
    }

    #[test]
    fn idle_time_lowers_it() {
        let mut blue = blue();
        blue.on_loss(Time(0));
        blue.on_loss(Time(100));
        // Frozen until 200: idle time from 150 to 199 has no effect.
        blue.on_idle(Time(150), Time(199));
        assert_eq!(blue.p_m(), 0.5);
        // Idle until 450: decreases at 200, 300 and 400.
        blue.on_idle(Time(150), Time(450));
        assert_eq!(blue.p_m(), 0.5 - 3.0 * 0.0625);
        // The next change is possible from 500 on: an earlier loss has no effect.
        blue.on_loss(Time(499));
        assert_eq!(blue.p_m(), 0.3125);
        // Idle from 600 on: decreases at 600 and 700.
        blue.on_idle(Time(600), Time(700));
        assert_eq!(blue.p_m(), 0.1875);
        blue.on_idle(Time(800), Time(1_000_000));
        assert_eq!(blue.p_m(), 0.0);
    }
}
