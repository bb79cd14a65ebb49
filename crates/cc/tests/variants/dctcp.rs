use dumbbell_cc::Phase;
use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

#[test]
fn without_marks_it_is_reno() {
    let mut law = CcFixture::new("dctcp", &[], 2.0, f64::INFINITY);
    law.round().round();
    near(law.cwnd(), 8.0);
    let mut law = CcFixture::new("dctcp", &[], 10.0, 10.0);
    near(law.ack(1).cwnd(), 10.1);
    near(law.lose().cwnd(), 5.05);
    near(law.time_out().cwnd(), 1.0);
}

#[test]
fn alpha_follows_the_share_of_marks() {
    // Ten segments: the first ACK begins a round, the next ten end it. Three of them marked: 1 + (0.3 - 1) / 16.
    let mut law = CcFixture::new("dctcp", &[], 10.0, 10.0);
    law.outstanding(10).ack(1);
    for n in 0..10 {
        if n < 3 {
            law.ack_marked(1)
        } else {
            law.ack(1)
        };
    }
    near(law.column("marked_share"), 0.3);
    near(law.column("alpha"), 1.0 - 0.7 / 16.0);
    // Ten without: 15/16 of it.
    for _ in 0..10 {
        law.ack(1);
    }
    near(law.column("alpha"), (1.0 - 0.7 / 16.0) * 15.0 / 16.0);
}

#[test]
fn a_mark_takes_half_of_alpha_once_a_window() {
    // alpha 0.4: 10 (1 - 0.2) = 8, whatever else is marked before what was outstanding then is acknowledged.
    let mut law = CcFixture::new("dctcp", &[("alpha", "0.4")], 10.0, f64::INFINITY);
    law.ack_marked(1);
    near(law.cwnd(), 8.0);
    near(law.ssthresh(), 8.0);
    assert_eq!(law.phase(), Phase::Avoidance);
    for _ in 0..9 {
        law.ack_marked(1);
    }
    near(law.cwnd(), 8.0);
    // The eleventh ACK is of the next window. All ten of the round were marked: alpha is 0.4 + 0.6 / 16 = 0.4375.
    law.ack_marked(1);
    near(law.column("alpha"), 0.4375);
    near(law.cwnd(), 8.0 * (1.0 - 0.4375 / 2.0));
    // Never below two segments.
    let mut law = CcFixture::new("dctcp", &[], 2.0, 2.0);
    near(law.ack_marked(1).cwnd(), 2.0);
}

#[test]
fn an_answer_holds_growth_only_where_the_stack_says_so() {
    for (hold, grown) in [("false", 8.0 + 1.0 / 8.0), ("true", 8.0)] {
        let mut law = CcFixture::new("dctcp", &[("alpha", "0.4"), ("hold", hold)], 10.0, 10.0);
        near(law.ack_marked(1).ack(1).cwnd(), grown);
    }
    let mut law = CcFixture::starting(
        "dctcp",
        &[("alpha", "0.4")],
        dumbbell_cc::Setup { preset: "linux", ..dumbbell_cc::Setup::new(1000.0, 10_000.0, 10_000.0) },
    );
    near(law.ack_marked(1).ack(1).cwnd(), 8.0);
    // Until the window that was outstanding has been acknowledged.
    law.ack(9).ack(1);
    near(law.cwnd(), 8.125 + 1.0 / 8.125);
}

#[test]
fn a_receiver_that_cannot_count_is_answered_as_to_a_loss() {
    let mut law = CcFixture::new("dctcp", &[("alpha", "0.1")], 10.0, 10.0);
    near(law.echo_mark().cwnd(), 10.0); // the ACK that follows tells which kind
    near(law.ack(1).cwnd(), 5.0 + 1.0 / 5.0);
    // One that can: the echo says nothing more.
    let mut law = CcFixture::new("dctcp", &[("alpha", "0.1")], 10.0, 10.0);
    near(law.echo_mark().ack_marked(1).cwnd(), 9.5);
    law.ack(12).echo_mark().ack(1);
    assert!(law.cwnd() > 9.5);
}
