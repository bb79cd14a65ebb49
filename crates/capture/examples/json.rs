//! Analyzes captures and writes all tables but the rounds as JSON, page by page, as `dumbbell analyze --json` does: for
//! measuring the writer. Prints the number of bytes.
//!
//!     cargo run --release -p dumbbell-capture --example json -- FILE...

use std::path::Path;
use std::process::ExitCode;

use dumbbell_capture::analyze::{Kind, Options, analyze};

/// Connections in a page, as in Python.
const PAGE: usize = 128;

fn main() -> ExitCode {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let files: Vec<&Path> = files.iter().map(Path::new).collect();
    let options = Options { threads: 1, ..Options::default() };
    let found = match analyze(&files, &options, &mut |_| true, None) {
        Ok(found) => found,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let (mut bytes, mut written) = (Vec::new(), 0);
    for kind in Kind::ALL.into_iter().filter(|&kind| kind != Kind::Rounds) {
        let numbers: Vec<u64> = match kind {
            // One page.
            Kind::Total | Kind::Ip | Kind::Endpoints | Kind::Names => vec![0],
            Kind::Udp | Kind::Quic => (0..found.conversations() as u64).collect(),
            _ => found.numbers(),
        };
        for page in numbers.chunks(PAGE) {
            bytes.clear();
            found.rows(kind, page).write_json(b',', &mut bytes);
            written += bytes.len();
        }
    }
    println!("{written}");
    ExitCode::SUCCESS
}
