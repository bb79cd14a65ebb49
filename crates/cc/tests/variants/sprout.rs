use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// Deliveries of so many segments each 20 ms, for so long.
fn deliver(law: &mut CcFixture, segments: u64, ticks: u64) {
    for _ in 0..ticks {
        law.advance(20);
        if segments > 0 {
            law.ack(segments);
        }
    }
}

#[test]
fn it_learns_the_rate_and_promises_less() {
    // 10 segments each tick are 500/s, 50 in 100 ms; 5 % risk leaves well above half of that. (model.rs tests the numbers.)
    // There is always a queue: what is outstanding takes 72 ms, the smallest RTT is 40.
    let mut law = CcFixture::new("sprout", &[], 10.0, f64::INFINITY);
    law.rtt(40).outstanding(100).ack(1);
    deliver(&mut law, 10, 200);
    assert!((law.column("rate") - 500_000.0).abs() < 20_000.0, "{}", law.column("rate"));
    assert!((26.0..46.0).contains(&law.cwnd()), "{}", law.cwnd());
    near(law.cwnd() * 1000.0, law.column("forecast"));
    // More risk, more sent; a longer view, more sent.
    let at = |params: &[(&str, &str)]| {
        let mut law = CcFixture::new("sprout", params, 10.0, f64::INFINITY);
        law.rtt(40).outstanding(100).ack(1);
        deliver(&mut law, 10, 200);
        law.cwnd()
    };
    assert!(at(&[("risk", "50 %")]) > law.cwnd() && at(&[("risk", "1 %")]) < law.cwnd());
    assert!(at(&[("lookahead", "8")]) > law.cwnd() && at(&[("lookahead", "2")]) < law.cwnd());
}

#[test]
fn without_a_queue_it_looks_for_more() {
    // The same deliveries, but nothing is left outstanding with each: the link may have more.
    let mut law = CcFixture::new("sprout", &[], 10.0, f64::INFINITY);
    law.rtt(40).outstanding(10).ack(1);
    deliver(&mut law, 10, 200);
    assert!(law.column("rate") > 600_000.0, "{}", law.column("rate"));
    // A lone segment isn't missed, however long its ACK takes: a receiver may wait for the next one.
    let mut law = CcFixture::new("sprout", &[], 10.0, f64::INFINITY);
    law.rtt(40).outstanding(1).ack(1);
    for _ in 0..50 {
        law.advance(240).ack(1);
    }
    assert!(law.column("outage") < 0.5, "{}", law.column("outage"));
    // At least a segment for each tick of the smallest RTT: 2.
    assert!(law.cwnd() >= 2.0, "{}", law.cwnd());
}

#[test]
fn a_silence_is_seen_where_something_is_due() {
    // Everything stops: with segments outstanding for longer than the smallest RTT, the rate is taken for none.
    let mut law = CcFixture::new("sprout", &[], 10.0, f64::INFINITY);
    law.rtt(20).outstanding(100).ack(1);
    deliver(&mut law, 10, 100);
    law.advance(2000).ack(1);
    assert!(law.column("outage") > 0.5, "{}", law.column("outage"));
    near(law.cwnd(), 1.0);
    // With nothing outstanding for long enough the model only gets less sure.
    let mut law = CcFixture::new("sprout", &[], 10.0, f64::INFINITY);
    law.rtt(1000).outstanding(10).ack(1);
    deliver(&mut law, 10, 100);
    let before = law.column("rate");
    law.advance(100).ack(10);
    assert!(law.column("outage") < 0.05 && law.column("rate") > 0.7 * before, "{}", law.column("rate"));
}

#[test]
fn the_largest_rate_scales_the_model() {
    // 100 segments a tick, 5000/s: out of reach for the model of 1000/s, which promises what that would bring; with 10,000/s
    // ten segments are a unit, and the numbers those of the first test times ten.
    let mut law = CcFixture::new("sprout", &[], 10.0, f64::INFINITY);
    law.outstanding(1000).ack(1);
    deliver(&mut law, 100, 100);
    assert!(law.cwnd() < 100.0 && law.column("rate") <= 1_000_000.0, "{}", law.cwnd());
    let mut law = CcFixture::new("sprout", &[("max_rate", "10000")], 10.0, f64::INFINITY);
    law.rtt(40).outstanding(1000).ack(1);
    deliver(&mut law, 100, 200);
    assert!((law.column("rate") - 5e6).abs() < 2e5, "{}", law.column("rate"));
    assert!((260.0..460.0).contains(&law.cwnd()), "{}", law.cwnd());
}

#[test]
fn losses_mean_nothing_and_timeouts_silence() {
    let mut law = CcFixture::new("sprout", &[], 10.0, f64::INFINITY);
    law.outstanding(100).ack(1);
    deliver(&mut law, 10, 100);
    let before = law.cwnd();
    law.lose().echo_mark();
    near(law.cwnd(), before);
    law.advance(1000).time_out();
    near(law.cwnd(), 1.0);
    assert!(law.column("outage") > 0.3, "{}", law.column("outage"));
}
