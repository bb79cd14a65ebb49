//! DCTCP against numbers worked by hand [RFC 8257; Linux tcp_dctcp.c dctcp_update_alpha].

use dumbbell_cc::Phase;
use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

#[test]
fn without_marks_it_is_reno() {
    let mut cc = CcFixture::new("dctcp", &[], 2.0, f64::INFINITY);
    cc.round().round();
    near(cc.cwnd(), 8.0);
    let mut cc = CcFixture::new("dctcp", &[], 10.0, 10.0);
    near(cc.ack(1).cwnd(), 10.1);
    near(cc.lose().cwnd(), 5.05);
    near(cc.time_out().cwnd(), 1.0);
}

#[test]
fn alpha_follows_the_fraction_of_marks() {
    // Ten segments: the first ACK begins a round, the next ten end it. Three of them marked: 1 + (0.3 - 1) / 16.
    let mut cc = CcFixture::new("dctcp", &[], 10.0, 10.0);
    cc.outstanding(10).ack(1);
    for n in 0..10 {
        if n < 3 {
            cc.ack_marked(1)
        } else {
            cc.ack(1)
        };
    }
    near(cc.column("marked_share"), 0.3);
    near(cc.column("alpha"), 1.0 - 0.7 / 16.0);
    // Ten without marks: 15/16 of it.
    for _ in 0..10 {
        cc.ack(1);
    }
    near(cc.column("alpha"), (1.0 - 0.7 / 16.0) * 15.0 / 16.0);
}

#[test]
fn a_mark_reduces_by_half_of_alpha_once_per_window() {
    // alpha 0.4: 10 (1 - 0.2) = 8, independent of further marks until the data in flight are acknowledged.
    let mut cc = CcFixture::new("dctcp", &[("alpha", "0.4")], 10.0, f64::INFINITY);
    cc.ack_marked(1);
    near(cc.cwnd(), 8.0);
    near(cc.ssthresh(), 8.0);
    assert_eq!(cc.phase(), Phase::Avoidance);
    for _ in 0..9 {
        cc.ack_marked(1);
    }
    near(cc.cwnd(), 8.0);
    // The eleventh ACK belongs to the next window. All ten of the round trip were marked: alpha is 0.4 + 0.6 / 16 =
    // 0.4375.
    cc.ack_marked(1);
    near(cc.column("alpha"), 0.4375);
    near(cc.cwnd(), 8.0 * (1.0 - 0.4375 / 2.0));
    // Never below two segments.
    let mut cc = CcFixture::new("dctcp", &[], 2.0, 2.0);
    near(cc.ack_marked(1).cwnd(), 2.0);
}

#[test]
fn a_response_stops_growth_if_hold_is_set() {
    // With `hold` DCTCP.Alpha is in 1024ths, and changes with the first ACK: 409.6 - 25 + 64 = 448.6.
    for (hold, grown) in [("false", 8.0 + 1.0 / 8.0), ("true", 10.0 * (1.0 - 448.6 / 2048.0))] {
        let mut cc = CcFixture::new("dctcp", &[("alpha", "0.4"), ("hold", hold)], 10.0, 10.0);
        near(cc.ack_marked(1).ack(1).cwnd(), grown);
    }
    let mut cc = CcFixture::starting(
        "dctcp",
        &[("alpha", "0.4")],
        dumbbell_cc::Setup { preset: "linux", ..dumbbell_cc::Setup::new(1000.0, 10_000.0, 10_000.0) },
    );
    let reduced = 10.0 * (1.0 - 448.6 / 2048.0);
    near(cc.ack_marked(1).ack(1).cwnd(), reduced);
    // Until the data in flight at the response are acknowledged.
    cc.ack(9).ack(1);
    let grown = reduced + 1.0 / reduced;
    near(cc.cwnd(), grown + 1.0 / grown);
}

#[test]
fn alpha_without_marks_becomes_zero_on_linux() {
    // 64, 60, 57 ... 16, 15; then a sixteenth is less than one, and nothing is left [Linux tcp_dctcp.c
    // dctcp_update_alpha].
    let mut cc = CcFixture::starting(
        "dctcp",
        &[("alpha", "0.0625")],
        dumbbell_cc::Setup { preset: "linux", ..dumbbell_cc::Setup::new(1000.0, 10_000.0, 10_000.0) },
    );
    near(cc.ack(1).column("alpha") * 1024.0, 60.0); // the first ACK ends a round trip
    let alphas: Vec<f64> = (0..60).map(|_| cc.round().column("alpha") * 1024.0).collect();
    let least = alphas.iter().copied().filter(|alpha| *alpha > 0.0).fold(64.0, f64::min);
    near(least, 15.0);
    near(alphas[59], 0.0);
}

#[test]
fn marks_echoed_as_in_rfc_3168_count_as_a_loss() {
    let mut cc = CcFixture::new("dctcp", &[("alpha", "0.1")], 10.0, 10.0);
    near(cc.echo_mark().cwnd(), 10.0); // the next ACK shows the kind of feedback
    near(cc.ack(1).cwnd(), 5.0 + 1.0 / 5.0);
    // With counted marks the echo has no meaning.
    let mut cc = CcFixture::new("dctcp", &[("alpha", "0.1")], 10.0, 10.0);
    near(cc.echo_mark().ack_marked(1).cwnd(), 9.5);
    cc.ack(12).echo_mark().ack(1);
    assert!(cc.cwnd() > 9.5);
}
