//! Ranges of a byte stream: the bytes that a receiver has, or that its sender knows to be SACKed.

/// Disjoint ranges of bytes, ascending.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Adds [start, end); returns how many of its bytes were present before.
    pub(crate) fn add(&mut self, start: u64, end: u64) -> u64 {
        let first = self.0.partition_point(|(_, e)| *e < start);
        let beyond = self.0.partition_point(|(s, _)| *s <= end);
        let known: u64 = self.0[first..beyond].iter().map(|(s, e)| (*e).min(end).saturating_sub((*s).max(start))).sum();
        let merged = self.0[first..beyond].iter().fold((start, end), |(a, b), (s, e)| (a.min(*s), b.max(*e)));
        self.0.splice(first..beyond, [merged]);
        known
    }

    /// Returns the bytes of all ranges.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.iter().map(|(start, end)| end - start).sum()
    }

    /// Returns the parts of [start, end) that are missing, ascending.
    pub(crate) fn missing(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let first = self.0.partition_point(|(_, e)| *e <= start);
        let mut missing = Vec::new();
        let mut from = start;
        for (s, e) in self.0[first..].iter().take_while(|(s, _)| *s < end) {
            if from < *s {
                missing.push((from, *s));
            }
            from = *e;
        }
        if from < end {
            missing.push((from, end));
        }
        missing
    }

    /// Removes the ranges that end at `offset` or below.
    pub(crate) fn remove_below(&mut self, offset: u64) {
        let count = self.0.partition_point(|(_, e)| *e <= offset);
        self.0.drain(..count);
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

    #[test]
    fn missing_parts_lie_between_the_ranges() {
        let mut r = Ranges::default();
        assert_eq!(r.missing(5, 9), [(5, 9)]);
        r.add(10, 20);
        r.add(30, 40);
        assert_eq!(r.missing(0, 50), [(0, 10), (20, 30), (40, 50)]);
        assert_eq!(r.missing(10, 40), [(20, 30)]);
        assert_eq!(r.missing(15, 32), [(20, 30)]);
        assert!(r.missing(12, 20).is_empty());
        assert_eq!(r.missing(20, 30), [(20, 30)]);
        r.remove_below(25);
        assert_eq!(r.missing(0, 35), [(0, 30)]);
    }
}
