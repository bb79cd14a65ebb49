//! The event queue: a tournament over slots, one slot for each thing that can happen next (a link's next arrival, its
//! next transmission, an endpoint's timer).
//!
//! A component has at most one pending event per slot, so the tournament stays as small as the network, whatever number
//! of packets is under way. Events are ordered by (time, insertion number); setting a slot anew is a new insertion.
//! Each inner node holds the earlier key of the two below it; a change plays only the matches on its way to the root.

use dumbbell_units::Time;

/// Time (64 bits), insertion number (40: days of running), slot (24) as one number: insertion numbers differ, so the
/// slot never decides an order, it only comes along.
type Key = u128;
const NO_EVENT: Key = Key::MAX;
const SLOT_BITS: u32 = 24;

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// Node 1 is the root, node n has the children 2n and 2n + 1; the last half are the slots themselves.
    nodes: Vec<Key>,
    order: u64,
    /// The slot handed out last: it has no event any more, unless it has been set again.
    spent: Option<usize>,
}

impl EventQueue {
    pub(crate) fn new(slots: usize) -> EventQueue {
        assert!(slots < 1 << SLOT_BITS, "more links and flows than keys can tell apart");
        EventQueue { nodes: vec![NO_EVENT; 2 * slots.next_power_of_two().max(2)], order: 0, spent: None }
    }

    /// Sets the slot's event to `time`, whether or not it had one.
    #[inline]
    pub(crate) fn schedule(&mut self, slot: usize, time: Time) {
        self.order += 1;
        if self.spent == Some(slot) {
            self.spent = None;
        }
        self.set(slot, Key::from(time.0) << 64 | Key::from(self.order << SLOT_BITS | slot as u64));
    }

    /// The next event: its slot has none afterwards.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(Time, usize)> {
        if let Some(slot) = self.spent.take() {
            self.set(slot, NO_EVENT);
        }
        let key = self.nodes[1];
        if key == NO_EVENT {
            return None;
        }
        let slot = key as usize & ((1 << SLOT_BITS) - 1);
        self.spent = Some(slot);
        Some((Time((key >> 64) as u64), slot))
    }

    /// The time of the next event.
    pub(crate) fn next_time(&mut self) -> Option<Time> {
        if let Some(slot) = self.spent.take() {
            self.set(slot, NO_EVENT);
        }
        let key = self.nodes[1];
        (key != NO_EVENT).then_some(Time((key >> 64) as u64))
    }

    /// Always up to the root, and without branches: neither who wins nor where the winner stops changing can be
    /// predicted, and a wrong guess costs more than all matches.
    #[inline(never)] // keeps its many callers small
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
    fn equal_times_come_in_order_of_insertion() {
        let mut q = EventQueue::new(4);
        [2, 0, 3, 1].iter().for_each(|&s| q.schedule(s, Time(5)));
        q.schedule(0, Time(5)); // set anew: last now
        let order: Vec<usize> = std::iter::from_fn(|| q.pop().map(|(_, s)| s)).collect();
        assert_eq!(order, [2, 3, 1, 0]);
    }

    #[test]
    fn agrees_with_a_sorted_list_under_random_use() {
        let mut random = Stream::new(3, "events");
        let mut q = EventQueue::new(20);
        let mut model: Vec<(u64, u64, usize)> = Vec::new();
        let mut now = 0;
        for order in 0..20_000u64 {
            if random.uniform() < 0.6 {
                let slot = (random.next_u64() % 20) as usize;
                let time = now + random.next_u64() % 50;
                q.schedule(slot, Time(time));
                model.retain(|e| e.2 != slot);
                model.push((time, order, slot));
            } else {
                model.sort_unstable();
                assert_eq!(q.next_time(), model.first().map(|(t, ..)| Time(*t)));
                let expected = (!model.is_empty()).then(|| model.remove(0));
                assert_eq!(q.pop(), expected.map(|(t, _, s)| (Time(t), s)));
                now = expected.map_or(now, |(t, _, _)| t);
            }
        }
    }
}
