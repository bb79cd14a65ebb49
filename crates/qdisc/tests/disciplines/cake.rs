//! CAKE against numbers worked by hand [Linux sch_cake.c cake_enqueue, cake_dequeue].

use dumbbell_qdisc::DropReason::{Early, Full};
use dumbbell_qdisc::Ecn;
use dumbbell_testkit::{QdiscFixture, given, link, near};
use dumbbell_units::{Dur, Time};

#[test]
fn the_shaper_spaces_packets_and_permits_no_burst() {
    // 8 Mbit/s: 1000 bytes take 1 ms, 1500 bytes 1.5 ms.
    let mut q = QdiscFixture::new("cake", &[("bandwidth", "8 Mbit/s")]);
    q.advance(Dur::secs(1)); // idle time gives no credit
    for bytes in [1000, 1500, 1000, 1000] {
        q.arrive(1, bytes);
    }
    let start = q.now();
    let mut left = Vec::new();
    while let Some(ready) = q.next_ready() {
        q.advance(ready.since(q.now()));
        if let Some(number) = q.send() {
            left.push((number, q.now().since(start).0));
        }
    }
    assert_eq!(left, [(1, 0), (2, 1_000_000), (3, 2_500_000), (4, 3_500_000)]);
    // The shaper counts overhead: 1000 + 44 bytes; and small packets with at least mpu: 84 bytes each, to 1.128 and
    // 1.212 ms.
    let mut q = QdiscFixture::new("cake", &[("bandwidth", "8 Mbit/s"), ("overhead", "44 bytes"), ("mpu", "84 bytes")]);
    for (bytes, ready) in [(1000, 1_044_000), (20, 1_212_000)] {
        q.arrive(1, bytes);
        q.arrive(1, 20);
        q.advance(q.next_ready().unwrap().since(q.now()));
        q.send();
        assert_eq!(q.next_ready(), Some(Time(ready)));
        q.advance(Time(ready).since(q.now()));
        q.send();
    }
}

#[test]
fn flows_rarely_share_a_queue() {
    // 200 flows in 128 sets of eight: 1.6 per set on average, nine or more in one with a probability below 1e-4. A
    // simple hash into 1024 queues would give 200^2 / 2048 = 20 pairs that share a queue.
    let active = |name: &str| {
        let mut q = QdiscFixture::new(name, &[]);
        (0..200).for_each(|flow| _ = q.arrive(flow, 1000));
        q.column("active")
    };
    near(active("cake"), 200.0);
    let fq_codel = active("fq_codel");
    assert!((150.0..200.0).contains(&fq_codel), "{fq_codel}");
    // With more flows than queues they have to share.
    let mut q = QdiscFixture::new("cake", &[]);
    (0..3000).for_each(|flow| _ = q.arrive(flow, 1000));
    assert!((1000.0..=1024.0).contains(&q.column("active")), "{}", q.column("active"));
    let mut q = QdiscFixture::new("cake", &[("isolation", "flowblind")]);
    (0..9).for_each(|flow| _ = q.arrive(flow, 1000));
    near(q.column("active"), 1.0);
    assert_eq!(q.drain(), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn cobalt_marks_and_drops_but_never_the_last_packet() {
    // One flow with 300 packets; one leaves each 0.8 ms: over target from 5.6 ms on. The queue is new, so the first
    // signal is at the second such packet, at 6.4 ms.
    let first_signal = |ecn: Ecn| {
        let mut q = QdiscFixture::new("cake", &[]);
        q.ecn(ecn);
        (0..300).for_each(|_| _ = q.arrive(1, 1000));
        for departure in 0..200 {
            q.send();
            let dropped = q.dropped();
            if q.marked() > 0 || !dropped.is_empty() {
                return (departure, dropped);
            }
            q.advance(Dur::micros(800));
        }
        (0, Vec::new())
    };
    assert_eq!(first_signal(Ecn::NOT_ECT), (8, vec![(9, Early)]));
    assert_eq!(first_signal(Ecn::ECT0), (8, vec![]));
    // A packet that is alone in its queue is sent, whatever its sojourn time.
    let mut q = QdiscFixture::new("cake", &[]);
    for _ in 0..50 {
        q.arrive(1, 1000);
        q.advance(Dur::millis(50));
        assert!(q.send().is_some());
    }
    assert!(q.dropped().is_empty());
}

#[test]
fn the_fattest_flow_loses_packets_and_its_blue_counts_them() {
    // Flow 1 has five packets of 1000, flow 2 three of 100: 5300 bytes. 100 more exceed the limit.
    let mut q = QdiscFixture::new("cake", &[("limit", "5300 bytes")]);
    q.advance(Dur::millis(100));
    (0..5).for_each(|_| assert_eq!(q.burst(1, 1000), []));
    (0..3).for_each(|_| assert_eq!(q.burst(2, 100), []));
    near(q.column("blue"), 0.0);
    assert_eq!(q.burst(2, 100), [(1, Full)]);
    near(q.column("blue"), 1.0 / 256.0);
    near(q.column("dropping"), 1.0);
    // Within the target of 5 ms p_drop does not increase again; later it does.
    (0..9).for_each(|_| assert_eq!(q.burst(2, 100), []));
    assert_eq!(q.burst(2, 100), [(2, Full)]);
    near(q.column("blue"), 1.0 / 256.0);
    q.advance(Dur::millis(6));
    (0..9).for_each(|_| assert_eq!(q.burst(2, 100), []));
    assert_eq!(q.burst(2, 100), [(3, Full)]);
    near(q.column("blue"), 2.0 / 256.0);
    let refused = dumbbell_qdisc::build("cake", &given(&[("bandwidth", "0 Mbit/s")]), &link()).unwrap_err();
    assert!(refused.to_string().contains("unlimited"), "{refused}");
}

#[test]
fn the_quantum_follows_from_the_bandwidth() {
    // 8 Mbit/s: 1 000 000 / 4096 = 244 bytes, at least 300. 100-byte packets: deficit 300, 200, 100, then 0: three per
    // turn.
    let mut q = QdiscFixture::new("cake", &[("bandwidth", "8 Mbit/s")]);
    (0..6).for_each(|_| _ = q.arrive(1, 100));
    (0..6).for_each(|_| _ = q.arrive(2, 100));
    let mut order = Vec::new();
    while let Some(ready) = q.next_ready() {
        q.advance(ready.since(q.now()));
        order.extend(q.send());
    }
    assert_eq!(order, [1, 2, 3, 7, 8, 9, 4, 5, 6, 10, 11, 12]);
}
