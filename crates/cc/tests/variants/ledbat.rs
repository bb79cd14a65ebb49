//! LEDBAT against numbers worked by hand [RFC 6817].

use dumbbell_cc::Phase;
use dumbbell_testkit::near;
use dumbbell_testkit::{CcFixture, given};

/// In avoidance with ten segments and a base delay of 100 ms.
fn ten(params: &[(&str, &str)]) -> CcFixture {
    let mut cc = CcFixture::new("ledbat", params, 10.0, f64::INFINITY);
    assert_eq!(cc.phase(), Phase::Avoidance);
    cc.ack(1);
    near(cc.cwnd(), 10.1); // no queueing delay: as Reno
    cc
}

/// Four samples of that RTT: the current delay is the minimum of the last four.
fn delay(cc: &mut CcFixture, rtt: u64) {
    cc.rtt(rtt).ack_unused(0).ack_unused(0).ack_unused(0).ack_unused(0);
}

#[test]
fn the_delay_decides() {
    // Half of the target: half of Reno's increase; the target: none; twice the target: a decrease.
    for (rtt, step) in [(100, 1.0), (150, 0.5), (200, 0.0), (300, -1.0), (400, -2.0)] {
        let mut cc = ten(&[]);
        delay(&mut cc, rtt);
        cc.ack(1);
        near(cc.column("queueing_delay"), (rtt as f64 - 100.0) / 1000.0);
        near(cc.cwnd(), 10.1 + step / 10.1);
    }
    // gain and target: 0.25 * (1 - 20/40).
    let mut cc = ten(&[("gain", "1"), ("target", "40 ms")]);
    delay(&mut cc, 120);
    near(cc.ack(1).cwnd(), 10.1 + 0.5 / 10.1);
}

#[test]
fn a_single_delayed_sample_is_filtered() {
    let mut cc = ten(&[]);
    cc.rtt(300).ack(1);
    near(cc.column("queueing_delay"), 0.0);
    near(cc.cwnd(), 10.1 + 1.0 / 10.1);
}

#[test]
fn the_window_is_limited_by_the_data_in_flight() {
    // Four segments in flight before the ACK: at most five.
    let mut cc = ten(&[]);
    cc.ack(9).outstanding(4).ack_unused(1);
    near(cc.cwnd(), 5.0);
    near(CcFixture::new("ledbat", &[("allowed_increase", "3")], 10.0, 10.0).outstanding(4).ack_unused(1).cwnd(), 7.0);
    // At least two.
    let mut cc = ten(&[]);
    for _ in 0..100 {
        cc.rtt(2000).ack(1);
    }
    near(cc.cwnd(), 2.0);
}

#[test]
fn a_delayed_burst_does_not_limit_a_used_window() {
    // A window of 10.5 segments with eight in flight: the stack waits for a longer burst, so the window is in use. At
    // most eleven.
    let mut cc = ten(&[]);
    cc.ack(5).outstanding(8).ack(1);
    let before = cc.cwnd();
    cc.ack(1);
    near(cc.cwnd(), before + 1.0 / before);
}

#[test]
fn the_one_way_delay_is_preferred() {
    // 30 ms of queue on the forward path, 500 ms on the return path; the clocks are 10 s apart.
    for (delay, queue) in [("one-way", 0.03), ("round-trip", 0.53)] {
        let mut cc = CcFixture::new("ledbat", &[("delay", delay)], 10.0, 10.0);
        cc.one_way(-10_000).ack(1);
        cc.rtt(630).one_way(-9970);
        cc.ack(1).ack(1).ack(1).ack(1);
        near(cc.column("queueing_delay"), queue);
    }
}

#[test]
fn the_base_delay_expires_after_base_history() {
    let mut cc = CcFixture::new("ledbat", &[("base_history", "2")], 10.0, 10.0);
    cc.ack(1); // at 1 s: the first minute
    cc.rtt(150).advance(60_000);
    delay(&mut cc, 150);
    near(cc.column("base_delay"), 0.1);
    // In the third minute the first has expired.
    cc.advance(60_000);
    delay(&mut cc, 150);
    near(cc.column("base_delay"), 0.15);
    near(cc.column("queueing_delay"), 0.0);
}

#[test]
fn losses_halve_and_timeouts_cause_slow_start() {
    let mut cc = ten(&[]);
    near(cc.lose().cwnd(), 5.05);
    assert_eq!(cc.phase(), Phase::Avoidance);
    cc.recover().time_out();
    near(cc.cwnd(), 1.0);
    cc.ack(1);
    near(cc.cwnd(), 2.0);
    // With slow start the first delay above the target ends it.
    let mut cc = CcFixture::new("ledbat", &[("slow_start", "true")], 10.0, f64::INFINITY);
    near(cc.ack(1).cwnd(), 11.0);
    delay(&mut cc, 201);
    cc.ack(1);
    assert_eq!(cc.phase(), Phase::Avoidance);
}

#[test]
fn the_target_is_at_most_100_ms() {
    let start = dumbbell_cc::Setup::new(1000.0, 2000.0, 1e9);
    let refuse = |target| dumbbell_cc::build("ledbat", &given(&[("target", target)]), &start).unwrap_err();
    assert!(refuse("101 ms").to_string().starts_with("target: 101 ms given"), "{}", refuse("101 ms"));
    refuse("0 s");
}
