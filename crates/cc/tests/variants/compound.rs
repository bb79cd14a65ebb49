use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// In avoidance at so many segments, base RTT 100 ms, nothing decided yet.
fn known(params: &[(&str, &str)], window: f64) -> CcFixture {
    let mut law = CcFixture::new("compound", params, window, window);
    law.ack_in_recovery(1);
    law
}

/// So many whole windows are acknowledged by one ACK each, with this RTT; each ends the round before it and adds one
/// segment over the window, which is as good as nothing.
fn windows(law: &mut CcFixture, rtt: u64, times: u32) -> &mut CcFixture {
    law.rtt(rtt);
    for _ in 0..times {
        let window = law.cwnd() as u64;
        law.ack(window);
    }
    law
}

#[test]
fn without_a_queue_the_delay_window_grows() {
    // 256 segments: 1/8 * 256^(3/4) = 64/8 = 8; less the one that is Reno's: 7. Then the ACK's 1/263.
    let mut law = known(&[], 256.0);
    windows(&mut law, 100, 1);
    near(law.column("diff"), 0.0);
    near(law.column("dwnd"), 7000.0);
    near(law.cwnd(), 263.0 + 1.0 / 263.0);
    // k = 1/2: 16/8 - 1 = 1.
    let mut law = known(&[("k", "0.5")], 256.0);
    near(windows(&mut law, 100, 1).column("dwnd"), 1000.0);
}

#[test]
fn small_windows_are_renos() {
    let mut law = known(&[], 37.0);
    windows(&mut law, 100, 3);
    near(law.column("dwnd"), 0.0);
    // With low_window = 0 from 16 segments on: 81^(3/4)/8 - 1 = 27/8 - 1; 16^(3/4)/8 - 1 = 0.
    near(windows(&mut known(&[("low_window", "0")], 16.0), 100, 1).column("dwnd"), 0.0);
    near(windows(&mut known(&[("low_window", "0")], 81.0), 100, 1).column("dwnd"), 2375.0);
    // Slow start has no delay window.
    let mut law = CcFixture::new("compound", &[], 100.0, 1000.0);
    near(law.round().round().cwnd(), 400.0);
    near(law.column("dwnd"), 0.0);
}

#[test]
fn a_queue_takes_it_away() {
    // Grown to 256 + 7, then 100 of 125 ms: diff = 263 * 0.2 = 52.6 > 30: 7 - 52.6 < 0, so it is gone.
    let mut law = known(&[], 256.0);
    windows(&mut law, 100, 1);
    windows(&mut law, 125, 1); // ends the round that had 100 ms: grows once more
    let (cwnd, dwnd) = (law.cwnd(), law.column("dwnd"));
    assert!((14_000.0..14_300.0).contains(&dwnd), "{dwnd}");
    law.ack(1);
    near(law.column("diff"), cwnd * 0.2);
    near(law.column("dwnd"), 0.0);
    let left = cwnd - dwnd / 1000.0;
    near(law.cwnd(), left + 1.0 / left);
    // zeta = 0.1: 0.1 * 0.2 of the window.
    let mut law = known(&[("zeta", "0.1")], 256.0);
    windows(&mut law, 100, 1);
    windows(&mut law, 125, 1);
    let (cwnd, dwnd) = (law.cwnd(), law.column("dwnd"));
    near(law.ack(1).column("dwnd"), dwnd - 0.02 * cwnd * 1000.0);
    // Below gamma it grows: 263 (1 - 100/110) = 23.9.
    let mut law = known(&[], 256.0);
    windows(&mut law, 100, 1);
    windows(&mut law, 110, 2);
    assert!(law.column("diff") > 23.0 && law.column("dwnd") > 20_000.0, "{}", law.column("dwnd"));
}

#[test]
fn losses_halve_both() {
    let mut law = known(&[], 256.0);
    windows(&mut law, 100, 1);
    let cwnd = law.cwnd();
    near(law.lose().cwnd(), cwnd / 2.0);
    near(law.ssthresh(), cwnd / 2.0);
    near(law.column("dwnd"), 3500.0);
    // beta = 1/4: (3/4) 263 - 256/2 are the delay window's.
    let mut law = known(&[("beta", "0.25")], 256.0);
    windows(&mut law, 100, 1);
    let cwnd = law.cwnd();
    near(law.lose().cwnd(), 0.75 * cwnd);
    near(law.column("dwnd"), 750.0 * cwnd - 500.0 * (cwnd - 7.0));
    // As Reno without a delay window.
    near(known(&[], 20.0).lose().cwnd(), 10.0);
    near(known(&[], 20.0).echo_mark().cwnd(), 10.0);
}

#[test]
fn a_timeout_ends_it() {
    let mut law = known(&[], 256.0);
    windows(&mut law, 100, 1);
    let cwnd = law.cwnd();
    law.time_out();
    near(law.cwnd(), 1.0);
    near(law.ssthresh(), cwnd / 2.0);
    near(law.column("dwnd"), 0.0);
    law.time_out(); // the same segment again
    near(law.ssthresh(), cwnd / 2.0);
}
