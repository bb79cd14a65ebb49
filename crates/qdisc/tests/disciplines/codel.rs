//! CoDel against numbers worked by hand [RFC 8289].

use dumbbell_qdisc::DropReason::{Early, Full};
use dumbbell_qdisc::Ecn;
use dumbbell_testkit::{Fate, QdiscFixture, given, link, near};
use dumbbell_units::Dur;

/// A link of 10 Mbit/s sends 1000 bytes in 0.8 ms.
const PACKET: Dur = Dur::micros(800);

/// All packets arrive at 0; one leaves each 0.8 ms, so departure n (from 0) has a sojourn time of 0.8 n ms.
fn full_of(packets: u32, ecn: Ecn, params: &[(&str, &str)]) -> QdiscFixture {
    let mut q = QdiscFixture::new("codel", params);
    q.ecn(ecn);
    (0..packets).for_each(|_| assert_eq!(q.arrive(0, 1000), Fate::Queued));
    q
}

#[test]
fn a_persistent_queue_loses_packets_at_its_head() {
    // Above target from departure 7 on (5.6 ms), so ok_to_drop at 105.6 ms: departure 132, packet 133. One interval
    // later, 205.6 ms, departure 257 has packet 259, because one packet was dropped. Then 205.6 + 70.71 = 276.31:
    // departure 346 (276.8), packet 349.
    let mut q = full_of(400, Ecn::NOT_ECT, &[]);
    let mut dropped = Vec::new();
    for departure in 0..350 {
        let sent = q.send().unwrap();
        dropped.extend(q.dropped().into_iter().map(|(number, reason)| (departure, number, sent, reason)));
        q.advance(PACKET);
    }
    assert_eq!(dropped, [(132, 133, 134, Early), (257, 259, 260, Early), (346, 349, 350, Early)]);
    near(q.column("dropping"), 1.0);
    near(q.column("count"), 3.0);
    near(q.column("qdelay_ns"), 349.0 * 800_000.0);
}

#[test]
fn ecn_capable_packets_are_marked_instead_of_dropped() {
    let signals = |ecn: Ecn, params: &[(&str, &str)]| {
        let mut q = full_of(400, ecn, params);
        let departure = |n: u64| {
            let packet = q.send_packet().unwrap();
            let dropped = q.dropped().len();
            q.advance(PACKET);
            (packet.ecn != ecn || dropped > 0).then_some((n, dropped, packet.ecn))
        };
        let signals: Vec<_> = (0..300).filter_map(departure).collect();
        (signals, q.marked())
    };
    let with = [("ecn", "true")];
    for ecn in [Ecn::ECT0, Ecn::ECT1] {
        assert_eq!(signals(ecn, &with), (vec![(132, 0, Ecn::CE), (257, 0, Ecn::CE)], 2));
        assert_eq!(signals(ecn, &[]), (vec![(132, 1, ecn), (257, 1, ecn)], 0));
    }
    assert_eq!(signals(Ecn::NOT_ECT, &with).0.len(), 2);
    // A packet that is already marked signals congestion without a drop, and is not counted again.
    assert_eq!(signals(Ecn::CE, &with), (vec![], 0));
}

#[test]
fn the_last_full_packet_is_never_dropped() {
    // Two packets wait and one leaves every 50 ms, so each waits 100 ms and never more than one full packet is left.
    // With three packets two are left, and a drop follows after an interval above target: from 50 ms (the second
    // departure) to 150 ms.
    for (depth, drops) in [(2, 0), (3, 1)] {
        let mut q = full_of(depth, Ecn::NOT_ECT, &[]);
        let mut dropped = 0;
        for _ in 0..4 {
            assert!(q.send().is_some());
            dropped += q.dropped().len();
            q.advance(Dur::millis(50));
            q.arrive(0, 1000);
        }
        assert_eq!(dropped, drops, "{depth} waiting");
    }
}

#[test]
fn ce_threshold_marks_whatever_codel_decides() {
    for (ecn, waited, marked) in
        [(Ecn::ECT0, 1000, false), (Ecn::ECT0, 1001, true), (Ecn::ECT1, 1001, true), (Ecn::NOT_ECT, 1001, false)]
    {
        let mut q = QdiscFixture::new("codel", &[("ce_threshold", "1 ms")]);
        q.ecn(ecn).arrive(0, 1000);
        q.advance(Dur::micros(waited));
        assert_eq!(q.send_packet().map(|p| p.ecn == Ecn::CE), Some(marked), "{ecn:?} after {waited} us");
        assert_eq!(q.marked(), u64::from(marked));
    }
}

#[test]
fn the_limit_holds_and_zero_times_are_refused() {
    let mut q = full_of(3, Ecn::NOT_ECT, &[("limit", "3 packets")]);
    assert_eq!(q.arrive(0, 40), Fate::Dropped(Full));
    let mut q = full_of(2, Ecn::NOT_ECT, &[("limit", "2500 bytes")]);
    assert_eq!(q.arrive(0, 501), Fate::Dropped(Full));
    assert_eq!(q.arrive(0, 500), Fate::Queued);
    for name in ["target", "interval"] {
        let refused = dumbbell_qdisc::build("codel", &given(&[(name, "0 ms")]), &link()).unwrap_err();
        assert_eq!(refused.to_string(), format!("{name}: 0 given, a time above zero is needed"));
    }
}
