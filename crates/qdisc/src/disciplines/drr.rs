//! DRR: deficit round robin [Shreedhar and Varghese, Efficient Fair Queuing using Deficit Round Robin, SIGCOMM 1995,
//! "SV"].
//!
//! ```text
//! round    the queues with packets wait in a ring; the one at its head gets quantum bytes of credit and sends packets
//!          while its credit covers them, then goes to the back and keeps what is left              [SV §3]
//! empty    a queue that empties leaves the ring and loses its credit                               [SV §3]
//! full     the arrival is put in, then the last packet of the longest queue is dropped until all fits:
//!          buffer stealing [SV §3, after McKenney 1990]; longest by what the limit counts, a tie falls on the arrival
//! ```
//! Queues are told apart by flow (each direction is one, since `packet.flow` holds it) or by class. An arrival and a
//! departure take constant time while quantum is at least the largest packet [SV §4]; only a drop looks at all queues
//! with packets. Queues of flows that have gone are used again, so nothing is allocated once the largest number of
//! flows and packets has been seen. The paper hashes flows into a fixed number of queues; here each has its own.

use crate::discipline::{Discipline, Limit, LinkInfo, some_bytes};
use crate::{Backlog, DropReason, Packet, Qdisc, QdiscContext};
use dumbbell_units::param::{Kind, ParamError, Params, Spec};
use std::collections::{HashMap, VecDeque};

pub(crate) const ROW: Discipline = Discipline {
    name: "drr",
    title: "deficit round robin: a queue for each flow or class, equal shares in bytes",
    year: 1995,
    source: "Shreedhar and Varghese 1995",
    doc: "Queues take turns; a turn is worth quantum bytes, and what is not used is kept while packets wait. When the \
          limit is passed the longest queue loses its last packet. Never marks.",
    params: &[
        Spec {
            name: "by",
            kind: Kind::Choice(&["flow", "class"]),
            default: "flow",
            doc: "what has a queue of its own: each direction of each flow, or each class",
        },
        Spec {
            name: "quantum",
            kind: Kind::Bytes,
            default: "1500 bytes",
            doc: "credit of a queue in each round; at least the largest packet, or a packet may take several rounds",
        },
        Spec {
            name: "limit",
            kind: Kind::Length,
            default: "1000 packets",
            doc: "how much may wait in all queues together; the longest queue pays",
        },
        Spec {
            name: "queue_limit",
            kind: Kind::Or("none", &Kind::Length),
            default: "none",
            doc: "how much may wait in one queue; what arrives at a full queue is dropped",
        },
    ],
    columns: &["active", "longest"],
    build: |params, link| Ok(Box::new(Drr::new(params, link)?)),
};

/// One queue.
#[derive(Debug, Default)]
struct Queue {
    key: u32,
    waiting: VecDeque<Packet>,
    bytes: u64,
    deficit: u64,
    /// Whether it has had its quantum in this turn.
    granted: bool,
}

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Drr {
    by_class: bool,
    quantum: u64,
    limit: Limit,
    queue_limit: Option<Limit>,
    queues: Vec<Queue>,
    /// Where the queue of a flow or class is, for those in the ring. Only looked up, never walked: its order is random.
    places: HashMap<u32, usize>,
    /// Places of queues that nobody uses.
    free: Vec<usize>,
    ring: VecDeque<usize>,
    packets: u64,
    bytes: u64,
}

impl Drr {
    fn new(params: &Params, link: &LinkInfo) -> Result<Drr, ParamError> {
        Ok(Drr {
            by_class: params.choice("by") == "class",
            quantum: some_bytes(params, "quantum")?,
            limit: link.limit(params.length("limit")),
            queue_limit: params.unless_word("queue_limit", Params::length).map(|l| link.limit(l)),
            queues: Vec::new(),
            places: HashMap::new(),
            free: Vec::new(),
            ring: VecDeque::new(),
            packets: 0,
            bytes: 0,
        })
    }

    /// The place of this key's queue, which joins the ring if it isn't in it.
    fn place(&mut self, key: u32) -> usize {
        if let Some(&place) = self.places.get(&key) {
            return place;
        }
        let place = self.free.pop().unwrap_or_else(|| {
            self.queues.push(Queue::default());
            self.queues.len() - 1
        });
        self.queues[place].key = key;
        self.places.insert(key, place);
        self.ring.push_back(place);
        place
    }

    /// Takes the queue at the head of the ring, which is empty, out of it.
    fn retire_head(&mut self) {
        if let Some(place) = self.ring.pop_front() {
            let queue = &mut self.queues[place];
            (queue.deficit, queue.granted) = (0, false);
            self.places.remove(&queue.key);
            self.free.push(place);
        }
    }

    fn longest(&self, arrival: usize) -> usize {
        let length = |place: &usize| match self.limit {
            Limit::Packets(_) => self.queues[*place].waiting.len() as u64,
            Limit::Bytes(_) => self.queues[*place].bytes,
        };
        // The ring's order is that of the rounds, so a tie that leaves the arrival out is decided the same every time.
        self.ring
            .iter()
            .fold(arrival, |best, place| if length(place) > length(&best) { *place } else { best })
    }

    /// Drops the last packet of a queue. If that empties it, it stays in the ring until its turn.
    fn drop_last(&mut self, place: usize, cx: &mut QdiscContext) {
        let queue = &mut self.queues[place];
        if let Some(packet) = queue.waiting.pop_back() {
            queue.bytes -= u64::from(packet.bytes);
            if queue.waiting.is_empty() {
                queue.deficit = 0;
            }
            self.packets -= 1;
            self.bytes -= u64::from(packet.bytes);
            cx.drop_packet(packet, DropReason::Full);
        }
    }
}

impl Qdisc for Drr {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        let straight_on = self.packets == 0 && !cx.link_busy; // goes into service, however small the limits
        let place = self.place(if self.by_class { u32::from(packet.class) } else { packet.flow });
        let queue = &mut self.queues[place];
        queue.bytes += u64::from(packet.bytes);
        self.packets += 1;
        self.bytes += u64::from(packet.bytes);
        queue.waiting.push_back(packet);
        if straight_on {
            return;
        }
        if self.queue_limit.is_some_and(|l| l.is_below(queue.waiting.len() as u64, queue.bytes)) {
            self.drop_last(place, cx);
        }
        while self.limit.is_below(self.packets, self.bytes) {
            self.drop_last(self.longest(place), cx);
        }
    }

    fn dequeue(&mut self, _cx: &mut QdiscContext) -> Option<Packet> {
        loop {
            let queue = &mut self.queues[*self.ring.front()?];
            let Some(next) = queue.waiting.front() else {
                self.retire_head();
                continue;
            };
            let size = u64::from(next.bytes);
            if !queue.granted {
                queue.granted = true;
                queue.deficit += self.quantum;
            }
            if queue.deficit < size {
                queue.granted = false;
                self.ring.rotate_left(1);
                continue;
            }
            let packet = queue.waiting.pop_front()?;
            queue.deficit -= size;
            queue.bytes -= size;
            self.packets -= 1;
            self.bytes -= size;
            if queue.waiting.is_empty() {
                self.retire_head();
            }
            return Some(packet);
        }
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets, bytes: self.bytes }
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let queues = || self.ring.iter().map(|&place| &self.queues[place]);
        row.push(queues().filter(|q| !q.waiting.is_empty()).count() as f64);
        row.push(queues().map(|q| q.bytes).max().unwrap_or(0) as f64);
    }
}
