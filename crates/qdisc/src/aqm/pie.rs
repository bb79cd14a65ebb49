//! PIE's law: which arrivals tell of congestion, by a probability that a PI controller sets [RFC 8033].
//!
//! ```text
//! update    each tupdate:  p += (alpha (delay - target) + beta (delay - delay before)) / scale          [§4.2]
//!           scale          2048, 512, 128, 32, 8, 2 for p below 1e-6, 1e-5, ... 1e-1; above 1           [§4.2]
//!           at p >= 10 %   no more than 2 % in one step                                                 [§5.5]
//!           delay > 250 ms 2 % more                                                                     [Linux]
//!           no delay, twice in a row:  p x 0.98                                                         [§4.2]
//! burst     150 ms from the end of congestion (p = 0, both delays below target / 2) nothing is told     [§4.4]
//! arrival   not told if the delay of the last update was below target / 2 and p < 20 %, or if no more than two
//!           full packets wait                                                                           [§4.1]
//! spread    the probabilities of arrivals since the last notice add up: below 0.85 none is told, from 8.5 on the
//!           next is; in between each with probability p                                                 [§5.4]
//! rate      with the estimator the delay is what waits over the rate at which 16 KiB went, an average that a new
//!           measurement moves by a quarter                                                              [§5.2]
//! ```

use dumbbell_units::{Dur, Time};

/// For how long nothing is told once congestion begins [RFC 8033 §4.4].
pub const MAX_BURST: Dur = Dur::millis(150);
/// Bytes of one measurement of the departure rate [RFC 8033 §5.2].
pub const MEASURED_BYTES: u64 = 1 << 14;
/// Share of a new measurement in the average: 16 KiB / 64 KiB [RFC 8033 §5.2].
const MEASUREMENT_WEIGHT: f64 = 0.25;
/// Delays above this drive the probability up whatever the controller says [Linux: against overload].
const HIGH_DELAY: Dur = Dur::millis(250);
/// What they add, and the largest step at a probability of 10 % and more [RFC 8033 §5.5].
const STEP: f64 = 0.02;

/// What is fixed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The delay to keep.
    pub target: Dur,
    /// From one update to the next.
    pub tupdate: Dur,
    /// Weight of the distance from the target, 1/s.
    pub alpha: f64,
    /// Weight of the change of the delay, 1/s.
    pub beta: f64,
    /// Whether the delay is estimated from the departure rate; otherwise it is the last packet's.
    pub estimates: bool,
}

/// The law's state.
#[derive(Clone, Debug)]
pub struct Pie {
    probability: f64,
    delay: Dur,
    /// At the last update.
    delay_before: Dur,
    burst: Dur,
    accumulated: f64,
    /// Begin of the running measurement and the bytes gone since.
    measuring: Option<(Time, u64)>,
    /// Time in which [`MEASURED_BYTES`] go, s.
    drain_time: Option<f64>,
}

impl Default for Pie {
    /// An empty queue's state.
    fn default() -> Pie {
        Pie {
            probability: 0.0,
            delay: Dur::ZERO,
            delay_before: Dur::ZERO,
            burst: MAX_BURST,
            accumulated: 0.0,
            measuring: None,
            drain_time: None,
        }
    }
}

impl Pie {
    /// The probability.
    #[must_use]
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// The delay as far as it is known.
    #[must_use]
    pub fn delay(&self) -> Dur {
        self.delay
    }

    /// For how much longer nothing is told.
    #[must_use]
    pub fn burst(&self) -> Dur {
        self.burst
    }

    /// Whether this arrival is told of congestion. `short`: no more than two full packets wait. `share`: what the
    /// packet's size makes of its probability. `draw` gives a number uniform in 0..1.
    pub fn arrive(&mut self, config: &Config, short: bool, share: f64, draw: impl FnOnce() -> f64) -> bool {
        let low = config.target / 2;
        if self.probability == 0.0 && self.delay < low && self.delay_before < low {
            self.burst = MAX_BURST;
        }
        if self.burst > Dur::ZERO || short || (self.delay_before < low && self.probability < 0.2) {
            return false;
        }
        let probability = self.probability * share;
        self.accumulated = if probability == 0.0 { 0.0 } else { self.accumulated + probability };
        let told = match self.accumulated {
            a if a < 0.85 => false,
            a if a >= 8.5 => true,
            _ => draw() < probability,
        };
        if told {
            self.accumulated = 0.0;
        }
        told
    }

    /// An arrival was lost to a full queue, which is a notice too.
    pub fn lost(&mut self) {
        self.accumulated = 0.0;
    }

    /// A packet leaves that has waited for `sojourn`, with so many bytes left behind it.
    pub fn depart(&mut self, config: &Config, now: Time, sojourn: Dur, bytes: u32, left: u64) {
        if !config.estimates {
            // An empty queue has no delay, whatever its last packet had [Linux]: the RFC's text leaves that open.
            self.delay = if left == 0 { Dur::ZERO } else { sojourn };
            return;
        }
        if let Some((began, gone)) = &mut self.measuring {
            *gone += u64::from(bytes);
            if *gone >= MEASURED_BYTES {
                let sample = now.since(*began).as_secs() * MEASURED_BYTES as f64 / *gone as f64;
                let average = self.drain_time.unwrap_or(sample);
                self.drain_time = Some(average + MEASUREMENT_WEIGHT * (sample - average));
                self.measuring = None;
            }
        }
        if self.measuring.is_none() && left >= MEASURED_BYTES {
            self.measuring = Some((now, 0));
        }
    }

    /// An update, with so many bytes waiting. Gives whether further ones could change anything while nothing happens.
    pub fn update(&mut self, config: &Config, waiting: u64) -> bool {
        if config.estimates {
            let drains = waiting as f64 / MEASURED_BYTES as f64 * self.drain_time.unwrap_or(0.0);
            self.delay = Dur::from_secs_f64(drains);
        }
        let (delay, before) = (self.delay.as_secs(), self.delay_before.as_secs());
        let error = config.alpha * (delay - config.target.as_secs()) + config.beta * (delay - before);
        let mut step = error / scale(self.probability);
        if self.probability >= 0.1 {
            step = step.min(STEP);
        }
        // DIVERGES [RFC 8033 §4.2]: the document has no such term; without it an overload takes seconds to be met.
        if self.delay > HIGH_DELAY {
            step += STEP;
        }
        self.probability += step;
        if self.delay == Dur::ZERO && self.delay_before == Dur::ZERO {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.delay_before = self.delay;
        self.burst = self.burst.saturating_sub(config.tupdate);
        self.probability > 0.0 || self.delay > Dur::ZERO || self.burst > Dur::ZERO
    }
}

/// What the steps of the probability are divided by, so that they suit its size [RFC 8033 §4.2].
fn scale(probability: f64) -> f64 {
    match probability {
        p if p < 1e-6 => 2048.0,
        p if p < 1e-5 => 512.0,
        p if p < 1e-4 => 128.0,
        p if p < 1e-3 => 32.0,
        p if p < 1e-2 => 8.0,
        p if p < 1e-1 => 2.0,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Dur = Dur::millis(1);
    const CONFIG: Config = Config {
        target: Dur::millis(15),
        tupdate: Dur::millis(15),
        alpha: 0.125,
        beta: 1.25,
        estimates: false,
    };

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-12 + 1e-12 * b.abs(), "{a} {b}");
    }

    /// An update after a packet has left that waited for so many ms (0: the queue ran empty).
    fn update(law: &mut Pie, ms: u64) -> f64 {
        law.depart(&CONFIG, Time::ZERO, MS * ms, 1000, ms);
        law.update(&CONFIG, 0);
        law.probability()
    }

    fn at(probability: f64, before_ms: u64) -> Pie {
        Pie { probability, delay_before: MS * before_ms, burst: Dur::ZERO, ..Pie::default() }
    }

    #[test]
    fn each_size_of_the_probability_has_its_step() {
        // Delay 35 ms, 25 ms before, target 15 ms: 0.125 x 0.020 + 1.25 x 0.010 = 0.015.
        for (p, scale) in [
            (0.0, 2048.0),
            (9.9e-7, 2048.0),
            (1e-6, 512.0),
            (1e-5, 128.0),
            (1e-4, 32.0),
            (1e-3, 8.0),
            (1e-2, 2.0),
            (0.099, 2.0),
            (0.1, 1.0),
            (0.5, 1.0),
        ] {
            near(update(&mut at(p, 25), 35), p + 0.015 / scale);
        }
        // Falling: delay 5 ms, 25 ms before: 0.125 x -0.010 - 1.25 x 0.020 = -0.02625.
        near(update(&mut at(0.5, 25), 5), 0.5 - 0.02625);
        near(update(&mut at(0.02, 25), 5), 0.02 - 0.02625 / 2.0);
        // Never below 0.
        near(update(&mut at(0.011, 25), 5), 0.0);
    }

    #[test]
    fn steps_up_are_capped_from_ten_percent_on_and_high_delays_add_their_own() {
        // Delay 115 ms, 15 ms before: 0.125 x 0.1 + 1.25 x 0.1 = 0.1375.
        near(update(&mut at(0.2, 15), 115), 0.22);
        near(update(&mut at(0.05, 15), 115), 0.05 + 0.1375 / 2.0);
        // 260 ms, 260 ms before: 0.125 x 0.245 = 0.030625, capped to 0.02, and 0.02 more.
        near(update(&mut at(0.2, 260), 260), 0.24);
        // At 250 ms not yet: 0.125 x 0.235 = 0.029375, capped.
        near(update(&mut at(0.2, 250), 250), 0.22);
        near(update(&mut at(0.99, 260), 260), 1.0);
    }

    #[test]
    fn without_delay_the_probability_decays() {
        // 0.125 x -0.015 = -0.001875, then x 0.98.
        near(update(&mut at(0.3, 0), 0), (0.3 - 0.001875) * 0.98);
        // Only the second time in a row: 0.125 x -0.015 + 1.25 x -0.001 = -0.003125.
        near(update(&mut at(0.3, 1), 0), 0.3 - 0.003125);
    }

    #[test]
    fn a_burst_passes_and_its_allowance_comes_back() {
        let mut law = Pie { probability: 1.0, ..at(0.0, 100) };
        law.burst = MAX_BURST;
        // 150 ms / 15 ms = 10 updates.
        for _ in 0..10 {
            assert!(!law.arrive(&CONFIG, false, 1.0, || 0.0));
            update(&mut law, 100);
        }
        law.accumulated = 0.0;
        assert!(law.arrive(&CONFIG, false, 1.0, || 0.0)); // 0 + 1 is above 0.85
        // Congestion is over once p is 0 and both delays are below 7.5 ms.
        let mut law = at(0.0, 7);
        law.delay = MS * 8;
        law.arrive(&CONFIG, false, 1.0, || 0.0);
        assert_eq!(law.burst(), Dur::ZERO);
        law.delay = MS * 7;
        law.arrive(&CONFIG, false, 1.0, || 0.0);
        assert_eq!(law.burst(), MAX_BURST);
    }

    #[test]
    fn short_queues_and_short_delays_are_spared() {
        let told = |p, before, short| at(p, before).arrive(&CONFIG, short, 1.0, || 0.0);
        assert!(told(0.9, 15, false));
        assert!(!told(0.9, 15, true));
        // Below 7.5 ms nothing below 20 %.
        assert!(!told(0.19, 7, false));
        assert!(told(0.9, 7, false));
    }

    #[test]
    fn notices_are_spread() {
        // p = 0.25: sums 0.25, 0.5, 0.75, 1.0: the fourth may be the first; and so on after each.
        let numbers = |p: f64, share: f64, draw: f64, arrivals: u32| {
            let mut law = at(p, 15);
            (1..=arrivals).filter(|_| law.arrive(&CONFIG, false, share, || draw)).collect::<Vec<u32>>()
        };
        assert_eq!(numbers(0.25, 1.0, 0.0, 12), [4, 8, 12]);
        // If chance never tells, the sum does: 8.5 / 0.25 = 34.
        assert_eq!(numbers(0.25, 1.0, 0.999, 70), [34, 68]);
        // Half-size packets in byte mode: 0.125 each; 0.85 is passed by the seventh.
        assert_eq!(numbers(0.25, 0.5, 0.0, 14), [7, 14]);
        // A loss starts the sum again.
        let mut law = at(0.25, 15);
        (0..3).for_each(|_| assert!(!law.arrive(&CONFIG, false, 1.0, || 0.0)));
        law.lost();
        assert!(!law.arrive(&CONFIG, false, 1.0, || 0.0));
    }

    #[test]
    fn the_rate_is_measured_over_sixteen_kilobytes() {
        let config = Config { estimates: true, ..CONFIG };
        let mut law = Pie::default();
        // Below 16 384 bytes waiting nothing is measured, and the delay counts as zero.
        let depart = |law: &mut Pie, ms: u64, left: u64| {
            law.depart(&config, Time::ZERO + MS * ms, Dur::ZERO, 2048, left);
        };
        depart(&mut law, 0, 16_383);
        law.update(&config, 16_383);
        assert_eq!(law.delay(), Dur::ZERO);
        // From 10 ms on, 8 packets of 2048 bytes in 20 ms: 16 384 bytes take 20 ms; 32 768 waiting are 40 ms.
        depart(&mut law, 10, 30_000);
        (0..8).for_each(|n| depart(&mut law, 16 + 2 * n, 30_000));
        law.update(&config, 32_768);
        assert_eq!(law.delay(), MS * 40);
        // The next measurement began at 30 ms; 8 packets to 90 ms: 60 ms. 20 + (60 - 20) / 4 = 30.
        (1..=8).for_each(|n| depart(&mut law, 50 + 5 * n, 1000));
        law.update(&config, 16_384);
        assert_eq!(law.delay(), MS * 30);
    }
}
