use dumbbell_cc::Phase;
use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// In avoidance at ten segments after a loss at twenty, nothing being ignored any more. One-way delays so far: 50 ms and
/// 150 ms, so that congestion begins above 50 + 0.15 * 100 = 65 ms. The clocks are 1 s apart. Time, RTT: 100 ms.
fn ten(params: &[(&str, &str)]) -> CcFixture {
    let mut law = CcFixture::new("lp", params, 20.0, 20.0);
    law.one_way(-950).ack_unused(1).one_way(-850).ack_unused(1);
    law.lose().recover();
    // The first of these begins the round of which the second tells.
    law.one_way(-950).advance(100).ack_unused(20).advance(100).ack_unused(20);
    near(law.cwnd(), 10.0);
    near(law.column("delay_min"), -0.95);
    near(law.column("delay_max"), -0.85);
    near(law.column("delay"), -0.95);
    law
}

#[test]
fn without_a_queue_it_is_reno() {
    let mut law = CcFixture::new("lp", &[], 2.0, 8.0);
    near(law.round().round().cwnd(), 8.0);
    near(law.ack(1).cwnd(), 8.125);
    near(ten(&[]).ack(1).cwnd(), 10.1);
}

#[test]
fn the_smoothed_delay_decides() {
    // 50 + (150 - 50) / 8 = 62.5 ms is below 65; another 150: 62.5 + 87.5 / 8 = 73.4 is above.
    let mut law = ten(&[]);
    law.one_way(-850).ack_unused(1);
    near(law.column("delay"), -0.9375);
    near(law.cwnd(), 10.0);
    law.ack_unused(1);
    near(law.cwnd(), 5.0);
    near(law.ssthresh(), 5.0);
    assert_eq!(law.phase(), Phase::Avoidance);
    // delta = 0.3: 73.4 is below 80; 73.4 + 76.6 / 8 = 82.99 is above.
    let mut law = ten(&[("delta", "0.3")]);
    law.one_way(-850).ack_unused(1).ack_unused(1);
    near(law.cwnd(), 10.0);
    near(law.ack_unused(1).cwnd(), 5.0);
}

/// After the first answer, with five segments.
fn answered() -> CcFixture {
    let mut law = ten(&[]);
    law.one_way(-850).ack_unused(1).ack_unused(1);
    near(law.cwnd(), 5.0);
    law
}

#[test]
fn inference_is_without_growth() {
    // 3 RTT = 300 ms.
    let mut law = answered();
    law.one_way(-950);
    for _ in 0..3 {
        near(law.ack(5).cwnd(), 5.0);
        law.advance(99);
    }
    near(law.advance(3).ack(1).cwnd(), 5.2);
}

#[test]
fn a_second_indication_means_others() {
    let mut law = answered();
    // What was sent before the answer says nothing: the first ACK begins the round, the window of it is ignored.
    law.advance(100).ack(1).ack(1).ack(1);
    near(law.cwnd(), 5.0);
    // Beyond it one sample is enough, for the smoothed delay starts anew.
    law.advance(100).ack(20);
    near(law.cwnd(), 1.0);
    near(law.ssthresh(), 2.0);
    // From there segment by segment once the three round trips are over; less than three segments tell no delay.
    law.ack(1);
    near(law.cwnd(), 1.0);
    law.advance(101).ack(1);
    near(law.cwnd(), 2.0);
    near(law.one_way(-950).ack(1).cwnd(), 2.5);
}

#[test]
fn a_later_indication_halves_again() {
    let mut law = answered();
    law.advance(400).ack_unused(20).ack_unused(20);
    near(law.cwnd(), 2.5);
}

#[test]
fn nothing_is_inferred_before_the_first_loss() {
    let mut law = CcFixture::new("lp", &[], 10.0, 10.0);
    law.one_way(50).ack_unused(1).one_way(150);
    for _ in 0..20 {
        law.ack_unused(1);
    }
    near(law.cwnd(), 10.0);
}

#[test]
fn round_trips_stand_in_for_missing_timestamps() {
    for (params, timestamps) in [(&[][..], false), (&[("delay", "round-trip")][..], true)] {
        let mut law = CcFixture::new("lp", params, 20.0, 20.0);
        if timestamps {
            law.one_way(7);
        }
        law.ack_unused(1).rtt(200).ack_unused(1).lose().recover();
        law.rtt(100).ack_unused(20).ack_unused(20);
        near(law.column("delay"), 0.1);
        // 100 + 100 / 8 = 112.5 < 115, then 123.4.
        near(law.rtt(200).ack_unused(1).cwnd(), 10.0);
        near(law.ack_unused(1).cwnd(), 5.0);
    }
}

#[test]
fn losses_as_reno() {
    let mut law = CcFixture::new("lp", &[], 20.0, 20.0);
    near(law.lose().cwnd(), 10.0);
    let mut law = CcFixture::new("lp", &[], 20.0, 20.0);
    near(law.echo_mark().cwnd(), 10.0);
    let mut law = CcFixture::new("lp", &[], 20.0, 20.0);
    law.time_out();
    near(law.cwnd(), 1.0);
    near(law.ssthresh(), 10.0);
    law.time_out(); // the same segment again
    near(law.ssthresh(), 10.0);
    near(law.ack(1).cwnd(), 2.0);
}

#[test]
fn without_a_delay_it_is_reno() {
    let mut lp = CcFixture::new("lp", &[("delay", "none")], 20.0, 20.0);
    let mut reno = CcFixture::new("reno", &[], 20.0, 20.0);
    for law in [&mut lp, &mut reno] {
        // A range of 100 ms, then delays at its top.
        law.lose().recover().one_way(50).round().one_way(150).round().round();
    }
    near(lp.cwnd(), reno.cwnd());
    assert!(reno.cwnd() > 12.0);
}
