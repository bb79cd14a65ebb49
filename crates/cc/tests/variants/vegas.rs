use dumbbell_cc::{Phase, Setup};
use dumbbell_testkit::near;
use dumbbell_testkit::{CcFixture, given};

/// A law that compares diff as it is, so that the numbers can be worked out without rounding.
fn exact(cwnd: f64, ssthresh: f64) -> CcFixture {
    CcFixture::new("vegas", &[("rounded", "false")], cwnd, ssthresh)
}

/// In congestion avoidance with ten segments and a base RTT of 100 ms, one round measured.
fn ten() -> CcFixture {
    let mut law = exact(10.0, 10.0);
    law.round();
    law
}

#[test]
fn slow_start_grows_every_other_round() {
    let mut law = exact(2.0, f64::INFINITY);
    // Doubles, stands, doubles, stands: no queue, so diff = window - sent * 100 / 100 = 0.
    for window in [4.0, 4.0, 8.0, 8.0, 16.0] {
        law.round();
        near(law.cwnd(), window);
        assert_eq!(law.phase(), Phase::SlowStart);
    }
}

#[test]
fn slow_start_ends_above_gamma() {
    let mut law = exact(2.0, f64::INFINITY);
    law.round().round().round(); // 4, 4, 8
    // The standing round brings 125 ms: diff = 8 (1 - 100/125) = 1.6 > 1, known with the first ACK of the next round.
    law.rtt(125).round();
    near(law.cwnd(), 8.0);
    law.advance(125).ack(1);
    near(law.column("base_rtt"), 0.1);
    near(law.column("rtt"), 0.125);
    near(law.column("diff"), 1.6);
    near(law.cwnd(), 7.0); // an eighth less
    near(law.ssthresh(), 2.0);
    assert_eq!(law.phase(), Phase::Avoidance);
    // 8 (1 - 100/110) = 0.727 is not: it doubles again.
    let mut law = exact(2.0, f64::INFINITY);
    law.round().round().round().rtt(110).round().round();
    near(law.column("diff"), 8.0 / 11.0);
    near(law.cwnd(), 16.0);
}

#[test]
fn diff_is_rounded_to_whole_segments_unless_told() {
    // As in the test above 8 (1 - 100/125) = 1.6, which rounds to 2 > gamma; 8 (1 - 100/120) = 1.33 rounds to 1.
    for (rtt, diff, cwnd) in [(125, 2.0, 7.0), (120, 1.0, 9.0)] {
        let mut law = CcFixture::new("vegas", &[], 2.0, f64::INFINITY);
        law.round().round().round().rtt(rtt).round().advance(rtt).ack(1);
        near(law.column("diff"), diff);
        near(law.cwnd(), cwnd);
    }
}

#[test]
fn between_alpha_and_beta_nothing_moves() {
    let mut law = ten();
    law.rtt(125).round(); // this round grew: the one before had no queue
    let grown = law.cwnd();
    law.round();
    // (10 or 11) (1 - 100/125) = 2 or 2.2
    near(law.column("rtt"), 0.125);
    assert!((1.999..2.3).contains(&law.column("diff")), "{}", law.column("diff"));
    law.round().round();
    near(law.cwnd(), grown);
}

#[test]
fn below_alpha_one_more_in_a_round() {
    let mut law = ten();
    law.round();
    // Ten ACKs of 1/cwnd each: 10 + 1/10 + 1/10.1 + 1/10.199.. + ..., a little less than 1 together.
    let sum = (0..10).fold(10.0, |w, _| w + 1.0 / w);
    near(law.cwnd(), sum);
    // A round of one sample of 100 ms and nine of 110: mean 109, 10 (1 - 100/109) = 0.826 < 1 grows with the ACK that
    // ends it; nine of 113: mean 111.7, diff 1.047, does not.
    for (rtt, mean, grows) in [(110, 109.0, true), (113, 111.7, false)] {
        let mut law = exact(10.0, 10.0);
        law.ack(1).advance(rtt).rtt(rtt);
        for _ in 0..9 {
            law.ack(1);
        }
        near(law.cwnd(), 10.0);
        law.advance(rtt).ack(1);
        near(law.column("rtt"), mean / 1000.0);
        near(law.column("diff"), 10.0 * (1.0 - 100.0 / mean));
        near(law.cwnd(), if grows { 10.1 } else { 10.0 });
    }
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    // Eight outstanding, as a receiver's window of eight would have it: growth ends once cwnd - 8 > 2.
    let mut law = exact(8.0, 8.0);
    law.outstanding(8);
    for _ in 0..20 {
        law.round();
    }
    assert!((10.0..10.2).contains(&law.cwnd()), "{}", law.cwnd());
}

#[test]
fn above_beta_one_less_at_once() {
    let mut law = ten();
    law.rtt(200).round(); // grows to almost 11 still
    let before = law.cwnd();
    law.advance(200).ack(1);
    // Ten segments outstanding and sent, 10 (1 - 100/200) = 5 > 3.
    near(law.column("diff"), 5.0);
    near(law.cwnd(), before - 1.0);
    // Never below two segments.
    for _ in 0..40 {
        law.rtt(1000).round();
    }
    assert!(law.cwnd() >= 2.0 && law.cwnd() < 4.1, "{}", law.cwnd());
}

#[test]
fn cuts_after_losses() {
    // A quarter of whole segments: 10 - 2 = 8, 9 - 2, 5 - 1, 4 - 1, 3 gives 2.
    for (window, left) in [(10.0, 8.0), (9.9, 7.0), (5.0, 4.0), (4.0, 3.0), (3.0, 2.0), (2.0, 2.0)] {
        let mut law = exact(window, window);
        law.lose();
        near(law.cwnd(), left);
        assert_eq!(law.phase(), Phase::Avoidance);
    }
    // Lost again: half. 10 / 2 = 5, 9 / 2 = 4.
    for (window, left) in [(10.0, 5.0), (9.0, 4.0), (3.0, 2.0)] {
        let mut law = exact(window, window);
        law.lose_again();
        near(law.cwnd(), left);
    }
}

#[test]
fn a_loss_from_before_the_last_cut_changes_nothing() {
    let mut law = ten();
    let window = law.cwnd();
    let cut = law.lose().now();
    let left = law.cwnd();
    assert!(left < window);
    law.advance(50).lose_sent_at(cut);
    near(law.cwnd(), left);
    law.advance(1);
    let later = law.now();
    law.advance(100).lose_sent_at(later);
    near(law.cwnd(), left - (left / 4.0).floor());
}

#[test]
fn timeouts_as_reno() {
    let mut law = exact(10.0, 10.0);
    law.time_out();
    near(law.cwnd(), 1.0);
    near(law.ssthresh(), 5.0);
    law.time_out(); // the same segment again
    near(law.ssthresh(), 5.0);
    // Slow start every other round: 2, 2, 4, 4, then 5 is reached within the round and the growth ends there.
    for window in [2.0, 2.0, 4.0, 4.0, 5.0] {
        law.advance(1000).round();
        near(law.cwnd(), window);
    }
    // What was sent before the timeout is no reason for a cut after it.
    let mut law = ten();
    let before = law.now();
    law.advance(1000).time_out();
    for _ in 0..9 {
        law.round();
    }
    let window = law.cwnd();
    law.lose_sent_at(before);
    near(law.cwnd(), window);
}

#[test]
fn alpha_is_at_most_beta() {
    let start = Setup::new(1000.0, 2000.0, 1e9);
    let refused = dumbbell_cc::build("vegas", &given(&[("alpha", "4")]), &start).unwrap_err();
    assert_eq!(refused.to_string(), "alpha: 4 given, at most beta, which is 3, is needed");
}

/// By Linux's rules, ten segments in avoidance.
fn linux() -> CcFixture {
    CcFixture::new("vegas", &[("rules", "linux"), ("alpha", "2"), ("beta", "4")], 10.0, 10.0)
}

#[test]
fn linux_compares_in_whole_segments() {
    // base 100 ms, ten segments: diff = 10 (rtt - 100) / 100. 119: 1.9 is 1 < 2; 121: 2; 149: 4.9 is 4; 151: 5 > 4.
    for (rtt, window) in [(119, 11.0), (121, 10.0), (149, 10.0), (151, 9.0)] {
        let mut law = linux();
        // The first ACK begins a round of ten; the one beyond them ends it. The samples before a round don't count.
        law.ack(1).rtt(rtt);
        for _ in 0..9 {
            law.ack(1);
        }
        near(law.cwnd(), 10.0);
        near(law.ack(1).cwnd(), window);
        near(law.column("base_rtt"), 0.1);
        near(law.column("rtt"), rtt as f64 / 1000.0);
    }
}

#[test]
fn linux_without_samples_is_reno() {
    // A round of one ACK is no measure: it adds a tenth of a segment, whatever the delay.
    let mut law = linux();
    law.ack(10).rtt(200);
    near(law.cwnd(), 10.0);
    near(law.ack(10).cwnd(), 10.1);
}

#[test]
fn linux_leaves_slow_start_above_gamma() {
    // Eight segments, 150 ms: diff 4 > 1; 8 * 100 / 150 = 5.3, 5, and one: 6, ssthresh as much.
    let mut law = CcFixture::new("vegas", &[("rules", "linux")], 7.0, f64::INFINITY);
    law.ack(1).rtt(150);
    near(law.cwnd(), 8.0);
    for _ in 0..6 {
        law.ack_unused(1);
    }
    let cwnd = law.cwnd();
    law.ack_unused(1);
    near(law.cwnd(), (cwnd / 1.5).floor() + 1.0);
    near(law.ssthresh(), law.cwnd());
    assert_eq!(law.phase(), Phase::Avoidance);
}

#[test]
fn linux_starts_anew_when_nothing_is_in_flight() {
    let mut law = linux();
    law.ack(1);
    near(law.column("base_rtt"), 0.1);
    // The smallest is forgotten; the next ACK ends a round of one sample, as Reno: a tenth of a segment.
    law.start(0).rtt(200);
    near(law.ack(10).cwnd(), 10.1);
    near(law.column("base_rtt"), 0.2);
    // As the paper has it nothing is forgotten.
    let mut law = CcFixture::new("vegas", &[("rules", "published")], 10.0, 10.0);
    law.ack(1).start(0).rtt(200).ack(1);
    near(law.column("base_rtt"), 0.1);
}
