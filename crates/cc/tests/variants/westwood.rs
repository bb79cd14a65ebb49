//! Westwood+ against numbers worked by hand [Grieco and Mascolo 2004; Linux tcp_westwood.c westwood_filter].

use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// `times` pauses, each followed by an ACK of ten segments that was not cwnd-limited.
fn tens(cc: &mut CcFixture, times: u32, pause: u64) -> &mut CcFixture {
    (0..times).fold(cc, |cc, _| cc.advance(pause).ack_unused(10))
}

#[test]
fn bandwidth_is_filtered_once_a_round_trip() {
    let mut cc = CcFixture::new("westwood", &[], 40.0, 40.0);
    // RTT 100 ms. The first ACK starts the interval and counts: 10 segments in 100 ms are 100 000 bytes/s.
    cc.ack_unused(10);
    assert!(cc.column("bw").is_nan());
    tens(&mut cc, 1, 100);
    near(cc.column("bw"), 100_000.0);
    // Two ACKs within the next 100 ms: no sample at 50 ms, 20 segments at 100 ms: 100 000 + (200 000 - 100 000) / 8.
    tens(&mut cc, 1, 50);
    near(cc.column("bw"), 100_000.0);
    tens(&mut cc, 1, 50);
    near(cc.column("bw"), 112_500.0);
    // The interval is the latest RTT: with 200 ms no sample after 100 ms, and then 20 segments in 200 ms.
    cc.rtt(200);
    tens(&mut cc, 1, 100);
    near(cc.column("bw"), 112_500.0);
    tens(&mut cc, 1, 100);
    near(cc.column("bw"), 112_500.0 - 12_500.0 / 8.0);
    near(cc.column("base_rtt"), 0.1);
}

#[test]
fn two_filter_stages_run_in_series() {
    // First filter 100 000 -> 112 500, second 100 000 + 12 500 / 8.
    let mut cc = CcFixture::new("westwood", &[("stages", "2")], 40.0, 40.0);
    cc.ack_unused(10);
    tens(&mut cc, 1, 100);
    cc.ack_unused(10);
    tens(&mut cc, 1, 100);
    near(cc.column("bw"), 101_562.5);
}

#[test]
fn short_round_trips_share_an_interval() {
    // RTT 10 ms: the interval is 50 ms, with 50 segments including the first ACK's.
    let mut cc = CcFixture::new("westwood", &[], 40.0, 40.0);
    cc.rtt(10).ack_unused(10);
    tens(&mut cc, 4, 10);
    assert!(cc.column("bw").is_nan());
    tens(&mut cc, 1, 10);
    near(cc.column("bw"), 1e6);
}

#[test]
fn a_loss_leaves_the_bandwidth_delay_product() {
    // 100 000 bytes/s x 100 ms = 10 segments for any window.
    let mut cc = CcFixture::new("westwood", &[], 40.0, 40.0);
    cc.ack_unused(10);
    tens(&mut cc, 1, 100).lose();
    near(cc.cwnd(), 10.0);
    near(cc.ssthresh(), 10.0);
    let mut cc = CcFixture::new("westwood", &[], 40.0, 40.0);
    cc.ack_unused(10);
    tens(&mut cc, 1, 100).time_out();
    near(cc.cwnd(), 1.0);
    near(cc.ssthresh(), 10.0);
    // A smaller window is not increased; ssthresh is.
    let mut cc = CcFixture::new("westwood", &[], 8.0, 8.0);
    cc.ack_unused(10);
    tens(&mut cc, 1, 100).lose();
    near(cc.cwnd(), 8.0);
    near(cc.ssthresh(), 10.0);
    // Not below two segments: 1000 bytes in 1 s x 100 ms.
    let mut cc = CcFixture::new("westwood", &[], 8.0, 8.0);
    cc.ack_unused(1).advance(1000).ack_unused(1).lose();
    near(cc.cwnd(), 2.0);
    // Without an estimate: half.
    let mut cc = CcFixture::new("westwood", &[], 8.0, 8.0);
    near(cc.lose().cwnd(), 4.0);
}

#[test]
fn growth_is_renos() {
    let mut cc = CcFixture::new("westwood", &[], 2.0, 8.0);
    near(cc.round().round().cwnd(), 8.0);
    near(cc.ack(1).cwnd(), 8.125);
}

#[test]
fn an_idle_period_is_no_sample() {
    let mut cc = CcFixture::new("westwood", &[], 40.0, 40.0);
    cc.ack_unused(10);
    tens(&mut cc, 1, 100).idle(10_000).ack_unused(10);
    near(cc.column("bw"), 100_000.0);
    tens(&mut cc, 1, 100);
    near(cc.column("bw"), 100_000.0);
}

#[test]
fn linux_halves_the_window_and_then_uses_the_estimate() {
    // bw 100 segments/s over 100 ms: 10 segments. Half of the window, 20, during recovery, and then the estimate.
    let mut cc = CcFixture::new("westwood", &[("when", "recovered")], 40.0, 40.0);
    cc.ack_unused(10);
    tens(&mut cc, 1, 100);
    near(cc.lose().cwnd(), 20.0);
    near(cc.recover().cwnd(), 10.0);
    // The estimate may exceed half of the window: 40 segments per round trip, of 40.
    let mut cc = CcFixture::new("westwood", &[("when", "recovered")], 40.0, 40.0);
    cc.ack_unused(40).advance(100).ack_unused(40);
    near(cc.lose().cwnd(), 20.0);
    near(cc.recover().cwnd(), 40.0);
}
