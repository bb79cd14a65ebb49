//! Impairments, profiles and outages of links: arrival times, orders and counts worked by hand.

use crate::plans::{Row, cbr, packets};
use serde_json::{Value, json};

const MBIT: u64 = 1_000_000;
const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

/// One link of 10 Mbit/s and no delay, with `key` set; packets of 1250 bytes (1 ms), every `every_ms` ms, for `ms` ms.
fn one(key: &str, value: Value, every_ms: u64, ms: u64) -> Row {
    Row::new(&[(10 * MBIT, 0)])
        .link(0, 1, key, value)
        .udp(0, 1, cbr(10 * MBIT / every_ms, 1250))
        .set("/duration_ns", json!(ms * MS))
        .set("/trace/packets", json!(true))
}

/// Returns arrival times in us and packet numbers.
fn arrivals(row: &Row) -> Vec<(u64, u64)> {
    packets(&row.run(), 1, 0).into_iter().map(|(t, n)| (t / US, n)).collect()
}

fn numbers(row: &Row) -> Vec<u64> {
    arrivals(row).into_iter().map(|(_, n)| n).collect()
}

fn steps(steps: &[(u64, u64, bool)], period_ns: Option<u64>) -> Value {
    let step = |&(at, value, ramp): &(u64, u64, bool)| json!({"at_ns": at, "value": value, "ramp": ramp});
    json!({"steps": steps.iter().map(step).collect::<Vec<_>>(), "period_ns": period_ns, "start_ns": 0})
}

fn outage(at: u64, long: u64, drops: bool) -> Value {
    json!([{"at_ns": at, "for_ns": long, "every_ns": null, "drops": drops}])
}

#[test]
fn a_change_of_the_rate_applies_to_the_remaining_bits() {
    // 10 Mbit/s, from 2.5 ms on 1 Mbit/s, from 22.5 ms on 10 again. One packet each 2 ms: the second, begun at 2 ms,
    // has 5000 bits left at 2.5 ms: 5 ms more. The third waits until 7.5 and takes 10 ms; the fourth begins at 17.5,
    // has 5000 bits done at 22.5 and takes 0.5 ms more; then 1 ms each until the queue is empty.
    let course = steps(&[(0, 10 * MBIT, false), (2500 * US, MBIT, false), (22_500 * US, 10 * MBIT, false)], None);
    let row = one("rate_course", course, 2, 31);
    let times: Vec<u64> = arrivals(&row).into_iter().map(|(t, _)| t).take(8).collect();
    assert_eq!(times, [1000, 7500, 17_500, 23_000, 24_000, 25_000, 26_000, 27_000]);
    let q = &row.run().queues[0];
    // (2.5 + 8.5) ms x 10 Mbit/s + 20 ms x 1 Mbit/s = 130 kbit in 31 ms. It idles from 1 to 2 ms.
    assert!((q.capacity_bps - 130_000.0 / 0.031).abs() < 1e-3, "{}", q.capacity_bps);
    assert!((q.utilization - 120.0 / 130.0).abs() < 1e-12, "{}", q.utilization);
}

#[test]
fn periodic_profiles_repeat() {
    // 10 Mbit/s and 5 Mbit/s for 10 ms each: 15 packets of 1 ms in each 20 ms.
    let course = steps(&[(0, 10 * MBIT, false), (10 * MS, 5 * MBIT, false)], Some(20 * MS));
    let out = one("rate_course", course, 1, 200).run();
    assert_eq!(out.queues[0].delivered, 150);
    assert!((out.queues[0].utilization - 1.0).abs() < 1e-9);
    assert!((out.queues[0].capacity_bps - 7.5e6).abs() < 1e-3);
}

#[test]
fn a_decreasing_delay_keeps_order_unless_reordering_is_set() {
    // 20 ms, from 10.5 ms on 5 ms. Packets leave at 1, 3, 5 .. ms.
    let course = || steps(&[(0, 20 * MS, false), (10_500 * US, 5 * MS, false)], None);
    let kept = arrivals(&one("delay_course", course(), 2, 40));
    // The last with 20 ms leaves at 9 ms and arrives at 29: those that leave at 11 .. 23 ms wait for it.
    assert_eq!(kept[..6], [(21_000, 0), (23_000, 1), (25_000, 2), (27_000, 3), (29_000, 4), (29_000, 5)]);
    assert_eq!(kept[11..14], [(29_000, 11), (30_000, 12), (32_000, 13)]);
    let row = one("delay_course", course(), 2, 40).link(0, 1, "delay_reorders", json!(true));
    let free = arrivals(&row);
    assert_eq!(free[..4], [(16_000, 5), (18_000, 6), (20_000, 7), (21_000, 0)]);
    let q = &row.run().queues[0];
    // Packets 0 to 4 arrive after 5. Packet 4 has the largest extent: overtaken by 5 .. 11 (16, 18 .. 28 ms), with 0 ..
    // 3 in between, it is the 12th to arrive and 5 was the first: 11.
    assert_eq!((q.reordered, q.largest_reordering_extent), (5, 11));
}

#[test]
fn a_delay_can_follow_a_ramp() {
    // From 10 ms at 0 to 30 ms at 20 ms: a packet that leaves at t takes 10 ms + t.
    let row = one("delay_course", steps(&[(0, 10 * MS, false), (20 * MS, 30 * MS, true)], None), 2, 60);
    assert_eq!(arrivals(&row)[..3], [(12_000, 0), (16_000, 1), (20_000, 2)]);
    assert_eq!(arrivals(&row)[10..12], [(51_000, 10), (53_000, 11)]);
}

#[test]
fn an_outage_holds_packets() {
    // Down from 3.5 to 9.5 ms. One packet each ms: the fourth (begun at 3 ms) has half left; then one per ms without
    // idle time: 6 packets wait.
    let row = one("outages", outage(3500 * US, 6 * MS, false), 1, 20);
    let times: Vec<u64> = arrivals(&row).into_iter().map(|(t, _)| t).collect();
    assert_eq!(
        times,
        [1000, 2000, 3000, 10_000, 11_000, 12_000, 13_000, 14_000, 15_000, 16_000, 17_000, 18_000, 19_000, 20_000]
    );
    let q = &row.run().queues[0];
    // 20 were sent, 14 have arrived, the transmission of one has just started.
    assert_eq!((q.drops, q.wire_losses, q.waiting_at_end), (0, 0, 5));
    // An idle link: arrivals during the outage wait in the queue until its end, not in the transmitter.
    let row = one("outages", outage(3500 * US, 6 * MS, false), 5, 20);
    let out = row.run();
    assert_eq!(arrivals(&row)[..3], [(1000, 0), (10_500, 1), (11_500, 2)]);
    assert!((out.queues[0].max_sojourn_ms.get().unwrap() - 4.5).abs() < 1e-9);
}

#[test]
fn an_outage_drops_what_is_in_transmission() {
    // Down from 3.5 to 9.5 ms: of the transmissions from 0, 1, 2 .. ms those from 3 .. 9 overlap it.
    let row = one("outages", outage(3500 * US, 6 * MS, true), 1, 20);
    assert_eq!(numbers(&row), [0, 1, 2, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
    let out = row.run();
    let q = &out.queues[0];
    assert_eq!((q.losses_outage, q.wire_losses, q.drops, q.departures), (7, 7, 0, 20));
    assert_eq!(out.flows[0].dropped_packets, 7);
    assert_eq!(q.capacity_bps, 10e6, "it sends all the time, if in vain");
}

/// A trace, one opportunity at each of these ms.
fn trace(lines: &[u64]) -> Value {
    let counts: Vec<[u64; 2]> = lines.iter().map(|ms| [*ms, 1]).collect();
    json!({"counts": counts, "period_ms": lines.last()})
}

#[test]
fn a_trace_delivers_at_its_times() {
    // Opportunities at 2, 3, 7 ms, again from 7 on: 9, 10, 14 .. Packets of 1250 bytes at 0, 2, 4 .. ms. The first is
    // sent at 2 ms. The second arrives at that time and waits for 3 ms, where 250 bytes of the opportunity are lost
    // because no other packet waits. 2 (4 ms) and 3 (6 ms) share the opportunity at 7: all of 2 and 250 bytes of 3; the
    // other 1000 are sent at 9, with 500 of packet 4 (8 ms), whose last 750 are sent at 10 (packet 5 arrives at that
    // time).
    let row = one("opportunities", trace(&[2, 3, 7]), 2, 16);
    let found = arrivals(&row);
    assert_eq!(found, [(2000, 0), (3000, 1), (7000, 2), (9000, 3), (10_000, 4), (14_000, 5), (16_000, 6)]);
    let q = &row.run().queues[0];
    // Opportunities at 2, 3, 7, 9, 10, 14, 16 ms.
    assert!((q.capacity_bps - 7.0 * 12_000.0 / 0.016).abs() < 1e-6, "{}", q.capacity_bps);
    // Packet 6 (12 ms) started at 14 ms with the 250 bytes that packet 5 left unused.
    assert!((q.max_sojourn_ms.get().unwrap() - 4.0).abs() < 1e-9, "{:?}", q.max_sojourn_ms.get());
}

#[test]
fn a_trace_delivers_all_its_bytes_whatever_the_packet_size() {
    // One opportunity per ms, 12 Mbit/s, with twice that offered in small packets: every byte of each opportunity is
    // used.
    let row = Row::new(&[(12 * MBIT, 0)])
        .link(0, 1, "opportunities", trace(&[1]))
        .udp(0, 1, cbr(24 * MBIT, 333))
        .set("/duration_ns", json!(S));
    let q = &row.run().queues[0];
    // 1000 opportunities x 1500 bytes / 333 = 4504.5 packets, the last one in transmission.
    assert_eq!((q.departures, q.delivered, q.on_wire_at_end), (4505, 4504, 1));
    assert_eq!(q.utilization, 1.0);
}

fn reordering(share: f64, gap: u64, delay_ns: u64, extent: Option<u64>) -> Value {
    json!({"share": share, "gap": gap, "correlation": 0.0, "delay_ns": delay_ns, "extent": extent})
}

#[test]
fn a_selected_packet_arrives_later_by_the_delay() {
    // Every fifth packet (numbers 4, 9, ..) 2.5 ms later, one packet per ms: two overtake it.
    let row = one("reordering", reordering(1.0, 5, 2500 * US, None), 1, 20);
    assert_eq!(numbers(&row)[..12], [0, 1, 2, 3, 5, 6, 4, 7, 8, 10, 11, 9]);
    assert_eq!(arrivals(&row)[6], (7500, 4));
    let q = &row.run().queues[0];
    assert_eq!((q.reordered, q.largest_reordering_extent, q.delivered), (3, 2, 19));
}

#[test]
fn a_selected_packet_waits_for_its_extent() {
    let row = one("reordering", reordering(1.0, 5, 100 * MS, Some(3)), 1, 30);
    assert_eq!(numbers(&row)[..14], [0, 1, 2, 3, 5, 6, 7, 4, 8, 10, 11, 12, 9, 13]);
    // Directly after the third packet that overtakes it.
    assert_eq!(arrivals(&row)[6..8], [(8000, 7), (8000, 4)]);
    let q = &row.run().queues[0];
    assert_eq!((q.reordered, q.largest_reordering_extent), (5, 3));
    // If fewer than three packets follow in time, it is released after the delay: 4 would arrive at 5 ms.
    let row = one("reordering", reordering(1.0, 5, 1500 * US, Some(3)), 1, 30);
    assert_eq!(arrivals(&row)[3..7], [(4000, 3), (6000, 5), (6500, 4), (7000, 6)]);
    // A packet without followers is not lost either: 5 ms between packets, 4 is the last before the end.
    let row = one("reordering", reordering(1.0, 5, 2 * MS, Some(1)), 5, 24);
    assert_eq!(arrivals(&row)[4], (23_000, 4));
    // Held packets do not overtake each other: 1 and 2 are held for two packets, 3 and 4 overtake them.
    let row = one("reordering", reordering(1.0, 1, 100 * MS, Some(2)), 1, 10);
    assert_eq!(numbers(&row), [] as [u64; 0]);
}

#[test]
fn duplicates_are_separate_packets() {
    let copies = |share: f64, delay: u64| one("duplication", json!({"share": share, "delay_ns": delay}), 1, 10);
    let found = arrivals(&copies(1.0, 0));
    assert_eq!(found[..4], [(1000, 0), (1000, 0), (2000, 1), (2000, 1)]);
    let found = arrivals(&copies(1.0, 1500 * US));
    assert_eq!(found[..5], [(1000, 0), (2000, 1), (2500, 0), (3000, 2), (3500, 1)]);
    let out = copies(1.0, 1500 * US).run();
    let (q, f) = (&out.queues[0], &out.flows[0]);
    // Ten departures; by 10 ms the originals 0 .. 9 and the copies of 0 .. 7 have arrived (8's at 10.5).
    assert_eq!((q.departures, q.duplicated, q.delivered, q.on_wire_at_end), (10, 10, 18, 2));
    // A copy of a packet that has arrived delivers nothing.
    assert_eq!((f.sent_packets, f.duplicated_packets, f.delivered_bytes), (10, 10, 10 * 1250));
    assert_eq!(q.reordered, 0, "a late copy is no reordered packet");
    // On the following links they are like other packets: a second link sends each of them.
    let row = Row::new(&[(10 * MBIT, 0), (100 * MBIT, 0)])
        .link(0, 1, "duplication", json!({"share": 1.0, "delay_ns": 0}))
        .udp(0, 2, cbr(5 * MBIT, 1250))
        .set("/duration_ns", json!(S));
    let out = row.run();
    assert_eq!(out.queues[2].arrivals, out.queues[0].delivered);
    assert_eq!(out.queues[2].arrivals, 2 * 500);
}

#[test]
fn tcp_delivers_each_byte_once_despite_duplicates() {
    let row = Row::new(&[(10 * MBIT, 10 * MS)])
        .link(0, 1, "duplication", json!({"share": 0.3, "delay_ns": 3 * MS}))
        .link(1, 0, "duplication", json!({"share": 0.3, "delay_ns": 0}))
        .link(0, 1, "reordering", reordering(0.05, 1, 5 * MS, None));
    let app = json!({"kind": "transfer", "bytes": 1_000_000, "repeat": 3, "every_ns": 0});
    let out = row.tcp(0, 1, "sack", json!({}), app).run();
    let f = &out.flows[0];
    assert_eq!((f.transfers_completed, f.delivered_bytes), (3, 3_000_000));
    assert!(f.duplicate_bytes > 0 && f.duplicated_packets > 0, "{f:?}");
}

#[test]
fn a_policer_forwards_packets_covered_by_tokens() {
    // 2 Mbit/s, burst 2500 bytes. Packets of 1250 bytes arrive every ms, in which 250 bytes of tokens accumulate: the
    // first two conform (1250 + 250 left after the second: 2500 - 1250, + 250 - 1250 = 250), then 250 + 4 x 250 = 1250
    // at the sixth, and every fifth from there.
    let policer = |marks: bool| json!({"rate_bps": 2 * MBIT, "burst_bytes": 2500, "marks": marks});
    let row = one("policer", policer(false), 1, 20);
    assert_eq!(numbers(&row), [0, 1, 6 - 1, 10, 15]);
    let out = row.run();
    let q = &out.queues[0];
    assert_eq!((q.drops_policed, q.drops, q.arrivals, q.departures), (15, 15, 20, 5));
    assert_eq!(out.flows[0].dropped_packets, 15);
    assert_eq!(q.mean_backlog_packets.get(), Some(0.0), "a policer never holds a packet");
    // Datagrams can't be marked.
    assert_eq!(one("policer", policer(true), 1, 20).run().queues[0].drops_policed, 15);
    // The packets of a TCP flow with ECN are marked, none is lost.
    let tcp = |marks: bool| {
        let row = Row::new(&[(10 * MBIT, 10 * MS)]).link(0, 1, "policer", policer(marks));
        row.tcp(0, 1, "sack", json!({"ecn": true}), json!({"kind": "bulk"})).run()
    };
    let (marked, dropped) = (tcp(true), tcp(false));
    assert!(marked.queues[0].marks > 0 && dropped.queues[0].drops_policed > 0);
    assert_eq!((marked.queues[0].drops, marked.flows[0].retransmitted_packets), (0, 0));
}

#[test]
fn a_scripted_drop_consumes_no_tokens() {
    let policer = json!({"rate_bps": 8, "burst_bytes": 2500, "marks": false});
    let script = json!([{"flow": 0, "data_only": true, "packets": [1, 2], "spans_ns": []}]);
    let row = one("policer", policer, 1, 10).link(0, 1, "drops", script);
    assert_eq!(numbers(&row), [2, 3]);
}

#[test]
fn burst_losses_and_corruption_are_counted_separately() {
    let row = Row::new(&[(10 * MBIT, MS)])
        .link(0, 1, "loss", json!({"p": 0.01, "r": 0.2, "loss_bad": 1.0, "loss_good": 0.0}))
        .link(0, 1, "corruption", json!({"bits": 1e-5}))
        .udp(0, 1, cbr(8 * MBIT, 1000))
        .set("/duration_ns", json!(100 * S));
    let out = row.run();
    let q = &out.queues[0];
    let n = q.departures as f64;
    // 1 / 21 of 100 000; its variance is (1 + 0.79) / (1 - 0.79) = 8.5 times the binomial's.
    let sd = (n / 21.0 * 20.0 / 21.0 * 8.5).sqrt();
    assert!((q.losses_random as f64 - n / 21.0).abs() < 5.0 * sd, "{}", q.losses_random);
    // Of the others, 1 - (1 - 1e-5)^8000 = 0.07688.
    let (left, p) = (n - q.losses_random as f64, 0.076_884);
    assert!((q.losses_corrupted as f64 - left * p).abs() < 5.0 * (left * p * (1.0 - p)).sqrt());
    assert_eq!(q.wire_losses, q.losses_random + q.losses_corrupted);
    assert_eq!(out.flows[0].dropped_packets, q.wire_losses);
}

#[test]
fn the_two_directions_are_independent() {
    let ping = json!({"kind": "ping", "interval_ns": 10 * MS, "packet_bytes": 100, "count": 0, "timeout_ns": 100 * MS});
    let row = |back: Value| Row::new(&[(10 * MBIT, 5 * MS)]).link(1, 0, "loss", back).udp(0, 1, ping.clone());
    let (clean, lossy) = (row(json!(0.0)).run(), row(json!(0.5)).run());
    assert_eq!((clean.queues[0].wire_losses, clean.queues[1].wire_losses), (0, 0));
    assert_eq!(lossy.queues[0].wire_losses, 0);
    assert_eq!(lossy.queues[0].delivered, clean.queues[0].delivered);
    assert!(lossy.queues[1].wire_losses > 400);
}

#[test]
fn invalid_plans_are_refused_with_their_field() {
    let refused = |key: &str, value: Value| {
        let row = one(key, value, 1, 10);
        dumbbell_sim::run(&row.plan()).unwrap_err().to_string()
    };
    for (key, value) in [
        ("rate_course", steps(&[(0, 0, false)], None)),
        ("rate_course", steps(&[(5, 1, false)], None)),
        ("delay_course", steps(&[(0, 1, false), (0, 2, false)], None)),
        ("opportunities", json!({"counts": [], "period_ms": 0})),
        ("outages", json!([{"at_ns": 0, "for_ns": 5, "every_ns": 5, "drops": false}])),
        ("policer", json!({"rate_bps": 0, "burst_bytes": 1, "marks": false})),
        ("loss", json!(1.5)),
        ("loss", json!({"p": 2.0, "r": 0.2, "loss_bad": 1.0, "loss_good": 0.0})),
        ("corruption", json!({"bits": -1.0})),
        ("jitter", json!({"distribution": "pareto", "mean_ns": 1, "shape": 1.0})),
        ("reordering", reordering(0.1, 0, 1, None)),
        ("duplication", json!({"share": 1.1, "delay_ns": 0})),
    ] {
        let message = refused(key, value);
        assert!(message.starts_with(&format!("links.n0->n1.{key}: ")), "{message}");
    }
}
