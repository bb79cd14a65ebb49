//! Sets of numbers as ascending, disjoint, half-open ranges: bytes of a stream, packet numbers.

/// See the top of this file.
#[derive(Clone, Debug, Default)]
pub(crate) struct RangeSet {
    ranges: Vec<(u64, u64)>,
}

impl RangeSet {
    /// The ranges, ascending.
    pub(crate) fn ranges(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Numbers in the set.
    pub(crate) fn len(&self) -> u64 {
        self.ranges.iter().map(|(start, end)| end - start).sum()
    }

    pub(crate) fn contains(&self, number: u64) -> bool {
        let place = self.ranges.partition_point(|r| r.1 <= number);
        self.ranges.get(place).is_some_and(|r| r.0 <= number)
    }

    /// The end of the range that begins at 0; 0 without such a range.
    pub(crate) fn prefix(&self) -> u64 {
        self.ranges.first().filter(|r| r.0 == 0).map_or(0, |r| r.1)
    }

    /// Adds a range; returns how many of its numbers are new.
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        if let Some(last) = self.ranges.last_mut()
            && last.1 == start
        {
            last.1 = end;
            return end - start;
        }
        let first = self.ranges.partition_point(|r| r.1 < start);
        let after = first + self.ranges[first..].partition_point(|r| r.0 <= end);
        if first == after {
            self.ranges.insert(first, (start, end));
            return end - start;
        }
        let known: u64 =
            self.ranges[first..after].iter().map(|r| r.1.min(end) - r.0.max(start).min(r.1.min(end))).sum();
        let merged = (start.min(self.ranges[first].0), end.max(self.ranges[after - 1].1));
        self.ranges[first] = merged;
        self.ranges.drain(first + 1..after);
        end - start - known
    }

    /// Removes a range.
    pub(crate) fn remove(&mut self, start: u64, end: u64) {
        if let Some(head) = self.ranges.first_mut()
            && start <= head.0
            && end < head.1
        {
            head.0 = head.0.max(end); // numbers at the beginning, the usual case
            return;
        }
        let first = self.ranges.partition_point(|r| r.1 <= start);
        let after = first + self.ranges[first..].partition_point(|r| r.0 < end);
        if start >= end || first == after {
            return;
        }
        let (left, right) = ((self.ranges[first].0, start), (end, self.ranges[after - 1].1));
        let kept = [left, right].into_iter().filter(|(start, end)| start < end);
        self.ranges.splice(first..after, kept);
    }

    /// Removes and returns the first range, or its first `limit` numbers.
    pub(crate) fn take_first(&mut self, limit: u64) -> Option<(u64, u64)> {
        let first = self.ranges.first_mut()?;
        let (start, end) = (first.0, first.1.min(first.0 + limit));
        if end == first.1 {
            self.ranges.remove(0);
        } else {
            first.0 = end;
        }
        Some((start, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ranges_merge_and_split() {
        let mut set = RangeSet::default();
        assert_eq!((set.insert(0, 10), set.insert(20, 30), set.insert(5, 25)), (10, 10, 10));
        assert_eq!(set.ranges(), [(0, 30)]);
        set.remove(10, 12);
        assert_eq!((set.ranges(), set.prefix()), (&[(0, 10), (12, 30)][..], 10));
        assert_eq!((set.take_first(4), set.take_first(100)), (Some((0, 4)), Some((4, 10))));
        assert_eq!((set.contains(11), set.contains(12), set.len()), (false, true, 18));
    }

    #[test]
    fn agrees_with_a_set_of_numbers() {
        let mut random = dumbbell_units::random::Stream::new(1, "ranges");
        let (mut set, mut model) = (RangeSet::default(), BTreeSet::new());
        for _ in 0..3000 {
            let (start, length) = (random.next_u64() % 60, random.next_u64() % 12);
            let numbers = start..start + length;
            if random.uniform() < 0.6 {
                let new = numbers.clone().filter(|n| model.insert(*n)).count() as u64;
                assert_eq!(set.insert(start, start + length), new);
            } else {
                model.retain(|n| !numbers.contains(n));
                set.remove(start, start + length);
            }
            assert_eq!(set.len(), model.len() as u64);
            assert!(set.ranges().windows(2).all(|w| w[0].1 < w[1].0), "{:?}", set.ranges());
            (0..80).for_each(|n| assert_eq!(set.contains(n), model.contains(&n)));
        }
    }
}
