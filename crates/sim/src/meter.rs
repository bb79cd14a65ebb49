//! Running statistics, in constant memory: time averages, percentiles from a histogram, round-trip times.

mod ack_times;
mod voice;

pub use ack_times::{AckTimes, RttSeries};
pub use voice::VoiceMeter;

use dumbbell_qdisc::Backlog;
use dumbbell_units::histogram::Histogram;
use dumbbell_units::{Dur, Time};

/// Time averages of `N` quantities: each value is weighted by the time for which it held.
#[derive(Clone, Debug)]
pub struct TimeAverages<const N: usize> {
    sums: [f64; N],
    /// The time for which there was a value, ns.
    spans: [u64; N],
    values: [f64; N],
    since: Time,
}

impl<const N: usize> Default for TimeAverages<N> {
    fn default() -> TimeAverages<N> {
        TimeAverages::new()
    }
}

impl<const N: usize> TimeAverages<N> {
    /// Returns averages without values.
    #[must_use]
    pub fn new() -> TimeAverages<N> {
        TimeAverages { sums: [0.0; N], spans: [0; N], values: [f64::NAN; N], since: Time::ZERO }
    }

    /// Sets the values from `now` on. NaN: no value.
    #[inline]
    pub fn set(&mut self, values: [f64; N], now: Time) {
        self.settle(now);
        self.values = values;
    }

    #[inline(always)] // after each ACK
    fn settle(&mut self, now: Time) {
        let span = now.since(self.since).0;
        self.since = now;
        if span == 0 {
            return;
        }
        let weight = span.cast_signed() as f64; // cheaper than from u64
        for ((sum, total), value) in self.sums.iter_mut().zip(&mut self.spans).zip(self.values) {
            if !value.is_nan() {
                *sum += value * weight;
                *total += span;
            }
        }
    }

    /// Restarts the averages at `now`; the current values are kept.
    pub fn restart(&mut self, now: Time) {
        (self.sums, self.spans, self.since) = ([0.0; N], [0; N], now);
    }

    /// The averages until `now`; None for a quantity that never had a value.
    pub fn means(&mut self, now: Time) -> [Option<f64>; N] {
        self.settle(now);
        std::array::from_fn(|i| (self.spans[i] > 0).then(|| self.sums[i] / self.spans[i] as f64))
    }
}

/// Time average of a queue's backlog, from `from` on.
#[derive(Clone, Debug)]
pub struct BacklogMeter {
    from: Time,
    now: Backlog,
    since: Time,
    packet_ns: u128,
    byte_ns: u128,
}

impl BacklogMeter {
    /// For an empty queue. The time before `from` does not count.
    #[must_use]
    pub fn new(from: Time) -> BacklogMeter {
        BacklogMeter { from, now: Backlog::default(), since: Time::ZERO, packet_ns: 0, byte_ns: 0 }
    }

    /// Sets the backlog from `now` on.
    #[inline]
    pub fn set(&mut self, backlog: Backlog, now: Time) {
        if backlog != self.now {
            self.settle(now);
            self.now = backlog;
        }
    }

    /// Adds a packet that waits from `since` until `until`, to the backlog that is set.
    #[inline]
    pub fn add(&mut self, bytes: u32, since: Time, until: Time) {
        self.add_spans(bytes, u128::from(until.since(since.max(self.from)).0));
    }

    /// Adds packets of `bytes` that wait after the start, `ns` together, to the backlog that is set.
    #[inline]
    pub fn add_spans(&mut self, bytes: u32, ns: u128) {
        self.packet_ns += ns;
        self.byte_ns += u128::from(bytes) * ns;
    }

    fn settle(&mut self, now: Time) {
        let span = now.since(self.since.max(self.from)).0;
        self.packet_ns += u128::from(self.now.packets) * u128::from(span);
        self.byte_ns += u128::from(self.now.bytes) * u128::from(span);
        self.since = now;
    }

    /// Average packets and bytes until `now`; None if no time has passed.
    pub fn means(&mut self, now: Time) -> Option<(f64, f64)> {
        self.settle(now);
        let span = now.since(self.from).0 as f64;
        (span > 0.0).then(|| (self.packet_ns as f64 / span, self.byte_ns as f64 / span))
    }
}

/// Percentiles within 0.1 %, as HdrHistogram's with three significant digits.
const RESOLUTION_BITS: u32 = 10;

/// Statistics of durations: exact count, mean, minimum and maximum; percentiles within 0.1 %.
#[derive(Clone, Debug)]
pub struct DurationStats {
    sum: u128,
    zeros: u64,
    /// Minimum and maximum of the durations above zero.
    min: Dur,
    max: Dur,
    /// The durations above zero.
    histogram: Histogram<RESOLUTION_BITS>,
}

impl Default for DurationStats {
    fn default() -> DurationStats {
        DurationStats::new()
    }
}

impl DurationStats {
    /// Returns statistics without durations.
    #[must_use]
    pub fn new() -> DurationStats {
        DurationStats { sum: 0, zeros: 0, min: Dur::MAX, max: Dur::ZERO, histogram: Histogram::default() }
    }

    /// Adds a duration.
    #[inline]
    pub fn record(&mut self, span: Dur) {
        if span == Dur::ZERO {
            self.zeros += 1;
        } else {
            self.record_positive(span);
        }
    }

    /// Adds durations of zero.
    pub fn record_zeros(&mut self, count: u64) {
        self.zeros += count;
    }

    /// Adds a duration above zero.
    #[inline]
    pub(crate) fn record_positive(&mut self, span: Dur) {
        self.sum += u128::from(span.0);
        // Branches, because both are rare.
        if span < self.min {
            self.min = span;
        }
        if span > self.max {
            self.max = span;
        }
        self.histogram.record(span.0);
    }

    fn count(&self) -> u64 {
        self.zeros + self.histogram.len()
    }

    /// Adds all durations of `other`.
    pub fn merge(&mut self, other: &DurationStats) {
        self.sum += other.sum;
        self.zeros += other.zeros;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.histogram.merge(&other.histogram);
    }

    /// Removes all durations.
    pub fn clear(&mut self) {
        *self = DurationStats::new();
    }

    fn some_millis(&self, d: Dur) -> Option<f64> {
        (self.count() > 0).then(|| d.as_millis())
    }

    /// Mean, ms; None without durations.
    #[must_use]
    pub fn mean_ms(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum as f64 / self.count() as f64 * 1e-6)
    }

    /// Minimum, ms.
    #[must_use]
    pub fn min_ms(&self) -> Option<f64> {
        self.some_millis(if self.zeros > 0 { Dur::ZERO } else { self.min })
    }

    /// Maximum, ms.
    #[must_use]
    pub fn max_ms(&self) -> Option<f64> {
        self.some_millis(self.max)
    }

    /// The `q` quantile by nearest rank, ms.
    #[must_use]
    pub fn percentile_ms(&self, q: f64) -> Option<f64> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let rank = ((q * count as f64).ceil() as u64).clamp(1, count);
        if rank <= self.zeros {
            return Some(0.0);
        }
        let among = count - self.zeros;
        let share = (rank - self.zeros) as f64 / among as f64;
        let value = Dur(*self.histogram.at_rank((share * among as f64).ceil() as u64).end());
        Some(value.clamp(self.min, self.max).as_millis())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_averages_weigh_by_duration() {
        let mut m = TimeAverages::new();
        m.set([10.0, f64::NAN, 8.0], Time(0));
        m.set([20.0, f64::NAN, f64::NAN], Time(30)); // 10 for 30 ns, then 20 for 10 ns; 8 for 30 ns
        assert_eq!(m.means(Time(40)), [Some((300.0 + 200.0) / 40.0), None, Some(8.0)]);
    }

    #[test]
    fn percentiles_are_nearest_rank_within_a_thousandth() {
        let mut s = DurationStats::new();
        (1..=1000).for_each(|ms| s.record(Dur::millis(ms)));
        for (q, expected) in [(0.5, 500.0), (0.95, 950.0), (0.99, 990.0), (1.0, 1000.0)] {
            let got = s.percentile_ms(q).unwrap();
            assert!((got / expected - 1.0).abs() < 0.001, "{q}: {got}");
        }
        assert_eq!(s.mean_ms(), Some(500.5));
    }

    #[test]
    fn merged_statistics_are_those_of_all_durations() {
        let (mut all, mut low, mut high) = (DurationStats::new(), DurationStats::new(), DurationStats::new());
        (0..100).for_each(|ms| low.record(Dur::millis(ms)));
        (100..1000).for_each(|ms| high.record(Dur::millis(ms)));
        (0..1000).for_each(|ms| all.record(Dur::millis(ms)));
        low.merge(&high);
        low.merge(&DurationStats::new());
        let values =
            |s: &DurationStats| [s.mean_ms(), s.min_ms(), s.max_ms(), s.percentile_ms(0.05), s.percentile_ms(0.5)];
        assert_eq!(values(&low), values(&all));
    }

    #[test]
    fn zeros_count_in_percentiles() {
        let mut s = DurationStats::new();
        (0..9).for_each(|_| s.record(Dur::ZERO));
        s.record(Dur::millis(7));
        assert_eq!((s.percentile_ms(0.9), s.percentile_ms(1.0)), (Some(0.0), Some(7.0)));
    }
}
