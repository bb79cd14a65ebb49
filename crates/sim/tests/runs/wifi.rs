//! Wi-Fi media in the simulator: conservation, the engine's shortcuts, throughput of TCP.

use crate::conservation::conserved;
use crate::one_by_one::difference;
use crate::plans::{Row, text};
use dumbbell_sim::{Output, run_one_by_one};
use proptest::prelude::*;
use serde_json::{Value, json};

const MBIT: u64 = 1_000_000;
const MS: u64 = 1_000_000;

/// Node 0 and the access point 1 with 100 Mbit/s and 5 ms, the stations behind node 2. Links 2 and 3 are the medium.
fn network(standard: &str, stations: usize, background: usize) -> Row {
    let mut row = Row::new(&[(100 * MBIT, 5 * MS), (54 * MBIT, 0)]);
    let nodes: Vec<usize> = (0..stations).map(|_| row.branch(2, (1000 * MBIT, 0))).collect();
    let aggregates = matches!(standard, "11n" | "11ac");
    let station = |n: usize| json!({"name": format!("s{n}"), "signal_dbm": -50.0, "uplink_dbm": -50.0});
    let saturated = |n: usize| {
        json!({
            "name": format!("b{n}"), "signal_dbm": -50.0, "uplink_dbm": -50.0, "up": true, "down": false,
            "packet_bytes": 1500,
        })
    };
    row.set(
        "/media",
        json!([{
            "down": 2, "up": 3, "nodes": nodes,
            "wifi": {
                "standard": standard, "width_mhz": 20, "streams": 1, "short_guard": false, "noise_figure_db": 7.0,
                "margin_db": 0.0, "fading_db": 0.0, "fading_ns": 1000 * MS, "rate_control": {"name": "ideal"},
                "ampdu_ns": if aggregates { 4 * MS } else { 0 }, "retry_limit": 7, "cw_min": 15, "cw_max": 1023,
                "aifsn": if aggregates { 3 } else { 2 }, "airtime_fairness": false,
                "stations": (0..stations).map(station).collect::<Vec<_>>(),
                "background": (0..background).map(saturated).collect::<Vec<_>>(),
            },
        }]),
    )
}

/// Bulk TCP between node 0 and a station.
fn tcp(row: Row, (from, to): (usize, usize)) -> Row {
    row.tcp(from, to, "cubic", json!({"preset": "linux"}), json!({"kind": "bulk"}))
}

fn mbps(out: &Output, flow: usize) -> f64 {
    out.flows[flow].throughput_bps / 1e6
}

#[test]
fn tcp_alone() {
    // One ACK for two segments, both contending: 23.9 Mbit/s of payload over 11g (docs of the medium); IP bytes 3.6 %
    // more. The backoff of sender and station overlap, so that the throughput is a little higher.
    let out = tcp(network("11g", 1, 0), (0, 3)).run();
    println!("TCP over 11g: {:.2} Mbit/s", mbps(&out, 0));
    assert!((mbps(&out, 0) / 24.8 - 1.0).abs() < 0.06, "{}", mbps(&out, 0));
    let out = tcp(network("11n", 1, 0), (0, 3)).run();
    println!("TCP over 11n: {:.2} Mbit/s", mbps(&out, 0));
    // 53.7 Mbit/s of payload if every A-MPDU has 20 frames; those after slow start's losses have fewer.
    assert!((mbps(&out, 0) / 55.6 - 1.0).abs() < 0.1, "{}", mbps(&out, 0));
    // Uplink, the same.
    let up = tcp(network("11g", 1, 0), (3, 0)).run();
    assert!((mbps(&up, 0) / 24.8 - 1.0).abs() < 0.06, "{}", mbps(&up, 0));
}

#[test]
fn the_rows_of_the_stations_add_up() {
    let row =
        tcp(network("11g", 2, 3), (0, 3)).set("/trace/series", json!(["queues"])).set("/duration_ns", json!(2000 * MS));
    let out = row.run();
    let table = out.trace.table("wifi/n1->n2").unwrap();
    let last = |name: &str| -> Vec<u64> {
        let dumbbell_trace::ColumnData::U64(values) = table.column(name).unwrap() else { panic!("{name}") };
        values[values.len() - 5..].to_vec()
    };
    let busy: u64 = last("down_airtime_ns").iter().chain(&last("up_airtime_ns")).sum();
    let collided = last("collided_ns")[0];
    assert!(busy + collided > 1500 * MS && busy + collided < 2000 * MS, "{busy} {collided}");
    // Station 1 has no flow; the three of the background only send.
    assert_eq!(last("down_frames")[1..], [0, 0, 0, 0]);
    assert!(last("up_frames")[2..].iter().all(|n| *n > 500));
    let (down, up) = (&out.queues[2], &out.queues[3]);
    let share = |name: &str, of: std::ops::Range<usize>| last(name)[of].iter().sum::<u64>() as f64 / 2e9;
    assert!((down.utilization - share("down_airtime_ns", 0..5)).abs() < 1e-9);
    assert!((up.utilization - share("up_airtime_ns", 0..5)).abs() < 1e-9);
    assert_eq!(down.delivered + down.wire_losses + down.on_wire_at_end, down.departures);
}

fn traffic() -> impl Strategy<Value = Row> {
    let standard = prop::sample::select(vec!["11b", "11a", "11g", "11n", "11ac"]);
    let flows = prop::collection::vec((any::<bool>(), 0..4usize, 0..3u64), 1..6);
    let queue = prop::sample::select(vec!["droptail", "fq_codel", "codel", "red", "tbf"]);
    let control = prop::sample::select(vec!["ideal", "minstrel_ht"]);
    let levels = (prop::sample::select(vec![-50.0, -80.0, -86.0]), prop::sample::select(vec![0.0, 2.0]));
    let other = (any::<bool>(), 0..3usize, any::<u64>(), 0..200u64);
    (standard, flows, queue, control, levels, other).prop_map(
        |(standard, flows, queue, control, (signal, fading), (fair, background, seed, from))| {
            let mut row = network(standard, 4, background)
                .set("/seed", json!(seed))
                .set("/duration_ns", json!(400 * MS))
                .set("/measure_from_ns", json!(from * MS))
                .set("/trace/series", json!(true))
                .set("/media/0/wifi/fading_db", json!(fading))
                .set("/media/0/wifi/rate_control", json!({"name": control}))
                .set("/media/0/wifi/airtime_fairness", json!(fair))
                .set("/media/0/wifi/stations/1/uplink_dbm", json!(signal));
            if standard == "11b" {
                row = row.set("/media/0/wifi/width_mhz", json!(22)).set("/media/0/wifi/cw_min", json!(31));
            }
            let params = if queue == "tbf" {
                json!({"rate": "5 Mbit/s", "burst": "3000 bytes", "limit": "20 packets"})
            } else {
                json!({"limit": "20 packets"})
            };
            for link in [2, 3] {
                row = row.set(&format!("/links/{link}/queue"), json!({"name": queue, "params": params}));
            }
            for (n, (up, station, start)) in flows.into_iter().enumerate() {
                let ends = if up { (3 + station, 0) } else { (0, 3 + station) };
                row = tcp(row, ends).set(&format!("/flows/{n}/start_ns"), json!(start * 20 * MS));
            }
            row
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn shortcuts_change_no_result_and_no_packet_is_missing(row in traffic()) {
        let all = |out: &Output| format!("{} {:?}", text(out), out.trace);
        let (fast, slow) = (row.run(), run_one_by_one(&row.plan()).unwrap());
        let (a, b) = (all(&fast), all(&slow));
        prop_assert!(a == b, "{}", difference(&a, &b));
        for q in &fast.queues {
            conserved(q)?;
            prop_assert_eq!(q.wire_losses, q.losses_retries, "{}", &q.name);
            prop_assert!((0.0..=1.0).contains(&q.utilization));
        }
    }
}

#[test]
fn a_medium_that_does_not_fit_the_plan_is_refused() {
    let refusal = |row: Row| dumbbell_sim::run(&row.plan()).unwrap_err().to_string();
    let base = || tcp(network("11g", 1, 0), (0, 3));
    let cases: [(&str, Value, &str); 6] = [
        ("/media/0/up", json!(1), "media.0.up: must lead back"),
        ("/media/0/nodes", json!([]), "media.0.nodes"),
        ("/links/2/overhead_bytes", json!(14), "media.0.overhead_bytes"),
        ("/links/3/loss", json!(0.1), "media.0.loss"),
        ("/media/0/wifi/width_mhz", json!(40), "media.0.width_mhz"),
        (
            "/media/0/wifi/rate_control",
            json!({"name": "fixed", "rate_bps": 55 * MBIT}),
            "must be one of 6, 9, 12, 18, 24, 36, 48, 54 Mbit/s",
        ),
    ];
    for (pointer, value, expected) in cases {
        let given = refusal(base().set(pointer, value));
        assert!(given.contains(expected), "{pointer}: {given}");
    }
}
