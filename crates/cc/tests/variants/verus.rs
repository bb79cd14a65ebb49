//! Verus against numbers worked by hand [Zaki et al. 2015; the authors' code].

use dumbbell_cc::Phase;
use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// Slow start to a hundred segments at 100 ms, ended by a delay above twice that: 0.7 of the window with which the
/// segment was sent.
fn started(params: &[(&str, &str)]) -> CcFixture {
    let mut all = vec![("exit", "2"), ("r", "4")];
    all.extend(params);
    let mut cc = CcFixture::new("verus", &all, 10.0, f64::INFINITY);
    while cc.cwnd() < 100.0 {
        cc.ack(1);
    }
    assert_eq!(cc.phase(), Phase::SlowStart);
    cc.rtt(201).ack(1);
    assert_eq!(cc.phase(), Phase::Avoidance);
    cc
}

#[test]
fn slow_start_ends_above_a_multiple_of_the_minimum_delay() {
    let mut cc = CcFixture::new("verus", &[], 10.0, f64::INFINITY);
    cc.ack(1).rtt(1500).ack(1); // 15 times the minimum, not above
    assert_eq!(cc.phase(), Phase::SlowStart);
    near(cc.cwnd(), 12.0);
    // The acknowledged segment was sent with a window of ten: the window is seven, and d_est 3/4 * r * 100 ms.
    cc.rtt(1501).ack(1);
    assert_eq!(cc.phase(), Phase::Avoidance);
    near(cc.cwnd(), 7.0);
    near(cc.column("d_est"), 0.15);
    near(cc.column("d_min"), 0.1);
}

#[test]
fn an_epoch_decides_by_its_maximum_delay() {
    // r = 4: 3/4 * 4 * 100 = 300 ms at first.
    let mut cc = started(&[]);
    near(cc.column("d_est"), 0.3);
    // The first epoch has no delay to compare 150 ms with: up 2 ms; d_max = 150 ms.
    cc.rtt(150).advance(4).ack(1).advance(1).ack(1);
    near(cc.column("d_est"), 0.302);
    near(cc.column("d_max"), 0.15);
    // 160 ms are more: down 1 ms; d_max 150 + 0.8 * 10.
    cc.rtt(160).advance(5).ack(1);
    near(cc.column("d_est"), 0.301);
    near(cc.column("d_max"), 0.158);
    // 158 or less: up.
    cc.rtt(158).advance(5).ack(1);
    near(cc.column("d_est"), 0.303);
    // Above r * d_min, as d_max was then: down 2 ms.
    cc.rtt(900).advance(5).ack(1);
    near(cc.column("d_est"), 0.302);
    cc.rtt(100).advance(5).ack(1);
    near(cc.column("d_est"), 0.3);
    // Never below the minimum delay.
    for _ in 0..200 {
        cc.rtt(900).advance(5).ack(1);
    }
    near(cc.column("d_est"), 0.1);
}

#[test]
fn time_without_an_ack_is_a_delay() {
    // No ACK for 600 ms, 120 epochs: d_max reaches 4 times 100 ms and d_est falls again.
    let mut cc = started(&[]);
    cc.rtt(150).advance(5).ack(1);
    let before = cc.column("d_est");
    cc.advance(600).ack(1);
    assert!(cc.column("d_max") > 0.4, "{}", cc.column("d_max"));
    assert!(cc.column("d_est") < before, "{}", cc.column("d_est"));
}

#[test]
fn the_window_comes_from_the_profile() {
    // All delays between 10 and 100 segments are 100 ms, one is 201: at 300 ms the curve is extrapolated in proportion.
    let mut cc = started(&[]);
    cc.rtt(150).advance(5).ack(1);
    near(cc.cwnd(), cc.column("w"));
    assert!(cc.cwnd() > 100.0, "{}", cc.cwnd());
    // Below all of them the window is also proportional to the delay.
    for _ in 0..150 {
        cc.rtt(900).advance(5).ack(1);
    }
    assert!(cc.column("d_est") < 0.11 && cc.cwnd() <= 100.0, "{} {}", cc.column("d_est"), cc.cwnd());
}

#[test]
fn a_loss_reduces_the_window_with_which_the_segment_was_sent() {
    let mut cc = started(&[]);
    cc.rtt(150).advance(5).ack(1);
    let left_with = cc.cwnd();
    // The data in flight were sent with 70 and more; the smaller of that and the window counts.
    cc.lose();
    assert!(cc.cwnd() <= 0.7 * left_with + 1e-9, "{}", cc.cwnd());
    // Reno's growth until a segment is acknowledged that was sent with the current window.
    let before = cc.cwnd();
    cc.ack_in_recovery(1);
    near(cc.cwnd(), before + 1.0 / before);
    let d_est = cc.column("d_est");
    cc.recover().advance(50);
    for _ in 0..300 {
        cc.ack(1);
    }
    cc.advance(5).ack(1);
    assert!((cc.column("d_est") - d_est).abs() > 1e-9, "epochs go on");
    // A timeout resets the profile.
    cc.time_out();
    near(cc.cwnd(), 1.0);
    assert_eq!(cc.phase(), Phase::SlowStart);
    assert!(cc.column("d_min").is_nan());
}

#[test]
fn a_loss_while_recovering_from_a_timeout_ends_slow_start() {
    // Slow start from one segment to 8, before the timeout's losses are repaired: another loss leaves 0.7 of that. The
    // acknowledged segment was sent with 4 or fewer, which limits the result.
    let mut cc = started(&[]);
    cc.time_out();
    for _ in 0..7 {
        cc.ack_in_loss(1, 0);
    }
    near(cc.cwnd(), 8.0);
    assert_eq!(cc.phase(), Phase::SlowStart);
    cc.ack_in_loss(1, 1);
    assert_eq!(cc.phase(), Phase::Avoidance);
    assert!(cc.cwnd() <= 0.7 * 8.0 + 1.0, "{}", cc.cwnd());
}
