//! The common slow start, tested with Reno: growth per ACK [RFC 5681 §3.1], HyStart [Linux tcp_cubic.c hystart_update],
//! HyStart++ [RFC 9406].

use dumbbell_cc::{Phase, Setup, SlowStart};
use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// A hundred segments, no ssthresh, base RTT 100 ms, ACKs without pauses that don't form a train.
fn starting(slow_start: SlowStart, paced: bool) -> CcFixture {
    let start = Setup::new(1000.0, 100_000.0, f64::INFINITY);
    CcFixture::starting("reno", &[], Setup { slow_start, paced, ..start })
}

/// ACKs of a segment each, 3 ms apart, each with this RTT. The window doubles each round: the 1st ACK begins the first
/// round, the 101st the second (of the 200 segments that the window was then), the 301st the third, the 701st the
/// fourth.
fn acks(cc: &mut CcFixture, n: u64, rtt: u64) {
    cc.rtt(rtt);
    for _ in 0..n {
        cc.advance(3).ack(1);
    }
}

#[test]
fn the_stack_limits_the_growth_per_ack() {
    for (limit, grown) in [(1.0, 1.0), (2.0, 2.0), (f64::INFINITY, 5.0)] {
        let start = Setup { slow_start_limit: limit, ..Setup::new(1000.0, 10_000.0, 40_000.0) };
        let mut cc = CcFixture::starting("reno", &[], start);
        near(cc.ack(5).cwnd(), 10.0 + grown);
    }
    // 8 of ten segments up to ssthresh, the other two for avoidance: 18 + 1/18 for an ACK, 18 + 2/18 for its bytes.
    let start = Setup { slow_start_limit: f64::INFINITY, ..Setup::new(1000.0, 10_000.0, 18_000.0) };
    near(CcFixture::starting("reno", &[], start).ack(10).cwnd(), 18.0 + 1.0 / 18.0);
    // CUBIC begins an epoch there with K = 0, W_cubic(0) = 18. W_est equals cwnd_prior, so alpha_cubic is 1: 18 + 2/18,
    // the larger value.
    near(CcFixture::starting("cubic", &[], start).ack(10).cwnd(), 18.0 + 2.0 / 18.0);
}

#[test]
fn hystart_ends_on_a_long_train() {
    // The first ACK begins round and train. Half of 100 ms and the millisecond for offloads are 50.5 ms: the ACK after
    // 50 ms still increases the window (51 ACKs), and the ACK after 51 ms ends slow start. With pacing the bound is 101
    // ms.
    for (paced, last) in [(false, 50), (true, 101)] {
        let start = Setup::new(1000.0, 200_000.0, f64::INFINITY);
        let mut cc = CcFixture::starting("reno", &[], Setup { slow_start: SlowStart::HyStart, paced, ..start });
        cc.ack(1);
        for _ in 0..last {
            cc.advance(1).ack(1);
        }
        let grown = 200.0 + 1.0 + f64::from(last);
        near(cc.cwnd(), grown);
        assert_eq!(cc.phase(), Phase::SlowStart);
        cc.advance(1).ack(1);
        near(cc.ssthresh(), grown);
        near(cc.cwnd(), grown + 1.0 / grown);
        assert_eq!(cc.phase(), Phase::Avoidance);
    }
    // Gaps of 3 ms end the train.
    let mut cc = starting(SlowStart::HyStart, false);
    acks(&mut cc, 90, 100);
    assert_eq!(cc.phase(), Phase::SlowStart);
    // Below 16 segments HyStart does nothing.
    let start = Setup { slow_start: SlowStart::HyStart, ..Setup::new(1000.0, 2_000.0, f64::INFINITY) };
    let mut cc = CcFixture::starting("reno", &[], start);
    cc.ack(1);
    for cwnd in 4..=15 {
        near(cc.advance(2).rtt(4).ack(1).cwnd(), f64::from(cwnd));
    }
}

#[test]
fn hystart_ends_on_delay() {
    // Base 100 ms: more than 112.5 ms, by the smallest of a round's first nine samples.
    for (rtt, ends) in [(112, false), (113, true)] {
        let mut cc = starting(SlowStart::HyStart, false);
        acks(&mut cc, 101, 100); // the sample of 100 ms is the minimum of the second round
        acks(&mut cc, 200 + 7, rtt); // eight of the third
        near(cc.cwnd(), 408.0);
        assert_eq!(cc.phase(), Phase::SlowStart);
        acks(&mut cc, 1, rtt);
        assert_eq!(cc.phase() == Phase::Avoidance, ends, "{rtt}");
        near(cc.cwnd(), if ends { 408.0 + 1.0 / 408.0 } else { 409.0 });
    }
    // 16 ms: an eighth is 2 ms, the lower bound is 4 ms. 400 ms: an eighth is 50 ms, the upper bound is 16 ms.
    for (base, rtt, ends) in [(16, 20, false), (16, 21, true), (400, 416, false), (400, 417, true)] {
        let mut cc = starting(SlowStart::HyStart, true);
        acks(&mut cc, 101, base);
        acks(&mut cc, 209, rtt);
        assert_eq!(cc.phase() == Phase::Avoidance, ends, "{base} {rtt}");
    }
}

#[test]
fn hystart_works_again_after_a_timeout() {
    let mut cc = starting(SlowStart::HyStart, false);
    acks(&mut cc, 101, 100);
    acks(&mut cc, 209, 113);
    near(cc.ssthresh(), 408.0);
    // Half of the window, about 204. A timeout resets HyStart: the minimum RTT is now 120 ms.
    cc.time_out();
    for _ in 0..7 {
        cc.rtt(120).round();
    }
    near(cc.cwnd(), 128.0);
    assert_eq!(cc.phase(), Phase::SlowStart);
    // 120 + 15 ms are needed.
    let threshold = cc.ssthresh();
    cc.rtt(136).round();
    assert!(cc.ssthresh() < threshold && cc.cwnd() < 150.0, "{}", cc.cwnd());
    assert_eq!(cc.phase(), Phase::Avoidance);
}

#[test]
fn hystart_plus_plus_enters_conservative_slow_start() {
    // An eighth of 100 ms: 112.5 ms or more for the smallest of 8 samples, against the round before.
    for (rtt, enters) in [(112, false), (113, true)] {
        let mut cc = starting(SlowStart::HyStartPlusPlus, false);
        acks(&mut cc, 301, 100); // the third round begins with 100 ms: the fourth is the first without it
        acks(&mut cc, 400 + 6, rtt);
        near(cc.cwnd(), 807.0);
        // From the eighth sample on an ACK adds a quarter of a segment.
        acks(&mut cc, 1, rtt);
        near(cc.cwnd(), if enters { 807.25 } else { 808.0 });
        assert_eq!(cc.phase(), Phase::SlowStart);
    }
}

/// In conservative slow start with a baseline of 113 ms, eight ACKs into the fourth round, which began with 800
/// segments.
fn conservative() -> CcFixture {
    let mut cc = starting(SlowStart::HyStartPlusPlus, false);
    acks(&mut cc, 301, 100);
    acks(&mut cc, 400 + 7, 113);
    near(cc.cwnd(), 807.25);
    cc
}

#[test]
fn conservative_slow_start_lasts_five_rounds() {
    let mut cc = conservative();
    let (mut window, mut acked) = (800, 8);
    for round in 1..=5 {
        let before = cc.cwnd();
        acks(&mut cc, window - acked, 113);
        assert_eq!(cc.phase(), Phase::SlowStart, "round {round}");
        near(cc.cwnd(), before + 0.25 * (window - acked) as f64);
        // The next ACK ends it and begins another.
        (window, acked) = (cc.cwnd() as u64, 1);
        acks(&mut cc, 1, 113);
    }
    assert_eq!(cc.phase(), Phase::Avoidance);
    let left = cc.ssthresh();
    near(cc.cwnd(), left + 1.0 / left);
}

#[test]
fn a_fall_of_the_delay_resumes_slow_start() {
    let mut cc = conservative();
    acks(&mut cc, 792, 113);
    near(cc.cwnd(), 1005.25);
    // 112 ms in the second round is below the baseline, which the eighth sample shows.
    acks(&mut cc, 7, 112);
    near(cc.cwnd(), 1005.25 + 7.0 * 0.25);
    acks(&mut cc, 1, 112);
    near(cc.cwnd(), 1005.25 + 7.0 * 0.25 + 1.0);
}

#[test]
fn hystart_plus_plus_limits_the_growth_per_ack() {
    for (paced, grown) in [(false, 8.0), (true, 10.0)] {
        let mut cc = starting(SlowStart::HyStartPlusPlus, paced);
        near(cc.ack(10).cwnd(), 100.0 + grown);
    }
    // Only in the initial slow start: after a loss the stack's limit of one segment applies.
    let mut cc = starting(SlowStart::HyStartPlusPlus, false);
    cc.time_out();
    near(cc.ack(10).cwnd(), 2.0);
}
