//! Arrival times, queue lengths and drops against numbers worked by hand.

use crate::plans::{Row, cbr};
use serde_json::json;

const MBIT: u64 = 1_000_000;
const MS: u64 = 1_000_000;

#[test]
fn a_datagram_takes_transmission_and_propagation_at_each_hop() {
    // 1000 bytes: 0.8 ms at 10 Mbit/s + 5 ms, 8 ms at 1 Mbit/s + 20 ms. At 50 kbit/s no packet waits for another.
    let out = Row::new(&[(10 * MBIT, 5 * MS), (MBIT, 20 * MS)]).udp(0, 2, cbr(50_000, 1000)).run();
    let delay = out.flows[0].owd_mean_ms.get().unwrap();
    assert!((delay - 33.8).abs() < 1e-9, "{delay}");
    // One packet each 160 ms from 0 on: 63 within 10 s (the last at 9.92 s).
    assert_eq!((out.flows[0].sent_packets, out.flows[0].dropped_packets), (63, 0));
}

#[test]
fn framing_counts_for_the_rate() {
    // A full Ethernet frame of 1514 bytes carries 1448 bytes of payload with timestamps.
    let framed = |overhead: u32| {
        let row = Row::new(&[(10 * MBIT, 10 * MS)]).link(0, 1, "overhead_bytes", json!(overhead));
        let row = row.link(0, 1, "queue", json!({"name": "droptail", "params": {"limit": "100 packets"}}));
        row.set("/measure_from_ns", json!(2_000_000_000u64)).tcp(0, 1, "newreno", json!({}), json!({"kind": "bulk"}))
    };
    for (overhead, frame) in [(14, 1514.0), (0, 1500.0)] {
        let out = framed(overhead).run();
        assert!((out.queues[0].utilization - 1.0).abs() < 1e-6);
        let expected = 1e7 * 1448.0 / frame;
        // Delivery is later than transmission: one round trip of 8 s at the edges of the measurement.
        assert!((out.flows[0].goodput_bps / expected - 1.0).abs() < 0.01, "{}", out.flows[0].goodput_bps);
    }
}

/// A window of 20 segments of 1000 + 40 bytes arrives back to back at 100 times the bottleneck's rate.
fn burst(counting: &str, limit: &str) -> u64 {
    let queue = json!({"name": "droptail", "params": {"limit": limit, "counting": counting}});
    let stack = json!({"preset": "ns2", "initial_window": "20 packets", "handshake": false});
    let row = Row::new(&[(1000 * MBIT, 0), (10 * MBIT, 100 * MS)]).link(1, 2, "queue", queue);
    let row = row.tcp(0, 2, "tahoe", stack, json!({"kind": "transfer", "bytes": 20_000, "repeat": 1, "every_ns": 0}));
    row.set("/duration_ns", json!(100 * MS)).run().queues[2].drops
}

#[test]
fn a_limit_counts_waiting_packets_or_the_one_in_service_too() {
    // The first is transmitted at once, the others wait: 10 + 1 are accepted, 9 are dropped.
    assert_eq!(burst("waiting", "10 packets"), 9);
    // With the counting of ns-2 the packet in service is the tenth.
    assert_eq!(burst("ns2", "10 packets"), 10);
    // 10 400 bytes hold ten packets of 1040, 10 399 hold nine.
    assert_eq!((burst("waiting", "10400 bytes"), burst("waiting", "10399 bytes")), (9, 10));
    // 8.32 ms at 10 Mbit/s are 10 400 bytes.
    assert_eq!(burst("waiting", "8.32 ms"), 9);
}

#[test]
fn a_page_takes_handshake_request_and_transmission() {
    // RTT 40 ms of propagation. SYN, SYN-ACK, request, response: 80 ms, plus transmissions at
    // 10 Mbit/s: SYN and SYN-ACK (60 bytes, 0.048 ms each), request of 100 + 52 bytes (0.1216 ms), and 10 segments of
    // 1448 + 52 (1.2 ms each) back to back.
    let app = json!({"kind": "page", "bytes": 14_480, "request_bytes": 100, "repeat": 3, "every_ns": 1_000_000_000u64});
    let out = Row::new(&[(10 * MBIT, 20 * MS)]).tcp(0, 1, "newreno", json!({}), app).run();
    assert_eq!(out.transfers.len(), 3);
    for (i, t) in out.transfers.iter().enumerate() {
        assert_eq!(t.start_s, i as f64);
        let took = (t.end_s.unwrap() - t.start_s) * 1e3;
        assert!((took - (80.0 + 2.0 * 0.048 + 0.1216 + 12.0)).abs() < 1e-6, "{took}");
    }
    assert_eq!(out.flows[0].transfers_completed, 3);
}

#[test]
fn a_ping_measures_the_path_and_the_queue() {
    let ping =
        json!({"kind": "ping", "interval_ns": 100 * MS, "packet_bytes": 100, "count": 0, "timeout_ns": 1000 * MS});
    let out = Row::new(&[(10 * MBIT, 20 * MS)]).udp(0, 1, ping.clone()).run();
    // 2 x (20 ms + 0.08 ms)
    assert!((out.flows[0].rtt_mean_ms.get().unwrap() - 40.16).abs() < 1e-9);
    assert_eq!((out.flows[0].pings_sent, out.flows[0].pings_lost), (100, 0));
    let lost = Row::new(&[(10 * MBIT, 20 * MS)]).link(1, 0, "loss", json!(1.0)).udp(0, 1, ping).run();
    // Requests of the last second do not count as lost yet: sent at 9.1 s .. 9.9 s.
    assert_eq!((lost.flows[0].pings_sent, lost.flows[0].pings_lost, lost.flows[0].rtt_mean_ms.get()), (100, 91, None));
}

#[test]
fn scripted_drops_affect_the_listed_packets() {
    let script = json!([
        {"flow": 0, "data_only": true, "packets": [3, 5], "spans_ns": []},
        {"flow": null, "data_only": false, "packets": [], "spans_ns": [[1_000_000_000u64, 1_100_000_000u64]]},
    ]);
    let row = Row::new(&[(10 * MBIT, MS)]).link(0, 1, "drops", script).udp(0, 1, cbr(800_000, 1000));
    let out = row.set("/trace/packets", json!(true)).run();
    // One packet each 10 ms: numbers 2 and 4 from 0, and the ten from 1 s to below 1.1 s.
    assert_eq!((out.queues[0].drops_scripted, out.flows[0].dropped_packets), (12, 12));
}

#[test]
fn loss_on_the_wire_has_its_probability() {
    let out = Row::new(&[(10 * MBIT, MS)]).link(0, 1, "loss", json!(0.1)).udp(0, 1, cbr(8 * MBIT, 1000)).run();
    let f = &out.flows[0];
    assert_eq!(f.dropped_packets, out.queues[0].wire_losses);
    // 10 000 packets: sd of the share = sqrt(0.1 x 0.9 / 10 000) = 0.003; four of them.
    assert!((f.drop_rate.get().unwrap() - 0.1).abs() < 0.012, "{:?}", f.drop_rate.get());
}

#[test]
fn jitter_delays_by_a_uniform_share_and_keeps_order_unless_reordering_is_set() {
    let row = |reorders: bool| {
        let row = Row::new(&[(10 * MBIT, 10 * MS)]).link(
            0,
            1,
            "jitter",
            json!({"distribution": "uniform", "max_ns": 20 * MS}),
        );
        row.link(0, 1, "jitter_reorders", json!(reorders))
    };
    // 80 packets a second, 12.5 ms apart: with order kept the mean is a little above 10 + 10 + 0.8 ms.
    let mean = |reorders| row(reorders).udp(0, 1, cbr(640_000, 1000)).run().flows[0].owd_mean_ms.get().unwrap();
    assert!((mean(true) - 20.8).abs() < 0.9, "{}", mean(true)); // sd 5.8 ms / sqrt(800) = 0.2 ms, four of them
    assert!(mean(false) > mean(true));
    let stack = json!({"window": "20 packets"}); // never more than the capacity of the queue
    let tcp = |reorders| row(reorders).tcp(0, 1, "sack", stack.clone(), json!({"kind": "bulk"})).run();
    assert_eq!(tcp(false).flows[0].retransmitted_packets, 0);
    assert!(tcp(true).flows[0].duplicate_bytes > 0, "reordering makes needless retransmissions");
}
