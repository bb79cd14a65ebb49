//! The integer rules of Linux, on a stack that counts cwnd in segments (`linux.rs` of each variant) [Linux tcp_cong.c
//! tcp_cong_avoid_ai].

use dumbbell_cc::Setup;
use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

fn avoiding(name: &str, params: &[(&str, &str)], window: f64) -> CcFixture {
    CcFixture::whole(name, params, window, window)
}

#[test]
fn reno_grows_by_one_segment_per_window() {
    let mut cc = avoiding("sack", &[], 10.0);
    near(cc.ack(9).cwnd(), 10.0);
    near(cc.ack(3).cwnd(), 11.0); // 12 of 10, the remainder is 2
    near(cc.ack(8).cwnd(), 11.0); // 10 of 11
    near(cc.ack(1).cwnd(), 12.0);
}

#[test]
fn a_reduction_subtracts_whole_segments() {
    // 10/8 = 1.25 segments, rounded down 1; 23/8 = 2.9, 2.
    let scalable = [("reno_growth", "true"), ("low_window", "1"), ("b", "0.125")];
    near(avoiding("scalable", &scalable, 10.0).lose().cwnd(), 9.0);
    near(avoiding("scalable", &scalable, 23.0).lose().cwnd(), 21.0);
    // Half of 11 is 5.5: HighSpeed subtracts 5, Reno's ssthresh is 5.
    near(avoiding("highspeed", &[("rules", "linux")], 11.0).lose().cwnd(), 6.0);
    near(avoiding("sack", &[], 11.0).lose().ssthresh(), 5.0);
}

#[test]
fn highspeed_counts_acks() {
    // At a window of 10, a = 1: ten ACKs, however many segments each covers.
    let mut cc = avoiding("highspeed", &[("rules", "linux")], 10.0);
    for _ in 0..9 {
        cc.ack(2);
    }
    near(cc.cwnd(), 10.0);
    near(cc.ack(2).cwnd(), 11.0);
}

#[test]
fn htcp_counts_an_ack_for_the_next_one() {
    // alpha 1 and a window of 10: five ACKs of two segments count ten, and the sixth increases the window.
    let mut cc = avoiding("htcp", &[("rules", "linux")], 10.0);
    for _ in 0..5 {
        cc.ack(2);
    }
    near(cc.cwnd(), 10.0);
    near(cc.ack(2).cwnd(), 11.0);
}

#[test]
fn cubic_keeps_its_credits_when_cnt_falls() {
    // Before a loss w_max is 0, and cnt is at most 20 segments. 50 segments at once add two, and 10 remain.
    let mut cc = avoiding("cubic", &[("rules", "linux")], 100.0);
    near(cc.ack(19).cwnd(), 100.0);
    near(cc.ack(1).cwnd(), 101.0);
    near(cc.ack(50).cwnd(), 103.0);
}

#[test]
fn westwood_measures_in_ticks() {
    // The handshake at 1 s starts the first interval. RTTs of 100 ms are 25 ticks; an interval ends with the 26th tick:
    // the ACK 104 ms after the start. The first ACK doesn't count; the second one acknowledges ten segments, 10,000
    // bytes in 26 ticks: 384 bytes a tick (rounded down), 9,600 in base_rtt: 9 segments.
    let params = [("stages", "2"), ("when", "recovered"), ("tick", "4 ms")];
    let mut cc = avoiding("westwood", &params, 20.0);
    cc.established(100);
    cc.advance(90).ack(1);
    cc.advance(10).ack(10);
    cc.advance(4).ack(1);
    cc.lose();
    near(cc.cwnd(), 10.0); // half of the window during recovery
    near(cc.recover().cwnd(), 9.0);
}

#[test]
fn westwood_measures_through_an_idle_time() {
    // 10,000 bytes from the handshake to the ACK after 60 ms of idle time: 160 ms are 40 ticks, 250 bytes a tick, 6,250
    // in base_rtt; without the estimate the window would stay at half of 20.
    let params = [("stages", "2"), ("when", "recovered"), ("tick", "4 ms")];
    let mut cc = avoiding("westwood", &params, 20.0);
    cc.established(100);
    cc.advance(90).ack_unused(1);
    cc.advance(10).ack_unused(10);
    cc.idle(60).ack_unused(1);
    near(cc.lose().cwnd(), 10.0);
    near(cc.recover().cwnd(), 6.0);
}

#[test]
fn illinois_keeps_its_round_trip_through_an_idle_time() {
    // 20 segments in flight: two ACKs of ten are a round trip. 200 and 100 ms around the idle time: da = 50 of dm = 100
    // ms, beta = 1/8 + 3/8 * 40/70 = 0.339, 21/64.
    let mut cc = avoiding("illinois", &[("window_threshold", "5")], 20.0);
    cc.outstanding(20);
    cc.rtt(200).ack_unused(20).ack_unused(20).rtt(100).ack_unused(20).ack_unused(20);
    cc.ack_unused(10).rtt(200).ack_unused(10).ack_unused(10); // the end of a round
    cc.ack_unused(10).idle(3000).rtt(100).ack_unused(10);
    near(cc.column("beta"), 21.0 / 64.0);
}

#[test]
fn veno_rounds_diff_to_half_segments_and_uses_the_minimum_rtt() {
    // base_rtt 100 ms. At 110 ms and a window of 20: n = 20 / 11 = 1.8, 2 in half segments: no queue, a loss leaves
    // 4/5.
    let params = [("rtt", "smallest"), ("reset_base_rtt", "false")];
    let mut cc = avoiding("veno", &params, 20.0);
    cc.ack(1).ack(1).ack(1).rtt(110).ack(1);
    near(cc.column("n"), 2.0);
    near(cc.lose().cwnd(), 16.0);
    // At 115 ms: 20 * 15 / 115 = 2.6, 3: a queue.
    let mut cc = avoiding("veno", &params, 20.0);
    cc.ack(1).ack(1).ack(1).rtt(115).ack(1);
    near(cc.column("n"), 3.0);
    near(cc.lose().cwnd(), 10.0);
}

#[test]
fn cdg_reduces_the_window_over_a_round_trip() {
    // The RTT rises by 100 ms a round trip, far above the scale: the probability of a backoff in the first round trip
    // with a gradient is almost 1, from 21 segments to 0.7071 * 21 = 14.8, 14. After 10 are delivered: 21 - 10 + (14 *
    // 10 / 21 = 6.7, 7 less the one that the ACK of the decision let out) = 17; after the rest 14.
    let params =
        [("rules", "linux"), ("beta", "0.7071"), ("extrapolate", "true"), ("hold", "0"), ("tolerance", "false")];
    let mut cc = avoiding("cdg", &params, 20.0);
    let mut rtt = 100;
    while cc.ssthresh() > 19.0 {
        rtt += 100;
        cc.rtt(rtt).ack(1);
    }
    near(cc.ssthresh(), 14.0);
    let from = cc.cwnd();
    near(from, 21.0);
    near(cc.ack(10).cwnd(), 17.0);
    near(cc.ack(12).cwnd(), 14.0);
}

#[test]
fn the_minimum_rtt_is_reset_when_nothing_is_in_flight() {
    for (name, params) in [("yeah", &[][..]), ("veno", &[("rtt", "smallest")][..])] {
        let mut cc = avoiding(name, params, 10.0);
        cc.ack(1).rtt(200).ack(1);
        near(cc.column("base_rtt"), 0.1);
        cc.start(0).ack(1);
        near(cc.column("base_rtt"), 0.2);
    }
}

#[test]
fn cubic_excludes_the_time_since_the_last_transmission_when_nothing_is_in_flight() {
    // Two seconds after a loss of which one is excluded, or one second after it: the same window to the tick.
    let window = |leaves_out: bool| {
        let mut cc = avoiding("cubic", &[("rules", "linux"), ("reno_friendly", "false")], 100.0);
        cc.lose().recover().ack(1);
        cc.advance(1000);
        if leaves_out {
            cc.advance(1000).start(1000);
        }
        for _ in 0..20 {
            cc.ack(10);
        }
        cc.cwnd()
    };
    assert_eq!(window(true), window(false));
    assert!(window(true) > 70.0);
}

#[test]
fn a_reduction_leaves_two_segments() {
    // cwnd is ssthresh at the end of the reduction [Linux tcp_input.c tcp_end_cwnd_reduction]: never 1.5 or 1.
    for window in [3.0, 2.0, 1.0] {
        let mut cc = avoiding("sack", &[], window);
        cc.lose();
        near(cc.ssthresh(), 2.0);
        near(cc.recover().cwnd(), 2.0);
    }
}

#[test]
fn nv_reduces_in_128ths() {
    // 60 segments are delivered in a round trip: max_win is 60 + 10, the excess of 80 is 10. 30 % are 38/128: 2.97,
    // rounded down 2 [Linux tcp_nv.c nv_cong_dec_mult].
    let mut cc = avoiding("nv", &[], 80.0);
    cc.outstanding(100).delivering(60);
    for _ in 0..202 {
        cc.ack_unused(1);
    }
    near(cc.cwnd(), 78.0);
}

#[test]
fn hybla_stays_below_its_clamp() {
    // rho is 4 at 100 ms: each ACK in slow start adds 2^4 - 1 segments, up to 65,535 [Linux tcp_hybla.c hybla_init].
    let mut cc = CcFixture::whole("hybla", &[("rules", "linux")], 65_530.0, 1e6);
    cc.established(100);
    for _ in 0..5000 {
        cc.ack(1);
    }
    near(cc.cwnd(), 65_535.0);
}

#[test]
fn westwood_without_an_estimate_leaves_two_segments() {
    // The first estimate comes after more than 50 ms. A loss before it: half of the window, then two segments. A
    // timeout sets ssthresh to two.
    let params = [("stages", "2"), ("when", "recovered"), ("tick", "4 ms")];
    let mut cc = avoiding("westwood", &params, 20.0);
    cc.rtt(2).established(2);
    cc.advance(2).ack(10);
    near(cc.lose().cwnd(), 10.0);
    near(cc.recover().cwnd(), 2.0);
    let mut cc = avoiding("westwood", &params, 20.0);
    cc.rtt(2).established(2);
    cc.advance(2).ack(10);
    near(cc.time_out().ssthresh(), 2.0);
}

#[test]
fn illinois_adds_up_rounds_without_a_queue() {
    // Largest RTT 200 ms. Three rounds with 100 ms, one with 200 ms, two with 100 ms: together five, and alpha_max
    // returns.
    let mut cc = avoiding("illinois", &[("window_threshold", "5")], 20.0);
    cc.outstanding(20);
    let round = |cc: &mut CcFixture, rtt: u64| {
        cc.rtt(rtt).ack_unused(20);
        cc.column("alpha")
    };
    round(&mut cc, 100);
    round(&mut cc, 200);
    assert!(round(&mut cc, 200) < 1.0);
    assert!((0..3).all(|_| round(&mut cc, 100) < 1.0));
    assert!(round(&mut cc, 200) < 1.0);
    assert!(round(&mut cc, 100) < 1.0);
    near(round(&mut cc, 100), 10.0);
}

#[test]
fn slow_start_leaves_nothing_for_avoidance() {
    // From 8 to ssthresh, 10, with an ACK for twelve segments: ten are left. Reno counts them, and grows by one.
    for (name, params, after) in [
        ("highspeed", &[("rules", "linux")][..], 10.0),
        ("illinois", &[("window_threshold", "5")][..], 10.0),
        ("sack", &[][..], 11.0),
    ] {
        let start = Setup { slow_start_limit: f64::INFINITY, ..Setup::new(1000.0, 8000.0, 10_000.0) };
        let mut cc = CcFixture::whole_starting(name, params, start);
        near(cc.ack(12).cwnd(), after);
    }
}

#[test]
fn veno_computes_diff_before_slow_start() {
    // Base RTT 100 ms, then 150 ms: 20 (1 - 100/150) = 6.67, rounded up to 7; by the window afterwards, 30, it would
    // be 10.
    let start = Setup { slow_start_limit: f64::INFINITY, ..Setup::new(1000.0, 18_000.0, 1e9) };
    let mut cc = CcFixture::whole_starting("veno", &[("rtt", "smallest")], start);
    cc.ack(1).ack(1).rtt(150);
    near(cc.ack(10).cwnd(), 30.0);
    near(cc.column("n"), 7.0);
}

#[test]
fn cdg_keeps_its_shadow_window_when_the_queue_empties() {
    // The smallest RTT rises, the largest falls, which is an empty queue by the publication.
    for (rules, kept) in [("published", false), ("linux", true)] {
        let params = [("rules", rules), ("window", "1"), ("scale", "1000000 s")];
        let mut cc = avoiding("cdg", &params, 20.0);
        cc.outstanding(10);
        for (largest, smallest) in [(100, 100), (200, 100), (150, 120), (150, 120)] {
            cc.rtt(largest).ack(2).rtt(smallest).ack(8);
        }
        assert_eq!(cc.column("shadow") > 0.0, kept, "{rules}");
    }
}
