//! A row of the registry of queue disciplines, the facts about the link that a discipline is built with, and the
//! parameters that several disciplines share.

use crate::{Backlog, KernelQdisc, Packet, Qdisc};
use dumbbell_units::param::{Kind, ParamError, Params, Spec};
use dumbbell_units::parse::Length;
use dumbbell_units::random::Stream;
use dumbbell_units::{Bytes, Dur, Packets, Rate};

/// The facts about a link that are available when its discipline is built.
#[derive(Clone, Debug)]
pub struct LinkInfo {
    /// The link's rate.
    pub rate: Rate,
    /// The largest base round-trip time of the flows that cross the link (for limits in BDP).
    pub base_rtt: Dur,
    /// The seed of the run.
    pub seed: u64,
    /// The path of this queue within the run. Its random stream is derived from seed and path.
    pub path: String,
    /// True if a flow of the scenario has Linux's TCP: disciplines then follow Linux where it differs from their RFC.
    pub linux: bool,
    /// Bytes of framing, which are a part of the length of each packet.
    pub overhead: u32,
}

/// A queue limit in packets or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A limit in packets.
    Packets(Packets),
    /// A limit in wire bytes.
    Bytes(Bytes),
}

impl Limit {
    /// True if this backlog exceeds the limit.
    pub(crate) fn is_exceeded_by(self, backlog: Backlog) -> bool {
        match self {
            Limit::Packets(limit) => backlog.packets > limit.0,
            Limit::Bytes(limit) => backlog.bytes > limit.0,
        }
    }

    /// True if the packet fits into a queue with this backlog.
    #[must_use]
    pub fn admits(self, backlog: Backlog, packet: &Packet) -> bool {
        !self.is_exceeded_by(backlog + Backlog { packets: 1, bytes: u64::from(packet.bytes) })
    }
}

impl LinkInfo {
    /// A link without framing, in a run with seed 0 and without Linux's TCP.
    #[must_use]
    pub fn new(rate: Rate, base_rtt: Dur) -> LinkInfo {
        LinkInfo { rate, base_rtt, seed: 0, path: String::new(), linux: false, overhead: 0 }
    }

    /// Returns the random stream of this queue.
    #[must_use]
    pub fn stream(&self) -> Stream {
        Stream::new(self.seed, &self.path)
    }

    /// Converts a length to packets or bytes on this link; at least one packet or one byte.
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

/// Returns a duration parameter that must be above zero.
pub(crate) fn positive_duration(params: &Params, name: &str) -> Result<Dur, ParamError> {
    match params.duration(name) {
        Dur::ZERO => Err(ParamError { name: name.into(), message: "0 given, a time above zero is needed".into() }),
        duration => Ok(duration),
    }
}

/// Returns an update interval; at least a microsecond, the finest resolution of tc.
pub(crate) fn update_interval(params: &Params, name: &str) -> Result<Dur, ParamError> {
    let least = Dur::micros(1);
    match params.duration(name) {
        given if given < least => {
            Err(ParamError { name: name.into(), message: format!("{given} given, at least {least} is needed") })
        }
        given => Ok(given),
    }
}

/// Returns a size parameter that must be at least one byte.
pub(crate) fn positive_bytes(params: &Params, name: &str) -> Result<u64, ParamError> {
    match params.bytes(name).0 {
        0 => {
            let message = "0 bytes given, at least \"1 bytes\" is needed".into();
            Err(ParamError { name: name.into(), message })
        }
        bytes => Ok(bytes),
    }
}

/// The source that a discipline follows where RFC and Linux differ.
pub(crate) const FOLLOWS: Spec = Spec {
    name: "follows",
    kind: Kind::Choice(&["auto", "rfc", "linux"]),
    default: "auto",
    doc: "rfc or linux: the source that is followed where they differ; auto: linux if a TCP flow of the scenario has the \
          stack linux or linux-tuned",
};

impl LinkInfo {
    /// Returns true if the parameter [`FOLLOWS`] means Linux on this link.
    pub(crate) fn follows_linux(&self, params: &Params) -> bool {
        match params.choice(FOLLOWS.name) {
            "auto" => self.linux,
            choice => choice == "linux",
        }
    }
}

/// The limit of a discipline with one queue.
pub(crate) const LIMIT: Spec = Spec {
    name: "limit",
    kind: Kind::Length,
    default: "1000 packets",
    doc: "maximum backlog: packets, wire bytes, a time at the link's rate, or bdp (link rate x largest base RTT)",
};

/// Builds a discipline from its parameters.
pub type Build = fn(&Params, &LinkInfo) -> Result<Box<dyn Qdisc>, ParamError>;

/// One row of the registry.
#[derive(Debug)]
pub struct Discipline {
    /// Name in a scenario.
    pub name: &'static str,
    /// Description in one line.
    pub title: &'static str,
    /// Year of the source.
    pub year: u16,
    /// The paper, RFC or Linux version that it implements.
    pub source: &'static str,
    /// The treatment of a packet in a few sentences, and the parts that the model leaves out.
    pub doc: &'static str,
    /// Declarations of the parameters.
    pub params: &'static [Spec],
    /// Names of the private columns in the trace.
    pub columns: &'static [&'static str],
    /// The kernel's discipline; None if the kernel has none, or its back ends do not use it.
    pub kernel: Option<KernelQdisc>,
    /// True if random numbers decide which packets of a single flow are dropped, marked or delayed. A random hash of
    /// flows decides nothing about a single one.
    pub random: bool,
    /// Builds a discipline; the error names a parameter that contradicts another.
    pub build: Build,
}

impl Discipline {
    /// A row without entries, for `..Discipline::EMPTY`. Its `build` refuses.
    pub const EMPTY: Discipline = Discipline {
        name: "",
        title: "",
        year: 0,
        source: "",
        doc: "",
        params: &[],
        columns: &[],
        kernel: None,
        random: false,
        build: |_, _| Err(ParamError { name: "discipline".into(), message: "the row has no build".into() }),
    };
}
