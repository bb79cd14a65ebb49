//! qlog files: each record reads into the types of the crate `qlog`; both versions; the same bytes for the same seed.

use crate::plans::{Row, text};
use dumbbell_sim::{Output, run};
use qlog::events::{Event, EventData};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const MBIT: u64 = 1_000_000;
const MS: u64 = 1_000_000;

/// A page with several streams over a lossy path with marks, on which nearly every event occurs.
fn page(version: Option<&str>) -> Row {
    let app = json!({"kind": "page", "bytes": 300_000, "request_bytes": 300, "repeat": 2, "every_ns": 2000 * MS});
    let stack = json!({"streams": 3, "ecn": true, "ack_frequency": 4, "handshake": "0-rtt"});
    Row::new(&[(100 * MBIT, 5 * MS), (10 * MBIT, 10 * MS)])
        .link(1, 0, "loss", Value::from(0.03))
        .link(0, 1, "loss", Value::from(0.03))
        .link(1, 2, "duplication", json!({"share": 0.02, "delay_ns": MS}))
        .quic(0, 2, "cubic", stack, app)
        .set("/capture", json!({"points": [], "snaplen_bytes": 128, "qlog": version}))
}

fn records(text: &str) -> Vec<Value> {
    let mut all = text.split('\u{1e}');
    assert_eq!(all.next(), Some(""));
    all.map(|record| {
        assert!(record.ends_with("}\n"));
        serde_json::from_str(record).unwrap()
    })
    .collect()
}

/// The names of all fields, with their paths.
fn paths(value: &Value, place: &str, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, inner)| {
            into.insert(format!("{place}/{name}"));
            paths(inner, &format!("{place}/{name}"), into);
        }),
        Value::Array(items) => items.iter().for_each(|inner| paths(inner, place, into)),
        _ => {}
    }
}

fn fields(value: &Value) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    paths(value, "", &mut all);
    all
}

#[test]
fn every_record_reads_into_the_types_of_the_crate_qlog() {
    let output = page(Some("draft")).run();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for log in &output.qlogs {
        let all = records(&log.text);
        let header: qlog::QlogSeq = serde_json::from_value(all[0].clone()).unwrap();
        assert_eq!(header.file_schema, "urn:ietf:params:qlog:file:sequential");
        assert_eq!(fields(&serde_json::to_value(&header).unwrap()), fields(&all[0]));
        for record in &all[1..] {
            let event: Event = serde_json::from_value(record.clone()).unwrap_or_else(|e| panic!("{record}: {e}"));
            // A field that the types don't know would be missing now.
            let again = serde_json::to_value(&event).unwrap();
            assert_eq!(fields(&again), fields(record), "{record}");
            assert_eq!(again["name"], record["name"]);
            *counts.entry(record["name"].as_str().unwrap().to_owned()).or_default() += 1;
        }
    }
    let expected = [
        "congestion_state_updated",
        "connection_closed",
        "connection_started",
        "connection_state_updated",
        "mtu_updated",
        "packet_dropped",
        "packet_lost",
        "packet_received",
        "packet_sent",
        "packets_acked",
        "parameters_set",
        "recovery_metrics_updated",
        "recovery_parameters_set",
        "spin_bit_updated",
        "stream_data_moved",
    ];
    assert_eq!(counts.keys().cloned().collect::<Vec<_>>(), expected.map(|name| format!("quic:{name}")));
}

/// The sums of a log over its events of one name.
fn events(log: &str, kind: fn(&EventData) -> bool) -> usize {
    let all = records(log);
    all[1..].iter().filter(|r| kind(&serde_json::from_value::<Event>((*r).clone()).unwrap().data)).count()
}

#[test]
fn the_events_agree_with_each_other_and_with_the_results() {
    let output = page(Some("draft")).run();
    assert_eq!(
        output.qlogs.iter().map(|log| log.name.as_str()).collect::<Vec<_>>(),
        ["f0.1.server", "f0.1.client", "f0.2.server", "f0.2.client"]
    );
    let (mut sent, mut lost) = (0, 0);
    for pair in output.qlogs.chunks(2) {
        let [server, client] = pair else { unreachable!() };
        let packets = events(&server.text, |e| matches!(e, EventData::QuicPacketSent(_)));
        let losses = events(&server.text, |e| matches!(e, EventData::QuicPacketLost(_)));
        let arrived = events(&client.text, |e| matches!(e, EventData::QuicPacketReceived(_)));
        assert!(arrived <= packets && packets - arrived >= losses, "{packets} {arrived} {losses}");
        (sent, lost) = (sent + packets, lost + losses);
        // The data that the client's application can read, by stream.
        let mut moved: BTreeMap<u64, u64> = BTreeMap::new();
        for record in records(&client.text) {
            if record["name"] == "quic:stream_data_moved" {
                let data = &record["data"];
                let at = moved.entry(data["stream_id"].as_u64().unwrap()).or_default();
                assert_eq!(data["offset"].as_u64().unwrap(), *at);
                *at += data["raw"]["length"].as_u64().unwrap();
            }
        }
        assert_eq!(moved, BTreeMap::from([(0, 100_000), (4, 100_000), (8, 100_000)]));
        // Times never decrease.
        for log in [server, client] {
            let times: Vec<f64> = records(&log.text)[1..].iter().map(|r| r["time"].as_f64().unwrap()).collect();
            assert!(times.is_sorted());
        }
    }
    assert!(lost > 5 && sent as u64 >= output.flows[0].sent_packets, "{lost} {sent}");
}

#[test]
fn version_0_3_has_the_same_events_under_its_names() {
    let (new, old) = (page(Some("draft")).run(), page(Some("0.3")).run());
    for (new, old) in new.qlogs.iter().zip(&old.qlogs) {
        let (new, old) = (records(&new.text), records(&old.text));
        assert_eq!(new.len(), old.len());
        assert_eq!((&old[0]["qlog_version"], &old[0]["qlog_format"]), (&json!("0.3"), &json!("JSON-SEQ")));
        for (new, old) in new.iter().zip(&old).skip(1) {
            assert_eq!(new["time"], old["time"]);
            let category = old["name"].as_str().unwrap().split(':').next().unwrap();
            assert!(["connectivity", "transport", "recovery"].contains(&category), "{old}");
            let is = |new_name: &str, old_name: &str| (new["name"] == new_name) == (old["name"] == old_name);
            assert!(is("quic:packet_sent", "transport:packet_sent"));
            assert!(is("quic:recovery_metrics_updated", "recovery:metrics_updated"));
        }
    }
}

#[test]
fn a_log_changes_no_result_and_has_the_same_bytes_each_time() {
    let results = |output: &Output| text(output);
    let (without, with) = (page(None).run(), page(Some("draft")).run());
    assert!(without.qlogs.is_empty());
    assert_eq!(results(&without), results(&with));
    assert_eq!(run(&page(Some("draft")).plan()).unwrap().qlogs, with.qlogs);
}
