//! YeAH against numbers worked by hand [Baiocchi, Castellani and Vacirca 2007; Linux tcp_yeah.c tcp_yeah_cong_avoid,
//! tcp_yeah_ssthresh].

use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// In avoidance with this window, base RTT 100 ms.
fn known(params: &[(&str, &str)], window: f64) -> CcFixture {
    let mut cc = CcFixture::new("yeah", params, window, window);
    cc.ack_unused(1);
    cc
}

/// `times` windows, each acknowledged by one ACK with this RTT, which ends the round before it.
fn windows(cc: &mut CcFixture, rtt: u64, times: u32) -> &mut CcFixture {
    cc.rtt(rtt);
    for _ in 0..times {
        let window = cc.cwnd() as u64;
        cc.ack(window);
    }
    cc
}

#[test]
fn fast_is_scalable_and_never_slower_than_reno() {
    let mut cc = known(&[], 200.0);
    near(cc.ack(1).cwnd(), 200.01);
    let mut cc = known(&[], 20.0);
    near(cc.ack(1).cwnd(), 20.05);
}

#[test]
fn slow_is_reno() {
    // Base 100 ms, phi = 8: above 112.5 ms it is slow. q = 200 (1 - 100/120) = 33.3 < 80: no decrease.
    let mut cc = known(&[], 200.0);
    windows(&mut cc, 120, 3);
    assert!(cc.column("slow_rounds") > 0.0);
    let cwnd = cc.cwnd();
    near(cc.ack(1).cwnd(), cwnd + 1.0 / cwnd);
    // 112 ms: fast mode again, after two rounds with this RTT.
    let mut cc = known(&[], 200.0);
    windows(&mut cc, 112, 3);
    near(cc.column("slow_rounds"), 0.0);
}

#[test]
fn early_decongestion_drains_the_queue() {
    // 400 segments, 100 to 200 ms: q = 200 > 80: 400 - min(200, 200) = 200 (an ACK between them increased it a little).
    let mut cc = known(&[], 400.0);
    windows(&mut cc, 200, 1);
    near(cc.column("slow_rounds"), 0.0); // the round that this ACK ended had 100 ms
    let cwnd = cc.cwnd();
    cc.ack(1);
    near(cc.column("slow_rounds"), 1.0);
    near(cc.column("q"), cwnd / 2.0);
    near(cc.ssthresh(), cwnd / 2.0);
    near(cc.cwnd(), cwnd / 2.0 + 2.0 / cwnd); // and as Reno from there
    // w_reno: half of the window. With gamma = 4 a quarter of the queue: 400 - 50.
    near(cc.column("w_reno"), cc.ssthresh() / 2.0);
    let mut cc = known(&[("gamma", "4")], 400.0);
    windows(&mut cc, 200, 2);
    let q = cc.column("q");
    near(cc.ssthresh(), 2.0 * q - q / 4.0);
}

#[test]
fn early_decongestion_leaves_w_reno() {
    // 400 -> 200, w_reno = 100 then; 200 -> 100, and there early decongestion ends, because w_reno grows by one in each
    // slow round. (One ACK for each window: almost no growth.)
    let mut cc = known(&[("q_max", "10")], 400.0);
    windows(&mut cc, 200, 40);
    assert!((100.0..101.0).contains(&cc.cwnd()), "{}", cc.cwnd());
    near(cc.column("slow_rounds"), 39.0);
    assert!((138.0..138.1).contains(&cc.column("w_reno")), "{}", cc.column("w_reno"));
    // More than zeta fast rounds reset it.
    windows(&mut cc, 100, 60);
    near(cc.column("w_reno"), 2.0);
}

#[test]
fn a_loss_removes_the_queue_or_half_against_reno() {
    // No segments in the queue: an eighth.
    let mut cc = known(&[], 80.0);
    near(cc.lose().cwnd(), 70.0);
    // The segments in the queue: 100 (1 - 100/125) = 20, of a window that has grown a little.
    let mut cc = known(&[], 100.0);
    windows(&mut cc, 125, 2);
    let (cwnd, q) = (cc.cwnd(), cc.column("q"));
    assert!((19.9..20.6).contains(&q), "{q}");
    near(cc.lose().cwnd(), cwnd - q);
    // After 16 slow rounds in a row: half.
    let mut cc = known(&[], 100.0);
    windows(&mut cc, 125, 20);
    assert!(cc.column("slow_rounds") >= 16.0);
    let cwnd = cc.cwnd();
    let w_reno = cc.column("w_reno");
    near(cc.lose().cwnd(), cwnd / 2.0);
    near(cc.column("w_reno"), w_reno / 2.0);
}

#[test]
fn timeouts_and_marks_reduce_as_losses() {
    let mut cc = known(&[], 80.0);
    cc.time_out();
    near(cc.cwnd(), 1.0);
    near(cc.ssthresh(), 70.0);
    cc.time_out(); // a repeated timeout of the same segment
    near(cc.ssthresh(), 70.0);
    near(known(&[], 80.0).echo_mark().cwnd(), 70.0);
}
