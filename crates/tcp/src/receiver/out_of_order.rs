//! The data that arrived out of order: ranges of the sequence space, and the order in which they were last extended [RFC 2018
//! §4; Linux tcp_input.c tcp_data_queue_ofo].
//!
//! A map holds the ranges by their start. A short list holds the ranges that SACK blocks can report, newest first. When this
//! list becomes too short because its ranges were delivered, it is rebuilt from the map.

use std::collections::BTreeMap;

/// Length of the list: more than the blocks of an ACK, so that it is rarely rebuilt.
const RECENT: usize = 16;

/// The queue.
#[derive(Clone, Debug, Default)]
pub(super) struct OutOfOrderQueue {
    /// For each start: end, time of the last extension, number of buffers. Ranges are disjoint and not adjacent.
    by_start: BTreeMap<u64, (u64, u64, u64)>,
    /// Starts of the ranges that were extended last, newest first.
    recent: Vec<u64>,
    extensions: u64,
    bytes: u64,
    buffers: u64,
}

impl OutOfOrderQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.by_start.is_empty()
    }

    /// Bytes of all ranges.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Buffers of all ranges: a segment shares that of the segment before it, if both are in the queue [Linux tcp_input.c
    /// tcp_try_coalesce].
    pub(super) fn buffers(&self) -> u64 {
        self.buffers
    }

    /// Number of ranges.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.by_start.len()
    }

    /// Adds `start..end`, merged with the ranges that it touches. Returns the number of its bytes that were in the queue.
    pub(super) fn add(&mut self, start: u64, end: u64) -> u64 {
        self.extensions += 1;
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
                break; // the newest range is extended in place, and no lower one touches it
            }
            self.by_start.remove(&s);
            self.recent.retain(|r| *r != s);
        }
        buffers += u64::from(!follows && duplicate < end - start);
        self.buffers += u64::from(!follows && duplicate < end - start);
        self.by_start.insert(from, (to, self.extensions, buffers));
        if self.recent.first() != Some(&from) {
            self.recent.insert(0, from);
            self.recent.truncate(RECENT);
        }
        self.bytes += end - start - duplicate;
        duplicate
    }

    /// True if all of `start..end` is in the queue.
    pub(super) fn contains(&self, start: u64, end: u64) -> bool {
        self.by_start.range(..=start).next_back().is_some_and(|(_, (e, ..))| *e >= end)
    }

    /// Removes and returns the lowest range if it starts at `offset` or below.
    pub(super) fn take_up_to(&mut self, offset: u64) -> Option<(u64, u64)> {
        let lowest = self.by_start.first_entry().filter(|entry| *entry.key() <= offset)?;
        let (start, (end, _, buffers)) = lowest.remove_entry();
        self.buffers -= buffers;
        self.recent.retain(|r| *r != start);
        self.bytes -= end - start;
        Some((start, end))
    }

    /// Returns the rank, among the four ranges extended last, of the one that `start..end` touches; the number of these
    /// ranges if it touches none.
    pub(super) fn rank(&self, start: u64, end: u64) -> usize {
        let newest =
            || self.recent.iter().take(4).filter_map(|s| self.by_start.get(s).map(|(e, ..)| (*s, *e)));
        newest().position(|(s, e)| start <= e && s <= end).unwrap_or_else(|| newest().count())
    }

    /// Returns at most `most` ranges, the one extended last first.
    pub(super) fn newest(&mut self, most: usize) -> impl Iterator<Item = (u64, u64)> + '_ {
        if self.recent.len() < most.min(self.by_start.len()) {
            let mut all: Vec<(u64, u64)> =
                self.by_start.iter().map(|(s, (_, extension, _))| (*extension, *s)).collect();
            all.sort_unstable_by(|a, b| b.cmp(a));
            self.recent = all.into_iter().take(RECENT).map(|(_, s)| s).collect();
        }
        self.recent.iter().take(most).filter_map(|s| self.by_start.get(s).map(|(e, ..)| (*s, *e)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_units::random::Stream;

    #[test]
    fn a_rank_counts_the_ranges_extended_later() {
        let mut queue = OutOfOrderQueue::default();
        for start in [100, 300, 500] {
            queue.add(start, start + 100);
        }
        assert_eq!(queue.rank(200, 210), 2); // touches the first
        assert_eq!(queue.rank(600, 700), 0); // the last
        assert_eq!(queue.rank(800, 900), 3); // none of three
        queue.add(200, 210);
        assert_eq!(queue.rank(600, 700), 1);
    }

    #[test]
    fn agrees_with_a_linear_search() {
        let mut random = Stream::new(2, "ranges");
        let mut queue = OutOfOrderQueue::default();
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
                assert_eq!(queue.add(start, end), duplicate, "{step}");
            } else {
                let lowest = plain.iter().copied().min();
                let offset = random.next_u64() % 3000;
                let expected = lowest.filter(|(s, _)| *s <= offset);
                plain.retain(|r| Some(*r) != expected);
                assert_eq!(queue.take_up_to(offset), expected);
            }
            assert_eq!(queue.len(), plain.len());
            let newest: Vec<(u64, u64)> = queue.newest(4).collect();
            assert_eq!(newest, plain.iter().take(4).copied().collect::<Vec<_>>(), "{step}");
        }
    }
}
