//! Hybla against numbers worked by hand [Caini and Firrincieli 2004; Linux tcp_hybla.c hybla_cong_avoid].

use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

#[test]
fn slow_start_adds_two_to_the_rho_less_one() {
    // 100 ms = 4 * 25 ms: 2^4 - 1 = 15 segments for each ACK; 75 ms: 7; up to 25 ms 1.
    for (rtt, segments) in [(100, 15.0), (75, 7.0), (25, 1.0), (5, 1.0)] {
        let mut cc = CcFixture::new("hybla", &[], 2.0, f64::INFINITY);
        cc.rtt(rtt);
        near(cc.ack(1).cwnd(), 2.0 + segments);
        near(cc.ack(2).cwnd(), 2.0 + 2.0 * segments);
    }
    // 62.5 ms would be 2^2.5 - 1; with rtt0 = 40 ms and 100 ms the same: 2 + 4.656854.
    let mut cc = CcFixture::new("hybla", &[("rtt0", "40 ms")], 2.0, f64::INFINITY);
    assert!((cc.ack(1).cwnd() - 6.656_854).abs() < 1e-6);
    // Not beyond ssthresh.
    let mut cc = CcFixture::new("hybla", &[], 2.0, 10.0);
    near(cc.ack(1).cwnd(), 10.0);
}

#[test]
fn avoidance_adds_rho_squared_per_window() {
    // 16 segments in a window's worth of ACKs.
    let mut cc = CcFixture::new("hybla", &[], 100.0, 100.0);
    near(cc.ack(1).cwnd(), 100.16);
    near(cc.column("rho"), 4.0);
    let mut cc = CcFixture::new("hybla", &[], 100.0, 100.0);
    near(cc.rtt(10).ack(1).cwnd(), 100.01);
    near(cc.column("rho"), 1.0);
}

#[test]
fn grows_in_time_as_fast_as_the_reference() {
    // In 10 s of avoidance a flow with 25 ms grows by 400 segments, one with 100 ms 100 round trips of 16: four times
    // as many, the same rate. A round of ACKs adds a little less than its segments, because the window grows during the
    // round.
    let gain = |rtt: u64| {
        let mut cc = CcFixture::new("hybla", &[], 400.0, 400.0);
        cc.rtt(rtt);
        (0..10_000 / rtt).for_each(|_| {
            cc.round();
        });
        cc.cwnd() - 400.0
    };
    let ratio = gain(100) / gain(25);
    assert!((3.9..4.0).contains(&ratio), "{ratio}");
}

#[test]
fn a_queue_does_not_increase_rho() {
    let mut cc = CcFixture::new("hybla", &[], 100.0, 100.0);
    cc.ack_unused(1).rtt(300).ack_unused(1);
    near(cc.column("rho"), 4.0);
    near(cc.column("base_rtt"), 0.1);
}

#[test]
fn a_loss_reduces_as_reno() {
    let mut cc = CcFixture::new("hybla", &[], 100.0, 100.0);
    near(cc.ack_unused(1).lose().cwnd(), 50.0);
    let mut cc = CcFixture::new("hybla", &[], 100.0, 100.0);
    near(cc.echo_mark().cwnd(), 50.0);
    let mut cc = CcFixture::new("hybla", &[], 100.0, 100.0);
    cc.ack_unused(1).time_out();
    near(cc.cwnd(), 1.0);
    near(cc.ssthresh(), 50.0);
    // Then 1 + 15, 31, 46, and ssthresh.
    for window in [16.0, 31.0, 46.0, 50.0] {
        near(cc.ack(1).cwnd(), window);
    }
}

#[test]
fn linux_works_in_eighths_and_128ths() {
    // 110 ms: 4.4 is 35/8. One segment at first, four with the first sample; 2^4 * 165/128 (2^0.375 is 165.99/128) -
    // 1 = 2512/128 = 19 and a remainder of 80/128.
    let mut cc = CcFixture::new("hybla", &[("rules", "linux")], 10.0, f64::INFINITY);
    near(cc.cwnd(), 1.0);
    near(cc.rtt(110).ack(1).cwnd(), 4.0 + 19.0);
    near(cc.column("rho"), 4.375);
    // 100 ms, rho 4: 4 + 15, up to ssthresh 10. Then 16 / 10 = 204/128 (rounded down), however many segments the ACK
    // covers: 11, remainder 76; 16 / 11 = 186/128, with the remainder 262: 13, remainder 6.
    let mut cc = CcFixture::new("hybla", &[("rules", "linux")], 10.0, 10.0);
    near(cc.ack(1).cwnd(), 10.0);
    near(cc.ack(1).cwnd(), 11.0);
    near(cc.ack(2).cwnd(), 13.0);
    // 16 / 13 = 157/128, 163 with the remainder: 14, remainder 35. A loss keeps it: 7, and with 16 / 7 = 292/128
    // 327: 9.
    near(cc.ack(1).cwnd(), 14.0);
    near(cc.lose().recover().cwnd(), 7.0);
    near(cc.ack(1).cwnd(), 9.0);
}
