//! The measurements of transfers, or the shares of classes that a forest gives them.
//! `validation/classify/grow_forest.py` calls it.
//!
//!     cargo run --release -p dumbbell-capture --example classify_rounds -- ROUNDS.csv [FOREST.bin]
//!
//! Each line of `ROUNDS.csv` is a transfer: its number, MSS, 1 if captured at the sender, and the rounds, each with its
//! fields separated by spaces. Each line of the output is a transfer that is long enough: its number, then its values.

use std::error::Error;
use std::fmt::Display;
use std::fs;
use std::io::{BufWriter, Write, stdout};

use dumbbell_capture::flow::classify::forest::Forest;
use dumbbell_capture::flow::classify::measurements;
use dumbbell_capture::flow::rounds::Round;
use dumbbell_capture::flow::side::Limit;

fn round(text: &str) -> Option<Round> {
    let fields: Vec<i64> = text.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
    let &[start, end, flight, bytes, acked, rtt_min, rtt_sum, rtts, again, echoes, fast, timeout, repairing, limit] =
        &fields[..]
    else {
        return None;
    };
    Some(Round {
        start,
        end,
        flight: flight as u32,
        bytes: bytes as u32,
        acked: acked as u32,
        rtt_min: rtt_min as u32,
        rtt_sum: rtt_sum as u64,
        rtts: rtts as u32,
        retransmissions: again as u32,
        echoes: echoes as u32,
        fast: fast != 0,
        timeout: timeout != 0,
        repairing: repairing != 0,
        limit: [Limit::Idle, Limit::Application, Limit::Window, Limit::Recovery, Limit::Network][limit as usize],
    })
}

/// The number of a transfer and its measurements; `None` within if it is too short.
fn transfer(line: &str) -> Option<(&str, Option<Vec<f32>>)> {
    let mut fields = line.split(',');
    let (number, mss, at_sender) = (fields.next()?, fields.next()?.parse().ok()?, fields.next()? == "1");
    let rounds: Vec<Round> = fields.map(round).collect::<Option<_>>()?;
    Some((number, measurements(&rounds, mss, at_sender)))
}

fn cells<T: Display>(values: &[T]) -> String {
    values.iter().map(|value| format!(",{value}")).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rounds, forest @ ..] = &arguments[..] else {
        return Err("usage: classify_rounds ROUNDS.csv [FOREST.bin]".into());
    };
    let forest = forest.first().map(fs::read).transpose()?;
    let forest = forest.map(|bytes| Forest::new(&bytes).ok_or("the forest can't be read")).transpose()?;
    let mut out = BufWriter::new(stdout().lock());
    for line in fs::read_to_string(rounds)?.lines() {
        let (number, row) = transfer(line).ok_or_else(|| format!("no transfer: {line}"))?;
        if let Some(row) = row {
            let values = forest.as_ref().map_or_else(|| cells(&row), |forest| cells(&forest.shares(&row)));
            writeln!(out, "{number}{values}")?;
        }
    }
    Ok(())
}
