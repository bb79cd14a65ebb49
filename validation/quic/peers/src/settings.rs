//! The settings of a run.

use crate::link::Link;
use dumbbell_quic::Config;
use dumbbell_units::param::Raw;
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Rate, Time};

/// See the top of this file.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Dumbbell's variant.
    pub variant: String,
    /// Rate of the bottleneck, from the server to the client.
    pub rate: Rate,
    /// Round-trip time without queueing.
    pub rtt: Dur,
    /// Packets that wait at the bottleneck at most.
    pub buffer: usize,
    /// Probability with which the bottleneck loses a packet.
    pub loss: f64,
    /// End of the run.
    pub duration: Dur,
    /// Bytes of the response.
    pub bytes: u64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Parameters of the endpoints, as in a scenario: name, value.
    pub stack: Vec<(String, Raw)>,
}

/// Rate of the link for requests and ACKs, which is never the bottleneck.
const UPLINK: Rate = Rate(1_000_000_000);

impl Settings {
    /// Reads `NAME=VALUE`; other names than those of the fields are parameters of the endpoints.
    ///
    /// # Errors
    /// A value that is not a number, an argument without "=".
    pub fn read(arguments: &[String]) -> Result<Settings, String> {
        let mut settings = Settings {
            variant: "newreno".into(),
            rate: Rate(10_000_000),
            rtt: Dur::millis(40),
            buffer: 100,
            loss: 0.0,
            duration: Dur::secs(20),
            bytes: 1 << 30,
            seed: 1,
            stack: Vec::new(),
        };
        for argument in arguments {
            let (name, value) = argument.split_once('=').ok_or(format!("{argument}: NAME=VALUE is needed"))?;
            let number = || value.parse::<f64>().map_err(|_| format!("{argument}: a number is needed"));
            match name {
                "variant" => settings.variant = value.into(),
                "rate_mbps" => settings.rate = Rate((number()? * 1e6) as u64),
                "rtt_ms" => settings.rtt = Dur((number()? * 1e6) as u64),
                "buffer" => settings.buffer = number()? as usize,
                "loss" => settings.loss = number()?,
                "duration_s" => settings.duration = Dur((number()? * 1e9) as u64),
                "bytes" => settings.bytes = number()? as u64,
                "seed" => settings.seed = number()? as u64,
                _ => settings.stack.push((name.into(), raw(value))),
            }
        }
        Ok(settings)
    }

    /// The parameters of the endpoints.
    ///
    /// # Errors
    /// An unknown variant or parameter, a value out of range.
    pub fn config(&self) -> Result<Config, String> {
        let row = dumbbell_cc::find(&self.variant).map_err(|e| e.to_string())?;
        Config::read("quinn", &self.stack, row).map_err(|e| e.to_string())
    }

    /// The end of the run.
    #[must_use]
    pub fn end(&self) -> Time {
        Time::ZERO + self.duration
    }

    /// The links to the server and to the client.
    #[must_use]
    pub fn links(&self) -> [Link; 2] {
        let delay = Dur(self.rtt.0 / 2);
        let lossless = Stream::new(self.seed, "uplink");
        let random = Stream::new(self.seed, "bottleneck");
        [
            Link::new(UPLINK, delay, usize::MAX, 0.0, lossless),
            Link::new(self.rate, delay, self.buffer, self.loss, random),
        ]
    }
}

fn raw(value: &str) -> Raw {
    match value {
        "true" | "false" => Raw::Bool(value == "true"),
        _ => value.parse().map_or_else(|_| Raw::Text(value.into()), Raw::Number),
    }
}
