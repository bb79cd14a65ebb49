//! Spurious reductions are undone, by numbers worked by hand [RFC 4015; RFC 9438 §4.9].

use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

#[test]
fn a_reduction_is_undone_once() {
    let mut cc = CcFixture::new("reno", &[], 10.0, f64::INFINITY);
    cc.lose();
    near(cc.cwnd(), 5.0);
    cc.undo();
    near(cc.cwnd(), 10.0);
    assert!(cc.ssthresh().is_infinite());
    // A second undo has no effect.
    cc.lose().recover();
    near(cc.cwnd(), 5.0);
    cc.undo().undo();
    near(cc.cwnd(), 10.0);
}

#[test]
fn an_episode_is_undone_as_a_whole() {
    // A loss, and a timeout during its recovery: 20, 10, 1.
    let mut cc = CcFixture::new("reno", &[], 20.0, 20.0);
    cc.lose().time_out();
    near(cc.cwnd(), 1.0);
    cc.undo();
    near(cc.cwnd(), 20.0);
    near(cc.ssthresh(), 20.0);
    // After recovery a loss is another episode: 20, 10, 5, and back to 10.
    cc.lose().recover().lose().undo();
    near(cc.cwnd(), 10.0);
}

#[test]
fn growth_since_the_reduction_is_kept() {
    // 4 segments, halved, grown beyond 4 by twelve segments in slow start after a timeout to ssthresh 16.
    let mut cc = CcFixture::new("reno", &[], 4.0, 40.0);
    cc.lose().recover();
    near(cc.cwnd(), 2.0);
    for _ in 0..8 {
        cc.round();
    }
    let grown = cc.cwnd();
    assert!(grown > 8.0, "{grown}");
    cc.undo();
    near(cc.cwnd(), grown);
    near(cc.ssthresh(), 40.0);
}

#[test]
fn a_response_to_a_mark_is_not_undone() {
    let mut cc = CcFixture::new("reno", &[], 16.0, 16.0);
    cc.echo_mark().undo();
    near(cc.cwnd(), 8.0);
    cc.lose().echo_mark().undo();
    near(cc.cwnd(), 2.0);
}

#[test]
fn cubic_continues_its_curve() {
    // 100 segments lost: W_max 100, cwnd 70. K = cbrt(30 / 0.4) = 4.2172 s.
    let mut cc = CcFixture::new("cubic", &[], 100.0, 100.0);
    cc.lose().recover().ack(1);
    let k = cc.column("k");
    near(k, 75.0_f64.cbrt());
    cc.advance(1000).ack(1);
    let (cwnd, w_est) = (cc.cwnd(), cc.column("w_est"));
    // A spurious loss would set W_max to 0.85 cwnd by fast convergence, and end the epoch.
    cc.lose();
    near(cc.column("w_max"), 0.85 * cwnd);
    cc.undo();
    near(cc.cwnd(), cwnd);
    near(cc.column("w_max"), 100.0);
    near(cc.column("k"), k);
    near(cc.column("w_est"), w_est);
}

#[test]
fn the_state_of_the_variant_is_restored() {
    // BIC: w_max; Compound: the delay window; Veno: base_rtt, which a loss resets.
    let mut cc = CcFixture::new("bic", &[], 100.0, 100.0);
    cc.lose().recover().lose();
    near(cc.column("w_max"), 82.03125); // 87.5 (1 + 0.875) / 2
    near(cc.undo().column("w_max"), 100.0);
    let mut cc = CcFixture::new("veno", &[], 10.0, 10.0);
    cc.ack(1).lose().undo();
    near(cc.column("base_rtt"), 0.1);
    let mut cc = CcFixture::new("compound", &[], 100.0, 100.0);
    cc.round().round().round();
    let (cwnd, dwnd) = (cc.cwnd(), cc.column("dwnd"));
    assert!(dwnd > 0.0);
    cc.time_out();
    near(cc.column("dwnd"), 0.0);
    cc.undo();
    near(cc.column("dwnd"), dwnd);
    near(cc.cwnd(), cwnd);
}
