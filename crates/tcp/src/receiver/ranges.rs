//! What has arrived out of order: ranges of the sequence space, and which of them were touched last.
//!
//! Ranges are kept by where they start; the few that SACK blocks can report, newest first, in a list beside. When that
//! list runs short because its ranges have been filled up, it is made anew from all.

use std::collections::BTreeMap;

/// More than the blocks of an ACK, so that the list is rarely made anew.
const KEPT: usize = 16;

/// See the top of this file.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    /// Start to end, when it was last touched, and in how many buffers it lies; disjoint and not adjacent.
    by_start: BTreeMap<u64, (u64, u64, u64)>,
    /// Starts of those touched last, newest first.
    recent: Vec<u64>,
    touches: u64,
    bytes: u64,
    buffers: u64,
}

impl Ranges {
    pub(super) fn is_empty(&self) -> bool {
        self.by_start.is_empty()
    }

    /// How many bytes there are in all.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// In how many buffers they lie: a segment shares that of the one before it, if that is there.
    pub(super) fn buffers(&self) -> u64 {
        self.buffers
    }

    /// How many ranges.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.by_start.len()
    }

    /// Adds `start..end`, merged with the ranges that it touches. Gives how many of its bytes were there.
    pub(super) fn add(&mut self, start: u64, end: u64) -> u64 {
        self.touches += 1;
        let (mut from, mut to, mut duplicate) = (start, end, 0);
        let (mut buffers, mut follows) = (0, false);
        while let Some((&s, &(e, _, n))) =
            self.by_start.range(..=to).next_back().filter(|(_, (e, ..))| *e >= from)
        {
            buffers += n;
            follows |= s < start;
            duplicate += e.min(end).saturating_sub(s.max(start));
            (from, to) = (from.min(s), to.max(e));
            if self.recent.first() == Some(&s) && s == from {
                break; // the newest grows in its place, and nothing further down touches it
            }
            self.by_start.remove(&s);
            self.recent.retain(|r| *r != s);
        }
        buffers += u64::from(!follows && duplicate < end - start);
        self.buffers += u64::from(!follows && duplicate < end - start);
        self.by_start.insert(from, (to, self.touches, buffers));
        if self.recent.first() != Some(&from) {
            self.recent.insert(0, from);
            self.recent.truncate(KEPT);
        }
        self.bytes += end - start - duplicate;
        duplicate
    }

    /// Whether all of `start..end` is there.
    pub(super) fn holds(&self, start: u64, end: u64) -> bool {
        self.by_start.range(..=start).next_back().is_some_and(|(_, (e, ..))| *e >= end)
    }

    /// Takes out the lowest range if it starts at `offset` or below; gives it.
    pub(super) fn take_up_to(&mut self, offset: u64) -> Option<(u64, u64)> {
        let lowest = self.by_start.first_entry().filter(|entry| *entry.key() <= offset)?;
        let (start, (end, _, buffers)) = lowest.remove_entry();
        self.buffers -= buffers;
        self.recent.retain(|r| *r != start);
        self.bytes -= end - start;
        Some((start, end))
    }

    /// How many of the last four ranges were touched after the one that `start..end` touches, or how many there are.
    pub(super) fn rank(&self, start: u64, end: u64) -> usize {
        let newest =
            || self.recent.iter().take(4).filter_map(|s| self.by_start.get(s).map(|(e, ..)| (*s, *e)));
        newest().position(|(s, e)| start <= e && s <= end).unwrap_or_else(|| newest().count())
    }

    /// The ranges touched last, newest first, `most` at most.
    pub(super) fn newest(&mut self, most: usize) -> impl Iterator<Item = (u64, u64)> + '_ {
        if self.recent.len() < most.min(self.by_start.len()) {
            let mut all: Vec<(u64, u64)> =
                self.by_start.iter().map(|(s, (_, touch, _))| (*touch, *s)).collect();
            all.sort_unstable_by(|a, b| b.cmp(a));
            self.recent = all.into_iter().take(KEPT).map(|(_, s)| s).collect();
        }
        self.recent.iter().take(most).filter_map(|s| self.by_start.get(s).map(|(e, ..)| (*s, *e)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_units::random::Stream;

    #[test]
    fn a_rank_counts_what_was_touched_later() {
        let mut ranges = Ranges::default();
        for start in [100, 300, 500] {
            ranges.add(start, start + 100);
        }
        assert_eq!(ranges.rank(200, 210), 2); // touches the first
        assert_eq!(ranges.rank(600, 700), 0); // the last
        assert_eq!(ranges.rank(800, 900), 3); // none of three
        ranges.add(200, 210);
        assert_eq!(ranges.rank(600, 700), 1);
    }

    #[test]
    fn agrees_with_a_list_that_is_searched_from_end_to_end() {
        let mut random = Stream::new(2, "ranges");
        let mut ranges = Ranges::default();
        let mut plain: Vec<(u64, u64)> = Vec::new(); // newest first
        for step in 0..20_000 {
            if random.uniform() < 0.9 {
                let start = random.next_u64() % 3000 * 10;
                let end = start + 10 * (1 + random.next_u64() % 5);
                let (mut merged, mut duplicate) = ((start, end), 0);
                loop {
                    let touching = plain.iter().position(|(s, e)| *s <= merged.1 && merged.0 <= *e);
                    let Some(i) = touching else { break };
                    let (s, e) = plain.remove(i);
                    duplicate += e.min(end).saturating_sub(s.max(start));
                    merged = (merged.0.min(s), merged.1.max(e));
                }
                plain.insert(0, merged);
                assert_eq!(ranges.add(start, end), duplicate, "{step}");
            } else {
                let lowest = plain.iter().copied().min();
                let offset = random.next_u64() % 3000;
                let expected = lowest.filter(|(s, _)| *s <= offset);
                plain.retain(|r| Some(*r) != expected);
                assert_eq!(ranges.take_up_to(offset), expected);
            }
            assert_eq!(ranges.len(), plain.len());
            let newest: Vec<(u64, u64)> = ranges.newest(4).collect();
            assert_eq!(newest, plain.iter().take(4).copied().collect::<Vec<_>>(), "{step}");
        }
    }
}
