//! The event queue: a binary heap of slots, one slot for each thing that can happen next (a link's next arrival, its
//! next transmission, an endpoint's timer).
//!
//! A component has at most one pending event per slot, so the heap stays as small as the network, whatever number of
//! packets is under way. Events are ordered by (time, insertion number). Moving a slot counts as a new insertion.

use dumbbell_units::Time;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    time: Time,
    order: u64,
    slot: u32,
}

const ABSENT: u32 = u32::MAX;

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct EventQueue {
    heap: Vec<Entry>,
    /// Where each slot stands in the heap.
    position: Vec<u32>,
    order: u64,
    /// The top entry has been handed out; it goes, or is overwritten, with the next call.
    top_is_spent: bool,
}

impl EventQueue {
    pub(crate) fn new(slots: usize) -> EventQueue {
        EventQueue {
            heap: Vec::with_capacity(slots),
            position: vec![ABSENT; slots],
            order: 0,
            top_is_spent: false,
        }
    }

    /// Sets the slot's event to `time`, whether or not it had one.
    pub(crate) fn schedule(&mut self, slot: usize, time: Time) {
        self.order += 1;
        let entry = Entry { time, order: self.order, slot: slot as u32 };
        match self.position[slot] {
            ABSENT => {
                self.heap.push(entry);
                self.sift_up(self.heap.len() - 1);
            }
            at => {
                let at = at as usize;
                self.top_is_spent &= at != 0;
                let earlier = entry < self.heap[at];
                self.heap[at] = entry;
                if earlier { self.sift_up(at) } else { self.sift_down(at) }
            }
        }
    }

    /// The next event: its slot has none afterwards.
    pub(crate) fn pop(&mut self) -> Option<(Time, usize)> {
        if self.top_is_spent {
            self.remove_top();
        }
        let top = self.heap.first()?;
        self.top_is_spent = true;
        Some((top.time, top.slot as usize))
    }

    fn remove_top(&mut self) {
        let gone = self.heap.swap_remove(0);
        self.position[gone.slot as usize] = ABSENT;
        self.top_is_spent = false;
        if !self.heap.is_empty() {
            self.sift_down(0);
        }
    }

    fn sift_up(&mut self, mut at: usize) {
        let entry = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.heap[parent] < entry {
                break;
            }
            self.put(at, self.heap[parent]);
            at = parent;
        }
        self.put(at, entry);
    }

    fn sift_down(&mut self, mut at: usize) {
        let entry = self.heap[at];
        loop {
            let mut child = 2 * at + 1;
            if child >= self.heap.len() {
                break;
            }
            if child + 1 < self.heap.len() && self.heap[child + 1] < self.heap[child] {
                child += 1;
            }
            if entry < self.heap[child] {
                break;
            }
            self.put(at, self.heap[child]);
            at = child;
        }
        self.put(at, entry);
    }

    fn put(&mut self, at: usize, entry: Entry) {
        self.heap[at] = entry;
        self.position[entry.slot as usize] = at as u32;
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
        q.schedule(0, Time(5)); // moved: last now
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
