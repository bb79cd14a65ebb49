//! Segments of 1000 bytes, an RTT of 100 ms. At 1000 segments/s a round trip holds 100; the quantum is 2 segments, since a
//! millisecond's worth is less.

use dumbbell_cc::{Phase, Setup};
use dumbbell_testkit::CcFixture;
use std::collections::BTreeMap;

/// Equal but for the whole bits that a pacing rate is given in.
#[track_caller]
fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-6 * b.abs().max(1.0), "{a} is not {b}");
}

/// A rate in segments/s; measured ones are rounded down to the kernel's unit of 0.06 segments/s, and 2.887 times that.
#[track_caller]
fn near_rate(a: f64, b: f64) {
    assert!(a <= b + 1e-3 && a >= b - 0.18, "{a} is not {b}");
}

/// The rate that the law goes by, segments/s.
fn bw(law: &CcFixture) -> f64 {
    law.column("bw") / 1000.0
}

/// A round trip later one ACK comes, whose rate is so many segments/s.
fn trip(law: &mut CcFixture, rate: f64, acked: u64) -> &mut CcFixture {
    law.advance(100).next_trip().rate(rate).ack(acked)
}

fn connection(params: &[(&str, &str)], seed: u64) -> CcFixture {
    let start = Setup { seed, ..Setup::new(1000.0, 10_000.0, f64::INFINITY) };
    let mut law = CcFixture::starting("bbr1", params, start);
    law.established(100);
    law
}

/// In probe bandwidth at 1000 segments/s: three round trips without growth, then drained to one BDP.
fn steady(params: &[(&str, &str)]) -> CcFixture {
    let mut law = connection(params, 0);
    law.left(300);
    for _ in 0..5 {
        trip(&mut law, 1000.0, 100);
    }
    law.left(100);
    trip(&mut law, 1000.0, 100);
    assert_eq!(law.phase(), Phase::ProbeBw);
    law
}

/// Lets phases of the cycle pass until the pacing gain is this.
fn until_gain(law: &mut CcFixture, gain: f64) {
    for _ in 0..20 {
        if law.column("pacing_gain") == gain {
            return;
        }
        law.left(400); // enough outstanding to end 1.25
        law.advance(1);
        trip(law, 1000.0, 1);
    }
    panic!("no phase with gain {gain}");
}

#[test]
fn it_starts_with_the_initial_window_over_the_handshakes_rtt() {
    let mut law = CcFixture::new("bbr1", &[], 10.0, f64::INFINITY);
    // No RTT yet: a millisecond. 0.99 * 739/256 * 10 / 0.001: the gain is in 256ths.
    near(law.pacing(), 28_578.515_625);
    law.established(100);
    near(law.pacing(), 285.785_156_25);
    near(law.cwnd(), 10.0);
    assert_eq!(law.phase(), Phase::Startup);
    // A connection that had no handshake to measure: from the first ACK's RTT, with the window it then has.
    let mut law = CcFixture::new("bbr1", &[], 10.0, f64::INFINITY);
    law.rate(10.0).ack(1);
    near(law.pacing(), 285.785_156_25);
}

#[test]
fn startup_ends_after_three_round_trips_with_less_than_a_quarter_more() {
    let mut law = connection(&[], 0);
    law.left(300);
    // 500 is no less than 1.25 * 400; 600 < 625 counts, 610 and 620 too.
    for rate in [100.0, 200.0, 400.0, 500.0, 600.0, 610.0] {
        trip(&mut law, rate, 1);
        assert_eq!(law.phase(), Phase::Startup, "{rate}");
        near_rate(law.pacing(), (0.99 * 739.0 / 256.0 * rate).max(285.785));
    }
    // What the application holds back doesn't count.
    law.app_limited(true);
    trip(&mut law, 610.0, 1);
    assert_eq!(law.phase(), Phase::Startup);
    law.app_limited(false);
    trip(&mut law, 620.0, 1);
    assert_eq!(law.phase(), Phase::Drain);
    near_rate(law.pacing(), 0.99 * 88.0 / 256.0 * 620.0);
    // Drained: 62 for the path and 3 quanta of 2, made even.
    law.left(69).rate(620.0).ack(1);
    assert_eq!(law.phase(), Phase::Drain);
    law.left(68).ack(1);
    assert_eq!(law.phase(), Phase::ProbeBw);
}

#[test]
fn the_window_doubles_each_round_trip_of_startup() {
    let mut law = connection(&[], 0);
    // Each ACK adds what it acknowledges: 10, 20, 40.
    trip(&mut law, 100.0, 10);
    near(law.cwnd(), 20.0);
    trip(&mut law, 200.0, 20);
    near(law.cwnd(), 40.0);
    // At 2.887 * 200 * 0.1 = 57.7, so 58 + 6 = 64, it stops: 40 + 30 is more than that.
    trip(&mut law, 200.0, 30);
    near(law.cwnd(), 70.0);
    trip(&mut law, 200.0, 30);
    near(law.cwnd(), 70.0);
}

#[test]
fn the_window_is_twice_the_path_and_three_quanta() {
    let mut law = steady(&[("extra_acked_gain", "0")]);
    until_gain(&mut law, 0.75);
    // 2 * 1000 * 0.1 + 3 * 2.
    trip(&mut law, 1000.0, 300);
    near(law.cwnd(), 206.0);
    assert_eq!(law.quantum(), Some(2000));
    // Two more while it probes.
    until_gain(&mut law, 1.25);
    law.left(10);
    trip(&mut law, 1000.0, 10);
    near(law.column("pacing_gain"), 1.25);
    near(law.cwnd(), 208.0);
    // A small path: 2 * 10 * 0.1 = 2. The rate of ten round trips ago is forgotten in the eleventh.
    let mut law = steady(&[("extra_acked_gain", "0")]);
    law.left(400);
    for _ in 0..11 {
        trip(&mut law, 10.0, 1);
    }
    near_rate(bw(&law), 10.0);
    // Below 1.2 Mbit/s, 150 segments/s, the quantum is 1: 2 + 3 rounded up to 6, and 2 more while it probes.
    assert!(law.cwnd() == 6.0 || law.cwnd() == 8.0, "{}", law.cwnd());
    assert_eq!(law.quantum(), Some(1000));
}

#[test]
fn the_rate_is_the_largest_of_ten_round_trips() {
    let mut law = steady(&[]);
    trip(&mut law, 1500.0, 1);
    for _ in 0..10 {
        trip(&mut law, 900.0, 1);
        near_rate(bw(&law), 1500.0);
    }
    trip(&mut law, 900.0, 1);
    near_rate(bw(&law), 900.0);
    // What the application holds back counts only if it is more.
    law.app_limited(true);
    for _ in 0..20 {
        trip(&mut law, 800.0, 1);
    }
    near_rate(bw(&law), 900.0);
    trip(&mut law, 950.0, 1);
    near_rate(bw(&law), 950.0);
}

#[test]
fn gains_go_round_with_a_round_trip_each() {
    let mut law = steady(&[]);
    until_gain(&mut law, 0.75);
    let mut gains = Vec::new();
    for _ in 0..8 {
        law.left(400).advance(1);
        trip(&mut law, 1000.0, 1);
        gains.push(law.column("pacing_gain"));
    }
    assert_eq!(gains, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.25, 0.75]);
    near_rate(law.pacing(), 0.99 * 0.75 * 1000.0);
    // A phase lasts longer than min_rtt: at 100 ms sharp it goes on.
    until_gain(&mut law, 1.0);
    until_gain(&mut law, 1.25);
    // 1.25 goes on until 125 + 6 even + 2 = 134 are outstanding (before the ACK, with the quantum of 2 to come), or
    // something is lost.
    law.left(130).advance(1000).next_trip().ack(1);
    near(law.column("pacing_gain"), 1.25);
    law.left(131).ack(1);
    near(law.column("pacing_gain"), 0.75);
    // 0.75 ends as soon as 100 + 6 are outstanding.
    law.left(106).ack(1);
    near(law.column("pacing_gain"), 0.75);
    law.left(105).ack(1);
    near(law.column("pacing_gain"), 1.0);
    until_gain(&mut law, 1.25);
    law.left(10).advance(101).lose_one(100, 1).ack(1);
    near(law.column("pacing_gain"), 0.75);
}

#[test]
fn the_cycle_starts_anywhere_but_with_the_drain() {
    let mut seen = BTreeMap::new();
    for seed in 0..700 {
        let mut law = connection(&[], seed);
        law.left(300);
        for _ in 0..5 {
            trip(&mut law, 1000.0, 100);
        }
        law.left(100).advance(1).ack(1);
        // How many phases there are until 1.25: none for phase 0, 8 - i for phase i.
        let mut phases = 0;
        while law.column("pacing_gain") != 1.25 {
            assert_ne!(law.column("pacing_gain"), 0.75);
            law.left(400).advance(101).ack(1);
            phases += 1;
        }
        *seen.entry(phases).or_insert(0) += 1;
    }
    // Seven phases of equal chance: 100 each, sd 9.3; four of them.
    assert_eq!(seen.keys().copied().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
    assert!(seen.values().all(|n| (63..=137).contains(n)), "{seen:?}");
}

#[test]
fn ten_seconds_without_a_smaller_rtt_make_the_window_dip() {
    let mut law = steady(&[("extra_acked_gain", "0")]);
    until_gain(&mut law, 0.75);
    trip(&mut law, 1000.0, 300);
    until_gain(&mut law, 1.0);
    near(law.cwnd(), 206.0);
    // Ten seconds after the handshake, and not sooner.
    law.rtt(110);
    while law.now().as_secs() < 10.85 {
        trip(&mut law, 1000.0, 1);
        assert_eq!(law.phase(), Phase::ProbeBw);
    }
    law.advance(200);
    law.left(150).ack(1);
    assert_eq!(law.phase(), Phase::ProbeRtt);
    near(law.cwnd(), 4.0);
    near_rate(law.pacing(), 990.0);
    near(law.column("min_rtt"), 0.11);
    // Four left: 200 ms and a round trip from now. Low rates of the time don't count.
    law.left(4).advance(100).ack(100);
    for _ in 0..2 {
        trip(&mut law, 36.0, 4);
        assert_eq!(law.phase(), Phase::ProbeRtt);
    }
    law.advance(1).ack(1);
    assert_eq!(law.phase(), Phase::ProbeBw);
    near_rate(bw(&law), 1000.0);
    assert!(law.cwnd() >= 206.0);
    // Paced again at the rate; the next dip is ten seconds away.
    law.left(100);
    law.advance(9_900).ack(1);
    assert_eq!(law.phase(), Phase::ProbeBw);
    law.advance(200).ack(1);
    assert_eq!(law.phase(), Phase::ProbeRtt);
}

#[test]
fn a_dip_before_the_pipe_is_full_goes_back_to_startup() {
    let mut law = connection(&[], 0);
    law.rtt(110).app_limited(true);
    trip(&mut law, 10.0, 1);
    law.advance(10_000).left(3).ack(1);
    assert_eq!(law.phase(), Phase::ProbeRtt);
    law.advance(100).next_trip().ack(1);
    // By the clock's ticks of 4 ms: 200 ms are over with the tick after them.
    law.advance(103).ack(1);
    assert_eq!(law.phase(), Phase::ProbeRtt);
    law.advance(1).ack(1);
    assert_eq!(law.phase(), Phase::Startup);
}

#[test]
fn recovery_sends_what_arrives_for_a_round_trip_and_then_as_before() {
    let mut law = steady(&[("extra_acked_gain", "0")]);
    until_gain(&mut law, 0.75);
    trip(&mut law, 1000.0, 300);
    near(law.cwnd(), 206.0);
    // 150 left and 1 arrived: 151. Within the round trip it keeps that, or what is outstanding and arrives.
    law.left(150).lose_one(200, 1).lose().next_trip().ack_in_recovery(1);
    near(law.cwnd(), 151.0);
    law.left(149).ack_in_recovery(1);
    near(law.cwnd(), 151.0);
    law.left(154).ack_in_recovery(2);
    near(law.cwnd(), 156.0);
    // Then it grows towards the target, less what is lost: 156 - 3 + 5.
    law.advance(100).next_trip().ack_in_recovery(1);
    near(law.cwnd(), 157.0);
    law.lose_one(200, 2).lose_one(200, 3).lose_one(200, 4).ack_in_recovery(5);
    near(law.cwnd(), 159.0);
    // A recovery that follows at once is the same one to it: 159 + 1, and no other round trip of conservation.
    law.recover().left(100).lose_one(200, 5).lose().ack_in_recovery(1);
    near(law.cwnd(), 159.0);
    law.ack_in_recovery(1);
    near(law.cwnd(), 160.0);
    // The first ACK after it gives the window back.
    near(law.recover().cwnd(), 160.0);
    near(law.ack(1).cwnd(), 206.0);
    // The rate is as it was all the time.
    near_rate(bw(&law), 1000.0);
}

#[test]
fn a_timeout_leaves_one_segment_and_gives_the_window_back() {
    let mut law = steady(&[("extra_acked_gain", "0")]);
    until_gain(&mut law, 0.75);
    trip(&mut law, 1000.0, 300);
    law.left(3).ack(1);
    (1..=3).fold(&mut law, |law, n| law.lose_one(3, n)).time_out();
    near(law.cwnd(), 1.0);
    // The ACK after which nothing is left to be repaired.
    law.left(0).ack(1);
    near(law.cwnd(), 206.0);
    // Two of three lost: the third is still on its way.
    law.left(3).ack(1).lose_one(3, 1).lose_one(3, 2).time_out();
    near(law.cwnd(), 2.0);
}

#[test]
fn two_lossy_intervals_of_like_rate_are_a_policer() {
    let mut law = steady(&[]);
    let lossy = |law: &mut CcFixture, acked: u64, lost: u64| {
        for n in 1..=lost {
            law.lose_one(100, n);
        }
        trip(law, 1000.0, acked);
    };
    // The first loss starts an interval, with its round trip as the first of four. Then 50 segments in each, 12 of them
    // lost: 150 in 0.3 s, 24 % lost.
    lossy(&mut law, 50, 1);
    for _ in 0..7 {
        assert!(law.column("policed_bw").is_nan());
        lossy(&mut law, 50, 12);
    }
    // The second interval, four round trips more: 200 in 0.4 s. 500/s twice.
    near(law.column("policed_bw"), 5e5); // counted, not a rate sample
    near_rate(bw(&law), 500.0);
    near_rate(law.pacing(), 0.99 * 500.0);
    // 48 round trips later it probes again.
    for _ in 0..47 {
        trip(&mut law, 1000.0, 50);
        near_rate(bw(&law), 500.0);
        near(law.column("pacing_gain"), 1.0);
    }
    trip(&mut law, 1000.0, 50);
    near_rate(bw(&law), 1000.0);
    // Rates more than an eighth apart, 500 and 600, are none.
    let mut law = steady(&[]);
    lossy(&mut law, 50, 1);
    (0..3).for_each(|_| lossy(&mut law, 50, 12));
    (0..4).for_each(|_| lossy(&mut law, 60, 15));
    assert!(law.column("policed_bw").is_nan());
    // 5 % lost isn't enough, and it can be told not to look.
    for (params, lost) in [(&[][..], 3), (&[("policer_detection", "false")][..], 12)] {
        let mut law = steady(params);
        lossy(&mut law, 50, 1);
        (0..16).for_each(|_| lossy(&mut law, 50, lost));
        assert!(law.column("policed_bw").is_nan());
    }
}

#[test]
fn acks_in_bunches_widen_the_window() {
    // 40 segments at once every 40 ms at 1000/s, which is known as a little less: 39 whole ones are expected in 40 ms, so
    // that 41 are ahead with the next 40.
    let mut law = steady(&[]);
    until_gain(&mut law, 0.75);
    law.left(400);
    for _ in 0..30 {
        law.advance(40).next_trip().ack(40);
    }
    near(law.column("extra_acked"), 41_000.0);
    assert!(law.cwnd() == 248.0 || law.cwnd() == 250.0, "{}", law.cwnd()); // 200 + 41 + 6, even, + 2 while it probes
    // A gap ends the count; after ten round trips of smooth ACKs the largest is forgotten.
    law.advance(100);
    for _ in 0..110 {
        law.advance(10).next_trip().ack(10);
    }
    near(law.column("extra_acked"), 11_000.0);
}

#[test]
fn restarting_after_a_pause_it_paces_at_the_rate() {
    let mut law = steady(&[]);
    until_gain(&mut law, 1.25);
    near_rate(law.pacing(), 0.99 * 1250.0);
    law.advance(12_000).leave(0, true);
    near_rate(law.pacing(), 990.0);
    // Ten seconds have passed, but the pause was dip enough.
    law.ack(1);
    assert_eq!(law.phase(), Phase::ProbeBw);
    // Not held back by the application: no pause.
    let mut law = steady(&[]);
    until_gain(&mut law, 1.25);
    law.leave(0, false);
    near_rate(law.pacing(), 0.99 * 1250.0);
}

#[test]
fn a_recovery_in_vain_looks_for_a_full_pipe_anew() {
    let mut law = connection(&[], 0);
    law.left(300);
    for rate in [400.0, 400.0, 400.0] {
        trip(&mut law, rate, 1);
    }
    // Two round trips without growth; the undo forgets them and the mark.
    law.lose_one(300, 1).lose().undo();
    for _ in 0..3 {
        trip(&mut law, 400.0, 1);
        assert_eq!(law.phase(), Phase::Startup);
    }
    trip(&mut law, 400.0, 1);
    assert_eq!(law.phase(), Phase::Drain);
}
