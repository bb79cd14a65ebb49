//! Packets on their path to a link that runs late (see [`crate::network`]), in the order of their arrivals.

use crate::events::{Key, Kind, key, slot_of, time_of};
use dumbbell_qdisc::Packet;
use dumbbell_units::Time;
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

/// A packet on its path, ordered by arrival as an event is.
#[derive(Debug)]
pub(crate) struct Incoming {
    key: Key,
    pub(crate) packet: Packet,
}

impl Incoming {
    /// A packet that arrives over the link with this slot.
    #[inline]
    pub(crate) fn new(at: Time, slot: usize, packet: Packet) -> Incoming {
        Incoming { key: key(at, Kind::Arrival(at.since(packet.enqueued)), slot), packet }
    }

    #[inline]
    pub(crate) fn at(&self) -> Time {
        time_of(self.key)
    }

    /// The slot of the link that it comes from.
    pub(crate) fn slot(&self) -> usize {
        slot_of(self.key)
    }
}

impl PartialEq for Incoming {
    fn eq(&self, other: &Incoming) -> bool {
        self.key == other.key
    }
}

impl Eq for Incoming {}

impl PartialOrd for Incoming {
    fn partial_cmp(&self, other: &Incoming) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Incoming {
    fn cmp(&self, other: &Incoming) -> Ordering {
        self.key.cmp(&other.key)
    }
}

/// See the top of this file. Most packets are known in the order of their arrivals; a heap has the others.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    in_order: VecDeque<Incoming>,
    overtaken: BinaryHeap<Reverse<Incoming>>,
}

impl Inbox {
    #[inline]
    pub(crate) fn push(&mut self, incoming: Incoming) {
        match self.in_order.back() {
            Some(last) if *last > incoming => self.overtaken.push(Reverse(incoming)),
            _ => self.in_order.push_back(incoming),
        }
    }

    #[inline]
    fn heap_is_first(&self) -> bool {
        match (self.in_order.front(), self.overtaken.peek()) {
            (Some(first), Some(Reverse(other))) => other < first,
            (_, other) => other.is_some(),
        }
    }

    /// Time of the first arrival; NEVER without one.
    #[inline]
    pub(crate) fn first(&self) -> Time {
        let first = if self.heap_is_first() {
            self.overtaken.peek().map(|Reverse(incoming)| incoming)
        } else {
            self.in_order.front()
        };
        first.map_or(Time::NEVER, Incoming::at)
    }

    /// Takes the first packet, if it arrives by `until`.
    #[inline]
    pub(crate) fn pop(&mut self, until: Time) -> Option<Incoming> {
        if self.overtaken.is_empty() {
            let arrives = self.in_order.front().is_some_and(|incoming| incoming.at() <= until);
            return if arrives { self.in_order.pop_front() } else { None };
        }
        if self.first() > until {
            return None;
        }
        if self.heap_is_first() {
            return self.overtaken.pop().map(|Reverse(incoming)| incoming);
        }
        self.in_order.pop_front()
    }

    /// The slots of the links that the packets come from.
    pub(crate) fn slots(&self) -> impl Iterator<Item = usize> {
        self.in_order
            .iter()
            .chain(self.overtaken.iter().map(|Reverse(incoming)| incoming))
            .map(Incoming::slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_qdisc::Ecn;
    use dumbbell_units::random::Stream;

    #[test]
    fn packets_come_out_in_the_order_of_their_keys() {
        let mut random = Stream::new(2, "inbox");
        let mut inbox = Inbox::default();
        let mut model: Vec<(u64, u64, u32)> = Vec::new();
        let mut now = 1000;
        for body in 0..5000 {
            let (at, took) = (now + random.next_u64() % 40, random.next_u64() % 5);
            let (class, ecn, enqueued) = (0, Ecn::NOT_ECT, Time(at - took));
            let packet = Packet { bytes: 1, flow: 0, body, class, ecn, enqueued };
            inbox.push(Incoming::new(Time(at), body as usize, packet)); // the one that took longest is first
            model.push((at, 5 - took, body));
            model.sort_unstable();
            if random.uniform() < 0.5 {
                now = model[0].0;
            }
            while let Some(incoming) = inbox.pop(Time(now)) {
                assert_eq!((incoming.at(), incoming.packet.body), (Time(model[0].0), model.remove(0).2));
            }
            assert_eq!(inbox.first(), model.first().map_or(Time::NEVER, |(at, ..)| Time(*at)));
            assert!(inbox.first() > Time(now));
        }
    }
}
