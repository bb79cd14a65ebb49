//! Transmissions that are neither delivered nor lost, in the order in which they were sent [RFC 8985 §6.2 step 5; Linux
//! include/linux/tcp.h tsorted_sent_queue].
//!
//! RACK needs those that were sent before the newest one that was delivered (RACK.xmit_ts, RACK.end_seq). These are the
//! first entries, up to a boundary that only moves towards later entries. Each operation takes constant time: links connect
//! a segment with its neighbors in time, and the boundary passes each entry once.

use std::collections::VecDeque;

/// No segment.
const NONE: u64 = u64::MAX;

/// A segment's neighbors, by number; its own number if it isn't in the list.
#[derive(Clone, Copy, Debug)]
struct Link {
    earlier: u64,
    later: u64,
}

/// The list. Segments have consecutive numbers; `links` holds one entry for each number from `first` on.
#[derive(Clone, Debug)]
pub(super) struct Transmissions {
    first: u64,
    links: VecDeque<Link>,
    head: u64,
    tail: u64,
    /// The last entry that was sent before the newest delivered one.
    boundary: u64,
}

impl Default for Transmissions {
    fn default() -> Transmissions {
        Transmissions { first: 0, links: VecDeque::new(), head: NONE, tail: NONE, boundary: NONE }
    }
}

impl Transmissions {
    fn link(&mut self, number: u64) -> &mut Link {
        &mut self.links[(number - self.first) as usize]
    }

    /// Adds the next segment, which is sent for the first time.
    pub(super) fn push(&mut self) {
        let number = self.first + self.links.len() as u64;
        self.links.push_back(Link { earlier: number, later: number });
        self.append(number);
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
        let Link { earlier, later } = *self.link(number);
        if earlier == number {
            return;
        }
        *self.link(number) = Link { earlier: number, later: number };
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
    pub(super) fn pop(&mut self) {
        self.remove(self.first);
        self.links.pop_front();
        self.first += 1;
    }

    /// Returns the transmission that was sent first.
    pub(super) fn oldest(&self) -> Option<u64> {
        (self.head != NONE).then_some(self.head)
    }

    /// Moves the boundary over the next entries while `is_before` is true for them. Returns the last entry before it.
    pub(super) fn last_before(&mut self, is_before: impl Fn(u64) -> bool) -> Option<u64> {
        loop {
            let next = if self.boundary == NONE { self.head } else { self.link(self.boundary).later };
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
        for _ in 0..20_000 {
            clock += 1;
            let count = times.len() as u64 - first;
            let pick = first + random.next_u64() % count.max(1);
            match random.next_u64() % 6 {
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
                4 if count > 30 => {
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
