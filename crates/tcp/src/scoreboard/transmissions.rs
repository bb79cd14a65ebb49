//! Transmissions that are neither delivered nor lost, in the order in which they were sent [RFC 8985 §6.2 step 5; Linux
//! include/linux/tcp.h tsorted_sent_queue].
//!
//! RACK needs those that were sent before the newest one that was delivered (RACK.xmit_ts, RACK.end_seq). These are the
//! first entries, up to a boundary that only moves towards later entries. Each operation takes constant time on
//! average: links connect a segment with its neighbors in time, and the boundary passes each entry once.
//!
//! While nothing is lost, the order is that of the numbers, and there are no links. The first operation that changes
//! the order makes them; they are discarded when all segments that existed at the last such operation are acknowledged.

use std::collections::VecDeque;

/// No segment.
const NONE: u64 = u64::MAX;

/// A segment's neighbors, by number; its own number if it isn't in the list.
#[derive(Clone, Copy, Debug)]
struct Link {
    earlier: u64,
    later: u64,
}

/// The list. Segments have consecutive numbers.
#[derive(Clone, Debug)]
pub(super) struct Transmissions {
    first: u64,
    count: u64,
    /// One entry for each number from `first` on; none while the order is that of the numbers.
    links: VecDeque<Link>,
    /// The first and the last entry, if there are links.
    head: u64,
    tail: u64,
    /// Segments from this number on are in the order of their numbers, after all others.
    ordered_from: u64,
    /// The last entry that was sent before the newest delivered one.
    boundary: u64,
}

impl Default for Transmissions {
    fn default() -> Transmissions {
        Transmissions {
            first: 0,
            count: 0,
            links: VecDeque::new(),
            head: NONE,
            tail: NONE,
            ordered_from: 0,
            boundary: NONE,
        }
    }
}

impl Transmissions {
    /// The empty list of a connection without outstanding segments, without its memory.
    pub(super) fn without_memory(self) -> Transmissions {
        Transmissions { first: self.first, ..Transmissions::default() }
    }

    fn link(&mut self, number: u64) -> &mut Link {
        &mut self.links[(number - self.first) as usize]
    }

    /// Adds the next segment, which is sent for the first time.
    #[inline]
    pub(super) fn push(&mut self) {
        let number = self.first + self.count;
        self.count += 1;
        if !self.links.is_empty() {
            self.links.push_back(Link { earlier: number, later: number });
            self.append(number);
        }
    }

    /// Makes the links, if there are none, because the order changes.
    fn make_links(&mut self) {
        let end = self.first + self.count;
        self.ordered_from = end;
        if !self.links.is_empty() {
            return;
        }
        let neighbors = |number: u64| Link {
            earlier: if number == self.first { NONE } else { number - 1 },
            later: if number + 1 == end { NONE } else { number + 1 },
        };
        self.links.extend((self.first..end).map(neighbors));
        (self.head, self.tail) = (self.first, end - 1);
    }

    fn append(&mut self, number: u64) {
        let tail = self.tail;
        *self.link(number) = Link { earlier: tail, later: NONE };
        if tail == NONE {
            self.head = number;
        } else {
            self.link(tail).later = number;
        }
        self.tail = number;
    }

    /// Moves a segment to the end: it is retransmitted.
    pub(super) fn retransmit(&mut self, number: u64) {
        self.remove(number);
        self.append(number);
    }

    /// Removes a segment whose last transmission is delivered or lost; does nothing if it isn't in the list.
    pub(super) fn remove(&mut self, number: u64) {
        self.make_links();
        let link = *self.link(number);
        if link.earlier != number {
            *self.link(number) = Link { earlier: number, later: number };
            self.unlink(number, link);
        }
    }

    /// Joins the neighbors of a segment that leaves the list.
    #[inline]
    fn unlink(&mut self, number: u64, Link { earlier, later }: Link) {
        if earlier == NONE {
            self.head = later;
        } else {
            self.link(earlier).later = later;
        }
        if later == NONE {
            self.tail = earlier;
        } else {
            self.link(later).earlier = earlier;
        }
        if self.boundary == number {
            self.boundary = earlier;
        }
    }

    /// Forgets the segment with the lowest number, which is acknowledged.
    #[inline]
    pub(super) fn pop(&mut self) {
        if !self.links.is_empty() {
            self.pop_with_links();
            return;
        }
        if self.boundary == self.first {
            self.boundary = NONE;
        }
        self.first += 1;
        self.count -= 1;
    }

    #[inline(never)]
    fn pop_with_links(&mut self) {
        let number = self.first;
        let Some(link) = self.links.pop_front() else { return };
        self.first += 1;
        self.count -= 1;
        if link.earlier != number {
            self.unlink(number, link);
        }
        if self.first >= self.ordered_from {
            self.links.clear();
        }
    }

    /// Returns the transmission that was sent first.
    pub(super) fn oldest(&self) -> Option<u64> {
        Some(self.head()).filter(|head| *head != NONE)
    }

    fn head(&self) -> u64 {
        match (self.links.is_empty(), self.count) {
            (false, _) => self.head,
            (true, 0) => NONE,
            (true, _) => self.first,
        }
    }

    /// The entry after another one.
    fn after(&self, number: u64) -> u64 {
        match self.links.get((number - self.first) as usize) {
            Some(link) => link.later,
            None if number + 1 < self.first + self.count => number + 1,
            None => NONE,
        }
    }

    /// Moves the boundary over the next entries while `is_before` is true for them. Returns the last entry before it.
    pub(super) fn last_before(&mut self, is_before: impl Fn(u64) -> bool) -> Option<u64> {
        loop {
            let next = if self.boundary == NONE { self.head() } else { self.after(self.boundary) };
            if next == NONE || !is_before(next) {
                return (self.boundary != NONE).then_some(self.boundary);
            }
            self.boundary = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_units::random::Stream;

    #[test]
    fn the_order_is_that_of_the_last_transmissions() {
        let mut f = Transmissions::default();
        (0..4).for_each(|_| f.push());
        f.retransmit(0);
        f.remove(2);
        assert_eq!((f.oldest(), f.last_before(|n| n == 1 || n == 3)), (Some(1), Some(3)));
        f.remove(3); // the boundary moves back
        assert_eq!(f.last_before(|_| false), Some(1));
        f.remove(1);
        assert_eq!((f.oldest(), f.last_before(|_| false)), (Some(0), None));
    }

    #[test]
    fn agrees_with_a_plain_list_under_random_operations() {
        let mut random = Stream::new(9, "flights");
        let mut f = Transmissions::default();
        let (mut plain, mut times, mut clock): (Vec<u64>, Vec<u64>, u64) = (Vec::new(), Vec::new(), 0);
        let (mut first, mut edge) = (0u64, 0u64);
        for step in 0..40_000 {
            clock += 1;
            let count = times.len() as u64 - first;
            let pick = first + random.next_u64() % count.max(1);
            let kinds = if step / 100 % 4 == 0 { 6 } else { 3 }; // in the other periods the order doesn't change
            match [0, 4, 5, 1, 2, 3][(random.next_u64() % kinds) as usize] {
                0 | 1 => {
                    f.push();
                    plain.push(times.len() as u64);
                    times.push(clock);
                }
                2 if count > 0 => {
                    f.retransmit(pick);
                    plain.retain(|n| *n != pick);
                    plain.push(pick);
                    times[pick as usize] = clock;
                }
                3 if count > 0 => {
                    f.remove(pick);
                    plain.retain(|n| *n != pick);
                }
                4 if count > 10 => {
                    f.pop();
                    plain.retain(|n| *n != first);
                    first += 1;
                }
                _ => edge = edge.max(clock.saturating_sub(random.next_u64() % 40)),
            }
            let is_before = |n: u64| times[n as usize] < edge;
            assert_eq!(f.oldest(), plain.first().copied());
            assert_eq!(f.last_before(is_before), plain.iter().rev().find(|n| is_before(**n)).copied());
        }
    }
}
