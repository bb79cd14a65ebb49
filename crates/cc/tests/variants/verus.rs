use dumbbell_cc::Phase;
use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// Slow start to a hundred segments at 100 ms, ended by a delay above twice that: 0.7 of the window that the segment left with.
fn started(params: &[(&str, &str)]) -> CcFixture {
    let mut all = vec![("exit", "2"), ("r", "4")];
    all.extend(params);
    let mut law = CcFixture::new("verus", &all, 10.0, f64::INFINITY);
    while law.cwnd() < 100.0 {
        law.ack(1);
    }
    assert_eq!(law.phase(), Phase::SlowStart);
    law.rtt(201).ack(1);
    assert_eq!(law.phase(), Phase::Avoidance);
    law
}

#[test]
fn slow_start_ends_above_a_multiple_of_the_smallest_delay() {
    let mut law = CcFixture::new("verus", &[], 10.0, f64::INFINITY);
    law.ack(1).rtt(1500).ack(1); // 15 times it, not above
    assert_eq!(law.phase(), Phase::SlowStart);
    near(law.cwnd(), 12.0);
    // The segment acknowledged left with ten: seven are left, and 3/4 * r * 100 ms is the delay aimed at.
    law.rtt(1501).ack(1);
    assert_eq!(law.phase(), Phase::Avoidance);
    near(law.cwnd(), 7.0);
    near(law.column("d_est"), 0.15);
    near(law.column("d_min"), 0.1);
}

#[test]
fn an_epoch_decides_by_the_largest_delay() {
    // r = 4: 3/4 * 4 * 100 = 300 ms at first.
    let mut law = started(&[]);
    near(law.column("d_est"), 0.3);
    // The first epoch has nothing to compare its 150 ms with: up 2 ms; d_max is that.
    law.rtt(150).advance(4).ack(1).advance(1).ack(1);
    near(law.column("d_est"), 0.302);
    near(law.column("d_max"), 0.15);
    // 160 ms are more: down 1 ms; d_max 150 + 0.8 * 10.
    law.rtt(160).advance(5).ack(1);
    near(law.column("d_est"), 0.301);
    near(law.column("d_max"), 0.158);
    // 158 or less: up.
    law.rtt(158).advance(5).ack(1);
    near(law.column("d_est"), 0.303);
    // Above r * d_min, as d_max was then: down 2 ms.
    law.rtt(900).advance(5).ack(1);
    near(law.column("d_est"), 0.302);
    law.rtt(100).advance(5).ack(1);
    near(law.column("d_est"), 0.3);
    // Never below the smallest delay.
    for _ in 0..200 {
        law.rtt(900).advance(5).ack(1);
    }
    near(law.column("d_est"), 0.1);
}

#[test]
fn a_silence_is_a_delay() {
    // No ACK for 600 ms, 120 epochs: d_max comes to 4 times 100 ms and the aim falls again.
    let mut law = started(&[]);
    law.rtt(150).advance(5).ack(1);
    let before = law.column("d_est");
    law.advance(600).ack(1);
    assert!(law.column("d_max") > 0.4, "{}", law.column("d_max"));
    assert!(law.column("d_est") < before, "{}", law.column("d_est"));
}

#[test]
fn the_window_comes_from_the_profile() {
    // Everything learnt between 10 and 100 segments had 100 ms, one at 201: at 300 ms the curve goes on in proportion.
    let mut law = started(&[]);
    law.rtt(150).advance(5).ack(1);
    near(law.cwnd(), law.column("w"));
    assert!(law.cwnd() > 100.0, "{}", law.cwnd());
    // With an aim below what all of them had, in proportion too, towards nothing.
    for _ in 0..150 {
        law.rtt(900).advance(5).ack(1);
    }
    assert!(law.column("d_est") < 0.11 && law.cwnd() <= 100.0, "{} {}", law.column("d_est"), law.cwnd());
}

#[test]
fn losses() {
    let mut law = started(&[]);
    law.rtt(150).advance(5).ack(1);
    let left_with = law.cwnd();
    // What was outstanding before left with 70 and more; the smaller of that and the window counts.
    law.lose();
    assert!(law.cwnd() <= 0.7 * left_with + 1e-9, "{}", law.cwnd());
    // Reno's growth until a segment is acknowledged that left with the window of now.
    let before = law.cwnd();
    law.ack_in_recovery(1);
    near(law.cwnd(), before + 1.0 / before);
    let d_est = law.column("d_est");
    law.recover().advance(50);
    for _ in 0..300 {
        law.ack(1);
    }
    law.advance(5).ack(1);
    assert!((law.column("d_est") - d_est).abs() > 1e-9, "epochs go on");
    // A timeout makes it forget.
    law.time_out();
    near(law.cwnd(), 1.0);
    assert_eq!(law.phase(), Phase::SlowStart);
    assert!(law.column("d_min").is_nan());
}

#[test]
fn a_loss_among_what_a_timeout_began_ends_slow_start() {
    // Slow start from one segment to 8, the timeout's losses not repaired: a further segment lost leaves 0.7 of them. The
    // segment that the ACK covers left with 4 or fewer, which bound it.
    let mut law = started(&[]);
    law.time_out();
    for _ in 0..7 {
        law.ack_in_loss(1, 0);
    }
    near(law.cwnd(), 8.0);
    assert_eq!(law.phase(), Phase::SlowStart);
    law.ack_in_loss(1, 1);
    assert_eq!(law.phase(), Phase::Avoidance);
    assert!(law.cwnd() <= 0.7 * 8.0 + 1.0, "{}", law.cwnd());
}
