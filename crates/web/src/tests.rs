//! Runs through the interface, without the reading of memory: `tests/studio/test_studio.py` does that in Node and in a
//! browser.

use crate::run::Run;
use crate::{
    dumbbell_advance, dumbbell_column, dumbbell_finish, dumbbell_free, dumbbell_output_length, dumbbell_start,
    dumbbell_tables, put,
};
use dumbbell_plan::Plan;
use dumbbell_units::Time;
use serde_json::{Value, json};

/// One flow over a link of 8 Mbit/s and 10 ms, 1 s, with series.
fn plan() -> Value {
    let link = |name: &str, from: usize, to: usize| {
        json!({
            "name": name, "from": from, "to": to, "rate_bps": 8_000_000, "delay_ns": 10_000_000,
            "overhead_bytes": 0, "base_rtt_ns": 20_000_000,
            "queue": {"name": "droptail", "params": {"limit": "20 packets"}},
        })
    };
    json!({
        "seed": 1, "duration_ns": 1_000_000_000, "measure_from_ns": 0, "start_jitter_ns": 0,
        "nodes": ["a", "b"], "links": [link("a->b", 0, 1), link("b->a", 1, 0)],
        "flows": [{
            "name": "f", "from": 0, "to": 1, "start_ns": 0, "stop_ns": null, "class": 0,
            "application": {"kind": "bulk"},
            "transport": {"kind": "tcp", "variant": {"name": "cubic"}, "stack": {"name": "linux"}},
        }],
        "trace": {"series": true, "interval_ns": 0, "packets": false},
    })
}

fn start(plan: &Value) -> Result<Run, String> {
    Run::start(plan.to_string().as_bytes())
}

#[test]
fn the_results_are_those_of_the_simulator() {
    let mut run = start(&plan()).unwrap();
    assert!(run.advance(Time(300_000_000)).unwrap());
    assert!(!run.advance(Time(u64::MAX)).unwrap());
    let text = run.finish().unwrap();
    let native = dumbbell_sim::run(&Plan::from_value(plan()).unwrap()).unwrap();
    let flows = serde_json::to_string(&native.flows).unwrap();
    assert!(text.starts_with(&format!("{{\"flows\":{flows},")), "{text}");
    let results: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(results["events"], native.events);
    assert_eq!(results["tables"][0]["name"], "flow/f");
    assert_eq!(results["tables"][0]["columns"][1], json!({"name": "cwnd", "type": "float64"}));
    assert_eq!(run.finish().unwrap(), text, "a second time");
    assert!(!run.advance(Time(0)).unwrap());
}

#[test]
fn tables_grow_and_keep_their_columns() {
    let mut run = start(&plan()).unwrap();
    let heads = |run: &Run| serde_json::from_str::<Value>(&run.tables().unwrap()).unwrap();
    let rows = |tables: &Value| tables[0]["rows"].as_u64().unwrap();
    assert_eq!(rows(&heads(&run)), 0);
    run.advance(Time(300_000_000)).unwrap();
    let early = heads(&run);
    run.advance(Time(600_000_000)).unwrap();
    let late = heads(&run);
    assert!(0 < rows(&early) && rows(&early) < rows(&late));
    let (_, bytes) = run.column(0, 0).unwrap();
    assert_eq!(bytes as u64, 8 * rows(&late));
    assert_eq!(early[0]["columns"], late[0]["columns"]);
}

#[test]
fn errors_are_messages() {
    let message = |plan: &Value| start(plan).err().unwrap();
    assert!(message(&json!({})).starts_with("invalid plan: missing field"));
    let mut unknown = plan();
    unknown["flows"][0]["transport"]["variant"]["name"] = json!("brr");
    assert!(message(&unknown).contains("did you mean 'bbr'"), "{}", message(&unknown));
    let mut run = start(&plan()).unwrap();
    assert_eq!(run.column(9, 0).unwrap_err(), "no column 0 of table 9");
    assert_eq!(run.capture(0).unwrap_err(), "the run is not finished");
    run.finish().unwrap();
    assert_eq!(run.capture(0).unwrap_err(), "no capture 0");
}

#[test]
fn runs_have_numbers_that_return() {
    let begin = || {
        crate::INPUT.set(plan().to_string().into_bytes());
        dumbbell_start()
    };
    assert_eq!((begin(), begin()), (0, 1));
    assert_eq!(dumbbell_advance(0, 100_000_000), 1);
    assert_eq!((dumbbell_tables(0), dumbbell_column(0, 0, 0)), (0, 0));
    assert!(dumbbell_output_length() > 0);
    dumbbell_free(0);
    put(Vec::new());
    assert_eq!(dumbbell_advance(0, 1), -1);
    assert_eq!(dumbbell_output_length(), "no run 0".len());
    assert_eq!(begin(), 0);
    assert_eq!((dumbbell_advance(1, u64::MAX), dumbbell_finish(1)), (0, 0), "the other goes on");
    assert_eq!(dumbbell_start(), -1, "the input is used once");
}
