//! The event queue: a tournament over slots, one slot for each thing that can happen next (a link's next arrival, its
//! next transmission, an endpoint's timer).
//!
//! A component has at most one pending event per slot, so the tournament stays as small as the network, whatever number
//! of packets is under way. Events are ordered by (time, insertion number); setting a slot anew is a new insertion.
//! Each inner node holds the slot that wins below it; a change plays only the matches on its way to the root, and stops
//! where neither winner nor its key has changed.

use dumbbell_units::Time;

/// (time, insertion number) as one comparable number.
type Key = u128;
const NO_EVENT: Key = Key::MAX;

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct EventQueue {
    keys: Vec<Key>,
    /// Node 1 is the root, node n has the children 2n and 2n + 1; the leaves are the slots themselves.
    winners: Vec<u32>,
    order: u64,
    /// The slot handed out last: it has no event any more, unless it has been set again.
    spent: Option<usize>,
}

impl EventQueue {
    pub(crate) fn new(slots: usize) -> EventQueue {
        let leaves = slots.next_power_of_two().max(2);
        let mut winners: Vec<u32> = vec![0; 2 * leaves];
        for (slot, leaf) in winners[leaves..].iter_mut().enumerate() {
            *leaf = slot as u32;
        }
        for node in (1..leaves).rev() {
            winners[node] = winners[2 * node];
        }
        EventQueue { keys: vec![NO_EVENT; leaves], winners, order: 0, spent: None }
    }

    /// Sets the slot's event to `time`, whether or not it had one.
    #[inline]
    pub(crate) fn schedule(&mut self, slot: usize, time: Time) {
        self.order += 1;
        if self.spent == Some(slot) {
            self.spent = None;
        }
        self.set(slot, Key::from(time.0) << 64 | Key::from(self.order));
    }

    /// The next event: its slot has none afterwards.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(Time, usize)> {
        if let Some(slot) = self.spent.take() {
            self.set(slot, NO_EVENT);
        }
        let slot = self.winners[1] as usize;
        let key = self.keys[slot];
        if key == NO_EVENT {
            return None;
        }
        self.spent = Some(slot);
        Some((Time((key >> 64) as u64), slot))
    }

    #[inline]
    fn set(&mut self, slot: usize, key: Key) {
        self.keys[slot] = key;
        let mut node = (self.keys.len() + slot) / 2;
        while node > 0 {
            let pair = [self.winners[2 * node], self.winners[2 * node + 1]];
            // By index, not by branch: who wins cannot be predicted.
            let winner = pair[usize::from(self.keys[pair[1] as usize] < self.keys[pair[0] as usize])];
            if winner == self.winners[node] && winner as usize != slot {
                return;
            }
            self.winners[node] = winner;
            node /= 2;
        }
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
                let expected = (!model.is_empty()).then(|| model.remove(0));
                assert_eq!(q.pop(), expected.map(|(t, _, s)| (Time(t), s)));
                now = expected.map_or(now, |(t, _, _)| t);
            }
        }
    }
}
