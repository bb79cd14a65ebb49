use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// In avoidance at so many segments, base RTT 100 ms.
fn known(params: &[(&str, &str)], window: f64) -> CcFixture {
    let mut law = CcFixture::new("yeah", params, window, window);
    law.ack_unused(1);
    law
}

/// So many whole windows are acknowledged by one ACK each, with this RTT. Each ends the round before it.
fn windows(law: &mut CcFixture, rtt: u64, times: u32) -> &mut CcFixture {
    law.rtt(rtt);
    for _ in 0..times {
        let window = law.cwnd() as u64;
        law.ack(window);
    }
    law
}

#[test]
fn fast_is_scalable_and_never_slower_than_reno() {
    let mut law = known(&[], 200.0);
    near(law.ack(1).cwnd(), 200.01);
    let mut law = known(&[], 20.0);
    near(law.ack(1).cwnd(), 20.05);
}

#[test]
fn slow_is_reno() {
    // Base 100 ms, phi = 8: above 112.5 ms it is slow. q = 200 (1 - 100/120) = 33.3 < 80: no decrease.
    let mut law = known(&[], 200.0);
    windows(&mut law, 120, 3);
    assert!(law.column("slow_rounds") > 0.0);
    let cwnd = law.cwnd();
    near(law.ack(1).cwnd(), cwnd + 1.0 / cwnd);
    // 112 ms: still fast, after two rounds that are known to have had it.
    let mut law = known(&[], 200.0);
    windows(&mut law, 112, 3);
    near(law.column("slow_rounds"), 0.0);
}

#[test]
fn too_much_in_the_queue_is_taken_back() {
    // 400 segments, 100 to 200 ms: q = 200 > 80: 400 - min(200, 200) = 200 (an ACK in between grew it a little).
    let mut law = known(&[], 400.0);
    windows(&mut law, 200, 1);
    near(law.column("slow_rounds"), 0.0); // the round that this ended had 100 ms
    let cwnd = law.cwnd();
    law.ack(1);
    near(law.column("slow_rounds"), 1.0);
    near(law.column("q"), cwnd / 2.0);
    near(law.ssthresh(), cwnd / 2.0);
    near(law.cwnd(), cwnd / 2.0 + 2.0 / cwnd); // and as Reno from there
    // w_reno: half of what is left. With gamma = 4 a quarter of the queue: 400 - 50.
    near(law.column("w_reno"), law.ssthresh() / 2.0);
    let mut law = known(&[("gamma", "4")], 400.0);
    windows(&mut law, 200, 2);
    let q = law.column("q");
    near(law.ssthresh(), 2.0 * q - q / 4.0);
}

#[test]
fn it_never_gives_up_what_a_reno_would_have() {
    // 400 -> 200, w_reno = 100 then; 200 -> 100, and there decreases end, for w_reno grows by one each slow round. (One
    // ACK for each window: next to no growth.)
    let mut law = known(&[("q_max", "10")], 400.0);
    windows(&mut law, 200, 40);
    assert!((100.0..101.0).contains(&law.cwnd()), "{}", law.cwnd());
    near(law.column("slow_rounds"), 39.0);
    assert!((138.0..138.1).contains(&law.column("w_reno")), "{}", law.column("w_reno"));
    // Fast rounds, more than zeta of them, make it forget.
    windows(&mut law, 100, 60);
    near(law.column("w_reno"), 2.0);
}

#[test]
fn losses() {
    // Nothing in the queue: an eighth.
    let mut law = known(&[], 80.0);
    near(law.lose().cwnd(), 70.0);
    // What is in the queue: 100 (1 - 100/125) = 20, of a window that has grown a little.
    let mut law = known(&[], 100.0);
    windows(&mut law, 125, 2);
    let (cwnd, q) = (law.cwnd(), law.column("q"));
    assert!((19.9..20.6).contains(&q), "{q}");
    near(law.lose().cwnd(), cwnd - q);
    // After 16 slow rounds in a row: half.
    let mut law = known(&[], 100.0);
    windows(&mut law, 125, 20);
    assert!(law.column("slow_rounds") >= 16.0);
    let cwnd = law.cwnd();
    let w_reno = law.column("w_reno");
    near(law.lose().cwnd(), cwnd / 2.0);
    near(law.column("w_reno"), w_reno / 2.0);
}

#[test]
fn timeouts_and_marks() {
    let mut law = known(&[], 80.0);
    law.time_out();
    near(law.cwnd(), 1.0);
    near(law.ssthresh(), 70.0);
    law.time_out(); // the same segment again
    near(law.ssthresh(), 70.0);
    near(known(&[], 80.0).echo_mark().cwnd(), 70.0);
}
