//! The data that arrived out of order: ranges of the sequence space, and the order in which they were last extended
//! [RFC 2018 §4; Linux tcp_input.c tcp_data_queue_ofo].
//!
//! The ranges are sorted by their start. Nearly all segments touch the highest one, or lie above it; holes are filled
//! from the lowest on. A short list holds the ranges that SACK blocks can report, newest first. When this list becomes
//! too short because its ranges were delivered, it is made again.

use std::collections::VecDeque;
use std::ops;

/// Length of the list: more than the blocks of an ACK, so that it is rarely made again.
const RECENT: usize = 16;

/// Data without a hole.
#[derive(Clone, Copy, Debug)]
struct Range {
    start: u64,
    end: u64,
    /// Time of the last extension.
    extension: u64,
    buffers: u64,
}

/// The queue.
#[derive(Clone, Debug, Default)]
pub(super) struct OutOfOrderQueue {
    /// By their start, disjoint and not adjacent.
    ranges: VecDeque<Range>,
    /// Start and end of the ranges that were extended last, newest first.
    recent: Vec<(u64, u64)>,
    extensions: u64,
    bytes: u64,
    buffers: u64,
}

impl OutOfOrderQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Bytes of all ranges.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Buffers of all ranges: a segment shares that of the segment before it, if both are in the queue [Linux
    /// tcp_input.c tcp_try_coalesce].
    pub(super) fn buffers(&self) -> u64 {
        self.buffers
    }

    /// Number of ranges.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Returns the indices of the ranges that `start..end` touches; if there are none, the index at which it belongs.
    fn touched(&self, start: u64, end: u64) -> ops::Range<usize> {
        let mut above = self.ranges.len();
        if self.ranges.back().is_some_and(|last| last.start > end) {
            above = self.ranges.partition_point(|r| r.start <= end);
        }
        let mut from = above;
        while from > 0 && self.ranges[from - 1].end >= start {
            from -= 1;
        }
        from..above
    }

    /// Adds `start..end`, merged with the ranges that it touches. Returns the number of its bytes that were in the
    /// queue.
    pub(super) fn add(&mut self, start: u64, end: u64) -> u64 {
        self.extensions += 1;
        let touched = self.touched(start, end);
        let mut merged = Range { start, end, extension: self.extensions, buffers: 0 };
        let (mut duplicate, mut follows) = (0, false);
        for r in self.ranges.range(touched.clone()) {
            merged.buffers += r.buffers;
            follows |= r.start < start;
            duplicate += r.end.min(end).saturating_sub(r.start.max(start));
            (merged.start, merged.end) = (merged.start.min(r.start), merged.end.max(r.end));
        }
        let has_own_buffer = u64::from(!follows && duplicate < end - start);
        merged.buffers += has_own_buffer;
        self.buffers += has_own_buffer;
        self.bytes += end - start - duplicate;
        self.note_recent(touched.clone(), (merged.start, merged.end));
        if touched.is_empty() {
            self.ranges.insert(touched.start, merged);
        } else {
            self.ranges[touched.start] = merged;
            self.ranges.drain(touched.start + 1..touched.end);
        }
        duplicate
    }

    /// Puts the range that replaces the touched ones at the first place of the list.
    fn note_recent(&mut self, touched: ops::Range<usize>, merged: (u64, u64)) {
        let is_newest = |start: u64| self.recent.first().is_some_and(|(s, _)| *s == start);
        if touched.len() == 1 && is_newest(self.ranges[touched.start].start) {
            self.recent[0] = merged;
            return;
        }
        if !touched.is_empty() {
            self.recent.retain(|(s, _)| !(merged.0..=merged.1).contains(s));
        }
        self.recent.truncate(RECENT - 1);
        self.recent.insert(0, merged);
    }

    /// True if all of `start..end` is in the queue.
    pub(super) fn contains(&self, start: u64, end: u64) -> bool {
        self.ranges.range(self.touched(start, end)).any(|r| r.start <= start && end <= r.end)
    }

    /// Removes and returns the lowest range if it starts at `offset` or below.
    pub(super) fn take_up_to(&mut self, offset: u64) -> Option<(u64, u64)> {
        if self.ranges.front()?.start > offset {
            return None;
        }
        let Range { start, end, buffers, .. } = self.ranges.pop_front()?;
        self.buffers -= buffers;
        self.recent.retain(|(s, _)| *s != start);
        self.bytes -= end - start;
        Some((start, end))
    }

    /// Returns the rank, among the four ranges extended last, of the one that `start..end` touches; the number of these
    /// ranges if it touches none.
    pub(super) fn rank(&self, start: u64, end: u64) -> usize {
        let newest = &self.recent[..self.recent.len().min(4)];
        newest.iter().position(|(s, e)| start <= *e && *s <= end).unwrap_or(newest.len())
    }

    /// Returns at most `most` ranges, the one extended last first.
    pub(super) fn newest(&mut self, most: usize) -> impl Iterator<Item = (u64, u64)> + '_ {
        if self.recent.len() < most.min(self.ranges.len()) {
            let mut all: Vec<Range> = self.ranges.iter().copied().collect();
            all.sort_unstable_by_key(|r| std::cmp::Reverse(r.extension));
            self.recent = all.into_iter().take(RECENT).map(|r| (r.start, r.end)).collect();
        }
        self.recent.iter().take(most).copied()
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
