//! Compound TCP against numbers worked by hand [Tan et al. 2006].

use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// In avoidance with this window in segments and a base RTT of 100 ms, before the first decision.
fn known(params: &[(&str, &str)], window: f64) -> CcFixture {
    let mut cc = CcFixture::new("compound", params, window, window);
    cc.ack_in_recovery(1);
    cc
}

/// Acknowledges whole windows by one ACK each, with this RTT. Each ACK ends the round trip before it and adds 1 /
/// window segments, which is negligible.
fn windows(cc: &mut CcFixture, rtt: u64, times: u32) -> &mut CcFixture {
    cc.rtt(rtt);
    for _ in 0..times {
        let window = cc.cwnd() as u64;
        cc.ack(window);
    }
    cc
}

#[test]
fn without_a_queue_the_delay_window_grows() {
    // 256 segments: 1/8 * 256^(3/4) = 64/8 = 8; minus Reno's segment: 7. Then the ACK's 1/263.
    let mut cc = known(&[], 256.0);
    windows(&mut cc, 100, 1);
    near(cc.column("diff"), 0.0);
    near(cc.column("dwnd"), 7000.0);
    near(cc.cwnd(), 263.0 + 1.0 / 263.0);
    // k = 1/2: 16/8 - 1 = 1.
    let mut cc = known(&[("k", "0.5")], 256.0);
    near(windows(&mut cc, 100, 1).column("dwnd"), 1000.0);
}

#[test]
fn small_windows_grow_as_reno() {
    let mut cc = known(&[], 37.0);
    windows(&mut cc, 100, 3);
    near(cc.column("dwnd"), 0.0);
    // With low_window = 0 from 16 segments on: 81^(3/4)/8 - 1 = 27/8 - 1; 16^(3/4)/8 - 1 = 0.
    near(windows(&mut known(&[("low_window", "0")], 16.0), 100, 1).column("dwnd"), 0.0);
    near(windows(&mut known(&[("low_window", "0")], 81.0), 100, 1).column("dwnd"), 2375.0);
    // Slow start has no delay window.
    let mut cc = CcFixture::new("compound", &[], 100.0, 1000.0);
    near(cc.round().round().cwnd(), 400.0);
    near(cc.column("dwnd"), 0.0);
}

#[test]
fn a_queue_ends_the_delay_window() {
    // Grown to 256 + 7, then 100 of 125 ms: diff = 263 * 0.2 = 52.6 > 30: 7 - 52.6 < 0, so dwnd is 0.
    let mut cc = known(&[], 256.0);
    windows(&mut cc, 100, 1);
    windows(&mut cc, 125, 1); // ends the round trip with 100 ms: grows once more
    let (cwnd, dwnd) = (cc.cwnd(), cc.column("dwnd"));
    assert!((14_000.0..14_300.0).contains(&dwnd), "{dwnd}");
    cc.ack(1);
    near(cc.column("diff"), cwnd * 0.2);
    near(cc.column("dwnd"), 0.0);
    let left = cwnd - dwnd / 1000.0;
    near(cc.cwnd(), left + 1.0 / left);
    // zeta = 0.1: 0.1 * 0.2 of the window.
    let mut cc = known(&[("zeta", "0.1")], 256.0);
    windows(&mut cc, 100, 1);
    windows(&mut cc, 125, 1);
    let (cwnd, dwnd) = (cc.cwnd(), cc.column("dwnd"));
    near(cc.ack(1).column("dwnd"), dwnd - 0.02 * cwnd * 1000.0);
    // Below gamma it grows: 263 (1 - 100/110) = 23.9.
    let mut cc = known(&[], 256.0);
    windows(&mut cc, 100, 1);
    windows(&mut cc, 110, 2);
    assert!(cc.column("diff") > 23.0 && cc.column("dwnd") > 20_000.0, "{}", cc.column("dwnd"));
}

#[test]
fn losses_halve_both() {
    let mut cc = known(&[], 256.0);
    windows(&mut cc, 100, 1);
    let cwnd = cc.cwnd();
    near(cc.lose().cwnd(), cwnd / 2.0);
    near(cc.ssthresh(), cwnd / 2.0);
    near(cc.column("dwnd"), 3500.0);
    // beta = 1/4: dwnd = (3/4) 263 - 256/2.
    let mut cc = known(&[("beta", "0.25")], 256.0);
    windows(&mut cc, 100, 1);
    let cwnd = cc.cwnd();
    near(cc.lose().cwnd(), 0.75 * cwnd);
    near(cc.column("dwnd"), 750.0 * cwnd - 500.0 * (cwnd - 7.0));
    // As Reno without a delay window.
    near(known(&[], 20.0).lose().cwnd(), 10.0);
    near(known(&[], 20.0).echo_mark().cwnd(), 10.0);
}

#[test]
fn a_timeout_ends_the_delay_window() {
    let mut cc = known(&[], 256.0);
    windows(&mut cc, 100, 1);
    let cwnd = cc.cwnd();
    cc.time_out();
    near(cc.cwnd(), 1.0);
    near(cc.ssthresh(), cwnd / 2.0);
    near(cc.column("dwnd"), 0.0);
    cc.time_out(); // the same segment again
    near(cc.ssthresh(), cwnd / 2.0);
}
