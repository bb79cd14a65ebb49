//! Quantiles of a stream of durations in little memory: a histogram with logarithmic buckets, as HdrHistogram and
//! DDSketch (Masson, Rim, Lee 2019) have.

/// Buckets for each doubling: a value differs by at most 1/128 from the middle of its bucket.
const STEPS: u32 = 64;

/// A histogram with 64 buckets for each doubling, allocated from the least to the greatest value. Quantiles are exact
/// within 0.8 %; count, sum, least and greatest value are exact.
#[derive(Clone, Debug, Default)]
pub struct Sketch {
    counts: Vec<u32>,
    /// Bucket of `counts[0]`.
    first: u32,
    count: u64,
    sum: u128,
    least: u64,
    greatest: u64,
}

#[inline]
fn bucket(value: u64) -> u32 {
    if value < u64::from(STEPS) {
        return value as u32;
    }
    let doublings = 63 - value.leading_zeros() - 6;
    (doublings + 1) * STEPS + (value >> doublings) as u32 - STEPS
}

/// Middle of a bucket.
fn middle(bucket: u32) -> f64 {
    if bucket < STEPS {
        return f64::from(bucket);
    }
    let doublings = bucket / STEPS - 1;
    let low = u64::from(bucket % STEPS + STEPS) << doublings;
    low as f64 + ((1_u64 << doublings) - 1) as f64 / 2.0
}

impl Sketch {
    /// Adds a duration, ns; negative ones (after a clock step) are ignored.
    #[inline]
    pub fn add(&mut self, value: i64) {
        let Ok(value) = u64::try_from(value) else { return };
        let at = bucket(value);
        if self.count == 0 {
            self.first = at;
            self.counts.push(0);
            self.least = value;
        }
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
        self.count += 1;
        self.sum += u128::from(value);
        if at < self.first {
            let more = (self.first - at) as usize;
            self.counts.splice(0..0, std::iter::repeat_n(0, more));
            self.first = at;
        }
        let i = (at - self.first) as usize;
        if i >= self.counts.len() {
            self.counts.resize(i + 1, 0);
        }
        self.counts[i] = self.counts[i].saturating_add(1);
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The least value.
    pub fn least(&self) -> Option<u64> {
        (self.count > 0).then_some(self.least)
    }

    /// The greatest value.
    pub fn greatest(&self) -> Option<u64> {
        (self.count > 0).then_some(self.greatest)
    }

    /// The mean.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The `q`-quantile (nearest rank).
    pub fn quantile(&self, q: f64) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let rank = ((q * self.count as f64).ceil() as u64).clamp(1, self.count);
        let mut below = 0;
        for (i, &n) in self.counts.iter().enumerate() {
            below += u64::from(n);
            if below >= rank {
                let value = middle(self.first + i as u32);
                return Some(value.clamp(self.least as f64, self.greatest as f64));
            }
        }
        Some(self.greatest as f64)
    }
}

crate::pack::fields!(Sketch { counts, first, count, sum, least, greatest });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_within_a_bucket_of_the_sorted_values() {
        let mut values: Vec<u64> = (0..5000_u64).map(|i| 1000 + i * i * 7 % 90_001 * (i % 13 + 1)).collect();
        let mut sketch = Sketch::default();
        for &v in &values {
            sketch.add(v as i64);
        }
        values.sort_unstable();
        for q in [0.0, 0.01, 0.5, 0.95, 0.99, 1.0] {
            let rank = ((q * 5000.0_f64).ceil() as usize).clamp(1, 5000);
            let exact = values[rank - 1] as f64;
            let found = sketch.quantile(q).unwrap();
            // Half a bucket: 1/128 of the value.
            assert!((found - exact).abs() <= exact / 128.0, "{q}: {found}, exact {exact}");
        }
        assert_eq!(sketch.count(), 5000);
        assert_eq!(sketch.least(), Some(values[0]));
        assert_eq!(sketch.mean(), Some(values.iter().sum::<u64>() as f64 / 5000.0));
    }

    #[test]
    fn buckets_are_adjacent() {
        // Buckets are adjacent: the bucket number increases by at most one from value to value.
        for v in 0..100_000_u64 {
            assert!((bucket(v + 1) - bucket(v)) <= 1);
        }
        assert_eq!(bucket(63), 63);
        assert_eq!(bucket(64), 64);
        assert_eq!(bucket(127), 127);
        assert_eq!(bucket(128), 128); // 128 and 129 share it: from here on buckets are two wide
        assert_eq!(bucket(129), 128);
        assert_eq!(bucket(u64::MAX), 58 * 64 + 63);
    }

    #[test]
    fn an_empty_sketch_has_no_values() {
        let mut sketch = Sketch::default();
        assert_eq!(sketch.quantile(0.5), None);
        sketch.add(-1);
        assert_eq!(sketch.mean(), None);
    }
}
