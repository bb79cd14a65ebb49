//! The laws of Linux on a stack that counts windows in whole segments.

use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

fn avoiding(name: &str, params: &[(&str, &str)], window: f64) -> CcFixture {
    CcFixture::whole(name, params, window, window)
}

#[test]
fn reno_gains_a_segment_with_each_window_of_segments() {
    let mut law = avoiding("sack", &[], 10.0);
    near(law.ack(9).cwnd(), 10.0);
    near(law.ack(3).cwnd(), 11.0); // 12 of 10, 2 are left
    near(law.ack(8).cwnd(), 11.0); // 10 of 11
    near(law.ack(1).cwnd(), 12.0);
}

#[test]
fn a_reduction_takes_whole_segments_away() {
    // 10/8 = 1.25 segments, 1 taken; 23/8 = 2.9, 2.
    let scalable = [("reno_growth", "true"), ("low_window", "1"), ("b", "0.125")];
    near(avoiding("scalable", &scalable, 10.0).lose().cwnd(), 9.0);
    near(avoiding("scalable", &scalable, 23.0).lose().cwnd(), 21.0);
    // Half of 11 is 5.5: HighSpeed takes 5, Reno leaves 5.
    near(avoiding("highspeed", &[("rules", "linux")], 11.0).lose().cwnd(), 6.0);
    near(avoiding("sack", &[], 11.0).lose().ssthresh(), 5.0);
}

#[test]
fn highspeed_gains_by_acks_one_at_a_time() {
    // At 10 a = 1: ten ACKs, however many segments each is for.
    let mut law = avoiding("highspeed", &[("rules", "linux")], 10.0);
    for _ in 0..9 {
        law.ack(2);
    }
    near(law.cwnd(), 10.0);
    near(law.ack(2).cwnd(), 11.0);
}

#[test]
fn htcp_counts_an_ack_for_the_next_one() {
    // alpha 1 and a window of 10: five ACKs of two make ten, which the sixth finds.
    let mut law = avoiding("htcp", &[("rules", "linux")], 10.0);
    for _ in 0..5 {
        law.ack(2);
    }
    near(law.cwnd(), 10.0);
    near(law.ack(2).cwnd(), 11.0);
}

#[test]
fn cubic_keeps_what_is_counted_when_the_number_falls() {
    // Before a loss w_max is 0 and 20 ACKed segments make one at most, so at a window of 100. 50 at once make two, 10 are left.
    let mut law = avoiding("cubic", &[("rules", "linux")], 100.0);
    near(law.ack(19).cwnd(), 100.0);
    near(law.ack(1).cwnd(), 101.0);
    near(law.ack(50).cwnd(), 103.0);
}

#[test]
fn westwood_measures_in_ticks() {
    // The handshake at 1 s starts the first interval. RTTs of 100 ms are 25 ticks; an interval is over with the 26th tick: the
    // ACK 104 ms after the start. The first ACK doesn't count; the second one brings ten segments, 10,000 bytes in 26 ticks:
    // 384 bytes a tick (cut), 9,600 in base_rtt: 9 segments.
    let params = [("stages", "2"), ("when", "recovered"), ("tick", "4 ms")];
    let mut law = avoiding("westwood", &params, 20.0);
    law.established(100);
    law.advance(90).ack(1);
    law.advance(10).ack(10);
    law.advance(4).ack(1);
    law.lose();
    near(law.cwnd(), 10.0); // half for the time of recovery
    near(law.recover().cwnd(), 9.0);
}

#[test]
fn veno_sees_half_segments_and_the_smallest_rtt() {
    // base_rtt 100 ms. At 110 ms and a window of 20: n = 20 / 11 = 1.8, 2 in half segments: no queue, a loss leaves 4/5.
    let params = [("rtt", "smallest"), ("reset_base_rtt", "false")];
    let mut law = avoiding("veno", &params, 20.0);
    law.ack(1).ack(1).ack(1).rtt(110).ack(1);
    near(law.column("n"), 2.0);
    near(law.lose().cwnd(), 16.0);
    // At 115 ms: 20 * 15 / 115 = 2.6, 3: a queue.
    let mut law = avoiding("veno", &params, 20.0);
    law.ack(1).ack(1).ack(1).rtt(115).ack(1);
    near(law.column("n"), 3.0);
    near(law.lose().cwnd(), 10.0);
}

#[test]
fn cdg_gives_way_over_a_round_trip() {
    // The RTT rises by 100 ms a round trip, far above the scale: it gives way in the first round trip with a slope, for
    // certain as good as, from 21 segments to 0.7071 * 21 = 14.8, 14. After 10 are delivered: 21 - 10 + (14 * 10 / 21 = 6.7, 7
    // less the one that the ACK of the decision let out) = 17; after the rest 14.
    let params = [
        ("rules", "linux"),
        ("beta", "0.7071"),
        ("extrapolate", "true"),
        ("hold", "0"),
        ("tolerance", "false"),
    ];
    let mut law = avoiding("cdg", &params, 20.0);
    let mut rtt = 100;
    while law.ssthresh() > 19.0 {
        rtt += 100;
        law.rtt(rtt).ack(1);
    }
    near(law.ssthresh(), 14.0);
    let from = law.cwnd();
    near(from, 21.0);
    near(law.ack(10).cwnd(), 17.0);
    near(law.ack(12).cwnd(), 14.0);
}

#[test]
fn the_smallest_rtt_is_forgotten_when_nothing_is_in_flight() {
    for (name, params) in [("yeah", &[][..]), ("veno", &[("rtt", "smallest")][..])] {
        let mut law = avoiding(name, params, 10.0);
        law.ack(1).rtt(200).ack(1);
        near(law.column("base_rtt"), 0.1);
        law.start(0).ack(1);
        near(law.column("base_rtt"), 0.2);
    }
}

#[test]
fn cubic_leaves_out_the_time_since_the_last_sending_when_nothing_is_in_flight() {
    // Two seconds after a loss, of which one is left out or hasn't passed: the same window, by the tick.
    let window = |leaves_out: bool| {
        let mut law = avoiding("cubic", &[("rules", "linux"), ("reno_friendly", "false")], 100.0);
        law.lose().recover().ack(1);
        law.advance(1000);
        if leaves_out {
            law.advance(1000).start(1000);
        }
        for _ in 0..20 {
            law.ack(10);
        }
        law.cwnd()
    };
    assert_eq!(window(true), window(false));
    assert!(window(true) > 70.0);
}
