//! FQ-CoDel: a queue for each flow, served in turn, those that build no queue first, each under CoDel [RFC 8290].
//!
//! The scheduler is [`crate::flows`], the law [`crate::aqm::codel`].
//!
//! ```text
//! arrival    into the queue that the flow's hash says, whatever waits there                               [§4.1]
//! full       if limit or memory_limit is passed, the queue with the most bytes gives up packets from its head: half of
//!            its bytes, but no more than drop_batch packets; CoDel's count of that queue grows by as many [Linux]
//! departure  the law of the queue whose turn it is decides; the link must not run dry with respect to what waits in
//!            all queues together                                                            [RFC 8289 §4.4]
//! ```
//! The flow's number stands for the 5-tuple, so each direction of a flow is a flow of its own, as it is there; further
//! connections of the same flow share its queue. The hash is salted with the run's seed.

use super::codel::{CE_THRESHOLD, INTERVAL, Settings, TARGET};
use crate::aqm::codel::{Codel as Law, Head, Source};
use crate::discipline::{Discipline, Limit, LinkInfo, some_bytes};
use crate::fifo::Fifo;
use crate::flows::{Empty, Flow, Flows, hash, place, pop};
use crate::{Backlog, DropReason, Ecn, Packet, Qdisc, QdiscContext};
use dumbbell_units::param::{Kind, ParamError, Params, Spec};

pub(crate) const FLOWS: Spec = Spec {
    name: "flows",
    kind: Kind::Int { min: 1, max: 65_536 },
    default: "1024",
    doc: "number of queues that flows are hashed into [RFC 8290 §5.2.5]",
};
pub(crate) const QUANTUM: Spec = Spec {
    name: "quantum",
    kind: Kind::Bytes,
    default: "1514 bytes",
    doc: "credit of a queue in each round [RFC 8290 §5.2.4]",
};
pub(crate) const MEMORY_LIMIT: Spec = Spec {
    name: "memory_limit",
    kind: Kind::Bytes,
    default: "32 MiB",
    doc: "a second limit, in wire bytes (Linux counts the memory that packets take)",
};

pub(crate) const ROW: Discipline = Discipline {
    name: "fq_codel",
    title: "flow queueing: a queue for each flow, each under CoDel, flows without a queue first",
    year: 2014,
    source: "RFC 8290",
    doc: "Flows are hashed into queues, which take turns in bytes; a queue that was empty goes before those that have a \
          backlog. CoDel runs on each. When the limit is passed the largest queue loses packets from its head.",
    params: &[
        Spec {
            name: "limit",
            kind: Kind::Length,
            default: "10240 packets",
            doc: "how much may wait in all queues together; the largest queue pays [RFC 8290 §5.2.3]",
        },
        FLOWS,
        TARGET,
        INTERVAL,
        QUANTUM,
        Spec {
            name: "ecn",
            kind: Kind::Bool,
            default: "true",
            doc: "ECN-capable packets are marked instead of dropped [RFC 8290 §5.2.6]",
        },
        CE_THRESHOLD,
        Spec {
            name: "ce_threshold_selector",
            kind: Kind::Choice(&["any", "ect1"]),
            default: "any",
            doc: "which packets ce_threshold is meant for: all that are ECN-capable, or ECT(1) alone",
        },
        MEMORY_LIMIT,
        Spec {
            name: "drop_batch",
            kind: Kind::Int { min: 1, max: 65_536 },
            default: "64",
            doc: "the most packets that are dropped at a time when a limit is passed",
        },
    ],
    columns: &["active", "new", "old", "fattest", "dropping"],
    build: |params, link| Ok(Box::new(FqCodel::new(params, link)?)),
};

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct FqCodel {
    flows: Flows<Law>,
    settings: Settings,
    limit: Limit,
    memory_limit: u64,
    drop_batch: u64,
    salt: u64,
    full_packet: u32,
}

impl FqCodel {
    fn new(params: &Params, link: &LinkInfo) -> Result<FqCodel, ParamError> {
        let selected = (params.choice("ce_threshold_selector") == "ect1").then_some(Ecn::ECT1);
        Ok(FqCodel {
            flows: Flows::new(params.int("flows") as usize, some_bytes(params, "quantum")?, Empty::Revisit),
            settings: Settings::new(params)?.with_selected(selected),
            limit: link.limit(params.length("limit")),
            memory_limit: params.bytes("memory_limit").0,
            drop_batch: params.int("drop_batch"),
            salt: link.stream().next_u64(),
            full_packet: 0,
        })
    }

    fn is_over(&self) -> bool {
        let Backlog { packets, bytes } = self.flows.backlog();
        self.limit.is_below(packets, bytes) || bytes > self.memory_limit
    }

    /// Drops from the head of the largest queue.
    fn drop_batch(&mut self, cx: &mut QdiscContext) {
        let Some(fattest) = self.flows.fattest() else { return };
        let keep = self.flows.flow(fattest).fifo.bytes().div_ceil(2);
        let mut dropped = 0;
        while dropped < self.drop_batch && (dropped == 0 || self.flows.flow(fattest).fifo.bytes() > keep) {
            let Some(packet) = self.flows.pop(fattest) else { break };
            cx.drop_packet(packet, DropReason::Full);
            dropped += 1;
        }
        self.flows.flow(fattest).state.add(dropped as u32);
    }
}

/// The queue whose turn it is, for the law.
struct Turn<'a> {
    waiting: &'a mut Fifo,
    total: &'a mut Backlog,
    settings: &'a Settings,
    full_packet: u32,
    cx: &'a mut QdiscContext,
}

impl Source for Turn<'_> {
    type Packet = Packet;

    fn take(&mut self) -> Option<Head<Packet>> {
        let packet = pop(self.waiting, self.total)?;
        let sojourn = self.cx.now.since(packet.enqueued);
        Some(Head { packet, sojourn, last: self.total.bytes <= u64::from(self.full_packet) })
    }

    fn tell(&mut self, packet: Packet) -> Option<Packet> {
        self.settings.tell(packet, self.cx)
    }
}

impl Qdisc for FqCodel {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        self.full_packet = self.full_packet.max(packet.bytes);
        let straight_on = self.flows.backlog().packets == 0 && !cx.link_busy; // into service, however small the limit
        self.flows.push(place(hash(packet.flow, self.salt), self.flows.len()), packet);
        while !straight_on && self.is_over() {
            self.drop_batch(cx);
        }
    }

    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet> {
        let FqCodel { flows, settings, full_packet, .. } = self;
        let (now, full_packet) = (cx.now, *full_packet);
        let mut packet = flows.next(|flow, total| {
            let Flow { fifo: waiting, state: law, .. } = flow;
            law.dequeue(&settings.law, now, &mut Turn { waiting, total, settings, full_packet, cx })
        })?;
        settings.mark_late(&mut packet, cx);
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let (new, old) = self.flows.list_lengths();
        let active = self.flows.listed().filter(|f| !f.fifo.is_empty()).count();
        let fattest = self.flows.listed().map(|f| f.fifo.bytes()).max().unwrap_or(0);
        let dropping = self.flows.listed().filter(|f| f.state.dropping()).count();
        row.extend([active, new, old, fattest as usize, dropping].map(|n| n as f64));
    }
}
