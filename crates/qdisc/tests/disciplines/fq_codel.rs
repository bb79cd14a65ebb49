use dumbbell_qdisc::DropReason::{Early, Full};
use dumbbell_qdisc::Ecn;
use dumbbell_testkit::near;
use dumbbell_testkit::{Fate, QdiscFixture};
use dumbbell_units::Dur;

#[test]
fn a_flow_without_a_queue_goes_first_and_can_not_stay_there() {
    // Quantum 1514, packets of 1000. Flow 1 (packets 1-6) is new: credit 1514, 514 after packet 1, -486 after 2; then 1028,
    // old. Flow 2 (7) is new and goes first; after that, empty, it goes to the end of the old list: its next packet (8)
    // waits until flow 1 has sent 3 (28 left) and 4 (-972, then 542). Flow 2: 514, 8 leaves -486, then 1028. Flow 1: 5
    // leaves -458, then 1056. Flow 2 is empty and leaves; flow 1: 6.
    let mut q = QdiscFixture::new("fq_codel", &[]);
    (0..6).for_each(|_| assert_eq!(q.arrive(1, 1000), Fate::Queued));
    assert_eq!((q.send(), q.send()), (Some(1), Some(2)));
    q.arrive(2, 1000);
    assert_eq!((q.column("new"), q.column("old")), (2.0, 0.0)); // flow 1 is moved when its turn comes again
    assert_eq!(q.send(), Some(7));
    assert_eq!((q.column("new"), q.column("old"), q.column("active")), (1.0, 1.0, 1.0));
    assert_eq!(q.send(), Some(3));
    q.arrive(2, 1000);
    assert_eq!((q.column("new"), q.column("old"), q.column("active")), (0.0, 2.0, 2.0));
    near(q.column("fattest"), 3000.0);
    assert_eq!(q.drain(), [4, 8, 5, 6]);
    // Both have left: a packet of flow 2 makes it new again.
    q.arrive(2, 1000);
    assert_eq!((q.column("new"), q.column("old")), (1.0, 0.0));
}

#[test]
fn rounds_are_equal_in_bytes() {
    // Quantum 1500: a flow of 500-byte packets (odd numbers) sends three for each of 1500 of the other.
    let mut q = QdiscFixture::new("fq_codel", &[("quantum", "1500 bytes")]);
    for _ in 0..12 {
        q.arrive(1, 500);
        q.arrive(2, 1500);
    }
    let small: Vec<bool> = (0..12).filter_map(|_| q.send()).map(|n| n % 2 == 1).collect();
    assert_eq!(small, [true, true, true, false, true, true, true, false, true, true, true, false]);
}

#[test]
fn the_fattest_flow_pays_at_its_head() {
    // Flow 1: 8 packets of 1500, flow 2: 12 of 40. The 21st passes the limit: half of 12 000 bytes goes, packets 1-4.
    let fill = |params: &[(&str, &str)]| {
        let mut q = QdiscFixture::new("fq_codel", params);
        (0..8).for_each(|_| assert_eq!(q.burst(1, 1500), []));
        (0..12).for_each(|_| assert_eq!(q.burst(2, 40), []));
        q.burst(2, 40).into_iter().map(|(number, reason)| (number, reason == Full)).collect::<Vec<_>>()
    };
    let batch = fill(&[("limit", "20 packets")]);
    assert_eq!(batch, [(1, true), (2, true), (3, true), (4, true)]);
    assert_eq!(fill(&[("limit", "20 packets"), ("drop_batch", "1")]), [(1, true)]);
    // 12 000 + 480 bytes fit; with 40 more half of flow 1 goes.
    assert_eq!(fill(&[("memory_limit", "12480 bytes")]).len(), 4);
    // Of 200 packets in one flow no more than 64 at once, although half would be 100.
    let mut q = QdiscFixture::new("fq_codel", &[("limit", "200 packets")]);
    (0..200).for_each(|_| assert_eq!(q.burst(1, 1000), []));
    assert_eq!(q.burst(1, 1000).len(), 64);
    assert_eq!(q.backlog().packets, 137);
    assert_eq!(q.send(), Some(65));
}

#[test]
fn each_queue_has_a_law_of_its_own() {
    // Flow 1 has 400 packets; one leaves each 0.8 ms. Flow 2 gets a packet now and then, which leaves at once. Its chances
    // apart, flow 1 is high from 5.6 ms on and loses a packet at the first chance from 105.6 ms on.
    let mut q = QdiscFixture::new("fq_codel", &[("ecn", "false")]);
    (0..400).for_each(|_| _ = q.arrive(1, 1000));
    let mut dropped = Vec::new();
    for chance in 0..140 {
        if chance % 20 == 10 {
            q.arrive(2, 1000);
        }
        let sent = q.send().unwrap();
        assert_eq!(sent > 400, chance % 20 == 10, "flow 2 goes first");
        dropped.extend(q.dropped().into_iter().map(|(number, reason)| (chance, number, reason)));
        q.advance(Dur::micros(800));
    }
    // Chance 132: chances 10, 30, ..., 130 were flow 2's, so flow 1 has sent 125 by then.
    assert_eq!(dropped, [(132, 126, Early)]);
    near(q.column("dropping"), 1.0);
}

#[test]
fn what_waits_elsewhere_keeps_the_link_from_running_dry() {
    // Flow 1 has one packet only whenever it sends, but flow 2 has a backlog: RFC 8289 §4.4 counts all queues together, so
    // flow 1 may lose its packet. Each of flow 1's packets waits 60 ms; high from 60 ms on, stands at 160 ms.
    let mut q =
        QdiscFixture::new("fq_codel", &[("ecn", "false"), ("interval", "100 ms"), ("quantum", "1000 bytes")]);
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
fn one_queue_is_codel() {
    // Every flow in the same queue: first come, first served.
    let mut q = QdiscFixture::new("fq_codel", &[("flows", "1")]);
    for flow in [5, 1, 7, 1, 5] {
        q.arrive(flow, 1000);
    }
    assert_eq!(q.drain(), [1, 2, 3, 4, 5]);
}

#[test]
fn ecn_is_on_and_the_threshold_may_be_for_l4s_alone() {
    let marked = |ecn: Ecn, params: &[(&str, &str)], wait: u64| {
        let mut q = QdiscFixture::new("fq_codel", params);
        q.ecn(ecn).arrive(1, 1000);
        q.advance(Dur::micros(wait));
        q.send_packet().map(|p| p.ecn == Ecn::CE)
    };
    let any = [("ce_threshold", "1 ms")];
    let ect1 = [("ce_threshold", "1 ms"), ("ce_threshold_selector", "ect1")];
    for (ecn, by_any, by_ect1) in
        [(Ecn::ECT0, true, false), (Ecn::ECT1, true, true), (Ecn::NOT_ECT, false, false)]
    {
        assert_eq!((marked(ecn, &any, 1001), marked(ecn, &ect1, 1001)), (Some(by_any), Some(by_ect1)));
        assert_eq!(marked(ecn, &any, 1000), Some(false));
    }
    // A standing queue of ECN-capable packets is marked by default.
    let mut q = QdiscFixture::new("fq_codel", &[]);
    q.ecn(Ecn::ECT0);
    (0..200).for_each(|_| _ = q.arrive(1, 1000));
    (0..140).for_each(|_| {
        q.send();
        q.advance(Dur::micros(800));
    });
    assert_eq!((q.marked(), q.dropped().len()), (1, 0));
}
