//! Which congestion control a sender has: a guess from its rounds.
//!
//! ```text
//! rounds ──> epochs between reductions ──> what a reduction leaves   (window after / before, median)
//!    │                                └──> how the window grows      (segments a round; share done by the middle)
//!    │       and how much queue stood before the reduction           (least RTT / RTT)
//!    └─────> no reductions: does the window stand, on a small queue? does it dip now and then?
//! ```
//!
//! A law shows only where the path lets it: few epochs, tiny windows or a queue of the size at which two laws agree
//! leave it unknown. Laws that agree by design (Reno, NewReno, SACK; DCTCP, Prague and LP without marks or other
//! traffic) are one family.

mod epochs;
mod loss_based;
mod not_loss_based;
#[cfg(test)]
mod tests;

use super::rounds::Round;
use super::side::Limit;
use epochs::Epochs;

/// Fewer rounds say nothing.
const LEAST_ROUNDS: usize = 40;
/// Fewer segments of window say nothing: a segment is a large part of it.
const LEAST_SEGMENTS: f64 = 8.0;

/// A guess that is less sure isn't told.
const LEAST_CONFIDENCE: f64 = 0.2;

/// A guess.
#[derive(Clone, Debug, PartialEq)]
pub struct Guess {
    /// One of [`FAMILIES`].
    pub family: &'static str,
    /// From 0 to 1.
    pub confidence: f64,
    /// The numbers behind it.
    pub evidence: String,
    /// Median of window after / window before a reduction.
    pub decrease: f64,
    /// Median share of an epoch's growth that is done by its middle: 0.5 is linear.
    pub growth: f64,
    /// Median growth of the window, segments a round.
    pub slope: f64,
    /// Reductions seen.
    pub reductions: u32,
}

/// All families.
pub const FAMILIES: [&str; 18] = [
    "reno-like",
    "tahoe",
    "cubic",
    "bic",
    "scalable",
    "highspeed",
    "htcp",
    "hybla",
    "illinois",
    "compound",
    "westwood",
    "veno",
    "vegas-like",
    "ledbat-like",
    "bbr1",
    "bbr3",
    "dctcp-like",
    "unknown",
];

/// What the laws look at, each window in segments.
#[derive(Clone, Copy, Debug)]
struct RoundSample {
    start: f64,
    end: f64,
    window: f64,
    /// Mean and least RTT of the round, s; 0: not known.
    rtt: f64,
    rtt_min: f64,
    /// A loss or a mark was found in it.
    reduces: bool,
    timeout: bool,
    repairing: bool,
    echoes: u32,
    limit: Limit,
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
        slope: f64::NAN,
        reductions: 0,
    }
}

/// Near a value: 1 there, less with the distance in units of `width`.
fn near(x: f64, to: f64, width: f64) -> f64 {
    (1.0 - ((x - to) / width).powi(2) / 2.0).clamp(0.0, 1.0)
}

fn samples(rounds: &[Round], mss: u32, at_sender: bool) -> Vec<RoundSample> {
    let mss = f64::from(mss.max(1));
    let mut marked = false;
    rounds
        .iter()
        .map(|r| {
            // Near the receiver ACKs come at once: there a round's length is the round trip.
            let length = (r.end - r.start) as f64 / 1e9;
            let (rtt, rtt_min) = match (at_sender, r.rtts) {
                (true, 0) => (0.0, 0.0),
                (true, n) => (r.rtt_sum as f64 / f64::from(n) / 1e6, f64::from(r.rtt_min) / 1e9),
                (false, _) => (length, length),
            };
            // Echoes go on until the sender answers: the first round of them is the mark.
            let mark = r.echoes > 0 && !marked;
            marked = r.echoes > 0;
            RoundSample {
                start: r.start as f64 / 1e9,
                end: r.end as f64 / 1e9,
                window: f64::from(if at_sender { r.flight } else { r.bytes }) / mss,
                rtt,
                rtt_min,
                reduces: r.fast || r.timeout || mark,
                timeout: r.timeout,
                repairing: r.repairing,
                echoes: r.echoes,
                limit: r.limit,
            }
        })
        .collect()
}

/// Guesses from a direction's rounds. `mss`: its longest payload; `at_sender`: captured there (or near).
pub fn classify(rounds: &[Round], mss: u32, at_sender: bool) -> Guess {
    if rounds.len() < LEAST_ROUNDS {
        return unknown(format!("{} rounds, {LEAST_ROUNDS} are needed", rounds.len()));
    }
    // The last round ends with the connection, or the capture.
    let rounds = &rounds[..rounds.len() - 1];
    let samples = samples(rounds, mss, at_sender);
    let held = samples.iter().filter(|l| matches!(l.limit, Limit::Idle | Limit::Application | Limit::Window));
    if at_sender && held.count() * 2 > rounds.len() {
        return unknown("for most of the time its application or the receiver's window held it".to_owned());
    }
    let typical = median(&mut samples.iter().map(|l| l.window).collect::<Vec<_>>());
    if typical < LEAST_SEGMENTS {
        return unknown(format!("the window is {typical:.0} segments in the median: too small to see a law"));
    }
    let epochs = Epochs::new(&samples, at_sender);
    not_loss_based::marked(&samples)
        .or_else(|| not_loss_based::probing(&samples, typical, &epochs))
        .or_else(|| {
            loss_based::sawtooth(&epochs)
                .filter(|g| g.family == "unknown" || g.confidence >= LEAST_CONFIDENCE)
        })
        .or_else(|| loss_based::straight(&epochs))
        .unwrap_or_else(|| not_loss_based::standing(&samples, &epochs))
}
