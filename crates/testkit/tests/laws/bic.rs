use crate::near;
use dumbbell_testkit::Law;

/// After a loss at so many segments; recovery is over. B = 4, s_max 16, smooth 20, beta 0.8.
fn after_loss(window: f64) -> Law {
    let mut law = Law::new("bic", &[], window, window);
    law.lose().recover();
    near(law.cwnd(), 0.8 * window);
    near(law.column("w_max"), window);
    law
}

/// What the next ACK of one segment adds, times the window.
fn increase(law: &mut Law) -> f64 {
    let before = law.cwnd();
    (law.ack(1).cwnd() - before) * before
}

#[test]
fn far_below_w_max_it_is_linear() {
    // Loss at 400: cwnd 320, (400 - 320) / 4 = 20 > 16.
    near(increase(&mut after_loss(400.0)), 16.0);
    // s_max = 32: 20.
    let mut law = Law::new("bic", &[("s_max", "32")], 400.0, 400.0);
    law.lose().recover();
    near(increase(&mut law), 20.0);
}

#[test]
fn nearer_it_takes_a_quarter_of_the_way() {
    // Loss at 200: cwnd 160, 40 / 4 = 10. A window of ACKs later (10 segments less a little) the rest of 30 and a bit
    // gives whole 7.
    let mut law = after_loss(200.0);
    near(increase(&mut law), 10.0);
    for _ in 1..160 {
        law.ack(1);
    }
    assert!((168.0..170.0).contains(&law.cwnd()), "{}", law.cwnd());
    near(increase(&mut law), 7.0);
}

#[test]
fn around_w_max_it_creeps_and_then_looks_further() {
    // Loss at 30: cwnd 24, 6 / 4 = 1 in whole segments: 4/20 a round trip.
    near(increase(&mut after_loss(30.0)), 0.2);
    // In avoidance at 50 with w_max = 25 (a loss there, then ssthresh lower than what follows is of no matter): up to
    // 29 it creeps, at 31 it is (31 - 25) / 3 = 2.
    let mut law = after_loss(25.0); // cwnd 20
    let mut at = |window: f64| {
        while law.cwnd() < window {
            law.ack(1);
        }
        (law.cwnd(), increase(&mut law))
    };
    near(at(26.0).1, 0.2);
    let (cwnd, inc) = at(31.0);
    near(inc, (cwnd - 25.0) / 3.0);
    // From w_max + 48 on 16.
    near(at(74.0).1, 16.0);
}

#[test]
fn small_windows_are_renos() {
    let mut law = Law::new("bic", &[], 10.0, 10.0);
    near(increase(&mut law), 1.0);
    near(law.lose().cwnd(), 10.1 / 2.0);
    near(increase(law.recover()), 1.0);
}

#[test]
fn before_the_first_loss_a_twentieth() {
    // No w_max: (30 - 0) / 3 = 10 > 30 / 20; from 48 on 16, from 320 on a twentieth: 400 / 20 = 20.
    near(increase(&mut Law::new("bic", &[], 30.0, 30.0)), 10.0);
    near(increase(&mut Law::new("bic", &[], 100.0, 100.0)), 16.0);
    near(increase(&mut Law::new("bic", &[], 400.0, 400.0)), 20.0);
}

#[test]
fn fast_convergence() {
    // 400 -> 320; a second loss there, below w_max: 320 * 1.8 / 2 = 288, cwnd 256.
    let mut law = after_loss(400.0);
    law.lose();
    near(law.column("w_max"), 288.0);
    near(law.cwnd(), 256.0);
    let mut law = Law::new("bic", &[("fast_convergence", "false")], 400.0, 400.0);
    law.lose().recover().lose();
    near(law.column("w_max"), 320.0);
}

#[test]
fn a_timeout_forgets() {
    let mut law = after_loss(400.0);
    law.time_out();
    near(law.cwnd(), 1.0);
    near(law.ssthresh(), 256.0);
    assert!(law.column("w_max").is_nan());
    law.time_out(); // the same segment again
    near(law.ssthresh(), 256.0);
}
