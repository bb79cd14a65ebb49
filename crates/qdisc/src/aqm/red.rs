//! RED's law: when an arrival is told of congestion [Floyd and Jacobson, Random Early Detection Gateways for
//! Congestion Avoidance, IEEE/ACM Trans. Networking 1(4), 1993 ("FJ")].
//!
//! ```text
//! average   queue in use:  avg = (1 - w) avg + w q              at each arrival, q without the arrival   [FJ §IV]
//!           was idle:      avg = (1 - w)^m avg                  m packets could have been sent meanwhile [FJ §IV]
//! base      avg < min      p_b = 0
//!           min..max       p_b = max_p (avg - min) / (max - min)
//!           max..2 max     p_b = max_p + (1 - max_p) (avg - max) / max    if gentle, else all are dropped
//!           above          every packet is dropped
//! spread    p_a = s p_b / (1 - count p_b)         spaces uniform on 1 .. 1/p_b                           [FJ §VII]
//!           wait: 0 until count p_b = 1, then s p_b / (2 - count p_b): uniform on 1/p_b + 1 .. 2/p_b     [ns-2]
//! adaptive  twice a second max_p follows avg towards the middle fifth of min..max
//! ```
//! `s` is the packet's share of a mean packet (1 when packets are counted), `count` what has passed since the last
//! notice, in mean packets. Gentle: Floyd, "Recommendation on using the gentle_ variant of RED", 2000. Adaptive: Floyd,
//! Gummadi and Shenker, Adaptive RED, 2001 ("FGS"). Nothing here knows packets: lengths are numbers in one unit.

use dumbbell_units::{Dur, Time};

/// What is fixed.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Weight of one sample in the average (w_q).
    pub weight: f64,
    /// Average below which nothing happens, in the unit of the queue length.
    pub min_th: f64,
    /// Average from which on probability ends or gets steep; above `min_th`.
    pub max_th: f64,
    /// p_b when the average reaches `max_th`; with `adaptive` where it starts from.
    pub max_p: f64,
    /// Whether p_b rises to 1 between `max_th` and twice that.
    pub gentle: bool,
    /// Whether notices are at least 1/p_b packets apart.
    pub wait: bool,
    /// The control of max_p, if it adapts.
    pub adaptive: Option<Adaptive>,
}

/// How max_p adapts.
#[derive(Clone, Debug, PartialEq)]
pub struct Adaptive {
    /// From one step to the next.
    pub interval: Dur,
    /// Additive increase; None: min(0.01, max_p / 4) [FGS §4].
    pub alpha: Option<f64>,
    /// Multiplicative decrease.
    pub beta: f64,
}

/// Bounds of an adapted max_p [FGS §4].
pub const MAX_P_BOUNDS: (f64, f64) = (0.01, 0.5);

/// What happens to an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    Accept,
    /// Congestion is told, by a mark or by a drop.
    Notify,
    /// The average is above the range of probabilities: it is dropped.
    Drop,
}

/// The law's state.
#[derive(Clone, Debug)]
pub struct Red {
    config: Config,
    average: f64,
    count: f64,
    max_p: f64,
    next_step: Time,
}

impl Red {
    /// An empty queue's state.
    #[must_use]
    pub fn new(config: Config) -> Red {
        let max_p = config.max_p;
        Red { config, average: 0.0, count: 0.0, max_p, next_step: Time::ZERO }
    }

    /// The average queue.
    #[must_use]
    pub fn average(&self) -> f64 {
        self.average
    }

    /// max_p, as adapted so far.
    #[must_use]
    pub fn max_p(&self) -> f64 {
        self.max_p
    }

    /// Whether the average is in the range where RFC 3168 §7 has ECN-capable packets marked: below `max_th`.
    #[must_use]
    pub fn marks(&self) -> bool {
        self.average < self.config.max_th
    }

    /// p_b at this average.
    #[must_use]
    pub fn probability(&self) -> f64 {
        let Config { min_th, max_th, gentle, .. } = self.config;
        match self.average {
            a if a < min_th => 0.0,
            a if a < max_th => self.max_p * (a - min_th) / (max_th - min_th),
            a if gentle && a < 2.0 * max_th => self.max_p + (1.0 - self.max_p) * (a - max_th) / max_th,
            _ => 1.0,
        }
    }

    /// Counts an arrival that finds a queue in use.
    pub fn sample(&mut self, queue: f64) {
        self.average += self.config.weight * (queue - self.average);
    }

    /// Counts an arrival that finds the link idle since `packets` typical packets could have been sent.
    pub fn idle(&mut self, packets: f64) {
        self.average *= libm::pow(1.0 - self.config.weight, packets);
    }

    /// Lets max_p adapt if it is time. Arrivals call it, so a span without any counts as one step.
    pub fn adapt(&mut self, now: Time) {
        let Some(Adaptive { interval, alpha, beta }) = self.config.adaptive else { return };
        if now < self.next_step {
            return;
        }
        let first = self.next_step == Time::ZERO;
        self.next_step = now + interval;
        if first {
            return; // the first arrival starts the clock
        }
        let (lowest, highest) = MAX_P_BOUNDS;
        let span = self.config.max_th - self.config.min_th;
        // The target is the middle fifth of the range [FGS §4].
        if self.average > self.config.min_th + 0.6 * span && self.max_p <= highest {
            self.max_p = (self.max_p + alpha.unwrap_or((self.max_p / 4.0).min(0.01))).min(highest);
        } else if self.average < self.config.min_th + 0.4 * span && self.max_p >= lowest {
            self.max_p = (self.max_p * beta).max(lowest);
        }
    }

    /// Decides on an arrival of `size` mean packets, after its sample was taken; `draw` gives a number uniform in 0..1.
    pub fn decide(&mut self, size: f64, draw: impl FnOnce() -> f64) -> Verdict {
        let base = self.probability();
        if base <= 0.0 {
            self.count = 0.0;
            return Verdict::Accept;
        }
        let beyond = if self.config.gentle { 2.0 } else { 1.0 } * self.config.max_th;
        if self.average >= beyond {
            self.count = 0.0;
            return Verdict::Drop;
        }
        if draw() < self.spread(base, size) {
            self.count = 0.0;
            return Verdict::Notify;
        }
        self.count += size;
        Verdict::Accept
    }

    /// p_a. `count` leaves out the arrival itself, as in the text of FJ §VII; the pseudocode there counts it after a
    /// mark but not at the start.
    fn spread(&self, base: f64, size: f64) -> f64 {
        let x = self.count * base;
        let left = match self.config.wait {
            false => 1.0 - x,
            true if x < 1.0 => return 0.0,
            true => 2.0 - x,
        };
        if left > 0.0 { size * base / left } else { 1.0 }
    }

    /// An arrival was accepted without asking.
    pub fn pass(&mut self, size: f64) {
        self.count = if self.probability() > 0.0 { self.count + size } else { 0.0 };
    }

    /// The spacing starts again: an arrival was lost to a full queue, which is a notice too, or the queue is too short
    /// for notices.
    pub fn restart_spacing(&mut self) {
        self.count = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(change: impl FnOnce(&mut Config)) -> Red {
        let mut config = Config {
            weight: 1.0,
            min_th: 2.0,
            max_th: 6.0,
            max_p: 0.5,
            gentle: false,
            wait: false,
            adaptive: None,
        };
        change(&mut config);
        Red::new(config)
    }

    /// Which of the arrivals, counted from 1, are told of congestion if every draw is this.
    fn notices(law: &mut Red, arrivals: u32, size: f64, draw: f64) -> Vec<u32> {
        (1..=arrivals).filter(|_| law.decide(size, || draw) != Verdict::Accept).collect()
    }

    #[test]
    fn average_and_probability() {
        let mut red = law(|c| c.weight = 0.25);
        // avg += (q - avg) / 4;  p_b = (avg - 2) / 4 * 0.5 from 2 on, 1 from 6 on
        for (q, average, p) in [
            (4.0, 1.0, 0.0),
            (4.0, 1.75, 0.0),
            (4.0, 2.3125, 0.3125 / 8.0),
            (8.0, 3.734375, 1.734375 / 8.0),
            (16.0, 6.80078125, 1.0),
            (0.0, 5.1005859375, 3.1005859375 / 8.0),
        ] {
            red.sample(q);
            assert_eq!((red.average(), red.probability()), (average, p));
        }
    }

    #[test]
    fn idle_time_lets_the_average_decay() {
        let mut red = law(|c| c.weight = 0.5);
        red.sample(16.0); // 8
        red.idle(3.0); // 8 / 2^3
        assert!((red.average() - 1.0).abs() < 1e-12);
        red.idle(0.0);
        assert!((red.average() - 1.0).abs() < 1e-12);
        red.idle(0.5); // 1 / sqrt(2)
        assert!((red.average() - 0.5f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn notices_are_spaced_uniformly() {
        // q = 4: p_b = 2/4 * 0.5 = 1/4. p_a for count 0, 1, 2, 3: 1/4, (1/4)/(3/4) = 1/3, (1/4)/(2/4) = 1/2, 1.
        // The spacing is n with 1/4, 3/4*1/3, 3/4*2/3*1/2, ... = 1/4 each for n = 1..4.
        let spaced = |draw| {
            let mut red = law(|_| ());
            red.sample(4.0);
            notices(&mut red, 8, 1.0, draw)
        };
        assert_eq!(spaced(0.24), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(spaced(0.26), [2, 4, 6, 8]);
        assert_eq!(spaced(0.34), [3, 6]);
        assert_eq!(spaced(0.51), [4, 8]);
        assert_eq!(spaced(0.999), [4, 8]);
    }

    #[test]
    fn waiting_leaves_one_over_p_between() {
        // p_b = 1/4 as above: count 0..3 never; 4: (1/4)/(2-1) = 1/4, 5: (1/4)/(3/4), 6: 1/2, 7: 1.
        let spaced = |draw| {
            let mut red = law(|c| c.wait = true);
            red.sample(4.0);
            notices(&mut red, 16, 1.0, draw)
        };
        assert_eq!(spaced(0.0), [5, 10, 15]);
        assert_eq!(spaced(0.26), [6, 12]);
        assert_eq!(spaced(0.999), [8, 16]);
    }

    #[test]
    fn size_counts_in_mean_packets() {
        // p_b = 1/4, packets of two mean packets: count 0: 2/4; count 2: 2 (1/4) / (1/2) = 1.
        let mut red = law(|_| ());
        red.sample(4.0);
        assert_eq!(notices(&mut red, 4, 2.0, 0.49), [1, 2, 3, 4]);
        assert_eq!(notices(&mut red, 4, 2.0, 0.51), [2, 4]);
    }

    #[test]
    fn gentle_goes_on_to_twice_the_threshold() {
        let mut red = law(|c| c.gentle = true);
        // from max_p = 0.5 at 6 to 1 at 12: at 9 0.75
        for (q, p, marks) in [(5.999999999, 0.499999999875, true), (6.0, 0.5, false), (9.0, 0.75, false)] {
            red.sample(q);
            assert!((red.probability() - p).abs() < 1e-12);
            assert_eq!(red.marks(), marks);
            assert_ne!(red.decide(1.0, || 0.0), Verdict::Drop);
        }
        red.sample(12.0);
        assert_eq!(red.decide(1.0, || 0.999), Verdict::Drop);
        let mut steep = law(|_| ());
        steep.sample(6.0);
        assert_eq!(steep.decide(1.0, || 0.999), Verdict::Drop);
    }

    #[test]
    fn a_full_queue_starts_the_spacing_again() {
        let mut red = law(|_| ());
        red.sample(4.0);
        assert_eq!(notices(&mut red, 3, 1.0, 0.999), []);
        red.restart_spacing();
        assert_eq!(notices(&mut red, 4, 1.0, 0.999), [4]);
    }

    #[test]
    fn max_p_adapts_twice_a_second() {
        // min 5, max 15: the target is 9..11.
        let start = |max_p| {
            let mut red = law(|c| {
                (c.min_th, c.max_th, c.max_p) = (5.0, 15.0, max_p);
                c.adaptive = Some(Adaptive { interval: Dur::millis(500), alpha: None, beta: 0.9 });
            });
            red.adapt(Time(1)); // the clock starts
            red
        };
        let after = |max_p, average, steps: u64| {
            let mut red = start(max_p);
            red.sample(average);
            for i in 1..=steps {
                red.adapt(Time(1) + Dur::millis(500) * i);
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
        // No step before the interval is over.
        let mut red = start(0.1);
        red.sample(12.0);
        red.adapt(Time(1) + Dur::millis(499));
        near(red.max_p(), 0.1);
    }
}
