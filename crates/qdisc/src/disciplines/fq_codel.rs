//! FQ-CoDel: a queue for each flow with its own CoDel, served by deficit round robin; flows without a standing queue
//! are served first [RFC 8290; Linux sch_fq_codel.c].
//!
//! The scheduler is `flow_queues.rs`, the AQM algorithm [`crate::aqm::codel`].
//!
//! ```text
//! arrival    into the queue of the flow's hash                                             [RFC 8290 §4.1]
//! full       beyond limit or memory_limit, packets are dropped from the head of the queue with the most bytes: half of
//!            its bytes, at most drop_batch packets. CoDel's count of that queue grows by as many
//!                                                                          [Linux sch_fq_codel.c fq_codel_drop]
//! departure  CoDel of the selected queue decides. It does not drop if at most one full packet is left in all queues
//!            together                                                                      [RFC 8289 §4.4]
//! ```
//! The flow number replaces the 5-tuple: each direction of a flow is a flow of its own, and all connections of a flow
//! share one queue. The hash is perturbed with the seed of the run.

use super::codel::{CE_THRESHOLD, INTERVAL, Settings, TARGET};
use crate::aqm::codel::{Codel, Head, PacketSource};
use crate::discipline::{Discipline, FOLLOWS, Limit, LinkInfo, positive_bytes};
use crate::fifo::Fifo;
use crate::flow_queues::{CurrentFlow, FlowQueues, flow_hash, reciprocal_scale};
use crate::{Backlog, DropReason, Ecn, KernelOptions, KernelQdisc, Packet, Qdisc, QdiscContext, kernel};
use dumbbell_units::param::{Kind, ParamError, Params, Spec, specs};

pub(crate) const FLOWS: Spec = Spec {
    name: "flows",
    kind: Kind::Int { min: 1, max: 65_536 },
    default: "1024",
    doc: "number of queues into which flows are hashed [RFC 8290 §5.2.5]",
};
pub(crate) const QUANTUM: Spec = Spec {
    name: "quantum",
    kind: Kind::Bytes,
    default: "1514 bytes",
    doc: "bytes that a queue may send per round [RFC 8290 §5.2.4]",
};
pub(crate) const MEMORY_LIMIT: Spec = Spec {
    name: "memory_limit",
    kind: Kind::Bytes,
    default: "32 MiB",
    doc: "a second limit, in wire bytes (Linux counts the memory of the packets)",
};

pub(crate) const ROW: Discipline = Discipline {
    name: "fq_codel",
    title: "flow queueing: a queue with CoDel for each flow, flows without a standing queue first",
    year: 2014,
    source: "RFC 8290",
    doc: "Flows are hashed into queues, which are served by deficit round robin; a queue that was empty is served before \
          those with a backlog. CoDel runs on each queue. Beyond the limit, packets are dropped from the head of the \
          largest queue.",
    params: specs! {
        /// maximum backlog of all queues together; beyond it the largest queue loses packets [RFC 8290 §5.2.3]
        limit = "10240 packets", Kind::Length;
        FLOWS;
        TARGET;
        INTERVAL;
        QUANTUM;
        /// ECN-capable packets are marked instead of dropped [RFC 8290 §5.2.6]
        ecn = "true", Kind::Bool;
        CE_THRESHOLD;
        /// packets to which ce_threshold applies: all ECN-capable packets, or only ECT(1)
        ce_threshold_selector = "any", Kind::Choice(&["any", "ect1"]);
        MEMORY_LIMIT;
        /// maximum number of packets dropped at a time when a limit is exceeded
        drop_batch = "64", Kind::Int { min: 1, max: 65_536 };
        FOLLOWS;
    },
    columns: &["active", "new", "old", "fattest", "dropping"],
    kernel: Some(KernelQdisc {
        kinds: &["fq_codel"],
        options: KernelOptions::Attributes(&[
            kernel::micros(1, "target"),                   // TCA_FQ_CODEL_TARGET
            kernel::packets(2, "limit"),                   // TCA_FQ_CODEL_LIMIT
            kernel::micros(3, "interval"),                 // TCA_FQ_CODEL_INTERVAL
            kernel::flag(4, "ecn"),                        // TCA_FQ_CODEL_ECN
            kernel::int(5, "flows"),                       // TCA_FQ_CODEL_FLOWS
            kernel::bytes(6, "quantum"),                   // TCA_FQ_CODEL_QUANTUM
            kernel::int(8, "drop_batch"),                  // TCA_FQ_CODEL_DROP_BATCH_SIZE
            kernel::bytes(9, "memory_limit"),              // TCA_FQ_CODEL_MEMORY_LIMIT
            kernel::micros_unless_word(7, "ce_threshold"), // TCA_FQ_CODEL_CE_THRESHOLD
            // TCA_FQ_CODEL_CE_THRESHOLD_SELECTOR
            kernel::choice(10, "ce_threshold_selector", "ect1", 1, "ce_threshold_selector 0x01/0x03"),
            kernel::choice(11, "ce_threshold_selector", "ect1", 3, ""), // TCA_FQ_CODEL_CE_THRESHOLD_MASK
        ]),
        overlimit: Some(&[8]),       // tc_fq_codel_qd_stats drop_overlimit, after the type
        separates_connections: true, // [Linux sch_fq_codel.c fq_codel_classify]
        ..KernelQdisc::EMPTY
    }),
    random: false,
    build: |params, link| Ok(Box::new(FqCodel::new(params, link)?)),
};

/// The FQ-CoDel discipline.
#[derive(Debug)]
pub(crate) struct FqCodel {
    flows: FlowQueues<Codel>,
    settings: Settings,
    limit: Limit,
    memory_limit: u64,
    drop_batch: u64,
    perturbation: u64,
    maxpacket: u32,
}

impl FqCodel {
    fn new(params: &Params, link: &LinkInfo) -> Result<FqCodel, ParamError> {
        let queues = params.int("flows") as usize;
        let selector = (params.choice("ce_threshold_selector") == "ect1").then_some(Ecn::ECT1);
        Ok(FqCodel {
            flows: FlowQueues::new(queues, positive_bytes(params, "quantum")?),
            settings: Settings::new(params, link)?.with_selector(selector),
            limit: link.limit(params.length("limit")),
            memory_limit: params.bytes("memory_limit").0,
            drop_batch: params.int("drop_batch"),
            perturbation: link.stream().next_u64(),
            maxpacket: 0,
        })
    }

    fn is_over(&self, held: Backlog) -> bool {
        let backlog = self.flows.backlog();
        self.limit.is_exceeded_by(backlog + held) || backlog.bytes > self.memory_limit
    }

    /// Drops packets from the head of the largest queue [Linux sch_fq_codel.c fq_codel_drop].
    fn drop_batch(&mut self, cx: &mut QdiscContext) {
        let Some(fattest) = self.flows.fattest() else { return };
        let keep = self.flows.flow(fattest).queue.bytes().div_ceil(2);
        let mut dropped = 0;
        while dropped < self.drop_batch && (dropped == 0 || self.flows.flow(fattest).queue.bytes() > keep) {
            let Some(packet) = self.flows.dequeue_head(fattest) else { break };
            cx.drop_packet(packet, DropReason::Full);
            dropped += 1;
        }
        self.flows.flow(fattest).aqm.add_to_count(dropped as u32);
    }
}

/// The selected queue as a source of packets for its CoDel.
struct Source<'a> {
    queue: &'a mut Fifo,
    backlog: &'a mut Backlog,
    settings: &'a Settings,
    maxpacket: u32,
    cx: &'a mut QdiscContext,
}

impl PacketSource for Source<'_> {
    type Packet = Packet;

    fn dequeue(&mut self) -> Option<Head<Packet>> {
        let packet = self.queue.pop()?;
        self.backlog.remove(&packet);
        let sojourn = self.cx.now.since(packet.enqueued);
        Some(Head { packet, sojourn, last: self.backlog.bytes <= u64::from(self.maxpacket) })
    }

    fn mark_or_drop(&mut self, packet: Packet) -> Option<Packet> {
        self.settings.mark_or_drop(packet, self.cx)
    }
}

impl Qdisc for FqCodel {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        self.maxpacket = self.maxpacket.max(packet.bytes);
        let sent_at_once = self.flows.backlog().packets == 0 && !cx.link_busy; // whatever the limit
        let index = reciprocal_scale(flow_hash(packet.flow, self.perturbation), self.flows.len());
        self.flows.enqueue(index, packet);
        while !sent_at_once && self.is_over(cx.held) {
            self.drop_batch(cx);
        }
    }

    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet> {
        let FqCodel { flows, settings, maxpacket, .. } = self;
        let (now, maxpacket) = (cx.now, *maxpacket);
        let mut packet = flows.dequeue(|CurrentFlow { flow, backlog }| {
            let source = &mut Source { queue: &mut flow.queue, backlog, settings, maxpacket, cx };
            flow.aqm.dequeue(&settings.codel, now, source)
        })?;
        settings.mark_above_ce_threshold(&mut packet, cx);
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn observe(&self, row: &mut Vec<f64>) {
        self.flows.observe(row);
        row.push(self.flows.listed().filter(|f| f.aqm.dropping()).count() as f64);
    }
}
