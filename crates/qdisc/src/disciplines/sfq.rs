//! SFQ: stochastic fairness queueing: flows are hashed into queues that are served in turn [McKenney, Stochastic
//! Fairness Queueing, INFOCOM 1990; Linux sch_sfq.c since 3.3].
//!
//! ```text
//! arrival   into the queue of its hash; a queue that was empty joins the end of the round with an allot of quantum
//!           bytes. Dropped if its queue holds depth packets or if flows queues are in use; with headdrop the first
//!           packet of its own queue is dropped instead, if depth is exceeded               [sfq_enqueue]
//! full      the queue with the most packets loses its last one (headdrop: its first); among equal queues that of the
//!           arrival
//!                                                                                          [sfq_drop]
//! dequeue   the first queue of the round sends while its allot is above zero; then the allot grows by quantum and the
//!           queue moves to the end                                                         [sfq_dequeue]
//! perturb   a new hash; the waiting packets are enqueued again, each flow in its order, and dropped if they do not fit
//!                                                                                          [sfq_rehash]
//! ```
//! The flow number replaces addresses and ports; each direction is a flow of its own. The longest queue is searched
//! among the queues in use, and only at a drop, instead of in lists of queues by length [Linux sch_sfq.c sfq_link].

use crate::discipline::{Discipline, Limit, LinkInfo, positive_bytes};
use crate::fifo::Fifo;
use crate::flow_queues::{flow_hash, reciprocal_scale};
use crate::update_timer::UpdateTimer;
use crate::{Backlog, DropReason, KernelOptions, KernelQdisc, Packet, Qdisc, QdiscContext};
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, ParamError, Params, specs};
use dumbbell_units::random::Stream;
use std::collections::VecDeque;

pub(crate) const ROW: Discipline = Discipline {
    name: "sfq",
    title: "stochastic fairness queueing: flows hashed into queues that are served in turn",
    year: 1990,
    source: "McKenney 1990, Linux 3.3",
    doc: "Flows are hashed into queues; each may send quantum bytes per round. Beyond the limit the longest queue loses its \
          last packet. perturb changes the hash periodically, so that no two flows share a queue for long. Never marks.",
    params: specs! {
        /// maximum backlog of all queues together; beyond it the longest queue loses packets
        limit = "127 packets", Kind::Length;
        /// time between two changes of the hash
        perturb = "none", Kind::Or("none", &Kind::Duration);
        /// bytes that a queue may send per round
        quantum = "1514 bytes", Kind::Bytes;
        /// number of hash values
        divisor = "1024", Kind::Int { min: 1, max: 65_536 };
        /// maximum number of queues in use at a time
        flows = "127", Kind::Int { min: 1, max: 65_408 };
        /// maximum number of packets in one queue
        depth = "127", Kind::Int { min: 1, max: 1_000_000 };
        /// packets are dropped at the head of a queue, so that the sender detects the loss sooner
        headdrop = "false", Kind::Bool;
    },
    columns: &["active", "longest"],
    kernel: Some(KernelQdisc {
        kinds: &["sfq"],
        options: KernelOptions::Sfq,
        separates_connections: true, // [Linux sch_sfq.c sfq_classify]
        ..KernelQdisc::EMPTY
    }),
    random: false,
    build: |params, link| Ok(Box::new(Sfq::new(params, link)?)),
};

/// One queue [Linux sch_sfq.c sfq_slot].
#[derive(Debug, Default)]
struct Slot {
    queue: Fifo,
    allot: i64,
}

/// The SFQ discipline.
#[derive(Debug)]
pub(crate) struct Sfq {
    slots: Vec<Slot>,
    /// The slots with packets, in the order of their turns.
    round: VecDeque<usize>,
    backlog: Backlog,
    limit: Limit,
    quantum: i64,
    flows: usize,
    depth: u64,
    headdrop: bool,
    perturb: Option<UpdateTimer>,
    random: Stream,
    perturbation: u64,
}

impl Sfq {
    fn new(params: &Params, link: &LinkInfo) -> Result<Sfq, ParamError> {
        let mut random = link.stream();
        let perturb = params.unless_word("perturb", Params::duration);
        if perturb == Some(Dur::ZERO) {
            let message = "0 given, a time above zero or \"none\" is needed".into();
            return Err(ParamError { name: "perturb".into(), message });
        }
        Ok(Sfq {
            slots: std::iter::repeat_with(Slot::default).take(params.int("divisor") as usize).collect(),
            round: VecDeque::new(),
            backlog: Backlog::default(),
            limit: link.limit(params.length("limit")),
            quantum: positive_bytes(params, "quantum")? as i64,
            flows: params.int("flows") as usize,
            depth: params.int("depth"),
            headdrop: params.bool("headdrop"),
            perturb: perturb.map(UpdateTimer::new),
            perturbation: random.next_u64(),
            random,
        })
    }

    /// Returns the slot of a flow [Linux sch_sfq.c sfq_hash].
    fn slot_of(&self, flow: u32) -> usize {
        reciprocal_scale(flow_hash(flow, self.perturbation), self.slots.len())
    }

    /// Enqueues a packet and returns its slot, or returns the packet if it does not fit.
    fn push(&mut self, packet: Packet) -> Result<usize, Packet> {
        let index = self.slot_of(packet.flow);
        let slot = &mut self.slots[index];
        if slot.queue.is_empty() {
            if self.round.len() >= self.flows {
                return Err(packet);
            }
            slot.allot = self.quantum;
            self.round.push_back(index);
        } else if slot.queue.packets() >= self.depth {
            return Err(packet);
        }
        self.backlog.add(&packet);
        slot.queue.push(packet);
        Ok(index)
    }

    /// Takes the last or the first packet of a slot, which leaves the round if it is then empty.
    fn take(&mut self, index: usize, last: bool) -> Option<Packet> {
        let slot = &mut self.slots[index];
        let packet = if last { slot.queue.pop_last() } else { slot.queue.pop() }?;
        self.backlog.remove(&packet);
        if slot.queue.is_empty() {
            self.round.retain(|&i| i != index);
        }
        Some(packet)
    }

    /// Returns the slot with the most packets; among equal ones that of the arrival, then the next in the round.
    fn longest(&self, arrival: usize) -> usize {
        let length = |index: usize| self.slots[index].queue.packets();
        let longer = |best, &index: &usize| if length(index) > length(best) { index } else { best };
        self.round.iter().fold(arrival, longer)
    }

    /// Changes the hash if this is due, and enqueues all packets again [Linux sch_sfq.c sfq_rehash].
    fn perturb(&mut self, cx: &mut QdiscContext) {
        if !self.perturb.as_mut().is_some_and(|timer| timer.due(cx.now)) {
            return;
        }
        self.perturbation = self.random.next_u64();
        let mut packets = Vec::new();
        for index in std::mem::take(&mut self.round) {
            while let Some(packet) = self.slots[index].queue.pop() {
                packets.push(packet);
            }
        }
        self.backlog = Backlog::default();
        for packet in packets {
            if let Err(packet) = self.push(packet) {
                cx.drop_packet(packet, DropReason::Full);
            }
        }
    }
}

impl Qdisc for Sfq {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        self.perturb(cx);
        let sent_at_once = self.backlog.packets == 0 && !cx.link_busy; // whatever the limits
        let arrival = match self.push(packet) {
            Ok(index) => index,
            Err(packet) if self.headdrop => {
                let own = self.slot_of(packet.flow);
                let Some(first) = self.take(own, false) else {
                    return cx.drop_packet(packet, DropReason::Full); // all queues are in use
                };
                cx.drop_packet(first, DropReason::Full);
                match self.push(packet) {
                    Ok(index) => index,
                    Err(packet) => return cx.drop_packet(packet, DropReason::Full),
                }
            }
            Err(packet) => return cx.drop_packet(packet, DropReason::Full),
        };
        while !sent_at_once && self.limit.is_exceeded_by(self.backlog + cx.held) {
            let Some(packet) = self.take(self.longest(arrival), !self.headdrop) else { return };
            cx.drop_packet(packet, DropReason::Full);
        }
    }

    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet> {
        self.perturb(cx);
        loop {
            let slot = &mut self.slots[*self.round.front()?];
            if slot.allot <= 0 {
                slot.allot += self.quantum;
                self.round.rotate_left(1);
                continue;
            }
            let packet = slot.queue.pop()?;
            slot.allot -= i64::from(packet.bytes);
            if slot.queue.is_empty() {
                self.round.pop_front();
            }
            self.backlog.remove(&packet);
            return Some(packet);
        }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let longest = self.round.iter().map(|&index| self.slots[index].queue.packets()).max();
        row.extend([self.round.len() as f64, longest.unwrap_or(0) as f64]);
    }
}
