//! H-TCP against numbers worked by hand [Leith and Shorten 2004; draft-leith-tcp-htcp-06; Linux tcp_htcp.c
//! htcp_alpha_update, htcp_beta_update].

use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// `times` round trips of `rtt` ms, each with an ACK of `segments` at its end.
fn at_rate(cc: &mut CcFixture, rtt: u64, segments: u64, times: u32) -> &mut CcFixture {
    cc.rtt(rtt);
    (0..times).fold(cc, |cc, _| cc.advance(rtt).ack_unused(segments))
}

/// Returns the growth by the next ACK of one segment, times the window.
fn increase(cc: &mut CcFixture) -> f64 {
    let before = cc.cwnd();
    let inc = (cc.ack(1).cwnd() - before) * before;
    near(cc.column("alpha"), inc);
    inc
}

#[test]
fn the_increase_grows_with_time() {
    // RTT 100 ms: no scaling; beta 0.5: alpha = f. t counts from the first ACK.
    let mut cc = CcFixture::new("htcp", &[], 1000.0, 1000.0);
    near(increase(&mut cc), 1.0);
    near(increase(cc.advance(1000)), 1.0);
    // t = 3: 1 + 10 * 2 + 1^2 = 22. t = 5: 1 + 40 + 2^2 = 45.
    near(increase(cc.advance(2000)), 22.0);
    near(increase(cc.advance(2000)), 45.0);
    // A loss resets t, and so does the end of its recovery.
    cc.lose().advance(3000).recover();
    near(increase(&mut cc), 1.0);
    near(increase(cc.advance(3000)), 22.0);
    // At most one segment for each acknowledged: 22 > 10.
    let mut cc = CcFixture::new("htcp", &[], 10.0, 10.0);
    near(cc.ack_unused(1).ack(1).advance(3000).ack(1).column("alpha"), 10.1);
    // With delta_l = 2 s, at t = 3: 1 + 10 + 1/4.
    let mut cc = CcFixture::new("htcp", &[("delta_l", "2 s")], 1000.0, 1000.0);
    increase(&mut cc);
    near(increase(cc.advance(3000)), 11.25);
}

#[test]
fn the_increase_is_scaled_by_the_rtt() {
    // f = 22 at t = 3 times base_rtt / 100 ms: 50 ms one half; 5 ms a tenth, the minimum; 400 ms twice, the maximum.
    for (rtt, alpha) in [(50, 11.0), (5, 2.2), (400, 44.0)] {
        let mut cc = CcFixture::new("htcp", &[], 1000.0, 1000.0);
        near(increase(cc.rtt(rtt)), if rtt == 400 { 2.0 } else { 1.0 });
        near(increase(cc.advance(3000)), alpha);
        let mut cc = CcFixture::new("htcp", &[("rtt_scaling", "false")], 1000.0, 1000.0);
        increase(cc.rtt(rtt));
        near(increase(cc.advance(3000)), 22.0);
    }
}

/// Two losses: 100 segments/s before the first, with RTTs of 100 and `full` ms; then `rate` segments/s.
fn second_loss(params: &[(&str, &str)], full: u64, rate: u64) -> CcFixture {
    let mut cc = CcFixture::new("htcp", params, 1000.0, 1000.0);
    cc.ack_unused(10);
    at_rate(&mut cc, 100, 10, 3);
    at_rate(&mut cc, full, full / 10, 3).lose();
    near(cc.column("beta"), 0.5); // the first loss has no earlier rate
    near(cc.cwnd(), 500.0);
    cc.recover();
    at_rate(&mut cc, full, full * rate / 1000, 3).lose();
    cc
}

#[test]
fn the_decrease_empties_the_queue() {
    // 100 / 150 = 2/3; bounded by 0.8 (100 / 110) and 0.5 (100 / 400). max_rtt had faded to 100 + 0.95 * 50 = 147.5 and
    // was 150 again after the next samples; now it fades again.
    let cc = second_loss(&[], 150, 100);
    near(cc.column("beta"), 2.0 / 3.0);
    near(cc.cwnd(), 1000.0 / 3.0);
    near(cc.column("max_rtt"), 0.1475);
    near(cc.column("base_rtt"), 0.1);
    near(second_loss(&[], 110, 100).column("beta"), 0.8);
    near(second_loss(&[], 400, 100).column("beta"), 0.5);
    near(second_loss(&[("adaptive_backoff", "false")], 150, 100).column("beta"), 0.5);
}

#[test]
fn beta_is_one_half_after_a_change_of_the_rate() {
    // 120 differs from 100 by a fifth, which is no change; 140 and 60 are changes.
    near(second_loss(&[], 150, 120).column("beta"), 2.0 / 3.0);
    near(second_loss(&[], 150, 140).column("beta"), 0.5);
    near(second_loss(&[], 150, 60).column("beta"), 0.5);
}

#[test]
fn a_smaller_decrease_has_a_smaller_increase() {
    // beta = 2/3: alpha = 2 (1 - 2/3) = 2/3.
    let mut cc = second_loss(&[], 150, 100);
    cc.recover();
    near(increase(&mut cc), 2.0 / 3.0);
}

#[test]
fn timeouts_and_marks_reduce_by_beta() {
    let mut cc = CcFixture::new("htcp", &[], 40.0, 40.0);
    cc.time_out();
    near(cc.cwnd(), 1.0);
    near(cc.ssthresh(), 20.0);
    cc.time_out(); // a repeated timeout of the same segment
    near(cc.ssthresh(), 20.0);
    near(CcFixture::new("htcp", &[], 40.0, 40.0).echo_mark().cwnd(), 20.0);
}

#[test]
fn linux_rounds_f_down() {
    // t = 2.5: 1 + 10 * 1.5 + 0.75^2 = 16.56, 16. 100 ms: 8 * 16 / 8. 70 ms: 8 / 0.7 = 11.4, 11; 128 / 11 = 11.6, 11.
    for (rtt, alpha) in [(100, 16.0), (70, 11.0)] {
        let mut cc = CcFixture::new("htcp", &[("rules", "linux")], 1000.0, 1000.0);
        near(increase(cc.rtt(rtt)), 1.0);
        near(increase(cc.advance(2500)), alpha);
    }
}

#[test]
fn linux_ignores_large_rtt_steps() {
    // A sample 20 ms above the maximum raises it; one 21 ms above doesn't.
    for (rtt, max) in [(120, 0.12), (121, 0.1)] {
        let mut cc = CcFixture::new("htcp", &[("rules", "linux")], 20.0, 20.0);
        cc.rtt(100).ack_unused(1).rtt(rtt).ack_unused(1);
        near(cc.column("max_rtt"), max);
    }
}

#[test]
fn linux_halves_on_short_paths() {
    // A steady rate, base RTT 8 ms, at most 10 ms: the ratio would be 0.8.
    for (rules, left) in [("published", 0.8), ("linux", 0.5)] {
        let mut cc = CcFixture::new("htcp", &[("rules", rules)], 20.0, 20.0);
        for _ in 0..3 {
            at_rate(at_rate(&mut cc, 8, 20, 5), 10, 25, 5).lose().recover();
        }
        let beta = cc.column("beta");
        if rules == "linux" { near(beta, left) } else { assert!(beta >= left - 1e-9, "{beta}") }
    }
}
