//! Transmissions under way, in the order in which they were sent [RFC 8985 §6.2 step 5].
//!
//! A segment is in the list while its last transmission is neither delivered nor taken for lost. What RACK asks is which
//! of them were sent before the newest that was delivered (its *edge*): the list's beginning, up to a mark that moves on
//! with the edge. Everything costs a fixed time: links lead from a segment to its neighbours in time, and the mark goes
//! over each entry once.

use std::collections::VecDeque;

/// No segment.
const NONE: u64 = u64::MAX;

/// A segment's neighbours, by number; itself if it isn't in the list.
#[derive(Clone, Copy, Debug)]
struct Link {
    earlier: u64,
    later: u64,
}

/// See the top of this file. Segments have running numbers; as many from `first` on as there are links.
#[derive(Clone, Debug)]
pub(super) struct Flights {
    first: u64,
    links: VecDeque<Link>,
    head: u64,
    tail: u64,
    /// The last entry that was sent before the edge.
    mark: u64,
}

impl Default for Flights {
    fn default() -> Flights {
        Flights { first: 0, links: VecDeque::new(), head: NONE, tail: NONE, mark: NONE }
    }
}

impl Flights {
    fn link(&mut self, number: u64) -> &mut Link {
        &mut self.links[(number - self.first) as usize]
    }

    /// The next segment leaves for the first time.
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

    /// A segment leaves again.
    pub(super) fn again(&mut self, number: u64) {
        self.remove(number);
        self.append(number);
    }

    /// The last transmission of a segment is delivered or lost; nothing happens if that was known.
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
        if self.mark == number {
            self.mark = earlier;
        }
    }

    /// The oldest segment of all is acknowledged and forgotten.
    pub(super) fn pop(&mut self) {
        self.remove(self.first);
        self.links.pop_front();
        self.first += 1;
    }

    /// The transmission that has been under way for longest.
    pub(super) fn oldest(&self) -> Option<u64> {
        (self.head != NONE).then_some(self.head)
    }

    /// Moves the mark on as long as `before_edge` says so of the next entry. Gives the last one before the edge.
    pub(super) fn mark(&mut self, before_edge: impl Fn(u64) -> bool) -> Option<u64> {
        loop {
            let next = if self.mark == NONE { self.head } else { self.link(self.mark).later };
            if next == NONE || !before_edge(next) {
                return (self.mark != NONE).then_some(self.mark);
            }
            self.mark = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_units::random::Stream;

    #[test]
    fn the_order_is_that_of_the_last_sendings() {
        let mut f = Flights::default();
        (0..4).for_each(|_| f.push());
        f.again(0);
        f.remove(2);
        assert_eq!((f.oldest(), f.mark(|n| n == 1 || n == 3)), (Some(1), Some(3)));
        f.remove(3); // the mark falls back
        assert_eq!(f.mark(|_| false), Some(1));
        f.remove(1);
        assert_eq!((f.oldest(), f.mark(|_| false)), (Some(0), None));
    }

    #[test]
    fn agrees_with_a_plain_list_under_random_use() {
        let mut random = Stream::new(9, "flights");
        let mut f = Flights::default();
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
                    f.again(pick);
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
            let before = |n: u64| times[n as usize] < edge;
            assert_eq!(f.oldest(), plain.first().copied());
            assert_eq!(f.mark(before), plain.iter().rev().find(|n| before(**n)).copied());
        }
    }
}
