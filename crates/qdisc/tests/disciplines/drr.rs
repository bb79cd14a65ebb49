//! DRR against numbers worked by hand [Shreedhar and Varghese 1995].

use dumbbell_qdisc::DropReason::Full;
use dumbbell_testkit::{Fate, QdiscFixture, given, link, near};

#[test]
fn deficits_follow_the_worked_example() {
    // Quantum 500. Sizes in queue 1: 200, 750, 20 (packets 1-3); 2: 500, 500 (4, 5); 3: 600, 100, 400 (6-8);
    // 4: 50, 700, 180 (9-11). Each entry: deficit at the turn, sizes sent, deficit left (- if the queue is empty).
    //           queue 1          queue 2        queue 3               queue 4
    // round 1   500: 200, 300    500: 500, 0    500: nothing, 500     500: 50, 450
    // round 2   800: 750 20, -   500: 500, -    1000: 600 100, 300    950: 700 180, -
    // round 3                                   800: 400, -
    let mut q = QdiscFixture::new("drr", &[("quantum", "500 bytes")]);
    for (flow, sizes) in [(1, &[200, 750, 20][..]), (2, &[500, 500]), (3, &[600, 100, 400]), (4, &[50, 700, 180])] {
        for size in sizes {
            assert_eq!(q.arrive(flow, *size), Fate::Queued);
        }
    }
    near(q.column("active"), 4.0);
    near(q.column("longest"), 1100.0);
    assert_eq!(q.drain(), [1, 4, 9, 2, 3, 5, 6, 7, 10, 11, 8]);
    near(q.column("active"), 0.0);
}

#[test]
fn shares_are_equal_in_bytes() {
    // 1500-byte packets (odd numbers) and 500-byte packets, quantum 500: one large packet per three small ones.
    let mut q = QdiscFixture::new("drr", &[("quantum", "500 bytes")]);
    for _ in 0..8 {
        q.arrive(1, 1500);
        q.arrive(2, 500);
    }
    let large: Vec<bool> = (0..10).filter_map(|_| q.send()).map(|n| n % 2 == 1).collect();
    assert_eq!(large, [false, false, true, false, false, false, true, false, false, false]);
}

#[test]
fn an_empty_queue_keeps_no_deficit() {
    // Quantum 1000. Flow 1 sends 100 of its 1000 and is empty. With a new packet of 1500 bytes it has 1000, then 2000:
    // flow 2 sends first, 1000 per turn.
    let mut q = QdiscFixture::new("drr", &[("quantum", "1000 bytes")]);
    q.arrive(1, 100);
    assert_eq!(q.send(), Some(1));
    q.arrive(1, 1500);
    q.arrive(2, 1000);
    q.arrive(2, 1000);
    assert_eq!(q.drain(), [3, 2, 4]);
    // The same holds for a queue emptied by a drop: flow 1 gets 1000 for its 1500 bytes, then the packet is dropped.
    // Its next packet of 1400 needs two turns again, so flow 2 sends first.
    let mut q = QdiscFixture::new("drr", &[("quantum", "1000 bytes"), ("limit", "2499 bytes")]);
    q.arrive(1, 1500);
    q.arrive(2, 990);
    assert_eq!(q.send(), Some(2));
    assert_eq!(q.arrive(2, 1000), Fate::Displaced(1));
    q.arrive(1, 1400);
    assert_eq!(q.drain(), [3, 4]);
}

#[test]
fn directions_and_classes_have_separate_queues() {
    // The lowest bit of the flow is the direction: 2 and 3 are two queues by flow; here also two classes.
    for by in ["flow", "class"] {
        let mut q = QdiscFixture::new("drr", &[("by", by), ("quantum", "100 bytes")]);
        for flow in [2, 2, 3, 3] {
            q.arrive(flow, 100);
        }
        assert_eq!(q.drain(), [1, 3, 2, 4]);
    }
}

#[test]
fn the_longest_queue_loses_packets() {
    let mut q = QdiscFixture::new("drr", &[("limit", "4 packets")]);
    for flow in [1, 1, 1, 2] {
        assert_eq!(q.arrive(flow, 500), Fate::Queued);
    }
    // Flow 1 has three packets, flow 2 two with the arrival: the last packet of flow 1 is dropped.
    assert_eq!(q.arrive(2, 1500), Fate::Displaced(3));
    // Two each: the next arrival makes its own queue the longest.
    assert_eq!(q.arrive(1, 500), Fate::Dropped(Full));
    // Two, two and one: flow 1 is first in the round.
    assert_eq!(q.arrive(3, 40), Fate::Displaced(2));
    // In bytes: flow 1 has 3000, flow 2 has 1000; 4500 > 4000.
    let mut q = QdiscFixture::new("drr", &[("limit", "4000 bytes")]);
    for (flow, bytes) in [(1, 1500), (1, 1500), (2, 500), (2, 500)] {
        assert_eq!(q.arrive(flow, bytes), Fate::Queued);
    }
    assert_eq!(q.arrive(2, 500), Fate::Displaced(2));
    // Among equal queues that of the arrival loses a packet: one packet each, limit two.
    let mut q = QdiscFixture::new("drr", &[("limit", "2 packets")]);
    q.arrive(1, 500);
    q.arrive(2, 500);
    assert_eq!(q.arrive(3, 500), Fate::Dropped(Full));
}

#[test]
fn each_queue_can_have_a_limit() {
    let mut q = QdiscFixture::new("drr", &[("queue_limit", "2 packets")]);
    for (flow, fate) in [(1, Fate::Queued), (1, Fate::Queued), (1, Fate::Dropped(Full)), (2, Fate::Queued)] {
        assert_eq!(q.arrive(flow, 500), fate);
    }
}

#[test]
fn an_idle_link_accepts_a_packet_beyond_the_limit() {
    let mut q = QdiscFixture::new("drr", &[("limit", "100 bytes"), ("queue_limit", "1 bytes")]);
    assert_eq!(q.busy(false).arrive(1, 1500), Fate::Queued);
    assert_eq!(q.send(), Some(1));
    assert_eq!(q.busy(true).arrive(1, 1500), Fate::Dropped(Full));
    let refused = dumbbell_qdisc::build("drr", &given(&[("quantum", "0 bytes")]), &link()).unwrap_err();
    assert!(refused.message.contains("at least"), "{refused}");
}
