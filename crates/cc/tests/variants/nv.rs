use dumbbell_cc::Phase;
use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// In avoidance with a hundred segments, of which so many are delivered in each round trip of 100 ms.
fn hundred(delivered: u64) -> CcFixture {
    let mut law = CcFixture::new("nv", &[], 100.0, 100.0);
    law.outstanding(100).delivering(delivered);
    law
}

/// So many round trips of a hundred ACKs.
fn trips(law: &mut CcFixture, n: u64) {
    for _ in 0..n {
        for _ in 0..100 {
            law.ack(1);
        }
    }
}

#[test]
fn it_grows_as_reno_without_a_queue() {
    // 100 segments in a base RTT: room for ten more.
    let mut law = hundred(100);
    near(law.ack(1).cwnd(), 100.01);
    trips(&mut law, 1);
    near(law.column("max_win"), 110.0);
    near(law.column("grows"), 1.0);
    // With 109 segments it is within the last two: as it is.
    let mut law = CcFixture::new("nv", &[], 109.0, 109.0);
    law.outstanding(100).delivering(100);
    trips(&mut law, 5);
    assert!(law.cwnd() > 109.5 && law.cwnd() < 115.0, "{}", law.cwnd());
}

#[test]
fn it_gives_up_a_part_of_the_excess() {
    // 60 segments are delivered in a round trip: 60 + 10 is what it wants. Excess 30: a third of it in whole segments, 9.
    let mut law = hundred(60);
    law.ack_unused(1);
    // After two round trips and 60 samples, when the 201st ACK ends the second.
    for _ in 0..200 {
        law.ack_unused(1);
    }
    near(law.column("max_win"), 70.0);
    near(law.cwnd(), 91.0);
    near(law.ssthresh(), 70.0);
    assert_eq!(law.phase(), Phase::Avoidance);
    near(law.column("grows"), 0.0);
    let before = law.cwnd();
    near(law.ack(1).cwnd(), before);
    // At most two too many: the window itself.
    let mut law = CcFixture::new("nv", &[], 72.0, 72.0);
    law.outstanding(100).delivering(60);
    for _ in 0..202 {
        law.ack_unused(1);
    }
    near(law.cwnd(), 70.0);
}

#[test]
fn the_round_trip_time_is_averaged() {
    let mut law = hundred(100);
    law.ack(1).rtt(200).ack(1);
    near(law.column("rtt"), 0.15);
    near(law.column("min_rtt"), 0.1);
    law.ack(1);
    near(law.column("rtt"), 0.175);
}

#[test]
fn min_rtt_is_renewed() {
    // 100 ms once, 200 ms ever after: two seconds on, the smallest since the beginning (the average never came quite to
    // 200); in the next period what has come since.
    let mut law = hundred(100);
    law.ack(1).rtt(200);
    trips(&mut law, 1);
    law.advance(1900).ack(1);
    near(law.column("min_rtt"), 0.1);
    law.advance(200).ack(1);
    near(law.column("min_rtt"), 0.1);
    trips(&mut law, 1);
    law.advance(6300).ack(1);
    assert!((law.column("min_rtt") - 0.2).abs() < 1e-6, "{}", law.column("min_rtt"));
}

#[test]
fn losses_leave_four_fifths() {
    let mut law = hundred(100);
    law.ack(1);
    let before = law.cwnd();
    law.lose();
    near(law.cwnd(), 0.8 * before);
    // No growth and nothing known until there is a decision: 20 samples, and a round trip over.
    law.recover().ack(1);
    near(law.cwnd(), 0.8 * before);
    near(law.column("grows"), 0.0);
    // A timeout makes growth half as fast, too.
    let mut law = hundred(100);
    law.ack(1).time_out();
    near(law.cwnd(), 1.0);
    assert_eq!(law.phase(), Phase::SlowStart);
}
