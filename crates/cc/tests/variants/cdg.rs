//! CDG against numbers worked by hand [Hayes and Armitage 2011; Linux tcp_cdg.c tcp_cdg_grad, tcp_cdg_backoff].

use dumbbell_cc::{Phase, Setup};
use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// In avoidance with a window of a hundred segments, ten in flight; mean over one round trip, RTT 100 ms so far.
fn hundred(params: &[(&str, &str)]) -> CcFixture {
    let mut all = vec![("window", "1")];
    all.extend(params);
    started(&all, 0)
}

fn started(params: &[(&str, &str)], seed: u64) -> CcFixture {
    let start = Setup { seed, ..Setup::new(1000.0, 100_000.0, 100_000.0) };
    let mut cc = CcFixture::starting("cdg", params, start);
    cc.outstanding(10).ack(1); // the first ACK begins a round trip
    trip(&mut cc, 100, 100);
    trip(&mut cc, 100, 100);
    cc
}

/// Ten ACKs, the last of which ends the round trip. One has the larger RTT, the others the smaller one. Returns the
/// window before the last ACK.
fn trip(cc: &mut CcFixture, smallest: u64, largest: u64) -> f64 {
    cc.rtt(largest).ack(1);
    cc.rtt(smallest);
    for _ in 0..8 {
        cc.ack(1);
    }
    let before = cc.cwnd();
    cc.ack(1);
    before
}

#[test]
fn it_backs_off_when_the_rtt_rises() {
    // 100 ms more in a round trip: 1 - e^(-100/3) is practically 1. 0.7 of the window, and no growth in the next round
    // trip.
    let mut cc = hundred(&[]);
    let before = trip(&mut cc, 200, 200);
    near(cc.column("g_min"), 0.1);
    near(cc.column("queue"), 2.0); // rising
    near(cc.cwnd(), 0.7 * before);
    near(cc.ssthresh(), 0.7 * before);
    near(cc.column("shadow") / 1000.0, before);
    let cut = cc.cwnd();
    near(trip(&mut cc, 200, 200), cut);
    // The next comparison is with that round trip: 200 ms are no change.
    let grown = trip(&mut cc, 200, 200);
    assert!(cc.cwnd() > grown && grown > cut);
    // A falling RTT causes no backoff.
    let mut cc = hundred(&[]);
    let before = trip(&mut cc, 50, 50);
    near(cc.column("g_min"), -0.05);
    near(cc.column("queue"), 3.0);
    assert!(cc.cwnd() > before);
}

#[test]
fn the_probability_follows_the_gradient() {
    // 3 ms in a round trip: 1 - 1/e = 0.632. Of 400 connections with different seeds 253 +- 9.6 back off; five
    // deviations.
    let backs_off = |seed| {
        let mut cc = started(&[("window", "1")], seed);
        let before = trip(&mut cc, 103, 103);
        cc.cwnd() < before
    };
    let n = (0..400).filter(|seed| backs_off(*seed)).count();
    assert!((205..=301).contains(&n), "{n}");
}

#[test]
fn the_gradient_is_the_mean_of_several_round_trips() {
    // 0, 0 and 9 ms more: over 8 round trips the mean is 1.125 ms; over the three available ones it is 3 ms
    // [Linux tcp_cdg.c tcp_cdg_grad].
    for (extrapolate, mean) in [("false", 0.001_125), ("true", 0.003)] {
        let mut cc = started(&[("scale", "1000000 s"), ("extrapolate", extrapolate)], 0);
        trip(&mut cc, 109, 109);
        near(cc.column("g_min"), mean);
    }
}

#[test]
fn losses_count_with_a_full_queue_only() {
    let calm = ("scale", "1000000 s"); // it never backs off
    // The maximum RTT is constant, the minimum rises: full.
    let mut cc = hundred(&[calm]);
    trip(&mut cc, 110, 200);
    trip(&mut cc, 120, 200);
    near(cc.column("queue"), 4.0);
    let before = cc.cwnd();
    near(cc.lose().cwnd(), before / 2.0);
    // Both rise: not full, the window is kept; without tolerance the loss counts [Linux tcp_cdg.c
    // use_tolerance].
    for (tolerance, left) in [("true", 1.0), ("false", 0.5)] {
        let mut cc = hundred(&[calm, ("tolerance", tolerance)]);
        trip(&mut cc, 110, 210);
        near(cc.column("queue"), 2.0);
        let before = cc.cwnd();
        near(cc.lose().cwnd(), left * before);
        assert_eq!(cc.phase(), Phase::Avoidance);
    }
    // A timeout always counts.
    let mut cc = hundred(&[calm]);
    trip(&mut cc, 110, 210);
    let before = cc.cwnd();
    cc.time_out();
    near(cc.ssthresh(), before / 2.0);
}

#[test]
fn the_window_after_a_loss_is_at_least_the_shadow_window() {
    // Two backoffs from w to 0.7 w and, after a little growth, to about half: the shadow window is w and the growth
    // since. A loss leaves half of that, but at most the window; without a shadow window half of the window.
    for keep in ["true", "false"] {
        let mut cc = hundred(&[("tolerance", "false"), ("shadow", keep)]);
        let before = trip(&mut cc, 200, 200);
        trip(&mut cc, 200, 200); // takes effect
        trip(&mut cc, 300, 300);
        trip(&mut cc, 300, 300);
        let (twice, shadow) = (cc.cwnd(), cc.column("shadow") / 1000.0);
        assert!(twice < 0.6 * before && shadow > before, "{twice} {shadow}");
        cc.lose();
        near(cc.cwnd(), if keep == "true" { (shadow / 2.0).min(twice) } else { twice / 2.0 });
    }
}

#[test]
fn ineffectual_backoffs_are_skipped() {
    // The RTT keeps rising: five backoffs, five skipped, then backoffs again. By the rules
    // of Linux no backoff follows before the RTT has fallen [Linux tcp_cdg.c tcp_cdg_backoff].
    for (hold, again) in [("5", true), ("0", false)] {
        let mut cc = hundred(&[("hold", hold)]);
        let mut rtt = 100;
        let mut cuts = Vec::new();
        for _ in 0..12 {
            rtt += 100;
            let before = trip(&mut cc, rtt, rtt);
            cuts.push(cc.cwnd() < before);
            if cc.cwnd() < before {
                trip(&mut cc, rtt, rtt);
            }
        }
        let expected: Vec<bool> = (0..12).map(|n| n < 5 || (again && n >= 10)).collect();
        assert_eq!(cuts, expected);
        // After a fall of the RTT it backs off again.
        trip(&mut cc, 100, 100);
        let before = trip(&mut cc, 200, 200);
        assert!(cc.cwnd() < before);
    }
}
