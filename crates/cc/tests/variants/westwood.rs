use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// So many times a pause and an ACK of ten segments, window not used.
fn tens(law: &mut CcFixture, times: u32, pause: u64) -> &mut CcFixture {
    (0..times).fold(law, |law, _| law.advance(pause).ack_unused(10))
}

#[test]
fn bandwidth_is_filtered_once_a_round_trip() {
    let mut law = CcFixture::new("westwood", &[], 40.0, 40.0);
    // RTT 100 ms. The first ACK starts the clock and counts: 10 segments in 100 ms are 100 000 bytes/s.
    law.ack_unused(10);
    assert!(law.column("bw").is_nan());
    tens(&mut law, 1, 100);
    near(law.column("bw"), 100_000.0);
    // Two ACKs within the next 100 ms: nothing new at 50 ms, 20 segments at 100 ms: 100 000 + (200 000 - 100 000) / 8.
    tens(&mut law, 1, 50);
    near(law.column("bw"), 100_000.0);
    tens(&mut law, 1, 50);
    near(law.column("bw"), 112_500.0);
    // The interval is the latest RTT: with 200 ms nothing after 100, 20 segments in 200 ms then.
    law.rtt(200);
    tens(&mut law, 1, 100);
    near(law.column("bw"), 112_500.0);
    tens(&mut law, 1, 100);
    near(law.column("bw"), 112_500.0 - 12_500.0 / 8.0);
    near(law.column("base_rtt"), 0.1);
}

#[test]
fn two_stages_as_linux() {
    // First filter 100 000 -> 112 500, second 100 000 + 12 500 / 8.
    let mut law = CcFixture::new("westwood", &[("stages", "2")], 40.0, 40.0);
    law.ack_unused(10);
    tens(&mut law, 1, 100);
    law.ack_unused(10);
    tens(&mut law, 1, 100);
    near(law.column("bw"), 101_562.5);
}

#[test]
fn short_round_trips_are_put_together() {
    // RTT 10 ms: an interval of 50 ms all the same, 50 segments in it, the first ACK's included.
    let mut law = CcFixture::new("westwood", &[], 40.0, 40.0);
    law.rtt(10).ack_unused(10);
    tens(&mut law, 4, 10);
    assert!(law.column("bw").is_nan());
    tens(&mut law, 1, 10);
    near(law.column("bw"), 1e6);
}

#[test]
fn a_loss_leaves_what_the_path_holds() {
    // 100 000 bytes/s x 100 ms = 10 segments, whatever the window was.
    let mut law = CcFixture::new("westwood", &[], 40.0, 40.0);
    law.ack_unused(10);
    tens(&mut law, 1, 100).lose();
    near(law.cwnd(), 10.0);
    near(law.ssthresh(), 10.0);
    let mut law = CcFixture::new("westwood", &[], 40.0, 40.0);
    law.ack_unused(10);
    tens(&mut law, 1, 100).time_out();
    near(law.cwnd(), 1.0);
    near(law.ssthresh(), 10.0);
    // A window below that isn't raised; ssthresh is.
    let mut law = CcFixture::new("westwood", &[], 8.0, 8.0);
    law.ack_unused(10);
    tens(&mut law, 1, 100).lose();
    near(law.cwnd(), 8.0);
    near(law.ssthresh(), 10.0);
    // Not below two segments: 1000 bytes in 1 s x 100 ms.
    let mut law = CcFixture::new("westwood", &[], 8.0, 8.0);
    law.ack_unused(1).advance(1000).ack_unused(1).lose();
    near(law.cwnd(), 2.0);
    // Nothing measured: half.
    let mut law = CcFixture::new("westwood", &[], 8.0, 8.0);
    near(law.lose().cwnd(), 4.0);
}

#[test]
fn growth_is_renos() {
    let mut law = CcFixture::new("westwood", &[], 2.0, 8.0);
    near(law.round().round().cwnd(), 8.0);
    near(law.ack(1).cwnd(), 8.125);
}

#[test]
fn a_pause_is_no_measurement() {
    let mut law = CcFixture::new("westwood", &[], 40.0, 40.0);
    law.ack_unused(10);
    tens(&mut law, 1, 100).idle(10_000).ack_unused(10);
    near(law.column("bw"), 100_000.0);
    tens(&mut law, 1, 100);
    near(law.column("bw"), 100_000.0);
}

#[test]
fn linux_halves_and_then_takes_the_estimate() {
    // bw 100 segments/s over 100 ms: 10 segments. During recovery half of the window, 20, then what the estimate fills.
    let mut law = CcFixture::new("westwood", &[("when", "recovered")], 40.0, 40.0);
    law.ack_unused(10);
    tens(&mut law, 1, 100);
    near(law.lose().cwnd(), 20.0);
    near(law.recover().cwnd(), 10.0);
    // More than half of it as well: 40 segments a round trip of 40.
    let mut law = CcFixture::new("westwood", &[("when", "recovered")], 40.0, 40.0);
    law.ack_unused(40).advance(100).ack_unused(40);
    near(law.lose().cwnd(), 20.0);
    near(law.recover().cwnd(), 40.0);
}
