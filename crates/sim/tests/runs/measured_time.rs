//! Bytes, drops and RTT samples that count in the measured time of a flow (docs/reference/metrics.md).

use crate::plans::{Row, cbr};
use dumbbell_trace::ColumnData;
use serde_json::json;

const MBIT: u64 = 1_000_000;
const MS: u64 = 1_000_000;
const S: u64 = 1000 * MS;

#[test]
fn a_packet_is_lost_if_all_its_duplicates_are() {
    // The first link duplicates every packet. Of the first packet one copy is dropped, of the second both.
    let drops = json!([{"flow": null, "data_only": false, "packets": [1, 3, 4], "spans_ns": []}]);
    let out = Row::new(&[(10 * MBIT, 0), (100 * MBIT, 0)])
        .link(0, 1, "duplication", json!({"share": 1.0, "delay_ns": 0}))
        .link(1, 2, "drops", drops)
        .udp(0, 2, cbr(5 * MBIT, 1250))
        .set("/flows/0/stop_ns", json!(19 * MS))
        .set("/duration_ns", json!(100 * MS))
        .run();
    // A packet every 2 ms from 0 to 18 ms.
    let f = &out.flows[0];
    assert_eq!((f.sent_packets, f.dropped_packets, f.duplicated_packets), (10, 1, 10));
    assert_eq!((f.drop_rate.get(), out.queues[2].drops), (Some(0.1), 3));
}

#[test]
fn only_drops_of_packets_sent_in_the_measured_time_count() {
    // Packets are sent every ms and dropped 11 ms later (1 ms transmission, 10 ms delay): from 15 ms to the stop at 18
    // ms three are sent, while the second link drops fourteen, most of them sent earlier.
    let all = json!([{"flow": null, "data_only": false, "packets": [], "spans_ns": [[0, S]]}]);
    let row = Row::new(&[(10 * MBIT, 10 * MS), (10 * MBIT, 0)])
        .link(1, 2, "drops", all)
        .udp(0, 2, cbr(10 * MBIT, 1250))
        .set("/flows/0/stop_ns", json!(18 * MS))
        .set("/duration_ns", json!(100 * MS));
    let f = &row.clone().set("/measure_from_ns", json!(15 * MS)).run().flows[0];
    assert_eq!((f.sent_packets, f.dropped_packets, f.drop_rate.get()), (3, 3, Some(1.0)));
    let f = &row.run().flows[0];
    assert_eq!((f.sent_packets, f.dropped_packets, f.drop_rate.get()), (18, 18, Some(1.0)));
}

#[test]
fn data_behind_a_hole_counts_when_it_arrives() {
    // The fifth data packet is lost. When the measurement begins, others have arrived behind the hole; it fills later.
    let drop = json!([{"flow": 0, "data_only": true, "packets": [5], "spans_ns": []}]);
    let row = Row::new(&[(10 * MBIT, 50 * MS)])
        .link(0, 1, "drops", drop)
        .tcp(0, 1, "sack", json!({"initial_window": "20 packets"}), json!({"kind": "bulk"}))
        .set("/duration_ns", json!(S))
        .set("/measure_from_ns", json!(170 * MS))
        .set("/trace/series", json!(true))
        .set("/trace/packets", json!(true));
    let out = row.run();
    let table = out.trace.table("packets").unwrap();
    let (Some(ColumnData::U64(t)), Some(ColumnData::U8(event)), Some(ColumnData::U32(flow))) =
        (table.column("t_ns"), table.column("event"), table.column("flow"))
    else {
        unreachable!()
    };
    let (Some(ColumnData::U32(payload)), Some(ColumnData::U32(bytes))) =
        (table.column("payload"), table.column("bytes"))
    else {
        unreachable!()
    };
    let received = |column: &[u32]| -> u64 {
        (0..t.len()).filter(|&i| event[i] == 1 && flow[i] == 0 && t[i] >= 170 * MS).map(|i| u64::from(column[i])).sum()
    };
    let f = &out.flows[0];
    assert_eq!((f.delivered_bytes, f.duplicate_bytes), (received(payload), 0));
    assert_eq!(f.throughput_bps * 0.83, received(bytes) as f64 * 8.0);

    let series = out.trace.table("flow/f0").unwrap();
    let (Some(ColumnData::U64(at)), Some(ColumnData::U64(all)), Some(ColumnData::U64(in_order))) =
        (series.column("t_ns"), series.column("delivered"), series.column("delivered_in_order"))
    else {
        unreachable!()
    };
    // The hole delays only the bytes in order; the bytes received never increase faster than the link's rate.
    assert!(all.iter().zip(in_order).any(|(all, in_order)| all > in_order));
    for i in 1..at.len() {
        let most = (at[i] - at[i - 1]) as f64 * 10e6 / 8e9 + 1500.0;
        assert!((all[i] - all[i - 1]) as f64 <= most, "{} ns", at[i]);
    }
    let jump = (1..at.len()).map(|i| in_order[i] - in_order[i - 1]).max().unwrap();
    assert!(jump > 10 * 1448, "the hole releases many packets at once: {jump}");
}

#[test]
fn datagrams_that_arrive_after_the_flow_has_stopped_do_not_count() {
    // Ten times the link's rate for 100 ms; the queue of 1000 packets drains until 1 s.
    let row = Row::new(&[(MBIT, 0)])
        .udp(0, 1, cbr(10 * MBIT, 1250))
        .set("/flows/0/stop_ns", json!(100 * MS))
        .set("/duration_ns", json!(2 * S));
    let f = &row.run().flows[0];
    // 10 ms for each packet: ten of them by 100 ms.
    assert_eq!((f.sent_packets, f.delivered_bytes, f.throughput_bps), (100, 10 * 1250, 1e6));
}

#[test]
fn a_completed_transfer_has_its_throughput_at_completion() {
    // The link delivers a second copy of each packet 200 ms later: after the transfer's end.
    let app = json!({"kind": "transfer", "bytes": 20_000, "repeat": 1, "every_ns": 0});
    let row =
        Row::new(&[(10 * MBIT, MS)]).tcp(0, 1, "sack", json!({"handshake": false}), app).set("/duration_ns", json!(S));
    let alone = row.run();
    let copied = row.link(0, 1, "duplication", json!({"share": 1.0, "delay_ns": 200 * MS})).run();
    let (a, b) = (&alone.flows[0], &copied.flows[0]);
    assert_eq!((a.completion_time_s.get(), a.throughput_bps), (b.completion_time_s.get(), b.throughput_bps));
}

#[test]
fn a_request_sent_before_the_measurement_is_not_lost_in_it() {
    // Requests at 0, 100, 200 .. ms, none answered; each counts as lost after 150 ms. From 120 ms on those of 200 to
    // 800 ms were sent and expire before the end at 990 ms, and that of 900 ms is still open.
    let ping =
        json!({"kind": "ping", "interval_ns": 100 * MS, "packet_bytes": 100, "count": 0, "timeout_ns": 150 * MS});
    let row = Row::new(&[(10 * MBIT, MS)])
        .link(0, 1, "loss", json!(1.0))
        .udp(0, 1, ping)
        .set("/measure_from_ns", json!(120 * MS))
        .set("/duration_ns", json!(990 * MS));
    let f = &row.run().flows[0];
    assert_eq!((f.pings_sent, f.pings_lost), (8, 7));
}

#[test]
fn a_flow_that_stops_before_the_measurement_counts_nothing() {
    let row = Row::new(&[(MBIT, 50 * MS)])
        .tcp(0, 1, "sack", json!({}), json!({"kind": "bulk"}))
        .set("/flows/0/stop_ns", json!(500 * MS))
        .set("/measure_from_ns", json!(505 * MS))
        .set("/duration_ns", json!(2 * S));
    let f = &row.run().flows[0];
    assert_eq!((f.sent_packets, f.delivered_bytes, f.dropped_packets), (0, 0, 0));
    assert_eq!((f.goodput_bps, f.throughput_bps), (0.0, 0.0));
}
