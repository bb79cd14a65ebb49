//! Sprout's model of a link: deliveries are a Poisson process whose rate wanders [Winstein, Sivaraman and Balakrishnan,
//! Stochastic Forecasts Achieve High Throughput and Low Delay over Cellular Networks, NSDI 2013, "WSB"].
//!
//! ```text
//! rate         one of 256 values from 0 to 1000 units/s; at first any of them is as likely               [WSB]
//! evolve       over a tick of 20 ms a Brownian motion of 200 units/s per sqrt(s); what would fall below 0 is an outage, left
//!              with the probability 1 - e^(-1/s * tick), what would pass 1000 stays there               [WSB]
//! observe      times the probability of so many deliveries in the tick, Poisson with rate * tick         [WSB]
//! at least     times the probability of so many or more, where nothing was left to be delivered
//! forecast     deliveries of the next 1 .. 8 ticks together: the number that is reached with a probability of 95 %  [WSB]
//! ```
//! A forecast sums, over the rates that there may be now, the distribution of deliveries that each leads to; these are
//! tables made once: from each rate the probabilities evolve tick by tick, and the ticks' counts (up to 30) are added as if
//! they were independent, as in the authors' code.

use std::sync::OnceLock;

/// Values of the rate, the largest of them in units/s, and how far it wanders in a second (standard deviation).
const RATES: usize = 256;
pub(super) const RATE_MAX: f64 = 1000.0;
const WANDERS: f64 = 200.0;
/// How fast an outage ends, 1/s.
const ESCAPE: f64 = 1.0;
/// A tick, s.
pub(super) const TICK: f64 = 0.02;
/// Ticks of a forecast.
pub(super) const TICKS: usize = 8;
/// Deliveries in a tick that tables distinguish: half as many again as the largest rate has in the mean.
const COUNTS: usize = 30;

/// Deliveries in a tick that even the largest rate hardly brings: more tells nothing more.
const MOST: u32 = 60;

type Rates = [f64; RATES];

fn rate(i: usize) -> f64 {
    RATE_MAX * i as f64 / (RATES - 1) as f64
}

/// The probabilities of `n` deliveries, by how many are expected: the mean and its logarithm.
fn poisson(n: u32) -> impl Fn((f64, f64)) -> f64 {
    let n_factorial = libm::lgamma(f64::from(n) + 1.0);
    move |(mean, log_mean)| {
        if mean == 0.0 {
            return if n == 0 { 1.0 } else { 0.0 };
        }
        libm::exp(f64::from(n) * log_mean - mean - n_factorial)
    }
}

/// The probability that a standard normal variable is below x.
fn normal(x: f64) -> f64 {
    0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
}

/// What the model computes once.
#[derive(Debug)]
struct Tables {
    /// Deliveries that each rate lets expect in a tick, and their logarithm.
    means: [(f64, f64); RATES],
    /// The probability that a rate moves by so many values in a tick, from the farthest below to the farthest above.
    steps: Vec<f64>,
    /// The probability that it moves by more than so many in one direction.
    beyond: Vec<f64>,
    /// By ticks ahead, count of deliveries and rate now: the probability of at most so many.
    cumulative: Vec<Vec<Rates>>,
}

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(Tables::make)
}

impl Tables {
    fn make() -> Tables {
        let deviation = WANDERS * TICK.sqrt() / rate(1); // values of the rate
        let reach = (5.0 * deviation).ceil() as usize;
        // The longest step has what is left, so that nothing is lost.
        let beyond: Vec<f64> = (0..=reach)
            .map(|d| if d == reach { 0.0 } else { 1.0 - normal((d as f64 + 0.5) / deviation) })
            .collect();
        let steps =
            (0..=reach).map(|d| if d == 0 { 1.0 - 2.0 * beyond[0] } else { beyond[d - 1] - beyond[d] });
        let steps: Vec<f64> = steps.collect();
        let steps = steps.iter().rev().chain(&steps[1..]).copied().collect();
        let means = std::array::from_fn(|i| (rate(i) * TICK, libm::log(rate(i) * TICK)));
        let mut tables = Tables { means, steps, beyond, cumulative: Vec::new() };
        tables.cumulative = (1..=TICKS).map(|h| vec![[0.0; RATES]; COUNTS * h + 1]).collect();
        for from in 0..RATES {
            tables.fill(from);
        }
        tables
    }

    /// The tables' entries for one rate now.
    fn fill(&mut self, from: usize) {
        let mut rates = [0.0; RATES];
        rates[from] = 1.0;
        let mut counts = vec![1.0];
        for h in 0..TICKS {
            rates = self.evolved(&rates);
            let mut tick = [0.0; COUNTS + 1];
            for (i, p) in rates.iter().enumerate().filter(|(_, p)| **p > 0.0) {
                // Upwards from 0 deliveries; the last entry has what is left.
                let mean = rate(i) * TICK;
                let mut likely = libm::exp(-mean);
                let mut left = 1.0;
                for (n, sum) in tick.iter_mut().enumerate() {
                    if n == COUNTS {
                        *sum += p * left;
                    } else {
                        *sum += p * likely;
                        left = (left - likely).max(0.0);
                        likely *= mean / (n + 1) as f64;
                    }
                }
            }
            let mut next = vec![0.0; counts.len() + COUNTS];
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

    /// The probabilities a tick later.
    fn evolved(&self, rates: &Rates) -> Rates {
        let mut next = [0.0; RATES];
        let reach = self.beyond.len() - 1;
        for (i, &all) in rates.iter().enumerate().filter(|(_, p)| **p > 0.0) {
            let mut p = all;
            if i == 0 {
                let stays = libm::exp(-ESCAPE * TICK);
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

/// See the top of this file.
#[derive(Clone, Debug)]
pub(super) struct Model {
    rates: Box<Rates>,
}

impl Model {
    /// Knowing nothing.
    pub(super) fn new() -> Model {
        Model { rates: Box::new([1.0 / RATES as f64; RATES]) }
    }

    /// A tick passes.
    pub(super) fn evolve(&mut self) {
        *self.rates = tables().evolved(&self.rates);
    }

    /// So much was delivered in it.
    pub(super) fn observe(&mut self, deliveries: u32) {
        self.weigh(poisson(deliveries));
    }

    /// So much was delivered in it and nothing was left: the rate may be any that could have brought this much.
    pub(super) fn observe_at_least(&mut self, deliveries: u32) {
        let n = deliveries.min(MOST);
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

    fn weigh(&mut self, likely: impl Fn((f64, f64)) -> f64) {
        let mut sum = 0.0;
        for (p, mean) in self.rates.iter_mut().zip(&tables().means) {
            *p *= likely(*mean);
            sum += *p;
        }
        if sum < 1e-300 {
            // More than any rate allows: the largest.
            *self.rates = [0.0; RATES];
            self.rates[RATES - 1] = 1.0;
            return;
        }
        self.rates.iter_mut().for_each(|p| *p /= sum);
    }

    /// Units that are delivered in the next ticks (1 to 8) with at least the probability 1 - `risk`: the largest number
    /// below which the deliveries stay with no more than `risk`.
    pub(super) fn forecast(&self, ticks: usize, risk: f64) -> usize {
        let by_count = &tables().cumulative[ticks - 1];
        let at_most = |n: &Rates| n.iter().zip(self.rates.iter()).map(|(c, p)| c * p).sum::<f64>();
        by_count.partition_point(|n| at_most(n) < risk)
    }

    /// The mean of the rates, units/s, and the probability of an outage.
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
        // From each rate, the most deliveries that there may be are certain to be enough.
        for (h, by_count) in tables().cumulative.iter().enumerate() {
            for (i, p) in by_count[by_count.len() - 1].iter().enumerate() {
                assert!((p - 1.0).abs() < 1e-9, "{h} {i} {p}");
            }
        }
    }

    #[test]
    fn it_learns_the_rate() {
        // 10 a tick are 500 units/s; the rate wanders by 28 a tick, an observation tells 10 +- sqrt(10), 158 units/s: in
        // balance the estimate is within sqrt(28 * 158) = 67, and its mean over many equal observations where they are.
        let (mean, outage) = after(200, 10).state();
        assert!((mean - 500.0).abs() < 15.0, "{mean}");
        assert!(outage < 1e-9);
        let (mean, outage) = after(200, 0).state();
        assert!(mean < 10.0 && outage > 0.8, "{mean} {outage}");
    }

    #[test]
    fn what_was_not_sent_is_no_sign_of_a_slow_link() {
        // Two a tick and nothing left: the rate may be any. Where every rate was as likely, 0 isn't any more, and those from
        // 2 / tick = 100/s on all are: 1 - e^-mean (1 + mean) is 0.59 at a mean of 2, 0.96 at 5, 1 at 20.
        let mut model = Model::new();
        model.observe_at_least(2);
        let likely = |mean: f64| 1.0 - (-mean).exp() * (1.0 + mean);
        let at = |units: f64| model.rates[(units / 1000.0 * 255.0).round() as usize];
        let mean = |units: f64| rate((units / 1000.0 * 255.0).round() as usize) * TICK;
        assert_eq!(model.rates[0], 0.0);
        assert!((at(100.0) / at(1000.0) - likely(mean(100.0)) / likely(20.0)).abs() < 1e-9);
        assert!((at(250.0) / at(1000.0) - likely(mean(250.0)) / likely(20.0)).abs() < 1e-9);
        // As an exact count it would be taken for about 100/s, and this much less is promised.
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
        // The median of five ticks is what they bring at that rate.
        let median = model.forecast(5, 0.5);
        assert!((46..=52).contains(&median), "{median}");
        assert!(forecast[4] < median && forecast[4] > 25, "{forecast:?}");
        // Less risk, less is promised.
        assert!(model.forecast(5, 0.01) < forecast[4] && model.forecast(5, 0.25) > forecast[4]);
        assert_eq!(after(200, 0).forecast(5, 0.05), 0);
    }

    #[test]
    fn a_poisson_count_is_one() {
        // 3 expected: e^-3 * 3^2 / 2 = 0.2240.
        assert!((poisson(2)((3.0, 3f64.ln())) - 0.224_041_807_655_387_9).abs() < 1e-12);
        let none = (0.0, f64::NEG_INFINITY);
        assert!((poisson(0)(none) - 1.0).abs() < 1e-12 && poisson(1)(none) == 0.0);
    }
}
