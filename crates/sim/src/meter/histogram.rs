//! A histogram of positive integers with a relative resolution below 0.1 %, which stores only the parts in use.
//!
//! ```text
//! bucket   values below 2048 have one each; from there on each power of two is divided into 1024 buckets of equal width
//! list     the buckets of the first 512 values, in any order: most flows and queues have fewer
//! page     then: counters of 16 consecutive buckets, allocated with the first value in one of them
//! ```
//! Each bucket is reported by its largest value. The buckets are those of HdrHistogram with three significant digits.

/// Buckets of a power of two, as a power of two.
const RESOLUTION_BITS: u32 = 10;
/// Values below it have a bucket each.
const EXACT_BELOW: u64 = 2 << RESOLUTION_BITS;
/// Values in the list: it then takes as much memory as 16 pages, which a spread of 2 % needs.
const LISTED: usize = 512;
/// Buckets of a page: their counters fill a cache line.
const PAGE: usize = 16;
/// In the directory: a page that isn't allocated.
const NO_PAGE: u16 = u16::MAX;

/// See the top of this file.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    /// The buckets of the values, as long as there are no pages; there are fewer than 2^16 buckets.
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
fn bucket_of(value: u64) -> usize {
    let exponent = ((EXACT_BELOW - 1) | value).ilog2() - RESOLUTION_BITS;
    ((u64::from(exponent) << RESOLUTION_BITS) + (value >> exponent)) as usize
}

/// Returns the largest value of a bucket.
fn largest_of(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < EXACT_BELOW {
        return bucket;
    }
    let exponent = (bucket >> RESOLUTION_BITS) - 1;
    let part = bucket - (exponent << RESOLUTION_BITS);
    (part << exponent) + ((1 << exponent) - 1)
}

impl Histogram {
    /// Number of values.
    pub(super) fn len(&self) -> u64 {
        self.pages.as_ref().map_or(self.list.len() as u64, |pages| pages.total())
    }

    /// Adds a value.
    #[inline]
    pub(super) fn record(&mut self, value: u64) {
        let bucket = bucket_of(value);
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
    pub(super) fn merge(&mut self, other: &Histogram) {
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

    /// Returns the `rank`-th smallest value, from 1, as the largest value of its bucket; 0 if there are fewer values.
    pub(super) fn at_rank(&self, rank: u64) -> u64 {
        if let Some(pages) = &self.pages {
            return pages.at_rank(rank);
        }
        let mut list = self.list.clone();
        match usize::try_from(rank.saturating_sub(1)) {
            Ok(place) if place < list.len() => {
                let (_, bucket, _) = list.select_nth_unstable(place);
                largest_of(usize::from(*bucket))
            }
            _ => 0,
        }
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

    /// Returns the `rank`-th smallest value, from 1, as the largest value of its bucket; 0 if there are fewer values.
    fn at_rank(&self, rank: u64) -> u64 {
        let mut below = 0;
        for (page, &place) in (self.first..).zip(&self.directory).filter(|(_, place)| **place != NO_PAGE) {
            for (i, &count) in self.pages[usize::from(place)].iter().enumerate() {
                let bucket = page * PAGE + i;
                let wraps = self.overflows.iter().filter(|b| **b == bucket).count() as u64;
                below += u64::from(count) + (wraps << 32);
                if below >= rank {
                    return largest_of(bucket);
                }
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_follow_each_other_without_gaps() {
        // 2047 is the last with a bucket of its own; 2048 and 2049 share bucket 2048, which 4095 follows by 1023.
        let expected = [(1, 1), (2047, 2047), (2048, 2048), (2049, 2048), (4095, 3071), (4096, 3072)];
        expected.iter().for_each(|(value, bucket)| assert_eq!(bucket_of(*value), *bucket, "{value}"));
        assert_eq!(
            (largest_of(2047), largest_of(2048), largest_of(3071), largest_of(3072)),
            (2047, 2049, 4095, 4099)
        );
        assert_eq!(largest_of(bucket_of(u64::MAX)), u64::MAX);
    }

    #[test]
    fn a_counter_may_pass_32_bits() {
        let mut h = Pages::default();
        h.record(7);
        h.add(0, 7, u32::MAX); // 2^32 in all
        h.record(9);
        assert_eq!((h.at_rank(1 << 32), h.at_rank((1 << 32) + 1), h.total()), (7, 9, (1 << 32) + 1));
        let mut twice = h.clone();
        twice.merge(&h);
        assert_eq!((twice.at_rank(2 << 32), twice.at_rank((2 << 32) + 1)), (7, 9));
    }

    #[test]
    fn memory_follows_the_values_in_use() {
        let mut h = Histogram::default();
        for i in 0..100_000 {
            h.record(40_000_000 + i % 1000); // 40 ms to 40.001 ms: one or two buckets
        }
        let pages = h.pages.unwrap();
        assert!(pages.pages.len() <= 2 && pages.directory.len() <= 2, "{}", pages.pages.len());
        assert_eq!(h.list.capacity(), 0);
    }

    #[test]
    fn few_values_are_a_list() {
        let mut h = Histogram::default();
        (0..LISTED as u64).for_each(|i| h.record(40_000_000 + 40_000 * i));
        assert!(h.pages.is_none() && h.list.capacity() == LISTED, "{}", h.list.capacity());
        h.record(1);
        assert_eq!((h.len(), h.at_rank(1), h.pages.is_some()), (LISTED as u64 + 1, 1, true));
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
            let (mut h, mut rest) = (Histogram::default(), Histogram::default());
            for (i, v) in values.iter().enumerate() {
                reference.record(*v).unwrap();
                if i < split { h.record(*v) } else { rest.record(*v) }
            }
            h.merge(&rest);
            let mut sorted = values.clone();
            sorted.sort_unstable();
            for rank in 1..=values.len() as u64 {
                let value = sorted[rank as usize - 1];
                prop_assert_eq!(h.at_rank(rank), reference.highest_equivalent(value));
            }
            for q in [0.05, 0.5, 0.95, 0.99, 1.0] {
                let rank = (q * values.len() as f64).ceil().max(1.0) as u64;
                prop_assert_eq!(h.at_rank(rank), reference.value_at_quantile(q));
            }
        }
    }
}
