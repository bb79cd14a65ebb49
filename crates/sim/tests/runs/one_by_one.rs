//! The engine's shortcuts change no result: random networks give the same output, byte for byte, as when every arrival
//! of a packet is an event in the order of the clock.
//!
//! The plans have a row of routers with hosts at each of them, every discipline, impairment, stack, application and
//! variant. In half of them all times are multiples of half a millisecond, so that many events have the same time.

use crate::conservation::features;
use crate::identities::{FlowSketch, flow, queue, with_flow};
use crate::plans::{Row, text};
use dumbbell_sim::{Output, run_one_by_one};
use proptest::prelude::*;
use serde_json::{Value, json};

const KBIT: u64 = 1000;
const MBIT: u64 = 1_000_000;
const MS: u64 = 1_000_000;

type Direction = (Value, Vec<(&'static str, Value)>);

/// Rate and delay of a link; on the grid 500 bytes take 0.5 ms.
fn path(grid: bool) -> BoxedStrategy<(u64, u64)> {
    if grid {
        return (Just(8 * MBIT), (0..5u64).prop_map(|n| n * MS / 2)).boxed();
    }
    let rate = prop_oneof![prop::sample::select(vec![MBIT, 8 * MBIT, 40 * MBIT]), 200 * KBIT..20 * MBIT];
    let delay = prop_oneof![prop::sample::select(vec![0, MS, 10 * MS]), 0..20 * MS];
    (rate, delay).boxed()
}

/// Queue and impairments of one direction of a link; most have none.
fn direction() -> impl Strategy<Value = Direction> {
    let rare = prop_oneof![5 => Just(Vec::new()), 1 => features()];
    let queue = prop_oneof![1 => Just(json!({"name": "droptail"})), 1 => queue()];
    (queue, rare)
}

/// Datagrams of 500 bytes, or bulk data in packets of 500 bytes.
fn flow_on_grid() -> impl Strategy<Value = FlowSketch> {
    let cbr = (1..8u64).prop_map(
        |n| json!({"kind": "cbr", "rate_bps": 8 * MBIT / n, "packet_bytes": 500, "jitter": 0.0, "phase_ns": 0}),
    );
    let bulk = (prop::sample::select(vec!["newreno", "cubic"]), prop::sample::select(vec!["ns2", "rfc", "linux"]))
        .prop_map(|(variant, stack)| (Some(variant), stack, json!({"kind": "bulk"})));
    let app = prop_oneof![1 => cbr.prop_map(|app| (None, "rfc", app)), 1 => bulk];
    (app, 0..3u64).prop_map(|((variant, stack, app), start)| (variant, stack, false, app, (start, None), true))
}

/// A flow, and its ends: node numbers modulo the number of nodes.
fn placed_flow(grid: bool) -> impl Strategy<Value = (FlowSketch, usize, usize)> {
    let flow = if grid { prop_oneof![1 => flow(), 4 => flow_on_grid()].boxed() } else { flow().boxed() };
    (flow, 0..100usize, 1..100usize)
}

pub(crate) fn network() -> impl Strategy<Value = Row> {
    prop_oneof![network_with(false), network_with(true)]
}

fn network_with(grid: bool) -> impl Strategy<Value = Row> {
    let routers = prop::collection::vec(path(grid), 1..4);
    let hosts = prop::collection::vec((0..4usize, path(grid)), 1..8);
    let directions = prop::collection::vec(direction(), 20);
    let flows = prop::collection::vec(placed_flow(grid), 1..8);
    let jitter = if grid { Just(0).boxed() } else { prop_oneof![Just(0), 1..20 * MS].boxed() };
    let times = (20..300u64, prop_oneof![Just(0.0), 0.0..0.95f64], jitter);
    let tables = any::<(bool, bool)>();
    (routers, hosts, directions, flows, times, tables, any::<u64>()).prop_map(
        |(routers, hosts, directions, flows, (duration, from, jitter), (series, packets), seed)| {
            let mut row = Row::new(&routers)
                .set("/seed", json!(seed))
                .set("/duration_ns", json!(duration * MS))
                .set("/measure_from_ns", json!((duration as f64 * from) as u64 * MS))
                .set("/start_jitter_ns", json!(jitter))
                .set("/trace/series", json!(series))
                .set("/trace/packets", json!(packets));
            let routers = routers.len() + 1;
            for (at, path) in &hosts {
                row.branch(at % routers, *path);
            }
            let nodes = routers + hosts.len();
            for (n, (queue, features)) in directions.iter().take(2 * (nodes - 1)).enumerate() {
                row = row.set(&format!("/links/{n}/queue"), queue.clone());
                for (key, value) in features {
                    row = row.set(&format!("/links/{n}/{key}"), value.clone());
                }
            }
            for (n, (flow, from, apart)) in flows.into_iter().enumerate() {
                // The last nodes are hosts.
                let (from, apart) = (nodes - 1 - from % hosts.len(), 1 + apart % (nodes - 1));
                row = with_flow(row, n, from, (from + apart) % nodes, flow);
            }
            row
        },
    )
}

/// The text around the first difference.
pub(crate) fn difference(a: &str, b: &str) -> String {
    let at = a.bytes().zip(b.bytes()).position(|(x, y)| x != y).unwrap_or(a.len().min(b.len()));
    let around = |s: &str| s[at.saturating_sub(150)..(at + 100).min(s.len())].to_owned();
    format!("fast: {}\nslow: {}", around(a), around(b))
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 500, failure_persistence: None, ..ProptestConfig::with_cases(10_000) })]

    #[test]
    fn shortcuts_change_no_result(row in network()) {
        let all = |out: &Output| format!("{} {:?}", text(out), out.trace);
        let (fast, slow) = (all(&row.run()), all(&run_one_by_one(&row.plan()).unwrap()));
        prop_assert!(fast == slow, "{}", difference(&fast, &slow));
    }
}
