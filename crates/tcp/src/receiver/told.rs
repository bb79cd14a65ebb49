//! The ranges that SACK blocks report, where a receiver keeps no more than a few of them, as Linux does: a segment is joined
//! to a range that is kept, not to others that have arrived.

/// See the top of this file. The one touched last comes first.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    ranges: Vec<(u64, u64)>,
}

impl Told {
    /// The range that `start..end` touches, or how many there are.
    pub(super) fn rank(&self, start: u64, end: u64) -> usize {
        let touched = |&(s, e): &(u64, u64)| start <= e && s <= end;
        self.ranges.iter().position(touched).unwrap_or(self.ranges.len())
    }

    /// The range that `start..end` touches takes it in, and stays where it is.
    pub(super) fn extend(&mut self, start: u64, end: u64) {
        let rank = self.rank(start, end);
        if let Some(range) = self.ranges.get_mut(rank) {
            *range = (range.0.min(start), range.1.max(end));
        }
    }

    /// A segment has arrived; of ranges that don't touch, `most` are kept.
    pub(super) fn add(&mut self, start: u64, end: u64, most: usize) {
        let rank = self.rank(start, end);
        let mut first = (start, end);
        if rank < self.ranges.len() {
            let (s, e) = self.ranges.remove(rank);
            first = (s.min(start), e.max(end));
            self.ranges.retain(|&(s, e)| {
                let apart = s > first.1 || first.0 > e;
                if !apart {
                    first = (first.0.min(s), first.1.max(e));
                }
                apart
            });
        }
        self.ranges.insert(0, first);
        self.ranges.truncate(most);
    }

    /// All up to `nxt` has arrived, and nothing behind it if `all`.
    pub(super) fn forget(&mut self, nxt: u64, all: bool) {
        self.ranges.retain(|(start, _)| !all && *start > nxt);
    }

    /// The first so many.
    pub(super) fn first(&self, most: usize) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.ranges.iter().take(most).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_what_is_kept_and_nothing_else() {
        let mut told = Told::default();
        for n in [1, 3, 5, 7, 9] {
            told.add(n, n + 1, 4);
        }
        assert_eq!(told.first(9).collect::<Vec<_>>(), [(9, 10), (7, 8), (5, 6), (3, 4)]);
        // 1..2 isn't kept any more: what follows it is a range of its own, and 3..4 goes. It joins two that are kept.
        told.add(2, 3, 4);
        assert_eq!(told.first(9).collect::<Vec<_>>(), [(2, 4), (9, 10), (7, 8), (5, 6)]);
        told.add(6, 7, 4);
        assert_eq!(told.first(2).collect::<Vec<_>>(), [(5, 8), (2, 4)]);
        assert_eq!((told.rank(8, 9), told.rank(12, 13)), (0, 3));
        // (9, 10) is the third: with what follows it, it stays that.
        told.extend(10, 12);
        assert_eq!(told.first(9).collect::<Vec<_>>(), [(5, 8), (2, 4), (9, 12)]);
        told.forget(5, false);
        assert_eq!(told.first(9).collect::<Vec<_>>(), [(9, 12)]);
        told.forget(5, true);
        assert_eq!(told.first(9).count(), 0);
    }
}
