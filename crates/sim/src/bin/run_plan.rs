//! Runs plans without Python: one JSON plan a line on standard input, one JSON object of results a line on standard
//! output. The benchmarks use it, so that they measure the simulator alone.
//!
//!     cargo run --release --bin run_plan < plans.jsonl

use dumbbell_plan::{FlowResult, Plan, QueueResult};
use dumbbell_sim::Simulation;
use serde::Serialize;
use std::io::{BufRead, BufWriter, Write};

/// The results that are printed; without a copy, so that they take no memory of their own.
#[derive(Serialize)]
struct Results<'a> {
    flows: &'a [FlowResult],
    queues: &'a [QueueResult],
    events: u64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let plan = Plan::from_json(&line?)?; // the text is not kept: it can be larger than the simulation
        let output = Simulation::new(plan)?.finish()?;
        let results = Results { flows: &output.flows, queues: &output.queues, events: output.events };
        serde_json::to_writer(&mut out, &results)?;
        writeln!(out)?;
        out.flush()?;
    }
    Ok(())
}
