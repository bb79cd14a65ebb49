//! Prints the labels of a capture, one line per segment:
//! frame, stream, labels, number of the duplicate ACK, ack_rtt, bytes_in_flight, initial_rtt (ns).
//!
//!     cargo run -p dumbbell-capture --example labels -- wireshark-4.0 FILE

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use dumbbell_capture::tcp::label::Rules;
use dumbbell_capture::{Dissector, Labeler, Reader};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rules, file] = arguments.as_slice() else {
        eprintln!("usage: labels RULES FILE");
        return ExitCode::from(2);
    };
    let Some(rules) = Rules::from_name(rules) else {
        eprintln!("unknown rules '{rules}'");
        return ExitCode::from(2);
    };
    let mut reader = match Reader::open(Path::new(file)) {
        Ok(reader) => reader,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let mut dissector = Dissector::default();
    let mut labeler = Labeler::new(rules);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    while let Some(frame) = reader.next_frame() {
        let found = dissector.dissect(&frame);
        let Some((stream, v)) = labeler.frame(&frame, &found) else { continue };
        let line = writeln!(
            out,
            "{}\t{stream}\t{}\t{}\t{}\t{}\t{}",
            frame.number, v.labels, v.duplicate_ack, v.ack_rtt, v.bytes_in_flight, v.initial_rtt
        );
        if line.is_err() {
            break;
        }
    }
    ExitCode::SUCCESS
}
