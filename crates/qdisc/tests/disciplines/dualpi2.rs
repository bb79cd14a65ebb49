//! DualPI2 against numbers worked by hand [RFC 9332].

use dumbbell_qdisc::DropReason::{Early, Full};
use dumbbell_qdisc::Ecn;
use dumbbell_testkit::{Fate, QdiscFixture, near};
use dumbbell_units::Dur;

const MS: Dur = Dur::millis(1);

#[test]
fn the_probability_follows_the_classic_delay() {
    // A classic packet arrives at 24 ms and stays. Updates at 16 n ms with 0.16 (delay - 0.015) + 3.2 (change):
    // 16: nothing. 32, 8 ms: -0.00112 + 0.0256 = 0.02448. 48, 24 ms: 0.00144 + 0.0512. 64, 40 ms: 0.004 + 0.0512.
    // 80, 56 ms: 0.00656 + 0.0512.
    let mut q = QdiscFixture::new("dualpi2", &[]);
    q.advance(MS * 24).arrive(0, 1000);
    for (wait, p) in [(0, 0.0), (8, 0.02448), (16, 0.07712), (16, 0.13232), (16, 0.19008)] {
        q.advance(MS * wait).arrive(0, 40);
        near(q.column("p"), p);
    }
    near(q.column("classic_qdelay_ns"), 56e6);
    near(q.column("classic_packets"), 6.0);
    // The delay of the L4S queue is used if it is longer.
    let mut q = QdiscFixture::new("dualpi2", &[]);
    q.ecn(Ecn::ECT1).advance(MS * 24).arrive(0, 1000);
    q.advance(MS * 8).arrive(0, 40);
    near(q.column("p"), 0.02448);
    near(q.column("l4s_qdelay_ns"), 8e6);
}

#[test]
fn the_ecn_field_selects_the_queue() {
    for (ecn, mask, l4s) in [
        (Ecn::NOT_ECT, "l4s_ect", false),
        (Ecn::ECT0, "l4s_ect", false),
        (Ecn::ECT1, "l4s_ect", true),
        (Ecn::CE, "l4s_ect", true),
        (Ecn::NOT_ECT, "any_ect", false),
        (Ecn::ECT0, "any_ect", true),
    ] {
        let mut q = QdiscFixture::new("dualpi2", &[("ecn_mask", mask)]);
        q.ecn(ecn).arrive(0, 1000);
        assert_eq!(q.column("l4s_packets"), f64::from(u8::from(l4s)), "{ecn:?} {mask}");
        assert_eq!(q.column("classic_packets"), f64::from(u8::from(!l4s)), "{ecn:?} {mask}");
    }
}

#[test]
fn the_classic_queue_has_a_tenth_of_the_link() {
    // Packets of 1000: the credit starts at 1000 x (0.1 - 0.9) = -800 and grows by 100 with each L4S packet. After the
    // ninth it is above 0 and a classic packet is sent: -900.
    let mut q = QdiscFixture::new("dualpi2", &[]);
    for _ in 0..50 {
        q.ecn(Ecn::ECT1).arrive(0, 1000);
        q.ecn(Ecn::NOT_ECT).arrive(2, 1000);
    }
    let classic: Vec<bool> = (0..40).filter_map(|_| q.send()).map(|n| n % 2 == 0).collect();
    let expected: Vec<bool> = (0..40).map(|n| n % 10 == 9).collect();
    assert_eq!(classic, expected);
    // With 50 % the queues alternate; with 100 % the classic queue always sends first.
    for (protection, first_l4s, l4s_of_20) in [("50 %", true, 10), ("100 %", false, 0), ("0 %", true, 20)] {
        let mut q = QdiscFixture::new("dualpi2", &[("classic_protection", protection)]);
        for _ in 0..30 {
            q.ecn(Ecn::ECT1).arrive(0, 1000);
            q.ecn(Ecn::NOT_ECT).arrive(2, 1000);
        }
        let l4s: Vec<bool> = (0..20).filter_map(|_| q.send()).map(|n| n % 2 == 1).collect();
        assert_eq!((l4s[0], l4s.iter().filter(|l| **l).count()), (first_l4s, l4s_of_20), "{protection}");
    }
}

#[test]
fn the_step_marks_packets_above_its_threshold() {
    for (ecn, waited, marked) in
        [(Ecn::ECT1, 1000, false), (Ecn::ECT1, 1001, true), (Ecn::ECT0, 1001, false), (Ecn::NOT_ECT, 1001, false)]
    {
        let mut q = QdiscFixture::new("dualpi2", &[]);
        q.ecn(ecn).arrive(0, 1000);
        q.advance(Dur::micros(waited));
        assert_eq!(q.send_packet().map(|p| p.ecn == Ecn::CE), Some(marked), "{ecn:?} after {waited} us");
    }
    // Only if enough packets are left in the queue.
    let mut q = QdiscFixture::new("dualpi2", &[("min_qlen_step", "2")]);
    q.ecn(Ecn::ECT1);
    (0..4).for_each(|_| _ = q.arrive(0, 1000));
    q.advance(MS * 2);
    let marked: Vec<bool> = (0..4).filter_map(|_| q.send_packet()).map(|p| p.ecn == Ecn::CE).collect();
    assert_eq!(marked, [true, true, false, false]);
}

/// Returns the marked and dropped shares of 3000 packets of one codepoint that arrive with p = 0.19008 at 81 ms, as
/// above, and then leave.
fn shares(ecn: Ecn, params: &[(&str, &str)]) -> (f64, f64) {
    let mut q = QdiscFixture::new("dualpi2", params);
    q.ecn(Ecn::NOT_ECT).advance(MS * 24).arrive(0, 1000);
    q.advance(MS * 57);
    q.ecn(ecn);
    let mut dropped = (0..3000).map(|_| q.burst(0, 1000).len()).sum::<usize>();
    q.drain();
    dropped += q.dropped().len();
    (q.marked() as f64 / 3000.0, dropped as f64 / 3000.0)
}

#[test]
fn the_queues_are_coupled() {
    // p^2 = 0.0361 (five standard deviations of the share: 0.017), 2 p = 0.380 (0.044), 4 p = 0.760 (0.039). Two
    // packets pass without a decision because fewer than two full packets are left.
    let is = |(marked, dropped): (f64, f64), m: f64, d: f64| {
        let tolerance = |p: f64| 5.0 * (p * (1.0 - p) / 3000.0f64).sqrt() + 2.5 / 3000.0;
        assert!(
            (marked - m).abs() <= tolerance(m) && (dropped - d).abs() <= tolerance(d),
            "{marked} {m}, {dropped} {d}"
        );
    };
    let p = 0.19008f64;
    for params in [&[][..], &[("drop_early", "true")]] {
        is(shares(Ecn::NOT_ECT, params), 0.0, p * p);
        is(shares(Ecn::ECT0, params), p * p, 0.0);
        is(shares(Ecn::ECT1, params), 2.0 * p, 0.0);
    }
    is(shares(Ecn::ECT1, &[("coupling_factor", "4")]), 4.0 * p, 0.0);
    // k = 8: k p is above 1. L4S packets are dropped with p^2 and otherwise marked; classic packets are dropped.
    let k = ("coupling_factor", "8");
    is(shares(Ecn::ECT0, &[k]), 0.0, p * p);
    is(shares(Ecn::ECT1, &[k]), 1.0 - p * p, p * p);
    // Overload left to the limit: p is limited to 1/8, all L4S packets are marked, none is dropped.
    let overflow = [k, ("drop_overload", "false")];
    is(shares(Ecn::ECT1, &overflow), 1.0, 0.0);
    is(shares(Ecn::ECT0, &overflow), 1.0 / 64.0, 0.0);
}

#[test]
fn one_limit_for_both() {
    let mut q = QdiscFixture::new("dualpi2", &[("limit", "2 packets")]);
    assert_eq!(q.ecn(Ecn::ECT1).arrive(0, 1000), Fate::Queued);
    assert_eq!(q.ecn(Ecn::ECT0).arrive(0, 1000), Fate::Queued);
    assert_eq!(q.ecn(Ecn::ECT1).arrive(0, 1000), Fate::Dropped(Full));
    // In an overload packets are dropped at the head while two full packets are left: p is 1 after some seconds.
    let mut q = QdiscFixture::new("dualpi2", &[]);
    q.ecn(Ecn::NOT_ECT);
    (0..5).for_each(|_| _ = q.arrive(0, 1000));
    q.advance(MS * 3000);
    assert_eq!(q.send(), Some(4));
    assert_eq!(q.dropped(), [(1, Early), (2, Early), (3, Early)]);
}
