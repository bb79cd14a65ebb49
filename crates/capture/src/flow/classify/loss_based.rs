//! Loss-based algorithms, by window growth and multiplicative decrease of the sawtooth: those of RFC 5681 (Reno), RFC
//! 9438 (CUBIC), RFC 3649 (HighSpeed) and of the papers cited at each rule.

use super::epochs::{Epochs, of_growths};
use super::{Guess, near};

/// The reference RTT of Hybla, s [Caini, Firrincieli 2004].
const HYBLA_RTT: f64 = 0.025;
/// Low_Window and High_Window of HighSpeed TCP [RFC 3649 §5].
const HIGHSPEED: (f64, f64) = (38.0, 83_000.0);

/// Decrease factor and growth per round of HighSpeed TCP for a window [RFC 3649 §5].
pub(super) fn highspeed(window: f64) -> (f64, f64) {
    let (low, high) = HIGHSPEED;
    let w = window.clamp(low, high);
    let b = (0.1 - 0.5) * (w.ln() - low.ln()) / (high.ln() - low.ln()) + 0.5;
    let p = 0.078 / w.powf(1.2);
    (1.0 - b, w * w * p * 2.0 * b / (2.0 - b))
}

/// Measurements of a sawtooth; medians over its reductions or epochs.
struct Tooth {
    /// Window after / window before a reduction.
    left: f64,
    /// Interquartile range of `left`.
    spread: f64,
    /// Share of the window that was not in the queue before a reduction.
    free: f64,
    /// Growth, segments per round.
    slope: f64,
    /// The same in the first and in the last quarter of an epoch.
    early: f64,
    late: f64,
    /// Share of the growth that is reached by the middle of an epoch.
    middle: f64,
    /// Mean deviation from a straight line, as a share of the growth.
    bend: f64,
    /// Rounds of an epoch.
    rounds: f64,
    /// Middle of the range of the window, segments.
    window: f64,
    /// rho^2 of Hybla: its growth in segments per round.
    rho2: f64,
}

/// Classifies a sender with repeated growth and reduction.
pub(super) fn sawtooth(epochs: &Epochs) -> Option<Guess> {
    let growths = epochs.growths();
    let count = epochs.reductions.len();
    if count < 2 || growths.len() < 2 {
        return None;
    }
    let mut left: Vec<f64> = epochs.reductions.iter().map(|r| r.left).collect();
    left.sort_by(f64::total_cmp);
    let tooth = Tooth {
        left: epochs.of_reductions(|r| r.left),
        spread: left[count * 3 / 4] - left[count / 4],
        free: epochs.of_reductions(|r| r.free),
        slope: of_growths(&growths, |g| g.slope),
        early: of_growths(&growths, |g| g.early),
        late: of_growths(&growths, |g| g.late),
        middle: of_growths(&growths, |g| g.middle),
        bend: of_growths(&growths, |g| g.bend),
        rounds: of_growths(&growths, |g| g.rounds as f64),
        window: of_growths(&growths, |g| g.window),
        rho2: (epochs.base / HYBLA_RTT).max(1.0).powi(2),
    };
    let (family, fit) = if epochs.count > 3 && count * 2 < epochs.all.len() {
        ("unknown", 0.0) // mostly timeouts, after which all algorithms behave equally
    } else {
        name(&tooth, epochs)
    };
    // Each further reduction halves the uncertainty.
    let certain = 1.0 - 0.5_f64.powi(count.min(8) as i32);
    Some(Guess {
        family,
        confidence: (fit * certain * 100.0).round() / 100.0,
        evidence: format!(
            "{} reductions; a reduction leaves {:.2} of the window (median of {count}; {:.2} would empty the queue); \
             between them it grows by {:.2} segments a round, {:.2} of the growth by the middle (0.5 is linear)",
            epochs.count, tooth.left, tooth.free, tooth.slope, tooth.middle,
        ),
        decrease: tooth.left,
        growth: tooth.middle,
        slope: tooth.slope,
        reductions: epochs.count,
    })
}

/// The family and its goodness of fit.
fn name(t: &Tooth, epochs: &Epochs) -> (&'static str, f64) {
    let half = near(t.left, 0.5, 0.08);
    let linear = t.bend < 0.07 && (0.4..0.62).contains(&t.middle);
    let relative = t.slope / t.window;
    let (hs_left, hs_slope) = highspeed(t.window / f64::midpoint(1.0, t.left));
    // With one ACK for two segments some algorithms grow half as fast.
    let by = |slope: f64| (t.slope / slope).ln().abs().min((2.0 * t.slope / slope).ln().abs());
    if t.left > 0.94 || !t.left.is_finite() {
        return ("unknown", 0.0);
    }
    let lowest = epochs.of_reductions(|r| r.lowest);
    if lowest < 0.12 && t.free > lowest + 0.15 {
        return ("tahoe", near(lowest, 0.0, 0.2));
    }
    if t.slope < 0.3 {
        return ("unknown", 0.0);
    }
    // Scalable grows by 1 % per round and decreases by an eighth: an epoch has 13 rounds on any path.
    if (0.84..0.93).contains(&t.left) && relative > 0.0085 && t.rounds < 20.0 {
        return ("scalable", near(t.left, 0.88, 0.05) * near(relative, 0.0105, 0.004));
    }
    if (0.45..0.82).contains(&t.left) && t.middle < 0.4 && t.slope > 0.9 && t.rounds >= 10.0 {
        let wanted = t.free.clamp(0.5, 0.8);
        return ("htcp", near(t.left, wanted, 0.12) * near(t.middle, 0.2, 0.25));
    }
    if (0.76..0.94).contains(&t.left) && t.slope > 0.3 && relative < 0.0085 {
        return ("bic", near(t.left, 0.84, 0.09));
    }
    if (0.44..0.64).contains(&t.left) && t.middle > 0.62 && t.spread < 0.3 {
        // Both are concave: Compound's delay window shrinks until Reno's growth remains, Illinois' growth slows down.
        let reno_at_last = t.late > 0.45 * t.slope && t.slope > 0.75;
        return if reno_at_last && t.middle < 0.72 {
            ("compound", 0.5 * half)
        } else if (0.66..0.92).contains(&t.middle) {
            ("illinois", half * near(t.middle, 0.76, 0.1))
        } else {
            ("unknown", 0.0)
        };
    }
    if linear && t.rho2 > 1.6 && (0.46..0.6).contains(&t.left) && t.slope > 1.25 {
        let fit = by(t.rho2);
        if fit < 0.32 {
            return ("hybla", half * near(fit, 0.0, 0.4));
        }
    }
    if t.slope > 1.05 && t.window > HIGHSPEED.0 && (t.left - hs_left).abs() < 0.05 && linear && by(hs_slope) < 0.4 {
        return ("highspeed", near(t.left, hs_left, 0.08) * near(by(hs_slope), 0.0, 0.5));
    }
    let one = (0.8..1.25).contains(&t.slope);
    if linear && one && t.free.is_finite() && (t.left - t.free).abs() < 0.06 && (t.free - 0.5).abs() > 0.07 {
        return ("westwood", near(t.left, t.free, 0.08));
    }
    if (0.64..0.77).contains(&t.left) && (0.36..1.0).contains(&t.middle) {
        // In its Reno-friendly region CUBIC grows by 3 (1 - 0.7) / (1 + 0.7) = 0.53 segments per round [RFC 9438 §4.3].
        let friendly = linear && near(t.slope, 0.53, 0.15) > 0.5;
        let curved = t.bend > 0.05 || t.middle > 0.6 || !one;
        if friendly || curved {
            return ("cubic", near(t.left, 0.7, 0.07));
        }
        return ("unknown", 0.0);
    }
    if (0.44..0.62).contains(&t.left) && (0.4..0.64).contains(&t.middle) {
        return reno_or_veno(t, epochs, half);
    }
    ("unknown", 0.0)
}

/// Distinguishes Reno and Veno. Both halve the window. Veno grows half as fast with three or more segments in the
/// queue, and decreases by a fifth with fewer [Fu, Liew 2003].
fn reno_or_veno(t: &Tooth, epochs: &Epochs, half: f64) -> (&'static str, f64) {
    if (0.8..1.25).contains(&t.slope) {
        return ("reno-like", half * near(t.middle, 0.5, 0.1));
    }
    let small = epochs.reductions.iter().filter(|r| r.queued < 6.0);
    let (fifth, all) = small.fold((0, 0), |(f, n), r| (f + u32::from((0.74..0.9).contains(&r.left)), n + 1));
    let slows = t.early > 1.4 * t.late && t.middle > 0.53;
    if (0.42..0.8).contains(&t.slope) && (slows || fifth > 1 && fifth * 2 > all) {
        // LEDBAT slows down as its delay approaches the target, with the same slopes.
        return ("veno", half * if fifth > 1 { 0.9 } else { 0.6 });
    }
    if (0.42..0.6).contains(&t.slope) {
        // Reno with delayed ACKs and ACK counting grows as fast if a queue persists.
        return if t.middle > 0.515 { ("veno", 0.5 * half) } else { ("reno-like", 0.5 * half) };
    }
    ("unknown", 0.0)
}

/// Classifies a sender with few reductions and a long linear growth by the slope.
pub(super) fn linear(epochs: &Epochs) -> Option<Guess> {
    let growths = epochs.growths();
    let long = growths.iter().filter(|g| g.rounds >= 100).max_by_key(|g| g.rounds)?;
    let grown = long.slope * long.rounds as f64;
    if !(long.bend < 0.03 && (0.46..0.54).contains(&long.middle) && grown > 20.0) {
        return None;
    }
    let (family, fit) = match long.slope {
        0.9..1.1 => ("reno-like", near(long.slope, 1.0, 0.1)),
        0.46..0.54 => ("veno", 0.4 * near(long.slope, 0.5, 0.06)),
        _ => return None,
    };
    Some(Guess {
        family,
        confidence: (fit * 60.0).round() / 100.0,
        evidence: format!(
            "{} reductions; it grows by {:.2} segments a round over {} rounds, straight (off by {:.0} % of the growth)",
            epochs.count,
            long.slope,
            long.rounds,
            long.bend * 100.0
        ),
        decrease: epochs.of_reductions(|r| r.left),
        growth: long.middle,
        slope: long.slope,
        reductions: epochs.count,
    })
}
