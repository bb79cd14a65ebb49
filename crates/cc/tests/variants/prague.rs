//! TCP Prague against numbers worked by hand [draft-briscoe-iccrg-prague-congestion-control-00].

use dumbbell_cc::Phase;
use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

#[test]
fn marked_bytes_cause_no_growth() {
    // 1/10 for an unmarked segment; a marked one causes a response with alpha = 1: half.
    let mut cc = CcFixture::new("prague", &[], 10.0, 10.0);
    near(cc.ack(1).cwnd(), 10.1);
    cc.ack_marked(1);
    near(cc.cwnd(), 5.05);
    // The window grows in the same round trip, with unmarked segments only.
    cc.ack_marked(1);
    near(cc.cwnd(), 5.05);
    cc.ack(1);
    near(cc.cwnd(), 5.05 + 1.0 / 5.05);
}

#[test]
fn alpha_waits_for_the_first_mark() {
    let mut cc = CcFixture::new("prague", &[], 10.0, 10.0);
    cc.outstanding(10);
    for _ in 0..33 {
        cc.ack(1);
    }
    near(cc.column("alpha"), 1.0);
    // The 34th ACK is the first of a round trip of ten ACKs. It is marked: at the end of the next one, alpha is 1 +
    // (0.1 - 1) / 16.
    cc.ack_marked(1);
    for _ in 0..9 {
        cc.ack(1);
    }
    near(cc.column("alpha"), 1.0 - 0.9 / 16.0);
}

#[test]
fn slow_start_ends_with_a_mark() {
    let mut cc = CcFixture::new("prague", &[], 10.0, f64::INFINITY);
    near(cc.ack(1).cwnd(), 11.0);
    assert_eq!(cc.phase(), Phase::SlowStart);
    near(cc.ack_marked(1).cwnd(), 5.5);
    assert_eq!(cc.phase(), Phase::Avoidance);
}

#[test]
fn it_paces_at_cwnd_per_srtt() {
    // srtt 100 ms. Below half of ssthresh twice the rate: 2 * 11 / 0.1 = 220 segments/s; a burst of 250 us is 55 bytes,
    // so that each segment is sent alone.
    let mut cc = CcFixture::new("prague", &[], 10.0, 40.0);
    cc.ack(1);
    near(cc.pacing(), 220.0);
    assert_eq!(cc.quantum(), Some(1000));
    // 30 of 40: 300 segments/s.
    let mut cc = CcFixture::new("prague", &[], 29.0, 40.0);
    cc.ack(1);
    near(cc.pacing(), 300.0);
    // At 100 segments per millisecond a burst has 25 segments.
    let mut cc = CcFixture::new("prague", &[], 100.0, 100.0);
    cc.rtt(1).ack(1);
    let burst = cc.quantum().unwrap();
    assert!((25_000..25_010).contains(&burst), "{burst}");
}

#[test]
fn short_rtts_grow_as_the_reference_rtt() {
    // 5 ms instead of 25 ms: M = 5, a 25th of the increase, but only after 500 round trips (here: 3) of avoidance.
    let params = [("rtt_transition", "3")];
    let mut cc = CcFixture::new("prague", &params, 10.0, 10.0);
    cc.rtt(5).outstanding(10);
    // The 11th, 21st and 31st ACK end a round trip.
    for _ in 0..30 {
        let before = cc.cwnd();
        cc.advance(1).ack(1);
        near(cc.cwnd(), before + 1.0 / before);
    }
    let before = cc.cwnd();
    cc.ack(1);
    near(cc.cwnd(), before + 1.0 / before / 25.0);
    // Responses are 25 ms apart: alpha = 1 halves, then none although a window has been acknowledged.
    cc.ack_marked(1);
    near(cc.cwnd(), (before + 1.0 / before / 25.0) / 2.0);
    let cut = cc.cwnd();
    cc.advance(24).ack(11).ack_marked(1);
    assert!(cc.cwnd() >= cut);
    cc.advance(1).ack(11).ack_marked(1);
    assert!(cc.cwnd() < 0.6 * cut + 1.0, "{}", cc.cwnd());
}

#[test]
fn a_loss_reduces_as_reno() {
    let mut cc = CcFixture::new("prague", &[], 10.0, 10.0);
    near(cc.lose().cwnd(), 5.0);
    near(cc.recover().time_out().cwnd(), 1.0);
    near(cc.ssthresh(), 2.5);
}
