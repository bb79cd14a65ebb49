use crate::near;
use dumbbell_qdisc::DropReason::Full;
use dumbbell_testkit::{Fate, Queue, given, link};
use dumbbell_units::{Dur, Time};

#[test]
fn departures_to_the_nanosecond() {
    // 8 Mbit/s: 1000 bytes a millisecond; the bucket holds 3000. Seven packets of 1000 at 0: three at once, then one each
    // millisecond.
    let mut q = Queue::new("tbf", &[("rate", "8 Mbit/s"), ("burst", "3000 bytes")]);
    (0..7).for_each(|_| assert_eq!(q.arrive(0, 1000), Fate::Queued));
    assert_eq!((q.send(), q.send(), q.send()), (Some(1), Some(2), Some(3)));
    near(q.column("tokens"), 0.0);
    for number in 4..=7 {
        let before = q.now();
        assert_eq!(q.send(), None);
        let ready = q.next_ready().unwrap();
        assert_eq!(ready, before + Dur::millis(1));
        q.advance(ready.since(before) - Dur(1));
        assert_eq!((q.send(), q.next_ready()), (None, Some(ready)));
        q.advance(Dur(1));
        assert_eq!(q.send(), Some(number));
    }
    assert_eq!((q.send(), q.next_ready()), (None, None));
    // After 1.5 ms without packets there are 1500 bytes: 1000 go, then 500 are missing for a further 1000.
    q.advance(Dur::micros(1500));
    q.arrive(0, 1000);
    q.arrive(0, 1000);
    let now = q.now();
    assert_eq!((q.send(), q.send()), (Some(8), None));
    assert_eq!(q.next_ready(), Some(now + Dur::micros(500)));
}

#[test]
fn a_packet_larger_than_the_bucket_is_late_not_lost() {
    let mut q = Queue::new("tbf", &[("rate", "8 Mbit/s"), ("burst", "500 bytes")]);
    q.arrive(0, 1500);
    q.arrive(0, 1500);
    assert_eq!((q.send(), q.send()), (Some(1), None));
    near(q.column("tokens"), -1000.0);
    assert_eq!(q.next_ready(), Some(Time(1_500_000)));
}

#[test]
fn limit_or_latency() {
    // 8 Mbit/s x 10 ms + 3000 = 13 000 bytes; a bdp at this rate (60 ms) is 60 000 bytes; else 1000 packets.
    for (given, packets) in [
        (&[("latency", "10 ms")][..], 13),
        (&[("limit", "1 bdp")], 60),
        (&[("limit", "5 packets")], 5),
        (&[], 1000),
    ] {
        let mut q = Queue::new("tbf", &[&[("rate", "8 Mbit/s"), ("burst", "3000 bytes")], given].concat());
        for _ in 0..packets {
            assert_eq!(q.arrive(0, 1000), Fate::Queued);
        }
        assert_eq!(q.arrive(0, 1000), Fate::Dropped(Full));
    }
    for (params, text) in [
        (&[("limit", "5 packets"), ("latency", "10 ms")][..], "latency: limit is given too"),
        (&[("rate", "0 Mbit/s")], "rate: zero given"),
        (&[("burst", "0 bytes")], "burst: 0 bytes given"),
    ] {
        let refused = dumbbell_qdisc::build("tbf", &given(params), &link()).unwrap_err().to_string();
        assert!(refused.starts_with(text), "{refused}");
    }
}
