//! The token bucket filter against numbers worked by hand [Linux sch_tbf.c tbf_enqueue, tbf_dequeue].

use dumbbell_qdisc::DropReason::Full;
use dumbbell_testkit::{Fate, QdiscFixture, given, link, near};
use dumbbell_units::param::Raw;
use dumbbell_units::{Dur, Time};

#[test]
fn departure_times_are_exact_to_the_nanosecond() {
    // 8 Mbit/s: 1000 bytes per millisecond; the bucket holds 3000. Seven packets of 1000 at 0: three at once, then one
    // per millisecond.
    let mut q = QdiscFixture::new("tbf", &[("rate", "8 Mbit/s"), ("burst", "3000 bytes")]);
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
    // After 1.5 ms without packets the bucket holds 1500 bytes: one packet is sent, 500 bytes are missing for the next.
    q.advance(Dur::micros(1500));
    q.arrive(0, 1000);
    q.arrive(0, 1000);
    let now = q.now();
    assert_eq!((q.send(), q.send()), (Some(8), None));
    assert_eq!(q.next_ready(), Some(now + Dur::micros(500)));
}

#[test]
fn a_packet_larger_than_the_bucket_is_delayed_not_dropped() {
    let mut q = QdiscFixture::new("tbf", &[("rate", "8 Mbit/s"), ("burst", "500 bytes")]);
    q.arrive(0, 1500);
    q.arrive(0, 1500);
    assert_eq!((q.send(), q.send()), (Some(1), None));
    near(q.column("tokens"), -1000.0);
    assert_eq!(q.next_ready(), Some(Time(1_500_000)));
}

#[test]
fn limit_or_latency_sets_the_length_of_the_queue() {
    // 8 Mbit/s x 10 ms + 3000 = 13 000 bytes; a bdp at this rate (60 ms) is 60 000 bytes; else 1000 packets.
    for (given, packets) in
        [(&[("latency", "10 ms")][..], 13), (&[("limit", "1 bdp")], 60), (&[("limit", "5 packets")], 5), (&[], 1000)]
    {
        let mut q = QdiscFixture::new("tbf", &[&[("rate", "8 Mbit/s"), ("burst", "3000 bytes")], given].concat());
        for _ in 0..packets {
            assert_eq!(q.arrive(0, 1000), Fate::Queued);
        }
        assert_eq!(q.arrive(0, 1000), Fate::Dropped(Full));
    }
    for (params, text) in [
        (&[("limit", "5 packets"), ("latency", "10 ms")][..], "latency: both limit and latency are given"),
        (&[("rate", "0 Mbit/s")], "rate: 0 given"),
        (&[("burst", "0 bytes")], "burst: 0 bytes given"),
    ] {
        let refused = dumbbell_qdisc::build("tbf", &given(params), &link()).unwrap_err().to_string();
        assert!(refused.starts_with(text), "{refused}");
    }
}

#[test]
fn an_inner_discipline_can_hold_the_packets() {
    // 8 Mbit/s, a bucket of 1000, packets of 1000: one per millisecond, whatever is inside. With fq_codel the packet of
    // flow 2 is sent before the backlog of flow 1, but not before the packet that is held.
    let mut q = QdiscFixture::new("tbf", &[("rate", "8 Mbit/s"), ("burst", "1000 bytes"), ("inner", "fq_codel")]);
    (0..5).for_each(|_| _ = q.arrive(1, 1000));
    assert_eq!((q.send(), q.send(), q.next_ready()), (Some(1), None, Some(Time(1_000_000))));
    q.arrive(2, 1000);
    assert_eq!(q.backlog().packets, 5);
    let mut order = Vec::new();
    while let Some(ready) = q.next_ready() {
        q.advance(ready.since(q.now()));
        order.extend(q.send());
    }
    assert_eq!((order, q.now()), (vec![2, 6, 3, 4, 5], Time(5_000_000)));
    // An inner shaper limits the rate too: cake at 4 Mbit/s.
    let cake = Raw::Table(vec![
        ("discipline".into(), Raw::Text("cake".into())),
        ("bandwidth".into(), Raw::Text("4 Mbit/s".into())),
    ]);
    let params = [("rate".into(), Raw::Text("8 Mbit/s".into())), ("inner".into(), cake)];
    assert!(dumbbell_qdisc::build("tbf", &params, &link()).is_ok());
    // An error names its place.
    let refuse = |inner: Raw, more: &[(&str, &str)]| {
        let params = [vec![("inner".into(), inner)], given(more)].concat();
        dumbbell_qdisc::build("tbf", &params, &link()).unwrap_err().to_string()
    };
    let codel = |key: &str, value: &str| {
        Raw::Table(vec![("discipline".into(), Raw::Text("codel".into())), (key.into(), Raw::Text(value.into()))])
    };
    assert_eq!(
        refuse(Raw::Text("fq-codel".into()), &[]),
        "inner.discipline: unknown queue discipline 'fq-codel': did you mean 'fq_codel'?"
    );
    assert!(refuse(codel("tarket", "5 ms"), &[]).starts_with("inner.tarket: unknown parameter"));
    assert!(refuse(codel("target", "5"), &[]).starts_with("inner.target: '5' has no unit"));
    assert!(refuse(codel("target", "5 ms"), &[("limit", "1 bdp")]).starts_with("limit: an inner discipline is given"));
}

#[test]
fn the_limit_inside_counts_the_packet_that_waits_for_tokens() {
    // 8 Mbit/s, a bucket of 1000, packets of 1000: the first is sent at 0, the second waits for its tokens, inside
    // droptail and held outside of codel. Either way a limit of 3 packets accepts two of the next three.
    for inner in ["droptail", "red", "pie", "codel", "fq_codel", "fq_pie", "sfq"] {
        let queue = Raw::Table(vec![
            ("discipline".into(), Raw::Text(inner.into())),
            ("limit".into(), Raw::Text("3 packets".into())),
        ]);
        let mut params = given(&[("rate", "8 Mbit/s"), ("burst", "1000 bytes")]);
        params.push(("inner".into(), queue));
        let mut q = QdiscFixture::with(&link(), "tbf", &params);
        q.arrive(0, 1000);
        assert_eq!(q.send(), Some(1), "{inner}");
        q.arrive(0, 1000);
        assert_eq!(q.send(), None, "{inner}");
        (0..2).for_each(|_| assert_eq!(q.arrive(0, 1000), Fate::Queued, "{inner}"));
        assert_eq!(q.backlog().packets, 3, "{inner}");
        assert_ne!(q.burst(0, 1000), [], "{inner}");
    }
}

#[test]
fn a_discipline_that_only_orders_packets_gives_none_away_before_its_time() {
    // prio shows its next packet without giving it away: a packet of band 0 that arrives meanwhile is sent first.
    let mut q = QdiscFixture::new("tbf", &[("rate", "8 Mbit/s"), ("burst", "1000 bytes"), ("inner", "prio")]);
    (0..3).for_each(|_| _ = q.arrive(1, 1000));
    assert_eq!((q.send(), q.send()), (Some(1), None));
    q.arrive(0, 1000);
    q.advance(Dur::millis(1));
    assert_eq!(q.send(), Some(4));
}
