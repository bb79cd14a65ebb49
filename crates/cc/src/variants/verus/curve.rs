//! The curve of Verus: the delay as a rising function of the window, through the points of the delay profile [Zaki et
//! al., SIGCOMM 2015; the authors' code, "C"].
//!
//! The points are averaged in groups of neighboring windows [C]. Groups whose delay doesn't rise are merged with their
//! neighbors (pooled adjacent violators). Between the groups the curve is linear, beyond them it is proportional to the
//! window.

/// Number of groups of windows through which the curve passes [C].
const GROUPS: usize = 15;

/// Groups as (mean window, mean delay), segments and s; both rise.
#[derive(Clone, Debug, Default)]
pub(super) struct Curve(Vec<(f64, f64)>);

impl Curve {
    /// Returns the curve through the known points of a profile; NaN is unknown.
    pub(super) fn through(profile: &[f64]) -> Curve {
        let known: Vec<(f64, f64)> =
            profile.iter().enumerate().filter(|(_, d)| !d.is_nan()).map(|(w, d)| (w as f64, *d)).collect();
        let size = known.len().div_ceil(GROUPS).max(1);
        // Groups as (sum of windows, sum of delays, points), merged with the previous one unless its mean delay is
        // lower.
        let mut groups: Vec<(f64, f64, f64)> = Vec::new();
        for part in known.chunks(size) {
            let sum = part.iter().fold((0.0, 0.0), |s, p| (s.0 + p.0, s.1 + p.1));
            groups.push((sum.0, sum.1, part.len() as f64));
            while let [.., a, b] = groups[..]
                && a.1 * b.2 >= b.1 * a.2
            {
                groups.truncate(groups.len() - 2);
                groups.push((a.0 + b.0, a.1 + b.1, a.2 + b.2));
            }
        }
        Curve(groups.into_iter().map(|(w, d, n)| (w / n, d / n)).collect())
    }

    /// Returns the largest window with at most this delay, segments; None without any point.
    pub(super) fn window(&self, delay: f64) -> Option<f64> {
        let (&(first, least), &(last, most)) = (self.0.first()?, self.0.last()?);
        if delay.is_nan() {
            return None;
        }
        if delay >= most {
            return Some(last * delay / most); // with a queue, the delay is proportional to the window
        }
        if delay <= least {
            return Some(first * delay / least);
        }
        let next = self.0.partition_point(|(_, d)| *d <= delay);
        let ((w0, d0), (w1, d1)) = (self.0[next - 1], self.0[next]);
        Some(w0 + (w1 - w0) * (delay - d0) / (d1 - d0))
    }

    /// Returns the delay of a window, s; None without any point.
    pub(super) fn delay(&self, window: f64) -> Option<f64> {
        let (&(first, least), &(last, most)) = (self.0.first()?, self.0.last()?);
        if window >= last {
            return Some(most * window / last.max(1.0));
        }
        if window <= first {
            return Some(least);
        }
        let next = self.0.partition_point(|(w, _)| *w <= window);
        let ((w0, d0), (w1, d1)) = (self.0[next - 1], self.0[next]);
        Some(d0 + (d1 - d0) * (window - w0) / (w1 - w0))
    }
}
