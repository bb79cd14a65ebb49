//! TCP flows with TLS: times of the handshake, every application, records, repeatable results.

use crate::plans::{Row, cbr, payloads, text};
use dumbbell_sim::{run, run_one_by_one};
use dumbbell_trace::ColumnData;
use serde_json::{Value, json};

const MBIT: u64 = 1_000_000;
const MS: u64 = 1_000_000;

fn with_tls(row: Row, version: &str, handshake: &str) -> Row {
    row.set("/flows/0/transport/tls", json!({"name": version, "params": {"handshake": handshake}}))
}

fn page(bytes: u64) -> Value {
    json!({"kind": "page", "bytes": bytes, "request_bytes": 300, "repeat": 1, "every_ns": 0})
}

#[test]
fn a_request_leaves_after_the_round_trips_of_its_handshakes() {
    // Bytes of the client and of the server before the first data: see the tests of the crate tls.
    let cases = [
        ("1.3", "full", 2.0, 2067 + 6 + 58, 127 + 6 + 842),
        ("1.3", "resumed", 2.0, 2067 + 6 + 58, 127 + 6 + 162),
        ("1.3", "early-data", 1.0, 2067 + 6, 127 + 6 + 162),
        ("1.2", "full", 3.0, 2067 + 42 + 6 + 45, 905 + 6 + 45),
        ("1.2", "resumed", 2.0, 2067 + 6 + 45, 105 + 6 + 45),
    ];
    for rtt in [10.0, 40.0, 200.0] {
        for preset in ["rfc", "linux"] {
            for (version, handshake, leaves, before_request, before_response) in cases {
                let row = Row::new(&[(1000 * MBIT, (rtt / 2.0 * 1e6) as u64)])
                    .tcp(0, 1, "newreno", json!({"preset": preset}), page(100_000))
                    .set("/trace/packets", json!(true));
                let output = with_tls(row, version, handshake).run();
                // The first packet whose payload goes beyond the handshake's bytes.
                let first = |event, direction, before: u64| {
                    let all = payloads(&output, event, direction);
                    all.into_iter().find(|(_, offset, bytes)| offset + bytes > before).unwrap().0 / 1e6
                };
                let (request, response) = (first(0, 1, before_request), first(1, 0, before_response));
                // Serialization: at 1 Gbit/s, 1500 bytes take 12 us; two full segments each way.
                let slack = 0.01 * rtt + 0.05;
                let place = format!("{version} {handshake} on {preset} at {rtt} ms");
                assert!((request - leaves * rtt).abs() <= slack, "{place}: request at {request}");
                assert!((response - (leaves + 1.0) * rtt).abs() <= slack, "{place}: response at {response}");
                assert!(output.transfers[0].end_s.is_some(), "{place}");
            }
        }
    }
}

#[test]
fn every_application_delivers_its_data() {
    let transfer = json!({"kind": "transfer", "bytes": 200_000, "repeat": 3, "every_ns": 1000 * MS});
    let page = json!({"kind": "page", "bytes": 50_000, "request_bytes": 300, "repeat": 0, "every_ns": 500 * MS});
    for (version, handshake) in [("1.2", "full"), ("1.3", "full"), ("1.3", "early-data")] {
        for handshake_of_tcp in [true, false] {
            let stack = json!({"preset": "linux", "handshake": handshake_of_tcp});
            let run = |app: &Value| {
                let row = Row::new(&[(50 * MBIT, 10 * MS)]).tcp(0, 1, "cubic", stack.clone(), app.clone());
                with_tls(row, version, handshake).run().flows[0].clone()
            };
            let bulk = run(&json!({"kind": "bulk"}));
            assert!(bulk.goodput_bps > 40e6 && bulk.goodput_bps < bulk.throughput_bps);
            let transfers = run(&transfer);
            assert_eq!((transfers.transfers_completed, transfers.delivered_bytes), (3, 600_000));
            assert_eq!(run(&page).transfers_completed, 20); // one every 500 ms for 10 s
            // 125 packets a second for 10 s, the last of which are under way.
            let delivered = run(&cbr(MBIT, 1000)).delivered_bytes;
            assert!((1_240_000..=1_250_000).contains(&delivered), "{delivered}");
        }
    }
}

#[test]
fn a_small_record_reaches_the_application_earlier() {
    // The first window of 10 segments holds no record of 16 KiB, so that its data wait for the second one.
    let first_byte = |record: &str| {
        let row = Row::new(&[(10 * MBIT, 50 * MS)])
            .tcp(0, 1, "newreno", json!({}), page(100_000))
            .set("/trace/series", json!(true));
        let tls = json!({"name": "1.3", "params": {"record": record}});
        let output = row.set("/flows/0/transport/tls", tls).run();
        let table = output.trace.table("flow/f0").unwrap();
        let (Some(ColumnData::U64(t)), Some(ColumnData::U64(delivered))) =
            (table.column("t_ns"), table.column("delivered"))
        else {
            unreachable!()
        };
        t[delivered.iter().position(|bytes| *bytes > 0).unwrap()] as f64 / 1e6
    };
    let (large, small) = (first_byte("16384 bytes"), first_byte("1400 bytes"));
    assert!((90.0..120.0).contains(&(large - small)), "{large} {small}");
}

#[test]
fn the_same_seed_gives_the_same_results_with_and_without_shortcuts() {
    let row = Row::new(&[(100 * MBIT, 5 * MS), (10 * MBIT, 10 * MS)])
        .link(1, 2, "loss", Value::from(0.002))
        .tcp(0, 2, "cubic", json!({"preset": "linux"}), json!({"kind": "bulk"}))
        .tcp(0, 2, "cubic", json!({"preset": "linux"}), json!({"kind": "bulk"}));
    let row = with_tls(row, "1.3", "full");
    let (first, second) = (run(&row.plan()).unwrap(), run(&row.plan()).unwrap());
    assert_eq!(text(&first), text(&second));
    assert_eq!(text(&first), text(&run_one_by_one(&row.plan()).unwrap()));
}
