//! LEDBAT++ against numbers worked by hand [draft-irtf-iccrg-ledbat-plus-plus-01].

use dumbbell_cc::Phase;
use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// Without slowdowns, after the first slow start, with ten segments and a base of 120 ms: the gain is 1 / (2 * 60 /
/// 120) = 1.
fn ten() -> CcFixture {
    let mut cc = CcFixture::new("ledbat++", &[("slowdown", "false")], 10.0, f64::INFINITY);
    cc.rtt(120);
    while cc.cwnd() < 10.0 {
        cc.ack(1);
    }
    near(cc.column("gain"), 1.0);
    delay(&mut cc, 166); // above three quarters of the target: slow start ends
    cc.ack(1);
    assert_eq!(cc.phase(), Phase::Avoidance);
    cc
}

/// Four samples of that RTT.
fn delay(cc: &mut CcFixture, rtt: u64) {
    cc.rtt(rtt).ack_unused(0).ack_unused(0).ack_unused(0).ack_unused(0);
}

#[test]
fn it_starts_with_two_segments_and_its_gain() {
    // 2 * 60 / 40 = 3: a third of a segment for each segment.
    let mut cc = CcFixture::new("ledbat++", &[], 10.0, f64::INFINITY);
    near(cc.cwnd(), 2.0);
    near(cc.rtt(40).ack(1).cwnd(), 2.0 + 1.0 / 3.0);
    near(cc.ack(2).cwnd(), 3.0);
    // On a path of 1 ms 1/120, but at least 1/16; on one of 50 ms 1/3 (2.4 is rounded up); of 300 ms 1.
    for (rtt, gain) in [(1, 1.0 / 16.0), (50, 1.0 / 3.0), (300, 1.0)] {
        let mut cc = CcFixture::new("ledbat++", &[], 10.0, f64::INFINITY);
        cc.rtt(rtt).ack(1);
        near(cc.column("gain"), gain);
        near(cc.cwnd(), 2.0 + gain);
    }
}

#[test]
fn it_adds_below_the_target_and_multiplies_above() {
    let mut cc = ten();
    let w = cc.cwnd();
    near(cc.ack(1).cwnd(), w + 1.0 / w);
    // 66 ms: 10 % above the target. 1 - w * 0.1 for a whole window, so that w = 10 would be constant.
    delay(&mut cc, 186);
    let w = cc.cwnd();
    near(cc.ack(1).cwnd(), w + (1.0 - 0.1 * w) / w);
    // At most half of the window.
    delay(&mut cc, 1000);
    let w = cc.cwnd();
    near(cc.ack(1).cwnd(), w - 0.5);
    for _ in 0..100 {
        cc.ack(1);
    }
    near(cc.cwnd(), 2.0);
}

#[test]
fn slowdowns_return_to_their_window() {
    let mut cc = CcFixture::new("ledbat++", &[], 10.0, f64::INFINITY);
    cc.rtt(120).advance(120);
    while cc.cwnd() < 10.0 {
        cc.ack(1);
    }
    // Slow start ends at 46 ms of queue; two round trips of about 130 ms later the first slowdown begins.
    delay(&mut cc, 166);
    cc.ack(1);
    let begins = cc.cwnd();
    cc.rtt(120).advance(250).ack(1);
    assert!(cc.cwnd() > begins);
    let before = cc.cwnd();
    cc.advance(50).ack(1);
    near(cc.cwnd(), 2.0);
    near(cc.ssthresh(), before);
    // The window is constant for two round trips, then slow start, a segment for each (the base is 120 ms).
    cc.advance(200).ack(1).ack(1);
    near(cc.cwnd(), 2.0);
    cc.advance(100).ack(1);
    near(cc.cwnd(), 3.0);
    let mut n = 1;
    while cc.cwnd() < before {
        cc.ack(1);
        n += 1;
    }
    near(cc.cwnd(), before);
    assert!(n <= 10, "{n}");
    // It took 300 ms: the next one begins 2.7 s later.
    cc.ack(1).advance(2600).ack(1);
    assert!(cc.cwnd() > 2.0);
    cc.advance(200).ack(1);
    near(cc.cwnd(), 2.0);
}

#[test]
fn a_loss_reduces_as_reno() {
    let mut cc = ten();
    let w = cc.cwnd();
    near(cc.lose().cwnd(), w / 2.0);
    near(cc.recover().time_out().cwnd(), 1.0);
    assert_eq!(cc.phase(), Phase::SlowStart);
}
