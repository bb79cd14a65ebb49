//! The event queue: a tournament tree over slots. A slot is one kind of pending event of one component: a link's next
//! arrival, a link's next dequeue, an endpoint's timer.
//!
//! Each slot holds at most one pending event, so the tree's size depends on the network, not on the number of packets
//! in it. Each inner node holds the smaller key of its two children; an update recomputes only the nodes from the slot
//! to the root.
//!
//! **Order at one instant.** It depends on the events alone, never on when they were scheduled:
//!
//! 1. The measurement begins: a packet that arrives at this instant counts.
//! 2. Transmissions end: they free their places in the queues.
//! 3. Packets arrive, at links and hosts. The packet whose transmission over its last link began first is first, as in
//!    ns-2 and ns-3, which schedule an arrival when the transmission begins; then the link listed first.
//! 4. Timers expire: an ACK that arrives at the instant of a timeout comes in time. They expire by flow; in a flow the
//!    application, the data sender, the data receiver.

use dumbbell_units::{Dur, Time};

/// An event in the order of events at one instant, see the top of this file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The measurement begins.
    Measurement,
    /// A transmission ends.
    Departure,
    /// A packet arrives whose transmission took this long, from its begin to the arrival.
    Arrival(Dur),
    /// A timer expires.
    Timer,
}

/// Time (64 bits), kind (2 bits), time that an arrival took (38 bits, subtracted from the largest) and slot (24 bits)
/// as one number. Times above 274 s on one link are equal here.
type Key = u128;
const NO_EVENT: Key = Key::MAX;
const SLOT_BITS: u32 = 24;
/// Longest time on one link that counts for the order.
pub(crate) const LONGEST: u64 = (1 << 38) - 1;

/// The key of an event.
#[inline]
fn key(time: Time, kind: Kind, slot: usize) -> Key {
    Key::from(time.0) << 64 | Key::from(kind.bits() | slot as u64)
}

/// The time of a key.
#[inline]
fn time_of(key: Key) -> Time {
    Time((key >> 64) as u64)
}

/// The slot of a key.
#[inline]
fn slot_of(key: Key) -> usize {
    key as usize & ((1 << SLOT_BITS) - 1)
}

impl Kind {
    #[inline]
    fn bits(self) -> u64 {
        let (kind, place) = match self {
            Kind::Measurement => (0, 0),
            Kind::Departure => (1, 0),
            Kind::Arrival(took) => (2, LONGEST - took.0.min(LONGEST)),
            Kind::Timer => (3, 0),
        };
        kind << 62 | place << SLOT_BITS
    }
}

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// Node 1 is the root; node n has the children 2n and 2n + 1; the second half holds the slots, whose number need
    /// not be a power of two: the smallest key of all comes up to the root on any path.
    nodes: Vec<Key>,
    /// The slot of the last event popped. It is cleared at the next pop, unless it has been rescheduled.
    spent: Option<usize>,
}

impl EventQueue {
    pub(crate) fn new(slots: usize) -> EventQueue {
        assert!(slots < 1 << SLOT_BITS, "more slots than a key can number");
        EventQueue { nodes: vec![NO_EVENT; 2 * slots.max(1)], spent: None }
    }

    /// Schedules the slot's event at `time`, in place of a pending one.
    #[inline]
    pub(crate) fn schedule(&mut self, slot: usize, time: Time, kind: Kind) {
        if self.spent == Some(slot) {
            self.spent = None;
        }
        self.set(slot, key(time, kind, slot));
    }

    /// Removes and returns the next event, if it is not after `until`.
    #[inline]
    pub(crate) fn pop_by(&mut self, until: Time) -> Option<(Time, usize)> {
        if let Some(slot) = self.spent.take() {
            self.set(slot, NO_EVENT);
        }
        let key = self.nodes[1];
        if key == NO_EVENT || time_of(key) > until {
            return None;
        }
        let slot = slot_of(key);
        self.spent = Some(slot);
        Some((time_of(key), slot))
    }

    /// Returns the time of the next event.
    pub(crate) fn next_time(&mut self) -> Option<Time> {
        if let Some(slot) = self.spent.take() {
            self.set(slot, NO_EVENT);
        }
        let key = self.nodes[1];
        (key != NO_EVENT).then(|| time_of(key))
    }

    /// Writes a key and recomputes the nodes up to the root, without branches: the comparisons' outcomes are
    /// unpredictable, and a mispredicted branch costs more than all levels.
    #[inline(never)] // it has many callers
    fn set(&mut self, slot: usize, key: Key) {
        let (mut place, mut winner) = (self.nodes.len() / 2 + slot, key);
        while place > 1 {
            let rival = self.nodes[place ^ 1];
            self.nodes[place] = winner;
            let all_if_lost = Key::from(rival < winner).wrapping_neg();
            winner ^= (winner ^ rival) & all_if_lost;
            place /= 2;
        }
        self.nodes[1] = winner;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_units::random::Stream;

    #[test]
    fn events_of_equal_times_are_in_the_order_of_their_kinds() {
        let mut q = EventQueue::new(8);
        let kinds = [
            Kind::Timer,
            Kind::Arrival(Dur(7)),
            Kind::Arrival(Dur(90)),
            Kind::Departure,
            Kind::Arrival(Dur(7)),
            Kind::Measurement,
            Kind::Timer,
        ];
        // Neither the order of scheduling nor a second scheduling changes the order.
        for slots in [[0, 1, 2, 3, 4, 5, 6], [6, 4, 2, 0, 5, 3, 1]] {
            slots.iter().for_each(|&s| q.schedule(s, Time(5), kinds[s]));
            q.schedule(2, Time(5), kinds[2]);
            let order: Vec<usize> = std::iter::from_fn(|| q.pop_by(Time::NEVER).map(|(_, s)| s)).collect();
            assert_eq!(order, [5, 3, 2, 1, 4, 0, 6]);
        }
    }

    #[test]
    fn agrees_with_a_sorted_list_under_random_use() {
        let mut random = Stream::new(3, "events");
        let mut q = EventQueue::new(20);
        let mut model: Vec<(u64, u64, usize)> = Vec::new();
        let mut now = 0;
        for _ in 0..20_000 {
            if random.uniform() < 0.6 {
                let slot = (random.next_u64() % 20) as usize;
                let time = now + random.next_u64() % 50;
                let took = random.next_u64() % 3;
                q.schedule(slot, Time(time), Kind::Arrival(Dur(took)));
                model.retain(|e| e.2 != slot);
                model.push((time, 3 - took, slot));
            } else {
                model.sort_unstable();
                assert_eq!(q.next_time(), model.first().map(|(t, ..)| Time(*t)));
                if let Some(before) = model.first().and_then(|(t, ..)| t.checked_sub(1)) {
                    assert_eq!(q.pop_by(Time(before)), None);
                }
                let expected = (!model.is_empty()).then(|| model.remove(0));
                assert_eq!(q.pop_by(Time::NEVER), expected.map(|(t, _, s)| (Time(t), s)));
                now = expected.map_or(now, |(t, _, _)| t);
            }
        }
    }
}
