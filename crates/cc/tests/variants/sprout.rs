//! Sprout against numbers worked by hand [Winstein, Sivaraman and Balakrishnan 2013].

use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// Delivers this many segments every 20 ms, for this many ticks.
fn deliver(cc: &mut CcFixture, segments: u64, ticks: u64) {
    for _ in 0..ticks {
        cc.advance(20);
        if segments > 0 {
            cc.ack(segments);
        }
    }
}

#[test]
fn it_learns_the_rate_and_forecasts_less() {
    // 10 segments each tick are 500/s, 50 in 100 ms; with 5 % risk the forecast is well above half of that. (model.rs
    // tests the numbers.) There is always a queue: the RTT is 72 ms, its minimum 40.
    let mut cc = CcFixture::new("sprout", &[], 10.0, f64::INFINITY);
    cc.rtt(40).outstanding(100).ack(1);
    deliver(&mut cc, 10, 200);
    assert!((cc.column("rate") - 500_000.0).abs() < 20_000.0, "{}", cc.column("rate"));
    assert!((26.0..46.0).contains(&cc.cwnd()), "{}", cc.cwnd());
    near(cc.cwnd() * 1000.0, cc.column("forecast"));
    // A larger risk and a longer lookahead give larger windows.
    let at = |params: &[(&str, &str)]| {
        let mut cc = CcFixture::new("sprout", params, 10.0, f64::INFINITY);
        cc.rtt(40).outstanding(100).ack(1);
        deliver(&mut cc, 10, 200);
        cc.cwnd()
    };
    assert!(at(&[("risk", "50 %")]) > cc.cwnd() && at(&[("risk", "1 %")]) < cc.cwnd());
    assert!(at(&[("lookahead", "8")]) > cc.cwnd() && at(&[("lookahead", "2")]) < cc.cwnd());
}

#[test]
fn without_a_queue_it_grows() {
    // The same deliveries, but no data are left in flight after each: the link may be faster.
    let mut cc = CcFixture::new("sprout", &[], 10.0, f64::INFINITY);
    cc.rtt(40).outstanding(10).ack(1);
    deliver(&mut cc, 10, 200);
    assert!(cc.column("rate") > 600_000.0, "{}", cc.column("rate"));
    // The ACK of a single segment may take any time: a receiver may wait for the next one.
    let mut cc = CcFixture::new("sprout", &[], 10.0, f64::INFINITY);
    cc.rtt(40).outstanding(1).ack(1);
    for _ in 0..50 {
        cc.advance(240).ack(1);
    }
    assert!(cc.column("outage") < 0.5, "{}", cc.column("outage"));
    // At least a segment for each tick of the minimum RTT: 2.
    assert!(cc.cwnd() >= 2.0, "{}", cc.cwnd());
}

#[test]
fn missing_deliveries_are_observed_if_they_are_due() {
    // Deliveries stop: with segments in flight for longer than the minimum RTT, this is an outage.
    let mut cc = CcFixture::new("sprout", &[], 10.0, f64::INFINITY);
    cc.rtt(20).outstanding(100).ack(1);
    deliver(&mut cc, 10, 100);
    cc.advance(2000).ack(1);
    assert!(cc.column("outage") > 0.5, "{}", cc.column("outage"));
    near(cc.cwnd(), 1.0);
    // With no data in flight for long enough the model only becomes less certain.
    let mut cc = CcFixture::new("sprout", &[], 10.0, f64::INFINITY);
    cc.rtt(1000).outstanding(10).ack(1);
    deliver(&mut cc, 10, 100);
    let before = cc.column("rate");
    cc.advance(100).ack(10);
    assert!(cc.column("outage") < 0.05 && cc.column("rate") > 0.7 * before, "{}", cc.column("rate"));
}

#[test]
fn the_largest_rate_scales_the_model() {
    // 100 segments a tick, 5000/s: above the largest rate of 1000/s, for which the forecast is. With 10,000/s a unit is
    // ten segments, and the numbers are those of the first test times ten.
    let mut cc = CcFixture::new("sprout", &[], 10.0, f64::INFINITY);
    cc.outstanding(1000).ack(1);
    deliver(&mut cc, 100, 100);
    assert!(cc.cwnd() < 100.0 && cc.column("rate") <= 1_000_000.0, "{}", cc.cwnd());
    let mut cc = CcFixture::new("sprout", &[("max_rate", "10000")], 10.0, f64::INFINITY);
    cc.rtt(40).outstanding(1000).ack(1);
    deliver(&mut cc, 100, 200);
    assert!((cc.column("rate") - 5e6).abs() < 2e5, "{}", cc.column("rate"));
    assert!((260.0..460.0).contains(&cc.cwnd()), "{}", cc.cwnd());
}

#[test]
fn losses_are_ignored_and_timeouts_are_missing_deliveries() {
    let mut cc = CcFixture::new("sprout", &[], 10.0, f64::INFINITY);
    cc.outstanding(100).ack(1);
    deliver(&mut cc, 10, 100);
    let before = cc.cwnd();
    cc.lose().echo_mark();
    near(cc.cwnd(), before);
    cc.advance(1000).time_out();
    near(cc.cwnd(), 1.0);
    assert!(cc.column("outage") > 0.3, "{}", cc.column("outage"));
}
