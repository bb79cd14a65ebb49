//! Algorithms that do not depend on loss: rate-based (BBR) [draft-ietf-ccwg-bbr], ECN-based (DCTCP) [RFC 8257],
//! delay-based (Vegas [Brakmo, Peterson 1995], LEDBAT [RFC 6817]).

use super::epochs::Epochs;
use super::{Guess, RoundSample, median, near, unknown};

/// A short reduction of the window without a loss.
pub(super) struct Dip {
    pub(super) start: f64,
    /// Least window / typical window.
    pub(super) depth: f64,
    /// Rounds until the window is restored, without those at its least value: BBR continues at its known rate.
    pub(super) back: f64,
}

/// Finds the dips.
pub(super) fn dips(samples: &[RoundSample], typical: f64) -> Vec<Dip> {
    let clean = |l: &RoundSample| !(l.reduces || l.repairing);
    let mut dips: Vec<Dip> = Vec::new();
    for (n, w) in samples.windows(3).enumerate() {
        let [before, now, after] = [&w[0], &w[1], &w[2]];
        let low = now.window.min(after.window);
        let sinks = before.window > 0.62 * typical && now.window < 0.8 * before.window && low < 0.62 * typical;
        let apart = dips.last().is_none_or(|d| now.start - d.start > 1.0);
        if clean(before) && clean(now) && clean(after) && sinks && apart {
            let rest = samples[n + 1..].iter().take_while(|l| l.window <= 0.7 * typical);
            let back = rest.filter(|l| l.window > (2.0 * low).max(0.15 * typical)).count() as f64;
            dips.push(Dip { start: now.start, depth: low / typical, back });
        }
    }
    dips
}

/// Classifies a rate-based sender. Its window dips periodically without a loss, to measure the RTT of an empty queue:
/// BBR's ProbeRTT, every ten seconds for 200 ms to four segments (version 1), every five seconds to half the window
/// (version 3) [draft-ietf-ccwg-bbr].
pub(super) fn rate_based(samples: &[RoundSample], typical: f64, epochs: &Epochs) -> Option<Guess> {
    let dips = dips(samples, typical);
    let mut back: Vec<f64> = dips.iter().map(|d| d.back).collect();
    let gaps: Vec<f64> = dips.windows(2).map(|d| d[1].start - d[0].start).collect();
    let every = |seconds: f64| gaps.iter().filter(|&&g| (g - seconds).abs() < 0.12 * seconds).count();
    let mut depths: Vec<f64> = dips.iter().map(|d| d.depth).collect();
    let depth = median(&mut depths);
    let (ten, five) = (every(10.2), every(5.2));
    let slow = median(&mut back) > 1.5;
    let (family, regular) = if slow && dips.len() >= 3 && depth < 0.12 {
        // LEDBAT++ reduces to two segments and enters slow start, to measure the delay
        // [draft-irtf-iccrg-ledbat-plus-plus].
        ("ledbat-like", dips.len() / 2)
    } else if slow {
        return None;
    } else if ten >= 2 && ten * 3 >= gaps.len() * 2 && depth < 0.4 {
        ("bbr1", ten)
    } else if five >= 3 && five * 2 >= gaps.len() && (0.25..0.7).contains(&depth) {
        ("bbr3", five)
    } else {
        return None;
    };
    Some(Guess {
        family,
        confidence: (0.6 + 0.06 * regular as f64).min(0.95),
        evidence: if slow {
            format!(
                "{} dips of the window to {depth:.2} of its median without a loss, a slow start after each",
                dips.len()
            )
        } else {
            let seconds = if family == "bbr1" { 10 } else { 5 };
            format!(
                "{} dips of the window to {depth:.2} of its median without a loss, {regular} of them {seconds} s after the \
                 one before",
                dips.len(),
            )
        },
        decrease: epochs.of_reductions(|r| r.left),
        growth: f64::NAN,
        slope: f64::NAN,
        reductions: epochs.count,
    })
}

/// Classifies an ECN-based sender: marks in nearly every round, each with a small reduction.
pub(super) fn ecn_based(samples: &[RoundSample]) -> Option<Guess> {
    let later = &samples[samples.len() / 3..];
    let marked = later.iter().filter(|l| l.echoes > 0).count();
    let share = marked as f64 / later.len() as f64;
    if share < 0.2 {
        return None;
    }
    let spread = spread(later);
    let steady = spread < 0.2;
    let evidence = format!(
        "{:.0} % of the rounds have ECN echoes, and the window moves by {:.0} % only (standard deviation)",
        share * 100.0,
        spread * 100.0
    );
    steady.then(|| Guess {
        family: "dctcp-like",
        confidence: ((0.5 + share / 2.0).min(0.9) * near(spread, 0.05, 0.2) * 100.0).round() / 100.0,
        ..unknown(evidence)
    })
}

fn spread(samples: &[RoundSample]) -> f64 {
    let mean = samples.iter().map(|l| l.window).sum::<f64>() / samples.len() as f64;
    let squares = samples.iter().map(|l| (l.window - mean).powi(2)).sum::<f64>() / samples.len() as f64;
    squares.sqrt() / mean
}

/// Classifies a sender with a nearly constant window: delay-based if it keeps a small queue, otherwise unknown.
pub(super) fn constant_window(samples: &[RoundSample], epochs: &Epochs) -> Guess {
    let later: Vec<RoundSample> = samples[samples.len() / 2..].iter().filter(|l| !l.repairing).copied().collect();
    let losses = later.iter().filter(|l| l.reduces).count();
    if later.len() < 10 {
        return unknown("in loss recovery for most of the time".to_owned());
    }
    let window = median(&mut later.iter().map(|l| l.window).collect::<Vec<_>>());
    let spread = spread(&later);
    // The shortest RTT of each round: bursts cause a queue of their own.
    let rtt = median(&mut later.iter().map(|l| l.rtt_min).filter(|&t| t > 0.0).collect::<Vec<_>>());
    let queue = window * (1.0 - epochs.base / rtt).max(0.0);
    let seconds = samples.last().map_or(0.0, |l| l.end - samples[0].start);
    let evidence = format!(
        "{} reductions in {seconds:.0} s, {losses} of them in the second half, in which the window stays at {window:.0} \
         segments (deviation {:.0} %) with {queue:.1} segments in the queue",
        epochs.count,
        spread * 100.0
    );
    let steady = spread < 0.12 && losses * 50 < later.len();
    let guess = |family, confidence: f64| Guess {
        family,
        confidence: (confidence * 100.0).round() / 100.0,
        reductions: epochs.count,
        ..unknown(evidence.clone())
    };
    if !steady {
        return guess("unknown", 0.0);
    }
    // Vegas, NV and Copa keep a few segments in the queue; LEDBAT keeps up to 100 ms [RFC 6817 §2.3].
    let delay = rtt - epochs.base;
    if (1.3..=f64::max(7.0, 0.12 * window)).contains(&queue) {
        guess("vegas-like", 0.9 - 2.0 * spread)
    } else if epochs.count == 0
        && spread < 0.06
        && queue > 12.0
        && [0.06, 0.1].iter().any(|target| (delay - target).abs() < 0.006)
    {
        guess("ledbat-like", 0.6)
    } else {
        guess("unknown", 0.0)
    }
}
