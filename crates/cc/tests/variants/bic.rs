//! BIC against numbers worked by hand [Xu, Harfoush and Rhee 2004; Linux tcp_bic.c bictcp_update,
//! bictcp_recalc_ssthresh].

use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// After a loss at this window and its recovery. b = 2, s_max 32, s_min 0.01, beta 0.875.
fn after_loss(window: f64) -> CcFixture {
    let mut cc = CcFixture::new("bic", &[], window, window);
    cc.lose().recover();
    near(cc.cwnd(), 0.875 * window);
    near(cc.column("w_max"), window);
    cc
}

/// Returns the growth by the next ACK of one segment, times the window.
fn increase(cc: &mut CcFixture) -> f64 {
    let before = cc.cwnd();
    (cc.ack(1).cwnd() - before) * before
}

#[test]
fn far_below_w_max_it_is_linear() {
    // Loss at 800: cwnd 700, (800 - 700) / 2 = 50 > 32.
    near(increase(&mut after_loss(800.0)), 32.0);
    // s_max = 64: 50.
    let mut cc = CcFixture::new("bic", &[("s_max", "64")], 800.0, 800.0);
    cc.lose().recover();
    near(increase(&mut cc), 50.0);
}

#[test]
fn near_w_max_it_halves_the_distance() {
    // Loss at 200: cwnd 175, 25 / 2 = 12.5; with b = 4 a quarter, 6.25.
    let mut cc = after_loss(200.0);
    near(increase(&mut cc), 12.5);
    let cwnd = cc.cwnd();
    near(increase(&mut cc), (200.0 - cwnd) / 2.0);
    let mut cc = CcFixture::new("bic", &[("b", "4")], 200.0, 200.0);
    near(increase(cc.lose().recover()), 6.25);
}

#[test]
fn around_w_max_it_grows_slowly_and_then_probes() {
    // Loss at 30: cwnd 26.25. Within 0.02 of 30 half of the distance is less than 0.01. Above 30 it is the distance
    // plus 0.01; at 70 it would be 40.01.
    let mut cc = after_loss(30.0);
    let mut at = |window: f64| {
        while cc.cwnd() < window {
            cc.ack(1);
        }
        (cc.cwnd(), increase(&mut cc))
    };
    near(at(29.985).1, 0.01);
    let (cwnd, inc) = at(31.0);
    near(inc, cwnd - 30.0 + 0.01);
    near(at(70.0).1, 32.0);
}

#[test]
fn small_windows_follow_reno() {
    let mut cc = CcFixture::new("bic", &[], 10.0, 10.0);
    near(increase(&mut cc), 1.0);
    near(cc.lose().cwnd(), 10.1 / 2.0);
    near(increase(cc.recover()), 1.0);
}

#[test]
fn before_the_first_loss_the_increase_is_s_max() {
    // At most one segment for each acknowledged.
    near(increase(&mut CcFixture::new("bic", &[], 20.0, 20.0)), 20.0);
    near(increase(&mut CcFixture::new("bic", &[], 100.0, 100.0)), 32.0);
    near(increase(&mut CcFixture::new("bic", &[], 1000.0, 1000.0)), 32.0);
}

#[test]
fn fast_convergence_lowers_w_max() {
    // 400 -> 350; a second loss there, below w_max: 350 * 1.875 / 2 = 328.125, cwnd 306.25.
    let mut cc = after_loss(400.0);
    cc.lose();
    near(cc.column("w_max"), 328.125);
    near(cc.cwnd(), 306.25);
    let mut cc = CcFixture::new("bic", &[("fast_convergence", "false")], 400.0, 400.0);
    cc.lose().recover().lose();
    near(cc.column("w_max"), 350.0);
}

#[test]
fn a_timeout_has_the_ssthresh_of_a_loss() {
    // 350 after the loss at 400: ssthresh 0.875 of it; below the last w_max, so 350 * 1.875 / 2. By the rules
    // of Linux w_max is reset [Linux tcp_bic.c bictcp_state].
    let mut cc = after_loss(400.0);
    cc.time_out();
    near(cc.cwnd(), 1.0);
    near(cc.ssthresh(), 306.25);
    near(cc.column("w_max"), 328.125);
    cc.time_out(); // a repeated timeout of the same segment
    near(cc.ssthresh(), 306.25);
    assert!(linux(400.0).lose().recover().time_out().column("w_max").is_nan());
}

/// BIC by `linux.rs`, with the constants of Linux and beta 0.8.
fn linux(window: f64) -> CcFixture {
    let params = [("rules", "linux"), ("beta", "0.8"), ("b", "4"), ("s_max", "16"), ("s_min", "0.2")];
    CcFixture::new("bic", &params, window, window)
}

#[test]
fn linux_has_a_whole_cnt() {
    // After the first ACK the mean number of segments per ACK is 2 - 1/16 = 1.9375. No w_max: (30 - 0) / 3 = 10
    // segments: 3 ACKed segments for one, / 1.9375 is 1.5, rounded down 1: 30 per window of ACKs.
    near(increase(&mut linux(30.0)), 30.0);
    // 100: 100 / 16 = 6.25, 6; / 1.9375 = 3.1, 3.
    near(increase(&mut linux(100.0)), 100.0 / 3.0);
    // 400: a twentieth, 20: 400 / 20 = 20, / 1.9375 = 10.3, 10.
    near(increase(&mut linux(400.0)), 40.0);
    // An ACK of ten: 2 + 8/16 = 2.5; 6 / 2.5 = 2.4, 2.
    let mut cc = linux(100.0);
    near((cc.ack(10).cwnd() - 100.0) * 100.0, 50.0);
}

#[test]
fn linux_has_whole_increases() {
    // Loss at 400: cwnd 320, 80 / 4 = 20 > 16: 320 / 16 = 20, / 1.9375 = 10.3, 10.
    near(increase(linux(400.0).lose().recover()), 32.0);
    // At 200: 160, 10: 16, / 1.9375 = 8.3, 8.
    near(increase(linux(200.0).lose().recover()), 20.0);
    // At 30: 24, 6 / 4 = 1 in whole segments, so s_min: 24 / 0.2 = 120, / 1.9375 = 61.9, 61.
    near(increase(linux(30.0).lose().recover()), 24.0 / 61.0);
}
