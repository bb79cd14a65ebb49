//! The ranges that SACK blocks report, for a receiver that keeps few of them: a segment is merged with a range in the
//! list, not with other data that has arrived [Linux tcp_input.c tcp_sack_new_ofo_skb; include/linux/tcp.h
//! selective_acks].

/// The list. The range that was extended last is the first.
#[derive(Clone, Debug, Default)]
pub(super) struct SelectiveAcks {
    ranges: Vec<(u64, u64)>,
}

impl SelectiveAcks {
    /// Returns the index of the range that `start..end` touches; the number of ranges if it touches none.
    pub(super) fn rank(&self, start: u64, end: u64) -> usize {
        let touched = |&(s, e): &(u64, u64)| start <= e && s <= end;
        self.ranges.iter().position(touched).unwrap_or(self.ranges.len())
    }

    /// Extends the range that `start..end` touches, which keeps its position [Linux tcp_input.c tcp_sack_extend].
    pub(super) fn extend(&mut self, start: u64, end: u64) {
        let rank = self.rank(start, end);
        if let Some(range) = self.ranges.get_mut(rank) {
            *range = (range.0.min(start), range.1.max(end));
        }
    }

    /// Adds a segment as the first range, merged with the ranges that it touches; `most` ranges are kept.
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

    /// Removes the ranges up to `rcv_nxt`, or all [Linux tcp_input.c tcp_sack_remove].
    pub(super) fn remove(&mut self, rcv_nxt: u64, all: bool) {
        self.ranges.retain(|(start, _)| !all && *start > rcv_nxt);
    }

    /// Returns the first `most` ranges.
    pub(super) fn first(&self, most: usize) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.ranges.iter().take(most).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_with_kept_ranges_only() {
        let mut acks = SelectiveAcks::default();
        for n in [1, 3, 5, 7, 9] {
            acks.add(n, n + 1, 4);
        }
        assert_eq!(acks.first(9).collect::<Vec<_>>(), [(9, 10), (7, 8), (5, 6), (3, 4)]);
        // 1..2 was dropped: 2..3 doesn't merge with it. It merges with 3..4, which is kept.
        acks.add(2, 3, 4);
        assert_eq!(acks.first(9).collect::<Vec<_>>(), [(2, 4), (9, 10), (7, 8), (5, 6)]);
        acks.add(6, 7, 4);
        assert_eq!(acks.first(2).collect::<Vec<_>>(), [(5, 8), (2, 4)]);
        assert_eq!((acks.rank(8, 9), acks.rank(12, 13)), (0, 3));
        // (9, 10) is the third, and stays the third when it is extended.
        acks.extend(10, 12);
        assert_eq!(acks.first(9).collect::<Vec<_>>(), [(5, 8), (2, 4), (9, 12)]);
        acks.remove(5, false);
        assert_eq!(acks.first(9).collect::<Vec<_>>(), [(9, 12)]);
        acks.remove(5, true);
        assert_eq!(acks.first(9).count(), 0);
    }
}
