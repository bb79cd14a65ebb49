//! SFQ against numbers worked by hand [Linux sch_sfq.c sfq_enqueue, sfq_dequeue].

use dumbbell_qdisc::DropReason::Full;
use dumbbell_testkit::{Fate, QdiscFixture, given, link};
use dumbbell_units::Dur;

#[test]
fn rounds_are_equal_in_bytes() {
    // Quantum 1000. Flow 1: 600, 600, 600 (packets 1-3); flow 2: 1000, 1000 (4, 5); flow 3: 300 x 4 (6-9).
    //   allot 1000: 1, 400: 2, -200, then 800, to the end | 1000: 4, 0, then 1000 | 1000: 6 7 8 100: 9, then empty
    //   800: 3, then empty                                | 1000: 5
    let mut q = QdiscFixture::new("sfq", &[("quantum", "1000 bytes")]);
    for (flow, bytes, packets) in [(1, 600, 3), (2, 1000, 2), (3, 300, 4)] {
        (0..packets).for_each(|_| assert_eq!(q.arrive(flow, bytes), Fate::Queued));
    }
    assert_eq!((q.column("active"), q.column("longest")), (3.0, 4.0));
    assert_eq!(q.drain(), [1, 2, 4, 6, 7, 8, 9, 3, 5]);
    // A flow that was empty joins at the end of the round.
    q.arrive(1, 600);
    q.arrive(1, 600);
    q.arrive(2, 600);
    assert_eq!(q.drain(), [10, 11, 12]);
}

#[test]
fn the_longest_queue_loses_packets() {
    let mut q = QdiscFixture::new("sfq", &[("limit", "4 packets")]);
    for flow in [1, 1, 1, 2] {
        q.arrive(flow, 1000);
    }
    assert_eq!(q.arrive(2, 1000), Fate::Displaced(3));
    // Two each: among equal queues that of the arrival loses a packet.
    assert_eq!(q.arrive(1, 1000), Fate::Dropped(Full));
    // With headdrop at the head.
    let mut q = QdiscFixture::new("sfq", &[("limit", "4 packets"), ("headdrop", "true")]);
    for flow in [1, 1, 1, 2] {
        q.arrive(flow, 1000);
    }
    assert_eq!(q.arrive(2, 1000), Fate::Displaced(1));
    // One each: the arrival itself is dropped.
    let mut q = QdiscFixture::new("sfq", &[("limit", "2 packets")]);
    q.arrive(1, 1000);
    q.arrive(2, 1000);
    assert_eq!(q.arrive(3, 1000), Fate::Dropped(Full));
    assert_eq!(q.drain(), [1, 2]);
}

#[test]
fn depth_and_number_of_queues_are_limited() {
    let mut q = QdiscFixture::new("sfq", &[("depth", "2"), ("flows", "2")]);
    for (flow, fate) in
        [(1, Fate::Queued), (1, Fate::Queued), (1, Fate::Dropped(Full)), (2, Fate::Queued), (3, Fate::Dropped(Full))]
    {
        assert_eq!(q.arrive(flow, 1000), fate, "flow {flow}");
    }
    // With headdrop the first packet of its own queue is dropped.
    let mut q = QdiscFixture::new("sfq", &[("depth", "2"), ("headdrop", "true")]);
    q.arrive(1, 1000);
    q.arrive(1, 1000);
    assert_eq!(q.arrive(1, 1000), Fate::Displaced(1));
    assert_eq!(q.drain(), [2, 3]);
}

#[test]
fn a_new_hash_separates_flows_and_keeps_their_order() {
    // 40 flows in two queues; each second other flows share one. The order of departures shows which flows share: a
    // queue sends the packets of its flows in the order of arrival.
    let mut q =
        QdiscFixture::new("sfq", &[("divisor", "2"), ("perturb", "1 s"), ("limit", "1000 packets"), ("depth", "1000")]);
    let mut orders = Vec::new();
    let mut base = 0;
    for _ in 0..5 {
        for flow in 0..40 {
            q.arrive(flow, 1514);
        }
        orders.push(q.drain().into_iter().map(|n| n - base).collect::<Vec<_>>());
        base += 40;
        q.advance(Dur::secs(1));
    }
    orders.dedup();
    assert_eq!(orders.len(), 5);
    // A change while packets wait loses no packet, and each flow keeps its order.
    for flow in [0, 1, 2, 0, 1, 2, 0, 1, 2] {
        q.arrive(flow, 1514);
    }
    q.advance(Dur::secs(1));
    let mut left: Vec<u32> = q.drain().into_iter().map(|n| n - base).collect();
    let of = |flow: u32| left.iter().copied().filter(|n| (n - 1) % 3 == flow).collect::<Vec<_>>();
    assert_eq!([of(0), of(1), of(2)], [[1, 4, 7], [2, 5, 8], [3, 6, 9]]);
    left.sort_unstable();
    assert_eq!(left, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let refused = dumbbell_qdisc::build("sfq", &given(&[("perturb", "0 s")]), &link()).unwrap_err();
    assert!(refused.to_string().contains("\"none\""), "{refused}");
}
