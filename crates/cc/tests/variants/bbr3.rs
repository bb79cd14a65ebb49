//! BBR, version 3, against numbers worked by hand [draft-ietf-ccwg-bbr-06], whose section numbers are used.
//!
//! Segments of 1000 bytes, an RTT of 100 ms. At 1000 segments/s a round trip holds 100; the quantum is 2 segments,
//! since a millisecond's worth is less, so that the smallest volume is 6 (3 quanta, more than the 4 segments of
//! MinPipeCwnd).

use dumbbell_cc::{Phase, Setup};
use dumbbell_testkit::CcFixture;

/// Equal, except for the rounding of the pacing rate to whole bits.
#[track_caller]
fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-6 * b.abs().max(1.0), "{a} is not {b}");
}

/// One ACK a round trip later, with this rate sample in segments/s.
fn trip(cc: &mut CcFixture, rate: f64, acked: u64) -> &mut CcFixture {
    cc.advance(100).next_trip().rate(rate).ack(acked)
}

fn connection(params: &[(&str, &str)], seed: u64) -> CcFixture {
    let start = Setup { seed, ..Setup::new(1000.0, 10_000.0, f64::INFINITY) };
    let mut cc = CcFixture::starting("bbr3", params, start);
    cc.established(100).sampled(100, 0);
    cc
}

/// In Drain at 1000 segments/s, after three round trips without growth.
fn drain(params: &[(&str, &str)], seed: u64) -> CcFixture {
    let mut cc = connection(params, seed);
    cc.left(300);
    for _ in 0..4 {
        trip(&mut cc, 1000.0, 100);
    }
    assert_eq!(cc.phase(), Phase::Drain);
    cc
}

/// Drained to one BDP: that is also enough for ProbeBW_CRUISE.
fn cruising(params: &[(&str, &str)]) -> CcFixture {
    let mut cc = drain(params, 0);
    cc.left(100);
    trip(&mut cc, 1000.0, 100);
    assert_eq!(cc.phase(), Phase::Cruise);
    cc
}

/// Advances by round trips until this phase.
fn until(cc: &mut CcFixture, phase: Phase) {
    for _ in 0..200 {
        if cc.phase() == phase {
            return;
        }
        cc.left(if cc.phase() == Phase::ProbeRtt { 50 } else { 100 });
        trip(cc, 1000.0, 100);
    }
    panic!("never {phase:?}");
}

fn probing(params: &[(&str, &str)]) -> CcFixture {
    let mut cc = cruising(params);
    until(&mut cc, Phase::ProbeUp);
    cc
}

/// A probe that loses 4 of 150: inflight_longterm is 149.
fn bounded(params: &[(&str, &str)]) -> CcFixture {
    let mut cc = probing(params);
    for lost in 1..=4 {
        cc.lose_one(150, lost);
    }
    assert_eq!(cc.phase(), Phase::ProbeDown);
    cc.lose().ack_in_recovery(1).recover();
    near(cc.column("inflight_longterm"), 149_000.0);
    cc
}

#[test]
fn it_starts_with_the_initial_window_per_handshake_rtt() {
    let mut cc = CcFixture::new("bbr3", &[], 10.0, f64::INFINITY);
    // §5.6.2: without an RTT sample 1 ms: 2.77 * 10 / 0.001; the margin applies from the first rate sample on.
    near(cc.pacing(), 27_700.0);
    near(cc.established(100).pacing(), 277.0);
    near(cc.rate(1000.0).ack(1).pacing(), 0.99 * 2.77 * 1000.0);
}

#[test]
fn a_plateau_of_three_round_trips_ends_startup() {
    let mut cc = connection(&[], 0);
    cc.left(300);
    // §5.3.1.2: 500 is not less than 1.25 * 400; 600 < 625 counts, 610 too.
    for (rate, count) in [(100.0, 0.0), (200.0, 0.0), (400.0, 0.0), (500.0, 0.0), (600.0, 1.0), (610.0, 2.0)] {
        trip(&mut cc, rate, 1);
        assert_eq!((cc.phase(), cc.column("full_bw_count")), (Phase::Startup, count), "{rate}");
    }
    // Samples limited by the application don't count.
    cc.app_limited(true);
    trip(&mut cc, 610.0, 1);
    near(cc.column("full_bw_count"), 2.0);
    cc.app_limited(false);
    trip(&mut cc, 620.0, 1);
    assert_eq!(cc.phase(), Phase::Drain);
    near(cc.column("full_bw_reached"), 1.0);
    near(cc.pacing(), 0.99 * 0.5 * 620.0);
    // §5.3.2: until 620/s * 100 ms = 62 are in flight.
    cc.left(63).rate(620.0).ack(1);
    assert_eq!(cc.phase(), Phase::Drain);
    cc.left(62).ack(1);
    assert_eq!(cc.phase(), Phase::Cruise);
    near(cc.pacing(), 0.99 * 620.0);
}

#[test]
fn drain_takes_three_round_trips_at_most() {
    let mut cc = drain(&[], 0);
    // §5.3.2: round_count > drain_start_round + 3.
    for _ in 0..3 {
        trip(&mut cc, 900.0, 1);
        assert_eq!(cc.phase(), Phase::Drain);
    }
    trip(&mut cc, 900.0, 1);
    assert_eq!(cc.phase(), Phase::ProbeDown);
    near(cc.pacing(), 0.99 * 0.9 * 1000.0);
}

#[test]
fn a_lossy_round_trip_of_recovery_ends_startup() {
    // §5.3.1.3, with this many ranges and segments lost of 100 in flight a round trip ago.
    let end = |ranges: u64, lost: u64, recovers: bool| {
        let mut cc = connection(&[], 0);
        cc.left(300).app_limited(true);
        trip(&mut cc, 400.0, 1);
        trip(&mut cc, 800.0, 1);
        for n in 1..=ranges {
            cc.lose_one(100, n);
        }
        if recovers {
            cc.lose();
        }
        cc.ack(1);
        assert_eq!(cc.phase(), Phase::Startup, "not before the round trip is over");
        cc.sampled(100, lost);
        trip(&mut cc, 900.0, 1);
        cc
    };
    let cc = end(6, 3, true);
    assert_eq!(cc.phase(), Phase::Drain);
    assert_eq!((cc.column("full_bw_now"), cc.column("full_bw_reached")), (1.0, 1.0));
    // bw is that of the previous ACK, 800/s: 80 for the path. But 90 were delivered in a round trip.
    near(cc.column("inflight_longterm"), 90_000.0);
    for (ranges, lost, recovers) in [(5, 3, true), (6, 2, true), (6, 3, false)] {
        assert_eq!(end(ranges, lost, recovers).phase(), Phase::Startup, "{ranges} {lost} {recovers}");
    }
    // Without SACK only one loss per round trip is known: any fast recovery is enough.
    let start = Setup { selective_acks: false, ..Setup::new(1000.0, 10_000.0, f64::INFINITY) };
    let mut cc = CcFixture::starting("bbr3", &[], start);
    cc.established(100).left(300);
    trip(&mut cc, 400.0, 1).lose_one(100, 1).lose().ack(1);
    assert_eq!(cc.phase(), Phase::Drain);
}

#[test]
fn the_window_doubles_each_round_trip_of_startup() {
    let mut cc = connection(&[], 0);
    trip(&mut cc, 100.0, 10);
    near(cc.cwnd(), 20.0);
    trip(&mut cc, 200.0, 20);
    near(cc.cwnd(), 40.0);
    trip(&mut cc, 400.0, 40);
    near(cc.cwnd(), 80.0);
    // Up to 2 * 400 * 0.1 and the 40 that each ACK delivers at once.
    trip(&mut cc, 400.0, 40);
    near(cc.cwnd(), 120.0);
    trip(&mut cc, 400.0, 40);
    near(cc.cwnd(), 120.0);
}

#[test]
fn the_window_is_twice_the_bdp_and_extra_acked() {
    let mut cc = cruising(&[]);
    // §5.6.4.2: 2 * 100; §5.5.9: the ACKs of one or 100 segments each 100 ms have an excess of at most 100, a round
    // trip's data, for ten round trips.
    for _ in 0..11 {
        cc.advance(100).next_trip().ack(100);
    }
    near(cc.column("extra_acked"), 100_000.0);
    near(cc.cwnd(), 300.0);
    // After a gap, one at a time: an excess of itself only.
    cc.advance(200);
    for _ in 0..12 {
        cc.next_trip();
        for _ in 0..10 {
            cc.advance(1).ack(1);
        }
    }
    near(cc.column("extra_acked"), 1000.0);
    near(cc.cwnd(), 201.0);
    // In Startup the filter has one round trip.
    let mut cc = connection(&[], 0);
    cc.left(300).app_limited(true).rate(1000.0).ack(50);
    near(cc.column("extra_acked"), 10_000.0); // at most the window of ten
}

#[test]
fn small_paths_keep_four_segments_and_three_quanta() {
    // 1 ms at 100 segments/s: 0.1 segments for the path.
    let mut cc = connection(&[], 0);
    cc.rtt(1).left(10);
    for _ in 0..40 {
        cc.advance(50).next_trip().rate(100.0).ack(1);
    }
    near(cc.column("extra_acked"), 1000.0);
    assert!((6.0..=8.0).contains(&cc.cwnd()), "{}", cc.cwnd()); // 2 more in ProbeBW_UP
    assert_eq!(cc.quantum(), Some(2000));
}

#[test]
fn probe_down_ends_when_drained_with_headroom() {
    // §5.3.3.1. Without a bound 100 in flight are enough.
    let mut cc = drain(&[], 0);
    for _ in 0..4 {
        trip(&mut cc, 1000.0, 1);
    }
    cc.left(101).rate(1000.0).ack(1);
    assert_eq!(cc.phase(), Phase::ProbeDown);
    cc.left(100).ack(1);
    assert_eq!(cc.phase(), Phase::Cruise);
    near(cc.pacing(), 990.0);
    // 2 of 81 are more than 2 %; of the 80 before and the second, with one lost already, 80 + (1.6 - 1) / 0.98 = 80.612
    // stay within. 15 % of that bound is headroom: 68.52.
    let mut cc = probing(&[]);
    for lost in 1..=2 {
        cc.lose_one(81, lost);
    }
    cc.sampled(60, 0).lose().left(70).ack_in_recovery(1).recover();
    near(cc.column("inflight_longterm"), 1000.0 * (80.0 + 0.6 / 0.98));
    cc.left(69).ack(1);
    assert_eq!(cc.phase(), Phase::ProbeDown);
    cc.left(68).ack(1);
    assert_eq!(cc.phase(), Phase::Cruise);
    // §5.6.4.7: in ProbeBW_CRUISE the window leaves that headroom, otherwise it is within the bound.
    cc.ack(100);
    near(cc.cwnd(), 0.85 * (80.0 + 0.6 / 0.98));
}

#[test]
fn it_probes_again_after_two_to_three_seconds_or_as_many_round_trips_as_segments() {
    // §5.3.3.8: min(100, 63) round trips from 0 or 1 on: 62 or 63 of 100 ms are more than 3 s, so the time decides.
    let mut waits = Vec::new();
    for seed in 0..300 {
        let mut cc = drain(&[], seed);
        cc.left(100);
        trip(&mut cc, 1000.0, 100);
        let (begun, wait) = (cc.now(), cc.column("bw_probe_wait"));
        waits.push(wait);
        while cc.phase() != Phase::Refill {
            cc.advance(10).ack(1);
        }
        let took = cc.now().since(begun).as_secs();
        assert!(took > wait && took <= wait + 0.011, "{took} s instead of {wait} s");
    }
    // Uniform in 2..3: the mean of 300 has sd 0.0167; four of them.
    let mean = waits.iter().sum::<f64>() / 300.0;
    assert!(waits.iter().all(|w| (2.0..3.0).contains(w)) && (mean - 2.5).abs() < 0.067, "{mean}");
    // A path of 20 segments: 20 round trips, the first is already counted for half of the seeds.
    let mut rounds = Vec::new();
    for seed in 0..100 {
        let mut cc = connection(&[], seed);
        cc.left(30);
        for _ in 0..4 {
            trip(&mut cc, 200.0, 20);
        }
        cc.left(20);
        trip(&mut cc, 200.0, 20);
        let mut trips = 0;
        while cc.phase() != Phase::Refill {
            trip(&mut cc, 200.0, 20);
            trips += 1;
        }
        rounds.push(trips);
    }
    assert!(rounds.iter().all(|r| *r == 19 || *r == 20), "{rounds:?}");
    let early = rounds.iter().filter(|r| **r == 19).count();
    assert!((30..=70).contains(&early), "{early}"); // 50, sd 5; four of them
}

#[test]
fn a_probe_refills_for_a_round_trip_and_ends_on_a_plateau() {
    let mut cc = cruising(&[]);
    until(&mut cc, Phase::Refill);
    near(cc.pacing(), 990.0);
    // Not before the end of the round trip.
    cc.advance(50).ack(1);
    assert_eq!(cc.phase(), Phase::Refill);
    trip(&mut cc, 1000.0, 1);
    assert_eq!(cc.phase(), Phase::ProbeUp);
    near(cc.pacing(), 0.99 * 1250.0);
    // §5.6.4.2: 2.25 * 100 + extra + 2 segments.
    for _ in 0..4 {
        cc.advance(100).ack(100);
    }
    near(cc.cwnd(), 225.0 + cc.column("extra_acked") / 1000.0 + 2.0);
    // §5.3.3.7 1: three round trips with less than 1250/s; with 1250 the probe would continue.
    trip(&mut cc, 1250.0, 1);
    near(cc.column("full_bw_count"), 0.0);
    for count in [1.0, 2.0] {
        trip(&mut cc, 1300.0, 1);
        assert_eq!((cc.phase(), cc.column("full_bw_count")), (Phase::ProbeUp, count));
    }
    trip(&mut cc, 1300.0, 1);
    assert_eq!(cc.phase(), Phase::ProbeDown);
    near(cc.column("max_bw"), 1.3e6);
}

#[test]
fn a_lossy_probe_bounds_what_is_in_flight() {
    // §5.5.10.2: 3 of 150 are 2 %, 4 are more. 146.02 + ... = 149 were in flight before the fourth was lost.
    let mut cc = probing(&[]);
    for lost in 1..=3 {
        cc.lose_one(150, lost);
        assert_eq!(cc.phase(), Phase::ProbeUp);
    }
    cc.lose_one(150, 4);
    assert_eq!(cc.phase(), Phase::ProbeDown);
    near(cc.column("inflight_longterm"), 149_000.0);
    // One response for each probe.
    cc.lose_one(50, 5);
    near(cc.column("inflight_longterm"), 149_000.0);
    // Never below 0.7 of the BDP: 40 in flight, but 0.7 * 100.
    let mut cc = probing(&[]);
    cc.lose_one(40, 1);
    near(cc.column("inflight_longterm"), 70_000.0);
    // A sample limited by the application sets no bound, but ends the probe.
    let mut cc = probing(&[]);
    cc.app_limited(true).lose_one(40, 1);
    assert_eq!(cc.phase(), Phase::ProbeDown);
    assert!(cc.column("inflight_longterm").is_nan());
}

#[test]
fn losses_while_not_probing_set_the_short_term_bounds() {
    let mut cc = cruising(&[]);
    for _ in 0..11 {
        cc.advance(100).next_trip().ack(100);
    }
    near(cc.cwnd(), 300.0);
    // §5.5.10.3: at the end of the loss's round trip max(latest, 0.7 of the previous value). The window is 301 by then.
    cc.left(100).lose_one(100, 1).lose();
    cc.rate(900.0).ack_in_recovery(1);
    assert!(cc.column("bw_shortterm").is_nan());
    trip(&mut cc, 600.0, 1);
    // The latest signals reach back to the end of the round trip before the loss, with its 1000/s and 100 segments.
    near(cc.column("bw_shortterm"), 1e6);
    near(cc.column("inflight_shortterm"), 210_700.0);
    near(cc.cwnd(), 210.7);
    // Another lossy one with 600/s and 60 segments: 0.7 * 1000, 0.7 * 210.7.
    cc.lose_one(100, 2).ack_in_recovery(1);
    trip(&mut cc, 600.0, 1);
    near(cc.column("bw_shortterm"), 7e5);
    near(cc.column("inflight_shortterm"), 147_490.0);
    near(cc.pacing(), 0.99 * 700.0);
    // A round trip without a loss changes nothing.
    trip(&mut cc, 600.0, 1);
    near(cc.column("bw_shortterm"), 7e5);
    // The next probe resets both.
    cc.recover();
    until(&mut cc, Phase::Refill);
    assert!(cc.column("bw_shortterm").is_nan() && cc.column("inflight_shortterm").is_nan());
    near(cc.column("bw"), 1e6);
}

#[test]
fn after_a_lossy_probe_the_next_is_precautionary() {
    // §5.3.3.6: it stops at the bound of the last probe...
    let mut cc = bounded(&[]);
    cc.left(80);
    until(&mut cc, Phase::ProbeUp);
    cc.left(148).advance(10).ack(1);
    assert_eq!(cc.phase(), Phase::ProbeUp);
    cc.left(149).advance(10).ack(1);
    assert_eq!(cc.phase(), Phase::ProbeDown);
    // ... and another follows immediately if nothing is lost in the next round trip.
    trip(&mut cc, 1000.0, 1);
    assert_eq!(cc.phase(), Phase::Refill);
    trip(&mut cc, 1000.0, 1);
    assert_eq!(cc.phase(), Phase::ProbeUp);
    cc.advance(10).ack(1);
    assert_eq!(cc.phase(), Phase::ProbeUp);
}

#[test]
fn a_probe_raises_the_bound_by_one_two_four_segments() {
    let mut cc = bounded(&[("extra_acked_rounds", "1")]);
    cc.left(80);
    until(&mut cc, Phase::ProbeUp);
    cc.left(149).advance(10).ack(1);
    trip(&mut cc, 1000.0, 1);
    cc.left(100);
    until(&mut cc, Phase::ProbeUp);
    // The window, 225 and more by the model, is at the bound of 149 and fully used.
    cc.ack(100).ack(100).leave(149, false);
    near(cc.cwnd(), 149.0);
    let mut bounds = vec![149.0];
    for _ in 0..4 {
        // The ACKs of a round trip; the first ends it.
        cc.advance(100).next_trip().rate(1000.0);
        let cwnd = cc.cwnd();
        for _ in 0..cwnd as u64 {
            cc.ack(1).leave(cwnd as u64, false);
        }
        bounds.push(cc.column("inflight_longterm") / 1000.0);
    }
    // §5.3.3.9: a segment for 149 acknowledged (200 have been before), then for 75, 38, 19: 1, 2, 4 and 8 a round trip.
    let steps: Vec<f64> = bounds.windows(2).map(|w| w[1] - w[0]).collect();
    assert_eq!(steps, [2.0, 4.0, 8.0, 16.0]);
}

#[test]
fn probe_rtt_begins_five_seconds_after_the_smallest_rtt() {
    let mut cc = cruising(&[]);
    cc.rtt(110);
    let begun = cc.now();
    while cc.phase() != Phase::ProbeRtt {
        trip(&mut cc, 1000.0, 1);
        assert!(cc.now().since(begun).as_secs() < 6.0);
    }
    // The connection began at 1 s, its first ACK arrived at 1.1 s; no later RTT was below 100 ms.
    near(cc.now().as_secs(), 6.2);
    // §5.6.4.5: half of 1000/s * 100 ms.
    near(cc.cwnd(), 50.0);
    near(cc.column("cwnd_gain"), 0.5);
    near(cc.pacing(), 990.0);
    near(cc.column("probe_rtt_min_delay"), 0.11);
    near(cc.column("min_rtt"), 0.1); // of ten seconds
    // 50 in flight: 200 ms and a round trip from now. Low rates in this time don't count.
    cc.left(50).advance(100).ack(50);
    for _ in 0..2 {
        trip(&mut cc, 500.0, 50);
        assert_eq!(cc.phase(), Phase::ProbeRtt);
    }
    cc.advance(1).ack(1);
    assert_eq!(cc.phase(), Phase::Cruise);
    near(cc.column("max_bw"), 1e6);
    // §5.3.4.4: from now 2 to 3 s until the next probe, and 5 s until the next ProbeRTT.
    let ended = cc.now();
    cc.left(100);
    while cc.phase() != Phase::ProbeRtt {
        trip(&mut cc, 1000.0, 1);
    }
    let gap = cc.now().since(ended).as_secs();
    assert!((5.0..5.2).contains(&gap), "{gap}");
}

#[test]
fn probe_rtt_in_startup_returns_to_startup() {
    let mut cc = connection(&[], 0);
    cc.app_limited(true).left(3);
    trip(&mut cc, 10.0, 1);
    cc.advance(5_001).ack(1);
    assert_eq!(cc.phase(), Phase::ProbeRtt);
    cc.advance(100).next_trip().ack(1);
    cc.advance(101).ack(1);
    assert_eq!(cc.phase(), Phase::Startup);
}

#[test]
fn idle_time_replaces_probe_rtt() {
    // §5.4.1.
    let mut cc = probing(&[]);
    near(cc.pacing(), 0.99 * 1250.0);
    cc.advance(6_000).leave(0, true);
    near(cc.pacing(), 990.0);
    near(cc.column("idle_restart"), 1.0);
    cc.ack(1);
    assert_ne!(cc.phase(), Phase::ProbeRtt);
    near(cc.column("idle_restart"), 0.0);
    // In ProbeRTT it ends the state, if that has lasted long enough.
    let mut cc = cruising(&[]);
    cc.rtt(110).advance(6_000).ack(1);
    assert_eq!(cc.phase(), Phase::ProbeRtt);
    cc.left(50).ack(50).advance(201).leave(0, true);
    assert_eq!(cc.phase(), Phase::Cruise);
}

#[test]
fn max_bw_covers_two_cycles() {
    let mut cc = probing(&[]);
    // §5.5.6: a cycle ends a round trip after its probe. 1200/s in this one are valid until the end of the next.
    trip(&mut cc, 1200.0, 100);
    for before in [1.2e6, 1.2e6, 1e6] {
        until(&mut cc, Phase::ProbeDown);
        near(cc.column("max_bw"), before);
        trip(&mut cc, 1000.0, 100);
        until(&mut cc, Phase::ProbeUp);
    }
}

#[test]
fn a_timeout_leaves_one_segment_until_recovery_ends() {
    let mut cc = cruising(&[]);
    for _ in 0..11 {
        cc.advance(100).next_trip().ack(100);
    }
    let window = cc.left(3).ack(1).cwnd();
    near(window, 301.0); // 200 and an excess of 101
    (1..=3).fold(&mut cc, |cc, n| cc.lose_one(3, n)).time_out();
    near(cc.cwnd(), 1.0);
    // §5.6.4.4: the window from before, when recovery ends; one ACK more, an excess of one more.
    cc.left(0).ack(1);
    near(cc.cwnd(), window + 1.0);
}

#[test]
fn a_spurious_loss_is_undone() {
    // §5.5.11.2, in ProbeBW_UP: the bound is undone, the probe restarts.
    let mut cc = probing(&[]);
    for lost in 1..=4 {
        cc.lose_one(150, lost);
    }
    cc.lose().left(140).ack_in_recovery(1);
    assert_eq!(cc.phase(), Phase::ProbeDown);
    cc.undo();
    assert_eq!(cc.phase(), Phase::Refill);
    assert!(cc.column("inflight_longterm").is_nan());
    // In ProbeBW_CRUISE: the short-term bounds.
    let mut cc = cruising(&[]);
    cc.left(100).lose_one(100, 1).lose().ack_in_recovery(1);
    trip(&mut cc, 500.0, 1);
    assert!(!cc.column("bw_shortterm").is_nan());
    cc.undo();
    assert!(cc.column("bw_shortterm").is_nan() && cc.column("inflight_shortterm").is_nan());
    // In Startup: returns to it.
    let mut cc = connection(&[], 0);
    cc.left(300);
    trip(&mut cc, 400.0, 1);
    (1..=6).fold(&mut cc, |cc, n| cc.lose_one(100, n)).lose().ack(1);
    cc.sampled(100, 6);
    trip(&mut cc, 800.0, 1);
    assert_eq!(cc.phase(), Phase::Drain);
    cc.undo();
    assert_eq!(cc.phase(), Phase::Startup);
    assert_eq!((cc.column("full_bw_reached"), cc.column("full_bw_count")), (0.0, 0.0));
    assert!(cc.column("inflight_longterm").is_nan());
    // Only once.
    let before = cc.cwnd();
    near(cc.undo().cwnd(), before);
}

#[test]
fn a_congestion_mark_counts_as_high_loss() {
    let mut cc = probing(&[]);
    cc.left(130).ack(1).echo_mark();
    assert_eq!(cc.phase(), Phase::ProbeDown);
    near(cc.column("inflight_longterm"), 130_000.0);
    let mut cc = cruising(&[]);
    cc.ack(1).echo_mark().ack(1);
    trip(&mut cc, 500.0, 1);
    // The previous round trip delivered 1000/s, this one 500.
    near(cc.column("bw_shortterm"), 1e6);
    cc.echo_mark().ack(1);
    trip(&mut cc, 500.0, 1);
    near(cc.column("bw_shortterm"), 7e5);
}
