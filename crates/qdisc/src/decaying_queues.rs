//! The scheduler of CAKE: deficit round robin with lists of new and old queues, and a third one for empty queues whose
//! AQM state still decays [Linux sch_cake.c cake_enqueue, cake_dequeue].
//!
//! ```text
//! arrival    a queue without a set, or a decaying one, becomes sparse: it joins new_flows with a deficit of quantum
//!            bytes
//! dequeue    first one decaying queue is visited, then the first of new_flows, or of old_flows, sends while its
//!            deficit is above zero; without deficit it gets quantum bytes and moves to the end of old_flows
//! sets       a sparse queue without deficit is bulk from then on; an empty one waits in old_flows, and is bulk at its
//!            next packet
//! empty      a visited queue without packets joins the decaying ones, or has no set once its AQM's state is at rest
//! ```

use crate::fifo::Fifo;
use crate::{Backlog, Packet};
use std::collections::VecDeque;

/// The set that a queue belongs to [Linux sch_cake.c CAKE_SET_NONE ... CAKE_SET_DECAYING].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Set {
    #[default]
    None,
    Sparse,
    SparseWait,
    Bulk,
    Decaying,
}

/// One queue, the state of its AQM and of the scheduler.
#[derive(Debug, Default)]
pub(crate) struct Flow<A> {
    pub(crate) queue: Fifo,
    pub(crate) aqm: A,
    deficit: i64,
    set: Set,
}

/// The work of the AQM on the queue whose turn it is.
pub(crate) trait Visit<A> {
    /// Takes the next packet to send out of a queue, and drops those before it that are due; None if it is empty. Each
    /// packet that leaves the queue is taken out of the backlog.
    fn send(&mut self, flow: &mut Flow<A>, backlog: &mut Backlog) -> Option<Packet>;
    /// The queue was found empty: lets the state decay. Returns true if it is at rest.
    fn decay(&mut self, aqm: &mut A) -> bool;
    /// Returns the bytes that a packet costs its queue.
    fn cost(&self, packet: &Packet) -> u64;
}

/// All queues and the lists of the scheduler.
#[derive(Debug)]
pub(crate) struct DecayingQueues<A> {
    flows: Vec<Flow<A>>,
    new_flows: VecDeque<usize>,
    old_flows: VecDeque<usize>,
    decaying_flows: VecDeque<usize>,
    quantum: i64,
    backlog: Backlog,
}

impl<A: Default> DecayingQueues<A> {
    pub(crate) fn new(queues: usize, quantum: u64) -> DecayingQueues<A> {
        DecayingQueues {
            flows: std::iter::repeat_with(Flow::default).take(queues).collect(),
            new_flows: VecDeque::new(),
            old_flows: VecDeque::new(),
            decaying_flows: VecDeque::new(),
            quantum: quantum as i64,
            backlog: Backlog::default(),
        }
    }
}

impl<A> DecayingQueues<A> {
    pub(crate) fn flow(&mut self, index: usize) -> &mut Flow<A> {
        &mut self.flows[index]
    }

    /// True if the queue is in no list.
    pub(crate) fn is_unused(&self, index: usize) -> bool {
        self.flows[index].set == Set::None
    }

    /// Returns the backlog of all queues together.
    pub(crate) fn backlog(&self) -> Backlog {
        self.backlog
    }

    pub(crate) fn enqueue(&mut self, index: usize, packet: Packet) {
        self.backlog.add(&packet);
        let flow = &mut self.flows[index];
        flow.queue.push(packet);
        match flow.set {
            Set::None | Set::Decaying => {
                if flow.set == Set::Decaying {
                    self.decaying_flows.retain(|&other| other != index);
                }
                flow.set = Set::Sparse;
                flow.deficit = self.quantum;
                self.new_flows.push_back(index);
            }
            Set::SparseWait => flow.set = Set::Bulk,
            Set::Sparse | Set::Bulk => {}
        }
    }

    /// Takes the first packet of a queue, to drop it.
    pub(crate) fn dequeue_head(&mut self, index: usize) -> Option<Packet> {
        let packet = self.flows[index].queue.pop()?;
        self.backlog.remove(&packet);
        Some(packet)
    }

    /// Returns the next packet to send.
    pub(crate) fn dequeue(&mut self, visit: &mut impl Visit<A>) -> Option<Packet> {
        let mut first_flow = true;
        while self.backlog.packets > 0 {
            let decaying = first_flow && !self.decaying_flows.is_empty();
            first_flow = false;
            let lists = [&mut self.new_flows, &mut self.old_flows];
            let list = match lists.into_iter().find(|list| !decaying && !list.is_empty()) {
                Some(list) => list,
                None => &mut self.decaying_flows,
            };
            let index = list.pop_front()?;
            let flow = &mut self.flows[index];
            if flow.deficit <= 0 {
                if flow.set == Set::Sparse {
                    flow.set = if flow.queue.is_empty() { Set::SparseWait } else { Set::Bulk };
                }
                flow.deficit += self.quantum;
                self.old_flows.push_back(index);
                continue;
            }
            if let Some(packet) = visit.send(flow, &mut self.backlog) {
                flow.deficit -= visit.cost(&packet) as i64;
                list.push_front(index);
                return Some(packet);
            }
            if visit.decay(&mut flow.aqm) {
                flow.set = Set::None;
            } else {
                flow.set = Set::Decaying;
                self.decaying_flows.push_back(index);
            }
        }
        None
    }

    /// Returns the queue with the most bytes, None if all are empty. Of equal queues the first in the lists is chosen.
    pub(crate) fn fattest(&self) -> Option<usize> {
        let bytes = |index: usize| self.flows[index].queue.bytes();
        let fatter = |best: usize, index: usize| if bytes(index) > bytes(best) { index } else { best };
        self.listed_indices().reduce(fatter).filter(|&index| bytes(index) > 0)
    }

    /// Returns the queues that may have packets.
    pub(crate) fn listed(&self) -> impl Iterator<Item = &Flow<A>> {
        self.listed_indices().map(|index| &self.flows[index])
    }

    /// Appends the values of the columns active, new, old, fattest.
    pub(crate) fn observe(&self, row: &mut Vec<f64>) {
        let active = self.listed().filter(|f| !f.queue.is_empty()).count();
        let fattest = self.listed().map(|f| f.queue.bytes()).max().unwrap_or(0);
        let values = [active, self.new_flows.len(), self.old_flows.len(), fattest as usize];
        row.extend(values.map(|n| n as f64));
    }

    fn listed_indices(&self) -> impl Iterator<Item = usize> {
        self.new_flows.iter().chain(&self.old_flows).copied()
    }
}
