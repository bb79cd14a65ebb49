//! TCP-LP against numbers worked by hand [Kuzmanovic and Knightly 2006; Linux tcp_lp.c tcp_lp_pkts_acked].

use dumbbell_cc::Phase;
use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// In avoidance with ten segments, after a loss at twenty, when no sample is ignored any more. One-way delays so far:
/// 50 ms and 150 ms, so that congestion begins above 50 + 0.15 * 100 = 65 ms. The clocks are 1 s apart. Time, RTT: 100
/// ms.
fn ten(params: &[(&str, &str)]) -> CcFixture {
    let mut cc = CcFixture::new("lp", params, 20.0, 20.0);
    cc.one_way(-950).ack_unused(1).one_way(-850).ack_unused(1);
    cc.lose().recover();
    // The first of these ACKs begins the round trip that the second one ends.
    cc.one_way(-950).advance(100).ack_unused(20).advance(100).ack_unused(20);
    near(cc.cwnd(), 10.0);
    near(cc.column("delay_min"), -0.95);
    near(cc.column("delay_max"), -0.85);
    near(cc.column("delay"), -0.95);
    cc
}

#[test]
fn without_a_queue_it_is_reno() {
    let mut cc = CcFixture::new("lp", &[], 2.0, 8.0);
    near(cc.round().round().cwnd(), 8.0);
    near(cc.ack(1).cwnd(), 8.125);
    near(ten(&[]).ack(1).cwnd(), 10.1);
}

#[test]
fn the_smoothed_delay_decides() {
    // 50 + (150 - 50) / 8 = 62.5 ms is below 65; another 150: 62.5 + 87.5 / 8 = 73.4 is above.
    let mut cc = ten(&[]);
    cc.one_way(-850).ack_unused(1);
    near(cc.column("delay"), -0.9375);
    near(cc.cwnd(), 10.0);
    cc.ack_unused(1);
    near(cc.cwnd(), 5.0);
    near(cc.ssthresh(), 5.0);
    assert_eq!(cc.phase(), Phase::Avoidance);
    // delta = 0.3: 73.4 is below 80; 73.4 + 76.6 / 8 = 82.99 is above.
    let mut cc = ten(&[("delta", "0.3")]);
    cc.one_way(-850).ack_unused(1).ack_unused(1);
    near(cc.cwnd(), 10.0);
    near(cc.ack_unused(1).cwnd(), 5.0);
}

/// After the first response, with five segments.
fn responded() -> CcFixture {
    let mut cc = ten(&[]);
    cc.one_way(-850).ack_unused(1).ack_unused(1);
    near(cc.cwnd(), 5.0);
    cc
}

#[test]
fn inference_is_without_growth() {
    // 3 RTT = 300 ms.
    let mut cc = responded();
    cc.one_way(-950);
    for _ in 0..3 {
        near(cc.ack(5).cwnd(), 5.0);
        cc.advance(99);
    }
    near(cc.advance(3).ack(1).cwnd(), 5.2);
}

#[test]
fn a_second_indication_leaves_one_segment() {
    let mut cc = responded();
    // Segments sent before the response don't count: the first ACK begins the round trip, its window is ignored.
    cc.advance(100).ack(1).ack(1).ack(1);
    near(cc.cwnd(), 5.0);
    // After it one sample is enough, because the smoothed delay restarts.
    cc.advance(100).ack(20);
    near(cc.cwnd(), 1.0);
    near(cc.ssthresh(), 2.0);
    // Then it grows by segments after the three round trips; with fewer than three segments no delay is measured.
    cc.ack(1);
    near(cc.cwnd(), 1.0);
    cc.advance(101).ack(1);
    near(cc.cwnd(), 2.0);
    near(cc.one_way(-950).ack(1).cwnd(), 2.5);
}

#[test]
fn a_later_indication_halves_again() {
    let mut cc = responded();
    cc.advance(400).ack_unused(20).ack_unused(20);
    near(cc.cwnd(), 2.5);
}

#[test]
fn nothing_is_inferred_before_the_first_loss() {
    let mut cc = CcFixture::new("lp", &[], 10.0, 10.0);
    cc.one_way(50).ack_unused(1).one_way(150);
    for _ in 0..20 {
        cc.ack_unused(1);
    }
    near(cc.cwnd(), 10.0);
}

#[test]
fn without_timestamps_the_rtt_is_used() {
    for (params, timestamps) in [(&[][..], false), (&[("delay", "round-trip")][..], true)] {
        let mut cc = CcFixture::new("lp", params, 20.0, 20.0);
        if timestamps {
            cc.one_way(7);
        }
        cc.ack_unused(1).rtt(200).ack_unused(1).lose().recover();
        cc.rtt(100).ack_unused(20).ack_unused(20);
        near(cc.column("delay"), 0.1);
        // 100 + 100 / 8 = 112.5 < 115, then 123.4.
        near(cc.rtt(200).ack_unused(1).cwnd(), 10.0);
        near(cc.ack_unused(1).cwnd(), 5.0);
    }
}

#[test]
fn a_loss_reduces_as_reno() {
    let mut cc = CcFixture::new("lp", &[], 20.0, 20.0);
    near(cc.lose().cwnd(), 10.0);
    let mut cc = CcFixture::new("lp", &[], 20.0, 20.0);
    near(cc.echo_mark().cwnd(), 10.0);
    let mut cc = CcFixture::new("lp", &[], 20.0, 20.0);
    cc.time_out();
    near(cc.cwnd(), 1.0);
    near(cc.ssthresh(), 10.0);
    cc.time_out(); // the same segment again
    near(cc.ssthresh(), 10.0);
    near(cc.ack(1).cwnd(), 2.0);
}

#[test]
fn without_a_delay_it_is_reno() {
    let mut lp = CcFixture::new("lp", &[("delay", "none")], 20.0, 20.0);
    let mut reno = CcFixture::new("reno", &[], 20.0, 20.0);
    for cc in [&mut lp, &mut reno] {
        // A range of 100 ms, then delays at its maximum.
        cc.lose().recover().one_way(50).round().one_way(150).round().round();
    }
    near(lp.cwnd(), reno.cwnd());
    assert!(reno.cwnd() > 12.0);
}
