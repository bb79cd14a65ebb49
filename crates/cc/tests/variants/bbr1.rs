//! BBR, version 1, against numbers worked by hand [Linux tcp_bbr.c bbr_main].
//!
//! Segments of 1000 bytes, an RTT of 100 ms. At 1000 segments/s a round trip holds 100; the quantum is 2 segments,
//! since a millisecond's worth is less.

use dumbbell_cc::{Phase, Setup};
use dumbbell_testkit::CcFixture;
use std::collections::BTreeMap;

/// Equal, except for the rounding of the pacing rate to whole bits.
#[track_caller]
fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-6 * b.abs().max(1.0), "{a} is not {b}");
}

/// A rate in segments/s; measured ones are rounded down to the kernel's unit of 0.06 segments/s, and 2.887 times that.
#[track_caller]
fn near_rate(a: f64, b: f64) {
    assert!(a <= b + 1e-3 && a >= b - 0.18, "{a} is not {b}");
}

/// The estimated bandwidth, segments/s.
fn bw(cc: &CcFixture) -> f64 {
    cc.column("bw") / 1000.0
}

/// One ACK a round trip later, with this rate sample in segments/s.
fn trip(cc: &mut CcFixture, rate: f64, acked: u64) -> &mut CcFixture {
    cc.advance(100).next_trip().rate(rate).ack(acked)
}

fn connection(params: &[(&str, &str)], seed: u64) -> CcFixture {
    let start = Setup { seed, ..Setup::new(1000.0, 10_000.0, f64::INFINITY) };
    let mut cc = CcFixture::starting("bbr1", params, start);
    cc.established(100);
    cc
}

/// In PROBE_BW at 1000 segments/s: three round trips without growth, then drained to one BDP.
fn steady(params: &[(&str, &str)]) -> CcFixture {
    let mut cc = connection(params, 0);
    cc.left(300);
    for _ in 0..5 {
        trip(&mut cc, 1000.0, 100);
    }
    cc.left(100);
    trip(&mut cc, 1000.0, 100);
    assert_eq!(cc.phase(), Phase::ProbeBw);
    cc
}

/// Advances through the phases of the cycle until the pacing gain has this value.
fn until_gain(cc: &mut CcFixture, gain: f64) {
    for _ in 0..20 {
        if cc.column("pacing_gain") == gain {
            return;
        }
        cc.left(400); // enough in flight to end the phase with 1.25
        cc.advance(1);
        trip(cc, 1000.0, 1);
    }
    panic!("no phase with gain {gain}");
}

#[test]
fn it_starts_with_the_initial_window_per_handshake_rtt() {
    let mut cc = CcFixture::new("bbr1", &[], 10.0, f64::INFINITY);
    // Without an RTT sample: 1 ms. 0.99 * 739/256 * 10 / 0.001: the gain is in 256ths.
    near(cc.pacing(), 28_578.515_625);
    cc.established(100);
    near(cc.pacing(), 285.785_156_25);
    near(cc.cwnd(), 10.0);
    assert_eq!(cc.phase(), Phase::Startup);
    // Without an RTT of the handshake: from the first ACK's RTT, with the current window.
    let mut cc = CcFixture::new("bbr1", &[], 10.0, f64::INFINITY);
    cc.rate(10.0).ack(1);
    near(cc.pacing(), 285.785_156_25);
}

#[test]
fn startup_ends_after_three_round_trips_with_less_than_a_quarter_more() {
    let mut cc = connection(&[], 0);
    cc.left(300);
    // 500 is not less than 1.25 * 400; 600 < 625 counts, 610 and 620 too.
    for rate in [100.0, 200.0, 400.0, 500.0, 600.0, 610.0] {
        trip(&mut cc, rate, 1);
        assert_eq!(cc.phase(), Phase::Startup, "{rate}");
        near_rate(cc.pacing(), (0.99 * 739.0 / 256.0 * rate).max(285.785));
    }
    // Samples limited by the application don't count.
    cc.app_limited(true);
    trip(&mut cc, 610.0, 1);
    assert_eq!(cc.phase(), Phase::Startup);
    cc.app_limited(false);
    trip(&mut cc, 620.0, 1);
    assert_eq!(cc.phase(), Phase::Drain);
    near_rate(cc.pacing(), 0.99 * 88.0 / 256.0 * 620.0);
    // Drained: 62 for the path and 3 quanta of 2, rounded up to even.
    cc.left(69).rate(620.0).ack(1);
    assert_eq!(cc.phase(), Phase::Drain);
    cc.left(68).ack(1);
    assert_eq!(cc.phase(), Phase::ProbeBw);
}

#[test]
fn the_window_doubles_each_round_trip_of_startup() {
    let mut cc = connection(&[], 0);
    // Each ACK adds the segments that it acknowledges: 10, 20, 40.
    trip(&mut cc, 100.0, 10);
    near(cc.cwnd(), 20.0);
    trip(&mut cc, 200.0, 20);
    near(cc.cwnd(), 40.0);
    // At 2.887 * 200 * 0.1 = 57.7, so at 58 + 6 = 64, it stops: 40 + 30 is more than that.
    trip(&mut cc, 200.0, 30);
    near(cc.cwnd(), 70.0);
    trip(&mut cc, 200.0, 30);
    near(cc.cwnd(), 70.0);
}

#[test]
fn the_window_is_twice_the_path_and_three_quanta() {
    let mut cc = steady(&[("extra_acked_gain", "0")]);
    until_gain(&mut cc, 0.75);
    // 2 * 1000 * 0.1 + 3 * 2.
    trip(&mut cc, 1000.0, 300);
    near(cc.cwnd(), 206.0);
    assert_eq!(cc.quantum(), Some(2000));
    // Two more in the phase with gain 1.25.
    until_gain(&mut cc, 1.25);
    cc.left(10);
    trip(&mut cc, 1000.0, 10);
    near(cc.column("pacing_gain"), 1.25);
    near(cc.cwnd(), 208.0);
    // A small path: 2 * 10 * 0.1 = 2. The rate of ten round trips ago leaves the filter in the eleventh.
    let mut cc = steady(&[("extra_acked_gain", "0")]);
    cc.left(400);
    for _ in 0..11 {
        trip(&mut cc, 10.0, 1);
    }
    near_rate(bw(&cc), 10.0);
    // Below 1.2 Mbit/s, 150 segments/s, the quantum is 1: 2 + 3 rounded up to 6, and 2 more while it probes.
    assert!(cc.cwnd() == 6.0 || cc.cwnd() == 8.0, "{}", cc.cwnd());
    assert_eq!(cc.quantum(), Some(1000));
}

#[test]
fn the_rate_is_the_largest_of_ten_round_trips() {
    let mut cc = steady(&[]);
    trip(&mut cc, 1500.0, 1);
    for _ in 0..10 {
        trip(&mut cc, 900.0, 1);
        near_rate(bw(&cc), 1500.0);
    }
    trip(&mut cc, 900.0, 1);
    near_rate(bw(&cc), 900.0);
    // Samples limited by the application count only if they are larger.
    cc.app_limited(true);
    for _ in 0..20 {
        trip(&mut cc, 800.0, 1);
    }
    near_rate(bw(&cc), 900.0);
    trip(&mut cc, 950.0, 1);
    near_rate(bw(&cc), 950.0);
}

#[test]
fn each_gain_lasts_for_a_round_trip() {
    let mut cc = steady(&[]);
    until_gain(&mut cc, 0.75);
    let mut gains = Vec::new();
    for _ in 0..8 {
        cc.left(400).advance(1);
        trip(&mut cc, 1000.0, 1);
        gains.push(cc.column("pacing_gain"));
    }
    assert_eq!(gains, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.25, 0.75]);
    near_rate(cc.pacing(), 0.99 * 0.75 * 1000.0);
    // A phase lasts longer than min_rtt: at exactly 100 ms it continues.
    until_gain(&mut cc, 1.0);
    until_gain(&mut cc, 1.25);
    // 1.25 lasts until 125 + 6, even, + 2 = 134 are in flight (before the ACK, with the next quantum of 2), or a
    // segment is lost.
    cc.left(130).advance(1000).next_trip().ack(1);
    near(cc.column("pacing_gain"), 1.25);
    cc.left(131).ack(1);
    near(cc.column("pacing_gain"), 0.75);
    // 0.75 ends as soon as 100 + 6 are in flight.
    cc.left(106).ack(1);
    near(cc.column("pacing_gain"), 0.75);
    cc.left(105).ack(1);
    near(cc.column("pacing_gain"), 1.0);
    until_gain(&mut cc, 1.25);
    cc.left(10).advance(101).lose_one(100, 1).ack(1);
    near(cc.column("pacing_gain"), 0.75);
}

#[test]
fn the_cycle_starts_at_any_phase_except_the_draining_one() {
    let mut seen = BTreeMap::new();
    for seed in 0..700 {
        let mut cc = connection(&[], seed);
        cc.left(300);
        for _ in 0..5 {
            trip(&mut cc, 1000.0, 100);
        }
        cc.left(100).advance(1).ack(1);
        // The number of phases until 1.25: none for phase 0, 8 - i for phase i.
        let mut phases = 0;
        while cc.column("pacing_gain") != 1.25 {
            assert_ne!(cc.column("pacing_gain"), 0.75);
            cc.left(400).advance(101).ack(1);
            phases += 1;
        }
        *seen.entry(phases).or_insert(0) += 1;
    }
    // Seven phases with equal probability: 100 each, sd 9.3; four of them.
    assert_eq!(seen.keys().copied().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
    assert!(seen.values().all(|n| (63..=137).contains(n)), "{seen:?}");
}

#[test]
fn probe_rtt_begins_ten_seconds_after_the_smallest_rtt() {
    let mut cc = steady(&[("extra_acked_gain", "0")]);
    until_gain(&mut cc, 0.75);
    trip(&mut cc, 1000.0, 300);
    until_gain(&mut cc, 1.0);
    near(cc.cwnd(), 206.0);
    // Ten seconds after the handshake, and not earlier.
    cc.rtt(110);
    while cc.now().as_secs() < 10.85 {
        trip(&mut cc, 1000.0, 1);
        assert_eq!(cc.phase(), Phase::ProbeBw);
    }
    cc.advance(200);
    cc.left(150).ack(1);
    assert_eq!(cc.phase(), Phase::ProbeRtt);
    near(cc.cwnd(), 4.0);
    near_rate(cc.pacing(), 990.0);
    near(cc.column("min_rtt"), 0.11);
    // Four in flight: 200 ms and a round trip from now. Low rates in this time don't count.
    cc.left(4).advance(100).ack(100);
    for _ in 0..2 {
        trip(&mut cc, 36.0, 4);
        assert_eq!(cc.phase(), Phase::ProbeRtt);
    }
    cc.advance(1).ack(1);
    assert_eq!(cc.phase(), Phase::ProbeBw);
    near_rate(bw(&cc), 1000.0);
    assert!(cc.cwnd() >= 206.0);
    // Paced at the bandwidth again; the next PROBE_RTT is ten seconds away.
    cc.left(100);
    cc.advance(9_900).ack(1);
    assert_eq!(cc.phase(), Phase::ProbeBw);
    cc.advance(200).ack(1);
    assert_eq!(cc.phase(), Phase::ProbeRtt);
}

#[test]
fn probe_rtt_before_full_bw_returns_to_startup() {
    let mut cc = connection(&[], 0);
    cc.rtt(110).app_limited(true);
    trip(&mut cc, 10.0, 1);
    cc.advance(10_000).left(3).ack(1);
    assert_eq!(cc.phase(), Phase::ProbeRtt);
    cc.advance(100).next_trip().ack(1);
    // In ticks of 4 ms: 200 ms have passed with the tick after them.
    cc.advance(103).ack(1);
    assert_eq!(cc.phase(), Phase::ProbeRtt);
    cc.advance(1).ack(1);
    assert_eq!(cc.phase(), Phase::Startup);
}

#[test]
fn recovery_conserves_packets_for_a_round_trip() {
    let mut cc = steady(&[("extra_acked_gain", "0")]);
    until_gain(&mut cc, 0.75);
    trip(&mut cc, 1000.0, 300);
    near(cc.cwnd(), 206.0);
    // 150 in flight and 1 delivered: 151. During the round trip at least this, or the data in flight and delivered.
    cc.left(150).lose_one(200, 1).lose().next_trip().ack_in_recovery(1);
    near(cc.cwnd(), 151.0);
    cc.left(149).ack_in_recovery(1);
    near(cc.cwnd(), 151.0);
    cc.left(154).ack_in_recovery(2);
    near(cc.cwnd(), 156.0);
    // Then it grows towards the target, minus the losses: 156 - 3 + 5.
    cc.advance(100).next_trip().ack_in_recovery(1);
    near(cc.cwnd(), 157.0);
    cc.lose_one(200, 2).lose_one(200, 3).lose_one(200, 4).ack_in_recovery(5);
    near(cc.cwnd(), 159.0);
    // A recovery that begins before the next ACK continues this one: 159 + 1, without another round trip of
    // conservation.
    cc.recover().left(100).lose_one(200, 5).lose().ack_in_recovery(1);
    near(cc.cwnd(), 159.0);
    cc.ack_in_recovery(1);
    near(cc.cwnd(), 160.0);
    // The first ACK after it restores the window.
    near(cc.recover().cwnd(), 160.0);
    near(cc.ack(1).cwnd(), 206.0);
    // The bandwidth is unchanged.
    near_rate(bw(&cc), 1000.0);
}

#[test]
fn a_loss_after_a_mark_conserves_packets_too() {
    // The endpoint gives no second notice of congestion while it reduces the window for a mark.
    let mut cc = steady(&[("extra_acked_gain", "0")]);
    until_gain(&mut cc, 0.75);
    trip(&mut cc, 1000.0, 300);
    cc.echo_mark().left(150).ack_in_recovery(1);
    near(cc.cwnd(), 206.0);
    cc.lose_one(200, 1).next_trip().ack_in_recovery(1);
    near(cc.cwnd(), 151.0);
    near(cc.recover().ack(1).cwnd(), 206.0);
    // Without a loss the mark changes nothing.
    cc.echo_mark().ack_in_recovery(1);
    near(cc.recover().ack(1).cwnd(), 206.0);
}

#[test]
fn a_timeout_leaves_one_segment_until_recovery_ends() {
    let mut cc = steady(&[("extra_acked_gain", "0")]);
    until_gain(&mut cc, 0.75);
    trip(&mut cc, 1000.0, 300);
    cc.left(3).ack(1);
    (1..=3).fold(&mut cc, |cc, n| cc.lose_one(3, n)).time_out();
    near(cc.cwnd(), 1.0);
    // The ACK that ends the recovery.
    cc.left(0).ack(1);
    near(cc.cwnd(), 206.0);
    // Two of three lost: the third is still in flight.
    cc.left(3).ack(1).lose_one(3, 1).lose_one(3, 2).time_out();
    near(cc.cwnd(), 2.0);
}

#[test]
fn two_lossy_intervals_with_consistent_bandwidth_are_a_policer() {
    let mut cc = steady(&[]);
    let lossy = |cc: &mut CcFixture, acked: u64, lost: u64| {
        for n in 1..=lost {
            cc.lose_one(100, n);
        }
        trip(cc, 1000.0, acked);
    };
    // The first loss starts an interval, whose first of four round trips is this one. Then 50 segments in each, 12 of
    // them lost: 150 in 0.3 s, 24 % lost.
    lossy(&mut cc, 50, 1);
    for _ in 0..7 {
        assert!(cc.column("policed_bw").is_nan());
        lossy(&mut cc, 50, 12);
    }
    // The second interval, four round trips more: 200 in 0.4 s. 500/s twice.
    near(cc.column("policed_bw"), 5e5); // from byte counts, not a rate sample
    near_rate(bw(&cc), 500.0);
    near_rate(cc.pacing(), 0.99 * 500.0);
    // 48 round trips later it probes again.
    for _ in 0..47 {
        trip(&mut cc, 1000.0, 50);
        near_rate(bw(&cc), 500.0);
        near(cc.column("pacing_gain"), 1.0);
    }
    trip(&mut cc, 1000.0, 50);
    near_rate(bw(&cc), 1000.0);
    // Bandwidths that differ by more than 1/8, 500 and 600, are not consistent.
    let mut cc = steady(&[]);
    lossy(&mut cc, 50, 1);
    (0..3).for_each(|_| lossy(&mut cc, 50, 12));
    (0..4).for_each(|_| lossy(&mut cc, 60, 15));
    assert!(cc.column("policed_bw").is_nan());
    // 5 % lost is not enough, and the detection can be disabled.
    for (params, lost) in [(&[][..], 3), (&[("policer_detection", "false")][..], 12)] {
        let mut cc = steady(params);
        lossy(&mut cc, 50, 1);
        (0..16).for_each(|_| lossy(&mut cc, 50, lost));
        assert!(cc.column("policed_bw").is_nan());
    }
}

#[test]
fn aggregated_acks_increase_the_window() {
    // 40 segments at once every 40 ms at 1000/s, which is measured as slightly less: 39 whole segments are expected in
    // 40 ms, so that the next 40 have an excess of 41.
    let mut cc = steady(&[]);
    until_gain(&mut cc, 0.75);
    cc.left(400);
    for _ in 0..30 {
        cc.advance(40).next_trip().ack(40);
    }
    near(cc.column("extra_acked"), 41_000.0);
    assert!(cc.cwnd() == 248.0 || cc.cwnd() == 250.0, "{}", cc.cwnd()); // 200 + 41 + 6, even, + 2 while it probes
    // A gap ends the epoch; after ten round trips of smooth ACKs the maximum has expired.
    cc.advance(100);
    for _ in 0..110 {
        cc.advance(10).next_trip().ack(10);
    }
    near(cc.column("extra_acked"), 11_000.0);
}

#[test]
fn a_restart_from_idle_paces_at_the_bandwidth() {
    let mut cc = steady(&[]);
    until_gain(&mut cc, 1.25);
    near_rate(cc.pacing(), 0.99 * 1250.0);
    cc.advance(12_000).leave(0, true);
    near_rate(cc.pacing(), 990.0);
    // Ten seconds have passed, but the idle time replaces PROBE_RTT.
    cc.ack(1);
    assert_eq!(cc.phase(), Phase::ProbeBw);
    // Not limited by the application: no restart from idle.
    let mut cc = steady(&[]);
    until_gain(&mut cc, 1.25);
    cc.leave(0, false);
    near_rate(cc.pacing(), 0.99 * 1250.0);
}

#[test]
fn a_spurious_recovery_restarts_full_pipe_detection() {
    let mut cc = connection(&[], 0);
    cc.left(300);
    for rate in [400.0, 400.0, 400.0] {
        trip(&mut cc, rate, 1);
    }
    // Two round trips without growth; the undo resets them and full_bw.
    cc.lose_one(300, 1).lose().undo();
    for _ in 0..3 {
        trip(&mut cc, 400.0, 1);
        assert_eq!(cc.phase(), Phase::Startup);
    }
    trip(&mut cc, 400.0, 1);
    assert_eq!(cc.phase(), Phase::Drain);
}
