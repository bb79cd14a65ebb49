use dumbbell_cc::Phase;
use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// In congestion avoidance with ten segments: base RTT 100 ms, smoothed RTT 100 + (900 - 100) / 8 = 200 ms, where it
/// stays with samples of 200 ms.
fn queued(params: &[(&str, &str)]) -> CcFixture {
    let mut law = CcFixture::new("veno", params, 10.0, 10.0);
    law.ack_unused(1).rtt(900).ack_unused(1).rtt(200);
    near(law.column("base_rtt"), 0.1);
    near(law.column("n"), 5.0); // 10 (1 - 100/200)
    law
}

#[test]
fn without_a_queue_it_is_reno() {
    let mut law = CcFixture::new("veno", &[], 2.0, f64::INFINITY);
    law.round().round();
    near(law.cwnd(), 8.0);
    let mut law = CcFixture::new("veno", &[], 10.0, 10.0);
    law.ack(1);
    near(law.column("n"), 0.0);
    near(law.cwnd(), 10.1);
    law.ack(1);
    near(law.cwnd(), 10.1 + 1.0 / 10.1);
}

#[test]
fn with_a_queue_every_other_ack_grows() {
    let mut law = queued(&[]);
    law.ack(1);
    near(law.cwnd(), 10.0);
    law.ack(1);
    near(law.cwnd(), 10.1);
    near(law.ack(1).cwnd(), 10.1);
    near(law.ack(1).cwnd(), 10.1 + 1.0 / 10.1);
    // With beta = 6 five segments aren't a queue.
    let mut law = queued(&[("beta", "6")]);
    near(law.ack(1).cwnd(), 10.1);
    near(law.ack(1).cwnd(), 10.1 + 1.0 / 10.1);
}

#[test]
fn slow_start_does_not_mind_the_queue() {
    let mut law = CcFixture::new("veno", &[], 10.0, 20.0);
    law.ack_unused(1).rtt(900).ack_unused(1).rtt(200);
    near(law.ack(1).cwnd(), 11.0);
    near(law.ack(1).cwnd(), 12.0);
}

#[test]
fn a_loss_without_a_queue_is_random() {
    // n = 0: 10 * 4/5.
    let mut law = CcFixture::new("veno", &[], 10.0, 10.0);
    law.ack_unused(1).lose();
    near(law.cwnd(), 8.0);
    near(law.ssthresh(), 8.0);
    assert_eq!(law.phase(), Phase::Avoidance);
    // n = 5: half; of marks the same.
    let mut law = queued(&[]);
    near(law.lose().cwnd(), 5.0);
    let mut law = queued(&[]);
    near(law.echo_mark().cwnd(), 5.0);
    // Nothing known: half.
    let mut law = CcFixture::new("veno", &[], 10.0, 10.0);
    near(law.lose().cwnd(), 5.0);
    // Never below two segments.
    let mut law = CcFixture::new("veno", &[], 2.0, 2.0);
    near(law.ack_unused(1).lose().cwnd(), 2.0);
}

#[test]
fn timeouts_halve_in_any_case() {
    let mut law = CcFixture::new("veno", &[], 10.0, 10.0);
    law.ack_unused(1).time_out();
    near(law.cwnd(), 1.0);
    near(law.ssthresh(), 5.0);
    law.time_out(); // the same segment again
    near(law.ssthresh(), 5.0);
    assert_eq!(law.phase(), Phase::SlowStart);
}

#[test]
fn a_loss_makes_it_forget_the_base_rtt_unless_told() {
    // Afterwards 200 ms is the smallest: n = 0, so the next loss would be random.
    let mut law = queued(&[]);
    law.lose();
    assert!(law.column("base_rtt").is_nan());
    law.recover().ack(1);
    near(law.column("base_rtt"), 0.2);
    near(law.column("n"), 0.0);
    // Kept: 5 (1 - 100/200) = 2.5.
    let mut law = queued(&[("reset_base_rtt", "false")]);
    law.lose().recover().ack_unused(1);
    near(law.column("base_rtt"), 0.1);
    near(law.column("n"), 2.5);
}

#[test]
fn linux_keeps_the_base_and_trusts_the_latest_sample() {
    // 20 segments, base 100 ms, then one sample of 120 ms: n = 20 (1 - 100/120) = 3.3; the smoothed rtt, 102.5 ms, gives
    // 0.5 only.
    for (rtt, n) in [("latest", 20.0 / 6.0), ("smoothed", 20.0 * (1.0 - 100.0 / 102.5))] {
        let mut law = CcFixture::new("veno", &[("rtt", rtt)], 20.0, 20.0);
        law.ack_unused(1).rtt(120).ack_unused(1);
        near(law.column("n"), n);
    }
    let mut law = CcFixture::new("veno", &[("reset_base_rtt", "false")], 20.0, 20.0);
    near(law.ack(1).lose().column("base_rtt"), 0.1);
    // Without a queue a timeout's ssthresh is 4/5 too.
    for (random, left) in [("true", 0.8), ("false", 0.5)] {
        let mut law = CcFixture::new("veno", &[("random_timeouts", random)], 20.0, 20.0);
        near(law.ack_unused(1).time_out().ssthresh(), left * 20.0);
    }
}
