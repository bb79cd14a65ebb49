//! The COBALT algorithm: CoDel and BLUE side by side, as used by CAKE [Høiland-Jørgensen, Täht and Morton, Piece of
//! CAKE: A Comprehensive Queue Management Solution for Home Gateways, LANMAN 2018; Palmei et al., Design and Evaluation
//! of COBALT Queue Discipline, LANMAN 2019; Linux sch_cake.c cobalt_should_drop].
//!
//! ```text
//! CoDel   over_target: the sojourn time of a departing packet exceeds target and four times mtu_time
//!         not dropping, over_target   enter the dropping state; drop_next = now + interval / sqrt(count), count >= 1
//!         dropping, drop_next reached mark the packet, or drop it if it is not ECN-capable; count += 1;
//!                                     drop_next += interval / sqrt(count)
//!         not dropping, reached       count -= 1 and drop_next += interval / sqrt(count), until drop_next is ahead:
//!                                     the rate falls as it rose                          [cobalt_should_drop]
//! BLUE    queue overflow              p_drop += 1/256     each at most once per target   [cobalt_queue_full]
//!         empty queue                 p_drop -= 1/4096                                   [cobalt_queue_empty]
//!         each packet is dropped with probability p_drop, ECN-capable or not: BLUE acts on unresponsive flows
//! ```
//! Unlike [`super::codel`], each departure signals congestion with at most one packet, and `count` decays with time
//! instead of being remembered for 16 intervals. rec_inv_sqrt, 1 / sqrt(count), is 0 in a new queue: its second
//! consecutive packet over target is signaled without waiting for an interval [Linux sch_cake.c cobalt_vars_init].

use super::Verdict;
use dumbbell_units::{Dur, Time};

/// Increase of `p_drop` [Linux sch_cake.c cake_set_rate].
const P_INC: f64 = 1.0 / 256.0;
/// Decrease of `p_drop` [Linux sch_cake.c cake_set_rate].
const P_DEC: f64 = 1.0 / 4096.0;

/// The parameters of COBALT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CobaltParams {
    /// Acceptable persistent sojourn time; above zero.
    pub target: Dur,
    /// Time over target before the first drop; above zero.
    pub interval: Dur,
    /// Time that a full packet takes at the rate of the shaper, times four.
    pub four_mtu_time: Dur,
}

/// The state of COBALT for one queue.
#[derive(Clone, Debug, Default)]
pub struct Cobalt {
    count: u32,
    /// 1 / sqrt(count) since count last changed by one, and 0 before.
    rec_inv_sqrt: f64,
    dropping: bool,
    /// Time of the next drop while `count` is above zero; otherwise the end of the time for which the queue counts as
    /// active.
    drop_next: Time,
    p_drop: f64,
    /// Earliest time of the next change of `p_drop`.
    blue_timer: Time,
}

impl Cobalt {
    /// True while CoDel is in the dropping state.
    #[must_use]
    pub fn dropping(&self) -> bool {
        self.dropping
    }

    /// Returns BLUE's drop probability.
    #[must_use]
    pub fn p_drop(&self) -> f64 {
        self.p_drop
    }

    /// True once the state has decayed to its initial values, so that the queue can be given to another flow
    /// [Linux sch_cake.c cake_dequeue].
    #[must_use]
    pub fn has_decayed(&self, now: Time) -> bool {
        self.count == 0 && self.p_drop == 0.0 && now >= self.drop_next
    }

    /// Decides on a packet that leaves after `sojourn` [Linux sch_cake.c cobalt_should_drop]. `draw` returns a number
    /// uniform in 0..1.
    pub fn should_drop(
        &mut self,
        params: &CobaltParams,
        now: Time,
        sojourn: Dur,
        ecn_capable: bool,
        draw: impl FnOnce() -> f64,
    ) -> Verdict {
        let mut passed = now > self.drop_next; // schedule > 0, from before the dropping state
        let next_due = self.count > 0 && now >= self.drop_next;
        let over_target = sojourn > params.target && sojourn > params.four_mtu_time;
        if over_target && !self.dropping {
            self.drop_next = self.control_law(params, now);
        }
        if over_target {
            self.count = self.count.max(1);
        }
        self.dropping = over_target;
        let signals = next_due && self.dropping;
        if signals {
            self.step(params, self.count.saturating_add(1));
            passed = now > self.drop_next;
        } else if next_due {
            while self.count > 0 && now >= self.drop_next {
                self.step(params, self.count - 1);
            }
            passed = now > self.drop_next;
        }
        let verdict = match signals {
            _ if self.p_drop > 0.0 && draw() < self.p_drop => Verdict::Drop,
            true if ecn_capable => Verdict::Mark,
            true => Verdict::Drop,
            false => Verdict::Pass,
        };
        if self.count == 0 {
            self.drop_next = now + params.interval;
        } else if passed && verdict != Verdict::Drop {
            self.drop_next = now; // drops compensate for missed signals, marks do not
        }
        verdict
    }

    /// The queue exceeded its limit and a packet was dropped from it [Linux sch_cake.c cobalt_queue_full].
    pub fn queue_full(&mut self, params: &CobaltParams, now: Time) {
        if self.is_blue_due(params, now) {
            self.p_drop = (self.p_drop + P_INC).min(1.0);
            self.blue_timer = now;
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// The scheduler found the queue empty: each such visit lowers `p_drop` and `count` by one step, if it is due
    /// [Linux sch_cake.c cobalt_queue_empty].
    pub fn queue_empty(&mut self, params: &CobaltParams, now: Time) {
        if self.p_drop > 0.0 && self.is_blue_due(params, now) {
            self.p_drop = (self.p_drop - P_DEC).max(0.0);
            self.blue_timer = now;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.step(params, self.count - 1);
        }
    }

    /// True if `p_drop` last changed more than a target ago.
    fn is_blue_due(&self, params: &CobaltParams, now: Time) -> bool {
        now > self.blue_timer + params.target
    }

    /// Changes `count` by one, and schedules the next signal [Linux sch_cake.c cobalt_invsqrt].
    fn step(&mut self, params: &CobaltParams, count: u32) {
        self.count = count;
        self.rec_inv_sqrt = 1.0 / f64::from(count.max(1)).sqrt();
        self.drop_next = self.control_law(params, self.drop_next);
    }

    /// Returns the time of the next signal after one at `t` [Linux sch_cake.c cobalt_control].
    fn control_law(&self, params: &CobaltParams, t: Time) -> Time {
        t + params.interval.scale(self.rec_inv_sqrt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Dur = Dur::millis(1);
    const PARAMS: CobaltParams =
        CobaltParams { target: Dur::millis(5), interval: Dur::millis(100), four_mtu_time: Dur::millis(3) };

    /// A packet leaves each millisecond from `from` to before `until`, after `sojourn` ms. Returns the milliseconds of
    /// drops.
    fn run(cobalt: &mut Cobalt, from: u64, until: u64, sojourn: u64) -> Vec<u64> {
        let at = |ms: u64| Time::ZERO + MS * ms;
        (from..until)
            .filter(|&ms| cobalt.should_drop(&PARAMS, at(ms), MS * sojourn, false, || 0.5) != Verdict::Pass)
            .collect()
    }

    /// The state after an earlier dropping state has decayed.
    fn used() -> Cobalt {
        Cobalt { rec_inv_sqrt: 1.0, ..Cobalt::default() }
    }

    #[test]
    fn a_new_queue_signals_its_second_packet_over_target() {
        // rec_inv_sqrt is 0: drop_next is 10 at once, count 2 at 11; then 10 + 70.71, + 57.74.
        let mut cobalt = Cobalt::default();
        assert_eq!(run(&mut cobalt, 0, 10, 1), []);
        assert_eq!(run(&mut cobalt, 10, 140, 6), [11, 81, 139]);
    }

    #[test]
    fn a_pause_of_more_than_an_interval_lets_the_second_packet_be_signaled() {
        // The time for which the queue counts as active ended at 109: the packet at 200, over target, leaves drop_next
        // there.
        let mut cobalt = used();
        run(&mut cobalt, 0, 10, 1);
        assert_eq!(run(&mut cobalt, 200, 203, 6), [201]);
        // Within it the first signal follows after an interval.
        let mut cobalt = used();
        run(&mut cobalt, 0, 10, 1);
        assert_eq!(run(&mut cobalt, 100, 202, 6), [200]);
    }

    #[test]
    fn the_drop_rate_rises_and_then_falls() {
        let mut cobalt = used();
        assert_eq!(run(&mut cobalt, 0, 10, 1), []);
        // Over target from 10 on: first drop at 110 with count 1. Then count 2, 3, 4, 5: 110 + 70.71 = 180.71, + 57.74
        // = 238.45, + 50 = 288.45, + 44.72 = 333.17; count is then 6, and drop_next 333.17 + 40.82 = 373.99.
        assert_eq!(run(&mut cobalt, 10, 340, 6), [110, 181, 239, 289, 334]);
        assert_eq!(cobalt.count, 6);
        // Exactly the target is not over it. At 373.99 count is 5, then 44.72 later, at 418.72, 468.72, 526.45, 597.16
        // (count 4, 3, 2, 1), and at 697.16 0; each time rounded up to the next packet.
        for (until, count) in [(374, 6), (375, 5), (420, 4), (470, 3), (528, 2), (599, 1), (699, 0)] {
            let from = 374.min(until - 1);
            run(&mut cobalt, from, until, 5);
            assert_eq!(cobalt.count, count, "at {until}");
        }
    }

    #[test]
    fn missed_signals_are_made_up_for_by_drops_only() {
        // The first signal is due at 110, but nothing leaves until 300. Drops were due at 110, 180.71, 238.45 and
        // 288.45, the next is at 333.17. Marks: the first, at 300, replaces all that were missed; the next is due at
        // 300 again, then 300 + 57.74 (count 3).
        let mut cobalt = used();
        run(&mut cobalt, 0, 10, 1);
        run(&mut cobalt, 10, 100, 6);
        let mut marks = cobalt.clone();
        assert_eq!(run(&mut cobalt, 300, 340, 6), [300, 301, 302, 303, 334]);
        let at = |ms: u64| Time::ZERO + MS * ms;
        let marked = (300..400).filter(|&ms| marks.should_drop(&PARAMS, at(ms), MS * 6, true, || 0.5) == Verdict::Mark);
        assert_eq!(marked.collect::<Vec<_>>(), [300, 301, 358]);
    }

    #[test]
    fn a_sojourn_of_four_full_packets_is_always_accepted() {
        let slow = CobaltParams { four_mtu_time: MS * 50, ..PARAMS };
        let mut cobalt = Cobalt::default();
        cobalt.should_drop(&slow, Time(0), MS * 50, false, || 0.5);
        assert!(!cobalt.dropping());
        cobalt.should_drop(&slow, Time(1), MS * 51, false, || 0.5);
        assert!(cobalt.dropping());
    }

    #[test]
    fn a_dropping_state_starts_from_the_decayed_count() {
        // Count 6 and drop_next 373.99 as above; below target at 340, over it again at 341: 341 + 100/sqrt(6) = 381.82.
        let mut cobalt = used();
        run(&mut cobalt, 0, 10, 1);
        run(&mut cobalt, 10, 340, 6);
        run(&mut cobalt, 340, 341, 1);
        assert_eq!(run(&mut cobalt, 341, 390, 6), [382]);
    }

    #[test]
    fn overflows_raise_p_drop_and_visits_of_the_empty_queue_lower_it() {
        let mut cobalt = used();
        let at = |ms: u64| Time::ZERO + MS * ms;
        // At most once in more than a target of 5 ms.
        for (ms, steps) in [(6, 1.0), (11, 1.0), (12, 2.0), (17, 2.0), (18, 3.0)] {
            cobalt.queue_full(&PARAMS, at(ms));
            assert_eq!(cobalt.p_drop(), steps / 256.0, "at {ms}");
        }
        assert!(cobalt.dropping());
        // Dropped with probability 3/256 whatever the sojourn time; CoDel's signal is due too (count 1).
        let verdict = |sojourn, capable, draw| cobalt.clone().should_drop(&PARAMS, at(19), sojourn, capable, || draw);
        assert_eq!(verdict(Dur::ZERO, true, 2.9 / 256.0), Verdict::Drop);
        assert_eq!(verdict(Dur::ZERO, true, 3.1 / 256.0), Verdict::Pass);
        assert_eq!(verdict(MS * 10, true, 0.5), Verdict::Mark);
        assert_eq!(verdict(MS * 10, false, 0.5), Verdict::Drop);
        // One step for each visit, however long the queue was empty.
        cobalt.queue_empty(&PARAMS, at(500));
        assert_eq!(cobalt.p_drop(), 3.0 / 256.0 - 1.0 / 4096.0);
        assert!(!cobalt.dropping());
        // Count 1 became 0 at that visit; drop_next is 18 + 100.
        assert!(!cobalt.has_decayed(at(501)));
        (1..=47).for_each(|n| cobalt.queue_empty(&PARAMS, at(500 + 6 * n)));
        assert!(cobalt.has_decayed(at(800)));
        let mut idle = used();
        idle.should_drop(&PARAMS, at(1), Dur::ZERO, false, || 0.5);
        assert!(!idle.has_decayed(at(100)));
        assert!(idle.has_decayed(at(101)));
    }
}
