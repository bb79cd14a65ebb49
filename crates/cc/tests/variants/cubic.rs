//! CUBIC against numbers worked by hand [RFC 9438; Linux tcp_cubic.c bictcp_update].

use dumbbell_cc::{Phase, Setup};
use dumbbell_testkit::near;
use dumbbell_testkit::{CcFixture, given};

/// In congestion avoidance with this window, without the Reno-friendly region.
fn pure(window: f64) -> CcFixture {
    CcFixture::new("cubic", &[("reno_friendly", "false")], window, window)
}

/// After a loss at 36 segments: W_max = 36, cwnd = 0.7 * 36 = 25.2, K = cbrt(0.3 * 36 / 0.4) = cbrt(27) = 3, so
/// W(t) = 0.4 (t - 3)^3 + 36. The epoch has begun.
fn after_loss() -> CcFixture {
    let mut cc = pure(36.0);
    cc.rtt(100).lose().recover();
    near(cc.cwnd(), 25.2);
    near(cc.ssthresh(), 25.2);
    cc.ack_unused(1).ack(0).ack(1);
    near(cc.column("w_max"), 36.0);
    near(cc.column("k"), 3.0);
    cc
}

#[test]
fn the_window_is_on_the_curve_a_round_trip_ahead() {
    // An ACK of a whole window at t takes cwnd to W(t + 0.1 s):
    //   W(1) = 36 - 0.4 * 8 = 32.8   W(2) = 36 - 0.4 = 35.6   W(3) = 36   W(4) = 36.4   W(5) = 36 + 3.2 = 39.2
    //   W(6) = 36 + 0.4 * 27 = 46.8
    let mut cc = after_loss();
    cc.advance(900);
    for window in [32.8, 35.6, 36.0, 36.4, 39.2, 46.8] {
        cc.ack(60);
        near(cc.cwnd(), window);
        cc.advance(1000);
    }
}

#[test]
fn a_segment_adds_its_share_of_the_distance() {
    // t = 0.9: target W(1) = 32.8, one segment of cwnd: cwnd + (32.8 - cwnd) / cwnd; an ACK of two twice that.
    let mut cc = after_loss();
    let cwnd = cc.advance(900).cwnd();
    cc.ack(1);
    near(cc.cwnd(), cwnd + (32.8 - cwnd) / cwnd);
    let cwnd = cc.cwnd();
    cc.ack(2);
    near(cc.cwnd(), cwnd + 2.0 * (32.8 - cwnd) / cwnd);
}

#[test]
fn the_target_is_at_most_half_above_cwnd() {
    // t = 20: W is far above; a whole window of ACKs increases cwnd to 1.5 times its value, not more.
    let mut cc = after_loss();
    let cwnd = cc.advance(20_000).cwnd();
    cc.ack(100);
    near(cc.cwnd(), 1.5 * cwnd);
    // It is not below cwnd: directly after the loss W(0.1) = 36 - 0.4 * 2.9^3 = 26.2444; with an RTT sample of 100 ms
    // the window only grows.
    let mut cc = pure(36.0);
    cc.lose().recover().ack(60);
    near(cc.cwnd(), 26.2444);
}

#[test]
fn in_the_reno_friendly_region_cwnd_is_w_est() {
    // Loss at 4: W_max = 4, cwnd 2.8, K = cbrt(1.2 / 0.4) = 1.44. alpha = 3 * 0.3 / 1.7 = 9/17 until W_est is back
    // at 4.
    let mut cc = CcFixture::new("cubic", &[], 4.0, 4.0);
    cc.rtt(10).lose().recover();
    let mut w_est = 2.8;
    let alpha = 9.0 / 17.0;
    while w_est < 4.0 {
        // W(0) = 2.8 < W_est from the first ACK on: cwnd = W_est.
        w_est += alpha / w_est;
        cc.ack(1);
        near(cc.column("w_est"), w_est);
        near(cc.cwnd(), w_est);
    }
    cc.ack(1);
    near(cc.cwnd(), w_est + 1.0 / w_est);
    // The first of these by hand: 2.8 + (9/17) / 2.8 = 2.8 + 0.529412 / 2.8 = 2.989076.
    let mut cc = CcFixture::new("cubic", &[], 4.0, 4.0);
    cc.rtt(10).lose().recover().ack(1);
    assert!((cc.cwnd() - 2.989_076).abs() < 1e-6);
}

#[test]
fn fast_convergence_lowers_w_max() {
    // A second loss at 25.2 < 36: W_max = 25.2 * 1.7 / 2 = 21.42, cwnd = 17.64, K = cbrt(3.78 / 0.4) = cbrt(9.45).
    let mut cc = pure(36.0);
    cc.lose().recover().lose().recover().ack(1);
    near(cc.column("w_max"), 21.42);
    near(cc.column("k"), 9.45f64.cbrt());
    near(cc.ssthresh(), 17.64);
    // Without it W_max = 25.2.
    let params = [("fast_convergence", "false"), ("reno_friendly", "false")];
    let mut cc = CcFixture::new("cubic", &params, 36.0, 36.0);
    cc.lose().recover().lose().recover().ack(1);
    near(cc.column("w_max"), 25.2);
    // After a loss above W_max, W_max is cwnd.
    let mut cc = after_loss();
    cc.advance(5900).ack(60);
    let top = cc.cwnd();
    assert!(top > 36.0);
    cc.lose();
    near(cc.column("w_max"), top);
}

#[test]
fn a_timeout_begins_slow_start_and_then_an_epoch_with_k_zero() {
    let mut cc = pure(36.0);
    cc.time_out();
    near(cc.cwnd(), 1.0);
    near(cc.ssthresh(), 25.2); // beta, not one half
    cc.time_out(); // a repeated timeout of the same segment
    near(cc.ssthresh(), 25.2);
    assert_eq!(cc.phase(), Phase::SlowStart);
    // Slow start: 1 + 25 = 26 >= 25.2.
    for _ in 0..25 {
        cc.ack(1);
    }
    near(cc.cwnd(), 26.0);
    assert_eq!(cc.phase(), Phase::Avoidance);
    // The new epoch begins with K = 0: W(t) = 0.4 t^3 + 26, W(1) = 26.4, W(2) = 29.2.
    cc.ack(1);
    near(cc.column("k"), 0.0);
    near(cc.column("w_max"), 26.0);
    cc.advance(900).ack(60);
    near(cc.cwnd(), 26.4);
    cc.advance(1000).ack(60);
    near(cc.cwnd(), 29.2);
}

#[test]
fn an_epoch_after_slow_start_without_a_loss_has_k_zero() {
    // Starts in avoidance at 20: K = 0, W(t) = 0.4 t^3 + 20; cwnd_prior = 20, so alpha is 1 at once:
    // W_est = 20 + 1/20.
    let mut cc = CcFixture::new("cubic", &[], 20.0, 20.0);
    cc.ack(1);
    near(cc.column("k"), 0.0);
    near(cc.column("w_max"), 20.0);
    near(cc.column("w_est"), 20.05);
    near(cc.cwnd(), 20.05);
}

#[test]
fn application_limited_time_is_excluded() {
    // As on the curve above, but 10 s of t = 0.9 .. 10.9 without use of the window: W(2) = 35.6 is reached at 11.9.
    let mut cc = after_loss();
    cc.advance(900).ack(60);
    near(cc.cwnd(), 32.8);
    cc.advance(10_000).ack_unused(1);
    near(cc.cwnd(), 32.8);
    cc.advance(1000).ack(60);
    near(cc.cwnd(), 35.6);
}

#[test]
fn a_mark_reduces_as_a_loss_and_may_leave_less_than_two_segments() {
    // A mark as a loss: 36 -> 25.2. At 2: ssthresh at least 2, cwnd 1.4 after a mark [RFC 9438 §4.6], 2 after a loss.
    let mut cc = pure(36.0);
    cc.echo_mark();
    near(cc.cwnd(), 25.2);
    let mut cc = pure(2.0);
    cc.echo_mark();
    near(cc.cwnd(), 1.4);
    near(cc.ssthresh(), 2.0);
    let mut cc = pure(2.0);
    cc.lose();
    near(cc.cwnd(), 2.0);
    // After another loss the epoch would begin above W_max = 2 * 0.85: it begins with K = 0.
    cc.lose().recover().ack(1);
    near(cc.column("k"), 0.0);
    assert!(cc.cwnd() >= 2.0);
    // The window doesn't grow in recovery.
    let mut cc = pure(36.0);
    cc.lose().ack_in_recovery(5);
    near(cc.cwnd(), 25.2);
}

#[test]
fn an_unknown_parameter_is_refused_with_the_nearest_name() {
    let start = Setup::new(1000.0, 2000.0, 1e9);
    let refused = dumbbell_cc::build("cubic", &given(&[("bta", "0.5")]), &start).unwrap_err();
    assert_eq!(refused.to_string(), "bta: unknown parameter 'bta': did you mean 'beta'?");
}

/// CUBIC by `linux.rs`, with beta 0.7.
fn linux(window: f64, ssthresh: f64) -> CcFixture {
    CcFixture::new("cubic", &[("rules", "linux")], window, ssthresh)
}

#[test]
fn linux_has_a_whole_cnt() {
    // Before a loss w_max is 0: the epoch begins with K = 0, and cnt is at most 20.
    near(linux(100.0, 100.0).ack(1).cwnd(), 100.05);
    // 100 lost: 70, K = cbrt(30 / 0.4). At t = 0 and an RTT of 0.1 s the curve is 0.4 (K - 0.1)^3 = 0.4 * 4.11716^3 =
    // 27.9 below 100, in whole segments 27: 73, 70 / (73 - 70) = 23.3, 23 ACKs for a segment.
    let mut cc = linux(100.0, 100.0);
    cc.lose().recover();
    near(cc.cwnd(), 70.0);
    near(cc.ack(1).cwnd(), 70.0 + 1.0 / 23.0);
    // At 2 s: 0.4 * 2.11716^3 = 3.8 below, 3: 70 / 27 = 2.6, 2.
    let cwnd = cc.cwnd();
    near(cc.advance(2000).ack(1).cwnd(), cwnd + 0.5);
}

#[test]
fn linux_keeps_the_curve_through_an_idle_time() {
    // 100 lost: K = cbrt(30 / 0.4) = cbrt(75). CA_EVENT_CWND_RESTART changes nothing, so the epoch goes
    // on [Linux tcp_cubic.c cubictcp_cwnd_event].
    let mut cc = linux(100.0, 100.0);
    cc.lose().recover().ack(1);
    near(cc.column("k"), 75f64.cbrt());
    cc.idle(3000).start(3000);
    near(cc.column("k"), 75f64.cbrt());
    cc.ack(1);
    near(cc.column("k"), 75f64.cbrt());
}
