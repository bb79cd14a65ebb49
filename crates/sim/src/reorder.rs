//! Reordering on a wire: measures the extent of each reordered packet, and holds packets until others have overtaken
//! them.
//!
//! A packet is reordered if a packet that was sent after it arrived before it. Its reordering extent is the number of
//! packets that have arrived since the first of those, itself included [RFC 4737 §4.2]. Duplicates do not count.

use dumbbell_qdisc::Packet;
use dumbbell_units::Time;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// See the top of this file.
#[derive(Debug, Default)]
pub(crate) struct ReorderTracker {
    sent: u64,
    arrived: u64,
    /// Position in the sending order of each packet on the wire, by its handle; and the positions alone.
    places: BTreeMap<u32, u64>,
    on_wire: BTreeSet<u64>,
    /// Arrivals with a later sending position than every arrival before: position and arrival number. Only those that
    /// a packet on the wire can still refer to.
    records: VecDeque<(u64, u64)>,
    held: Vec<Held>,
    /// Duplicates of packets just sent, with their arrival times. Each needs its own slot in the packet pool.
    pub(crate) copies: Vec<(Time, Packet)>,
}

/// A packet that is held until others have overtaken it.
#[derive(Debug)]
struct Held {
    body: u32,
    /// Packets that have yet to overtake it.
    missing: u64,
    /// Arrival time of the last packet that overtook it, at least its own regular arrival.
    at: Time,
}

impl ReorderTracker {
    /// Registers a packet that is sent.
    pub(crate) fn on_sent(&mut self, body: u32) {
        self.sent += 1;
        self.places.insert(body, self.sent);
        self.on_wire.insert(self.sent);
    }

    /// Holds a packet until `extent` packets have overtaken it; `regular`: its arrival without reordering.
    pub(crate) fn hold(&mut self, body: u32, extent: u64, regular: Time) {
        self.held.push(Held { body, missing: extent, at: regular });
    }

    /// A packet that arrives at `at` overtakes the held packets. Returns the released ones with their arrival times.
    pub(crate) fn on_passed(&mut self, at: Time) -> Vec<(u32, Time)> {
        let mut released = Vec::new();
        self.held.retain_mut(|h| {
            h.missing -= 1;
            h.at = h.at.max(at);
            if h.missing == 0 {
                released.push((h.body, h.at));
            }
            h.missing > 0
        });
        released
    }

    /// Registers an arrival. Returns the packet's reordering extent if it is reordered.
    pub(crate) fn on_arrival(&mut self, body: u32) -> Option<u64> {
        let place = self.places.remove(&body)?;
        self.on_wire.remove(&place);
        self.held.retain(|h| h.body != body);
        self.arrived += 1;
        let later = self.records.partition_point(|(p, _)| *p < place);
        let extent = self.records.get(later).map(|(_, number)| self.arrived - number);
        if extent.is_none() {
            self.records.push_back((place, self.arrived));
        }
        let oldest = self.on_wire.first().copied().unwrap_or(u64::MAX);
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
        let mut d = ReorderTracker::default();
        (1..=order.len() as u32).for_each(|n| d.on_sent(n));
        order.iter().map(|n| d.on_arrival(*n).unwrap_or(0)).collect()
    }

    #[test]
    fn extents_count_arrivals_since_the_first_later_packet() {
        assert_eq!(extents(&[1, 2, 3]), [0, 0, 0]);
        // 1 arrives fourth; the first that was sent after it arrived first: 4 - 1 = 3.
        assert_eq!(extents(&[2, 3, 4, 1]), [0, 0, 0, 3]);
        // 2 arrives fifth, 3 first: 4. 4 arrives third, 5 second: 1. 1 arrives fourth, 3 first: 3.
        assert_eq!(extents(&[3, 5, 4, 1, 2]), [0, 0, 1, 3, 4]);
        assert_eq!(extents(&[4, 3, 2, 1]), [0, 1, 2, 3]);
    }

    #[test]
    fn agrees_with_the_definition_on_random_orders() {
        let mut random = dumbbell_units::random::Stream::new(5, "reorder");
        let mut waiting: Vec<u32> = Vec::new();
        let mut arrived: Vec<u32> = Vec::new();
        let mut d = ReorderTracker::default();
        for n in 1..=3000 {
            d.on_sent(n);
            waiting.push(n);
            while waiting.len() > 20 || (!waiting.is_empty() && random.uniform() < 0.5) {
                let i = (random.uniform().powi(4) * waiting.len() as f64) as usize;
                let next = waiting.remove(i);
                let first_later = arrived.iter().position(|a| *a > next);
                let expected = first_later.map(|j| (arrived.len() - j) as u64);
                assert_eq!(d.on_arrival(next), expected);
                arrived.push(next);
            }
            assert!(d.records.len() < 100, "the records stay few");
        }
    }

    #[test]
    fn a_held_packet_is_released_by_the_last_that_overtakes_it() {
        let mut d = ReorderTracker::default();
        d.hold(7, 2, Time(10));
        assert_eq!(d.on_passed(Time(12)), []);
        d.hold(8, 1, Time(13));
        assert_eq!(d.on_passed(Time(11)), [(7, Time(12)), (8, Time(13))]);
        assert_eq!(d.on_passed(Time(20)), []);
    }
}
