//! The received ranges of a byte stream: in-order and duplicate bytes at the tap of a data receiver.

/// Disjoint ranges of bytes, ascending; the first begins at 0 once anything has arrived in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Adds [start, end); returns how many of its bytes were received before.
    pub(crate) fn add(&mut self, start: u64, end: u64) -> u64 {
        let first = self.0.partition_point(|(_, e)| *e < start);
        let beyond = self.0.partition_point(|(s, _)| *s <= end);
        let known: u64 =
            self.0[first..beyond].iter().map(|(s, e)| (*e).min(end).saturating_sub((*s).max(start))).sum();
        let merged = self.0[first..beyond].iter().fold((start, end), |(a, b), (s, e)| (a.min(*s), b.max(*e)));
        self.0.splice(first..beyond, [merged]);
        known
    }

    /// Returns the bytes from 0 to the first hole.
    pub(crate) fn in_order(&self) -> u64 {
        self.0.first().filter(|(start, _)| *start == 0).map_or(0, |(_, end)| *end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_fill_and_duplicates_count() {
        let mut r = Ranges::default();
        assert_eq!((r.add(0, 100), r.in_order()), (0, 100));
        assert_eq!((r.add(200, 300), r.in_order()), (0, 100)); // a hole from 100 to 200
        assert_eq!((r.add(250, 400), r.in_order()), (50, 100));
        assert_eq!((r.add(50, 150), r.in_order()), (50, 150));
        assert_eq!((r.add(150, 200), r.in_order()), (0, 400)); // the hole is closed
        assert_eq!(r.add(0, 400), 400);
    }
}
