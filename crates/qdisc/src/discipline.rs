//! What a discipline says of itself, one row of the registry, and what it is told when it is built.

use crate::{Backlog, Packet, Qdisc};
use dumbbell_units::param::{ParamError, Params, Spec};
use dumbbell_units::parse::Length;
use dumbbell_units::random::Stream;
use dumbbell_units::{Bytes, Dur, Packets, Rate};

/// What a discipline may know of its link when it is built.
#[derive(Clone, Debug)]
pub struct LinkInfo {
    /// The link's rate.
    pub rate: Rate,
    /// The largest base round-trip time of the flows that cross it (for limits in BDP).
    pub base_rtt: Dur,
    /// The run's seed, and the path of this queue within the run: what its random stream is derived from.
    pub seed: u64,
    /// See `seed`.
    pub path: String,
}

/// A resolved queue limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many packets.
    Packets(Packets),
    /// So many wire bytes.
    Bytes(Bytes),
}

impl Limit {
    /// Whether so much is more than is allowed.
    pub(crate) fn is_below(self, packets: u64, bytes: u64) -> bool {
        match self {
            Limit::Packets(limit) => packets > limit.0,
            Limit::Bytes(limit) => bytes > limit.0,
        }
    }

    /// Whether this packet fits beside what waits.
    pub(crate) fn has_room(self, waiting: Backlog, packet: &Packet) -> bool {
        !self.is_below(waiting.packets + 1, waiting.bytes + u64::from(packet.bytes))
    }
}

impl LinkInfo {
    /// The random stream of this queue.
    pub(crate) fn stream(&self) -> Stream {
        Stream::new(self.seed, &self.path)
    }

    /// Turns a length into packets or bytes on this link; never less than one packet or one byte.
    #[must_use]
    pub fn limit(&self, length: Length) -> Limit {
        let at_least_one = |b: Bytes| Limit::Bytes(b.max(Bytes(1)));
        match length {
            Length::Packets(n) => Limit::Packets(n.max(Packets(1))),
            Length::Bytes(n) => at_least_one(n),
            Length::Time(d) => at_least_one(self.rate.bytes_in(d)),
            Length::Bdp(k) => at_least_one(self.rate.bytes_in(self.base_rtt.scale(k))),
        }
    }
}

/// A parameter that is a time above zero.
pub(crate) fn span(params: &Params, name: &str) -> Result<Dur, ParamError> {
    match params.duration(name) {
        Dur::ZERO => Err(ParamError { name: name.into(), message: "zero given: must be above".into() }),
        span => Ok(span),
    }
}

/// A parameter that is the time from one update to the next: at least a microsecond, the finest that tc takes.
pub(crate) fn period(params: &Params, name: &str) -> Result<Dur, ParamError> {
    let least = Dur::micros(1);
    match params.duration(name) {
        span if span < least => Err(ParamError {
            name: name.into(),
            message: format!("{span} given, at least {least} is needed"),
        }),
        span => Ok(span),
    }
}

/// A parameter that is at least one byte.
pub(crate) fn some_bytes(params: &Params, name: &str) -> Result<u64, ParamError> {
    match params.bytes(name).0 {
        0 => {
            let message = "0 bytes given, at least \"1 bytes\" is needed".into();
            Err(ParamError { name: name.into(), message })
        }
        bytes => Ok(bytes),
    }
}

/// Makes a discipline from parameters that were read.
pub type Build = fn(&Params, &LinkInfo) -> Result<Box<dyn Qdisc>, ParamError>;

/// One row of the registry.
#[derive(Debug)]
pub struct Discipline {
    /// The name in a scenario.
    pub name: &'static str,
    /// What it is, in one line.
    pub title: &'static str,
    /// The year of its source.
    pub year: u16,
    /// What it implements.
    pub source: &'static str,
    /// What happens to a packet, in a few sentences; what the model leaves out.
    pub doc: &'static str,
    /// Its parameters.
    pub params: &'static [Spec],
    /// The names of its private columns in the trace.
    pub columns: &'static [&'static str],
    /// Makes one; an error says which parameter contradicts another.
    pub build: Build,
}
