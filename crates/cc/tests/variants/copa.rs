use dumbbell_cc::Phase;
use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// Out of slow start with ten segments and a base RTT of 100 ms: with 150 ms the target is 0.15 / (0.5 * 0.05) = 6 segments,
/// which ends it.
fn ten(params: &[(&str, &str)]) -> CcFixture {
    let mut law = CcFixture::new("copa", params, 10.0, f64::INFINITY);
    law.ack_unused(1);
    assert_eq!(law.phase(), Phase::SlowStart);
    law.advance(60).rtt(150).ack_unused(1);
    assert_eq!(law.phase(), Phase::Avoidance);
    near(law.cwnd(), 10.0);
    law
}

/// It doesn't compete.
const ALONE: (&str, &str) = ("competitive", "false");

#[test]
fn slow_start_doubles_until_the_rate_is_reached() {
    let mut law = CcFixture::new("copa", &[], 10.0, f64::INFINITY);
    near(law.ack(1).cwnd(), 11.0);
    // 19 ms of queue: 0.119 / (0.5 * 0.019) = 12.5 segments are the target. At 12 it still grows, at 13 no more.
    law.advance(60).rtt(119).ack(1);
    near(law.cwnd(), 12.0);
    near(law.ack(1).cwnd(), 13.0);
    near(law.ack(1).cwnd(), 13.0);
    assert_eq!(law.phase(), Phase::Avoidance);
}

#[test]
fn it_steers_towards_the_target() {
    // 150 ms: the target is 6 segments, so 1 / (0.5 * 10) less for each acknowledged.
    let mut law = ten(&[ALONE]);
    near(law.ack(1).cwnd(), 9.8);
    near(law.ack(2).cwnd(), 9.8 - 4.0 / 9.8);
    // 110 ms: 0.11 / (0.5 * 0.01) = 22 segments, up.
    let mut law = ten(&[ALONE]);
    law.advance(100).rtt(110).ack(1);
    near(law.cwnd(), 10.2);
    near(law.column("standing_rtt"), 0.11);
    near(law.column("base_rtt"), 0.1);
    // Without any delay up; a window that isn't used doesn't grow.
    let mut law = ten(&[ALONE]);
    near(law.advance(100).rtt(100).ack_unused(1).ack(1).cwnd(), 10.2);
    // delta = 1: half the step, and half the target: 3 segments at 150 ms.
    let mut law = ten(&[ALONE, ("delta", "1")]);
    near(law.ack(1).cwnd(), 9.9);
}

#[test]
fn the_standing_rtt_is_the_smallest_of_half_a_round_trip() {
    let mut law = ten(&[]);
    law.rtt(110).ack_unused(1); // srtt 100, 106.25, 106.7: half is 53 ms
    law.rtt(300).advance(50).ack_unused(1);
    near(law.column("standing_rtt"), 0.11);
    law.advance(70).ack_unused(1);
    near(law.column("standing_rtt"), 0.3);
    // The base lives for ten seconds: that of 100 ms is 10.03 s old then, the one of 110 ms 9.97 s.
    law.advance(9850).ack_unused(1);
    near(law.column("base_rtt"), 0.11);
}

#[test]
fn the_velocity_doubles_after_three_round_trips() {
    let mut law = ten(&[ALONE]);
    law.advance(1000).rtt(100).ack_unused(1);
    // Up for ever. The first ACK begins the first round trip; the ends of the second, third and fourth (250 ms apart)
    // find the same direction one, two and three times; the fifth doubles, and the sixth.
    let mut seen = Vec::new();
    for _ in 0..7 {
        law.ack(1).advance(250).ack(1);
        seen.push(law.column("velocity"));
    }
    assert_eq!(seen, [1.0, 1.0, 1.0, 2.0, 4.0, 8.0, 16.0]);
    // A turn ends it at once.
    law.advance(1000).rtt(200).ack(1);
    near(law.column("velocity"), 1.0);
}

#[test]
fn it_competes_where_the_queue_never_empties() {
    let mut law = ten(&[]);
    // 150 ms for ever, while 117.5 would be nearly empty. srtt is 106 to 150 ms: four times 130 ms are too few, with the
    // 60 ms from before.
    for _ in 0..4 {
        law.advance(130).ack_unused(1);
    }
    near(law.column("competitive"), 0.0);
    law.advance(130).ack_unused(1);
    near(law.column("competitive"), 1.0);
    near(law.column("delta"), 0.5);
    // 1 / delta: 2, 3, 4 after a round trip each.
    law.advance(150).ack_unused(1);
    near(law.column("delta"), 1.0 / 3.0);
    law.advance(150).ack_unused(1);
    near(law.column("delta"), 0.25);
    // A loss halves it, once a round trip, and leaves the window.
    let before = law.cwnd();
    law.lose().lose();
    near(law.column("delta"), 0.5);
    near(law.cwnd(), before);
    law.advance(150).ack_unused(1).advance(150).ack_unused(1);
    near(law.column("delta"), 0.25);
    // An empty queue: the default again.
    law.rtt(100).ack_unused(1);
    near(law.column("competitive"), 0.0);
    near(law.column("delta"), 0.5);
}

#[test]
fn the_default_mode_does_not_mind_losses() {
    let mut law = ten(&[]);
    law.lose().echo_mark();
    near(law.cwnd(), 10.0);
    near(law.column("delta"), 0.5);
    law.time_out();
    near(law.cwnd(), 1.0);
    assert_eq!(law.phase(), Phase::SlowStart);
}

#[test]
fn it_paces_at_twice_its_rate() {
    // 2 * 10 / 0.15 segments/s.
    let law = ten(&[]);
    near((law.pacing() * 1000.0).round() / 1000.0, 133.333);
}
