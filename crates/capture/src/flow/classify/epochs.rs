//! Epochs: the rounds between two window reductions, their growth, and the reductions. Multiplicative decrease and
//! growth are measured as medians over the epochs, so that single losses and timeouts have little effect.

use super::{RoundSample, median};

/// Fewest rounds of an epoch whose growth is measured.
const LEAST_ROUNDS: usize = 8;
/// Least growth that is measured, segments.
const LEAST_GROWTH: f64 = 3.0;

/// One epoch.
#[derive(Clone, Debug, Default)]
pub(super) struct Epoch {
    /// Window of each round, segments.
    pub(super) windows: Vec<f64>,
    /// Its first round's start and its last round's end, s.
    times: Option<(f64, f64)>,
    /// RTT before its end.
    last_rtt: f64,
    /// True if it begins after a timeout.
    after_timeout: bool,
    /// The least window during the loss recovery before it.
    repaired_with: f64,
}

/// Growth of the window in an epoch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    /// Segments per round.
    pub(super) slope: f64,
    /// The same in its first and its last quarter.
    pub(super) early: f64,
    pub(super) late: f64,
    /// Share of the growth that is reached by its middle.
    pub(super) middle: f64,
    /// Mean deviation from a straight line, as a share of the growth.
    pub(super) bend: f64,
    pub(super) rounds: usize,
    /// Middle of the range of the window.
    pub(super) window: f64,
}

impl Epoch {
    pub(super) fn seconds(&self) -> f64 {
        self.times.map_or(0.0, |(start, end)| end - start)
    }

    pub(super) fn first(&self) -> f64 {
        self.windows.iter().take(2).copied().fold(f64::INFINITY, f64::min)
    }

    pub(super) fn last(&self) -> f64 {
        self.windows.iter().rev().take(2).copied().fold(0.0, f64::max)
    }

    fn mean(&self, from: usize, to: usize) -> f64 {
        let part = &self.windows[from..to];
        part.iter().sum::<f64>() / part.len().max(1) as f64
    }

    pub(super) fn growth(&self) -> Option<Growth> {
        let n = self.windows.len();
        if n < LEAST_ROUNDS {
            return None;
        }
        let edge = (n / 16).clamp(1, 8);
        let (begin, end) = (self.mean(0, edge), self.mean(n - edge, n));
        let growth = end - begin;
        if growth.abs() < LEAST_GROWTH {
            return Some(Growth {
                slope: growth / (n - edge) as f64,
                early: 0.0,
                late: 0.0,
                middle: f64::NAN,
                bend: f64::NAN,
                rounds: n,
                window: f64::midpoint(begin, end),
            });
        }
        let steps = (n - edge) as f64;
        let line = |i: usize| begin + growth * (i as f64 + 0.5 - edge as f64 / 2.0) / steps;
        let off: f64 = self.windows.iter().enumerate().map(|(i, w)| (w - line(i)).abs()).sum();
        let quarter = n / 4;
        let rate = |from: usize, to: usize| {
            let half = (to - from) / 2;
            (self.mean(to - half, to) - self.mean(from, from + half)) / (to - from - half) as f64
        };
        let middle = self.mean(n / 2 - edge.div_ceil(2), n / 2 + edge.div_ceil(2));
        Some(Growth {
            slope: growth / steps,
            early: rate(0, quarter.max(2)),
            late: rate(n - quarter.max(2), n),
            middle: (middle - begin) / growth,
            bend: off / n as f64 / growth.abs(),
            rounds: n,
            window: f64::midpoint(begin, end),
        })
    }
}

/// One reduction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reduction {
    /// Window after / window before.
    pub(super) left: f64,
    /// Least RTT / RTT before: the share of the window that was not in the queue.
    pub(super) free: f64,
    /// Segments of the window that were in the queue before the reduction.
    pub(super) queued: f64,
    /// Least window before the next epoch / window before the reduction.
    pub(super) lowest: f64,
}

/// All epochs except the first, which is slow start.
#[derive(Clone, Debug, Default)]
pub(super) struct Epochs {
    pub(super) all: Vec<Epoch>,
    pub(super) reductions: Vec<Reduction>,
    /// Number of all reductions, including those too close to each other to be measured.
    pub(super) count: u32,
    /// The least RTT, s.
    pub(super) base: f64,
}

impl Epochs {
    pub(super) fn new(samples: &[RoundSample], at_sender: bool) -> Self {
        let mut trips: Vec<f64> = samples.iter().map(|l| l.rtt_min).filter(|&t| t > 0.0).collect();
        trips.sort_by(f64::total_cmp);
        // The duration of a round may be too short by chance; an RTT sample is not.
        let base = trips.get(if at_sender { 0 } else { trips.len() / 20 }).copied().unwrap_or(0.0);
        let mut all = vec![Epoch::default()];
        let mut count = 0;
        for l in samples {
            if l.reduces {
                count += 1;
                if all.last().is_some_and(|e| !e.windows.is_empty()) {
                    all.push(Epoch { repaired_with: f64::INFINITY, ..Epoch::default() });
                }
            }
            if let Some(epoch) = all.last_mut().filter(|e| e.windows.is_empty()) {
                epoch.after_timeout |= l.timeout;
                epoch.repaired_with = epoch.repaired_with.min(l.window);
            }
            if !(l.reduces || l.repairing)
                && let Some(epoch) = all.last_mut()
            {
                epoch.windows.push(l.window);
                epoch.times = Some((epoch.times.map_or(l.start, |times| times.0), l.end));
                epoch.last_rtt = l.rtt;
            }
        }
        all.retain(|e| e.windows.len() >= 2);
        if count > 0 && !all.is_empty() {
            all.remove(0);
        }
        let reductions = all
            .windows(2)
            .filter(|e| !e[1].after_timeout)
            .map(|e| {
                let free = if e[0].last_rtt > 0.0 { (base / e[0].last_rtt).min(1.0) } else { f64::NAN };
                let (before, after) = (e[0].last(), e[1].first());
                Reduction {
                    left: after / before,
                    free,
                    queued: before * (1.0 - free),
                    lowest: after.min(e[1].repaired_with) / before,
                }
            })
            .filter(|r| r.left.is_finite())
            .collect();
        Self { all, reductions, count, base }
    }

    /// The median of a value over the reductions.
    pub(super) fn of_reductions(&self, value: impl Fn(&Reduction) -> f64) -> f64 {
        median(&mut self.reductions.iter().map(value).filter(|v| v.is_finite()).collect::<Vec<_>>())
    }

    /// The growth of the epochs that are long enough.
    pub(super) fn growths(&self) -> Vec<Growth> {
        self.all.iter().filter_map(Epoch::growth).collect()
    }
}

/// The median of a value over the epochs.
pub(super) fn of_growths(growths: &[Growth], value: impl Fn(&Growth) -> f64) -> f64 {
    median(&mut growths.iter().map(value).filter(|v| v.is_finite()).collect::<Vec<_>>())
}
