//! Strict priority: a FIFO queue ("band") for each class; the first non-empty band sends [Linux sch_prio.c
//! prio_dequeue].
//!
//! ```text
//! arrival     into the band of its class, where 0 has the highest priority; dropped if it would exceed queue_limit
//!             there
//! limit       if all bands together exceed it, the last packet of the last non-empty band is dropped: a packet is
//!             never dropped in favor of one with lower priority
//! departure   the first packet of the first non-empty band [Linux sch_prio.c prio_dequeue]; a class starves while
//!             those before it fill the link
//! ```
//! The `class` of a flow selects the band, instead of the priority of the packet and the priomap [Linux sch_prio.c
//! prio_classify].

use crate::discipline::{Discipline, Limit, LinkInfo};
use crate::fifo::Fifo;
use crate::{Backlog, DropReason, Packet, Qdisc, QdiscContext};
use dumbbell_units::param::{Kind, Params, specs};

/// Bands with a column of their own.
const NAMED: usize = 3;

pub(crate) const ROW: Discipline = Discipline {
    name: "prio",
    title: "strict priority: a queue for each class, class 0 first",
    year: 1999,
    source: "Linux (tc-prio)",
    doc: "Each packet waits in the queue of its flow's class. The first non-empty queue sends, so a class gets the \
          capacity that the classes before it leave unused, which may be none. Never marks.",
    params: specs! {
        /// number of classes: 0 to bands - 1
        bands = "3", Kind::Int { min: 1, max: 16 };
        /// maximum backlog of all queues together; beyond it the last class loses packets
        limit = "none", Kind::Or("none", &Kind::Length);
        /// maximum backlog of one queue; an arrival beyond it is dropped
        queue_limit = "1000 packets", Kind::Or("none", &Kind::Length);
    },
    columns: &["band0", "band1", "band2", "others"],
    kernel: None,
    random: false,
    build: |params, link| Ok(Box::new(Prio::new(params, link))),
};

/// The strict priority discipline.
#[derive(Debug)]
pub(crate) struct Prio {
    bands: Vec<Fifo>,
    limit: Option<Limit>,
    queue_limit: Option<Limit>,
    backlog: Backlog,
}

impl Prio {
    fn new(params: &Params, link: &LinkInfo) -> Prio {
        let limit = |name| params.unless_word(name, Params::length).map(|l| link.limit(l));
        Prio {
            bands: std::iter::repeat_with(Fifo::default).take(params.int("bands") as usize).collect(),
            limit: limit("limit"),
            queue_limit: limit("queue_limit"),
            backlog: Backlog::default(),
        }
    }
}

impl Qdisc for Prio {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        let sent_at_once = self.backlog.packets == 0 && !cx.link_busy; // whatever the limits
        // A scenario with a class beyond the bands is refused when the network is built.
        let band = usize::from(packet.class).min(self.bands.len() - 1);
        let band = &mut self.bands[band];
        if !sent_at_once && self.queue_limit.is_some_and(|l| !l.admits(band.backlog(), &packet)) {
            cx.drop_packet(packet, DropReason::Full);
            return;
        }
        self.backlog.add(&packet);
        band.push(packet);
        while !sent_at_once && self.limit.is_some_and(|l| l.is_exceeded_by(self.backlog)) {
            let Some(packet) = self.bands.iter_mut().rev().find_map(Fifo::pop_last) else { return };
            self.backlog.remove(&packet);
            cx.drop_packet(packet, DropReason::Full);
        }
    }

    fn dequeue(&mut self, _cx: &mut QdiscContext) -> Option<Packet> {
        let packet = self.bands.iter_mut().find_map(Fifo::pop)?;
        self.backlog.remove(&packet);
        Some(packet)
    }

    fn first(&self) -> Option<&Packet> {
        self.bands.iter().find_map(Fifo::first)
    }

    fn classes(&self) -> Option<u32> {
        Some(self.bands.len() as u32)
    }

    fn can_bypass(&self) -> bool {
        true
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let packets = |band: Option<&Fifo>| band.map_or(0, Fifo::packets) as f64;
        row.extend((0..NAMED).map(|n| packets(self.bands.get(n))));
        row.push(self.bands.iter().skip(NAMED).map(|b| b.packets() as f64).sum());
    }
}
