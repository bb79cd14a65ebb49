//! Workloads: transfers that arrive by a process, over connections of their own or over idle ones.

use crate::plans::Row;
use dumbbell_sim::{Output, run};
use serde_json::{Value, json};

const MBIT: u64 = 1_000_000;
const MS: u64 = 1_000_000;

fn listed(at_ms: &[u64], bytes: &[u64], connections: &str) -> Value {
    let at: Vec<u64> = at_ms.iter().map(|ms| ms * MS).collect();
    json!({"kind": "workload", "arrivals": {"kind": "listed", "at_ns": at}, "arrivals_of": "f0",
        "sizes": {"kind": "listed", "bytes": bytes}, "count": 0, "connections": connections})
}

fn row(application: Value) -> Row {
    Row::new(&[(10 * MBIT, 5 * MS)]).tcp(0, 1, "newreno", json!({"preset": "linux"}), application)
}

fn ends(output: &Output) -> Vec<f64> {
    output.transfers.iter().map(|t| t.end_s.unwrap()).collect()
}

fn connections(output: &Output) -> Vec<u64> {
    output.transfers.iter().map(|t| t.connection.unwrap()).collect()
}

#[test]
fn one_transfer_takes_as_long_as_a_transfer_alone() {
    let alone = row(json!({"kind": "transfer", "bytes": 300_000, "repeat": 1, "every_ns": 0})).run();
    let generated = row(listed(&[0], &[300_000], "new")).run();
    assert_eq!(ends(&generated), ends(&alone));
    let (a, b) = (&alone.flows[0], &generated.flows[0]);
    assert_eq!(
        (a.sent_packets, a.delivered_bytes, a.rtt_mean_ms.get()),
        (b.sent_packets, b.delivered_bytes, b.rtt_mean_ms.get())
    );
}

#[test]
fn each_transfer_has_a_connection_of_its_own() {
    let out = row(listed(&[0, 0, 2000, 4000], &[50_000; 4], "new")).run();
    assert_eq!(connections(&out), [1, 2, 3, 4]);
    let starts: Vec<f64> = out.transfers.iter().map(|t| t.start_s).collect();
    assert_eq!(starts, [0.0, 0.0, 2.0, 4.0]);
    let flow = &out.flows[0];
    assert_eq!((flow.transfers_started, flow.transfers_completed), (4, 4));
    assert_eq!(flow.delivered_bytes, 200_000);
}

#[test]
fn an_idle_connection_is_used_again_without_a_handshake() {
    let out = row(listed(&[0, 0, 2000, 2000, 2000], &[50_000; 5], "reuse")).run();
    let numbers = connections(&out);
    // Both connections are idle at 2 s; the third transfer at that time needs another one.
    assert_eq!((&numbers[..2], numbers[4]), (&[1, 2][..], 3));
    assert_eq!(numbers[2] + numbers[3], 3);
    assert_eq!(out.flows[0].transfers_completed, 5);
    // A transfer of one segment arrives 5 ms and a transmission after it was written; a new connection takes 10 ms
    // longer.
    let single = row(listed(&[0, 2000], &[1000; 2], "reuse")).run();
    let took: Vec<f64> = single.transfers.iter().map(|t| t.end_s.unwrap() - t.start_s).collect();
    assert!((took[0] - took[1] - 0.010).abs() < 0.0003, "{took:?}");
    assert!((took[1] - 0.005 - 1052.0 * 8.0 / 1e7).abs() < 1e-6, "{took:?}");
}

#[test]
fn a_fair_queue_separates_the_connections_of_a_flow() {
    // Two transfers of 1 MB from the start, and 100 kB at 300 ms: served in turn, it takes a third of the link.
    let application = || listed(&[0, 0, 300], &[1_000_000, 1_000_000, 100_000], "new");
    let fair = row(application()).link(0, 1, "queue", json!({"name": "drr"})).run();
    let fifo = row(application()).run();
    let took = |out: &Output| out.transfers[2].end_s.unwrap() - out.transfers[2].start_s;
    assert!(took(&fair) < 0.4, "{}", took(&fair));
    assert!(took(&fifo) > 2.0 * took(&fair), "{}", took(&fifo));
}

#[test]
fn transfers_after_the_stop_do_not_begin() {
    let stopped =
        row(listed(&[0, 100, 900], &[2_000_000, 1000, 1000], "new")).set("/flows/0/stop_ns", json!(500 * MS)).run();
    assert_eq!(stopped.transfers.len(), 2);
    let flow = &stopped.flows[0];
    assert_eq!((flow.transfers_started, flow.transfers_completed, flow.stop_s), (2, 1, 0.5));
    assert_eq!(stopped.transfers[0].end_s, None);
}

#[test]
fn a_load_above_the_capacity_ends_with_an_error() {
    let many = json!({"kind": "workload", "arrivals": {"kind": "poisson", "per_s": 1e6}, "arrivals_of": "f0",
        "sizes": {"kind": "fixed", "bytes": 1_000_000}, "count": 0, "connections": "new"});
    let slow = Row::new(&[(1_000_000, 5 * MS)]).tcp(0, 1, "newreno", json!({}), many);
    let error = run(&slow.plan()).unwrap_err().to_string();
    assert!(error.starts_with("flows.f0.application: more than 100000 transfers at a time"), "{error}");
}
