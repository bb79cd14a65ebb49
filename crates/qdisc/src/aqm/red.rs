//! The RED algorithm: drops or marks arrivals with a probability that grows with the average queue length [Floyd and
//! Jacobson, Random Early Detection Gateways for Congestion Avoidance, IEEE/ACM Trans. Networking 1(4), 1993 ("FJ")].
//!
//! ```text
//! average   queue not empty: avg = (1 - w_q) avg + w_q q           at each arrival, q without the arrival    [FJ §IV]
//!           after idle time: avg = (1 - w_q)^m avg                 m: packets the idle link could have sent  [FJ §IV]
//! p_b       avg < min_th     0
//!           min_th..max_th   max_p (avg - min_th) / (max_th - min_th)
//!           max_th..2 max_th max_p + (1 - max_p) (avg - max_th) / max_th     if gentle, otherwise all are dropped
//!           above            all are dropped
//! p_a       s p_b / (1 - count p_b): the distance between drops is uniform on 1 .. 1/p_b                    [FJ §VII]
//!           with wait: 0 until count p_b = 1, then s p_b / (2 - count p_b): uniform on 1/p_b + 1 .. 2/p_b
//!                                                                             [ns-2 red.cc REDQueue::modify_p]
//! adaptive  every interval max_p changes so that avg moves towards the middle fifth of min_th..max_th    [FGS §4]
//! ```
//! `s` is the packet size in mean packets (1 when packets are counted), `count` the arrivals since the last drop or
//! mark, in mean packets. Gentle: Floyd, "Recommendation on using the gentle_ variant of RED", 2000. Adaptive: Floyd,
//! Gummadi and Shenker, Adaptive RED, 2001 ("FGS"). The algorithm does not know packets: lengths are numbers in one
//! unit.

use dumbbell_units::{Dur, Time};

/// The parameters of RED.
#[derive(Clone, Debug, PartialEq)]
pub struct RedParams {
    /// Weight of one sample in the average.
    pub w_q: f64,
    /// Average queue below which no packet is dropped, in the unit of the queue length.
    pub min_th: f64,
    /// Average queue at which the probability is `max_p`; above `min_th`.
    pub max_th: f64,
    /// p_b at an average of `max_th`; with `adaptive` the initial value.
    pub max_p: f64,
    /// True if p_b rises gradually to 1 between `max_th` and `2 max_th`.
    pub gentle: bool,
    /// True if two drops or marks are at least 1/p_b packets apart.
    pub wait: bool,
    /// Adaptation of `max_p`; None: it is constant.
    pub adaptive: Option<AdaptiveParams>,
}

/// The parameters of the adaptation of max_p.
#[derive(Clone, Debug, PartialEq)]
pub struct AdaptiveParams {
    /// Time between two changes.
    pub interval: Dur,
    /// Additive increase; None: min(0.01, max_p / 4) [FGS §4].
    pub alpha: Option<f64>,
    /// Multiplicative decrease.
    pub beta: f64,
}

/// Range of an adapted max_p [FGS §4].
pub const MAX_P_RANGE: (f64, f64) = (0.01, 0.5);

/// The decision on an arrival, named as in ns-2 [ns-2 red.h DTYPE_NONE, DTYPE_UNFORCED, DTYPE_FORCED].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropType {
    /// Accepted.
    None,
    /// Selected at random: dropped, or marked.
    Unforced,
    /// Dropped because the average is above the range of probabilities.
    Forced,
}

/// The state of RED.
#[derive(Clone, Debug)]
pub struct Red {
    params: RedParams,
    avg: f64,
    count: f64,
    max_p: f64,
    next_adaptation: Time,
}

impl Red {
    /// Returns the initial state, that of an empty queue.
    #[must_use]
    pub fn new(params: RedParams) -> Red {
        let max_p = params.max_p;
        Red { params, avg: 0.0, count: 0.0, max_p, next_adaptation: Time::ZERO }
    }

    /// Returns the average queue.
    #[must_use]
    pub fn avg(&self) -> f64 {
        self.avg
    }

    /// Returns the current max_p.
    #[must_use]
    pub fn max_p(&self) -> f64 {
        self.max_p
    }

    /// True while the average is below `max_th`: ECN-capable packets are marked, not dropped [RFC 3168 §7].
    #[must_use]
    pub fn may_mark(&self) -> bool {
        self.avg < self.params.max_th
    }

    /// True while the average is between the thresholds, the lower one included [Linux include/net/red.h
    /// red_cmp_thresh].
    #[must_use]
    pub fn is_between(&self) -> bool {
        self.avg >= self.params.min_th && self.may_mark()
    }

    /// Returns p_b at the current average.
    #[must_use]
    pub fn p_b(&self) -> f64 {
        let RedParams { min_th, max_th, gentle, .. } = self.params;
        match self.avg {
            a if a < min_th => 0.0,
            a if a < max_th => self.max_p * (a - min_th) / (max_th - min_th),
            a if gentle && a < 2.0 * max_th => self.max_p + (1.0 - self.max_p) * (a - max_th) / max_th,
            _ => 1.0,
        }
    }

    /// Updates the average at an arrival while the queue or the link is in use.
    pub fn update_avg(&mut self, queue: f64) {
        self.avg += self.params.w_q * (queue - self.avg);
    }

    /// Updates the average at an arrival after idle time in which the link could have sent `packets` mean packets.
    pub fn update_avg_idle(&mut self, packets: f64) {
        self.avg *= libm::pow(1.0 - self.params.w_q, packets);
    }

    /// Sets the average, of a rule for idle time other than [`Red::update_avg_idle`].
    pub fn set_avg(&mut self, avg: f64) {
        self.avg = avg;
    }

    /// Adapts max_p if the interval has passed. Arrivals call it, so a time without arrivals counts as one step.
    pub fn adapt_max_p(&mut self, now: Time) {
        let Some(AdaptiveParams { interval, alpha, beta }) = self.params.adaptive else { return };
        if now < self.next_adaptation {
            return;
        }
        let first = self.next_adaptation == Time::ZERO;
        self.next_adaptation = now + interval;
        if first {
            return; // the first arrival starts the interval
        }
        let (lowest, highest) = MAX_P_RANGE;
        let span = self.params.max_th - self.params.min_th;
        // The target is the middle fifth of the range [FGS §4].
        if self.avg > self.params.min_th + 0.6 * span && self.max_p <= highest {
            self.max_p = (self.max_p + alpha.unwrap_or((self.max_p / 4.0).min(0.01))).min(highest);
        } else if self.avg < self.params.min_th + 0.4 * span && self.max_p >= lowest {
            self.max_p = (self.max_p * beta).max(lowest);
        }
    }

    /// Decides on an arrival of `size` mean packets after the update of the average. `draw` returns a number uniform in
    /// 0..1.
    pub fn decide(&mut self, size: f64, draw: impl FnOnce() -> f64) -> DropType {
        let p_b = self.p_b();
        if p_b <= 0.0 {
            self.count = 0.0;
            return DropType::None;
        }
        let forced_from = if self.params.gentle { 2.0 } else { 1.0 } * self.params.max_th;
        if self.avg >= forced_from {
            self.count = 0.0;
            return DropType::Forced;
        }
        if draw() < self.p_a(p_b, size) {
            self.count = 0.0;
            return DropType::Unforced;
        }
        self.count += size;
        DropType::None
    }

    /// Returns p_a. `count` does not include the arrival itself, as in the text of FJ §VII; the pseudocode there
    /// includes it after a mark but not at the start.
    fn p_a(&self, p_b: f64, size: f64) -> f64 {
        let x = self.count * p_b;
        let left = match self.params.wait {
            false => 1.0 - x,
            true if x < 1.0 => return 0.0,
            true => 2.0 - x,
        };
        if left > 0.0 { size * p_b / left } else { 1.0 }
    }

    /// Counts an arrival that was accepted without a decision.
    pub fn count_accepted(&mut self, size: f64) {
        self.count = if self.p_b() > 0.0 { self.count + size } else { 0.0 };
    }

    /// Restarts the count: an arrival was dropped at a full queue, which also signals congestion, or the queue is too
    /// short for drops.
    pub fn reset_count(&mut self) {
        self.count = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn red_with(change: impl FnOnce(&mut RedParams)) -> Red {
        let mut params =
            RedParams { w_q: 1.0, min_th: 2.0, max_th: 6.0, max_p: 0.5, gentle: false, wait: false, adaptive: None };
        change(&mut params);
        Red::new(params)
    }

    /// Returns the arrivals, counted from 1, that are dropped or marked if every draw is `draw`.
    fn signaled(red: &mut Red, arrivals: u32, size: f64, draw: f64) -> Vec<u32> {
        (1..=arrivals).filter(|_| red.decide(size, || draw) != DropType::None).collect()
    }

    #[test]
    fn the_average_sets_the_probability() {
        let mut red = red_with(|p| p.w_q = 0.25);
        // avg += (q - avg) / 4;  p_b = (avg - 2) / 4 * 0.5 from 2 on, 1 from 6 on
        for (q, average, p) in [
            (4.0, 1.0, 0.0),
            (4.0, 1.75, 0.0),
            (4.0, 2.3125, 0.3125 / 8.0),
            (8.0, 3.734375, 1.734375 / 8.0),
            (16.0, 6.80078125, 1.0),
            (0.0, 5.1005859375, 3.1005859375 / 8.0),
        ] {
            red.update_avg(q);
            assert_eq!((red.avg(), red.p_b()), (average, p));
        }
    }

    #[test]
    fn idle_time_lets_the_average_decay() {
        let mut red = red_with(|p| p.w_q = 0.5);
        red.update_avg(16.0); // 8
        red.update_avg_idle(3.0); // 8 / 2^3
        assert!((red.avg() - 1.0).abs() < 1e-12);
        red.update_avg_idle(0.0);
        assert!((red.avg() - 1.0).abs() < 1e-12);
        red.update_avg_idle(0.5); // 1 / sqrt(2)
        assert!((red.avg() - 0.5f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn the_distance_between_drops_is_uniform() {
        // q = 4: p_b = 2/4 * 0.5 = 1/4. p_a for count 0, 1, 2, 3: 1/4, (1/4)/(3/4) = 1/3, (1/4)/(2/4) = 1/2, 1.
        // The distance is n with probability 1/4, 3/4*1/3, 3/4*2/3*1/2, ... = 1/4 each for n = 1..4.
        let signaled_with = |draw| {
            let mut red = red_with(|_| ());
            red.update_avg(4.0);
            signaled(&mut red, 8, 1.0, draw)
        };
        assert_eq!(signaled_with(0.24), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(signaled_with(0.26), [2, 4, 6, 8]);
        assert_eq!(signaled_with(0.34), [3, 6]);
        assert_eq!(signaled_with(0.51), [4, 8]);
        assert_eq!(signaled_with(0.999), [4, 8]);
    }

    #[test]
    fn wait_keeps_drops_one_over_p_apart() {
        // p_b = 1/4 as above: count 0..3 never; 4: (1/4)/(2-1) = 1/4, 5: (1/4)/(3/4), 6: 1/2, 7: 1.
        let signaled_with = |draw| {
            let mut red = red_with(|p| p.wait = true);
            red.update_avg(4.0);
            signaled(&mut red, 16, 1.0, draw)
        };
        assert_eq!(signaled_with(0.0), [5, 10, 15]);
        assert_eq!(signaled_with(0.26), [6, 12]);
        assert_eq!(signaled_with(0.999), [8, 16]);
    }

    #[test]
    fn sizes_are_counted_in_mean_packets() {
        // p_b = 1/4, packets of two mean packets: count 0: 2/4; count 2: 2 (1/4) / (1/2) = 1.
        let mut red = red_with(|_| ());
        red.update_avg(4.0);
        assert_eq!(signaled(&mut red, 4, 2.0, 0.49), [1, 2, 3, 4]);
        assert_eq!(signaled(&mut red, 4, 2.0, 0.51), [2, 4]);
    }

    #[test]
    fn gentle_reaches_certainty_at_twice_max_th() {
        let mut red = red_with(|p| p.gentle = true);
        // From max_p = 0.5 at 6 to 1 at 12: 0.75 at 9.
        for (q, p, marks) in [(5.999999999, 0.499999999875, true), (6.0, 0.5, false), (9.0, 0.75, false)] {
            red.update_avg(q);
            assert!((red.p_b() - p).abs() < 1e-12);
            assert_eq!(red.may_mark(), marks);
            assert_ne!(red.decide(1.0, || 0.0), DropType::Forced);
        }
        red.update_avg(12.0);
        assert_eq!(red.decide(1.0, || 0.999), DropType::Forced);
        let mut steep = red_with(|_| ());
        steep.update_avg(6.0);
        assert_eq!(steep.decide(1.0, || 0.999), DropType::Forced);
    }

    #[test]
    fn a_drop_at_a_full_queue_restarts_the_count() {
        let mut red = red_with(|_| ());
        red.update_avg(4.0);
        assert_eq!(signaled(&mut red, 3, 1.0, 0.999), []);
        red.reset_count();
        assert_eq!(signaled(&mut red, 4, 1.0, 0.999), [4]);
    }

    #[test]
    fn max_p_adapts_twice_a_second() {
        // min 5, max 15: the target is 9..11.
        let start = |max_p| {
            let mut red = red_with(|p| {
                (p.min_th, p.max_th, p.max_p) = (5.0, 15.0, max_p);
                p.adaptive = Some(AdaptiveParams { interval: Dur::millis(500), alpha: None, beta: 0.9 });
            });
            red.adapt_max_p(Time(1)); // starts the interval
            red
        };
        let after = |max_p, average, steps: u64| {
            let mut red = start(max_p);
            red.update_avg(average);
            for i in 1..=steps {
                red.adapt_max_p(Time(1) + Dur::millis(500) * i);
            }
            red.max_p()
        };
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        near(after(0.1, 10.0, 1), 0.1);
        near(after(0.1, 12.0, 1), 0.11); // + min(0.01, 0.1/4)
        near(after(0.02, 12.0, 1), 0.025); // + 0.02/4
        near(after(0.1, 8.0, 2), 0.081); // * 0.9 * 0.9
        near(after(0.495, 12.0, 3), 0.5);
        near(after(0.0105, 8.0, 3), 0.01);
        // No step before the interval has passed.
        let mut red = start(0.1);
        red.update_avg(12.0);
        red.adapt_max_p(Time(1) + Dur::millis(499));
        near(red.max_p(), 0.1);
    }
}
