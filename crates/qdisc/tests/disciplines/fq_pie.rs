//! FQ-PIE against numbers worked by hand [Linux sch_fq_pie.c fq_pie_qdisc_enqueue].

use dumbbell_qdisc::DropReason::{Early, Full};
use dumbbell_testkit::{Fate, QdiscFixture, near};
use dumbbell_units::Dur;

const MS: Dur = Dur::millis(1);

#[test]
fn each_queue_has_its_own_probability() {
    // Flow 1 has ten packets and sends one after 300 ms, so its delay is 300 ms. Flow 2 gets ten packets later and has
    // a short delay. With alpha and beta 0 the probability of flow 1 rises by 2 % per 50 ms, that of flow 2 does not.
    let params = [("alpha", "0"), ("beta", "0"), ("tupdate", "50 ms"), ("quantum", "1000 bytes")];
    let mut q = QdiscFixture::new("fq_pie", &params);
    (0..10).for_each(|_| _ = q.arrive(1, 1000));
    q.advance(MS * 300);
    assert_eq!(q.send(), Some(1));
    q.advance(MS * 199);
    (0..10).for_each(|_| _ = q.arrive(2, 1000));
    q.advance(MS * 2);
    // Both are in new_flows; flow 1 is first, but sends later because its deficit is used up: flow 2, then flow 1 at
    // 501 ms.
    assert_eq!((q.send(), q.send()), (Some(11), Some(2)));
    near(q.column("probability"), 0.08);
    // Of 107 arrivals of flow 2 none is dropped, of flow 1 at least one.
    assert!((0..107).all(|_| q.arrive(2, 1000) == Fate::Queued));
    assert!((0..107).any(|_| q.arrive(1, 1000) == Fate::Dropped(Early)));
}

#[test]
fn an_arrival_beyond_the_limit_is_dropped() {
    let mut q = QdiscFixture::new("fq_pie", &[("limit", "3 packets")]);
    for _ in 0..3 {
        assert_eq!(q.arrive(1, 1000), Fate::Queued);
    }
    assert_eq!(q.arrive(2, 40), Fate::Dropped(Full));
    let mut q = QdiscFixture::new("fq_pie", &[("memory_limit", "2000 bytes")]);
    for (bytes, fate) in [(1000, Fate::Queued), (960, Fate::Queued), (41, Fate::Dropped(Full)), (40, Fate::Queued)] {
        assert_eq!(q.arrive(1, bytes), fate);
    }
}

#[test]
fn new_flows_are_served_first() {
    // As in FQ-CoDel: quantum 1514, packets of 1000.
    let mut q = QdiscFixture::new("fq_pie", &[]);
    (0..5).for_each(|_| _ = q.arrive(1, 1000));
    assert_eq!((q.send(), q.send()), (Some(1), Some(2)));
    q.arrive(2, 1000);
    assert_eq!(q.drain(), [6, 3, 4, 5]);
}
