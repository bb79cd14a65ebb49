//! Senders that aren't governed by losses: probing, standing on a small queue, answering marks.

use super::epochs::Epochs;
use super::{Guess, RoundSample, median, near, unknown};

/// A sender that sends at a measured rate: its window dips now and then, without a loss, to see the path empty. BBR does so
/// every ten seconds for 200 ms (first version, to four segments) or every five (third, to half) [draft-ietf-ccwg-bbr].
pub(super) fn probing(samples: &[RoundSample], typical: f64, epochs: &Epochs) -> Option<Guess> {
    let clean = |l: &RoundSample| !(l.reduces || l.repairing);
    let mut dips: Vec<(f64, f64)> = Vec::new();
    // Rounds that the window needs to come back: BBR sends on at the rate that it knows.
    let mut back: Vec<f64> = Vec::new();
    for (n, w) in samples.windows(3).enumerate() {
        let [before, now, after] = [&w[0], &w[1], &w[2]];
        let low = now.window.min(after.window);
        let sinks =
            before.window > 0.62 * typical && now.window < 0.8 * before.window && low < 0.62 * typical;
        let apart = dips.last().is_none_or(|d| now.start - d.0 > 1.0);
        if clean(before) && clean(now) && clean(after) && sinks && apart {
            dips.push((now.start, low / typical));
            let rest = samples[n + 1..].iter().take_while(|l| l.window <= 0.7 * typical);
            back.push(rest.filter(|l| l.window > (2.0 * low).max(0.15 * typical)).count() as f64);
        }
    }
    let gaps: Vec<f64> = dips.windows(2).map(|d| d[1].0 - d[0].0).collect();
    let every = |seconds: f64| gaps.iter().filter(|&&g| (g - seconds).abs() < 0.12 * seconds).count();
    let mut depths: Vec<f64> = dips.iter().map(|d| d.1).collect();
    let depth = median(&mut depths);
    let (ten, five) = (every(10.2), every(5.2));
    let slow = median(&mut back) > 1.5;
    let (family, regular) = if slow && dips.len() >= 3 && depth < 0.12 {
        // LEDBAT++ goes down to two segments and starts slowly, to measure the delay [draft-irtf-iccrg-ledbat-plus-plus].
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

/// Marks in nearly every round, and a window that hardly moves: each mark takes little.
pub(super) fn marked(samples: &[RoundSample]) -> Option<Guess> {
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

/// A window that stands: on a small queue that it keeps, by delay; else something else holds it.
pub(super) fn standing(samples: &[RoundSample], epochs: &Epochs) -> Guess {
    let later: Vec<RoundSample> =
        samples[samples.len() / 2..].iter().filter(|l| !l.repairing).copied().collect();
    let losses = later.iter().filter(|l| l.reduces).count();
    if later.len() < 10 {
        return unknown("it repairs losses for most of the time".to_owned());
    }
    let window = median(&mut later.iter().map(|l| l.window).collect::<Vec<_>>());
    let spread = spread(&later);
    // The shortest round trip of each round: bursts make a queue of their own behind it.
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
    // Vegas, NV and Copa keep a few segments in the queue; the delay of LEDBAT's is up to 100 ms [RFC 6817 §2.3].
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
