//! TCP-NV against numbers worked by hand [Brakmo 2010; Linux tcp_nv.c tcpnv_acked].

use dumbbell_cc::Phase;
use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// In avoidance with a hundred segments; this many are delivered in each round trip of 100 ms.
fn hundred(delivered: u64) -> CcFixture {
    let mut cc = CcFixture::new("nv", &[], 100.0, 100.0);
    cc.outstanding(100).delivering(delivered);
    cc
}

/// Round trips of a hundred ACKs each.
fn trips(cc: &mut CcFixture, n: u64) {
    for _ in 0..n {
        for _ in 0..100 {
            cc.ack(1);
        }
    }
}

#[test]
fn it_grows_as_reno_without_a_queue() {
    // 100 segments in a base RTT: ten more are allowed.
    let mut cc = hundred(100);
    near(cc.ack(1).cwnd(), 100.01);
    trips(&mut cc, 1);
    near(cc.column("max_win"), 110.0);
    near(cc.column("grows"), 1.0);
    // With 109 segments it is within pad_buffer of the limit: unchanged.
    let mut cc = CcFixture::new("nv", &[], 109.0, 109.0);
    cc.outstanding(100).delivering(100);
    trips(&mut cc, 5);
    assert!(cc.cwnd() > 109.5 && cc.cwnd() < 115.0, "{}", cc.cwnd());
}

#[test]
fn it_reduces_by_a_part_of_the_excess() {
    // 60 segments are delivered in a round trip: max_win is 60 + 10. Excess 30: 30 % of it in whole segments, 9.
    let mut cc = hundred(60);
    cc.ack_unused(1);
    // After two round trips and 60 samples, when the 201st ACK ends the second.
    for _ in 0..200 {
        cc.ack_unused(1);
    }
    near(cc.column("max_win"), 70.0);
    near(cc.cwnd(), 91.0);
    near(cc.ssthresh(), 70.0);
    assert_eq!(cc.phase(), Phase::Avoidance);
    near(cc.column("grows"), 0.0);
    let before = cc.cwnd();
    near(cc.ack(1).cwnd(), before);
    // An excess of at most two: max_win.
    let mut cc = CcFixture::new("nv", &[], 72.0, 72.0);
    cc.outstanding(100).delivering(60);
    for _ in 0..202 {
        cc.ack_unused(1);
    }
    near(cc.cwnd(), 70.0);
}

#[test]
fn the_rtt_is_averaged() {
    let mut cc = hundred(100);
    cc.ack(1).rtt(200).ack(1);
    near(cc.column("rtt"), 0.15);
    near(cc.column("min_rtt"), 0.1);
    cc.ack(1);
    near(cc.column("rtt"), 0.175);
}

#[test]
fn min_rtt_is_replaced_periodically() {
    // 100 ms once, then 200 ms: after two seconds the minimum since the beginning (the average doesn't quite reach
    // 200); in the next period the minimum since then.
    let mut cc = hundred(100);
    cc.ack(1).rtt(200);
    trips(&mut cc, 1);
    cc.advance(1900).ack(1);
    near(cc.column("min_rtt"), 0.1);
    cc.advance(200).ack(1);
    near(cc.column("min_rtt"), 0.1);
    trips(&mut cc, 1);
    cc.advance(6300).ack(1);
    assert!((cc.column("min_rtt") - 0.2).abs() < 1e-6, "{}", cc.column("min_rtt"));
}

#[test]
fn losses_leave_four_fifths() {
    let mut cc = hundred(100);
    cc.ack(1);
    let before = cc.cwnd();
    cc.lose();
    near(cc.cwnd(), 0.8 * before);
    // No growth and no measurements until a decision: 20 samples, and the end of a round trip.
    cc.recover().ack(1);
    near(cc.cwnd(), 0.8 * before);
    near(cc.column("grows"), 0.0);
    // A timeout makes growth half as fast, too.
    let mut cc = hundred(100);
    cc.ack(1).time_out();
    near(cc.cwnd(), 1.0);
    assert_eq!(cc.phase(), Phase::SlowStart);
}
