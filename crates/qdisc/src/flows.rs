//! Flow queues and their scheduler: deficit round robin with two lists, so that flows which build no queue go first
//! [RFC 8290 §4].
//!
//! ```text
//! arrival   a queue that is in no list joins the end of the new ones with quantum bytes of credit         [§4.1]
//! next      the first queue of the new list, or of the old one if that is empty, sends while its credit is above
//!           zero; then it gets quantum more and goes to the end of the old list                          [§4.2]
//! empty     a new queue goes to the end of the old list first (else it could come back as new before the old ones
//!           have had their turn), an old one leaves                                                      [§4.2]
//! ```

use crate::fifo::Fifo;
use crate::{Backlog, Packet};
use std::collections::VecDeque;

/// A mix of a flow's number and a salt, uniform over 32 bits.
pub(crate) fn hash(flow: u32, salt: u64) -> u32 {
    // Two rounds of multiply and shift: neighbouring numbers must not fall into neighbouring places.
    let mut x = (u64::from(flow) ^ salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (x >> 32) as u32
}

/// One of `places` for a hash.
pub(crate) fn place(hash: u32, places: usize) -> usize {
    ((u64::from(hash) * places as u64) >> 32) as usize
}

/// One queue and the state of its AQM.
#[derive(Debug, Default)]
pub(crate) struct Flow<S> {
    pub(crate) fifo: Fifo,
    pub(crate) state: S,
    credit: i64,
    /// Whether it is in one of the lists.
    listed: bool,
}

impl<S> Flow<S> {
    /// Whether it holds packets or waits for its turn.
    pub(crate) fn is_listed(&self) -> bool {
        self.listed
    }
}

/// What a queue that is found empty does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Empty {
    /// A new one makes a round through the old list.
    Revisit,
    /// It leaves at once.
    Leave,
}

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Flows<S> {
    flows: Vec<Flow<S>>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    quantum: i64,
    empty: Empty,
    total: Backlog,
}

impl<S: Default> Flows<S> {
    pub(crate) fn new(queues: usize, quantum: u64, empty: Empty) -> Flows<S> {
        let flows = std::iter::repeat_with(Flow::default).take(queues).collect();
        let quantum = quantum as i64;
        Flows { flows, new: VecDeque::new(), old: VecDeque::new(), quantum, empty, total: Backlog::default() }
    }
}

impl<S> Flows<S> {
    pub(crate) fn len(&self) -> usize {
        self.flows.len()
    }

    pub(crate) fn flow(&mut self, place: usize) -> &mut Flow<S> {
        &mut self.flows[place]
    }

    /// What waits in all queues together.
    pub(crate) fn backlog(&self) -> Backlog {
        self.total
    }

    pub(crate) fn push(&mut self, place: usize, packet: Packet) {
        self.total.packets += 1;
        self.total.bytes += u64::from(packet.bytes);
        let flow = &mut self.flows[place];
        flow.fifo.push(packet);
        if !flow.listed {
            flow.listed = true;
            flow.credit = self.quantum;
            self.new.push_back(place);
        }
    }

    /// Takes the first packet of a queue.
    pub(crate) fn pop(&mut self, place: usize) -> Option<Packet> {
        pop(&mut self.flows[place].fifo, &mut self.total)
    }

    /// The next packet to send. `pull` takes it from the queue whose turn it is with [`pop`], which it may also use to
    /// take further packets that are dropped.
    pub(crate) fn next(
        &mut self,
        mut pull: impl FnMut(&mut Flow<S>, &mut Backlog) -> Option<Packet>,
    ) -> Option<Packet> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let place = *list.front()?;
            let flow = &mut self.flows[place];
            if flow.credit <= 0 {
                flow.credit += self.quantum;
                list.pop_front();
                self.old.push_back(place);
                continue;
            }
            if let Some(packet) = pull(flow, &mut self.total) {
                flow.credit -= i64::from(packet.bytes);
                return Some(packet);
            }
            list.pop_front();
            if is_new && self.empty == Empty::Revisit {
                self.old.push_back(place);
            } else {
                flow.listed = false;
            }
        }
    }

    /// The queue with the most bytes; of equal ones the first in the lists.
    pub(crate) fn fattest(&self) -> Option<usize> {
        let bytes = |place: usize| self.flows[place].fifo.bytes();
        let fatter = |best: usize, place: usize| if bytes(place) > bytes(best) { place } else { best };
        self.places().reduce(fatter).filter(|&place| bytes(place) > 0)
    }

    /// The queues in the lists.
    pub(crate) fn listed(&self) -> impl Iterator<Item = &Flow<S>> {
        self.places().map(|place| &self.flows[place])
    }

    /// How many queues are in the list of new ones and in that of old ones.
    pub(crate) fn list_lengths(&self) -> (usize, usize) {
        (self.new.len(), self.old.len())
    }

    fn places(&self) -> impl Iterator<Item = usize> {
        self.new.iter().chain(&self.old).copied()
    }
}

/// Takes the first packet of a queue out of it and out of the total.
pub(crate) fn pop(fifo: &mut Fifo, total: &mut Backlog) -> Option<Packet> {
    let packet = fifo.pop()?;
    total.packets -= 1;
    total.bytes -= u64::from(packet.bytes);
    Some(packet)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_spread_evenly() {
        // 64 Ki flows into 1024 places: 64 each on average, sd 8; no place beyond six of them, either direction.
        let mut counts = [0u32; 1024];
        (0..65_536).for_each(|flow| counts[place(hash(flow, 7), 1024)] += 1);
        assert!(counts.iter().all(|c| (16..=112).contains(c)), "{:?}", counts.iter().max());
        // Other salts, other places.
        let same = (0..1024).filter(|&f| place(hash(f, 1), 1024) == place(hash(f, 2), 1024)).count();
        assert!(same < 10, "{same}");
    }
}
