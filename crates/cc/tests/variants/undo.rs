//! Reductions that answered no loss are taken back.

use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

#[test]
fn a_reduction_is_taken_back_once() {
    let mut law = CcFixture::new("reno", &[], 10.0, f64::INFINITY);
    law.lose();
    near(law.cwnd(), 5.0);
    law.undo();
    near(law.cwnd(), 10.0);
    assert!(law.ssthresh().is_infinite());
    // The window went on from there: nothing is left to take back.
    law.lose().recover();
    near(law.cwnd(), 5.0);
    law.undo().undo();
    near(law.cwnd(), 10.0);
}

#[test]
fn an_episode_is_taken_back_as_a_whole() {
    // A loss, and a timeout while it is repaired: 20, 10, 1.
    let mut law = CcFixture::new("reno", &[], 20.0, 20.0);
    law.lose().time_out();
    near(law.cwnd(), 1.0);
    law.undo();
    near(law.cwnd(), 20.0);
    near(law.ssthresh(), 20.0);
    // After recovery a loss is another episode: 20, 10, 5, and back to 10.
    law.lose().recover().lose().undo();
    near(law.cwnd(), 10.0);
}

#[test]
fn growth_since_then_stays() {
    // 4 segments, halved, grown beyond 4 by twelve segments in slow start after a timeout to ssthresh 16.
    let mut law = CcFixture::new("reno", &[], 4.0, 40.0);
    law.lose().recover();
    near(law.cwnd(), 2.0);
    for _ in 0..8 {
        law.round();
    }
    let grown = law.cwnd();
    assert!(grown > 8.0, "{grown}");
    law.undo();
    near(law.cwnd(), grown);
    near(law.ssthresh(), 40.0);
}

#[test]
fn an_answer_to_a_mark_stays() {
    let mut law = CcFixture::new("reno", &[], 16.0, 16.0);
    law.echo_mark().undo();
    near(law.cwnd(), 8.0);
    law.lose().echo_mark().undo();
    near(law.cwnd(), 2.0);
}

#[test]
fn cubic_goes_on_with_its_curve() {
    // 100 segments lost: W_max 100, cwnd 70. K = cbrt(30 / 0.4) = 4.2172 s.
    let mut law = CcFixture::new("cubic", &[], 100.0, 100.0);
    law.lose().recover().ack(1);
    let k = law.column("k");
    near(k, 75.0_f64.cbrt());
    law.advance(1000).ack(1);
    let (cwnd, w_est) = (law.cwnd(), law.column("w_est"));
    // A loss that was none would set W_max to 0.85 cwnd by fast convergence, and end the stage.
    law.lose();
    near(law.column("w_max"), 0.85 * cwnd);
    law.undo();
    near(law.cwnd(), cwnd);
    near(law.column("w_max"), 100.0);
    near(law.column("k"), k);
    near(law.column("w_est"), w_est);
}

#[test]
fn private_state_comes_back() {
    // BIC: w_max; Compound: the delay window; Veno: base_rtt, which a loss makes it forget.
    let mut law = CcFixture::new("bic", &[], 100.0, 100.0);
    law.lose().recover().lose();
    near(law.column("w_max"), 82.03125); // 87.5 (1 + 0.875) / 2
    near(law.undo().column("w_max"), 100.0);
    let mut law = CcFixture::new("veno", &[], 10.0, 10.0);
    law.ack(1).lose().undo();
    near(law.column("base_rtt"), 0.1);
    let mut law = CcFixture::new("compound", &[], 100.0, 100.0);
    law.round().round().round();
    let (cwnd, dwnd) = (law.cwnd(), law.column("dwnd"));
    assert!(dwnd > 0.0);
    law.time_out();
    near(law.column("dwnd"), 0.0);
    law.undo();
    near(law.column("dwnd"), dwnd);
    near(law.cwnd(), cwnd);
}
