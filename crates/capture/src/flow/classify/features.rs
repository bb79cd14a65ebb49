//! The measurements on which the vote of [`forest`](super::forest) is based: numbers that describe the window, its
//! reductions and its growth, the queue, and the delivery rate. Most are medians or ratios, so that they depend little
//! on the path.

use super::epochs::{Epochs, of_growths};
use super::loss_based::highspeed;
use super::{FAMILIES, Guess, RoundSample, median};
use crate::flow::side::Limit;

/// Number of measurements.
pub const FEATURES: usize = 69 + FAMILIES.len();

/// Stands for a measurement that isn't possible.
const NONE: f64 = -25.0;
/// Rounds over which a trend is removed, and lags of the correlations: BBR's gain cycle has eight phases
/// [draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.4.2].
const TREND: usize = 15;
const LAGS: [usize; 5] = [1, 2, 4, 6, 8];

/// Collects measurements in order.
struct Row {
    values: Vec<f64>,
}

impl Row {
    fn add(&mut self, value: f64) {
        self.values.push(if value.is_finite() { value.clamp(-20.0, 20.0) } else { NONE });
    }

    fn all<const N: usize>(&mut self, values: [f64; N]) {
        values.into_iter().for_each(|value| self.add(value));
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn share(count: usize, of: usize) -> f64 {
    count as f64 / of.max(1) as f64
}

fn middle(values: impl Iterator<Item = f64>) -> f64 {
    median(&mut values.filter(|v| v.is_finite()).collect::<Vec<_>>())
}

/// The `q`-quantile of sorted values.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    match sorted.len() {
        0 => f64::NAN,
        n => sorted[((n - 1) as f64 * q).round() as usize],
    }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

fn variation(values: &[f64]) -> f64 {
    let mean = mean(values);
    mean_of(values.iter().map(|v| (v - mean).powi(2))).sqrt() / mean
}

fn mean_of(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
}

/// Pearson's correlation of pairs; 0 without enough of them.
fn correlation(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let pairs: Vec<(f64, f64)> = pairs.filter(|(a, b)| a.is_finite() && b.is_finite()).collect();
    let n = pairs.len() as f64;
    let (a, b) = pairs.iter().fold((0.0, 0.0), |(a, b), p| (a + p.0 / n, b + p.1 / n));
    let (mut aa, mut bb, mut ab) = (0.0, 0.0, 0.0);
    for p in &pairs {
        aa += (p.0 - a).powi(2);
        bb += (p.1 - b).powi(2);
        ab += (p.0 - a) * (p.1 - b);
    }
    if pairs.len() < 8 || aa * bb <= 1e-18 { 0.0 } else { ab / (aa * bb).sqrt() }
}

/// The logarithm of a series without its trend, a moving mean.
fn without_trend(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let logs: Vec<f64> = values.map(|v| v.max(0.5).ln()).collect();
    let last = logs.len() as i64 - 1;
    (0..=last)
        .map(|i| {
            let around = (i - TREND as i64 / 2)..=(i + TREND as i64 / 2);
            logs[i as usize] - around.map(|k| logs[k.clamp(0, last) as usize]).sum::<f64>() / TREND as f64
        })
        .collect()
}

fn autocorrelation(values: &[f64], lag: usize) -> f64 {
    if values.len() <= lag {
        return f64::NAN;
    }
    let power = mean_of(values.iter().map(|v| v * v));
    mean_of(values[lag..].iter().zip(values).map(|(a, b)| a * b)) / power.max(1e-12)
}

/// Starts of the rounds with a low window after one without, at least a second apart, and how many of them follow the
/// one before after `period` seconds, per `period` of the transfer.
fn periodic(starts: &[f64], period: f64, tolerance: f64, span: f64) -> f64 {
    let gaps = starts.windows(2).filter(|w| (w[1] - w[0] - period).abs() < tolerance).count();
    gaps as f64 / (span / period).max(1.0)
}

/// The measurements of a direction. `guess`: of the rules for single algorithms.
pub(super) fn features(
    samples: &[RoundSample],
    typical: f64,
    epochs: &Epochs,
    at_sender: bool,
    guess: &Guess,
) -> Vec<f32> {
    let mut row = Row { values: Vec::with_capacity(FEATURES) };
    let n = samples.len();
    let later = &samples[n / 2..];
    let span = samples[n - 1].end - samples[0].start;
    let reductions = samples.iter().filter(|s| s.reduces).count();
    let held = |s: &&RoundSample| matches!(s.limit, Limit::Idle | Limit::Application | Limit::Window);
    row.all([
        f64::from(u8::from(at_sender)),
        typical.max(0.5).ln(),
        (n as f64).ln(),
        share(samples.iter().filter(held).count(), n),
        share(reductions, n),
        share(samples.iter().filter(|s| s.timeout).count(), reductions),
        share(samples[n / 3..].iter().filter(|s| s.echoes > 0).count(), n - n / 3),
    ]);
    decreases(&mut row, epochs);
    growths(&mut row, epochs);
    dips(&mut row, samples, typical, span);
    queue(&mut row, later, typical, epochs.base);
    let windows = without_trend(samples.iter().map(|s| s.window));
    let rates = without_trend(samples.iter().map(RoundSample::rate));
    for lag in LAGS {
        row.add(autocorrelation(&windows, lag));
    }
    let power = |values: &[f64]| (mean_of(values.iter().map(|v| v * v)) + 1e-9).ln();
    row.all([power(&windows), autocorrelation(&rates, 8), power(&rates)]);
    effects(&mut row, samples);
    let rtt = |s: &RoundSample| if s.rtt > 0.0 { s.rtt } else { f64::NAN };
    let rate: Vec<f64> = later.iter().map(RoundSample::rate).collect();
    row.all([
        variation(&rate),
        correlation(later.iter().map(|s| (s.window, rtt(s)))),
        correlation(later.iter().map(|s| (s.rate(), rtt(s)))),
        correlation(later.windows(2).map(|w| (w[1].window - w[0].window, rtt(&w[0])))),
    ]);
    steps(&mut row, samples, typical);
    let new = samples.iter().map(|s| s.new).sum::<f64>();
    let again = samples.iter().map(|s| s.retransmissions).sum::<f64>();
    let usual = middle(samples.iter().map(RoundSample::rate));
    row.all([(again / new.max(1.0) + 1e-6).log10(), (typical.max(0.5) / (usual * epochs.base).max(0.1)).ln()]);
    debug_assert_eq!(row.values.len(), FEATURES - FAMILIES.len());
    for family in FAMILIES {
        row.add(if guess.family == family { guess.confidence.max(0.1) } else { 0.0 });
    }
    row.values.into_iter().map(|value| value as f32).collect()
}

fn decreases(row: &mut Row, epochs: &Epochs) {
    let left = sorted(epochs.reductions.iter().map(|r| r.left));
    let distance = |r: &super::epochs::Reduction| r.left - r.free;
    row.all([
        (left.len() as f64).ln_1p(),
        epochs.of_reductions(|r| r.left),
        quantile(&left, 0.25),
        quantile(&left, 0.75),
        epochs.of_reductions(|r| r.free),
        epochs.of_reductions(distance),
        epochs.of_reductions(|r| distance(r).abs()),
        epochs.of_reductions(|r| r.lowest),
        epochs.of_reductions(|r| r.queued.max(0.0).ln_1p()),
    ]);
}

fn growths(row: &mut Row, epochs: &Epochs) {
    let growths = epochs.growths();
    let slope = of_growths(&growths, |g| g.slope);
    let window = of_growths(&growths, |g| g.window);
    let left = epochs.of_reductions(|r| r.left);
    let (hs_left, hs_slope) = highspeed(window / f64::midpoint(1.0, left));
    // CUBIC returns to its window after the third root of W_max (1 - 0.7) / 0.4 seconds [RFC 9438 §4.2].
    let plateau = |last: f64| (last.max(1.0) * 0.3 / 0.4).cbrt();
    row.all([
        (growths.len() as f64).ln_1p(),
        slope,
        slope / (epochs.base / 0.025).max(1.0).powi(2),
        of_growths(&growths, |g| g.middle),
        of_growths(&growths, |g| g.bend),
        of_growths(&growths, |g| (g.early - g.late) / g.slope.abs().max(0.05)),
        of_growths(&growths, |g| g.rounds as f64).ln(),
        slope / window,
        left - hs_left,
        (slope.max(0.01) / hs_slope).ln(),
        middle(epochs.all.iter().map(|e| e.seconds() / plateau(e.windows[e.windows.len() - 1]))),
        middle(
            epochs.all.iter().filter_map(|e| Some(e.growth()?.slope * e.windows.len() as f64 / e.seconds().max(1e-3))),
        ),
    ]);
}

/// Short reductions of the window, with and without losses, and their periods: 10.2 s for BBR version 1, 5.2 s for
/// version 3.
fn dips(row: &mut Row, samples: &[RoundSample], typical: f64, span: f64) {
    let found = super::not_loss_based::dips(samples, typical);
    let starts: Vec<f64> = found.iter().map(|d| d.start).collect();
    let is_low = |s: &RoundSample| s.window < 0.25 * typical;
    let mut lows: Vec<f64> = Vec::new();
    for pair in samples.windows(2) {
        if is_low(&pair[1]) && !is_low(&pair[0]) && lows.last().is_none_or(|last| pair[1].start - last > 1.0) {
            lows.push(pair[1].start);
        }
    }
    row.all([
        starts.len() as f64 / span * 10.0,
        middle(starts.windows(2).map(|w| w[1] - w[0])),
        periodic(&starts, 10.2, 1.2, span),
        periodic(&starts, 5.2, 0.6, span),
        middle(found.iter().map(|d| d.depth)),
        middle(found.iter().map(|d| d.back)),
        lows.len() as f64 / span * 10.0,
        periodic(&lows, 10.2, 1.0, span),
    ]);
}

/// Variation of the window, and the queue, in the second half.
fn queue(row: &mut Row, later: &[RoundSample], typical: f64, base: f64) {
    let normal: Vec<f64> = later.iter().filter(|s| !s.repairing).map(|s| s.window).collect();
    let normal = if normal.len() < 10 { later.iter().map(|s| s.window).collect() } else { normal };
    let ordered = sorted(normal.iter().copied());
    let shortest = middle(later.iter().map(|s| s.rtt_min).filter(|&t| t > 0.0));
    let trips = sorted(later.iter().map(|s| s.rtt).filter(|&t| t > 0.0));
    let longer = |q: f64| (quantile(&trips, q) / base).ln();
    row.all([
        variation(&normal),
        quantile(&ordered, 0.1) / typical.max(0.1),
        quantile(&ordered, 0.9) / typical.max(0.1),
        (quantile(&ordered, 0.5) * (1.0 - base / shortest)).max(0.0).ln_1p(),
        shortest - base,
        longer(0.9),
        longer(0.5),
        longer(0.1),
        base.ln(),
    ]);
}

/// The window after a reduction, relative to the one before it.
fn effects(row: &mut Row, samples: &[RoundSample]) {
    let mut after: Vec<f64> = Vec::new();
    for at in 2..samples.len().saturating_sub(3) {
        if samples[at].reduces {
            let later = samples[at + 2].window.max(samples[at + 3].window);
            after.push((later.max(0.5) / samples[at - 1].window.max(0.5)).ln());
        }
    }
    let kept = after.iter().filter(|&&e| e > -0.1).count();
    row.add(median(&mut after.clone()));
    row.add(if after.is_empty() { f64::NAN } else { share(kept, after.len()) });
}

/// Peaks of the window, and its changes from round to round.
fn steps(row: &mut Row, samples: &[RoundSample], typical: f64) {
    let n = samples.len();
    let highest = |part: &[RoundSample]| part.iter().map(|s| s.window).fold(0.5, f64::max);
    let over = |part: &[RoundSample]| (highest(part) / typical.max(0.5)).ln();
    row.all([over(samples), over(&samples[..(n / 5).max(5).min(n)])]);
    let same = samples.windows(2).filter(|w| (w[1].window - w[0].window).abs() <= 0.02 * w[1].window.max(1.0));
    row.add(share(same.count(), n - 1));
    let clean = |s: &RoundSample| !(s.reduces || s.repairing);
    let changes: Vec<f64> =
        samples.windows(2).filter(|w| clean(&w[0]) && clean(&w[1])).map(|w| w[1].window - w[0].window).collect();
    let part = |wanted: &dyn Fn(f64) -> bool| match changes.len() {
        0 => f64::NAN,
        all => share(changes.iter().filter(|&&d| wanted(d)).count(), all),
    };
    row.all([
        median(&mut changes.clone()),
        part(&|d| d > 0.6 && d < 1.4),
        part(&|d| d > 0.3 && d <= 0.6),
        part(&|d| d > 0.1),
        part(&|d| d < -0.1),
    ]);
}
