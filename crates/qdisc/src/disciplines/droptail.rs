//! DropTail: one first-in first-out queue; an arrival at a full queue is dropped [RFC 2309 §2; Linux sch_fifo.c
//! pfifo_enqueue].
//!
//! The limit counts waiting packets (or their bytes), without the packet in transmission. With `counting = "ns2"` the
//! packet in transmission counts as one, so a limit of L allows L - 1 waiting packets behind it: ns-2 drops when
//! length + 1 >= L [ns-2 drop-tail.cc DropTail::enque].

use crate::discipline::{Discipline, LIMIT, LinkInfo};
use crate::fifo::Fifo;
use crate::{Backlog, DropReason, KernelOptions, KernelQdisc, Packet, PlainFifo, Qdisc, QdiscContext};
use dumbbell_units::param::{Kind, Params, Spec};

const COUNTING: Spec = Spec {
    name: "counting",
    kind: Kind::Choice(&["waiting", "ns2"]),
    default: "waiting",
    doc: "\"waiting\": the limit counts waiting packets only (Linux pfifo); \"ns2\": it includes the packet in transmission",
};

pub(crate) const ROW: Discipline = Discipline {
    name: "droptail",
    title: "one FIFO queue, arrivals at a full queue are dropped",
    year: 1974,
    source: "RFC 2309 §2 (tail drop)",
    doc: "An arrival that does not fit into the queue is dropped. With a limit in bytes, a large packet may be dropped \
          while a smaller one still fits. Never marks.",
    params: &[LIMIT, COUNTING],
    columns: &[],
    kernel: Some(KernelQdisc { kinds: &["pfifo", "bfifo"], options: KernelOptions::Fifo, ..KernelQdisc::EMPTY }),
    random: false,
    build: |params, link| Ok(Box::new(DropTail::new(params, link))),
};

/// The DropTail discipline.
#[derive(Debug)]
pub(crate) struct DropTail {
    rule: PlainFifo,
    queue: Fifo,
}

impl DropTail {
    fn new(params: &Params, link: &LinkInfo) -> DropTail {
        let limit = link.limit(params.length("limit"));
        let counts_service = params.choice("counting") == "ns2";
        DropTail { rule: PlainFifo { limit, counts_service }, queue: Fifo::default() }
    }

    fn admits(&self, packet: &Packet, link_busy: bool) -> bool {
        if !link_busy && self.queue.is_empty() {
            return true; // sent at once, whatever the limit
        }
        let counts_service = self.rule.counts_service && link_busy;
        PlainFifo { counts_service, ..self.rule }.admits(self.queue.backlog(), packet.bytes)
    }
}

impl Qdisc for DropTail {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        if self.admits(&packet, cx.link_busy) {
            self.queue.push(packet);
        } else {
            cx.drop_packet(packet, DropReason::Full);
        }
    }

    fn dequeue(&mut self, _cx: &mut QdiscContext) -> Option<Packet> {
        self.queue.pop()
    }

    fn can_bypass(&self) -> bool {
        true
    }

    fn plain_fifo(&self) -> Option<PlainFifo> {
        Some(self.rule)
    }

    fn first(&self) -> Option<&Packet> {
        self.queue.first()
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }
}
