//! Segments of 1000 bytes, an RTT of 100 ms. At 1000 segments/s a round trip holds 100; the quantum is 2 segments, since a
//! millisecond's worth is less, so that 6 is the least volume asked for (3 quanta, more than the 4 segments of MinPipeCwnd).

use dumbbell_cc::{Phase, Setup};
use dumbbell_testkit::CcFixture;

/// Equal but for the whole bits that a pacing rate is given in.
#[track_caller]
fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-6 * b.abs().max(1.0), "{a} is not {b}");
}

/// A round trip later one ACK comes, whose rate is so many segments/s.
fn trip(law: &mut CcFixture, rate: f64, acked: u64) -> &mut CcFixture {
    law.advance(100).next_trip().rate(rate).ack(acked)
}

fn connection(params: &[(&str, &str)], seed: u64) -> CcFixture {
    let start = Setup { seed, ..Setup::new(1000.0, 10_000.0, f64::INFINITY) };
    let mut law = CcFixture::starting("bbr3", params, start);
    law.established(100).sampled(100, 0);
    law
}

/// Full at 1000 segments/s: a plateau of three round trips.
fn drain(params: &[(&str, &str)], seed: u64) -> CcFixture {
    let mut law = connection(params, seed);
    law.left(300);
    for _ in 0..4 {
        trip(&mut law, 1000.0, 100);
    }
    assert_eq!(law.phase(), Phase::Drain);
    law
}

/// Drained to one BDP: that is also enough to cruise.
fn cruising(params: &[(&str, &str)]) -> CcFixture {
    let mut law = drain(params, 0);
    law.left(100);
    trip(&mut law, 1000.0, 100);
    assert_eq!(law.phase(), Phase::Cruise);
    law
}

/// Lets round trips pass until this phase.
fn until(law: &mut CcFixture, phase: Phase) {
    for _ in 0..200 {
        if law.phase() == phase {
            return;
        }
        law.left(if law.phase() == Phase::ProbeRtt { 50 } else { 100 });
        trip(law, 1000.0, 100);
    }
    panic!("never {phase:?}");
}

fn probing(params: &[(&str, &str)]) -> CcFixture {
    let mut law = cruising(params);
    until(&mut law, Phase::ProbeUp);
    law
}

/// A probe that loses 4 of 150: inflight_longterm is 149.
fn bounded(params: &[(&str, &str)]) -> CcFixture {
    let mut law = probing(params);
    for lost in 1..=4 {
        law.lose_one(150, lost);
    }
    assert_eq!(law.phase(), Phase::ProbeDown);
    law.lose().ack_in_recovery(1).recover();
    near(law.column("inflight_longterm"), 149_000.0);
    law
}

#[test]
fn it_starts_with_the_initial_window_over_the_handshakes_rtt() {
    let mut law = CcFixture::new("bbr3", &[], 10.0, f64::INFINITY);
    // §5.6.2: no RTT yet, so a millisecond. 2.77 * 10 / 0.001; the margin comes with the first rate.
    near(law.pacing(), 27_700.0);
    near(law.established(100).pacing(), 277.0);
    near(law.rate(1000.0).ack(1).pacing(), 0.99 * 2.77 * 1000.0);
}

#[test]
fn a_plateau_of_three_round_trips_ends_startup() {
    let mut law = connection(&[], 0);
    law.left(300);
    // §5.3.1.2: 500 is no less than 1.25 * 400; 600 < 625 counts, 610 too.
    for (rate, count) in [(100.0, 0.0), (200.0, 0.0), (400.0, 0.0), (500.0, 0.0), (600.0, 1.0), (610.0, 2.0)]
    {
        trip(&mut law, rate, 1);
        assert_eq!((law.phase(), law.column("full_bw_count")), (Phase::Startup, count), "{rate}");
    }
    // What the application holds back doesn't count.
    law.app_limited(true);
    trip(&mut law, 610.0, 1);
    near(law.column("full_bw_count"), 2.0);
    law.app_limited(false);
    trip(&mut law, 620.0, 1);
    assert_eq!(law.phase(), Phase::Drain);
    near(law.column("full_bw_reached"), 1.0);
    near(law.pacing(), 0.99 * 0.5 * 620.0);
    // §5.3.2: until 620/s * 100 ms = 62 are outstanding.
    law.left(63).rate(620.0).ack(1);
    assert_eq!(law.phase(), Phase::Drain);
    law.left(62).ack(1);
    assert_eq!(law.phase(), Phase::Cruise);
    near(law.pacing(), 0.99 * 620.0);
}

#[test]
fn drain_takes_three_round_trips_at_most() {
    let mut law = drain(&[], 0);
    // §5.3.2: round_count > drain_start_round + 3.
    for _ in 0..3 {
        trip(&mut law, 900.0, 1);
        assert_eq!(law.phase(), Phase::Drain);
    }
    trip(&mut law, 900.0, 1);
    assert_eq!(law.phase(), Phase::ProbeDown);
    near(law.pacing(), 0.99 * 0.9 * 1000.0);
}

#[test]
fn a_lossy_round_trip_of_recovery_ends_startup() {
    // §5.3.1.3. So many ranges, so many lost of 100 in flight a round trip ago.
    let end = |ranges: u64, lost: u64, recovers: bool| {
        let mut law = connection(&[], 0);
        law.left(300).app_limited(true);
        trip(&mut law, 400.0, 1);
        trip(&mut law, 800.0, 1);
        for n in 1..=ranges {
            law.lose_one(100, n);
        }
        if recovers {
            law.lose();
        }
        law.ack(1);
        assert_eq!(law.phase(), Phase::Startup, "not before the round trip is over");
        law.sampled(100, lost);
        trip(&mut law, 900.0, 1);
        law
    };
    let law = end(6, 3, true);
    assert_eq!(law.phase(), Phase::Drain);
    assert_eq!((law.column("full_bw_now"), law.column("full_bw_reached")), (1.0, 1.0));
    // The rate's bw is that of the ACK before, 800/s: 80 for the path. But 90 were delivered in a round trip.
    near(law.column("inflight_longterm"), 90_000.0);
    for (ranges, lost, recovers) in [(5, 3, true), (6, 2, true), (6, 3, false)] {
        assert_eq!(end(ranges, lost, recovers).phase(), Phase::Startup, "{ranges} {lost} {recovers}");
    }
    // An endpoint that hears of one loss a round trip only: any in fast recovery will do.
    let start = Setup { selective_acks: false, ..Setup::new(1000.0, 10_000.0, f64::INFINITY) };
    let mut law = CcFixture::starting("bbr3", &[], start);
    law.established(100).left(300);
    trip(&mut law, 400.0, 1).lose_one(100, 1).lose().ack(1);
    assert_eq!(law.phase(), Phase::Drain);
}

#[test]
fn the_window_doubles_each_round_trip_of_startup() {
    let mut law = connection(&[], 0);
    trip(&mut law, 100.0, 10);
    near(law.cwnd(), 20.0);
    trip(&mut law, 200.0, 20);
    near(law.cwnd(), 40.0);
    trip(&mut law, 400.0, 40);
    near(law.cwnd(), 80.0);
    // Up to 2 * 400 * 0.1 and the 40 that each ACK brings at once.
    trip(&mut law, 400.0, 40);
    near(law.cwnd(), 120.0);
    trip(&mut law, 400.0, 40);
    near(law.cwnd(), 120.0);
}

#[test]
fn the_window_is_twice_the_path_and_what_acks_are_ahead() {
    let mut law = cruising(&[]);
    // §5.6.4.2: 2 * 100; §5.5.9: the ACKs of one or 100 segments each 100 ms are at most 100 ahead, a round trip's worth,
    // for ten round trips.
    for _ in 0..11 {
        law.advance(100).next_trip().ack(100);
    }
    near(law.column("extra_acked"), 100_000.0);
    near(law.cwnd(), 300.0);
    // After a gap, one at a time: none ahead but itself.
    law.advance(200);
    for _ in 0..12 {
        law.next_trip();
        for _ in 0..10 {
            law.advance(1).ack(1);
        }
    }
    near(law.column("extra_acked"), 1000.0);
    near(law.cwnd(), 201.0);
    // In startup one round trip is remembered.
    let mut law = connection(&[], 0);
    law.left(300).app_limited(true).rate(1000.0).ack(50);
    near(law.column("extra_acked"), 10_000.0); // no more than the window of ten
}

#[test]
fn small_paths_keep_four_segments_and_three_quanta() {
    // 1 ms at 100 segments/s: 0.1 segments for the path.
    let mut law = connection(&[], 0);
    law.rtt(1).left(10);
    for _ in 0..40 {
        law.advance(50).next_trip().rate(100.0).ack(1);
    }
    near(law.column("extra_acked"), 1000.0);
    assert!((6.0..=8.0).contains(&law.cwnd()), "{}", law.cwnd()); // 2 more while it probes
    assert_eq!(law.quantum(), Some(2000));
}

#[test]
fn probe_down_ends_when_drained_with_room_to_spare() {
    // §5.3.3.1. No bound: 100 outstanding are enough.
    let mut law = drain(&[], 0);
    for _ in 0..4 {
        trip(&mut law, 1000.0, 1);
    }
    law.left(101).rate(1000.0).ack(1);
    assert_eq!(law.phase(), Phase::ProbeDown);
    law.left(100).ack(1);
    assert_eq!(law.phase(), Phase::Cruise);
    near(law.pacing(), 990.0);
    // 2 of 81 are more than 2 %; of the 80 before and the second, with one lost already, 80 + (1.6 - 1) / 0.98 = 80.612
    // stay within. 15 % of that bound are left free: 68.52.
    let mut law = probing(&[]);
    for lost in 1..=2 {
        law.lose_one(81, lost);
    }
    law.sampled(60, 0).lose().left(70).ack_in_recovery(1).recover();
    near(law.column("inflight_longterm"), 1000.0 * (80.0 + 0.6 / 0.98));
    law.left(69).ack(1);
    assert_eq!(law.phase(), Phase::ProbeDown);
    law.left(68).ack(1);
    assert_eq!(law.phase(), Phase::Cruise);
    // §5.6.4.7: while it cruises the window is within that room, else within the bound.
    law.ack(100);
    near(law.cwnd(), 0.85 * (80.0 + 0.6 / 0.98));
}

#[test]
fn it_probes_again_after_two_to_three_seconds_or_as_many_round_trips_as_segments() {
    // §5.3.3.8: min(100, 63) round trips from 0 or 1 on: 62 or 63 of 100 ms are more than 3 s, so the clock decides.
    let mut waits = Vec::new();
    for seed in 0..300 {
        let mut law = drain(&[], seed);
        law.left(100);
        trip(&mut law, 1000.0, 100);
        let (begun, wait) = (law.now(), law.column("bw_probe_wait"));
        waits.push(wait);
        while law.phase() != Phase::Refill {
            law.advance(10).ack(1);
        }
        let took = law.now().since(begun).as_secs();
        assert!(took > wait && took <= wait + 0.011, "{took} s instead of {wait} s");
    }
    // Uniform in 2..3: the mean of 300 has sd 0.0167; four of them.
    let mean = waits.iter().sum::<f64>() / 300.0;
    assert!(waits.iter().all(|w| (2.0..3.0).contains(w)) && (mean - 2.5).abs() < 0.067, "{mean}");
    // A path of 20 segments: 20 round trips, the first counted already for half of the seeds.
    let mut rounds = Vec::new();
    for seed in 0..100 {
        let mut law = connection(&[], seed);
        law.left(30);
        for _ in 0..4 {
            trip(&mut law, 200.0, 20);
        }
        law.left(20);
        trip(&mut law, 200.0, 20);
        let mut trips = 0;
        while law.phase() != Phase::Refill {
            trip(&mut law, 200.0, 20);
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
    let mut law = cruising(&[]);
    until(&mut law, Phase::Refill);
    near(law.pacing(), 990.0);
    // Not within the round trip.
    law.advance(50).ack(1);
    assert_eq!(law.phase(), Phase::Refill);
    trip(&mut law, 1000.0, 1);
    assert_eq!(law.phase(), Phase::ProbeUp);
    near(law.pacing(), 0.99 * 1250.0);
    // §5.6.4.2: 2.25 * 100 + extra + 2 segments.
    for _ in 0..4 {
        law.advance(100).ack(100);
    }
    near(law.cwnd(), 225.0 + law.column("extra_acked") / 1000.0 + 2.0);
    // §5.3.3.7 1: three round trips with less than 1250/s; with 1250 it would go on.
    trip(&mut law, 1250.0, 1);
    near(law.column("full_bw_count"), 0.0);
    for count in [1.0, 2.0] {
        trip(&mut law, 1300.0, 1);
        assert_eq!((law.phase(), law.column("full_bw_count")), (Phase::ProbeUp, count));
    }
    trip(&mut law, 1300.0, 1);
    assert_eq!(law.phase(), Phase::ProbeDown);
    near(law.column("max_bw"), 1.3e6);
}

#[test]
fn a_lossy_probe_bounds_what_is_in_flight() {
    // §5.5.10.2: 3 of 150 are 2 %, 4 are more. 146.02 + ... = 149 were in flight before the fourth was lost.
    let mut law = probing(&[]);
    for lost in 1..=3 {
        law.lose_one(150, lost);
        assert_eq!(law.phase(), Phase::ProbeUp);
    }
    law.lose_one(150, 4);
    assert_eq!(law.phase(), Phase::ProbeDown);
    near(law.column("inflight_longterm"), 149_000.0);
    // One answer a probe.
    law.lose_one(50, 5);
    near(law.column("inflight_longterm"), 149_000.0);
    // Never below 0.7 of what the path needs: 40 in flight, but 0.7 * 100.
    let mut law = probing(&[]);
    law.lose_one(40, 1);
    near(law.column("inflight_longterm"), 70_000.0);
    // An application that holds back shows no bound, but ends the probe.
    let mut law = probing(&[]);
    law.app_limited(true).lose_one(40, 1);
    assert_eq!(law.phase(), Phase::ProbeDown);
    assert!(law.column("inflight_longterm").is_nan());
}

#[test]
fn losses_while_not_probing_bound_rate_and_volume_for_the_time_being() {
    let mut law = cruising(&[]);
    for _ in 0..11 {
        law.advance(100).next_trip().ack(100);
    }
    near(law.cwnd(), 300.0);
    // §5.5.10.3: at the end of the loss's round trip max(latest, 0.7 of what it was). The window is 301 by then.
    law.left(100).lose_one(100, 1).lose();
    law.rate(900.0).ack_in_recovery(1);
    assert!(law.column("bw_shortterm").is_nan());
    trip(&mut law, 600.0, 1);
    // The latest signals reach back to the end of the round trip before the loss, with its 1000/s and 100 segments.
    near(law.column("bw_shortterm"), 1e6);
    near(law.column("inflight_shortterm"), 210_700.0);
    near(law.cwnd(), 210.7);
    // Another lossy one with 600/s and 60 segments: 0.7 * 1000, 0.7 * 210.7.
    law.lose_one(100, 2).ack_in_recovery(1);
    trip(&mut law, 600.0, 1);
    near(law.column("bw_shortterm"), 7e5);
    near(law.column("inflight_shortterm"), 147_490.0);
    near(law.pacing(), 0.99 * 700.0);
    // One without a loss changes nothing.
    trip(&mut law, 600.0, 1);
    near(law.column("bw_shortterm"), 7e5);
    // The next probe forgets both.
    law.recover();
    until(&mut law, Phase::Refill);
    assert!(law.column("bw_shortterm").is_nan() && law.column("inflight_shortterm").is_nan());
    near(law.column("bw"), 1e6);
}

#[test]
fn after_a_lossy_probe_the_next_is_careful() {
    // §5.3.3.6: it stops where the last began to lose too much...
    let mut law = bounded(&[]);
    law.left(80);
    until(&mut law, Phase::ProbeUp);
    law.left(148).advance(10).ack(1);
    assert_eq!(law.phase(), Phase::ProbeUp);
    law.left(149).advance(10).ack(1);
    assert_eq!(law.phase(), Phase::ProbeDown);
    // ... and if a round trip later nothing is lost, goes on at once.
    trip(&mut law, 1000.0, 1);
    assert_eq!(law.phase(), Phase::Refill);
    trip(&mut law, 1000.0, 1);
    assert_eq!(law.phase(), Phase::ProbeUp);
    law.advance(10).ack(1);
    assert_eq!(law.phase(), Phase::ProbeUp);
}

#[test]
fn a_probe_raises_the_bound_by_one_two_four_segments() {
    let mut law = bounded(&[("extra_acked_rounds", "1")]);
    law.left(80);
    until(&mut law, Phase::ProbeUp);
    law.left(149).advance(10).ack(1);
    trip(&mut law, 1000.0, 1);
    law.left(100);
    until(&mut law, Phase::ProbeUp);
    // The window, 225 and more by the model, is at the bound of 149 and used up.
    law.ack(100).ack(100).leave(149, false);
    near(law.cwnd(), 149.0);
    let mut bounds = vec![149.0];
    for _ in 0..4 {
        // A round trip's worth of ACKs; the first ends the round trip.
        law.advance(100).next_trip().rate(1000.0);
        let cwnd = law.cwnd();
        for _ in 0..cwnd as u64 {
            law.ack(1).leave(cwnd as u64, false);
        }
        bounds.push(law.column("inflight_longterm") / 1000.0);
    }
    // §5.3.3.9: a segment for 149 acknowledged (200 have been before), then for 75, 38, 19: 1, 2, 4 and 8 a round trip.
    let steps: Vec<f64> = bounds.windows(2).map(|w| w[1] - w[0]).collect();
    assert_eq!(steps, [2.0, 4.0, 8.0, 16.0]);
}

#[test]
fn five_seconds_without_a_smaller_rtt_make_the_window_dip() {
    let mut law = cruising(&[]);
    law.rtt(110);
    let begun = law.now();
    while law.phase() != Phase::ProbeRtt {
        trip(&mut law, 1000.0, 1);
        assert!(law.now().since(begun).as_secs() < 6.0);
    }
    // The connection began at 1 s, its first ACK came at 1.1 s; none since had less than 100 ms.
    near(law.now().as_secs(), 6.2);
    // §5.6.4.5: half of 1000/s * 100 ms.
    near(law.cwnd(), 50.0);
    near(law.column("cwnd_gain"), 0.5);
    near(law.pacing(), 990.0);
    near(law.column("probe_rtt_min_delay"), 0.11);
    near(law.column("min_rtt"), 0.1); // of ten seconds
    // 50 outstanding: 200 ms and a round trip from now on. The low rates of the time don't count.
    law.left(50).advance(100).ack(50);
    for _ in 0..2 {
        trip(&mut law, 500.0, 50);
        assert_eq!(law.phase(), Phase::ProbeRtt);
    }
    law.advance(1).ack(1);
    assert_eq!(law.phase(), Phase::Cruise);
    near(law.column("max_bw"), 1e6);
    // §5.3.4.4: from there it is 2 to 3 s to the next probe, and 5 s to the next dip.
    let ended = law.now();
    law.left(100);
    while law.phase() != Phase::ProbeRtt {
        trip(&mut law, 1000.0, 1);
    }
    let gap = law.now().since(ended).as_secs();
    assert!((5.0..5.2).contains(&gap), "{gap}");
}

#[test]
fn a_dip_in_startup_goes_back_there() {
    let mut law = connection(&[], 0);
    law.app_limited(true).left(3);
    trip(&mut law, 10.0, 1);
    law.advance(5_001).ack(1);
    assert_eq!(law.phase(), Phase::ProbeRtt);
    law.advance(100).next_trip().ack(1);
    law.advance(101).ack(1);
    assert_eq!(law.phase(), Phase::Startup);
}

#[test]
fn a_pause_is_dip_enough() {
    // §5.4.1.
    let mut law = probing(&[]);
    near(law.pacing(), 0.99 * 1250.0);
    law.advance(6_000).leave(0, true);
    near(law.pacing(), 990.0);
    near(law.column("idle_restart"), 1.0);
    law.ack(1);
    assert_ne!(law.phase(), Phase::ProbeRtt);
    near(law.column("idle_restart"), 0.0);
    // In the dip it ends, if it has lasted long enough.
    let mut law = cruising(&[]);
    law.rtt(110).advance(6_000).ack(1);
    assert_eq!(law.phase(), Phase::ProbeRtt);
    law.left(50).ack(50).advance(201).leave(0, true);
    assert_eq!(law.phase(), Phase::Cruise);
}

#[test]
fn a_rate_is_remembered_for_two_cycles() {
    let mut law = probing(&[]);
    // §5.5.6: a cycle ends a round trip after its probe. 1200/s in this one hold until the next ends.
    trip(&mut law, 1200.0, 100);
    for before in [1.2e6, 1.2e6, 1e6] {
        until(&mut law, Phase::ProbeDown);
        near(law.column("max_bw"), before);
        trip(&mut law, 1000.0, 100);
        until(&mut law, Phase::ProbeUp);
    }
}

#[test]
fn a_timeout_leaves_one_segment_and_gives_the_window_back() {
    let mut law = cruising(&[]);
    for _ in 0..11 {
        law.advance(100).next_trip().ack(100);
    }
    let window = law.left(3).ack(1).cwnd();
    near(window, 301.0); // 200 and an excess of 101
    (1..=3).fold(&mut law, |law, n| law.lose_one(3, n)).time_out();
    near(law.cwnd(), 1.0);
    // §5.6.4.4: what it was, once nothing is left to be repaired; an ACK more, an excess of one more.
    law.left(0).ack(1);
    near(law.cwnd(), window + 1.0);
}

#[test]
fn a_spurious_loss_is_taken_back() {
    // §5.5.11.2, while it probes: the bound goes, the probe begins anew.
    let mut law = probing(&[]);
    for lost in 1..=4 {
        law.lose_one(150, lost);
    }
    law.lose().left(140).ack_in_recovery(1);
    assert_eq!(law.phase(), Phase::ProbeDown);
    law.undo();
    assert_eq!(law.phase(), Phase::Refill);
    assert!(law.column("inflight_longterm").is_nan());
    // While it cruises: the bounds of the time being.
    let mut law = cruising(&[]);
    law.left(100).lose_one(100, 1).lose().ack_in_recovery(1);
    trip(&mut law, 500.0, 1);
    assert!(!law.column("bw_shortterm").is_nan());
    law.undo();
    assert!(law.column("bw_shortterm").is_nan() && law.column("inflight_shortterm").is_nan());
    // In startup: back to it.
    let mut law = connection(&[], 0);
    law.left(300);
    trip(&mut law, 400.0, 1);
    (1..=6).fold(&mut law, |law, n| law.lose_one(100, n)).lose().ack(1);
    law.sampled(100, 6);
    trip(&mut law, 800.0, 1);
    assert_eq!(law.phase(), Phase::Drain);
    law.undo();
    assert_eq!(law.phase(), Phase::Startup);
    assert_eq!((law.column("full_bw_reached"), law.column("full_bw_count")), (0.0, 0.0));
    assert!(law.column("inflight_longterm").is_nan());
    // Once.
    let before = law.cwnd();
    near(law.undo().cwnd(), before);
}

#[test]
fn a_congestion_mark_is_a_loss_too_many() {
    let mut law = probing(&[]);
    law.left(130).ack(1).echo_mark();
    assert_eq!(law.phase(), Phase::ProbeDown);
    near(law.column("inflight_longterm"), 130_000.0);
    let mut law = cruising(&[]);
    law.ack(1).echo_mark().ack(1);
    trip(&mut law, 500.0, 1);
    // The round trip before brought 1000/s, this one 500.
    near(law.column("bw_shortterm"), 1e6);
    law.echo_mark().ack(1);
    trip(&mut law, 500.0, 1);
    near(law.column("bw_shortterm"), 7e5);
}
