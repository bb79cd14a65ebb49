//! Reno's growth and reductions [RFC 5681 §3.1], by ACKs of segments of 1000 bytes.

use dumbbell_cc::{LossRecovery, Phase, find};
use dumbbell_testkit::{CcFixture, near};

#[test]
fn slow_start_adds_one_segment_per_ack() {
    let mut reno = CcFixture::new("reno", &[], 2.0, 8.0);
    near(reno.ack(1).cwnd(), 3.0);
    near(reno.ack(2).cwnd(), 4.0); // an ACK of two segments adds one [RFC 5681 §3.1 (2)]
    assert_eq!(reno.phase(), Phase::SlowStart);
}

#[test]
fn avoidance_adds_the_square_of_a_segment_per_window_for_each_ack() {
    // 10 + 1/10 = 10.1, then 10.1 + 1/10.1 = 10.1990099 [RFC 5681 §3.1 (3)].
    let mut reno = CcFixture::new("reno", &[], 10.0, 10.0);
    assert_eq!(reno.phase(), Phase::Avoidance);
    near(reno.ack(1).cwnd(), 10.1);
    near(reno.ack(1).cwnd(), 10.1 + 1.0 / 10.1);
    // With increase = 3 three times as much: 10 + 3/10.
    near(CcFixture::new("reno", &[("increase", "3")], 10.0, 10.0).ack(1).cwnd(), 10.3);
}

#[test]
fn a_loss_halves_the_window_and_leaves_two_segments_at_least() {
    for (window, params, left) in [(20.0, None, 10.0), (3.0, None, 2.0), (20.0, Some(("decrease", "0.75")), 15.0)] {
        let params: Vec<_> = params.into_iter().collect();
        let mut reno = CcFixture::new("reno", &params, window, window);
        reno.lose();
        near(reno.cwnd(), left);
        near(reno.ssthresh(), left);
    }
}

#[test]
fn a_timeout_leaves_one_segment_and_the_next_one_keeps_ssthresh() {
    let mut reno = CcFixture::new("reno", &[], 20.0, 20.0);
    reno.time_out();
    near(reno.cwnd(), 1.0);
    near(reno.ssthresh(), 10.0);
    reno.time_out();
    near(reno.ssthresh(), 10.0); // [RFC 5681 §3.1]: unchanged by a repeated timeout of the same segment
}

#[test]
fn four_names_share_the_algorithm_and_differ_in_loss_recovery() {
    let recoveries = ["tahoe", "reno", "newreno", "sack"].map(|name| find(name).unwrap().loss_recovery);
    let all = [LossRecovery::Tahoe, LossRecovery::Reno, LossRecovery::NewReno, LossRecovery::Sack];
    assert_eq!(recoveries, all.map(Some));
}
