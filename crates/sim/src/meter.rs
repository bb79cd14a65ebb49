//! Running statistics: constant memory, whatever the length of the run.

use dumbbell_qdisc::Backlog;
use dumbbell_units::{Dur, Time};
use hdrhistogram::Histogram;

/// The mean of a quantity over time, each value weighted by how long it held.
#[derive(Clone, Debug, Default)]
pub(crate) struct TimeMean {
    sum: f64,
    span: f64,
    value: f64,
    since: Time,
}

impl TimeMean {
    /// From now on the quantity is `value`. NaN means that it has no value yet.
    pub(crate) fn set(&mut self, value: f64, now: Time) {
        self.settle(now);
        self.value = value;
    }

    fn settle(&mut self, now: Time) {
        let span = now.since(self.since).0 as f64;
        if span > 0.0 && !self.value.is_nan() {
            self.sum += self.value * span;
            self.span += span;
        }
        self.since = now;
    }

    /// Forgets what was before; the value stays.
    pub(crate) fn restart(&mut self, now: Time) {
        (self.sum, self.span, self.since) = (0.0, 0.0, now);
    }

    /// The mean until `now`; None if there is none.
    pub(crate) fn mean(&mut self, now: Time) -> Option<f64> {
        self.settle(now);
        (self.span > 0.0).then(|| self.sum / self.span)
    }
}

/// What waits in a queue, meaned over time from `from` on.
#[derive(Clone, Debug)]
pub(crate) struct BacklogMeter {
    from: Time,
    now: Backlog,
    since: Time,
    packet_ns: u128,
    byte_ns: u128,
}

impl BacklogMeter {
    pub(crate) fn new(from: Time) -> BacklogMeter {
        BacklogMeter { from, now: Backlog::default(), since: Time::ZERO, packet_ns: 0, byte_ns: 0 }
    }

    /// From now on `backlog` waits.
    #[inline]
    pub(crate) fn set(&mut self, backlog: Backlog, now: Time) {
        if backlog != self.now {
            self.settle(now);
            self.now = backlog;
        }
    }

    fn settle(&mut self, now: Time) {
        let span = now.since(self.since.max(self.from)).0;
        self.packet_ns += u128::from(self.now.packets) * u128::from(span);
        self.byte_ns += u128::from(self.now.bytes) * u128::from(span);
        self.since = now;
    }

    /// Mean packets and bytes until `now`; None if no time has passed.
    pub(crate) fn means(&mut self, now: Time) -> Option<(f64, f64)> {
        self.settle(now);
        let span = now.since(self.from).0 as f64;
        (span > 0.0).then(|| (self.packet_ns as f64 / span, self.byte_ns as f64 / span))
    }
}

/// Spans of time: exact count, mean, minimum, maximum; percentiles within 0.1 %.
#[derive(Clone, Debug)]
pub(crate) struct Spans {
    sum: u128,
    zeros: u64,
    /// Of those above zero.
    min: Dur,
    max: Dur,
    /// Those above zero.
    histogram: Histogram<u64>,
}

impl Spans {
    pub(crate) fn new() -> Spans {
        let histogram = Histogram::new(3).unwrap_or_else(|_| unreachable!("3 digits are allowed"));
        Spans { sum: 0, zeros: 0, min: Dur::MAX, max: Dur::ZERO, histogram }
    }

    #[inline]
    pub(crate) fn record(&mut self, span: Dur) {
        if span == Dur::ZERO {
            self.zeros += 1;
        } else {
            self.record_positive(span);
        }
    }

    fn record_positive(&mut self, span: Dur) {
        self.sum += u128::from(span.0);
        self.min = self.min.min(span);
        self.max = self.max.max(span);
        // Cannot fail: the histogram grows as needed.
        let _ = self.histogram.record(span.0);
    }

    fn count(&self) -> u64 {
        self.zeros + self.histogram.len()
    }

    pub(crate) fn clear(&mut self) {
        *self = Spans::new();
    }

    fn some_millis(&self, d: Dur) -> Option<f64> {
        (self.count() > 0).then(|| d.as_millis())
    }

    pub(crate) fn mean_ms(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum as f64 / self.count() as f64 * 1e-6)
    }

    pub(crate) fn min_ms(&self) -> Option<f64> {
        self.some_millis(if self.zeros > 0 { Dur::ZERO } else { self.min })
    }

    pub(crate) fn max_ms(&self) -> Option<f64> {
        self.some_millis(self.max)
    }

    /// The value below or at which the share `q` of the spans lies (nearest rank).
    pub(crate) fn percentile_ms(&self, q: f64) -> Option<f64> {
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
        let value = Dur(self.histogram.value_at_quantile(share));
        Some(value.clamp(self.min, self.max).as_millis())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_over_time_weighs_by_duration() {
        let mut m = TimeMean::default();
        m.set(10.0, Time(0));
        m.set(20.0, Time(30)); // 10 for 30 ns, then 20 for 10 ns
        assert_eq!(m.mean(Time(40)), Some((300.0 + 200.0) / 40.0));
    }

    #[test]
    fn percentiles_are_nearest_rank_within_a_thousandth() {
        let mut s = Spans::new();
        (1..=1000).for_each(|ms| s.record(Dur::millis(ms)));
        for (q, expected) in [(0.5, 500.0), (0.95, 950.0), (0.99, 990.0), (1.0, 1000.0)] {
            let got = s.percentile_ms(q).unwrap();
            assert!((got / expected - 1.0).abs() < 0.001, "{q}: {got}");
        }
        assert_eq!(s.mean_ms(), Some(500.5));
    }

    #[test]
    fn zeros_have_their_share() {
        let mut s = Spans::new();
        (0..9).for_each(|_| s.record(Dur::ZERO));
        s.record(Dur::millis(7));
        assert_eq!((s.percentile_ms(0.9), s.percentile_ms(1.0)), (Some(0.0), Some(7.0)));
    }
}
