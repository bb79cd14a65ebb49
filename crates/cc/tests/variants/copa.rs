//! Copa against numbers worked by hand [Arun and Balakrishnan 2018].

use dumbbell_cc::Phase;
use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// Out of slow start with ten segments and a base RTT of 100 ms: with 150 ms the target is 0.15 / (0.5 * 0.05) = 6
/// segments, which ends it.
fn ten(params: &[(&str, &str)]) -> CcFixture {
    let mut cc = CcFixture::new("copa", params, 10.0, f64::INFINITY);
    cc.ack_unused(1);
    assert_eq!(cc.phase(), Phase::SlowStart);
    cc.advance(60).rtt(150).ack_unused(1);
    assert_eq!(cc.phase(), Phase::Avoidance);
    near(cc.cwnd(), 10.0);
    cc
}

/// In default mode only.
const ALONE: (&str, &str) = ("competitive", "false");

#[test]
fn slow_start_doubles_until_the_rate_is_reached() {
    let mut cc = CcFixture::new("copa", &[], 10.0, f64::INFINITY);
    near(cc.ack(1).cwnd(), 11.0);
    // 19 ms of queue: 0.119 / (0.5 * 0.019) = 12.5 segments are the target. At 12 it still grows, at 13 it doesn't.
    cc.advance(60).rtt(119).ack(1);
    near(cc.cwnd(), 12.0);
    near(cc.ack(1).cwnd(), 13.0);
    near(cc.ack(1).cwnd(), 13.0);
    assert_eq!(cc.phase(), Phase::Avoidance);
}

#[test]
fn it_steers_to_the_target_rate() {
    // 150 ms: the target is 6 segments, so it shrinks by 1 / (0.5 * 10) for each segment.
    let mut cc = ten(&[ALONE]);
    near(cc.ack(1).cwnd(), 9.8);
    near(cc.ack(2).cwnd(), 9.8 - 4.0 / 9.8);
    // 110 ms: 0.11 / (0.5 * 0.01) = 22 segments, it grows.
    let mut cc = ten(&[ALONE]);
    cc.advance(100).rtt(110).ack(1);
    near(cc.cwnd(), 10.2);
    near(cc.column("standing_rtt"), 0.11);
    near(cc.column("base_rtt"), 0.1);
    // Without a queue it grows; a window that isn't used doesn't grow.
    let mut cc = ten(&[ALONE]);
    near(cc.advance(100).rtt(100).ack_unused(1).ack(1).cwnd(), 10.2);
    // delta = 1: half the step, and half the target: 3 segments at 150 ms.
    let mut cc = ten(&[ALONE, ("delta", "1")]);
    near(cc.ack(1).cwnd(), 9.9);
}

#[test]
fn the_standing_rtt_is_the_minimum_of_half_a_round_trip() {
    let mut cc = ten(&[]);
    cc.rtt(110).ack_unused(1); // srtt 100, 106.25, 106.7: half is 53 ms
    cc.rtt(300).advance(50).ack_unused(1);
    near(cc.column("standing_rtt"), 0.11);
    cc.advance(70).ack_unused(1);
    near(cc.column("standing_rtt"), 0.3);
    // RTTmin expires after ten seconds: the 100 ms are 10.03 s old then, the 110 ms 9.97 s.
    cc.advance(9850).ack_unused(1);
    near(cc.column("base_rtt"), 0.11);
}

#[test]
fn the_velocity_doubles_after_three_round_trips() {
    let mut cc = ten(&[ALONE]);
    cc.advance(1000).rtt(100).ack_unused(1);
    // It always grows. The first ACK begins the first round trip; the ends of the second, third and fourth (250 ms
    // apart) find the same direction one, two and three times; the fifth doubles, and the sixth.
    let mut seen = Vec::new();
    for _ in 0..7 {
        cc.ack(1).advance(250).ack(1);
        seen.push(cc.column("velocity"));
    }
    assert_eq!(seen, [1.0, 1.0, 1.0, 2.0, 4.0, 8.0, 16.0]);
    // A change of direction resets it immediately.
    cc.advance(1000).rtt(200).ack(1);
    near(cc.column("velocity"), 1.0);
}

#[test]
fn it_competes_if_the_queue_never_drains() {
    let mut cc = ten(&[]);
    // 150 ms all the time, while 117.5 would be nearly empty. srtt is 106 to 150 ms: four times 130 ms are too few,
    // with the 60 ms from before.
    for _ in 0..4 {
        cc.advance(130).ack_unused(1);
    }
    near(cc.column("competitive"), 0.0);
    cc.advance(130).ack_unused(1);
    near(cc.column("competitive"), 1.0);
    near(cc.column("delta"), 0.5);
    // 1 / delta: 2, 3, 4, one more per round trip.
    cc.advance(150).ack_unused(1);
    near(cc.column("delta"), 1.0 / 3.0);
    cc.advance(150).ack_unused(1);
    near(cc.column("delta"), 0.25);
    // A loss halves it, at most once per round trip, and doesn't change the window.
    let before = cc.cwnd();
    cc.lose().lose();
    near(cc.column("delta"), 0.5);
    near(cc.cwnd(), before);
    cc.advance(150).ack_unused(1).advance(150).ack_unused(1);
    near(cc.column("delta"), 0.25);
    // An empty queue: default mode again.
    cc.rtt(100).ack_unused(1);
    near(cc.column("competitive"), 0.0);
    near(cc.column("delta"), 0.5);
}

#[test]
fn the_default_mode_ignores_losses() {
    let mut cc = ten(&[]);
    cc.lose().echo_mark();
    near(cc.cwnd(), 10.0);
    near(cc.column("delta"), 0.5);
    cc.time_out();
    near(cc.cwnd(), 1.0);
    assert_eq!(cc.phase(), Phase::SlowStart);
}

#[test]
fn it_paces_at_twice_its_rate() {
    // 2 * 10 / 0.15 segments/s.
    let cc = ten(&[]);
    near((cc.pacing() * 1000.0).round() / 1000.0, 133.333);
}
