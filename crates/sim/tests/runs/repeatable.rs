//! The same plan gives identical results, and a component depends only on its own inputs.

use crate::plans::{Row, text};
use serde_json::json;

const MBIT: u64 = 1_000_000;
const MS: u64 = 1_000_000;

/// A busy plan: loss, jitter, RED, several kinds of flows.
fn busy(seed: u64) -> Row {
    let jittered = json!({"kind": "cbr", "rate_bps": 3 * MBIT, "packet_bytes": 1000, "jitter": 0.5, "phase_ns": null});
    let on_off = json!({"kind": "onoff", "rate_bps": MBIT, "packet_bytes": 500, "on_ns": 100 * MS, "off_ns": 200 * MS,
        "exponential": true});
    Row::new(&[(100 * MBIT, MS), (10 * MBIT, 10 * MS), (100 * MBIT, MS)])
        .link(1, 2, "queue", json!({"name": "red", "params": {"limit": "50 packets"}}))
        .link(1, 2, "loss", json!(0.001))
        .link(2, 3, "jitter", json!({"distribution": "uniform", "max_ns": MS}))
        .tcp(0, 3, "sack", json!({}), json!({"kind": "bulk"}))
        .tcp(0, 3, "cubic", json!({}), json!({"kind": "bulk"}))
        .tcp(3, 0, "vegas", json!({}), json!({"kind": "transfer", "bytes": 100_000, "repeat": 0, "every_ns": 300 * MS}))
        .udp(1, 2, jittered)
        .udp(0, 2, on_off)
        .set("/seed", json!(seed))
        .set("/start_jitter_ns", json!(100 * MS))
}

#[test]
fn the_same_plan_gives_the_same_output_on_any_thread() {
    let plan = busy(7).set("/trace/series", json!(true)).set("/trace/packets", json!(true)).plan();
    let runs: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| dumbbell_sim::run(&plan).unwrap())).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    for run in &runs[1..] {
        assert_eq!(text(run), text(&runs[0]));
        assert_eq!(format!("{:?}", run.trace), format!("{:?}", runs[0].trace)); // as text: NaN equals NaN
    }
}

#[test]
fn different_seeds_give_different_results() {
    assert_ne!(text(&busy(1).run()), text(&busy(2).run()));
}

#[test]
fn tracing_changes_no_result() {
    let traced = busy(3).set("/trace/series", json!(true)).set("/trace/packets", json!(true)).run();
    assert_eq!(text(&traced), text(&busy(3).run()));
}

#[test]
fn a_new_flow_does_not_change_the_draws_of_others() {
    // Two pairs of nodes without a common link; the second flow exists in the second run only.
    let jittered = json!({"kind": "cbr", "rate_bps": MBIT, "packet_bytes": 1000, "jitter": 0.9, "phase_ns": null});
    let alone = Row::new(&[(10 * MBIT, MS), (10 * MBIT, MS), (10 * MBIT, MS)]).link(0, 1, "loss", json!(0.05));
    let both = Row::new(&[(10 * MBIT, MS), (10 * MBIT, MS), (10 * MBIT, MS)]).link(0, 1, "loss", json!(0.05));
    let alone = alone.udp(0, 1, jittered.clone()).run();
    let both = both.udp(0, 1, jittered.clone()).udp(2, 3, jittered).run();
    let row = |o: &dumbbell_sim::Output| serde_json::to_string(&o.flows[0]).unwrap();
    assert_eq!(row(&alone), row(&both));
}

#[test]
fn lookahead_changes_no_result() {
    // With another flow that enters at each router and sends very little, every link has several feeders and no
    // lookahead. Its packets are too few and too small to delay others.
    let flow = |row: Row| row.tcp(0, 3, "newreno", json!({}), json!({"kind": "bulk"}));
    let links = [(100 * MBIT, MS), (10 * MBIT, 10 * MS), (20 * MBIT, MS)];
    let queue = json!({"name": "droptail", "params": {"limit": "20 packets"}});
    let mut with = flow(Row::new(&links).link(1, 2, "queue", queue.clone()));
    for (from, to) in [(1, 3), (2, 3), (2, 0), (1, 0)] {
        let late =
            json!({"kind": "cbr", "rate_bps": 8, "packet_bytes": 1, "jitter": 0.0, "phase_ns": 9_999_000_000u64});
        with = with.udp(from, to, late);
    }
    let (a, b) = (flow(Row::new(&links).link(1, 2, "queue", queue)).run(), with.run());
    assert!(a.events < b.events * 7 / 10, "{} events with links running ahead, {} without", a.events, b.events);
    let row = |o: &dumbbell_sim::Output| serde_json::to_string(&o.flows[0]).unwrap();
    assert_eq!(row(&a), row(&b));
}
