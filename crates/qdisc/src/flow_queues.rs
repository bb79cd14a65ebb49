//! Flow queues and their scheduler: deficit round robin with two lists, so that flows which build no queue are served
//! first [RFC 8290 §4; Linux sch_fq_codel.c].
//!
//! ```text
//! enqueue    a queue that is in no list is appended to new_flows with a deficit of quantum bytes          [§4.1]
//! dequeue    the first queue of new_flows, or of old_flows if new_flows is empty, sends while its deficit is above
//!            zero; then its deficit grows by quantum and it moves to the end of old_flows                 [§4.2]
//! empty      a queue of new_flows moves to the end of old_flows (otherwise a flow could return to new_flows before the
//!            old ones had their turn); a queue of old_flows leaves the lists                              [§4.2]
//! ```
//! FQ-CoDel and FQ-PIE use it, each with its own AQM state per queue.

use crate::fifo::Fifo;
use crate::{Backlog, Packet};
use std::collections::VecDeque;

/// Returns a hash of a flow number, salted ("perturbed"), uniform over 32 bits.
pub(crate) fn flow_hash(flow: u32, perturbation: u64) -> u32 {
    // Two rounds of multiply and shift, so that consecutive flow numbers have unrelated hashes.
    let mut x = (u64::from(flow) ^ perturbation).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (x >> 32) as u32
}

/// Scales a hash to an index below `len` [Linux sch_fq_codel.c fq_codel_hash].
pub(crate) fn reciprocal_scale(hash: u32, len: usize) -> usize {
    ((u64::from(hash) * len as u64) >> 32) as usize
}

/// One queue, the state of its AQM and of the scheduler.
#[derive(Debug, Default)]
pub(crate) struct Flow<A, S = bool> {
    pub(crate) queue: Fifo,
    pub(crate) aqm: A,
    pub(crate) deficit: i64,
    /// True while the queue is in one of the lists; in CAKE its set.
    pub(crate) listed: S,
}

/// The queue that the scheduler has selected, for its AQM during a dequeue.
pub(crate) struct CurrentFlow<'a, A> {
    pub(crate) flow: &'a mut Flow<A>,
    /// Backlog of all queues together.
    pub(crate) backlog: &'a mut Backlog,
}

impl<A> CurrentFlow<'_, A> {
    /// Takes the first packet out of the queue.
    pub(crate) fn dequeue_head(&mut self) -> Option<Packet> {
        let packet = self.flow.queue.pop()?;
        self.backlog.remove(&packet);
        Some(packet)
    }
}

/// All queues and the two lists of the scheduler.
#[derive(Debug)]
pub(crate) struct FlowQueues<A, S = bool> {
    pub(crate) flows: Vec<Flow<A, S>>,
    pub(crate) new_flows: VecDeque<usize>,
    pub(crate) old_flows: VecDeque<usize>,
    pub(crate) quantum: i64,
    pub(crate) backlog: Backlog,
}

impl<A: Default, S: Default> FlowQueues<A, S> {
    pub(crate) fn new(queues: usize, quantum: u64) -> FlowQueues<A, S> {
        FlowQueues {
            flows: std::iter::repeat_with(Flow::default).take(queues).collect(),
            new_flows: VecDeque::new(),
            old_flows: VecDeque::new(),
            quantum: quantum as i64,
            backlog: Backlog::default(),
        }
    }
}

impl<A, S> FlowQueues<A, S> {
    pub(crate) fn len(&self) -> usize {
        self.flows.len()
    }

    pub(crate) fn flow(&mut self, index: usize) -> &mut Flow<A, S> {
        &mut self.flows[index]
    }

    /// Returns the backlog of all queues together.
    pub(crate) fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Takes the first packet of a queue, to drop it.
    pub(crate) fn dequeue_head(&mut self, index: usize) -> Option<Packet> {
        let packet = self.flows[index].queue.pop()?;
        self.backlog.remove(&packet);
        Some(packet)
    }

    /// Returns the queue with the most bytes, None if all are empty. Of equal queues the first in the lists is chosen.
    pub(crate) fn fattest(&self) -> Option<usize> {
        let bytes = |index: usize| self.flows[index].queue.bytes();
        let fatter = |best: usize, index: usize| if bytes(index) > bytes(best) { index } else { best };
        self.listed_indices().reduce(fatter).filter(|&index| bytes(index) > 0)
    }

    /// Returns the queues that are in the lists.
    pub(crate) fn listed(&self) -> impl Iterator<Item = &Flow<A, S>> {
        self.listed_indices().map(|index| &self.flows[index])
    }

    /// Appends the values of the columns that all disciplines with flow queues share: active, new, old, fattest.
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

impl<A> FlowQueues<A> {
    pub(crate) fn enqueue(&mut self, index: usize, packet: Packet) {
        self.backlog.add(&packet);
        let flow = &mut self.flows[index];
        flow.queue.push(packet);
        if !flow.listed {
            flow.listed = true;
            flow.deficit = self.quantum;
            self.new_flows.push_back(index);
        }
    }

    /// Returns the next packet to send. `aqm_dequeue` takes it from the queue whose turn it is; it may also take
    /// further packets, which it drops.
    pub(crate) fn dequeue(
        &mut self,
        mut aqm_dequeue: impl FnMut(CurrentFlow<'_, A>) -> Option<Packet>,
    ) -> Option<Packet> {
        loop {
            let is_new = !self.new_flows.is_empty();
            let list = if is_new { &mut self.new_flows } else { &mut self.old_flows };
            let index = *list.front()?;
            let flow = &mut self.flows[index];
            if flow.deficit <= 0 {
                flow.deficit += self.quantum;
                list.pop_front();
                self.old_flows.push_back(index);
                continue;
            }
            if let Some(packet) = aqm_dequeue(CurrentFlow { flow, backlog: &mut self.backlog }) {
                self.flows[index].deficit -= i64::from(packet.bytes);
                return Some(packet);
            }
            list.pop_front();
            if is_new {
                self.old_flows.push_back(index);
            } else {
                self.flows[index].listed = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_uniform() {
        // 64 Ki flows into 1024 queues: 64 each on average, standard deviation 8; no queue deviates by more than six.
        let mut counts = [0u32; 1024];
        (0..65_536).for_each(|flow| counts[reciprocal_scale(flow_hash(flow, 7), 1024)] += 1);
        assert!(counts.iter().all(|c| (16..=112).contains(c)), "{:?}", counts.iter().max());
        // Another perturbation gives other queues.
        let index = |flow, perturbation| reciprocal_scale(flow_hash(flow, perturbation), 1024);
        let same = (0..1024).filter(|&f| index(f, 1) == index(f, 2)).count();
        assert!(same < 10, "{same}");
    }
}
