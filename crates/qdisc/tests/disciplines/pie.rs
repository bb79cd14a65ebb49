//! PIE against numbers worked by hand [RFC 8033].

use dumbbell_qdisc::DropReason::{Early, Full};
use dumbbell_qdisc::Ecn;
use dumbbell_testkit::{Fate, QdiscFixture, given, link, near};
use dumbbell_units::Dur;

const MS: Dur = Dur::millis(1);

#[test]
fn the_delay_of_the_last_packet_controls_the_probability() {
    // Five packets at 0. One leaves at 10 ms: delay 10. Update at 15: 0.125 x (0.010 - 0.015) + 1.25 x 0.010 =
    // 0.011875, / 2048. One at 25: delay 25. Update at 30: 0.125 x 0.010 + 1.25 x 0.015 = 0.02, / 512 (the probability
    // is 5.8e-6).
    let mut q = QdiscFixture::new("pie", &[]);
    (0..5).for_each(|_| assert_eq!(q.arrive(0, 1000), Fate::Queued));
    let first = 0.011_875 / 2048.0;
    for (wait, p) in [(10, 0.0), (15, first), (6, first + 0.02 / 512.0)] {
        q.advance(MS * wait).send();
        assert!((q.column("probability") - p).abs() < 1e-15, "{} {p}", q.column("probability"));
    }
    near(q.column("qdelay_ns"), 31e6);
    // The burst allowance has decreased by two updates of 15 ms.
    near(q.column("burst_ns"), 120e6);
    // An empty queue has no delay; after some time the probability is zero.
    q.drain();
    near(q.column("qdelay_ns"), 0.0);
    q.advance(MS * 10_000).arrive(0, 1000);
    assert_eq!((q.column("probability"), q.column("burst_ns")), (0.0, 150e6));
}

/// Returns a queue whose probability rises by 2 % per 50 ms from 300 ms on, because its delay is 300 ms.
fn overloaded(params: &[(&str, &str)]) -> QdiscFixture {
    let own = [("alpha", "0"), ("beta", "0"), ("tupdate", "50 ms")];
    let mut q = QdiscFixture::new("pie", &[&own, params].concat());
    (0..10).for_each(|_| _ = q.arrive(0, 1000));
    q.advance(MS * 300).send();
    q
}

#[test]
fn marks_up_to_ten_percent_then_drops() {
    // Updates at 350, 400, 450, 500 ms: 8 %. accu_prob grows by 0.08: ten arrivals (0.8) are always accepted, of 107
    // (8.56) one is dropped or marked.
    for (ecn, params, marked, dropped) in [
        (Ecn::ECT0, &[("ecn", "true")][..], true, false),
        (Ecn::ECT1, &[("ecn", "true")], true, false),
        (Ecn::NOT_ECT, &[("ecn", "true")], false, true),
        (Ecn::ECT0, &[], false, true),
    ] {
        let mut q = overloaded(params);
        q.ecn(ecn).advance(MS * 200);
        for _ in 0..10 {
            assert_eq!(q.arrive(0, 1000), Fate::Queued);
        }
        near(q.column("probability"), 0.08);
        let fates: Vec<Fate> = (0..97).map(|_| q.arrive(0, 1000)).collect();
        assert_eq!(fates.contains(&Fate::Marked), marked, "{ecn:?}");
        assert_eq!(fates.contains(&Fate::Dropped(Early)), dropped, "{ecn:?}");
    }
    // One update later the probability is 10 %: ECN-capable packets are dropped too.
    let mut q = overloaded(&[("ecn", "true")]);
    q.ecn(Ecn::ECT0).advance(MS * 250);
    let fates: Vec<Fate> = (0..97).map(|_| q.arrive(0, 1000)).collect();
    assert!(fates.contains(&Fate::Dropped(Early)) && !fates.contains(&Fate::Marked));
}

#[test]
fn byte_mode_lowers_the_probability_of_small_packets() {
    // A tenth of a full packet has a tenth of the probability: 8 % x 0.1 x 100 = 0.8.
    let mut q = overloaded(&[("bytemode", "true")]);
    q.advance(MS * 200);
    assert!((0..100).all(|_| q.arrive(0, 100) == Fate::Queued));
    // Without byte mode one of 107 is dropped.
    let mut q = overloaded(&[]);
    q.advance(MS * 200);
    assert!((0..107).any(|_| q.arrive(0, 100) != Fate::Queued));
}

#[test]
fn a_short_queue_has_no_drops() {
    // At most two full packets wait.
    let mut q = overloaded(&[]);
    q.advance(MS * 2000);
    while q.backlog().packets > 2 {
        q.send();
    }
    near(q.column("probability"), 0.8); // updates at 350, 400, ..., 2300 ms
    for _ in 0..100 {
        assert_eq!(q.arrive(0, 1000), Fate::Queued);
        q.send();
    }
}

#[test]
fn a_full_queue_drops() {
    let mut q = QdiscFixture::new("pie", &[("limit", "2 packets")]);
    let fates: Vec<Fate> = (0..3).map(|_| q.arrive(0, 1000)).collect();
    assert_eq!(fates, [Fate::Queued, Fate::Queued, Fate::Dropped(Full)]);
}

#[test]
fn the_minimum_tupdate_is_a_microsecond() {
    for name in ["pie", "fq_pie", "pi2", "dualpi2"] {
        let refused = dumbbell_qdisc::build(name, &given(&[("tupdate", "999 ns")]), &link()).unwrap_err();
        assert_eq!(refused.to_string(), "tupdate: 999 ns given, at least 1 us is needed", "{name}");
        assert!(dumbbell_qdisc::build(name, &given(&[("tupdate", "1 us")]), &link()).is_ok(), "{name}");
    }
}
