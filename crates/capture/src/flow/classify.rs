//! Which congestion control a sender has: a guess from its rounds.
//!
//! ```text
//! rounds ──> epochs between reductions ──> decrease factor  (window after / before, median)
//!                                     └──> growth           (share of the epoch's growth done by its middle:
//!                                                            0.5 linear, more: concave, less: convex)
//!        └─> no reduction: does the window stand still, is the queue short, does it probe?
//! ```
//!
//! The families overlap where the path gives them no chance to differ (few epochs, tiny windows): then it says unknown.

use super::rounds::Round;
use super::side::Limit;

/// Fewer rounds say nothing.
const LEAST_ROUNDS: usize = 40;
/// Fewer bytes of window say nothing: a segment is a large part of it.
const LEAST_SEGMENTS: f64 = 8.0;
/// Rounds of an epoch whose growth can be looked at.
const LEAST_EPOCH: usize = 6;

/// A guess.
#[derive(Clone, Debug, PartialEq)]
pub struct Guess {
    /// The family: `reno-like`, `cubic`, `bic-like`, `scalable-like`, `htcp-like`,
    /// `illinois-like`, `vegas-like`, `bbr-like` or `unknown`.
    pub family: &'static str,
    /// From 0 to 1.
    pub confidence: f64,
    /// The numbers behind it.
    pub evidence: String,
    /// Median of window after / window before a reduction.
    pub decrease: f64,
    /// Median share of growth at the middle of an epoch.
    pub growth: f64,
    /// Reductions seen.
    pub reductions: u32,
}

fn median(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn unknown(why: String) -> Guess {
    Guess {
        family: "unknown",
        confidence: 0.0,
        evidence: why,
        decrease: f64::NAN,
        growth: f64::NAN,
        reductions: 0,
    }
}

/// Rounds between two reductions.
struct Epoch {
    windows: Vec<(f64, f64)>,
}

impl Epoch {
    fn first(&self) -> f64 {
        self.windows.iter().take(2).map(|w| w.1).fold(f64::INFINITY, f64::min)
    }

    fn last(&self) -> f64 {
        self.windows.iter().rev().take(2).map(|w| w.1).fold(0.0, f64::max)
    }

    /// Share of the growth that is done at the middle of the time.
    fn shape(&self) -> Option<f64> {
        let (first, last) = (self.windows.first()?, self.windows.last()?);
        let growth = self.last() - self.first();
        if self.windows.len() < LEAST_EPOCH || growth < 0.1 * self.first() {
            return None;
        }
        let middle = f64::midpoint(first.0, last.0);
        let span = (last.0 - first.0) / 8.0;
        let near: Vec<f64> =
            self.windows.iter().filter(|w| (w.0 - middle).abs() <= span).map(|w| w.1).collect();
        let mean = near.iter().sum::<f64>() / near.len() as f64;
        (!near.is_empty()).then(|| (mean - self.first()) / growth)
    }
}

fn window(r: &Round, at_sender: bool) -> f64 {
    f64::from(if at_sender { r.flight } else { r.bytes })
}

/// Guesses from a direction's rounds. `mss`: its longest payload; `at_sender`: captured there (or near).
pub fn classify(rounds: &[Round], mss: u32, at_sender: bool) -> Guess {
    if rounds.len() < LEAST_ROUNDS {
        return unknown(format!("{} rounds, {LEAST_ROUNDS} are needed", rounds.len()));
    }
    let limited =
        rounds.iter().filter(|r| matches!(r.limit, Limit::Idle | Limit::Application | Limit::Window)).count();
    if at_sender && limited * 2 > rounds.len() {
        return unknown("for most of the time its application or the receiver's window held it".to_owned());
    }
    let mut windows: Vec<f64> = rounds.iter().map(|r| window(r, at_sender)).collect();
    let typical = median(&mut windows) / f64::from(mss.max(1));
    if typical < LEAST_SEGMENTS {
        return unknown(format!("the window is {typical:.0} segments in the median: too small to see a law"));
    }
    let mut epochs = vec![Epoch { windows: Vec::new() }];
    let mut reductions = 0;
    for r in rounds {
        if r.fast || r.timeout {
            reductions += 1;
            if epochs.last().is_some_and(|e| !e.windows.is_empty()) {
                epochs.push(Epoch { windows: Vec::new() });
            }
        } else if !r.repairing
            && let Some(epoch) = epochs.last_mut()
        {
            epoch.windows.push((r.start as f64, window(r, at_sender)));
        }
    }
    epochs.retain(|e| e.windows.len() >= 2);
    if let Some(guess) = probing(rounds, at_sender, reductions) {
        return guess;
    }
    if epochs.len() < 3 {
        return still(rounds, mss, at_sender, reductions);
    }
    // The first epoch is slow start: its end overshoots.
    let mut decreases: Vec<f64> =
        epochs[1..].windows(2).map(|e| e[1].first() / e[0].last()).filter(|d| d.is_finite()).collect();
    let mut shapes: Vec<f64> = epochs[1..].iter().filter_map(Epoch::shape).collect();
    let (count, shaped) = (decreases.len(), shapes.len());
    let (decrease, growth) = (median(&mut decreases), median(&mut shapes));
    let evidence = format!(
        "{reductions} reductions; window after / before {decrease:.2} (median of {count}); {growth:.2} of the growth by the \
         middle of an epoch (median of {shaped}; 0.5 is linear)"
    );
    let guess = |family, fit: f64| Guess {
        family,
        confidence: (fit * (1.0 - 0.5_f64.powi(count.min(8) as i32)) * 100.0).round() / 100.0,
        evidence: evidence.clone(),
        decrease,
        growth,
        reductions,
    };
    let near = |x: f64, to: f64, width: f64| (1.0 - ((x - to) / width).powi(2) / 2.0).max(0.0);
    if shaped == 0 {
        return guess("unknown", 0.0);
    }
    match (decrease, growth) {
        (0.4..0.62, 0.4..0.62) => guess("reno-like", near(decrease, 0.5, 0.1) * near(growth, 0.5, 0.1)),
        (0.6..0.78, 0.6..) => guess("cubic", near(decrease, 0.7, 0.08)),
        (0.4..0.62, 0.66..) => guess("illinois-like", near(growth, 0.75, 0.1)),
        (0.78..0.92, 0.62..) | (0.78..0.92, ..0.43) => guess("bic-like", near(decrease, 0.8, 0.1)),
        (0.78..1.0, 0.43..0.62) => guess("scalable-like", near(decrease, 0.875, 0.1)),
        (0.4..0.82, ..0.42) => guess("htcp-like", near(growth, 0.3, 0.15)),
        _ => guess("unknown", 0.0),
    }
}

/// A sender that sends at a measured rate: its window dips to almost nothing every ten seconds.
fn probing(rounds: &[Round], at_sender: bool, reductions: u32) -> Option<Guess> {
    let mut windows: Vec<f64> = rounds.iter().map(|r| window(r, at_sender)).collect();
    let typical = median(&mut windows);
    let mut dips: Vec<f64> = Vec::new();
    for w in rounds.windows(2) {
        let (before, now) = (window(&w[0], at_sender), window(&w[1], at_sender));
        let clean = !(w[1].fast || w[1].timeout || w[1].repairing || w[0].repairing);
        if clean && now < 0.4 * typical && before > 0.6 * typical {
            dips.push(w[1].start as f64 / 1e9);
        }
    }
    let gaps: Vec<f64> = dips.windows(2).map(|d| d[1] - d[0]).collect();
    let regular = gaps.iter().filter(|g| (4.5..=12.0).contains(*g)).count();
    (regular >= 2 && regular * 3 >= gaps.len() * 2).then(|| Guess {
        family: "bbr-like",
        confidence: (0.6 + 0.1 * regular as f64).min(0.95),
        evidence: format!(
            "{} dips of the window to less than 0.4 of its median without a loss, {regular} of them 4.5 to 12 s after the \
             one before",
            dips.len()
        ),
        decrease: f64::NAN,
        growth: f64::NAN,
        reductions,
    })
}

/// A sender without regular reductions.
fn still(rounds: &[Round], mss: u32, at_sender: bool, reductions: u32) -> Guess {
    let later = &rounds[rounds.len() / 2..];
    let windows: Vec<f64> = later.iter().map(|r| window(r, at_sender)).collect();
    let mean = windows.iter().sum::<f64>() / windows.len() as f64;
    let spread = windows.iter().map(|w| (w - mean).powi(2)).sum::<f64>() / windows.len() as f64;
    let spread = spread.sqrt() / mean;
    let losses = later.iter().filter(|r| r.fast || r.timeout).count();
    let evidence = format!(
        "{reductions} reductions, {losses} of them in the second half, in which the window stays at {:.0} segments \
         (deviation {:.0} %)",
        mean / f64::from(mss.max(1)),
        spread * 100.0
    );
    let flat = spread < 0.15 && losses == 0;
    Guess {
        family: if flat { "vegas-like" } else { "unknown" },
        confidence: if flat { ((0.9 - 2.0 * spread) * 100.0).round() / 100.0 } else { 0.0 },
        evidence,
        decrease: f64::NAN,
        growth: f64::NAN,
        reductions,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sawtooth: `law` gives the window in segments at round `i` of an epoch of `len` rounds.
    fn sawtooth(len: usize, law: impl Fn(f64) -> f64) -> Vec<Round> {
        let mut rounds = Vec::new();
        for i in 0..len * 8 {
            let x = (i % len) as f64 / len as f64;
            rounds.push(Round {
                start: i as i64 * 40_000_000,
                end: (i as i64 + 1) * 40_000_000,
                flight: (law(x) * 1448.0) as u32,
                fast: i % len == 0 && i > 0,
                repairing: i % len == 0 && i > 0,
                limit: Limit::Network,
                ..Round::default()
            });
        }
        rounds
    }

    #[test]
    fn laws_are_known_again() {
        // Reno: from half to full, straight.
        let reno = classify(&sawtooth(40, |x| 50.0 + 50.0 * x), 1448, true);
        assert_eq!(reno.family, "reno-like", "{reno:?}");
        // CUBIC up to its plateau: W = W_max + C (t - K)^3, beta 0.7; at half of K 1 - 1/8 of the way.
        let cubic = classify(&sawtooth(40, |x| 100.0 - 30.0 * (1.0 - x).powi(3)), 1448, true);
        assert_eq!(cubic.family, "cubic", "{cubic:?}");
        // Scalable: grows by a factor, cuts an eighth.
        let scalable = classify(&sawtooth(40, |x| 87.5 * (8.0_f64 / 7.0).powf(x)), 1448, true);
        assert_eq!(scalable.family, "scalable-like", "{scalable:?}");
        // No reduction, no movement.
        let vegas = classify(&sawtooth(400, |_| 60.0)[..300], 1448, true);
        assert_eq!(vegas.family, "vegas-like", "{vegas:?}");
        let short = classify(&sawtooth(4, |x| 50.0 + x)[..20], 1448, true);
        assert_eq!(short.family, "unknown");
    }
}
