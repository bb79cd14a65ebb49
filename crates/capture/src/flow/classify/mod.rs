//! The probable congestion control algorithm of a sender, from its rounds.
//!
//! ```text
//! rounds ──> epochs between reductions ──> multiplicative decrease   (window after / before, median)
//!    │                                └──> window growth             (segments per round; share done by the middle)
//!    │       queueing before the reduction                           (least RTT / RTT)
//!    └─────> no reductions: a constant window on a small queue? periodic dips of the window?
//! ```
//!
//! The result is "unknown" if the path does not reveal the algorithm: with few epochs, small windows, or a queue length
//! at which two algorithms behave equally. Algorithms that behave equally by design (Reno with each loss recovery;
//! DCTCP, Prague and LP without marks or competing traffic) are one family. Each rule cites the RFC or paper of its
//! algorithm.

mod epochs;
mod features;
pub mod forest;
mod loss_based;
mod not_loss_based;
#[cfg(test)]
mod tests;

use super::rounds::Round;
use super::side::Limit;
use crate::pack::{Pack, Packing, Unpacker};
use epochs::Epochs;

/// Fewest rounds for a classification.
const LEAST_ROUNDS: usize = 40;
/// Least median window, segments: in smaller windows one segment is too large a share.
const LEAST_SEGMENTS: f64 = 8.0;

/// Least confidence of a reported guess.
const LEAST_CONFIDENCE: f64 = 0.2;

/// A probable congestion control algorithm.
#[derive(Clone, Debug, PartialEq)]
pub struct Guess {
    /// One of [`FAMILIES`].
    pub family: &'static str,
    /// From 0 to 1.
    pub confidence: f64,
    /// The measurements on which it is based.
    pub evidence: String,
    /// Median of window after / window before a reduction.
    pub decrease: f64,
    /// Median share of an epoch's growth that is reached by its middle: 0.5 is linear.
    pub growth: f64,
    /// Median growth of the window, segments per round.
    pub slope: f64,
    /// Number of reductions.
    pub reductions: u32,
}

impl Pack for Guess {
    fn blank() -> Self {
        let evidence = String::new();
        Self { family: FAMILIES[0], confidence: 0.0, evidence, decrease: 0.0, growth: 0.0, slope: 0.0, reductions: 0 }
    }
    fn zeros(&self) -> u64 {
        7
    }
    fn is_blank(&self) -> bool {
        *self == Self::blank()
    }
    fn clear(&mut self) {
        *self = Self::blank();
    }
    fn pack<'a>(&self, to: Packing<'a>) -> Packing<'a> {
        let Self { family, confidence, evidence, decrease, growth, slope, reductions } = self;
        let to = FAMILIES.iter().position(|known| known == family).unwrap_or(FAMILIES.len() - 1).pack(to);
        ([*confidence, *decrease, *growth, *slope], (*reductions, evidence.as_bytes().to_vec())).pack(to)
    }
    fn unpack(&mut self, from: &mut Unpacker<'_>) {
        let mut packed: (usize, [f64; 4], (u32, Vec<u8>)) = Pack::blank();
        packed.unpack(from);
        let (family, [confidence, decrease, growth, slope], (reductions, evidence)) = packed;
        let family = FAMILIES[family.min(FAMILIES.len() - 1)];
        let evidence = String::from_utf8_lossy(&evidence).into_owned();
        *self = Self { family, confidence, evidence, decrease, growth, slope, reductions };
    }
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

/// A round as the classification uses it, with windows in segments.
#[derive(Clone, Copy, Debug)]
struct RoundSample {
    start: f64,
    end: f64,
    window: f64,
    /// Mean and least RTT of the round, s; 0: unknown.
    rtt: f64,
    rtt_min: f64,
    /// True if a loss or a mark was detected in it.
    reduces: bool,
    timeout: bool,
    repairing: bool,
    echoes: u32,
    limit: Limit,
    /// New data and retransmitted segments, in segments.
    new: f64,
    retransmissions: f64,
}

impl RoundSample {
    /// New data, segments per second.
    fn rate(&self) -> f64 {
        self.new / (self.end - self.start).max(1e-4)
    }
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

/// Closeness of `x` to `to`: 1 at equality, less with the distance in units of `width`.
fn near(x: f64, to: f64, width: f64) -> f64 {
    (1.0 - ((x - to) / width).powi(2) / 2.0).clamp(0.0, 1.0)
}

fn round_samples(rounds: &[Round], mss: u32, at_sender: bool) -> Vec<RoundSample> {
    let mss = f64::from(mss.max(1));
    let mut marked = false;
    rounds
        .iter()
        .map(|r| {
            // Near the receiver ACKs follow at once: the duration of a round is the round-trip time there.
            let length = (r.end - r.start) as f64 / 1e9;
            let (rtt, rtt_min) = match (at_sender, r.rtts) {
                (true, 0) => (0.0, 0.0),
                (true, n) => (r.rtt_sum as f64 / f64::from(n) / 1e6, f64::from(r.rtt_min) / 1e9),
                (false, _) => (length, length),
            };
            // ECE is set until the sender answers with CWR: the first round with it has the mark.
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
                new: f64::from(r.bytes) / mss,
                retransmissions: f64::from(r.retransmissions),
            }
        })
        .collect()
}

/// A direction's rounds as the classification uses them.
struct Rounds {
    samples: Vec<RoundSample>,
    typical: f64,
    epochs: Epochs,
    at_sender: bool,
}

impl Rounds {
    /// Returns the reason if the rounds can't be classified.
    fn new(rounds: &[Round], mss: u32, at_sender: bool) -> Result<Self, String> {
        if rounds.len() < LEAST_ROUNDS {
            return Err(format!("{} rounds, {LEAST_ROUNDS} are needed", rounds.len()));
        }
        // The last round is cut by the end of the connection or of the capture.
        let rounds = &rounds[..rounds.len() - 1];
        let samples = round_samples(rounds, mss, at_sender);
        let held = samples.iter().filter(|l| matches!(l.limit, Limit::Idle | Limit::Application | Limit::Window));
        if at_sender && held.count() * 2 > rounds.len() {
            return Err("limited by the application or the receive window for most of the time".to_owned());
        }
        let typical = median(&mut samples.iter().map(|l| l.window).collect::<Vec<_>>());
        if typical < LEAST_SEGMENTS {
            return Err(format!("the window is {typical:.0} segments in the median: too small to classify"));
        }
        let epochs = Epochs::new(&samples, at_sender);
        Ok(Self { samples, typical, epochs, at_sender })
    }

    /// The guess of the rules for single algorithms.
    fn by_rules(&self) -> Guess {
        let Self { samples, epochs, .. } = self;
        not_loss_based::ecn_based(samples)
            .or_else(|| not_loss_based::rate_based(samples, self.typical, epochs))
            .or_else(|| {
                loss_based::sawtooth(epochs).filter(|g| g.family == "unknown" || g.confidence >= LEAST_CONFIDENCE)
            })
            .or_else(|| loss_based::linear(epochs))
            .unwrap_or_else(|| not_loss_based::constant_window(samples, epochs))
    }

    fn features(&self, guess: &Guess) -> Vec<f32> {
        features::features(&self.samples, self.typical, &self.epochs, self.at_sender, guess)
    }
}

/// Measurements of a direction, for training; `None`: it can't be classified.
pub fn measurements(rounds: &[Round], mss: u32, at_sender: bool) -> Option<Vec<f32>> {
    let rounds = Rounds::new(rounds, mss, at_sender).ok()?;
    Some(rounds.features(&rounds.by_rules()))
}

/// Classifies a direction by its rounds. `mss`: its longest payload on the wire; `at_sender`: captured at or near the
/// sender.
///
/// The rules for single algorithms give the evidence and a first guess. The family and its confidence are those of a
/// forest of decision trees, to which that guess is one of many measurements.
pub fn classify(rounds: &[Round], mss: u32, at_sender: bool) -> Guess {
    let rounds = match Rounds::new(rounds, mss, at_sender) {
        Ok(rounds) => rounds,
        Err(why) => return unknown(why),
    };
    let guess = rounds.by_rules();
    let vote = forest::bundled().vote(&rounds.features(&guess));
    let (family, confidence) =
        if vote.confidence < LEAST_CONFIDENCE { ("unknown", 0.0) } else { (vote.family, vote.confidence) };
    let evidence = format!("{}; {:.0} % of the trees for {}", guess.evidence, vote.share * 100.0, vote.family);
    Guess { family, confidence: (confidence * 100.0).round() / 100.0, evidence, ..guess }
}
