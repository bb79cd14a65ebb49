//! Vegas against numbers worked by hand [Brakmo and Peterson 1995; Linux tcp_vegas.c tcp_vegas_cong_avoid].

use dumbbell_cc::{Phase, Setup};
use dumbbell_testkit::near;
use dumbbell_testkit::{CcFixture, given};

/// Vegas without rounding of diff, so that the numbers can be computed by hand.
fn exact(cwnd: f64, ssthresh: f64) -> CcFixture {
    CcFixture::new("vegas", &[("rounded", "false")], cwnd, ssthresh)
}

/// In congestion avoidance with ten segments and a base RTT of 100 ms, after one measured round.
fn ten() -> CcFixture {
    let mut cc = exact(10.0, 10.0);
    cc.round();
    cc
}

#[test]
fn slow_start_grows_every_other_round() {
    let mut cc = exact(2.0, f64::INFINITY);
    // Doubles, holds, doubles, holds: no queue, so diff = window - sent * 100 / 100 = 0.
    for window in [4.0, 4.0, 8.0, 8.0, 16.0] {
        cc.round();
        near(cc.cwnd(), window);
        assert_eq!(cc.phase(), Phase::SlowStart);
    }
}

#[test]
fn slow_start_ends_above_gamma() {
    let mut cc = exact(2.0, f64::INFINITY);
    cc.round().round().round(); // 4, 4, 8
    // The round of constant window has 125 ms: diff = 8 (1 - 100/125) = 1.6 > 1 at the first ACK of the next round.
    cc.rtt(125).round();
    near(cc.cwnd(), 8.0);
    cc.advance(125).ack(1);
    near(cc.column("base_rtt"), 0.1);
    near(cc.column("rtt"), 0.125);
    near(cc.column("diff"), 1.6);
    near(cc.cwnd(), 7.0); // an eighth less
    near(cc.ssthresh(), 2.0);
    assert_eq!(cc.phase(), Phase::Avoidance);
    // 8 (1 - 100/110) = 0.727 < 1: the window doubles again.
    let mut cc = exact(2.0, f64::INFINITY);
    cc.round().round().round().rtt(110).round().round();
    near(cc.column("diff"), 8.0 / 11.0);
    near(cc.cwnd(), 16.0);
}

#[test]
fn diff_is_rounded_to_whole_segments_by_default() {
    // As in the test above 8 (1 - 100/125) = 1.6, which rounds to 2 > gamma; 8 (1 - 100/120) = 1.33 rounds to 1.
    for (rtt, diff, cwnd) in [(125, 2.0, 7.0), (120, 1.0, 9.0)] {
        let mut cc = CcFixture::new("vegas", &[], 2.0, f64::INFINITY);
        cc.round().round().round().rtt(rtt).round().advance(rtt).ack(1);
        near(cc.column("diff"), diff);
        near(cc.cwnd(), cwnd);
    }
}

#[test]
fn between_alpha_and_beta_the_window_is_constant() {
    let mut cc = ten();
    cc.rtt(125).round(); // the window grew in this round, because the one before had no queue
    let grown = cc.cwnd();
    cc.round();
    // (10 or 11) (1 - 100/125) = 2 or 2.2
    near(cc.column("rtt"), 0.125);
    assert!((1.999..2.3).contains(&cc.column("diff")), "{}", cc.column("diff"));
    cc.round().round();
    near(cc.cwnd(), grown);
}

#[test]
fn below_alpha_the_window_grows_by_one_segment_in_a_round() {
    let mut cc = ten();
    cc.round();
    // Ten ACKs of 1/cwnd each: 10 + 1/10 + 1/10.1 + 1/10.199.. + ..., a little less than 1 together.
    let sum = (0..10).fold(10.0, |w, _| w + 1.0 / w);
    near(cc.cwnd(), sum);
    // A round of one sample of 100 ms and nine of 110: mean 109, 10 (1 - 100/109) = 0.826 < 1: the window grows from
    // the ACK that ends it on. Nine of 113: mean 111.7, diff 1.047: no growth.
    for (rtt, mean, grows) in [(110, 109.0, true), (113, 111.7, false)] {
        let mut cc = exact(10.0, 10.0);
        cc.ack(1).advance(rtt).rtt(rtt);
        for _ in 0..9 {
            cc.ack(1);
        }
        near(cc.cwnd(), 10.0);
        cc.advance(rtt).ack(1);
        near(cc.column("rtt"), mean / 1000.0);
        near(cc.column("diff"), 10.0 * (1.0 - 100.0 / mean));
        near(cc.cwnd(), if grows { 10.1 } else { 10.0 });
    }
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    // Eight segments in flight, as with a receive window of eight: growth ends when cwnd - 8 > 2.
    let mut cc = exact(8.0, 8.0);
    cc.outstanding(8);
    for _ in 0..20 {
        cc.round();
    }
    assert!((10.0..10.2).contains(&cc.cwnd()), "{}", cc.cwnd());
}

#[test]
fn above_beta_the_window_shrinks_by_one_segment_at_once() {
    let mut cc = ten();
    cc.rtt(200).round(); // still grows to almost 11
    let before = cc.cwnd();
    cc.advance(200).ack(1);
    // Ten segments outstanding and sent, 10 (1 - 100/200) = 5 > 3.
    near(cc.column("diff"), 5.0);
    near(cc.cwnd(), before - 1.0);
    // Never below two segments.
    for _ in 0..40 {
        cc.rtt(1000).round();
    }
    assert!(cc.cwnd() >= 2.0 && cc.cwnd() < 4.1, "{}", cc.cwnd());
}

#[test]
fn a_loss_reduces_by_a_quarter_and_a_second_loss_by_half() {
    // A quarter of whole segments: 10 - 2 = 8, 9 - 2, 5 - 1, 4 - 1, 3 gives 2.
    for (window, left) in [(10.0, 8.0), (9.9, 7.0), (5.0, 4.0), (4.0, 3.0), (3.0, 2.0), (2.0, 2.0)] {
        let mut cc = exact(window, window);
        cc.lose();
        near(cc.cwnd(), left);
        assert_eq!(cc.phase(), Phase::Avoidance);
    }
    // Lost a second time: half. 10 / 2 = 5, 9 / 2 = 4.
    for (window, left) in [(10.0, 5.0), (9.0, 4.0), (3.0, 2.0)] {
        let mut cc = exact(window, window);
        cc.lose_again();
        near(cc.cwnd(), left);
    }
}

#[test]
fn a_loss_from_before_the_last_reduction_is_ignored() {
    let mut cc = ten();
    let window = cc.cwnd();
    let cut = cc.lose().now();
    let left = cc.cwnd();
    assert!(left < window);
    cc.advance(50).lose_sent_at(cut);
    near(cc.cwnd(), left);
    cc.advance(1);
    let later = cc.now();
    cc.advance(100).lose_sent_at(later);
    near(cc.cwnd(), left - (left / 4.0).floor());
}

#[test]
fn a_timeout_reduces_as_reno() {
    let mut cc = exact(10.0, 10.0);
    cc.time_out();
    near(cc.cwnd(), 1.0);
    near(cc.ssthresh(), 5.0);
    cc.time_out(); // a repeated timeout of the same segment
    near(cc.ssthresh(), 5.0);
    // Slow start every other round: 2, 2, 4, 4, then cwnd reaches 5 within the round, and the growth ends.
    for window in [2.0, 2.0, 4.0, 4.0, 5.0] {
        cc.advance(1000).round();
        near(cc.cwnd(), window);
    }
    // A segment sent before the timeout causes no reduction after it.
    let mut cc = ten();
    let before = cc.now();
    cc.advance(1000).time_out();
    for _ in 0..9 {
        cc.round();
    }
    let window = cc.cwnd();
    cc.lose_sent_at(before);
    near(cc.cwnd(), window);
}

#[test]
fn alpha_is_at_most_beta() {
    let start = Setup::new(1000.0, 2000.0, 1e9);
    let refused = dumbbell_cc::build("vegas", &given(&[("alpha", "4")]), &start).unwrap_err();
    assert_eq!(refused.to_string(), "alpha: 4 given, at most beta, which is 3, is needed");
}

/// Vegas by `linux.rs`, with ten segments in avoidance.
fn linux() -> CcFixture {
    CcFixture::new("vegas", &[("rules", "linux"), ("alpha", "2"), ("beta", "4")], 10.0, 10.0)
}

#[test]
fn linux_compares_in_whole_segments() {
    // base 100 ms, ten segments: diff = 10 (rtt - 100) / 100. 119: 1.9 is 1 < 2; 121: 2; 149: 4.9 is 4; 151: 5 > 4.
    for (rtt, window) in [(119, 11.0), (121, 10.0), (149, 10.0), (151, 9.0)] {
        let mut cc = linux();
        // The first ACK begins a round of ten; the one beyond them ends it. The samples before a round are not used.
        cc.ack(1).rtt(rtt);
        for _ in 0..9 {
            cc.ack(1);
        }
        near(cc.cwnd(), 10.0);
        near(cc.ack(1).cwnd(), window);
        near(cc.column("base_rtt"), 0.1);
        near(cc.column("rtt"), rtt as f64 / 1000.0);
    }
}

#[test]
fn linux_without_samples_is_reno() {
    // A round of one ACK has too few samples: the window grows by a tenth of a segment at any delay.
    let mut cc = linux();
    cc.ack(10).rtt(200);
    near(cc.cwnd(), 10.0);
    near(cc.ack(10).cwnd(), 10.1);
}

#[test]
fn linux_leaves_slow_start_above_gamma() {
    // Eight segments, 150 ms: diff 4 > 1; 8 * 100 / 150 = 5.3, rounded down 5, plus one: 6. ssthresh is 6, too.
    let mut cc = CcFixture::new("vegas", &[("rules", "linux")], 7.0, f64::INFINITY);
    cc.ack(1).rtt(150);
    near(cc.cwnd(), 8.0);
    for _ in 0..6 {
        cc.ack_unused(1);
    }
    let cwnd = cc.cwnd();
    cc.ack_unused(1);
    near(cc.cwnd(), (cwnd / 1.5).floor() + 1.0);
    near(cc.ssthresh(), cc.cwnd());
    assert_eq!(cc.phase(), Phase::Avoidance);
}

#[test]
fn linux_resets_base_rtt_when_nothing_is_in_flight() {
    let mut cc = linux();
    cc.ack(1);
    near(cc.column("base_rtt"), 0.1);
    // base_rtt is reset. The next ACK ends a round of one sample: as Reno, a tenth of a segment.
    cc.start(0).rtt(200);
    near(cc.ack(10).cwnd(), 10.1);
    near(cc.column("base_rtt"), 0.2);
    // The published algorithm keeps base_rtt.
    let mut cc = CcFixture::new("vegas", &[("rules", "published")], 10.0, 10.0);
    cc.ack(1).start(0).rtt(200).ack(1);
    near(cc.column("base_rtt"), 0.1);
}
