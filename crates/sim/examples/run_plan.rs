//! Runs plans without Python: one JSON plan a line on standard input, one JSON object of results a line on standard
//! output. The benchmarks use it, so that they time the simulator alone.
//!
//!     cargo run --release --example run_plan < plans.jsonl

use std::io::{BufRead, Write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let plan: dumbbell_plan::Plan = serde_json::from_str(&line?)?;
        let output = dumbbell_sim::run(&plan)?;
        let result = serde_json::json!({
            "flows": output.flows, "queues": output.queues, "events": output.events,
        });
        writeln!(out, "{result}")?;
    }
    Ok(())
}
