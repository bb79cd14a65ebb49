use dumbbell_cc::Phase;
use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// Without slowdowns, after the first slow start, with ten segments and a base of 120 ms: the gain is 1 / (2 * 60 / 120) = 1.
fn ten() -> CcFixture {
    let mut law = CcFixture::new("ledbat++", &[("slowdown", "false")], 10.0, f64::INFINITY);
    law.rtt(120);
    while law.cwnd() < 10.0 {
        law.ack(1);
    }
    near(law.column("gain"), 1.0);
    delay(&mut law, 166); // above three quarters of the target: slow start is over
    law.ack(1);
    assert_eq!(law.phase(), Phase::Avoidance);
    law
}

/// Four samples of that RTT.
fn delay(law: &mut CcFixture, rtt: u64) {
    law.rtt(rtt).ack_unused(0).ack_unused(0).ack_unused(0).ack_unused(0);
}

#[test]
fn it_starts_with_two_segments_and_its_gain() {
    // 2 * 60 / 40 = 3: a third of a segment for each.
    let mut law = CcFixture::new("ledbat++", &[], 10.0, f64::INFINITY);
    near(law.cwnd(), 2.0);
    near(law.rtt(40).ack(1).cwnd(), 2.0 + 1.0 / 3.0);
    near(law.ack(2).cwnd(), 3.0);
    // On a path of 1 ms a 120th, but not less than a 16th; on one of 50 ms a third (2.4 is rounded up), of 300 ms all.
    for (rtt, gain) in [(1, 1.0 / 16.0), (50, 1.0 / 3.0), (300, 1.0)] {
        let mut law = CcFixture::new("ledbat++", &[], 10.0, f64::INFINITY);
        law.rtt(rtt).ack(1);
        near(law.column("gain"), gain);
        near(law.cwnd(), 2.0 + gain);
    }
}

#[test]
fn it_adds_below_the_target_and_multiplies_above() {
    let mut law = ten();
    let w = law.cwnd();
    near(law.ack(1).cwnd(), w + 1.0 / w);
    // 66 ms: a tenth too much. 1 - w * 0.1 for a whole window, so that w = 10 would stand still.
    delay(&mut law, 186);
    let w = law.cwnd();
    near(law.ack(1).cwnd(), w + (1.0 - 0.1 * w) / w);
    // Half a window at most.
    delay(&mut law, 1000);
    let w = law.cwnd();
    near(law.ack(1).cwnd(), w - 0.5);
    for _ in 0..100 {
        law.ack(1);
    }
    near(law.cwnd(), 2.0);
}

#[test]
fn slowdowns_come_back_to_where_they_began() {
    let mut law = CcFixture::new("ledbat++", &[], 10.0, f64::INFINITY);
    law.rtt(120).advance(120);
    while law.cwnd() < 10.0 {
        law.ack(1);
    }
    // Slow start ends at 46 ms of queue; two round trips of about 130 ms later the first slowdown begins.
    delay(&mut law, 166);
    law.ack(1);
    let begins = law.cwnd();
    law.rtt(120).advance(250).ack(1);
    assert!(law.cwnd() > begins);
    let before = law.cwnd();
    law.advance(50).ack(1);
    near(law.cwnd(), 2.0);
    near(law.ssthresh(), before);
    // Two round trips it stands still, then slow start, a segment for each (the base is 120 ms).
    law.advance(200).ack(1).ack(1);
    near(law.cwnd(), 2.0);
    law.advance(100).ack(1);
    near(law.cwnd(), 3.0);
    let mut n = 1;
    while law.cwnd() < before {
        law.ack(1);
        n += 1;
    }
    near(law.cwnd(), before);
    assert!(n <= 10, "{n}");
    // It took 300 ms: the next one comes 2.7 s later.
    law.ack(1).advance(2600).ack(1);
    assert!(law.cwnd() > 2.0);
    law.advance(200).ack(1);
    near(law.cwnd(), 2.0);
}

#[test]
fn losses_as_reno() {
    let mut law = ten();
    let w = law.cwnd();
    near(law.lose().cwnd(), w / 2.0);
    near(law.recover().time_out().cwnd(), 1.0);
    assert_eq!(law.phase(), Phase::SlowStart);
}
