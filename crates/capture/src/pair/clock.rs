//! Offset and drift between the clocks of two captures, from the packets that are in both.
//!
//! A and B are the two captures; `a` and `b` are the times of the same packet in them. If A captured it first, `b - a`
//! is the offset of B's clock plus the delay from A to B; else it is the offset minus the delay from B to A. Packets
//! that waited in no queue have the minimum delay, so in each direction their `b - a` over time lies on a straight
//! line, whose slope is the drift. If both directions have the same minimum delay, the offset is in the middle between
//! the lines, as in NTP [RFC 5905 §8]. Own rules: a line is the edge of the convex hull that spans the middle of the
//! capture; if the two slopes differ, the smaller one is the drift, and it is 0 if their signs differ.

/// Number of time bins. A packet after the last bin doubles the width: neighboring bins are merged.
const BINS: usize = 512;

/// The least (or greatest) `b - a` in each time bin.
#[derive(Clone, Debug)]
pub(super) struct Envelope {
    /// Time and `b - a` of the extreme packet of each bin, ns; None for a bin without packets.
    bins: Vec<Option<(i64, i64)>>,
    /// Width of a bin, ns.
    width: i64,
    /// 1: the minimum difference, -1: the maximum.
    sign: i64,
}

impl Envelope {
    pub(super) fn least() -> Self {
        Self { bins: vec![None; BINS], width: 1 << 24, sign: 1 }
    }

    pub(super) fn greatest() -> Self {
        Self { sign: -1, ..Self::least() }
    }

    /// Adds a packet at time `t` after the first one, with difference `d`.
    pub(super) fn add(&mut self, t: i64, d: i64) {
        let t = t.max(0);
        while t / self.width >= BINS as i64 {
            for i in 0..BINS / 2 {
                let pair = [self.bins[2 * i], self.bins[2 * i + 1]];
                self.bins[i] = pair.into_iter().flatten().min_by_key(|p| p.1 * self.sign);
            }
            self.bins[BINS / 2..].fill(None);
            self.width *= 2;
        }
        let bin = &mut self.bins[(t / self.width) as usize];
        if bin.is_none_or(|b| d * self.sign < b.1 * self.sign) {
            *bin = Some((t, d));
        }
    }

    fn points(&self) -> Vec<(i64, i64)> {
        self.bins.iter().flatten().map(|&(t, d)| (t, d * self.sign)).collect()
    }

    /// Slope of the line that bounds the points: the edge of their convex hull over the middle of the time.
    fn slope(&self) -> Option<f64> {
        let points = self.points();
        let (first, last) = (points.first()?.0, points.last()?.0);
        if last - first < LONG_ENOUGH {
            return None;
        }
        let mut hull: Vec<(i64, i64)> = Vec::new();
        for p in points {
            while let [.., a, b] = hull[..] {
                let cross =
                    i128::from(b.0 - a.0) * i128::from(p.1 - a.1) - i128::from(b.1 - a.1) * i128::from(p.0 - a.0);
                if cross > 0 {
                    break;
                }
                hull.pop();
            }
            hull.push(p);
        }
        let middle = first + (last - first) / 2;
        let edge = hull.windows(2).find(|e| e[0].0 <= middle && middle <= e[1].0)?;
        Some((edge[1].1 - edge[0].1) as f64 / (edge[1].0 - edge[0].0) as f64 * self.sign as f64)
    }

    /// The bound after removal of the drift.
    fn bound(&self, drift: f64) -> Option<f64> {
        let flat = |&(t, d): &(i64, i64)| d as f64 - drift * t as f64 * self.sign as f64;
        self.points().iter().map(flat).min_by(f64::total_cmp).map(|d| d * self.sign as f64)
    }
}

/// Shortest time over which a drift is estimated, ns.
const LONG_ENOUGH: i64 = 10_000_000_000;

/// B's clock relative to A's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clock {
    /// B's time minus A's, at the first packet, ns.
    pub offset: f64,
    /// Frequency difference of B's clock, ns per ns; positive if it runs faster.
    pub drift: f64,
    /// True if packets of both directions were matched. Otherwise the offset assumes a minimum delay of zero.
    pub both_ways: bool,
    /// Least round-trip time between the two capture points, ns; NaN with one direction only.
    pub round_trip: f64,
}

impl Clock {
    /// Estimates the clock from the differences of the packets that A, and those that B, captured first.
    pub(super) fn estimate(there: &Envelope, back: &Envelope) -> Self {
        // A queue changes the slope of one bound; a drift changes both by the same amount.
        let drift = match (there.slope(), back.slope()) {
            (Some(a), Some(b)) if a * b <= 0.0 => 0.0,
            (Some(a), Some(b)) => {
                if a.abs() < b.abs() {
                    a
                } else {
                    b
                }
            }
            (a, b) => a.or(b).unwrap_or(0.0),
        };
        match (there.bound(drift), back.bound(drift)) {
            (Some(a), Some(b)) => Self { offset: f64::midpoint(a, b), drift, both_ways: true, round_trip: a - b },
            (a, b) => Self { offset: a.or(b).unwrap_or(0.0), drift, both_ways: false, round_trip: f64::NAN },
        }
    }

    /// The difference between the clocks at time `t` after the first packet, ns.
    pub(super) fn at(&self, t: i64) -> f64 {
        self.offset + self.drift * t as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offset_and_drift_are_estimated_from_delayed_packets() {
        // B is 5 s ahead and gains 20 µs a second; 10 ms in each direction, plus queueing from 0 to 9 ms.
        let (mut there, mut back) = (Envelope::least(), Envelope::greatest());
        for i in 0..60_000_i64 {
            let t = i * 1_000_000;
            let clock = 5_000_000_000 + t / 50_000;
            let queue = (i * 7919 % 10) * 1_000_000;
            there.add(t, clock + 10_000_000 + queue);
            back.add(t, clock - 10_000_000 - queue);
        }
        let clock = Clock::estimate(&there, &back);
        assert!((clock.drift - 20e-6).abs() < 1e-7, "{clock:?}");
        assert!((clock.offset - 5e9).abs() < 1e4, "{clock:?}");
        assert!((clock.round_trip - 20e6).abs() < 2e4, "{clock:?}");
    }
}
