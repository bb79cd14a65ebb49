use dumbbell_qdisc::DropReason::{Early, Full};
use dumbbell_qdisc::Ecn;
use dumbbell_testkit::near;
use dumbbell_testkit::{Fate, QdiscFixture};
use dumbbell_units::Dur;

const MS: Dur = Dur::millis(1);

#[test]
fn the_probability_follows_the_classic_delay() {
    // A classic packet comes at 24 ms and stays. Updates at 16 n ms with 0.16 (delay - 0.015) + 3.2 (change):
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
    // An L4S queue that waits for longer counts just so.
    let mut q = QdiscFixture::new("dualpi2", &[]);
    q.ecn(Ecn::ECT1).advance(MS * 24).arrive(0, 1000);
    q.advance(MS * 8).arrive(0, 40);
    near(q.column("p"), 0.02448);
    near(q.column("l4s_qdelay_ns"), 8e6);
}

#[test]
fn the_ecn_field_says_which_queue() {
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
fn the_scheduler_leaves_the_classic_queue_its_tenth() {
    // Packets of 1000: the balance starts at 1000 x (0.1 - 0.9) = -800 and grows by 100 with each L4S packet. Not above 0
    // before the ninth; then a classic one: -900.
    let mut q = QdiscFixture::new("dualpi2", &[]);
    for _ in 0..50 {
        q.ecn(Ecn::ECT1).arrive(0, 1000);
        q.ecn(Ecn::NOT_ECT).arrive(2, 1000);
    }
    let classic: Vec<bool> = (0..40).filter_map(|_| q.send()).map(|n| n % 2 == 0).collect();
    let expected: Vec<bool> = (0..40).map(|n| n % 10 == 9).collect();
    assert_eq!(classic, expected);
    // With half for each they take turns; with all for the classic one it goes first throughout.
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
fn the_step_marks_what_has_waited_for_too_long() {
    for (ecn, waited, marked) in [
        (Ecn::ECT1, 1000, false),
        (Ecn::ECT1, 1001, true),
        (Ecn::ECT0, 1001, false),
        (Ecn::NOT_ECT, 1001, false),
    ] {
        let mut q = QdiscFixture::new("dualpi2", &[]);
        q.ecn(ecn).arrive(0, 1000);
        q.advance(Dur::micros(waited));
        assert_eq!(q.send_packet().map(|p| p.ecn == Ecn::CE), Some(marked), "{ecn:?} after {waited} us");
    }
    // Only if enough packets are left behind.
    let mut q = QdiscFixture::new("dualpi2", &[("min_qlen_step", "2")]);
    q.ecn(Ecn::ECT1);
    (0..4).for_each(|_| _ = q.arrive(0, 1000));
    q.advance(MS * 2);
    let marked: Vec<bool> = (0..4).filter_map(|_| q.send_packet()).map(|p| p.ecn == Ecn::CE).collect();
    assert_eq!(marked, [true, true, false, false]);
}

/// A queue with p = 0.19008 at 81 ms, as above, and 3000 packets of one codepoint that have just come; then all leave.
/// The shares that are marked and dropped of them.
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
    // p^2 = 0.0361 (five sd of the share: 0.017), 2 p = 0.380 (0.044), 4 p = 0.760 (0.039). Two packets are spared because
    // fewer than two full packets are left behind them.
    let is = |(marked, dropped): (f64, f64), m: f64, d: f64| {
        let far = |p: f64| 5.0 * (p * (1.0 - p) / 3000.0f64).sqrt() + 2.5 / 3000.0;
        assert!((marked - m).abs() <= far(m) && (dropped - d).abs() <= far(d), "{marked} {m}, {dropped} {d}");
    };
    let p = 0.19008f64;
    for params in [&[][..], &[("drop_early", "true")]] {
        is(shares(Ecn::NOT_ECT, params), 0.0, p * p);
        is(shares(Ecn::ECT0, params), p * p, 0.0);
        is(shares(Ecn::ECT1, params), 2.0 * p, 0.0);
    }
    is(shares(Ecn::ECT1, &[("coupling_factor", "4")]), 4.0 * p, 0.0);
    // k = 8: k p is above 1. What isn't dropped with p^2 is marked, and marks don't save a classic packet.
    let k = ("coupling_factor", "8");
    is(shares(Ecn::ECT0, &[k]), 0.0, p * p);
    is(shares(Ecn::ECT1, &[k]), 1.0 - p * p, p * p);
    // Left to the limit: p is held at 1/8, all L4S packets are marked, none is dropped.
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
    // At an overload drops come at the head, while two full packets are left behind: p is 1 after seconds.
    let mut q = QdiscFixture::new("dualpi2", &[]);
    q.ecn(Ecn::NOT_ECT);
    (0..5).for_each(|_| _ = q.arrive(0, 1000));
    q.advance(MS * 3000);
    assert_eq!(q.send(), Some(4));
    assert_eq!(q.dropped(), [(1, Early), (2, Early), (3, Early)]);
}
