//! A histogram of integers, which stores only the parts in use: HdrHistogram's, of `2^BITS` buckets for each power of
//! two.
//!
//! ```text
//! bucket   values below 2^(BITS + 1) have one each; from there on each power of two is divided into buckets of equal
//!          width
//! list     the buckets of the first 512 values, in any order: most flows and queues have fewer
//! page     then: counters of 16 consecutive buckets, allocated with the first value in one of them
//! ```
//! A value differs from the middle of its bucket by at most one of `2^(BITS + 1)` parts of it. With 10 bits the buckets
//! are those of HdrHistogram with three significant digits.

use std::ops::RangeInclusive;

/// Values in the list: it then takes as much memory as 16 pages, which a spread of 2 % needs.
const LISTED: usize = 512;
/// Buckets of a page: their counters fill a cache line.
const PAGE: usize = 16;
/// In the directory: a page that isn't allocated.
const NO_PAGE: u16 = u16::MAX;

/// See [the module](self). `BITS`: at most 10, so that there are fewer than 2^16 buckets.
#[derive(Clone, Debug, Default)]
pub struct Histogram<const BITS: u32> {
    /// The buckets of the values, as long as there are no pages.
    list: Vec<u16>,
    pages: Option<Box<Pages>>,
}

/// The counters of buckets, in pages.
#[derive(Clone, Debug, Default)]
struct Pages {
    /// Number of the first page of the directory.
    first: usize,
    /// For each page from the first to the last in use: its place in `pages`.
    directory: Vec<u16>,
    pages: Vec<[u32; PAGE]>,
    /// Buckets whose counter has passed 2^32 once for each entry.
    overflows: Vec<usize>,
}

/// Returns the number of the bucket of a value.
#[inline]
fn bucket_of<const BITS: u32>(value: u64) -> usize {
    let exponent = (((2 << BITS) - 1) | value).ilog2() - BITS;
    ((u64::from(exponent) << BITS) + (value >> exponent)) as usize
}

/// Returns the values of a bucket.
fn values_of<const BITS: u32>(bucket: usize) -> RangeInclusive<u64> {
    let bucket = bucket as u64;
    let exponent = (bucket >> BITS).saturating_sub(1);
    let first = (bucket - (exponent << BITS)) << exponent;
    first..=first + ((1 << exponent) - 1)
}

impl<const BITS: u32> Histogram<BITS> {
    /// True without values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && self.pages.is_none()
    }

    /// Number of values.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.pages.as_ref().map_or(self.list.len() as u64, |pages| pages.total())
    }

    /// Adds a value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.record_in(bucket_of::<BITS>(value));
    }

    #[inline]
    fn record_in(&mut self, bucket: usize) {
        match &mut self.pages {
            Some(pages) => pages.record(bucket),
            None => self.list(bucket),
        }
    }

    /// Adds a value to the list.
    #[inline(never)]
    fn list(&mut self, bucket: usize) {
        if self.list.len() < self.list.capacity() {
            self.list.push(bucket as u16);
        } else {
            self.extend(bucket);
        }
    }

    /// Adds a value to a list that is full: the list grows, or pages take its place.
    #[cold]
    fn extend(&mut self, bucket: usize) {
        if self.list.len() < LISTED {
            self.list.reserve_exact(self.list.len().max(4));
            self.list.push(bucket as u16);
        } else {
            self.paged().record(bucket);
        }
    }

    /// Moves the values of the list to pages, and returns these.
    fn paged(&mut self) -> &mut Pages {
        let list = std::mem::take(&mut self.list);
        let pages = self.pages.get_or_insert_default();
        list.iter().for_each(|bucket| pages.record(usize::from(*bucket)));
        pages
    }

    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &Histogram<BITS>) {
        match &other.pages {
            Some(pages) => self.paged().merge(pages),
            None if self.pages.is_none() && self.list.len() + other.list.len() <= LISTED => {
                self.list.extend_from_slice(&other.list);
            }
            None => {
                let pages = self.paged();
                other.list.iter().for_each(|bucket| pages.record(usize::from(*bucket)));
            }
        }
    }

    /// Removes all values. The memory of the list is kept.
    pub fn clear(&mut self) {
        self.list.clear();
        self.pages = None;
    }

    /// Folds the numbers of the buckets that have values, ascending, with the number of these.
    pub fn fold_counts<T>(&self, init: T, mut f: impl FnMut(T, u16, u64) -> T) -> T {
        if let Some(pages) = &self.pages {
            return pages.counts().fold(init, |to, (bucket, count)| f(to, bucket as u16, count));
        }
        let (mut few, mut many) = ([0; 16], Vec::new());
        let sorted = if let Some(few) = few.get_mut(..self.list.len()) {
            few.copy_from_slice(&self.list);
            few
        } else {
            many.extend_from_slice(&self.list);
            &mut many
        };
        sorted.sort_unstable();
        sorted.chunk_by(|a, b| a == b).fold(init, |to, same| f(to, same[0], same.len() as u64))
    }

    /// Adds values by the number of their bucket, as [`Histogram::fold_counts`] passes them.
    pub fn add(&mut self, bucket: u16, count: u64) {
        let bucket = usize::from(bucket);
        if count > LISTED as u64 {
            self.paged().add_many(bucket, count);
        } else {
            (0..count).for_each(|_| self.record_in(bucket));
        }
    }

    /// Returns the values of the bucket that the `rank`-th smallest value is in, from 1; zero if there are fewer
    /// values.
    #[must_use]
    pub fn at_rank(&self, rank: u64) -> RangeInclusive<u64> {
        let bucket = match &self.pages {
            Some(pages) => pages.at_rank(rank),
            None => self.listed_at_rank(rank),
        };
        bucket.map_or(0..=0, values_of::<BITS>)
    }

    fn listed_at_rank(&self, rank: u64) -> Option<usize> {
        let mut list = self.list.clone();
        let place = usize::try_from(rank.saturating_sub(1)).ok().filter(|place| *place < list.len())?;
        Some(usize::from(*list.select_nth_unstable(place).1))
    }
}

impl Pages {
    /// Adds a value by its bucket.
    #[inline]
    fn record(&mut self, bucket: usize) {
        let page = (bucket / PAGE).wrapping_sub(self.first);
        let place = self.directory.get(page).map_or(NO_PAGE, |place| *place);
        // No page has the number NO_PAGE. The last value before an overflow is left to the other path.
        if let Some(page) = self.pages.get_mut(usize::from(place))
            && page[bucket % PAGE] < u32::MAX
        {
            page[bucket % PAGE] += 1;
        } else {
            self.record_rare(bucket);
        }
    }

    /// The same for a bucket whose page isn't allocated, or whose counter overflows.
    #[inline(never)]
    fn record_rare(&mut self, bucket: usize) {
        let place = self.allocate(bucket / PAGE);
        self.add(place, bucket, 1);
    }

    /// Number of values.
    fn total(&self) -> u64 {
        let counted = self.pages.iter().flatten().map(|count| u64::from(*count)).sum::<u64>();
        counted + ((self.overflows.len() as u64) << 32)
    }

    #[inline]
    fn add(&mut self, place: usize, bucket: usize, count: u32) {
        let counter = &mut self.pages[place][bucket % PAGE];
        let (sum, overflows) = counter.overflowing_add(count);
        *counter = sum;
        if overflows {
            self.overflows.push(bucket);
        }
    }

    /// Returns the place of a page that may have to be allocated.
    #[cold]
    fn allocate(&mut self, page: usize) -> usize {
        if self.directory.is_empty() {
            self.first = page;
        }
        if page < self.first {
            let missing = self.first - page;
            self.directory.splice(..0, std::iter::repeat_n(NO_PAGE, missing));
            self.first = page;
        }
        let entry = page - self.first;
        if entry >= self.directory.len() {
            self.directory.resize(entry + 1, NO_PAGE);
        }
        if self.directory[entry] == NO_PAGE {
            self.directory[entry] = self.pages.len() as u16; // there are fewer than 2^12 pages
            self.pages.push([0; PAGE]);
        }
        usize::from(self.directory[entry])
    }

    /// Adds all values of `other`.
    fn merge(&mut self, other: &Pages) {
        for (page, &from) in (other.first..).zip(&other.directory).filter(|(_, from)| **from != NO_PAGE) {
            let to = self.allocate(page);
            for (i, &count) in other.pages[usize::from(from)].iter().enumerate() {
                self.add(to, page * PAGE + i, count);
            }
        }
        self.overflows.extend_from_slice(&other.overflows);
    }

    /// Adds `count` values.
    fn add_many(&mut self, bucket: usize, count: u64) {
        let place = self.allocate(bucket / PAGE);
        self.add(place, bucket, count as u32);
        self.overflows.extend(std::iter::repeat_n(bucket, (count >> 32) as usize));
    }

    /// The buckets that have values, ascending, with the number of these.
    fn counts(&self) -> impl Iterator<Item = (usize, u64)> {
        let pages = (self.first..).zip(&self.directory).filter(|(_, place)| **place != NO_PAGE);
        let counters = pages.flat_map(|(page, &place)| {
            let counters = &self.pages[usize::from(place)];
            (page * PAGE..).zip(counters)
        });
        counters.map(|(bucket, &count)| (bucket, self.total_of(bucket, count))).filter(|(_, count)| *count > 0)
    }

    /// Number of values of a bucket whose counter has this value.
    fn total_of(&self, bucket: usize, count: u32) -> u64 {
        let wraps = self.overflows.iter().filter(|b| **b == bucket).count() as u64;
        u64::from(count) + (wraps << 32)
    }

    /// Returns the bucket of the `rank`-th smallest value, from 1.
    fn at_rank(&self, rank: u64) -> Option<usize> {
        let mut below = 0;
        let mut reached = self.counts().skip_while(|(_, count)| {
            below += count;
            below < rank
        });
        reached.next().map(|(bucket, _)| bucket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counts(h: &Histogram<6>) -> Vec<(u16, u64)> {
        h.fold_counts(Vec::new(), |list, bucket, count| [list, vec![(bucket, count)]].concat())
    }

    #[test]
    fn buckets_follow_each_other_without_gaps() {
        // 2047 is the last with a bucket of its own; 2048 and 2049 share bucket 2048, which 4095 follows by 1023.
        let expected = [(1, 1), (2047, 2047), (2048, 2048), (2049, 2048), (4095, 3071), (4096, 3072)];
        expected.iter().for_each(|(value, bucket)| assert_eq!(bucket_of::<10>(*value), *bucket, "{value}"));
        let values = [2047, 2048, 3071, 3072].map(values_of::<10>);
        assert_eq!(values, [2047..=2047, 2048..=2049, 4094..=4095, 4096..=4099]);
        assert_eq!(values_of::<10>(bucket_of::<10>(u64::MAX)).last(), Some(u64::MAX));
        // With 6 bits 127 is the last with a bucket of its own.
        assert_eq!([63, 64, 127, 128, 129, 130].map(bucket_of::<6>), [63, 64, 127, 128, 128, 129]);
        assert_eq!(bucket_of::<6>(u64::MAX), 58 * 64 + 63);
    }

    #[test]
    fn a_counter_may_pass_32_bits() {
        let mut h = Pages::default();
        h.record(7);
        h.add(0, 7, u32::MAX); // 2^32 in all
        h.record(9);
        assert_eq!((h.at_rank(1 << 32), h.at_rank((1 << 32) + 1)), (Some(7), Some(9)));
        assert_eq!(h.counts().collect::<Vec<_>>(), [(7, 1 << 32), (9, 1)]);
        let mut twice = h.clone();
        twice.merge(&h);
        assert_eq!((twice.at_rank(2 << 32), twice.at_rank((2 << 32) + 1)), (Some(7), Some(9)));
        assert_eq!(twice.total(), 2 * h.total());
    }

    #[test]
    fn memory_follows_the_values_in_use() {
        let mut h = Histogram::<10>::default();
        for i in 0..100_000 {
            h.record(40_000_000 + i % 1000); // 40 ms to 40.001 ms: one or two buckets
        }
        let pages = h.pages.unwrap();
        assert!(pages.pages.len() <= 2 && pages.directory.len() <= 2, "{}", pages.pages.len());
        assert_eq!(h.list.capacity(), 0);
    }

    #[test]
    fn few_values_are_a_list() {
        let mut h = Histogram::<10>::default();
        (0..LISTED as u64).for_each(|i| h.record(40_000_000 + 40_000 * i));
        assert!(h.pages.is_none() && h.list.capacity() == LISTED, "{}", h.list.capacity());
        h.record(1);
        assert_eq!((h.len(), h.at_rank(1), h.pages.is_some()), (LISTED as u64 + 1, 1..=1, true));
    }

    proptest! {
        /// Every rank, also after a merge, is that of HdrHistogram with three significant digits.
        #[test]
        fn agrees_with_hdr_histogram(
            values in prop::collection::vec((0u32..62, any::<u64>()), 1..1500),
            split in 0usize..1500,
        ) {
            let values: Vec<u64> = values.iter().map(|(bits, v)| (v >> (63 - bits)).max(1)).collect();
            let mut reference = hdrhistogram::Histogram::<u64>::new(3).unwrap();
            let (mut h, mut rest) = (Histogram::<10>::default(), Histogram::default());
            for (i, v) in values.iter().enumerate() {
                reference.record(*v).unwrap();
                if i < split { h.record(*v) } else { rest.record(*v) }
            }
            h.merge(&rest);
            let mut sorted = values.clone();
            sorted.sort_unstable();
            for rank in 1..=values.len() as u64 {
                let value = sorted[rank as usize - 1];
                prop_assert_eq!(*h.at_rank(rank).end(), reference.highest_equivalent(value));
            }
            for q in [0.05, 0.5, 0.95, 0.99, 1.0] {
                let rank = (q * values.len() as f64).ceil().max(1.0) as u64;
                prop_assert_eq!(*h.at_rank(rank).end(), reference.value_at_quantile(q));
            }
        }

        /// A histogram made from the counts of another one is the same.
        #[test]
        fn counts_make_the_same_histogram(values in prop::collection::vec(0u64..5000, 0..1500)) {
            let mut h = Histogram::<6>::default();
            values.iter().for_each(|v| h.record(*v));
            let mut again = Histogram::<6>::default();
            h.fold_counts((), |(), bucket, count| again.add(bucket, count));
            prop_assert_eq!((counts(&h), h.len()), (counts(&again), again.len()));
        }
    }
}
