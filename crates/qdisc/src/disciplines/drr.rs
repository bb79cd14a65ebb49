//! DRR: deficit round robin [Shreedhar and Varghese, Efficient Fair Queuing using Deficit Round Robin, SIGCOMM 1995,
//! "SV"].
//!
//! ```text
//! round    the active queues are in a list; the first one gets quantum bytes of deficit and sends packets while the
//!          deficit covers them, then moves to the end of the list and keeps the rest               [SV §3]
//! empty    a queue that becomes empty leaves the list and loses its deficit                        [SV §3]
//! full     the arrival is enqueued, then the last packet of the longest queue is dropped until the limit holds:
//!          buffer stealing [SV §3, after McKenney 1990]. Lengths are in the unit of the limit; among equal queues that
//!          of the arrival loses the packet
//! ```
//! Packets are classified by flow (each direction is one, since `packet.flow` includes it) or by class. Arrivals and
//! departures take constant time while quantum is at least the largest packet [SV §4]; only a drop searches all active
//! queues. Queues of inactive flows are reused, so that no memory is allocated beyond the maximum in use. The paper
//! hashes flows into a fixed number of queues; here each flow has its own.

use crate::discipline::{Discipline, Limit, LinkInfo, positive_bytes};
use crate::fifo::Fifo;
use crate::{Backlog, DropReason, KernelOptions, KernelQdisc, Packet, Qdisc, QdiscContext};
use dumbbell_units::param::{Kind, ParamError, Params, specs};
use std::collections::{HashMap, VecDeque};

pub(crate) const ROW: Discipline = Discipline {
    name: "drr",
    title: "deficit round robin: a queue for each flow or class, equal shares in bytes",
    year: 1995,
    source: "Shreedhar and Varghese 1995",
    doc: "Queues are served in rounds; each may send quantum bytes per round, and the unused rest is kept while packets \
          wait. Beyond the limit the longest queue loses its last packet. Never marks.",
    params: specs! {
        /// a queue for each direction of each flow, or for each class
        by = "flow", Kind::Choice(&["flow", "class"]);
        /// bytes that a queue may send per round; below the largest packet, a packet may take several rounds
        quantum = "1500 bytes", Kind::Bytes;
        /// maximum backlog of all queues together; beyond it the longest queue loses packets
        limit = "1000 packets", Kind::Length;
        /// maximum backlog of one queue; an arrival beyond it is dropped
        queue_limit = "none", Kind::Or("none", &Kind::Length);
    },
    columns: &["active", "longest"],
    kernel: Some(KernelQdisc { kinds: &["drr"], options: KernelOptions::Drr, ..KernelQdisc::EMPTY }),
    random: false,
    build: |params, link| Ok(Box::new(Drr::new(params, link)?)),
};

/// The queue of a flow or class.
#[derive(Debug, Default)]
struct Queue {
    key: u32,
    packets: Fifo,
    deficit: u64,
    /// True once the deficit has grown by the quantum in the current turn.
    granted: bool,
}

/// The DRR discipline.
#[derive(Debug)]
pub(crate) struct Drr {
    by_class: bool,
    quantum: u64,
    limit: Limit,
    queue_limit: Option<Limit>,
    queues: Vec<Queue>,
    /// Index of the queue of each active flow or class. It is only looked up, never iterated: its order is random.
    indices: HashMap<u32, usize>,
    /// Indices of unused queues.
    unused: Vec<usize>,
    /// The active queues in the order of their turns.
    active_list: VecDeque<usize>,
    backlog: Backlog,
}

impl Drr {
    fn new(params: &Params, link: &LinkInfo) -> Result<Drr, ParamError> {
        Ok(Drr {
            by_class: params.choice("by") == "class",
            quantum: positive_bytes(params, "quantum")?,
            limit: link.limit(params.length("limit")),
            queue_limit: params.unless_word("queue_limit", Params::length).map(|l| link.limit(l)),
            queues: Vec::new(),
            indices: HashMap::new(),
            unused: Vec::new(),
            active_list: VecDeque::new(),
            backlog: Backlog::default(),
        })
    }

    /// Returns the index of the queue for this key and adds it to the active list if necessary.
    fn activate(&mut self, key: u32) -> usize {
        if let Some(&index) = self.indices.get(&key) {
            return index;
        }
        let index = self.unused.pop().unwrap_or_else(|| {
            self.queues.push(Queue::default());
            self.queues.len() - 1
        });
        self.queues[index].key = key;
        self.indices.insert(key, index);
        self.active_list.push_back(index);
        index
    }

    /// Removes the first queue, which is empty, from the active list.
    fn deactivate_first(&mut self) {
        if let Some(index) = self.active_list.pop_front() {
            let queue = &mut self.queues[index];
            (queue.deficit, queue.granted) = (0, false);
            self.indices.remove(&queue.key);
            self.unused.push(index);
        }
    }

    fn longest(&self, arrival: usize) -> usize {
        let length = |index: &usize| match self.limit {
            Limit::Packets(_) => self.queues[*index].packets.packets(),
            Limit::Bytes(_) => self.queues[*index].packets.bytes(),
        };
        // The active list has the order of the rounds, so a choice among equal queues is deterministic.
        let longer = |best, index: &usize| if length(index) > length(&best) { *index } else { best };
        self.active_list.iter().fold(arrival, longer)
    }

    /// Drops the last packet of a queue. A queue that becomes empty stays in the active list until its turn.
    fn drop_last(&mut self, index: usize, cx: &mut QdiscContext) {
        let queue = &mut self.queues[index];
        if let Some(packet) = queue.packets.pop_last() {
            if queue.packets.is_empty() {
                queue.deficit = 0;
            }
            self.backlog.remove(&packet);
            cx.drop_packet(packet, DropReason::Full);
        }
    }
}

impl Qdisc for Drr {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        let sent_at_once = self.backlog.packets == 0 && !cx.link_busy; // whatever the limits
        let index = self.activate(if self.by_class { u32::from(packet.class) } else { packet.flow });
        self.backlog.add(&packet);
        let queue = &mut self.queues[index].packets;
        queue.push(packet);
        if sent_at_once {
            return;
        }
        if self.queue_limit.is_some_and(|l| l.is_exceeded_by(queue.backlog())) {
            self.drop_last(index, cx);
        }
        while self.limit.is_exceeded_by(self.backlog + cx.held) {
            self.drop_last(self.longest(index), cx);
        }
    }

    fn dequeue(&mut self, _cx: &mut QdiscContext) -> Option<Packet> {
        loop {
            let queue = &mut self.queues[*self.active_list.front()?];
            let Some(next) = queue.packets.first() else {
                self.deactivate_first();
                continue;
            };
            let size = u64::from(next.bytes);
            if !queue.granted {
                queue.granted = true;
                queue.deficit += self.quantum;
            }
            if queue.deficit < size {
                queue.granted = false;
                self.active_list.rotate_left(1);
                continue;
            }
            let packet = queue.packets.pop()?;
            queue.deficit -= size;
            self.backlog.remove(&packet);
            if queue.packets.is_empty() {
                self.deactivate_first();
            }
            return Some(packet);
        }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn classes(&self) -> Option<u32> {
        // A queue is made for every class that a packet has.
        self.by_class.then_some(u32::from(u16::MAX) + 1)
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let queues = || self.active_list.iter().map(|&index| &self.queues[index].packets);
        row.push(queues().filter(|q| !q.is_empty()).count() as f64);
        row.push(queues().map(Fifo::bytes).max().unwrap_or(0) as f64);
    }
}
