//! The rules for computed windows: sawtooths whose growth and decrease are those of each algorithm, constant windows,
//! periodic dips, too few rounds.

use super::forest::Forest;
use super::*;

const MSS: f64 = 1448.0;

/// A sawtooth of eight epochs. `growth` is the window in segments at share `x` of an epoch of `len` rounds. The RTT is
/// 40 ms up to `pipe` segments; further segments wait in the queue.
fn sawtooth(len: usize, pipe: f64, growth: impl Fn(f64) -> f64) -> Vec<Round> {
    let mut rounds = Vec::new();
    let mut now = 0;
    for i in 0..len * 8 {
        let window = growth((i % len) as f64 / len as f64);
        let rtt = 40e6 * (window / pipe).max(1.0);
        rounds.push(Round {
            start: now,
            end: now + rtt as i64,
            flight: (window * MSS) as u32,
            rtt_min: rtt as u32,
            rtt_sum: (rtt / 1e3) as u64,
            rtts: 1,
            fast: i % len == 0 && i > 0,
            repairing: i % len == 0 && i > 0,
            limit: Limit::Network,
            ..Round::default()
        });
        now += rtt as i64;
    }
    rounds
}

#[track_caller]
fn is(family: &str, rounds: &[Round]) {
    let guess = super::Rounds::new(rounds, MSS as u32, true).expect("enough rounds").by_rules();
    assert_eq!(guess.family, family, "{guess:?}");
    assert!(FAMILIES.contains(&guess.family));
    assert_eq!(guess.confidence > 0.0, family != "unknown", "{guess:?}");
}

#[test]
fn each_sawtooth_has_the_family_of_its_growth_and_decrease() {
    // Reno: decrease to a half, one segment per round.
    is("reno-like", &sawtooth(50, 50.0, |x| 50.0 + 50.0 * x));
    // Veno on a short queue: one segment per round up to the pipe of 66 (16 rounds), then half of one (68 rounds).
    is("veno", &sawtooth(84, 66.0, |x| if x < 0.19 { 50.0 + 84.0 * x } else { 66.0 + 42.0 * (x - 0.19) }));
    // CUBIC up to its plateau: W = W_max + C (t - K)^3; decrease to 0.7.
    is("cubic", &sawtooth(40, 60.0, |x| 100.0 - 30.0 * (1.0 - x).powi(3)));
    // CUBIC in its Reno-friendly region: 0.53 segments per round.
    is("cubic", &sawtooth(57, 60.0, |x| 70.0 + 30.0 * x));
    // Westwood: the decrease empties a queue of half the pipe, 1 / 1.5 = 0.67; one segment per round.
    is("westwood", &sawtooth(34, 66.0, |x| 66.0 + 34.0 * x));
    // Scalable: decrease by an eighth, growth of 1 % per round: ln (8/7) / ln 1.01 = 13 rounds.
    is("scalable", &sawtooth(13, 100.0, |x| 175.0 * (8.0_f64 / 7.0).powf(x)));
    // H-TCP: the queue is small (0.8 of the window is not in it), growth with the square of the time.
    is("htcp", &sawtooth(30, 160.0, |x| 160.0 + 40.0 * x.powi(3)));
    // Hybla at 40 ms: (40 / 25)^2 = 2.56 segments per round.
    is("hybla", &sawtooth(40, 102.0, |x| 102.0 + 102.0 * x));
    // Illinois: fast at first, slow when the queue is full.
    is("illinois", &sawtooth(60, 50.0, |x| 50.0 + 50.0 * (1.0 - (1.0 - x).powi(2))));
    // HighSpeed at 400 segments: b = 0.5 - 0.4 ln (400/38) / ln (83000/38) = 0.378, so decrease to 0.62; a = 4.4 per
    // round.
    is("highspeed", &sawtooth(37, 250.0, |x| 248.0 + 152.0 * x));
    // Decrease by a third and one segment per round with a queue as large as the pipe: no known algorithm.
    let mut strange = sawtooth(33, 50.0, |x| 66.0 + 33.0 * x);
    strange[0].rtt_min = 40_000_000; // the handshake's, without a queue
    is("unknown", &strange);
}

#[test]
fn a_constant_window_on_a_small_queue_is_delay_based() {
    // 60 segments, 4 of them in the queue.
    let vegas = |queue: f64| {
        let mut rounds = sawtooth(400, 60.0 - queue, |_| 60.0)[..300].to_vec();
        rounds[0].rtt_min = 40_000_000;
        rounds
    };
    is("vegas-like", &vegas(4.0));
    // Without a queue the limit is unknown. With half of the window in the queue it is no delay-based algorithm.
    is("unknown", &vegas(0.0));
    is("unknown", &vegas(30.0));
}

#[test]
fn the_period_of_window_dips_identifies_bbr() {
    for (family, seconds, depth) in [("bbr1", 10.2, 0.1), ("bbr3", 5.2, 0.5), ("unknown", 7.5, 0.1)] {
        let mut rounds = sawtooth(2000, 100.0, |_| 100.0)[..1500].to_vec();
        for r in &mut rounds {
            let phase = (r.start as f64 / 1e9) % seconds;
            if phase < 0.2 && r.start > 1_000_000_000 {
                r.flight = (100.0 * depth * MSS) as u32;
            }
        }
        is(family, &rounds);
    }
}

#[test]
fn few_rounds_and_small_windows_are_unknown() {
    let short = classify(&sawtooth(4, 100.0, |x| 50.0 + x)[..20], 1448, true);
    assert_eq!(short.family, "unknown");
    assert!(short.evidence.contains("20 rounds"));
    let small = classify(&sawtooth(40, 100.0, |x| 3.0 + 3.0 * x), 1448, true);
    assert!(small.evidence.contains("too small"), "{small:?}");
}

#[test]
fn the_forest_votes_on_all_measurements() {
    let rounds = sawtooth(50, 50.0, |x| 50.0 + 50.0 * x);
    let row = measurements(&rounds, MSS as u32, true).expect("enough rounds");
    assert_eq!(row.len(), features::FEATURES);
    let forest = forest::bundled();
    let shares = forest.shares(&row);
    // A leaf's shares are rounded to 1/255.
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 0.02, "{shares:?}");
    let vote = forest.vote(&row);
    assert_eq!(vote.share, shares.iter().copied().fold(0.0, f64::max));
    assert!(vote.family == "unknown" || FAMILIES.contains(&vote.family));
    let guess = classify(&rounds, MSS as u32, true);
    assert!(guess.evidence.ends_with(&format!("% of the trees for {}", vote.family)), "{}", guess.evidence);
    // Without measurements there is no vote.
    assert_eq!(forest.vote(&row[1..]).confidence, 0.0);
}

#[test]
fn files_that_are_no_forest_are_refused() {
    let bytes = include_bytes!("forest.bin");
    assert!(forest::Forest::new(bytes).is_some());
    for cut in [0, 3, 5, 40, bytes.len() / 2, bytes.len() - 1] {
        assert!(forest::Forest::new(&bytes[..cut]).is_none(), "{cut}");
    }
    assert!(forest::Forest::new(&[bytes, &[0][..]].concat()).is_none());
    // Any damage is refused or gives a forest that ends.
    for at in 0..400 {
        let mut damaged = bytes.to_vec();
        damaged[at * 37 % bytes.len()] ^= 0x55;
        if let Some(forest) = forest::Forest::new(&damaged) {
            forest.vote(&[0.5; features::FEATURES]);
        }
    }
}

#[test]
fn a_forest_of_scikit_learn_has_its_shares_here() {
    // `tests/validation/test_forest_file.py` makes the files: six measurements and four shares of each transfer.
    let forest = Forest::new(include_bytes!("../../../tests/forest/small.bin")).expect("a forest");
    let largest = |shares: &[f64]| (0..4).max_by(|&a, &b| shares[a].total_cmp(&shares[b]));
    let mut compared = 0;
    for line in include_str!("../../../tests/forest/small.csv").lines() {
        let values: Vec<f64> = line.split(',').map(|text| text.parse().expect("a number")).collect();
        let row: Vec<f32> = values[..6].iter().map(|&value| value as f32).collect();
        let (expected, shares) = (&values[6..], forest.shares(&row));
        // A share of a tree has 8 bits.
        assert!(shares.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.5 / 255.0 + 1e-6), "{shares:?} {line}");
        let mut sorted = expected.to_vec();
        sorted.sort_by(f64::total_cmp);
        if sorted[3] - sorted[2] > 1.0 / 255.0 {
            assert_eq!(largest(&shares), largest(expected), "{line}");
            compared += 1;
        }
    }
    assert!(compared > 50);
}
