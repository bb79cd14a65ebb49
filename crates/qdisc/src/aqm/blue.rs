//! BLUE's law: a probability that losses raise and idle time lowers [Feng, Shin, Kandlur and Saha, The BLUE Active Queue
//! Management Algorithms, IEEE/ACM Trans. Networking 10(4), 2002].
//!
//! ```text
//! a packet is lost to a full queue    p += increment
//! the link is idle                    p -= decrement
//! either at most once in freeze_time, within 0..1
//! ```

use dumbbell_units::{Dur, Time};

/// What is fixed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Step up, d1.
    pub increment: f64,
    /// Step down, d2.
    pub decrement: f64,
    /// The least time from one step to the next; above zero.
    pub freeze_time: Dur,
}

/// The law's state.
#[derive(Clone, Debug)]
pub struct Blue {
    config: Config,
    probability: f64,
    /// From when on the next step may be.
    free_from: Time,
}

impl Blue {
    /// A fresh queue's state.
    #[must_use]
    pub fn new(config: Config) -> Blue {
        Blue { config, probability: 0.0, free_from: Time::ZERO }
    }

    /// The probability with which arrivals are told of congestion.
    #[must_use]
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// A packet was lost to a full queue.
    pub fn lost(&mut self, now: Time) {
        if now >= self.free_from {
            self.probability = (self.probability + self.config.increment).min(1.0);
            self.free_from = now + self.config.freeze_time;
        }
    }

    /// The link was idle from then until now.
    pub fn idle(&mut self, since: Time, now: Time) {
        let first = self.free_from.max(since);
        if first > now {
            return;
        }
        let further = now.since(first).0 / self.config.freeze_time.0;
        self.probability = (self.probability - self.config.decrement * (1 + further) as f64).max(0.0);
        self.free_from = first + self.config.freeze_time * (1 + further);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law() -> Blue {
        Blue::new(Config { increment: 0.25, decrement: 0.0625, freeze_time: Dur(100) })
    }

    #[test]
    fn losses_raise_the_probability_once_in_freeze_time() {
        let mut law = law();
        for (now, p) in [(0, 0.25), (99, 0.25), (100, 0.5), (350, 0.75), (449, 0.75), (450, 1.0), (900, 1.0)]
        {
            law.lost(Time(now));
            assert_eq!(law.probability(), p, "at {now}");
        }
    }

    #[test]
    fn idle_time_lowers_it() {
        let mut law = law();
        law.lost(Time(0));
        law.lost(Time(100));
        // Frozen until 200; idle from 150 to 199: nothing.
        law.idle(Time(150), Time(199));
        assert_eq!(law.probability(), 0.5);
        // Idle on to 450: at 200, 300, 400.
        law.idle(Time(150), Time(450));
        assert_eq!(law.probability(), 0.5 - 3.0 * 0.0625);
        // The next step is free from 500: a loss before has no effect.
        law.lost(Time(499));
        assert_eq!(law.probability(), 0.3125);
        // Idle from 600 on, which is free: at once, and at 700.
        law.idle(Time(600), Time(700));
        assert_eq!(law.probability(), 0.1875);
        law.idle(Time(800), Time(1_000_000));
        assert_eq!(law.probability(), 0.0);
    }
}
