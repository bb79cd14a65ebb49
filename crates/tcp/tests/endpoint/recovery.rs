//! One to four losses in a window of 16 [Fall & Floyd 1996]: the segments that each loss recovery retransmits, and
//! whether it needs the timer.
//!
//! The set-up: an ACK for every segment, initial window 2, so that slow start sends segments 0-1, 2-5, 6-13 and 14-29
//! in its first four round trips of 100 ms. Segment 14 is the first of the fourth and the first to be lost: 14-29 are
//! outstanding, cwnd is 16 and the duplicate ACKs are those of 15-29, as far as they arrive. Limited transmit adds 30
//! and 31.

use dumbbell_testkit::wire::{Wire, losing};

const SET_UP: [(&str, &str); 5] = [
    ("ack_every", "1"),
    ("initial_window", "2 packets"),
    ("timestamps", "false"),
    ("window", "100 packets"),
    ("rto_min", "1 s"),
];

fn lose(variant: &str, numbers: &[u64]) -> (Vec<u64>, u64, u64) {
    lose_with(variant, numbers, &[])
}

fn lose_with(variant: &str, numbers: &[u64], more: &[(&str, &str)]) -> (Vec<u64>, u64, u64) {
    let kept = SET_UP.iter().filter(|(name, _)| more.iter().all(|(n, _)| n != name));
    let changes: Vec<_> = kept.chain(more).copied().collect();
    let wire = Wire::new(variant, "rfc", &changes, losing(numbers)).send(80).until_done();
    let c = wire.sender.counters();
    (wire.resent(), c.fast_retransmits, c.timeouts)
}

#[test]
fn one_loss_is_repaired_by_one_fast_retransmit() {
    // Each of them retransmits 14 on the third duplicate ACK and nothing else: the next ACK covers all.
    for variant in ["tahoe", "reno", "newreno", "sack"] {
        assert_eq!(lose(variant, &[14]), (vec![14], 1, 0), "{variant}");
    }
}

#[test]
fn two_losses_halve_renos_window_twice_and_the_others_once() {
    let drops = [14, 28];
    // Tahoe resends from 14 on, whose ACK is 28; cwnd is 2 by now, so that 28 and 29, which had arrived, are
    // retransmitted.
    assert_eq!(lose("tahoe", &drops), (vec![14, 28, 29], 1, 0));
    // Reno: recovery ends with the ACK 28. cwnd is 8; the segments sent in recovery (32, 33, .. as the inflated window
    // 8 + 3 + 11 further duplicates allows) cause three more duplicates: a second fast retransmit.
    assert_eq!(lose("reno", &drops), (vec![14, 28], 2, 0));
    // One recovery: a partial ACK, or the scoreboard, finds the second hole.
    assert_eq!(lose("newreno", &drops), (vec![14, 28], 1, 0));
    assert_eq!(lose("sack", &drops), (vec![14, 28], 1, 0));
}

#[test]
fn three_losses_need_the_timer_with_reno_only() {
    let drops = [14, 26, 28];
    // Tahoe: 14; ACK 26 and cwnd 2: 26, 27; ACK 28 and cwnd 3: 28, 29, 30.
    // The ACK of 26 covers 27 as well; that of 27 is a duplicate of it.
    let (resent, fast, timeouts) = lose("tahoe", &drops);
    assert_eq!((&resent[..4], fast, timeouts), (&[14, 26, 27, 28][..], 1, 0));
    // Reno: two halvings leave a window of 4 with 26.. outstanding; a third set of three duplicates is impossible.
    let (resent, fast, timeouts) = lose("reno", &drops);
    assert_eq!((resent[0], resent[1], fast, timeouts), (14, 26, 2, 1));
    assert_eq!(lose("newreno", &drops), (vec![14, 26, 28], 1, 0));
    assert_eq!(lose("sack", &drops), (vec![14, 26, 28], 1, 0));
}

#[test]
fn four_losses_need_the_timer_with_reno_only() {
    let drops = [14, 24, 26, 28];
    let (resent, _, timeouts) = lose("tahoe", &drops);
    assert_eq!((&resent[..3], timeouts), (&[14, 24, 25][..], 0));
    assert_eq!(lose("reno", &drops).2, 1);
    // NewReno needs a round trip for each hole, SACK retransmits 24, 26 and 28 as pipe allows.
    assert_eq!(lose("newreno", &drops), (vec![14, 24, 26, 28], 1, 0));
    assert_eq!(lose("sack", &drops), (vec![14, 24, 26, 28], 1, 0));
}

#[test]
fn newreno_needs_a_round_trip_for_each_hole_and_sack_does_not() {
    let time = |variant| {
        let wire = Wire::new(variant, "rfc", &SET_UP, losing(&[14, 24, 26, 28])).send(80).until_done();
        let at = |number| wire.sent.iter().find(|s| s.again && s.number == number).map(|s| s.at.0).unwrap();
        (at(28) - at(14)) as f64 / 1e8
    };
    assert_eq!(time("newreno"), 3.0);
    assert!(time("sack") <= 1.0, "{}", time("sack"));
}

#[test]
fn a_lost_retransmission_needs_the_timer() {
    // The 33rd data segment sent (number 32) is the retransmission of 14, after 0-29 and the two of limited transmit.
    // It is lost as well.
    for variant in ["tahoe", "reno", "newreno", "sack"] {
        // Enough data and window, so that SACK always has new segments and needs no rescue retransmission.
        let set_up = [SET_UP[0], SET_UP[1], SET_UP[2], ("window", "1000 packets"), ("initial_ssthresh", "100 packets")];
        let wire = Wire::new(variant, "rfc", &set_up, losing(&[14, 32])).send(300).until_done();
        assert_eq!((&wire.resent()[..2], wire.sender.counters().timeouts), (&[14, 14][..], 1), "{variant}");
    }
}

#[test]
fn with_one_reduction_per_window_the_timer_repairs_renos_second_loss() {
    let (resent, fast, timeouts) = lose_with("reno", &[14, 28], &[("one_reduction_per_window", "true")]);
    assert_eq!((resent[0], resent[1], fast, timeouts), (14, 28, 1, 1));
}

#[test]
fn without_limited_transmit_two_duplicates_send_nothing() {
    // Window of 3 after the initial window: only two duplicates arrive, so that the timer repairs the loss. With
    // limited transmit each of them allows a new segment, and these cause the third.
    let three = [("initial_window", "3 packets"), ("initial_ssthresh", "2 packets")];
    let without: Vec<_> = three.iter().copied().chain([("limited_transmit", "false")]).collect();
    assert_eq!(lose_with("newreno", &[0], &without), (vec![0], 0, 1));
    assert_eq!(lose_with("newreno", &[0], &three), (vec![0], 1, 0));
}

#[test]
fn only_the_timer_repairs_the_loss_of_the_last_segment() {
    for variant in ["tahoe", "reno", "newreno", "sack"] {
        assert_eq!(lose(variant, &[79]), (vec![79], 0, 1), "{variant}");
    }
}
