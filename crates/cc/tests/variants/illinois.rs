//! Illinois against numbers worked by hand [Liu, Başar and Srikant 2008; Linux tcp_illinois.c update_params].

use dumbbell_cc::Setup;
use dumbbell_testkit::near;
use dumbbell_testkit::{CcFixture, given};

/// One round trip with this RTT in all of its samples. The ACKs are not cwnd-limited, so the window is constant. The
/// first ACK ends the round before, the second this one.
fn round(cc: &mut CcFixture, rtt: u64) -> &mut CcFixture {
    cc.rtt(rtt).ack_unused(20).ack_unused(20)
}

/// In avoidance at 20 segments, base RTT 100 ms, largest 200 ms: da of dm = 100 ms.
fn known() -> CcFixture {
    let mut cc = CcFixture::new("illinois", &[], 20.0, 20.0);
    cc.outstanding(20);
    round(round(&mut cc, 200), 100);
    near(cc.column("base_rtt"), 0.1);
    near(cc.column("max_rtt"), 0.2);
    cc
}

#[test]
fn without_a_queue_it_grows_by_ten() {
    let mut cc = CcFixture::new("illinois", &[], 20.0, 20.0);
    near(cc.ack(1).cwnd(), 20.5);
    let mut cc = CcFixture::new("illinois", &[], 20.0, 20.0);
    cc.outstanding(20);
    round(round(&mut cc, 100), 100);
    near(cc.column("alpha"), 10.0);
    near(cc.column("beta"), 0.125);
    near(cc.lose().cwnd(), 17.5);
}

#[test]
fn alpha_and_beta_follow_the_delay() {
    // d1 = 1 ms, d2 = 10, d3 = 80. alpha = 10 / (1 + (da - 1) / 99 * 9.7 / 0.3), beta = 1/8 + 3/8 (da - 10) / 70:
    //   da 100  10 / (1 + 32.3333) = 0.3                        1/2
    //      50   10 / (1 + 49/99 * 32.3333) = 10 / 17.003367     1/8 + 3/8 * 40/70 = 0.339286
    //      10   10 / (1 + 9/99 * 32.3333) = 10 / 3.939394       1/8
    for (da, alpha, beta) in [
        (100, 0.3, 0.5),
        (80, 10.0 / (1.0 + 79.0 / 99.0 * 97.0 / 3.0), 0.5),
        (50, 10.0 / (1.0 + 49.0 / 99.0 * 97.0 / 3.0), 0.125 + 0.375 * 4.0 / 7.0),
        (10, 10.0 / (1.0 + 9.0 / 99.0 * 97.0 / 3.0), 0.125),
    ] {
        let mut cc = known();
        round(round(&mut cc, 100 + da), 100 + da);
        near(cc.column("alpha"), alpha);
        near(cc.column("beta"), beta);
        near(cc.lose().cwnd(), 20.0 * (1.0 - beta));
    }
}

#[test]
fn the_delay_is_the_mean_of_the_round() {
    // 150 and 130 ms: da = 40, beta = 1/8 + 3/8 * 30/70.
    let mut cc = CcFixture::new("illinois", &[], 40.0, 40.0);
    cc.outstanding(20);
    round(round(&mut cc, 200), 100).outstanding(40);
    // Forty segments are in flight at the first of these ACKs, and the third ACK covers later ones.
    cc.rtt(150).ack_unused(20).rtt(130).ack_unused(20).ack_unused(1);
    near(cc.column("beta"), 0.125 + 0.375 * 3.0 / 7.0);
}

#[test]
fn alpha_max_returns_after_five_rounds_without_a_queue() {
    let mut cc = known();
    round(round(&mut cc, 200), 200);
    near(cc.column("alpha"), 0.3);
    // The round that ends with the next ACK still had 200 ms.
    cc.rtt(100).ack_unused(20);
    for _ in 0..4 {
        cc.ack_unused(20);
        near(cc.column("alpha"), 0.3);
        near(cc.column("beta"), 0.125);
    }
    cc.ack_unused(20);
    near(cc.column("alpha"), 10.0);
}

#[test]
fn small_windows_follow_reno() {
    // Below ten segments; the stack `linux` has 15 [Linux tcp_illinois.c win_thresh].
    for (threshold, window) in [("10", 9.0), ("15", 14.0)] {
        let mut cc = CcFixture::new("illinois", &[("window_threshold", threshold)], window, window);
        cc.outstanding(9);
        round(round(&mut cc, 100), 100);
        near(cc.column("alpha"), 1.0);
        near(cc.column("beta"), 0.5);
        near(cc.lose().cwnd(), window / 2.0);
    }
    let mut cc = CcFixture::new("illinois", &[], 14.0, 14.0);
    cc.outstanding(9);
    near(round(round(&mut cc, 100), 100).column("alpha"), 10.0);
}

#[test]
fn a_timeout_resets_alpha_and_beta() {
    let mut cc = CcFixture::new("illinois", &[], 20.0, 20.0);
    cc.outstanding(20);
    round(round(&mut cc, 100), 100).time_out();
    near(cc.cwnd(), 1.0);
    near(cc.ssthresh(), 17.5);
    near(cc.column("alpha"), 1.0);
    near(cc.column("beta"), 0.5);
    cc.time_out(); // a repeated timeout of the same segment
    near(cc.ssthresh(), 17.5);
}

#[test]
fn minima_are_at_most_maxima() {
    let start = Setup::new(1000.0, 2000.0, 1e9);
    let refused = dumbbell_cc::build("illinois", &given(&[("alpha_min", "20")]), &start).unwrap_err();
    assert_eq!(refused.to_string(), "alpha_min: 20 given, at most alpha_max, which is 10, is needed");
    let refused = dumbbell_cc::build("illinois", &given(&[("beta_min", "0.6")]), &start).unwrap_err();
    assert_eq!(refused.to_string(), "beta_min: 0.6 given, at most beta_max, which is 0.5, is needed");
}
