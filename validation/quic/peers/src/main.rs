//! Runs one download and prints its outcome as a line of JSON.
//!
//! `dumbbell-quic-peers own|quinn NAME=VALUE ..`

use dumbbell_quic_peers::network::{Outcome, run};
use dumbbell_quic_peers::settings::Settings;
use dumbbell_quic_peers::{own, quinn};
use dumbbell_units::Time;
use std::process::ExitCode;

fn outcome(arguments: &[String]) -> Result<Outcome, String> {
    let (peer, rest) = arguments.split_first().ok_or("own or quinn is needed")?;
    let settings = Settings::read(rest)?;
    match peer.as_str() {
        "own" => Ok(run(own::ends(&settings)?, &settings)),
        "quinn" => Ok(run(quinn::ends(&settings)?, &settings)),
        other => Err(format!("'{other}' given: own or quinn is needed")),
    }
}

fn ms(at: Option<Time>) -> String {
    at.map_or("null".into(), |at| format!("{}", at.0 as f64 / 1e6))
}

fn json(o: &Outcome) -> String {
    let list = |items: Vec<String>| format!("[{}]", items.join(","));
    let first = o.first.iter().map(|(at, from, bytes)| format!("[{},{from},{bytes}]", at.0 as f64 / 1e6));
    let cwnd = o.cwnd.iter().map(|w| format!("{w:.0}"));
    format!(
        "{{\"goodput_mbps\":{:.4},\"sent\":{},\"drops\":{},\"losses\":{},\"acks\":{},\"lost\":{},\
         \"queueing_ms\":{:.3},\"largest\":{},\"end_ms\":{},\"established_ms\":[{},{}],\"request_ms\":{},\
         \"response_ms\":{},\"first\":{},\"cwnd\":{}}}",
        o.delivered as f64 * 8e3 / o.end.0 as f64,
        o.sent,
        o.drops,
        o.losses,
        o.acks,
        o.lost,
        o.queueing_ms,
        o.largest,
        ms(Some(o.end)),
        ms(o.established[0]),
        ms(o.established[1]),
        ms(o.request),
        ms(o.response),
        list(first.collect()),
        list(cwnd.collect()),
    )
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match outcome(&arguments) {
        Ok(outcome) => {
            println!("{}", json(&outcome));
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}
