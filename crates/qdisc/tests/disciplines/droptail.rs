//! DropTail against numbers worked by hand [Linux sch_fifo.c pfifo_enqueue; ns-2 drop-tail.cc].

use dumbbell_qdisc::DropReason::Full;
use dumbbell_testkit::{Fate, QdiscFixture};

#[test]
fn the_limit_counts_waiting_packets() {
    let mut q = QdiscFixture::new("droptail", &[("limit", "2 packets")]);
    let fates: Vec<Fate> = (0..3).map(|_| q.arrive(0, 1000)).collect();
    assert_eq!(fates, [Fate::Queued, Fate::Queued, Fate::Dropped(Full)]);
    assert_eq!(q.send(), Some(1));
    assert_eq!(q.arrive(0, 1000), Fate::Queued);
    assert_eq!(q.drain(), [2, 4]);
}

#[test]
fn a_limit_in_bytes_still_admits_a_smaller_packet() {
    let mut q = QdiscFixture::new("droptail", &[("limit", "2500 bytes")]);
    for (bytes, fate) in [
        (1000, Fate::Queued),
        (1000, Fate::Queued),
        (501, Fate::Dropped(Full)),
        (500, Fate::Queued),
        (1, Fate::Dropped(Full)),
    ] {
        assert_eq!(q.arrive(0, bytes), fate, "{bytes} bytes");
    }
}

#[test]
fn ns2_counts_the_packet_in_transmission() {
    // The link transmits one packet, so a limit of 3 leaves 2 for the queue. Once the link is idle, the limit is 3.
    let mut q = QdiscFixture::new("droptail", &[("limit", "3 packets"), ("counting", "ns2")]);
    let fates: Vec<Fate> = (0..3).map(|_| q.arrive(0, 1000)).collect();
    assert_eq!(fates, [Fate::Queued, Fate::Queued, Fate::Dropped(Full)]);
    assert_eq!(q.busy(false).arrive(0, 1000), Fate::Queued);
    assert_eq!(q.arrive(0, 1000), Fate::Dropped(Full));
}

#[test]
fn an_idle_link_accepts_a_packet_beyond_the_limit() {
    for params in [[("limit", "1 bytes"), ("counting", "waiting")], [("limit", "1 packets"), ("counting", "ns2")]] {
        let mut q = QdiscFixture::new("droptail", &params);
        assert_eq!(q.arrive(0, 1000), Fate::Dropped(Full));
        assert_eq!(q.busy(false).arrive(0, 1000), Fate::Queued);
        assert_eq!(q.drain(), [2]);
    }
}
