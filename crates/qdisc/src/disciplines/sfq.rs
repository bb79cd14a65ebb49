//! SFQ: stochastic fairness queueing: flows hashed into queues that take turns [McKenney, Stochastic Fairness Queueing,
//! INFOCOM 1990], as Linux has it since 3.3.
//!
//! ```text
//! arrival   into the queue of its hash; a queue that was empty goes to the end of the ring with quantum bytes of credit.
//!           Dropped if its queue holds depth packets or flows queues are in use; with headdrop the first packet of its
//!           own queue makes way for it, where depth is passed
//! full      the queue with the most packets loses its last one (headdrop: its first); a tie falls on the arrival's
//! next      the queue at the head of the ring sends while its credit is above zero; then it gets quantum more and goes
//!           to the end
//! perturb   a new hash; what waits is put in anew, each flow in its order; what finds no room is dropped
//! ```
//! The flow's number stands for the addresses and ports; each direction is a flow of its own. Not a longest-queue
//! search but one over the queues in use is made, and only at a drop.

use crate::discipline::{Discipline, Limit, LinkInfo, some_bytes};
use crate::fifo::Fifo;
use crate::flows::{hash, place};
use crate::ticks::Ticks;
use crate::{Backlog, DropReason, Packet, Qdisc, QdiscContext};
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, ParamError, Params, Spec};
use dumbbell_units::random::Stream;
use std::collections::VecDeque;

pub(crate) const ROW: Discipline = Discipline {
    name: "sfq",
    title: "stochastic fairness queueing: flows hashed into queues that take turns",
    year: 1990,
    source: "McKenney 1990, Linux 3.3",
    doc: "Flows are hashed into queues; queues take turns, each worth quantum bytes. When the limit is passed the longest \
          queue loses its last packet. perturb changes the hash now and then, so that no two flows share a queue for \
          long. Never marks.",
    params: &[
        Spec {
            name: "limit",
            kind: Kind::Length,
            default: "127 packets",
            doc: "how much may wait in all queues together; the longest queue pays",
        },
        Spec {
            name: "perturb",
            kind: Kind::Or("none", &Kind::Duration),
            default: "none",
            doc: "from one change of the hash to the next",
        },
        Spec {
            name: "quantum",
            kind: Kind::Bytes,
            default: "1514 bytes",
            doc: "credit of a queue in each round",
        },
        Spec {
            name: "divisor",
            kind: Kind::Int { min: 1, max: 65_536 },
            default: "1024",
            doc: "number of hash values",
        },
        Spec {
            name: "flows",
            kind: Kind::Int { min: 1, max: 65_408 },
            default: "127",
            doc: "the most queues in use at a time",
        },
        Spec {
            name: "depth",
            kind: Kind::Int { min: 1, max: 1_000_000 },
            default: "127",
            doc: "the most packets in one queue",
        },
        Spec {
            name: "headdrop",
            kind: Kind::Bool,
            default: "false",
            doc: "drops are made at the head of a queue, so that the sender hears of them sooner",
        },
    ],
    columns: &["active", "longest"],
    build: |params, link| Ok(Box::new(Sfq::new(params, link)?)),
};

/// One queue.
#[derive(Debug, Default)]
struct Queue {
    waiting: Fifo,
    credit: i64,
}

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Sfq {
    queues: Vec<Queue>,
    /// The queues with packets, in the order of their turns.
    ring: VecDeque<usize>,
    total: Backlog,
    limit: Limit,
    quantum: i64,
    flows: usize,
    depth: u64,
    headdrop: bool,
    perturb: Option<Ticks>,
    random: Stream,
    salt: u64,
}

impl Sfq {
    fn new(params: &Params, link: &LinkInfo) -> Result<Sfq, ParamError> {
        let mut random = link.stream();
        let perturb = params.unless_word("perturb", Params::duration);
        if perturb == Some(Dur::ZERO) {
            let message = "zero given: must be above; \"none\" leaves the hash as it is".into();
            return Err(ParamError { name: "perturb".into(), message });
        }
        Ok(Sfq {
            queues: std::iter::repeat_with(Queue::default).take(params.int("divisor") as usize).collect(),
            ring: VecDeque::new(),
            total: Backlog::default(),
            limit: link.limit(params.length("limit")),
            quantum: some_bytes(params, "quantum")? as i64,
            flows: params.int("flows") as usize,
            depth: params.int("depth"),
            headdrop: params.bool("headdrop"),
            perturb: perturb.map(Ticks::new),
            salt: random.next_u64(),
            random,
        })
    }

    /// Puts a packet into its queue, which is given; the packet comes back if there is no room for its flow.
    fn push(&mut self, packet: Packet) -> Result<usize, Packet> {
        let place = place(hash(packet.flow, self.salt), self.queues.len());
        let queue = &mut self.queues[place];
        if queue.waiting.is_empty() {
            if self.ring.len() >= self.flows {
                return Err(packet);
            }
            queue.credit = self.quantum;
            self.ring.push_back(place);
        } else if queue.waiting.packets() >= self.depth {
            return Err(packet);
        }
        self.total.packets += 1;
        self.total.bytes += u64::from(packet.bytes);
        queue.waiting.push(packet);
        Ok(place)
    }

    /// Takes the last or the first packet of a queue, which leaves the ring if that empties it.
    fn take(&mut self, place: usize, last: bool) -> Option<Packet> {
        let queue = &mut self.queues[place];
        let packet = if last { queue.waiting.pop_last() } else { queue.waiting.pop() }?;
        self.total.packets -= 1;
        self.total.bytes -= u64::from(packet.bytes);
        if queue.waiting.is_empty() {
            self.ring.retain(|&p| p != place);
        }
        Some(packet)
    }

    /// The queue with the most packets; a tie goes to `arrival`, then to the one whose turn is next.
    fn longest(&self, arrival: usize) -> usize {
        let length = |place: usize| self.queues[place].waiting.packets();
        self.ring.iter().fold(arrival, |best, &place| if length(place) > length(best) { place } else { best })
    }

    /// Changes the hash if it is time.
    fn perturb(&mut self, cx: &mut QdiscContext) {
        if !self.perturb.as_mut().is_some_and(|ticks| ticks.due(cx.now)) {
            return;
        }
        self.salt = self.random.next_u64();
        let mut waiting = Vec::new();
        for place in std::mem::take(&mut self.ring) {
            while let Some(packet) = self.queues[place].waiting.pop() {
                waiting.push(packet);
            }
        }
        self.total = Backlog::default();
        for packet in waiting {
            if let Err(packet) = self.push(packet) {
                cx.drop_packet(packet, DropReason::Full);
            }
        }
    }
}

impl Qdisc for Sfq {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        self.perturb(cx);
        let straight_on = self.total.packets == 0 && !cx.link_busy; // goes into service, however small the limits
        let arrival = match self.push(packet) {
            Ok(place) => place,
            Err(packet) if self.headdrop => {
                let own = place(hash(packet.flow, self.salt), self.queues.len());
                let Some(first) = self.take(own, false) else {
                    return cx.drop_packet(packet, DropReason::Full); // no further queue may be used
                };
                cx.drop_packet(first, DropReason::Full);
                match self.push(packet) {
                    Ok(place) => place,
                    Err(packet) => return cx.drop_packet(packet, DropReason::Full),
                }
            }
            Err(packet) => return cx.drop_packet(packet, DropReason::Full),
        };
        while !straight_on && self.limit.is_below(self.total.packets, self.total.bytes) {
            let Some(packet) = self.take(self.longest(arrival), !self.headdrop) else { return };
            cx.drop_packet(packet, DropReason::Full);
        }
    }

    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet> {
        self.perturb(cx);
        loop {
            let place = *self.ring.front()?;
            let queue = &mut self.queues[place];
            if queue.credit <= 0 {
                queue.credit += self.quantum;
                self.ring.rotate_left(1);
                continue;
            }
            let packet = queue.waiting.pop()?;
            queue.credit -= i64::from(packet.bytes);
            if queue.waiting.is_empty() {
                self.ring.pop_front();
            }
            self.total.packets -= 1;
            self.total.bytes -= u64::from(packet.bytes);
            return Some(packet);
        }
    }

    fn backlog(&self) -> Backlog {
        self.total
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let longest = self.ring.iter().map(|&place| self.queues[place].waiting.packets()).max();
        row.extend([self.ring.len() as f64, longest.unwrap_or(0) as f64]);
    }
}
