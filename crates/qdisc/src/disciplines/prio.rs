//! Strict priority: a FIFO queue for each class, of which the first that has packets sends [Linux's prio].
//!
//! ```text
//! arrival     into the queue of its class, 0 going first; dropped if queue_limit would be passed there
//! limit       if all queues together would pass it, the last packet of the last class that has any is dropped: what goes
//!             first is never lost to what goes later
//! departure   the first packet of the first class that has any: a class starves while those before it fill the link
//! ```
//! A flow's `class` says its queue; Linux derives it from a packet's type of service by its priomap.

use crate::discipline::{Discipline, Limit, LinkInfo};
use crate::fifo::Fifo;
use crate::{Backlog, DropReason, Packet, Qdisc, QdiscContext};
use dumbbell_units::param::{Kind, Params, Spec};

/// Queues that have a column of their own.
const NAMED: usize = 3;

pub(crate) const ROW: Discipline = Discipline {
    name: "prio",
    title: "strict priority: a queue for each class, class 0 first",
    year: 1999,
    source: "Linux (tc-prio)",
    doc: "Each packet waits in the queue of its flow's class. The first queue with packets sends, so a class gets what \
          those before it leave, which may be nothing. Never marks.",
    params: &[
        Spec {
            name: "bands",
            kind: Kind::Int { min: 1, max: 16 },
            default: "3",
            doc: "number of classes: 0 to bands - 1",
        },
        Spec {
            name: "limit",
            kind: Kind::Or("none", &Kind::Length),
            default: "none",
            doc: "how much may wait in all queues together; the last class pays",
        },
        Spec {
            name: "queue_limit",
            kind: Kind::Or("none", &Kind::Length),
            default: "1000 packets",
            doc: "how much may wait in one queue; what arrives at a full queue is dropped",
        },
    ],
    columns: &["band0", "band1", "band2", "others"],
    build: |params, link| Ok(Box::new(Prio::new(params, link))),
};

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Prio {
    bands: Vec<Fifo>,
    limit: Option<Limit>,
    queue_limit: Option<Limit>,
    total: Backlog,
}

impl Prio {
    fn new(params: &Params, link: &LinkInfo) -> Prio {
        let limit = |name| params.unless_word(name, Params::length).map(|l| link.limit(l));
        Prio {
            bands: std::iter::repeat_with(Fifo::default).take(params.int("bands") as usize).collect(),
            limit: limit("limit"),
            queue_limit: limit("queue_limit"),
            total: Backlog::default(),
        }
    }

    fn leaves(&mut self, packet: &Packet) {
        self.total.packets -= 1;
        self.total.bytes -= u64::from(packet.bytes);
    }
}

impl Qdisc for Prio {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        let straight_on = self.total.packets == 0 && !cx.link_busy; // goes into service, however small the limits
        // Whoever builds the network refuses flows of classes that there aren't.
        let band = usize::from(packet.class).min(self.bands.len() - 1);
        let band = &mut self.bands[band];
        if !straight_on && self.queue_limit.is_some_and(|l| !l.has_room(band.backlog(), &packet)) {
            cx.drop_packet(packet, DropReason::Full);
            return;
        }
        self.total.packets += 1;
        self.total.bytes += u64::from(packet.bytes);
        band.push(packet);
        while !straight_on && self.limit.is_some_and(|l| l.is_below(self.total.packets, self.total.bytes)) {
            let Some(packet) = self.bands.iter_mut().rev().find_map(Fifo::pop_last) else { return };
            self.leaves(&packet);
            cx.drop_packet(packet, DropReason::Full);
        }
    }

    fn dequeue(&mut self, _cx: &mut QdiscContext) -> Option<Packet> {
        let packet = self.bands.iter_mut().find_map(Fifo::pop)?;
        self.leaves(&packet);
        Some(packet)
    }

    fn classes(&self) -> Option<u16> {
        Some(self.bands.len() as u16)
    }

    fn can_bypass(&self) -> bool {
        true
    }

    fn backlog(&self) -> Backlog {
        self.total
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let packets = |band: Option<&Fifo>| band.map_or(0, Fifo::packets) as f64;
        row.extend((0..NAMED).map(|n| packets(self.bands.get(n))));
        row.push(self.bands.iter().skip(NAMED).map(|b| b.packets() as f64).sum());
    }
}
