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

use crate::flow_queues::{self, FlowQueues};
use crate::{Backlog, Packet};
use std::collections::VecDeque;

/// The set that a queue belongs to [Linux sch_cake.c CAKE_SET_NONE ... CAKE_SET_DECAYING].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Set {
    #[default]
    None,
    Sparse,
    SparseWait,
    Bulk,
    Decaying,
}

/// One queue with the set that it belongs to.
pub(crate) type Flow<A> = flow_queues::Flow<A, Set>;

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
    pub(crate) queues: FlowQueues<A, Set>,
    decaying_flows: VecDeque<usize>,
}

impl<A: Default> DecayingQueues<A> {
    pub(crate) fn new(queues: usize, quantum: u64) -> DecayingQueues<A> {
        DecayingQueues { queues: FlowQueues::new(queues, quantum), decaying_flows: VecDeque::new() }
    }
}

impl<A> DecayingQueues<A> {
    /// True if the queue is in no list.
    pub(crate) fn is_unused(&self, index: usize) -> bool {
        self.queues.flows[index].listed == Set::None
    }

    pub(crate) fn enqueue(&mut self, index: usize, packet: Packet) {
        self.queues.backlog.add(&packet);
        let flow = &mut self.queues.flows[index];
        flow.queue.push(packet);
        match flow.listed {
            Set::None | Set::Decaying => {
                if flow.listed == Set::Decaying {
                    self.decaying_flows.retain(|&other| other != index);
                }
                flow.listed = Set::Sparse;
                flow.deficit = self.queues.quantum;
                self.queues.new_flows.push_back(index);
            }
            Set::SparseWait => flow.listed = Set::Bulk,
            Set::Sparse | Set::Bulk => {}
        }
    }

    /// Returns the next packet to send.
    pub(crate) fn dequeue(&mut self, visit: &mut impl Visit<A>) -> Option<Packet> {
        let mut first_flow = true;
        while self.queues.backlog.packets > 0 {
            let decaying = first_flow && !self.decaying_flows.is_empty();
            first_flow = false;
            let lists = [&mut self.queues.new_flows, &mut self.queues.old_flows];
            let list = match lists.into_iter().find(|list| !decaying && !list.is_empty()) {
                Some(list) => list,
                None => &mut self.decaying_flows,
            };
            let index = list.pop_front()?;
            let flow = &mut self.queues.flows[index];
            if flow.deficit <= 0 {
                if flow.listed == Set::Sparse {
                    flow.listed = if flow.queue.is_empty() { Set::SparseWait } else { Set::Bulk };
                }
                flow.deficit += self.queues.quantum;
                self.queues.old_flows.push_back(index);
                continue;
            }
            if let Some(packet) = visit.send(flow, &mut self.queues.backlog) {
                flow.deficit -= visit.cost(&packet) as i64;
                list.push_front(index);
                return Some(packet);
            }
            if visit.decay(&mut flow.aqm) {
                flow.listed = Set::None;
            } else {
                flow.listed = Set::Decaying;
                self.decaying_flows.push_back(index);
            }
        }
        None
    }
}
