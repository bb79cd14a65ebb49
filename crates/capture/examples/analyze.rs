//! Analyzes a capture and prints its connections and warnings: for measuring the speed of the analysis.
//!
//!     cargo run --release -p dumbbell-capture --example analyze -- wireshark-4.4 1 FILE

use std::path::Path;
use std::process::ExitCode;

use dumbbell_capture::analyze::{Kind, Options, analyze};
use dumbbell_capture::table::Values;
use dumbbell_capture::tcp::label::Rules;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rules, threads, files @ ..] = arguments.as_slice() else {
        eprintln!("usage: analyze RULES THREADS FILE...");
        return ExitCode::from(2);
    };
    let Some(rules) = Rules::from_name(rules) else {
        eprintln!("unknown rules '{rules}'");
        return ExitCode::from(2);
    };
    let options = Options { rules, threads: threads.parse().unwrap_or(1), ..Options::default() };
    let files: Vec<&Path> = files.iter().map(Path::new).collect();
    let found = match analyze(&files, &options, &mut |_| true, None) {
        Ok(found) => found,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    for table in
        [Kind::Flows, Kind::Udp, Kind::Quic, Kind::Classes, Kind::Phases].map(|kind| found.rows(kind, &[0, 1, 2, 3]))
    {
        for row in 0..table.rows().min(8) {
            for (name, values) in &table.columns {
                let text = match values {
                    Values::U64(v) => v[row].to_string(),
                    Values::I64(v) => v[row].to_string(),
                    Values::U32(v) => v[row].to_string(),
                    Values::U16(v) => v[row].to_string(),
                    Values::U8(v) => v[row].to_string(),
                    Values::I32(v) => v[row].to_string(),
                    Values::F64(v) => v[row].to_string(),
                    Values::Text(v) => v[row].clone(),
                };
                if text != "0" && text != "NaN" {
                    print!("{name}={text} ");
                }
            }
            println!();
        }
    }
    println!(
        "{} connections, {} UDP conversations, intervals of {} ns",
        found.totals.connections,
        found.conversations(),
        found.interval.0
    );
    for warning in &found.warnings {
        println!("{}: {}", warning.kind, warning.text);
    }
    for damage in &found.damage {
        println!("{damage}");
    }
    ExitCode::SUCCESS
}
