use dumbbell_testkit::CcFixture;
use dumbbell_testkit::near;

/// So many round trips of that many ms, an ACK of so many segments at the end of each.
fn at_rate(law: &mut CcFixture, rtt: u64, segments: u64, times: u32) -> &mut CcFixture {
    law.rtt(rtt);
    (0..times).fold(law, |law, _| law.advance(rtt).ack_unused(segments))
}

/// What the next ACK of one segment adds, times the window.
fn increase(law: &mut CcFixture) -> f64 {
    let before = law.cwnd();
    let inc = (law.ack(1).cwnd() - before) * before;
    near(law.column("alpha"), inc);
    inc
}

#[test]
fn the_increase_grows_with_time() {
    // RTT 100 ms: no scaling; beta 0.5: alpha = f. t counts from the first ACK.
    let mut law = CcFixture::new("htcp", &[], 1000.0, 1000.0);
    near(increase(&mut law), 1.0);
    near(increase(law.advance(1000)), 1.0);
    // t = 3: 1 + 10 * 2 + 1^2 = 22. t = 5: 1 + 40 + 2^2 = 45.
    near(increase(law.advance(2000)), 22.0);
    near(increase(law.advance(2000)), 45.0);
    // A loss starts it again, the end of its recovery once more.
    law.lose().advance(3000).recover();
    near(increase(&mut law), 1.0);
    near(increase(law.advance(3000)), 22.0);
    // Never more than a segment for each acknowledged: 22 > 10.
    let mut law = CcFixture::new("htcp", &[], 10.0, 10.0);
    near(law.ack_unused(1).ack(1).advance(3000).ack(1).column("alpha"), 10.1);
    // With delta_l = 2 s: t = 3 gives 1 + 10 + 1/4.
    let mut law = CcFixture::new("htcp", &[("delta_l", "2 s")], 1000.0, 1000.0);
    increase(&mut law);
    near(increase(law.advance(3000)), 11.25);
}

#[test]
fn it_is_scaled_by_the_round_trip_time() {
    // f = 22 at t = 3 times base_rtt / 100 ms: 50 ms one half; 5 ms a tenth, the least; 400 ms twice, the most.
    for (rtt, alpha) in [(50, 11.0), (5, 2.2), (400, 44.0)] {
        let mut law = CcFixture::new("htcp", &[], 1000.0, 1000.0);
        near(increase(law.rtt(rtt)), if rtt == 400 { 2.0 } else { 1.0 });
        near(increase(law.advance(3000)), alpha);
        let mut law = CcFixture::new("htcp", &[("rtt_scaling", "false")], 1000.0, 1000.0);
        increase(law.rtt(rtt));
        near(increase(law.advance(3000)), 22.0);
    }
}

/// Two losses: 100 segments/s before the first, with RTTs of 100 and `full` ms; then so many segments/s.
fn second_loss(params: &[(&str, &str)], full: u64, rate: u64) -> CcFixture {
    let mut law = CcFixture::new("htcp", params, 1000.0, 1000.0);
    law.ack_unused(10);
    at_rate(&mut law, 100, 10, 3);
    at_rate(&mut law, full, full / 10, 3).lose();
    near(law.column("beta"), 0.5); // there is nothing to compare with
    near(law.cwnd(), 500.0);
    law.recover();
    at_rate(&mut law, full, full * rate / 1000, 3).lose();
    law
}

#[test]
fn the_decrease_empties_the_queue() {
    // 100 / 150 = 2/3; bounded by 0.8 (100 / 110) and 0.5 (100 / 400). max_rtt had faded to 100 + 0.95 * 50 = 147.5 and
    // came back with the next samples; now it fades again.
    let law = second_loss(&[], 150, 100);
    near(law.column("beta"), 2.0 / 3.0);
    near(law.cwnd(), 1000.0 / 3.0);
    near(law.column("max_rtt"), 0.1475);
    near(law.column("base_rtt"), 0.1);
    near(second_loss(&[], 110, 100).column("beta"), 0.8);
    near(second_loss(&[], 400, 100).column("beta"), 0.5);
    near(second_loss(&[("adaptive_backoff", "false")], 150, 100).column("beta"), 0.5);
}

#[test]
fn a_changed_rate_means_one_half() {
    // 120 of 100 is a fifth, no more; 140 and 60 are.
    near(second_loss(&[], 150, 120).column("beta"), 2.0 / 3.0);
    near(second_loss(&[], 150, 140).column("beta"), 0.5);
    near(second_loss(&[], 150, 60).column("beta"), 0.5);
}

#[test]
fn a_gentler_cut_grows_more_slowly() {
    // beta = 2/3: alpha = 2 (1 - 2/3) = 2/3.
    let mut law = second_loss(&[], 150, 100);
    law.recover();
    near(increase(&mut law), 2.0 / 3.0);
}

#[test]
fn timeouts_and_marks() {
    let mut law = CcFixture::new("htcp", &[], 40.0, 40.0);
    law.time_out();
    near(law.cwnd(), 1.0);
    near(law.ssthresh(), 20.0);
    law.time_out(); // the same segment again
    near(law.ssthresh(), 20.0);
    near(CcFixture::new("htcp", &[], 40.0, 40.0).echo_mark().cwnd(), 20.0);
}

#[test]
fn linux_works_in_whole_numbers() {
    // t = 2.5: 1 + 10 * 1.5 + 0.75^2 = 16.56, 16. 100 ms: 8 * 16 / 8. 70 ms: 8 / 0.7 = 11.4, 11; 128 / 11 = 11.6, 11.
    for (rtt, alpha) in [(100, 16.0), (70, 11.0)] {
        let mut law = CcFixture::new("htcp", &[("rules", "linux")], 1000.0, 1000.0);
        near(increase(law.rtt(rtt)), 1.0);
        near(increase(law.advance(2500)), alpha);
    }
}

#[test]
fn linux_doubts_large_samples() {
    // 20 ms above the largest so far count, 21 don't.
    for (rtt, max) in [(120, 0.12), (121, 0.1)] {
        let mut law = CcFixture::new("htcp", &[("rules", "linux")], 20.0, 20.0);
        law.rtt(100).ack_unused(1).rtt(rtt).ack_unused(1);
        near(law.column("max_rtt"), max);
    }
}

#[test]
fn linux_halves_on_short_paths() {
    // A steady rate, base 8 ms of at most 10: the ratio 0.8 would be left.
    for (rules, left) in [("published", 0.8), ("linux", 0.5)] {
        let mut law = CcFixture::new("htcp", &[("rules", rules)], 20.0, 20.0);
        for _ in 0..3 {
            at_rate(at_rate(&mut law, 8, 20, 5), 10, 25, 5).lose().recover();
        }
        let beta = law.column("beta");
        if rules == "linux" { near(beta, left) } else { assert!(beta >= left - 1e-9, "{beta}") }
    }
}
