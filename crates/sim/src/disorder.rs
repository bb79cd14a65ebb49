//! A wire that packets may leave in another order than they came: who is late, by how much, and who waits for others to
//! pass.
//!
//! A packet is reordered if a packet that was sent after it has arrived before it; its extent is the number of packets
//! that have arrived since the first of those, itself included [RFC 4737]. Copies count as nothing here.

use dumbbell_qdisc::Packet;
use dumbbell_units::Time;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// See the top of this file.
#[derive(Debug, Default)]
pub(crate) struct Disorder {
    sent: u64,
    arrived: u64,
    /// The place in the order of sending of each packet on the wire, by its handle; and the places alone.
    places: BTreeMap<u32, u64>,
    under_way: BTreeSet<u64>,
    /// Arrivals that were later in the order of sending than all before: place, and number of the arrival. Only those
    /// that a packet under way may still refer to.
    records: VecDeque<(u64, u64)>,
    held: Vec<Held>,
    /// Copies of packets that were just sent, with their arrival; they need contents of their own.
    pub(crate) copies: Vec<(Time, Packet)>,
}

/// A packet that waits until others have passed it.
#[derive(Debug)]
struct Held {
    body: u32,
    /// How many have still to pass.
    missing: u64,
    /// When the last of those that have passed arrives; its own regular arrival at least.
    at: Time,
}

impl Disorder {
    /// A packet is sent.
    pub(crate) fn sends(&mut self, body: u32) {
        self.sent += 1;
        self.places.insert(body, self.sent);
        self.under_way.insert(self.sent);
    }

    /// A packet waits until so many have passed it; it would have arrived at `regular`.
    pub(crate) fn holds(&mut self, body: u32, extent: u64, regular: Time) {
        self.held.push(Held { body, missing: extent, at: regular });
    }

    /// A packet that arrives at `at` passes those that are held. Gives who is let go, with the time.
    pub(crate) fn passes(&mut self, at: Time) -> Vec<(u32, Time)> {
        let mut free = Vec::new();
        self.held.retain_mut(|h| {
            h.missing -= 1;
            h.at = h.at.max(at);
            if h.missing == 0 {
                free.push((h.body, h.at));
            }
            h.missing > 0
        });
        free
    }

    /// A packet arrives. Gives its extent if it is reordered.
    pub(crate) fn arrives(&mut self, body: u32) -> Option<u64> {
        let place = self.places.remove(&body)?;
        self.under_way.remove(&place);
        self.held.retain(|h| h.body != body);
        self.arrived += 1;
        let later = self.records.partition_point(|(p, _)| *p < place);
        let extent = self.records.get(later).map(|(_, number)| self.arrived - number);
        if extent.is_none() {
            self.records.push_back((place, self.arrived));
        }
        let oldest = self.under_way.first().copied().unwrap_or(u64::MAX);
        while self.records.front().is_some_and(|(p, _)| *p < oldest) {
            self.records.pop_front();
        }
        extent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The extents of packets 1, 2, .. that arrive in this order; 0: in order.
    fn extents(order: &[u32]) -> Vec<u64> {
        let mut d = Disorder::default();
        (1..=order.len() as u32).for_each(|n| d.sends(n));
        order.iter().map(|n| d.arrives(*n).unwrap_or(0)).collect()
    }

    #[test]
    fn extents_worked_by_hand() {
        assert_eq!(extents(&[1, 2, 3]), [0, 0, 0]);
        // 1 comes fourth; the first that was sent after it came first: 4 - 1 = 3.
        assert_eq!(extents(&[2, 3, 4, 1]), [0, 0, 0, 3]);
        // 2 comes fifth, 3 came first: 4. 4 comes third, 5 came second: 1. 1 comes fourth, 3 came first: 3.
        assert_eq!(extents(&[3, 5, 4, 1, 2]), [0, 0, 1, 3, 4]);
        assert_eq!(extents(&[4, 3, 2, 1]), [0, 1, 2, 3]);
    }

    #[test]
    fn agrees_with_the_definition_on_random_orders() {
        let mut random = dumbbell_units::random::Stream::new(5, "disorder");
        let mut waiting: Vec<u32> = Vec::new();
        let mut arrived: Vec<u32> = Vec::new();
        let mut d = Disorder::default();
        for n in 1..=3000 {
            d.sends(n);
            waiting.push(n);
            while waiting.len() > 20 || (!waiting.is_empty() && random.uniform() < 0.5) {
                let i = (random.uniform().powi(4) * waiting.len() as f64) as usize;
                let next = waiting.remove(i);
                let first_later = arrived.iter().position(|a| *a > next);
                let expected = first_later.map(|j| (arrived.len() - j) as u64);
                assert_eq!(d.arrives(next), expected);
                arrived.push(next);
            }
            assert!(d.records.len() < 100, "what is remembered stays small");
        }
    }

    #[test]
    fn a_held_packet_is_let_go_by_the_last_that_passes() {
        let mut d = Disorder::default();
        d.holds(7, 2, Time(10));
        assert_eq!(d.passes(Time(12)), []);
        d.holds(8, 1, Time(13));
        assert_eq!(d.passes(Time(11)), [(7, Time(12)), (8, Time(13))]);
        assert_eq!(d.passes(Time(20)), []);
    }
}
