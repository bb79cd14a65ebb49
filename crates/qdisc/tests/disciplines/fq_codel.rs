//! FQ-CoDel against numbers worked by hand [RFC 8290].

use dumbbell_qdisc::DropReason::{Early, Full};
use dumbbell_qdisc::Ecn;
use dumbbell_testkit::{Fate, QdiscFixture, near};
use dumbbell_units::Dur;

#[test]
fn a_new_flow_is_served_first_but_only_once() {
    // Quantum 1514, packets of 1000. Flow 1 (packets 1-6) is new: deficit 1514, 514 after packet 1, -486 after 2; then
    // 1028, old. Flow 2 (packet 7) is new and sends first. Empty, it moves to the end of old_flows: its next packet (8)
    // waits until flow 1 has sent 3 (deficit 28) and 4 (-972, then 542). Flow 2: 514, -486 after 8, then 1028. Flow 1:
    // -458 after 5, then 1056. Flow 2 is empty and leaves the lists; flow 1 sends 6.
    let mut q = QdiscFixture::new("fq_codel", &[]);
    (0..6).for_each(|_| assert_eq!(q.arrive(1, 1000), Fate::Queued));
    assert_eq!((q.send(), q.send()), (Some(1), Some(2)));
    q.arrive(2, 1000);
    assert_eq!((q.column("new"), q.column("old")), (2.0, 0.0)); // flow 1 is moved at its next turn
    assert_eq!(q.send(), Some(7));
    assert_eq!((q.column("new"), q.column("old"), q.column("active")), (1.0, 1.0, 1.0));
    assert_eq!(q.send(), Some(3));
    q.arrive(2, 1000);
    assert_eq!((q.column("new"), q.column("old"), q.column("active")), (0.0, 2.0, 2.0));
    near(q.column("fattest"), 3000.0);
    assert_eq!(q.drain(), [4, 8, 5, 6]);
    // Both have left the lists: a packet of flow 2 makes it new again.
    q.arrive(2, 1000);
    assert_eq!((q.column("new"), q.column("old")), (1.0, 0.0));
}

#[test]
fn rounds_are_equal_in_bytes() {
    // Quantum 1500: a flow of 500-byte packets (odd numbers) sends three per 1500-byte packet of the other.
    let mut q = QdiscFixture::new("fq_codel", &[("quantum", "1500 bytes")]);
    for _ in 0..12 {
        q.arrive(1, 500);
        q.arrive(2, 1500);
    }
    let small: Vec<bool> = (0..12).filter_map(|_| q.send()).map(|n| n % 2 == 1).collect();
    assert_eq!(small, [true, true, true, false, true, true, true, false, true, true, true, false]);
}

#[test]
fn the_fattest_flow_loses_packets_at_its_head() {
    // Flow 1: 8 packets of 1500, flow 2: 12 of 40. The 21st exceeds the limit: half of 12 000 bytes is dropped, packets
    // 1-4.
    let fill = |params: &[(&str, &str)]| {
        let mut q = QdiscFixture::new("fq_codel", params);
        (0..8).for_each(|_| assert_eq!(q.burst(1, 1500), []));
        (0..12).for_each(|_| assert_eq!(q.burst(2, 40), []));
        q.burst(2, 40).into_iter().map(|(number, reason)| (number, reason == Full)).collect::<Vec<_>>()
    };
    let batch = fill(&[("limit", "20 packets")]);
    assert_eq!(batch, [(1, true), (2, true), (3, true), (4, true)]);
    assert_eq!(fill(&[("limit", "20 packets"), ("drop_batch", "1")]), [(1, true)]);
    // 12 000 + 480 bytes fit; with 40 more half of flow 1 is dropped.
    assert_eq!(fill(&[("memory_limit", "12480 bytes")]).len(), 4);
    // Of 200 packets in one flow at most 64 are dropped at once, although half would be 100.
    let mut q = QdiscFixture::new("fq_codel", &[("limit", "200 packets")]);
    (0..200).for_each(|_| assert_eq!(q.burst(1, 1000), []));
    assert_eq!(q.burst(1, 1000).len(), 64);
    assert_eq!(q.backlog().packets, 137);
    assert_eq!(q.send(), Some(65));
}

#[test]
fn each_queue_has_its_own_codel() {
    // Flow 1 has 400 packets; one leaves each 0.8 ms. Flow 2 gets a packet from time to time, which leaves at once.
    // Flow 1 is above target from 5.6 ms on and loses a packet at its first departure from 105.6 ms on.
    let mut q = QdiscFixture::new("fq_codel", &[("ecn", "false")]);
    (0..400).for_each(|_| _ = q.arrive(1, 1000));
    let mut dropped = Vec::new();
    for departure in 0..140 {
        if departure % 20 == 10 {
            q.arrive(2, 1000);
        }
        let sent = q.send().unwrap();
        assert_eq!(sent > 400, departure % 20 == 10, "flow 2 is first");
        dropped.extend(q.dropped().into_iter().map(|(number, reason)| (departure, number, reason)));
        q.advance(Dur::micros(800));
    }
    // Departure 132: departures 10, 30, ..., 130 were of flow 2, so flow 1 has sent 125 before.
    assert_eq!(dropped, [(132, 126, Early)]);
    near(q.column("dropping"), 1.0);
}

#[test]
fn the_backlog_of_all_queues_counts_for_the_last_full_packet() {
    // Flow 1 has only one packet at each departure, but flow 2 has a backlog. RFC 8289 §4.4 counts all queues together,
    // so flow 1 may lose its packet. Each packet of flow 1 waits 60 ms: above target from 60 ms on, ok_to_drop at 160
    // ms.
    let mut q = QdiscFixture::new("fq_codel", &[("ecn", "false"), ("interval", "100 ms"), ("quantum", "1000 bytes")]);
    let mut lost = 0;
    for _ in 0..5 {
        q.arrive(1, 1000);
        q.arrive(2, 1000);
        q.arrive(2, 1000);
        q.advance(Dur::millis(60));
        q.send();
        q.send();
        lost += q.dropped().len();
    }
    assert!(lost > 0);
}

#[test]
fn one_queue_is_a_fifo_queue() {
    // All flows share the queue: first in, first out.
    let mut q = QdiscFixture::new("fq_codel", &[("flows", "1")]);
    for flow in [5, 1, 7, 1, 5] {
        q.arrive(flow, 1000);
    }
    assert_eq!(q.drain(), [1, 2, 3, 4, 5]);
}

#[test]
fn ecn_is_on_by_default_and_ce_threshold_can_be_restricted_to_l4s() {
    let marked = |ecn: Ecn, params: &[(&str, &str)], wait: u64| {
        let mut q = QdiscFixture::new("fq_codel", params);
        q.ecn(ecn).arrive(1, 1000);
        q.advance(Dur::micros(wait));
        q.send_packet().map(|p| p.ecn == Ecn::CE)
    };
    let any = [("ce_threshold", "1 ms")];
    let ect1 = [("ce_threshold", "1 ms"), ("ce_threshold_selector", "ect1")];
    for (ecn, by_any, by_ect1) in [(Ecn::ECT0, true, false), (Ecn::ECT1, true, true), (Ecn::NOT_ECT, false, false)] {
        assert_eq!((marked(ecn, &any, 1001), marked(ecn, &ect1, 1001)), (Some(by_any), Some(by_ect1)));
        assert_eq!(marked(ecn, &any, 1000), Some(false));
    }
    // ECN-capable packets of a persistent queue are marked by default.
    let mut q = QdiscFixture::new("fq_codel", &[]);
    q.ecn(Ecn::ECT0);
    (0..200).for_each(|_| _ = q.arrive(1, 1000));
    (0..140).for_each(|_| {
        q.send();
        q.advance(Dur::micros(800));
    });
    assert_eq!((q.marked(), q.dropped().len()), (1, 0));
}
