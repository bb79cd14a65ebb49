//! Packets on their path to a link that runs late (see [`crate::network`]), in the order of their arrivals.

use crate::events::LONGEST;
use crate::ring::Ring;
use dumbbell_qdisc::Packet;
use dumbbell_units::Time;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A packet on its path, ordered by arrival as an event is.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) at: Time,
    pub(crate) packet: Packet,
    /// The link that it comes from.
    pub(crate) link: u32,
}

impl Incoming {
    /// The place among the events of its arrival's instant, see [`crate::events`].
    fn place(&self) -> (u64, u32) {
        let took = self.at.since(self.packet.enqueued);
        (LONGEST - took.0.min(LONGEST), self.link)
    }
}

impl PartialEq for Incoming {
    fn eq(&self, other: &Incoming) -> bool {
        self.cmp(other) == Ordering::Equal
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
        self.at.cmp(&other.at).then_with(|| self.place().cmp(&other.place()))
    }
}

/// See the top of this file. Most packets are known in the order of their arrivals; a heap has the others.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    /// The last arrival that was added to `in_order`.
    last: Time,
    in_order: Ring<Incoming>,
    overtaken: BinaryHeap<Reverse<Incoming>>,
}

impl Inbox {
    #[inline]
    pub(crate) fn push(&mut self, incoming: Incoming) {
        if incoming.at > self.last {
            self.last = incoming.at;
            self.in_order.push(incoming);
        } else {
            self.insert(incoming);
        }
    }

    /// Adds a packet that doesn't arrive after all others.
    #[inline(never)]
    fn insert(&mut self, incoming: Incoming) {
        match self.in_order.back() {
            Some(last) if *last > incoming => self.overtaken.push(Reverse(incoming)),
            _ => {
                self.last = incoming.at;
                self.in_order.push(incoming);
            }
        }
    }

    #[inline]
    fn heap_is_first(&self) -> bool {
        match (self.in_order.front(), self.first_overtaken()) {
            (Some(first), Some(other)) => other < first,
            (_, other) => other.is_some(),
        }
    }

    #[inline]
    fn first_overtaken(&self) -> Option<&Incoming> {
        self.overtaken.peek().map(|Reverse(incoming)| incoming)
    }

    /// Time of the first arrival; NEVER without one.
    #[inline]
    pub(crate) fn first(&self) -> Time {
        let first = if self.heap_is_first() { self.first_overtaken() } else { self.in_order.front() };
        first.map_or(Time::NEVER, |incoming| incoming.at)
    }

    /// Takes the first packet, if it arrives by `until`.
    #[inline]
    pub(crate) fn pop(&mut self, until: Time) -> Option<Incoming> {
        if self.overtaken.is_empty() {
            return self.in_order.pop_if(|incoming| incoming.at <= until);
        }
        if self.first() > until {
            return None;
        }
        if self.heap_is_first() {
            return self.overtaken.pop().map(|Reverse(incoming)| incoming);
        }
        self.in_order.pop_if(|_| true)
    }

    /// Frees the memory, if there is no packet.
    pub(crate) fn free_buffers(&mut self) {
        if self.first() == Time::NEVER {
            (self.in_order, self.overtaken) = (Ring::default(), BinaryHeap::new());
        }
    }

    /// The links that the packets come from.
    pub(crate) fn links(&self) -> impl Iterator<Item = u32> {
        let overtaken = self.overtaken.iter().map(|Reverse(incoming)| incoming);
        self.in_order.iter().chain(overtaken).map(|incoming| incoming.link)
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
            inbox.push(Incoming { at: Time(at), packet, link: body }); // the one that took longest is first
            model.push((at, 5 - took, body));
            model.sort_unstable();
            if random.uniform() < 0.5 {
                now = model[0].0;
            }
            while let Some(incoming) = inbox.pop(Time(now)) {
                assert_eq!((incoming.at, incoming.packet.body), (Time(model[0].0), model.remove(0).2));
            }
            assert_eq!(inbox.first(), model.first().map_or(Time::NEVER, |(at, ..)| Time(*at)));
            assert!(inbox.first() > Time(now));
        }
    }
}
