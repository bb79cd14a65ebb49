use dumbbell_qdisc::DropReason::{Early, Full};
use dumbbell_testkit::near;
use dumbbell_testkit::{Fate, QdiscFixture};
use dumbbell_units::Dur;

const MS: Dur = Dur::millis(1);

#[test]
fn each_queue_has_a_probability_of_its_own() {
    // Two flows with ten packets each; both send one after 300 ms, so each has a delay of 300 ms; then flow 2 is served
    // until it is empty. With alpha and beta 0 flow 1 gains 2 % in each 50 ms from then on, flow 2 nothing.
    let params = [("alpha", "0"), ("beta", "0"), ("tupdate", "50 ms"), ("quantum", "1000 bytes")];
    let mut q = QdiscFixture::new("fq_pie", &params);
    (0..10).for_each(|_| _ = q.arrive(1, 1000));
    q.advance(MS * 300);
    assert_eq!(q.send(), Some(1));
    q.advance(MS * 199);
    (0..10).for_each(|_| _ = q.arrive(2, 1000));
    q.advance(MS * 2);
    // Flow 1's turn comes first (its credit was used up, flow 2 is new): flow 2, then flow 1 at 501 ms.
    assert_eq!((q.send(), q.send()), (Some(11), Some(2)));
    near(q.column("probability"), 0.08);
    // 107 arrivals of flow 2 lose nothing, of flow 1 one at least.
    assert!((0..107).all(|_| q.arrive(2, 1000) == Fate::Queued));
    assert!((0..107).any(|_| q.arrive(1, 1000) == Fate::Dropped(Early)));
}

#[test]
fn the_arrival_pays_for_a_full_queue() {
    let mut q = QdiscFixture::new("fq_pie", &[("limit", "3 packets")]);
    for _ in 0..3 {
        assert_eq!(q.arrive(1, 1000), Fate::Queued);
    }
    assert_eq!(q.arrive(2, 40), Fate::Dropped(Full));
    let mut q = QdiscFixture::new("fq_pie", &[("memory_limit", "2000 bytes")]);
    for (bytes, fate) in
        [(1000, Fate::Queued), (960, Fate::Queued), (41, Fate::Dropped(Full)), (40, Fate::Queued)]
    {
        assert_eq!(q.arrive(1, bytes), fate);
    }
}

#[test]
fn new_flows_go_first() {
    // As in FQ-CoDel: quantum 1514, packets of 1000.
    let mut q = QdiscFixture::new("fq_pie", &[]);
    (0..5).for_each(|_| _ = q.arrive(1, 1000));
    assert_eq!((q.send(), q.send()), (Some(1), Some(2)));
    q.arrive(2, 1000);
    assert_eq!(q.drain(), [6, 3, 4, 5]);
}
