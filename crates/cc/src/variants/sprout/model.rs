//! Sprout's model of a link: deliveries are a Poisson process whose rate follows a Brownian motion [Winstein, Sivaraman
//! and Balakrishnan, NSDI 2013, "WSB"].
//!
//! ```text
//! rate         one of 256 values from 0 to 1000 units/s; uniformly distributed at first                 [WSB]
//! evolve       over a tick of 20 ms a Brownian motion of 200 units/s per sqrt(s). Below 0 is an outage, which ends
//!              with the probability 1 - e^(-1/s * tick); above 1000 is 1000                              [WSB]
//! observe      multiplies by the probability of this count of deliveries in the tick, Poisson with rate * tick  [WSB]
//! at least     multiplies by the probability of this count or more, if no delivery was left
//! forecast     the number of deliveries in the next 1 .. 8 ticks that is reached with a probability of 95 %  [WSB]
//! ```
//! A forecast sums, over the distribution of the rate, the distribution of deliveries that each rate leads to. These
//! distributions are computed once: from each rate the probabilities evolve tick by tick, and the counts of the ticks
//! (up to 30) are added as if they were independent, as in the authors' code.

use std::sync::OnceLock;

/// The number of rates.
const RATES: usize = 256;
/// The largest rate, units/s.
pub(super) const RATE_MAX: f64 = 1000.0;
/// Standard deviation of the Brownian motion in a second, units/s.
const BROWNIAN_SD: f64 = 200.0;
/// The rate at which an outage ends, 1/s.
const OUTAGE_ESCAPE: f64 = 1.0;
/// A tick, s.
pub(super) const TICK: f64 = 0.02;
/// The most ticks of a forecast.
pub(super) const TICKS: usize = 8;
/// The largest count of deliveries in a tick in the tables: 1.5 times the mean of the largest rate.
const MAX_COUNT: usize = 30;

/// A larger count of deliveries in a tick changes nothing: even the largest rate hardly ever reaches this one.
const MAX_AT_LEAST: u32 = 60;

type Rates = [f64; RATES];

/// The i-th rate, units/s.
fn rate(i: usize) -> f64 {
    RATE_MAX * i as f64 / (RATES - 1) as f64
}

/// Returns the Poisson probability of `n` deliveries as a function of their mean and its logarithm.
fn poisson(n: u32) -> impl Fn((f64, f64)) -> f64 {
    let n_factorial = libm::lgamma(f64::from(n) + 1.0);
    move |(mean, log_mean)| {
        if mean == 0.0 {
            return if n == 0 { 1.0 } else { 0.0 };
        }
        libm::exp(f64::from(n) * log_mean - mean - n_factorial)
    }
}

/// Returns the probability that a standard normal variable is below x.
fn normal(x: f64) -> f64 {
    0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
}

/// The tables that are computed once for all connections.
#[derive(Debug)]
struct Tables {
    /// The mean number of deliveries in a tick for each rate, and its logarithm.
    means: [(f64, f64); RATES],
    /// The probability that the rate changes by this many values in a tick, from the largest decrease to the largest
    /// increase.
    steps: Vec<f64>,
    /// The probability that it changes by more than this many values in one direction.
    beyond: Vec<f64>,
    /// The probability of at most a count of deliveries, by ticks ahead, count and current rate.
    cumulative: Vec<Vec<Rates>>,
}

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(Tables::make)
}

impl Tables {
    fn make() -> Tables {
        let deviation = BROWNIAN_SD * TICK.sqrt() / rate(1); // values of the rate
        let reach = (5.0 * deviation).ceil() as usize;
        // The largest step includes all larger ones, so that the sum is 1.
        let beyond: Vec<f64> =
            (0..=reach).map(|d| if d == reach { 0.0 } else { 1.0 - normal((d as f64 + 0.5) / deviation) }).collect();
        let steps = (0..=reach).map(|d| if d == 0 { 1.0 - 2.0 * beyond[0] } else { beyond[d - 1] - beyond[d] });
        let steps: Vec<f64> = steps.collect();
        let steps = steps.iter().rev().chain(&steps[1..]).copied().collect();
        let means = std::array::from_fn(|i| (rate(i) * TICK, libm::log(rate(i) * TICK)));
        let mut tables = Tables { means, steps, beyond, cumulative: Vec::new() };
        tables.cumulative = (1..=TICKS).map(|h| vec![[0.0; RATES]; MAX_COUNT * h + 1]).collect();
        for from in 0..RATES {
            tables.fill(from);
        }
        tables
    }

    /// Computes the entries of one current rate.
    fn fill(&mut self, from: usize) {
        let mut rates = [0.0; RATES];
        rates[from] = 1.0;
        let mut counts = vec![1.0];
        for h in 0..TICKS {
            rates = self.evolved(&rates);
            let mut tick = [0.0; MAX_COUNT + 1];
            for (i, p) in rates.iter().enumerate().filter(|(_, p)| **p > 0.0) {
                // From 0 deliveries upwards; the last entry includes all larger counts.
                let mean = rate(i) * TICK;
                let mut likely = libm::exp(-mean);
                let mut left = 1.0;
                for (n, sum) in tick.iter_mut().enumerate() {
                    if n == MAX_COUNT {
                        *sum += p * left;
                    } else {
                        *sum += p * likely;
                        left = (left - likely).max(0.0);
                        likely *= mean / (n + 1) as f64;
                    }
                }
            }
            let mut next = vec![0.0; counts.len() + MAX_COUNT];
            for (a, p) in counts.iter().enumerate() {
                for (b, q) in tick.iter().enumerate() {
                    next[a + b] += p * q;
                }
            }
            counts = next;
            let mut sum = 0.0;
            for (n, p) in counts.iter().enumerate() {
                sum += p;
                self.cumulative[h][n][from] = sum;
            }
        }
    }

    /// Returns the probabilities one tick later.
    fn evolved(&self, rates: &Rates) -> Rates {
        let mut next = [0.0; RATES];
        let reach = self.beyond.len() - 1;
        for (i, &all) in rates.iter().enumerate().filter(|(_, p)| **p > 0.0) {
            let mut p = all;
            if i == 0 {
                let stays = libm::exp(-OUTAGE_ESCAPE * TICK);
                next[0] += p * stays;
                p *= 1.0 - stays;
            }
            let (low, high) = (i.saturating_sub(reach), (i + reach).min(RATES - 1));
            for (sum, step) in next[low..=high].iter_mut().zip(&self.steps[reach + low - i..]) {
                *sum += p * step;
            }
            if i <= reach {
                next[0] += p * self.beyond[i];
            }
            if RATES - 1 - i <= reach {
                next[RATES - 1] += p * self.beyond[RATES - 1 - i];
            }
        }
        next
    }
}

/// The distribution of the rate.
#[derive(Clone, Debug)]
pub(super) struct Model {
    rates: Box<Rates>,
}

impl Model {
    /// Returns the uniform distribution.
    pub(super) fn new() -> Model {
        Model { rates: Box::new([1.0 / RATES as f64; RATES]) }
    }

    /// Advances by a tick.
    pub(super) fn evolve(&mut self) {
        *self.rates = tables().evolved(&self.rates);
    }

    /// Observes a tick with this count of deliveries.
    pub(super) fn observe(&mut self, deliveries: u32) {
        self.weigh(poisson(deliveries));
    }

    /// Observes a tick with this count of deliveries, after which no delivery was left: the rate may be higher.
    pub(super) fn observe_at_least(&mut self, deliveries: u32) {
        let n = deliveries.min(MAX_AT_LEAST);
        self.weigh(|(mean, _)| {
            let mut likely = libm::exp(-mean);
            let mut fewer = 0.0;
            for k in 0..n {
                fewer += likely;
                likely *= mean / f64::from(k + 1);
            }
            (1.0 - fewer).max(0.0)
        });
    }

    /// Multiplies by a likelihood and normalizes.
    fn weigh(&mut self, likely: impl Fn((f64, f64)) -> f64) {
        let mut sum = 0.0;
        for (p, mean) in self.rates.iter_mut().zip(&tables().means) {
            *p *= likely(*mean);
            sum += *p;
        }
        if sum < 1e-300 {
            // No rate explains the observation: use the largest.
            *self.rates = [0.0; RATES];
            self.rates[RATES - 1] = 1.0;
            return;
        }
        self.rates.iter_mut().for_each(|p| *p /= sum);
    }

    /// Returns the units that are delivered in the next ticks (1 to 8) with a probability of at least 1 - `risk`: the
    /// largest number that the deliveries stay below with a probability of at most `risk`.
    pub(super) fn forecast(&self, ticks: usize, risk: f64) -> usize {
        let by_count = &tables().cumulative[ticks - 1];
        let at_most = |n: &Rates| n.iter().zip(self.rates.iter()).map(|(c, p)| c * p).sum::<f64>();
        by_count.partition_point(|n| at_most(n) < risk)
    }

    /// Returns the mean rate, units/s, and the probability of an outage.
    pub(super) fn state(&self) -> (f64, f64) {
        (self.rates.iter().enumerate().map(|(i, p)| rate(i) * p).sum(), self.rates[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(ticks: u32, deliveries: u32) -> Model {
        repeated(ticks, |model| model.observe(deliveries))
    }

    #[test]
    fn probabilities_stay_probabilities() {
        let mut model = Model::new();
        for n in [0, 0, 3, 30, 500, 0] {
            model.evolve();
            let sum: f64 = model.rates.iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{sum}");
            model.observe(n);
        }
        // For each rate, the largest count includes all deliveries.
        for (h, by_count) in tables().cumulative.iter().enumerate() {
            for (i, p) in by_count[by_count.len() - 1].iter().enumerate() {
                assert!((p - 1.0).abs() < 1e-9, "{h} {i} {p}");
            }
        }
    }

    #[test]
    fn it_learns_the_rate() {
        // 10 deliveries per tick are 500 units/s. The rate changes by 28 per tick, an observation has an error of
        // sqrt(10) deliveries, 158 units/s: the estimate has a deviation of sqrt(28 * 158) = 67, and equal observations
        // determine its mean.
        let (mean, outage) = after(200, 10).state();
        assert!((mean - 500.0).abs() < 15.0, "{mean}");
        assert!(outage < 1e-9);
        let (mean, outage) = after(200, 0).state();
        assert!(mean < 10.0 && outage > 0.8, "{mean} {outage}");
    }

    #[test]
    fn a_lack_of_data_is_not_a_slow_link() {
        // Two deliveries per tick and none left: the rate is at least that. From a uniform distribution, 0 becomes
        // impossible, and rates above 2 / tick = 100/s stay likely: 1 - e^-mean (1 + mean) is 0.59 at a mean of 2, 0.96
        // at 5, 1 at 20.
        let mut model = Model::new();
        model.observe_at_least(2);
        let likely = |mean: f64| 1.0 - (-mean).exp() * (1.0 + mean);
        let at = |units: f64| model.rates[(units / 1000.0 * 255.0).round() as usize];
        let mean = |units: f64| rate((units / 1000.0 * 255.0).round() as usize) * TICK;
        assert_eq!(model.rates[0], 0.0);
        assert!((at(100.0) / at(1000.0) - likely(mean(100.0)) / likely(20.0)).abs() < 1e-9);
        assert!((at(250.0) / at(1000.0) - likely(mean(250.0)) / likely(20.0)).abs() < 1e-9);
        // As an exact count it would be an estimate of about 100/s, with a much smaller forecast.
        let (open, exact) = (repeated(20, |m| m.observe_at_least(2)), repeated(20, |m| m.observe(2)));
        assert!(open.forecast(5, 0.05) > 3 * exact.forecast(5, 0.05), "{}", open.forecast(5, 0.05));
    }

    fn repeated(ticks: u32, observe: impl Fn(&mut Model)) -> Model {
        let mut model = Model::new();
        for _ in 0..ticks {
            model.evolve();
            observe(&mut model);
        }
        model
    }

    #[test]
    fn forecasts_are_cautious_and_grow() {
        let model = after(200, 10);
        let forecast: Vec<usize> = (1..=TICKS).map(|h| model.forecast(h, 0.05)).collect();
        assert!(forecast.windows(2).all(|w| w[0] <= w[1]), "{forecast:?}");
        // One tick: a mixture of Poisson about 10 with the rate's 67/500 beside sqrt(10)/10: deviation
        // sqrt(10 + (10 * 0.134)^2 + ...) = 3.5, so that 5 % are at 10 - 1.645 * 3.5 = 4.
        assert!((3..=6).contains(&forecast[0]), "{forecast:?}");
        // The median of five ticks is the mean at that rate.
        let median = model.forecast(5, 0.5);
        assert!((46..=52).contains(&median), "{median}");
        assert!(forecast[4] < median && forecast[4] > 25, "{forecast:?}");
        // A smaller risk gives a smaller forecast.
        assert!(model.forecast(5, 0.01) < forecast[4] && model.forecast(5, 0.25) > forecast[4]);
        assert_eq!(after(200, 0).forecast(5, 0.05), 0);
    }

    #[test]
    fn poisson_agrees_with_its_formula() {
        // 3 expected: e^-3 * 3^2 / 2 = 0.2240.
        assert!((poisson(2)((3.0, 3f64.ln())) - 0.224_041_807_655_387_9).abs() < 1e-12);
        let none = (0.0, f64::NEG_INFINITY);
        assert!((poisson(0)(none) - 1.0).abs() < 1e-12 && poisson(1)(none) == 0.0);
    }
}
