//! The event queue: a tournament tree over slots. A slot is one kind of pending event of one component: a link's next
//! arrival, a link's next dequeue, an endpoint's timer.
//!
//! Each slot holds at most one pending event, so the tree's size depends on the network, not on the number of packets
//! in it. Events are ordered by (time, insertion number); rescheduling a slot is a new insertion. Each inner node
//! holds the smaller key of its two children; an update recomputes only the nodes from the slot to the root.

use dumbbell_units::Time;

/// Time (64 bits), insertion number (40 bits, enough for days of run time) and slot (24 bits) as one number. Insertion
/// numbers are unique, so the slot never decides the order.
type Key = u128;
const NO_EVENT: Key = Key::MAX;
const SLOT_BITS: u32 = 24;

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// Node 1 is the root; node n has the children 2n and 2n + 1; the second half holds the slots.
    nodes: Vec<Key>,
    order: u64,
    /// The slot of the last event popped. It is cleared at the next pop, unless it has been rescheduled.
    spent: Option<usize>,
}

impl EventQueue {
    pub(crate) fn new(slots: usize) -> EventQueue {
        assert!(slots < 1 << SLOT_BITS, "more slots than a key can number");
        EventQueue { nodes: vec![NO_EVENT; 2 * slots.next_power_of_two().max(2)], order: 0, spent: None }
    }

    /// Schedules the slot's event at `time`, in place of a pending one.
    #[inline]
    pub(crate) fn schedule(&mut self, slot: usize, time: Time) {
        self.order += 1;
        if self.spent == Some(slot) {
            self.spent = None;
        }
        self.set(slot, Key::from(time.0) << 64 | Key::from(self.order << SLOT_BITS | slot as u64));
    }

    /// Removes and returns the next event.
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

    /// Returns the time of the next event.
    pub(crate) fn next_time(&mut self) -> Option<Time> {
        if let Some(slot) = self.spent.take() {
            self.set(slot, NO_EVENT);
        }
        let key = self.nodes[1];
        (key != NO_EVENT).then_some(Time((key >> 64) as u64))
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
    fn events_of_equal_times_are_in_order_of_insertion() {
        let mut q = EventQueue::new(4);
        [2, 0, 3, 1].iter().for_each(|&s| q.schedule(s, Time(5)));
        q.schedule(0, Time(5)); // rescheduled: now the last
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
