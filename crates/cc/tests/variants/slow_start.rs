//! The common slow start, with Reno in it.

use dumbbell_cc::{Phase, Setup, SlowStart};
use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// A hundred segments, no ssthresh, base RTT 100 ms, ACKs that neither wait nor make a train.
fn starting(slow_start: SlowStart, paced: bool) -> CcFixture {
    let start = Setup::new(1000.0, 100_000.0, f64::INFINITY);
    CcFixture::starting("reno", &[], Setup { slow_start, paced, ..start })
}

/// ACKs of a segment each, 3 ms apart, each with this RTT. They double the window each round: the 1st begins the first
/// round, the 101st the second (of the 200 segments that the window was then), the 301st the third, the 701st the fourth.
fn acks(law: &mut CcFixture, n: u64, rtt: u64) {
    law.rtt(rtt);
    for _ in 0..n {
        law.advance(3).ack(1);
    }
}

#[test]
fn an_ack_adds_as_much_as_the_stack_allows() {
    for (limit, grown) in [(1.0, 1.0), (2.0, 2.0), (f64::INFINITY, 5.0)] {
        let start = Setup { slow_start_limit: limit, ..Setup::new(1000.0, 10_000.0, 40_000.0) };
        let mut law = CcFixture::starting("reno", &[], start);
        near(law.ack(5).cwnd(), 10.0 + grown);
    }
    // 8 of ten segments up to ssthresh, the other two for avoidance: 18 + 1/18 for an ACK, 18 + 2/18 for its bytes.
    let start = Setup { slow_start_limit: f64::INFINITY, ..Setup::new(1000.0, 10_000.0, 18_000.0) };
    near(CcFixture::starting("reno", &[], start).ack(10).cwnd(), 18.0 + 1.0 / 18.0);
    // CUBIC starts a stage there at its plateau, W(0) = 18; W_est is at cwnd_prior, so that alpha is 1: 18 + 2/18, which is
    // more.
    near(CcFixture::starting("cubic", &[], start).ack(10).cwnd(), 18.0 + 2.0 / 18.0);
}

#[test]
fn hystart_ends_on_a_long_train() {
    // The first ACK begins round and train. Half of 100 ms and the millisecond for offloads are 50.5 ms: the ACK after
    // 50 ms doubles still (51 ACKs), that after 51 ms finds the train too long. Paced, the bound is 101 ms.
    for (paced, last) in [(false, 50), (true, 101)] {
        let start = Setup::new(1000.0, 200_000.0, f64::INFINITY);
        let mut law =
            CcFixture::starting("reno", &[], Setup { slow_start: SlowStart::HyStart, paced, ..start });
        law.ack(1);
        for _ in 0..last {
            law.advance(1).ack(1);
        }
        let grown = 200.0 + 1.0 + f64::from(last);
        near(law.cwnd(), grown);
        assert_eq!(law.phase(), Phase::SlowStart);
        law.advance(1).ack(1);
        near(law.ssthresh(), grown);
        near(law.cwnd(), grown + 1.0 / grown);
        assert_eq!(law.phase(), Phase::Avoidance);
    }
    // Gaps of 3 ms break it.
    let mut law = starting(SlowStart::HyStart, false);
    acks(&mut law, 90, 100);
    assert_eq!(law.phase(), Phase::SlowStart);
    // Below 16 segments nothing is looked at.
    let start = Setup { slow_start: SlowStart::HyStart, ..Setup::new(1000.0, 2_000.0, f64::INFINITY) };
    let mut law = CcFixture::starting("reno", &[], start);
    law.ack(1);
    for cwnd in 4..=15 {
        near(law.advance(2).rtt(4).ack(1).cwnd(), f64::from(cwnd));
    }
}

#[test]
fn hystart_ends_on_delay() {
    // Base 100 ms: more than 112.5 ms, by the smallest of a round's first nine samples.
    for (rtt, ends) in [(112, false), (113, true)] {
        let mut law = starting(SlowStart::HyStart, false);
        acks(&mut law, 101, 100); // the sample of 100 ms holds the smallest of the second round down
        acks(&mut law, 200 + 7, rtt); // eight of the third
        near(law.cwnd(), 408.0);
        assert_eq!(law.phase(), Phase::SlowStart);
        acks(&mut law, 1, rtt);
        assert_eq!(law.phase() == Phase::Avoidance, ends, "{rtt}");
        near(law.cwnd(), if ends { 408.0 + 1.0 / 408.0 } else { 409.0 });
    }
    // A path of 16 ms: an eighth is 2 ms, but it takes 4; of 400 ms: 50 ms, but 16 are enough.
    for (base, rtt, ends) in [(16, 20, false), (16, 21, true), (400, 416, false), (400, 417, true)] {
        let mut law = starting(SlowStart::HyStart, true);
        acks(&mut law, 101, base);
        acks(&mut law, 209, rtt);
        assert_eq!(law.phase() == Phase::Avoidance, ends, "{base} {rtt}");
    }
}

#[test]
fn hystart_looks_again_after_a_timeout() {
    let mut law = starting(SlowStart::HyStart, false);
    acks(&mut law, 101, 100);
    acks(&mut law, 209, 113);
    near(law.ssthresh(), 408.0);
    // Half of what avoidance made of it, about 204. Nothing of the old path counts: 120 ms is the base now.
    law.time_out();
    for _ in 0..7 {
        law.rtt(120).round();
    }
    near(law.cwnd(), 128.0);
    assert_eq!(law.phase(), Phase::SlowStart);
    // 120 + 15 ms are needed.
    let threshold = law.ssthresh();
    law.rtt(136).round();
    assert!(law.ssthresh() < threshold && law.cwnd() < 150.0, "{}", law.cwnd());
    assert_eq!(law.phase(), Phase::Avoidance);
}

#[test]
fn hystart_plus_plus_goes_through_a_conservative_phase() {
    // An eighth of 100 ms: 112.5 ms or more for the smallest of 8 samples, against the round before.
    for (rtt, enters) in [(112, false), (113, true)] {
        let mut law = starting(SlowStart::HyStartPlusPlus, false);
        acks(&mut law, 301, 100); // the third round begins with 100 ms: the fourth is the first without
        acks(&mut law, 400 + 6, rtt);
        near(law.cwnd(), 807.0);
        // The eighth sample: a quarter of a segment from here on.
        acks(&mut law, 1, rtt);
        near(law.cwnd(), if enters { 807.25 } else { 808.0 });
        assert_eq!(law.phase(), Phase::SlowStart);
    }
}

/// In the conservative phase with a baseline of 113 ms, eight ACKs into the fourth round, which began with 800 segments.
fn conservative() -> CcFixture {
    let mut law = starting(SlowStart::HyStartPlusPlus, false);
    acks(&mut law, 301, 100);
    acks(&mut law, 400 + 7, 113);
    near(law.cwnd(), 807.25);
    law
}

#[test]
fn the_conservative_phase_lasts_five_rounds() {
    let mut law = conservative();
    let (mut window, mut came) = (800, 8);
    for round in 1..=5 {
        let before = law.cwnd();
        acks(&mut law, window - came, 113);
        assert_eq!(law.phase(), Phase::SlowStart, "round {round}");
        near(law.cwnd(), before + 0.25 * (window - came) as f64);
        // The next ACK ends it and begins another.
        (window, came) = (law.cwnd() as u64, 1);
        acks(&mut law, 1, 113);
    }
    assert_eq!(law.phase(), Phase::Avoidance);
    let left = law.ssthresh();
    near(law.cwnd(), left + 1.0 / left);
}

#[test]
fn a_fall_of_the_delay_resumes_slow_start() {
    let mut law = conservative();
    acks(&mut law, 792, 113);
    near(law.cwnd(), 1005.25);
    // In the second round 112 ms, below the baseline: known with the eighth sample.
    acks(&mut law, 7, 112);
    near(law.cwnd(), 1005.25 + 7.0 * 0.25);
    acks(&mut law, 1, 112);
    near(law.cwnd(), 1005.25 + 7.0 * 0.25 + 1.0);
}

#[test]
fn hystart_plus_plus_limits_what_an_ack_adds() {
    for (paced, grown) in [(false, 8.0), (true, 10.0)] {
        let mut law = starting(SlowStart::HyStartPlusPlus, paced);
        near(law.ack(10).cwnd(), 100.0 + grown);
    }
    // Only in the first slow start: after a loss the stack's limit of one segment is back.
    let mut law = starting(SlowStart::HyStartPlusPlus, false);
    law.time_out();
    near(law.ack(10).cwnd(), 2.0);
}
