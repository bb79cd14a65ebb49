//! Veno against numbers worked by hand [Fu and Liew 2003; Linux tcp_veno.c tcp_veno_cong_avoid].

use dumbbell_cc::Phase;
use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// In congestion avoidance with ten segments: base RTT 100 ms, smoothed RTT 100 + (900 - 100) / 8 = 200 ms, which it
/// remains with samples of 200 ms.
fn queued(params: &[(&str, &str)]) -> CcFixture {
    let mut cc = CcFixture::new("veno", params, 10.0, 10.0);
    cc.ack_unused(1).rtt(900).ack_unused(1).rtt(200);
    near(cc.column("base_rtt"), 0.1);
    near(cc.column("n"), 5.0); // 10 (1 - 100/200)
    cc
}

#[test]
fn without_a_queue_it_is_reno() {
    let mut cc = CcFixture::new("veno", &[], 2.0, f64::INFINITY);
    cc.round().round();
    near(cc.cwnd(), 8.0);
    let mut cc = CcFixture::new("veno", &[], 10.0, 10.0);
    cc.ack(1);
    near(cc.column("n"), 0.0);
    near(cc.cwnd(), 10.1);
    cc.ack(1);
    near(cc.cwnd(), 10.1 + 1.0 / 10.1);
}

#[test]
fn with_a_queue_every_other_ack_increases_the_window() {
    let mut cc = queued(&[]);
    cc.ack(1);
    near(cc.cwnd(), 10.0);
    cc.ack(1);
    near(cc.cwnd(), 10.1);
    near(cc.ack(1).cwnd(), 10.1);
    near(cc.ack(1).cwnd(), 10.1 + 1.0 / 10.1);
    // Five segments are below beta = 6.
    let mut cc = queued(&[("beta", "6")]);
    near(cc.ack(1).cwnd(), 10.1);
    near(cc.ack(1).cwnd(), 10.1 + 1.0 / 10.1);
}

#[test]
fn slow_start_ignores_the_queue() {
    let mut cc = CcFixture::new("veno", &[], 10.0, 20.0);
    cc.ack_unused(1).rtt(900).ack_unused(1).rtt(200);
    near(cc.ack(1).cwnd(), 11.0);
    near(cc.ack(1).cwnd(), 12.0);
}

#[test]
fn a_loss_without_a_queue_is_random() {
    // n = 0: 10 * 4/5.
    let mut cc = CcFixture::new("veno", &[], 10.0, 10.0);
    cc.ack_unused(1).lose();
    near(cc.cwnd(), 8.0);
    near(cc.ssthresh(), 8.0);
    assert_eq!(cc.phase(), Phase::Avoidance);
    // n = 5: half, also after a mark.
    let mut cc = queued(&[]);
    near(cc.lose().cwnd(), 5.0);
    let mut cc = queued(&[]);
    near(cc.echo_mark().cwnd(), 5.0);
    // Without an RTT sample: half.
    let mut cc = CcFixture::new("veno", &[], 10.0, 10.0);
    near(cc.lose().cwnd(), 5.0);
    // Never below two segments.
    let mut cc = CcFixture::new("veno", &[], 2.0, 2.0);
    near(cc.ack_unused(1).lose().cwnd(), 2.0);
}

#[test]
fn timeouts_halve_in_any_case() {
    let mut cc = CcFixture::new("veno", &[], 10.0, 10.0);
    cc.ack_unused(1).time_out();
    near(cc.cwnd(), 1.0);
    near(cc.ssthresh(), 5.0);
    cc.time_out(); // a repeated timeout of the same segment
    near(cc.ssthresh(), 5.0);
    assert_eq!(cc.phase(), Phase::SlowStart);
}

#[test]
fn a_loss_resets_base_rtt_by_default() {
    // Afterwards 200 ms is the smallest: n = 0, so the next loss would be random.
    let mut cc = queued(&[]);
    cc.lose();
    assert!(cc.column("base_rtt").is_nan());
    cc.recover().ack(1);
    near(cc.column("base_rtt"), 0.2);
    near(cc.column("n"), 0.0);
    // With base_rtt kept: 5 (1 - 100/200) = 2.5.
    let mut cc = queued(&[("reset_base_rtt", "false")]);
    cc.lose().recover().ack_unused(1);
    near(cc.column("base_rtt"), 0.1);
    near(cc.column("n"), 2.5);
}

#[test]
fn linux_keeps_base_rtt_and_uses_the_minimum_of_the_latest_samples() {
    // 20 segments, base 100 ms, then one sample of 120 ms: n = 20 (1 - 100/120) = 3.3; the smoothed RTT, 102.5 ms,
    // would result in 0.5.
    for (rtt, n) in [("latest", 20.0 / 6.0), ("smoothed", 20.0 * (1.0 - 100.0 / 102.5))] {
        let mut cc = CcFixture::new("veno", &[("rtt", rtt)], 20.0, 20.0);
        cc.ack_unused(1).rtt(120).ack_unused(1);
        near(cc.column("n"), n);
    }
    let mut cc = CcFixture::new("veno", &[("reset_base_rtt", "false")], 20.0, 20.0);
    near(cc.ack(1).lose().column("base_rtt"), 0.1);
    // Without a queue ssthresh after a timeout is 4/5 of the window, too.
    for (random, left) in [("true", 0.8), ("false", 0.5)] {
        let mut cc = CcFixture::new("veno", &[("random_timeouts", random)], 20.0, 20.0);
        near(cc.ack_unused(1).time_out().ssthresh(), left * 20.0);
    }
}
