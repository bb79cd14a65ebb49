//! Tests of strict priority against numbers worked by hand [Linux sch_prio.c prio_enqueue, prio_dequeue]. The common
//! limit is our own: in Linux each class has a queue with a limit of its own.

use dumbbell_qdisc::DropReason::Full;
use dumbbell_testkit::{Fate, QdiscFixture, near};

#[test]
fn the_first_non_empty_class_sends() {
    // The fixture puts flow n into class n, and numbers the packets from 1.
    let mut q = QdiscFixture::new("prio", &[]);
    for class in [2, 1, 0, 2, 1, 0] {
        q.arrive(class, 1000);
    }
    assert_eq!(q.send(), Some(3));
    q.arrive(0, 1000);
    near(q.column("band0"), 2.0);
    near(q.column("band2"), 2.0);
    assert_eq!(q.drain(), [6, 7, 2, 5, 1, 4]);
}

#[test]
fn lower_classes_starve() {
    let mut q = QdiscFixture::new("prio", &[]);
    q.arrive(1, 1000);
    for _ in 0..1000 {
        q.arrive(0, 1000);
        assert_ne!(q.send(), Some(1));
    }
    assert_eq!(q.send(), Some(1));
}

#[test]
fn limits_of_each_queue_and_of_all_queues() {
    let mut q = QdiscFixture::new("prio", &[("queue_limit", "1 packets")]);
    for (class, fate) in [(1, Fate::Queued), (1, Fate::Dropped(Full)), (0, Fate::Queued), (2, Fate::Queued)] {
        assert_eq!(q.arrive(class, 1000), fate);
    }
    // The last class loses packets, whatever the class of the arrival.
    let mut q = QdiscFixture::new("prio", &[("limit", "3 packets"), ("bands", "4")]);
    for class in [1, 3, 1] {
        q.arrive(class, 1000);
    }
    near(q.column("others"), 1.0);
    assert_eq!(q.arrive(0, 1000), Fate::Displaced(2));
    assert_eq!(q.arrive(0, 1000), Fate::Displaced(3));
    assert_eq!(q.arrive(2, 1000), Fate::Dropped(Full));
    assert_eq!(q.drain(), [4, 5, 1]);
}
