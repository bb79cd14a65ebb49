//! COBALT's law: CoDel and BLUE side by side, as CAKE has them [Høiland-Jørgensen, Täht and Morton, Piece of CAKE: A
//! Comprehensive Queue Management Solution for Home Gateways, LANMAN 2018; Palmei et al., Design and Evaluation of
//! COBALT Queue Discipline, LANMAN 2019].
//!
//! ```text
//! CoDel   a packet that leaves is high if it waited for longer than target and than four full packets take
//!         high after low   dropping; the first notice is due interval / sqrt(count) later, count at least 1
//!         due, dropping    marked, or dropped if it can't be; count + 1, due again interval / sqrt(count) later
//!         due, not         count - 1, due again likewise, until not due: the rate falls as it rose
//! BLUE    the queue overflows    p += 1/256     each at most once in target
//!         it is empty            p -= 1/4096
//!         every packet is dropped with probability p, ECN-capable or not: it is for those who don't answer
//! ```
//! Other than in [`super::codel`] a notice goes with one packet alone, and the state decays instead of being
//! remembered for a while. DIVERGES [Linux's cake]: there a queue whose very first packet is high is told at once.

use super::Verdict;
use dumbbell_units::{Dur, Time};

/// Step of the probability up.
const INCREMENT: f64 = 1.0 / 256.0;
/// Step down.
const DECREMENT: f64 = 1.0 / 4096.0;

/// What is fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The delay that may stand; above zero.
    pub target: Dur,
    /// For how long it has to be passed; above zero.
    pub interval: Dur,
    /// What four full packets take at the shaper's rate.
    pub four_packets: Dur,
}

/// The law's state.
#[derive(Clone, Debug, Default)]
pub struct Cobalt {
    count: u32,
    dropping: bool,
    /// The next notice while `count` is above 0; else until when the queue counts as in use.
    due: Time,
    p: f64,
    /// From when on BLUE's next step may be.
    free_from: Time,
}

impl Cobalt {
    /// Whether CoDel is dropping (or marking).
    #[must_use]
    pub fn dropping(&self) -> bool {
        self.dropping
    }

    /// BLUE's probability.
    #[must_use]
    pub fn p(&self) -> f64 {
        self.p
    }

    /// Whether anything of the past is left to be remembered.
    #[must_use]
    pub fn is_at_rest(&self, now: Time) -> bool {
        self.count == 0 && self.p == 0.0 && now >= self.due
    }

    /// Decides on a packet that leaves after `sojourn`, `capable` of being marked or not; `draw` gives a number uniform in
    /// 0..1.
    pub fn decide(
        &mut self,
        config: &Config,
        now: Time,
        sojourn: Dur,
        capable: bool,
        draw: impl FnOnce() -> f64,
    ) -> Verdict {
        let is_due = self.count > 0 && now >= self.due;
        let high = sojourn > config.target && sojourn > config.four_packets;
        if high && !self.dropping {
            self.due = self.after(config, now);
            self.count = self.count.max(1);
        }
        self.dropping = high;
        let told = is_due && self.dropping;
        if told {
            self.count = self.count.saturating_add(1);
            self.due = self.after(config, self.due);
        } else if is_due {
            self.fall(config, now);
        }
        let verdict = match told {
            _ if self.p > 0.0 && draw() < self.p => Verdict::Drop,
            true if capable => Verdict::Mark,
            true => Verdict::Drop,
            false => Verdict::Pass,
        };
        if self.count == 0 {
            self.due = now + config.interval;
        } else if now > self.due && verdict != Verdict::Drop {
            self.due = now; // only drops make up for what was missed
        }
        verdict
    }

    /// The queue has passed its limit and lost a packet.
    pub fn overflow(&mut self, config: &Config, now: Time) {
        if now >= self.free_from {
            self.p = (self.p + INCREMENT).min(1.0);
            self.free_from = now + config.target;
        }
        self.dropping = true;
        self.due = now;
        self.count = self.count.max(1);
    }

    /// The queue has been empty since then: the state decays by the clock.
    pub fn empty(&mut self, config: &Config, since: Time, now: Time) {
        self.dropping = false;
        if self.p > 0.0 {
            let first = self.free_from.max(since);
            if first <= now {
                let further = now.since(first).0 / config.target.0;
                self.p = (self.p - DECREMENT * (1 + further) as f64).max(0.0);
                self.free_from = first + config.target * (1 + further);
            }
        }
        self.fall(config, now);
    }

    /// Notices that are due but not needed bring the count down.
    fn fall(&mut self, config: &Config, now: Time) {
        while self.count > 0 && now >= self.due {
            self.count -= 1;
            self.due = self.after(config, self.due);
        }
    }

    fn after(&self, config: &Config, time: Time) -> Time {
        time + config.interval.scale(1.0 / f64::from(self.count.max(1)).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Dur = Dur::millis(1);
    const CONFIG: Config =
        Config { target: Dur::millis(5), interval: Dur::millis(100), four_packets: Dur::millis(3) };

    /// A packet leaves each millisecond from `from` to before `until`, after `sojourn` ms; when congestion was told.
    fn run(law: &mut Cobalt, from: u64, until: u64, sojourn: u64) -> Vec<u64> {
        let at = |ms: u64| Time::ZERO + MS * ms;
        (from..until)
            .filter(|&ms| law.decide(&CONFIG, at(ms), MS * sojourn, false, || 0.5) != Verdict::Pass)
            .collect()
    }

    #[test]
    fn notices_come_faster_and_then_slow_down() {
        let mut law = Cobalt::default();
        assert_eq!(run(&mut law, 0, 10, 1), []);
        // High from 10 on: due at 110 with count 1. Then count 2, 3, 4, 5: 110 + 70.71 = 180.71, + 57.74 = 238.45,
        // + 50 = 288.45, + 44.72 = 333.17; count 6 after that, due at 333.17 + 40.82 = 373.99.
        assert_eq!(run(&mut law, 10, 340, 6), [110, 181, 239, 289, 334]);
        assert_eq!(law.count, 6);
        // Exactly the target is not high. Due at 373.99: count 5, then 44.72 on at 418.72, 468.72, 526.45, 597.16 (count
        // 4, 3, 2, 1), and at 697.16 0; the next packet's time each.
        for (until, count) in [(374, 6), (375, 5), (420, 4), (470, 3), (528, 2), (599, 1), (699, 0)] {
            let from = 374.min(until - 1);
            run(&mut law, from, until, 5);
            assert_eq!(law.count, count, "at {until}");
        }
    }

    #[test]
    fn what_was_missed_is_made_up_for_by_drops_alone() {
        // Due at 110 and nothing leaves until 300. Drops: due at 110, 180.71, 238.45, 288.45, and then at 333.17 again.
        // Marks: the first at 300 takes the place of all that were missed: due at 300 again, then 300 + 57.74 on (count 3).
        let mut law = Cobalt::default();
        run(&mut law, 0, 10, 1);
        run(&mut law, 10, 100, 6);
        let mut marks = law.clone();
        assert_eq!(run(&mut law, 300, 340, 6), [300, 301, 302, 303, 334]);
        let at = |ms: u64| Time::ZERO + MS * ms;
        let marked =
            (300..400).filter(|&ms| marks.decide(&CONFIG, at(ms), MS * 6, true, || 0.5) == Verdict::Mark);
        assert_eq!(marked.collect::<Vec<_>>(), [300, 301, 358]);
    }

    #[test]
    fn four_packets_may_always_wait() {
        let slow = Config { four_packets: MS * 50, ..CONFIG };
        let mut law = Cobalt::default();
        law.decide(&slow, Time(0), MS * 50, false, || 0.5);
        assert!(!law.dropping());
        law.decide(&slow, Time(1), MS * 51, false, || 0.5);
        assert!(law.dropping());
    }

    #[test]
    fn a_spell_starts_from_what_is_left_of_the_last() {
        // Count 6, due at 373.99 as above; low at 340, high again at 341: 341 + 100/sqrt(6) = 381.82.
        let mut law = Cobalt::default();
        run(&mut law, 0, 10, 1);
        run(&mut law, 10, 340, 6);
        run(&mut law, 340, 341, 1);
        assert_eq!(run(&mut law, 341, 390, 6), [382]);
    }

    #[test]
    fn overflows_make_drops_blind_and_empty_time_ends_them() {
        let mut law = Cobalt::default();
        let at = |ms: u64| Time::ZERO + MS * ms;
        // Once in 5 ms.
        for (ms, steps) in [(1, 1.0), (5, 1.0), (6, 2.0), (10, 2.0), (13, 3.0)] {
            law.overflow(&CONFIG, at(ms));
            assert_eq!(law.p(), steps / 256.0, "at {ms}");
        }
        assert!(law.dropping());
        // Dropped with 3/256, whatever the sojourn; CoDel's notice is due too (count 1).
        let decide = |sojourn, capable, draw| law.clone().decide(&CONFIG, at(14), sojourn, capable, || draw);
        assert_eq!(decide(Dur::ZERO, true, 2.9 / 256.0), Verdict::Drop);
        assert_eq!(decide(Dur::ZERO, true, 3.1 / 256.0), Verdict::Pass);
        assert_eq!(decide(MS * 10, true, 0.5), Verdict::Mark);
        assert_eq!(decide(MS * 10, false, 0.5), Verdict::Drop);
        // Empty from 20 ms to 29: steps at 20 and 25.
        law.empty(&CONFIG, at(20), at(29));
        assert_eq!(law.p(), 3.0 / 256.0 - 2.0 / 4096.0);
        // 46 more take it to 0: 30, 35, ..., 255 ms. Count 1 was due at 13 and fell to 0, due at 113 last.
        assert!(!law.is_at_rest(at(29)));
        law.empty(&CONFIG, at(20), at(254));
        assert!(!law.is_at_rest(at(254)));
        law.empty(&CONFIG, at(20), at(255));
        assert!(law.is_at_rest(at(255)));
    }
}
