//! DropTail: one first-in first-out queue; an arrival that finds it full is dropped.
//!
//! The limit counts waiting packets (or their bytes); the packet in transmission is outside. With
//! `counting = "ns2"` it counts as one, so a limit of L leaves room for L - 1 waiting packets behind it, as the
//! queue of ns-2 does, which drops when length + 1 >= L.

use crate::discipline::{Discipline, Limit, LinkInfo};
use crate::{Backlog, DropReason, Packet, Qdisc, QdiscContext};
use dumbbell_units::param::{Kind, Params, Spec};
use std::collections::VecDeque;

const COUNTING: Spec = Spec {
    name: "counting",
    kind: Kind::Choice(&["waiting", "ns2"]),
    default: "waiting",
    doc: "\"waiting\": the limit counts waiting packets only (Linux pfifo); \"ns2\": the packet in service counts too",
};

pub(crate) const ROW: Discipline = Discipline {
    name: "droptail",
    title: "one FIFO queue, arrivals dropped when it is full",
    year: 1974,
    source: "RFC 2309 §2 (tail drop)",
    doc: "An arrival that finds no room is dropped. In bytes, a packet that does not fit whole is dropped while a \
          smaller one may still fit. Never marks.",
    params: &[
        Spec {
            name: "limit",
            kind: Kind::Length,
            default: "1000 packets",
            doc: "how much may wait: packets, wire bytes, a time at the link's rate, or bdp (link rate x largest base RTT)",
        },
        COUNTING,
    ],
    columns: &[],
    build: |params, link| Ok(Box::new(DropTail::new(params, link))),
};

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct DropTail {
    limit: Limit,
    counts_service: bool,
    waiting: VecDeque<Packet>,
    bytes: u64,
}

impl DropTail {
    fn new(params: &Params, link: &LinkInfo) -> DropTail {
        DropTail {
            limit: link.limit(params.length("limit")),
            counts_service: params.choice("counting") == "ns2",
            waiting: VecDeque::new(),
            bytes: 0,
        }
    }

    fn has_room(&self, packet: &Packet, link_busy: bool) -> bool {
        if !link_busy && self.waiting.is_empty() {
            return true; // goes straight into service, however small the limit
        }
        match self.limit {
            Limit::Packets(limit) => {
                let in_service = u64::from(self.counts_service && link_busy);
                (self.waiting.len() as u64) + in_service < limit.0
            }
            Limit::Bytes(limit) => self.bytes + u64::from(packet.bytes) <= limit.0,
        }
    }
}

impl Qdisc for DropTail {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        if self.has_room(&packet, cx.link_busy) {
            self.bytes += u64::from(packet.bytes);
            self.waiting.push_back(packet);
        } else {
            cx.drop_packet(packet, DropReason::Full);
        }
    }

    fn dequeue(&mut self, _cx: &mut QdiscContext) -> Option<Packet> {
        let packet = self.waiting.pop_front()?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    fn can_bypass(&self) -> bool {
        true
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.waiting.len() as u64, bytes: self.bytes }
    }
}
