//! The result of an analysis. The tables of connections are made on request, whole or page by page: for many
//! connections they are larger than the packed records.

use super::connections::Connections;
use super::contents::Content;
use super::dispatch::Dispatcher;
use super::findings::Totals;
use super::records::Records;
use super::warnings::{self, Warning};
use super::{datagrams, flows};
use crate::dissect::Tunnel;
use crate::table::Table;
use crate::udp::Conversation;
use crate::{Damage, PacketLengths, Properties};
use dumbbell_units::{Dur, named};

/// Connections whose records are unpacked at a time.
const PAGE: usize = 4_096;

named! {
    /// A table of the result.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Kind {
        /// One row for each direction of each TCP connection.
        Flows = "flows",
        /// One row for each direction of each UDP conversation.
        Udp = "udp",
        /// One row for each QUIC connection among them.
        Quic = "quic",
        /// One row for each direction and interval.
        Series = "series",
        /// One row for each phase of each direction.
        Phases = "phases",
        /// One row for each long transfer: its probable congestion control.
        Classes = "classify",
        /// One row for each round of those transfers.
        Rounds = "rounds",
        /// One row for each interval, over all frames.
        Total = "total",
        /// One row for each pair of addresses.
        Ip = "ip",
        /// One row for each address.
        Endpoints = "endpoints",
        /// One row for each address with a name in the capture.
        Names = "names",
    }
}

/// Results of an analysis.
pub struct Analysis {
    /// Properties of each file.
    pub properties: Vec<Properties>,
    /// Damage of each damaged file.
    pub damage: Vec<Damage>,
    /// The packet-length table of all files.
    pub lengths: PacketLengths,
    /// Length of the intervals.
    pub interval: Dur,
    /// Time of the first frame, ns since 1970; `t_ns` counts from it.
    pub origin: i64,
    /// Properties of the capture that make figures doubtful.
    pub warnings: Vec<Warning>,
    /// Totals of all connections.
    pub totals: Totals,
    /// Number of frames with each content; their sum is the number of all frames.
    pub contents: Vec<(Content, u64)>,
    /// Number of frames in each tunnel that was decapsulated.
    pub tunnels: Vec<(Tunnel, u64)>,
    records: Records,
    conversations: Vec<Conversation>,
    /// The tables without regard to connections: `total`, `ip`, `endpoints`, `names`.
    whole: [Table; 4],
}

impl Analysis {
    pub(super) fn new(
        properties: Vec<Properties>,
        damage: Vec<Damage>,
        lengths: PacketLengths,
        dispatcher: Dispatcher,
        mut connections: Connections,
    ) -> Self {
        let origin = connections.ticks.origin();
        let (hosts, mut names) = dispatcher
            .hosts
            .as_deref()
            .map_or_else(Default::default, |(hosts, names)| ([hosts.pairs(origin), hosts.endpoints()], names.clone()));
        for c in &dispatcher.udp.all {
            if let Some((server, name)) = c.server_name() {
                names.insert(server, name, "quic");
            }
        }
        let [ip, endpoints] = hosts;
        Self {
            warnings: warnings::warnings(&properties, &dispatcher, &connections),
            properties,
            damage,
            lengths,
            interval: connections.ticks.length(),
            origin: connections.ticks.origin(),
            totals: connections.findings.totals,
            contents: dispatcher.contents.counts(),
            tunnels: dispatcher.contents.entered(),
            whole: [flows::total(&mut connections), ip, endpoints, names.table()],
            records: connections.records,
            conversations: dispatcher.udp.all,
        }
    }

    /// The numbers of the listed TCP connections, in order.
    pub fn numbers(&self) -> Vec<u64> {
        self.records.numbers()
    }

    /// Number of listed UDP conversations; they are numbered from 0.
    pub fn conversations(&self) -> usize {
        self.conversations.len()
    }

    /// Numbers of the TCP connections with the most payload in one direction, the largest first.
    pub fn largest(&self, most: usize) -> Vec<u64> {
        self.records.largest(most)
    }

    /// A table as a whole.
    pub fn table(&self, kind: Kind) -> Table {
        let numbers = match kind {
            Kind::Total | Kind::Ip | Kind::Endpoints | Kind::Names => return self.rows(kind, &[]),
            Kind::Udp => (0..self.conversations.len() as u64).collect(),
            Kind::Quic => self.conversations.iter().filter(|c| c.quic.is_some()).map(|c| c.number).collect(),
            // Only these have rows.
            Kind::Classes | Kind::Rounds => self.records.classified(),
            Kind::Flows | Kind::Series | Kind::Phases => self.records.numbers(),
        };
        let mut table = self.rows(kind, &[]);
        for page in numbers.chunks(PAGE) {
            table.append(self.rows(kind, page));
        }
        table
    }

    /// The rows of these TCP connections (or UDP conversations), by number; unknown ones have none.
    pub fn rows(&self, kind: Kind, numbers: &[u64]) -> Table {
        if matches!(kind, Kind::Udp | Kind::Quic) {
            let of = |n: &u64| self.conversations.get(usize::try_from(*n).ok()?).cloned();
            return self.page_of_udp(kind, &numbers.iter().filter_map(of).collect::<Vec<_>>());
        }
        match kind {
            Kind::Flows => flows::flows(&self.records.records(numbers), self.origin),
            Kind::Series => flows::series(&self.records.courses(numbers), self.interval),
            Kind::Phases => flows::phases(&self.records.courses(numbers), self.origin),
            Kind::Classes => flows::classes(&self.records.classified_courses(numbers)),
            Kind::Rounds => flows::rounds(&self.records.classified_courses(numbers), self.origin),
            Kind::Total | Kind::Udp | Kind::Quic => self.whole[0].clone(),
            Kind::Ip => self.whole[1].clone(),
            Kind::Endpoints => self.whole[2].clone(),
            Kind::Names => self.whole[3].clone(),
        }
    }

    fn page_of_udp(&self, kind: Kind, conversations: &[Conversation]) -> Table {
        if kind == Kind::Udp { datagrams::udp(conversations, self.origin) } else { datagrams::quic(conversations) }
    }
}
