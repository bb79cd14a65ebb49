//! Named random streams: each component draws from its own stream, derived from the seed and the path of the component.
//! Adding a node to a scenario therefore does not change the draws of the others.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The stream of random numbers of one component (xoshiro256++) [Blackman and Vigna 2021].
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// Returns the stream of the component `path` (such as `"link/r1->r2/loss"`) under `seed`.
    #[must_use]
    pub fn new(seed: u64, path: &str) -> Stream {
        // FNV-1a hash of the path, initialized with the seed: the same in all versions and on all machines.
        let start = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let key = path.bytes().fold(start, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3));
        Stream(Xoshiro256PlusPlus::seed_from_u64(key))
    }

    /// Returns 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number uniform in 0..1 (53 bits).
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Returns an exponential number with mean 1. The logarithm is from a portable library, so that draws are identical
    /// on all machines.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.uniform())
    }

    /// Returns a normal number with mean 0 and standard deviation 1 (Box and Muller 1958, one of the pair).
    pub fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * libm::cos(2.0 * std::f64::consts::PI * self.uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ() {
        let draw = |seed, path| Stream::new(seed, path).next_u64();
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
    }

    #[test]
    fn uniform_has_the_right_mean() {
        let mut s = Stream::new(7, "mean");
        let n = 100_000;
        let mean = (0..n).map(|_| s.uniform()).sum::<f64>() / f64::from(n);
        // sd of the mean = 1/sqrt(12 n) = 0.0009; five of them.
        assert!((mean - 0.5).abs() < 0.0046, "{mean}");
    }

    #[test]
    fn normal_has_mean_spread_and_tails() {
        let mut s = Stream::new(7, "normal");
        let n = 100_000;
        let draws: Vec<f64> = (0..n).map(|_| s.normal()).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
        let beyond = draws.iter().filter(|x| x.abs() > 2.0).count() as f64 / f64::from(n);
        // sd of the mean 1 / sqrt(n) = 0.0032, of the variance sqrt(2 / n) = 0.0045; P(|x| > 2) = 0.0455, its sd
        // 0.00066; five of each.
        assert!(mean.abs() < 0.016, "{mean}");
        assert!((variance - 1.0).abs() < 0.023, "{variance}");
        assert!((beyond - 0.0455).abs() < 0.0033, "{beyond}");
    }
}
