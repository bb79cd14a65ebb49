use dumbbell_cc::Phase;
use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

#[test]
fn marked_bytes_do_not_let_it_grow() {
    // 1/10 for an unmarked segment; a marked one is answered, alpha = 1: half.
    let mut law = CcFixture::new("prague", &[], 10.0, 10.0);
    near(law.ack(1).cwnd(), 10.1);
    law.ack_marked(1);
    near(law.cwnd(), 5.05);
    // Growth goes on in the same round trip, with unmarked segments only.
    law.ack_marked(1);
    near(law.cwnd(), 5.05);
    law.ack(1);
    near(law.cwnd(), 5.05 + 1.0 / 5.05);
}

#[test]
fn alpha_waits_for_the_first_mark() {
    let mut law = CcFixture::new("prague", &[], 10.0, 10.0);
    law.outstanding(10);
    for _ in 0..33 {
        law.ack(1);
    }
    near(law.column("alpha"), 1.0);
    // The 34th ACK is the first of a round of ten; with it marked, the next round's end makes alpha 1 + (0.1 - 1) / 16.
    law.ack_marked(1);
    for _ in 0..9 {
        law.ack(1);
    }
    near(law.column("alpha"), 1.0 - 0.9 / 16.0);
}

#[test]
fn slow_start_ends_with_a_mark() {
    let mut law = CcFixture::new("prague", &[], 10.0, f64::INFINITY);
    near(law.ack(1).cwnd(), 11.0);
    assert_eq!(law.phase(), Phase::SlowStart);
    near(law.ack_marked(1).cwnd(), 5.5);
    assert_eq!(law.phase(), Phase::Avoidance);
}

#[test]
fn it_paces() {
    // srtt 100 ms. Below half of ssthresh twice the rate: 2 * 11 / 0.1 = 220 segments/s; a burst of 250 us is 55 bytes, so
    // that each segment leaves alone.
    let mut law = CcFixture::new("prague", &[], 10.0, 40.0);
    law.ack(1);
    near(law.pacing(), 220.0);
    assert_eq!(law.quantum(), Some(1000));
    // 30 of 40: 300 segments/s.
    let mut law = CcFixture::new("prague", &[], 29.0, 40.0);
    law.ack(1);
    near(law.pacing(), 300.0);
    // With 100 segments each millisecond a burst is 25 of them.
    let mut law = CcFixture::new("prague", &[], 100.0, 100.0);
    law.rtt(1).ack(1);
    let burst = law.quantum().unwrap();
    assert!((25_000..25_010).contains(&burst), "{burst}");
}

#[test]
fn short_round_trips_grow_as_if_they_were_longer() {
    // 5 ms beside 25 ms: M = 5, a 25th of the increase, but only after 500 round trips (here: 3) of avoidance.
    let params = [("rtt_transition", "3")];
    let mut law = CcFixture::new("prague", &params, 10.0, 10.0);
    law.rtt(5).outstanding(10);
    // The 11th, 21st and 31st ACK end a round trip.
    for _ in 0..30 {
        let before = law.cwnd();
        law.advance(1).ack(1);
        near(law.cwnd(), before + 1.0 / before);
    }
    let before = law.cwnd();
    law.ack(1);
    near(law.cwnd(), before + 1.0 / before / 25.0);
    // Its answers are 25 ms apart: alpha = 1 halves, then nothing although a window has been acknowledged.
    law.ack_marked(1);
    near(law.cwnd(), (before + 1.0 / before / 25.0) / 2.0);
    let cut = law.cwnd();
    law.advance(24).ack(11).ack_marked(1);
    assert!(law.cwnd() >= cut);
    law.advance(1).ack(11).ack_marked(1);
    assert!(law.cwnd() < 0.6 * cut + 1.0, "{}", law.cwnd());
}

#[test]
fn losses_as_reno() {
    let mut law = CcFixture::new("prague", &[], 10.0, 10.0);
    near(law.lose().cwnd(), 5.0);
    near(law.recover().time_out().cwnd(), 1.0);
    near(law.ssthresh(), 2.5);
}
