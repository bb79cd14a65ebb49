//! Workloads over QUIC: a connection for each transfer, or streams of one connection; the same transfers as over TCP.

use crate::plans::Row;
use dumbbell_sim::{Output, run, run_one_by_one};
use serde_json::{Value, json};

const MBIT: u64 = 1_000_000;
const MS: u64 = 1_000_000;
const RTT: f64 = 0.010;

fn listed(at_ms: &[u64], bytes: &[u64], connections: &str) -> Value {
    let at: Vec<u64> = at_ms.iter().map(|ms| ms * MS).collect();
    json!({"kind": "workload", "arrivals": {"kind": "listed", "at_ns": at}, "arrivals_of": "f0",
        "sizes": {"kind": "listed", "bytes": bytes}, "count": 0, "connections": connections})
}

fn row(stack: Value, application: Value) -> Row {
    Row::new(&[(10 * MBIT, 5 * MS)]).quic(0, 1, "newreno", stack, application)
}

fn took(output: &Output) -> Vec<f64> {
    output.transfers.iter().map(|t| t.end_s.unwrap() - t.start_s).collect()
}

fn connections(output: &Output) -> Vec<u64> {
    output.transfers.iter().map(|t| t.connection.unwrap()).collect()
}

#[test]
fn one_transfer_takes_as_long_as_a_transfer_alone() {
    for handshake in ["1-rtt", "0-rtt", "none"] {
        let alone = json!({"kind": "transfer", "bytes": 300_000, "repeat": 1, "every_ns": 0});
        let alone = row(json!({"handshake": handshake}), alone).run();
        for reuse in ["new", "reuse"] {
            let generated = row(json!({"handshake": handshake}), listed(&[0], &[300_000], reuse)).run();
            assert_eq!(took(&generated), took(&alone), "{handshake}");
            let (a, b) = (&alone.flows[0], &generated.flows[0]);
            assert_eq!(
                (a.sent_packets, a.delivered_bytes, a.snd_mss_bytes, a.rtt_mean_ms.get()),
                (b.sent_packets, b.delivered_bytes, b.snd_mss_bytes, b.rtt_mean_ms.get())
            );
        }
    }
}

#[test]
fn a_new_connection_waits_for_the_handshake_of_its_mode() {
    let times = |handshake, reuse| {
        // Probes of the datagram size would go before the data.
        let stack = json!({"handshake": handshake, "mtu_discovery": false});
        took(&row(stack, listed(&[0, 1000, 2000], &[1000; 3], reuse)).run())
    };
    let established = times("none", "new");
    // 1000 bytes, and a header of 1 + 8 + 1 + 16; of the frame: 1 + 1 + 2; 28 bytes of UDP and IP. They take 5 ms and
    // 846.4 us.
    let idle = RTT / 2.0 + 1058.0 * 8.0 / 1e7;
    established.iter().for_each(|t| assert!((t - idle).abs() < 1e-6, "{t}"));
    // A full handshake is a round trip, and the transmission of two datagrams of the client, 2 ms, and of the server's
    // part.
    for t in times("1-rtt", "new") {
        assert!((0.002..0.005).contains(&(t - idle - RTT)), "{t}");
    }
    // With 0-RTT the data follow the ClientHello at once: two datagrams of 1228 bytes in 2 ms.
    for t in times("0-rtt", "new") {
        assert!((t - idle - 0.002).abs() < 0.001, "{t}");
    }
    // The later transfers of one connection wait for nothing. Their frames have a stream number, the packets a number,
    // of at most two bytes more.
    for handshake in ["1-rtt", "0-rtt", "none"] {
        let shared = times(handshake, "reuse");
        shared[1..].iter().for_each(|t| assert!((t - idle).abs() < 2e-6, "{handshake}: {t}"));
    }
}

#[test]
fn reused_transfers_share_one_connection_and_new_ones_have_their_own() {
    let at = [0, 0, 2000, 2000, 2000];
    let sizes = [50_000, 10, 1, 70_001, 5000];
    for streams in [1, 3] {
        let stack = json!({"streams": streams});
        let new = row(stack.clone(), listed(&at, &sizes, "new")).run();
        assert_eq!(connections(&new), [1, 2, 3, 4, 5]);
        let shared = row(stack, listed(&at, &sizes, "reuse")).run();
        assert_eq!(connections(&shared), [1; 5]);
        for out in [&new, &shared] {
            let bytes: Vec<u64> = out.transfers.iter().map(|t| t.bytes).collect();
            assert_eq!(bytes, sizes);
            let flow = &out.flows[0];
            assert_eq!((flow.transfers_started, flow.transfers_completed), (5, 5));
            assert_eq!((flow.delivered_bytes, flow.duplicate_bytes), (sizes.iter().sum::<u64>(), 0));
        }
    }
}

#[test]
fn streams_of_a_connection_take_turns() {
    // 100 kB begin beside 2 MB in transmission. They wait for the 100 kB that flow control lets be in flight, 80 ms,
    // and then each stream has half of 10 Mbit/s: 160 ms. One after the other, they would take more than 1.1 s.
    let stack = json!({"handshake": "none", "window": "100 kB"});
    let out = row(stack, listed(&[0, 500], &[2_000_000, 100_000], "reuse")).run();
    assert!((0.16..0.30).contains(&took(&out)[1]), "{:?}", took(&out));
}

#[test]
fn a_connection_that_was_idle_for_too_long_is_replaced() {
    let stack = json!({"idle_timeout": "500 ms"});
    let out = row(stack, listed(&[0, 400, 2000, 2100], &[5000; 4], "reuse")).run();
    assert_eq!(connections(&out), [1, 1, 2, 2]);
    assert_eq!(out.flows[0].transfers_completed, 4);
}

#[test]
fn a_fair_queue_separates_connections_but_not_streams() {
    let at_once = |reuse| listed(&[0, 0, 300], &[1_000_000, 1_000_000, 100_000], reuse);
    let fair = |reuse| {
        let row = row(json!({}), at_once(reuse)).link(0, 1, "queue", json!({"name": "drr"}));
        took(&row.run())[2]
    };
    assert!(fair("new") < 0.4, "{}", fair("new"));
    assert!(fair("reuse") > 1.5 * fair("new"), "{}", fair("reuse"));
}

#[test]
fn losses_delay_transfers_and_no_byte_is_missing() {
    let poisson = |reuse: &str| {
        json!({"kind": "workload", "arrivals": {"kind": "poisson", "per_s": 40.0}, "arrivals_of": "f0",
            "sizes": {"kind": "pareto", "shape": 1.3, "least": 2000.0, "most": 200_000.0}, "count": 200,
            "connections": reuse})
    };
    for reuse in ["new", "reuse"] {
        let lossy = row(json!({}), poisson(reuse)).link(0, 1, "loss", json!(0.02)).link(1, 0, "loss", json!(0.02));
        let out = lossy.run();
        let flow = &out.flows[0];
        assert_eq!((flow.transfers_started, flow.transfers_completed), (200, 200), "{reuse}");
        assert_eq!(flow.delivered_bytes, out.transfers.iter().map(|t| t.bytes).sum::<u64>());
        assert!(flow.retransmitted_packets > 20);
        let again = run(&lossy.plan()).unwrap();
        assert_eq!(took(&out), took(&again));
        assert_eq!(took(&out), took(&run_one_by_one(&lossy.plan()).unwrap()));
        // TCP has the same transfers at the same times.
        let tcp = Row::new(&[(10 * MBIT, 5 * MS)]).tcp(0, 1, "newreno", json!({}), poisson(reuse)).run();
        let drawn = |out: &Output| -> Vec<(f64, u64)> { out.transfers.iter().map(|t| (t.start_s, t.bytes)).collect() };
        assert_eq!(drawn(&tcp), drawn(&out));
    }
}

#[test]
fn transfers_under_way_at_the_stop_remain_incomplete() {
    for reuse in ["new", "reuse"] {
        let stopped = row(json!({}), listed(&[0, 100, 900], &[2_000_000, 1000, 1000], reuse))
            .set("/flows/0/stop_ns", json!(500 * MS))
            .run();
        let flow = &stopped.flows[0];
        assert_eq!((flow.transfers_started, flow.transfers_completed, flow.stop_s), (2, 1, 0.5));
        assert_eq!(stopped.transfers[0].end_s, None);
    }
}

#[test]
fn a_load_above_the_capacity_ends_with_an_error() {
    for reuse in ["new", "reuse"] {
        let many = json!({"kind": "workload", "arrivals": {"kind": "poisson", "per_s": 1e6}, "arrivals_of": "f0",
            "sizes": {"kind": "fixed", "bytes": 1_000_000}, "count": 0, "connections": reuse});
        let slow = Row::new(&[(1_000_000, 5 * MS)]).quic(0, 1, "newreno", json!({}), many);
        let error = run(&slow.plan()).unwrap_err().to_string();
        assert!(error.starts_with("flows.f0.application: more than 100000 transfers at a time"), "{error}");
    }
}
