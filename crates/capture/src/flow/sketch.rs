//! Quantiles of a stream of durations in little memory.

use crate::pack::{Pack, Packing, Unpacker, fields};
use dumbbell_units::histogram::Histogram;

/// 64 buckets for each doubling: a value differs by at most 1/128 from the middle of its bucket.
type Values = Histogram<6>;

/// Quantiles are exact within 0.8 %; count, sum, least and greatest value are exact.
#[derive(Clone, Debug, Default)]
pub struct Sketch {
    values: Values,
    count: u64,
    sum: u128,
    least: u64,
    greatest: u64,
}

impl Sketch {
    /// Adds a duration, ns; negative ones (after a clock step) are ignored.
    #[inline]
    pub fn add(&mut self, value: i64) {
        let Ok(value) = u64::try_from(value) else { return };
        if self.count == 0 {
            self.least = value;
        }
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
        self.count += 1;
        self.sum += u128::from(value);
        self.values.record(value);
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
        let bucket = self.values.at_rank(rank);
        let middle = *bucket.start() as f64 + (bucket.end() - bucket.start()) as f64 / 2.0;
        Some(middle.clamp(self.least as f64, self.greatest as f64))
    }
}

fields!(Sketch { values, count, sum, least, greatest });

/// For each bucket that has values their number, and its distance from the bucket before; 0.
impl Pack for Values {
    fn blank() -> Self {
        Self::default()
    }
    #[inline]
    fn zeros(&self) -> u64 {
        1
    }
    #[inline]
    fn is_blank(&self) -> bool {
        self.is_empty()
    }
    #[inline]
    fn clear(&mut self) {
        Histogram::clear(self);
    }
    fn pack<'a>(&self, to: Packing<'a>) -> Packing<'a> {
        let mut last = 0;
        let to = self.fold_counts(to, |to, bucket, count| {
            let distance = bucket - std::mem::replace(&mut last, bucket);
            to.put(count).put(distance.into())
        });
        to.put(0)
    }
    fn unpack(&mut self, from: &mut Unpacker<'_>) {
        Pack::clear(self);
        let mut bucket = 0;
        loop {
            let count = from.get();
            if count == 0 {
                return;
            }
            bucket += from.get() as u16;
            self.add(bucket, count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::{Packer, unpack};

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
    fn a_packed_sketch_returns_unchanged() {
        for count in [1, 400, 5000] {
            let mut sketch = Sketch::default();
            (0..count).for_each(|i| sketch.add(1000 + i * i * 7 % 90_001));
            let again: Sketch = unpack(&Packer::default().pack(&sketch));
            let quantiles = |s: &Sketch| (0..=20).map(|q| s.quantile(f64::from(q) / 20.0)).collect::<Vec<_>>();
            assert_eq!((quantiles(&sketch), sketch.mean()), (quantiles(&again), again.mean()));
        }
    }

    #[test]
    fn an_empty_sketch_has_no_values() {
        let mut sketch = Sketch::default();
        assert_eq!(sketch.quantile(0.5), None);
        sketch.add(-1);
        assert_eq!(sketch.mean(), None);
    }
}
