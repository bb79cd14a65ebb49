use dumbbell_cc::Phase;
use dumbbell_testkit::near;
use dumbbell_testkit::{CcFixture, given};

/// In avoidance with ten segments and a base delay of 100 ms.
fn ten(params: &[(&str, &str)]) -> CcFixture {
    let mut law = CcFixture::new("ledbat", params, 10.0, f64::INFINITY);
    assert_eq!(law.phase(), Phase::Avoidance);
    law.ack(1);
    near(law.cwnd(), 10.1); // no delay: as Reno
    law
}

/// Four samples of that RTT: only then the smallest of the last four shows it.
fn delay(law: &mut CcFixture, rtt: u64) {
    law.rtt(rtt).ack_unused(0).ack_unused(0).ack_unused(0).ack_unused(0);
}

#[test]
fn the_delay_decides() {
    // Half of the target: half of Reno's step; all of it: none; twice: a step back.
    for (rtt, step) in [(100, 1.0), (150, 0.5), (200, 0.0), (300, -1.0), (400, -2.0)] {
        let mut law = ten(&[]);
        delay(&mut law, rtt);
        law.ack(1);
        near(law.column("queueing_delay"), (rtt as f64 - 100.0) / 1000.0);
        near(law.cwnd(), 10.1 + step / 10.1);
    }
    // gain and target: 0.25 * (1 - 20/40).
    let mut law = ten(&[("gain", "1"), ("target", "40 ms")]);
    delay(&mut law, 120);
    near(law.ack(1).cwnd(), 10.1 + 0.5 / 10.1);
}

#[test]
fn a_single_delayed_sample_is_filtered() {
    let mut law = ten(&[]);
    law.rtt(300).ack(1);
    near(law.column("queueing_delay"), 0.0);
    near(law.cwnd(), 10.1 + 1.0 / 10.1);
}

#[test]
fn the_window_is_bounded_by_what_is_outstanding() {
    // Four outstanding before the ACK: five at most.
    let mut law = ten(&[]);
    law.ack(9).outstanding(4).ack_unused(1);
    near(law.cwnd(), 5.0);
    near(
        CcFixture::new("ledbat", &[("allowed_increase", "3")], 10.0, 10.0)
            .outstanding(4)
            .ack_unused(1)
            .cwnd(),
        7.0,
    );
    // Two at least.
    let mut law = ten(&[]);
    for _ in 0..100 {
        law.rtt(2000).ack(1);
    }
    near(law.cwnd(), 2.0);
}

#[test]
fn a_window_that_is_used_is_not_bounded_by_a_burst_that_waits() {
    // Ten segments and a half, eight outstanding: a stack that waits for a longer burst uses the window nonetheless. Eleven at most.
    let mut law = ten(&[]);
    law.ack(5).outstanding(8).ack(1);
    let before = law.cwnd();
    law.ack(1);
    near(law.cwnd(), before + 1.0 / before);
}

#[test]
fn the_one_way_delay_is_preferred() {
    // 30 ms of queue on the way there, 500 on the way back; the clocks are 10 s apart.
    for (delay, queue) in [("one-way", 0.03), ("round-trip", 0.53)] {
        let mut law = CcFixture::new("ledbat", &[("delay", delay)], 10.0, 10.0);
        law.one_way(-10_000).ack(1);
        law.rtt(630).one_way(-9970);
        law.ack(1).ack(1).ack(1).ack(1);
        near(law.column("queueing_delay"), queue);
    }
}

#[test]
fn the_base_is_forgotten_after_its_history() {
    let mut law = CcFixture::new("ledbat", &[("base_history", "2")], 10.0, 10.0);
    law.ack(1); // at 1 s: the first minute
    law.rtt(150).advance(60_000);
    delay(&mut law, 150);
    near(law.column("base_delay"), 0.1);
    // In the third minute the first is gone.
    law.advance(60_000);
    delay(&mut law, 150);
    near(law.column("base_delay"), 0.15);
    near(law.column("queueing_delay"), 0.0);
}

#[test]
fn losses_halve_and_timeouts_start_slowly() {
    let mut law = ten(&[]);
    near(law.lose().cwnd(), 5.05);
    assert_eq!(law.phase(), Phase::Avoidance);
    law.recover().time_out();
    near(law.cwnd(), 1.0);
    law.ack(1);
    near(law.cwnd(), 2.0);
    // With slow start the first delay above the target ends it.
    let mut law = CcFixture::new("ledbat", &[("slow_start", "true")], 10.0, f64::INFINITY);
    near(law.ack(1).cwnd(), 11.0);
    delay(&mut law, 201);
    law.ack(1);
    assert_eq!(law.phase(), Phase::Avoidance);
}

#[test]
fn the_target_is_at_most_100_ms() {
    let start = dumbbell_cc::Setup::new(1000.0, 2000.0, 1e9);
    let refuse = |target| dumbbell_cc::build("ledbat", &given(&[("target", target)]), &start).unwrap_err();
    assert!(refuse("101 ms").to_string().starts_with("target: 101 ms given"), "{}", refuse("101 ms"));
    refuse("0 s");
}
