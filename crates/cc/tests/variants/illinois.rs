use dumbbell_cc::Setup;
use dumbbell_testkit::near;
use dumbbell_testkit::{CcFixture, given};

/// One round trip with this RTT in all of its samples, known: the window isn't used, so it stays as it is. The first
/// ACK ends the round before, the second this one.
fn round(law: &mut CcFixture, rtt: u64) -> &mut CcFixture {
    law.rtt(rtt).ack_unused(20).ack_unused(20)
}

/// In avoidance at 20 segments, base RTT 100 ms, largest 200 ms: da of dm = 100 ms.
fn known() -> CcFixture {
    let mut law = CcFixture::new("illinois", &[], 20.0, 20.0);
    law.outstanding(20);
    round(round(&mut law, 200), 100);
    near(law.column("base_rtt"), 0.1);
    near(law.column("max_rtt"), 0.2);
    law
}

#[test]
fn without_a_queue_it_grows_by_ten() {
    let mut law = CcFixture::new("illinois", &[], 20.0, 20.0);
    near(law.ack(1).cwnd(), 20.5);
    let mut law = CcFixture::new("illinois", &[], 20.0, 20.0);
    law.outstanding(20);
    round(round(&mut law, 100), 100);
    near(law.column("alpha"), 10.0);
    near(law.column("beta"), 0.125);
    near(law.lose().cwnd(), 17.5);
}

#[test]
fn steps_by_delay() {
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
        let mut law = known();
        round(round(&mut law, 100 + da), 100 + da);
        near(law.column("alpha"), alpha);
        near(law.column("beta"), beta);
        near(law.lose().cwnd(), 20.0 * (1.0 - beta));
    }
}

#[test]
fn the_mean_of_the_round_counts() {
    // 150 and 130 ms: da = 40, beta = 1/8 + 3/8 * 30/70.
    let mut law = CcFixture::new("illinois", &[], 40.0, 40.0);
    law.outstanding(20);
    round(round(&mut law, 200), 100).outstanding(40);
    // Forty are outstanding when the first of these comes, and the third is beyond them.
    law.rtt(150).ack_unused(20).rtt(130).ack_unused(20).ack_unused(1);
    near(law.column("beta"), 0.125 + 0.375 * 3.0 / 7.0);
}

#[test]
fn full_growth_comes_back_after_five_quiet_rounds() {
    let mut law = known();
    round(round(&mut law, 200), 200);
    near(law.column("alpha"), 0.3);
    // The round that ends with the next ACK still had 200 ms.
    law.rtt(100).ack_unused(20);
    for _ in 0..4 {
        law.ack_unused(20);
        near(law.column("alpha"), 0.3);
        near(law.column("beta"), 0.125);
    }
    law.ack_unused(20);
    near(law.column("alpha"), 10.0);
}

#[test]
fn small_windows_are_renos() {
    // Below ten segments; Linux's threshold is 15.
    for (threshold, window) in [("10", 9.0), ("15", 14.0)] {
        let mut law = CcFixture::new("illinois", &[("window_threshold", threshold)], window, window);
        law.outstanding(9);
        round(round(&mut law, 100), 100);
        near(law.column("alpha"), 1.0);
        near(law.column("beta"), 0.5);
        near(law.lose().cwnd(), window / 2.0);
    }
    let mut law = CcFixture::new("illinois", &[], 14.0, 14.0);
    law.outstanding(9);
    near(round(round(&mut law, 100), 100).column("alpha"), 10.0);
}

#[test]
fn timeouts() {
    let mut law = CcFixture::new("illinois", &[], 20.0, 20.0);
    law.outstanding(20);
    round(round(&mut law, 100), 100).time_out();
    near(law.cwnd(), 1.0);
    near(law.ssthresh(), 17.5);
    near(law.column("alpha"), 1.0);
    near(law.column("beta"), 0.5);
    law.time_out(); // the same segment again
    near(law.ssthresh(), 17.5);
}

#[test]
fn least_is_at_most_most() {
    let start = Setup::new(1000.0, 2000.0, 1e9);
    let refused = dumbbell_cc::build("illinois", &given(&[("alpha_min", "20")]), &start).unwrap_err();
    assert_eq!(refused.to_string(), "alpha_min: 20 given, at most alpha_max, which is 10, is needed");
    let refused = dumbbell_cc::build("illinois", &given(&[("beta_min", "0.6")]), &start).unwrap_err();
    assert_eq!(refused.to_string(), "beta_min: 0.6 given, at most beta_max, which is 0.5, is needed");
}
