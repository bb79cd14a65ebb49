//! The unacknowledged segments of one direction: Wireshark's list of `tcp_unacked_t`.
//!
//! Wireshark searches the whole list for each ACK and each data segment. Here the list is sorted by the ends of the
//! segments: an ACK removes entries from the front, and the bytes in flight are the distance of two stored numbers. The
//! results are the same. If the numbers are so far apart that modular comparison is not an order (damaged or malicious
//! captures), the list changes to the order of arrival and is searched as in Wireshark.

use std::collections::VecDeque;

use dumbbell_wire::seq::{gt, le, lt, max, min};

/// Most segments in a list; further ones are not stored [Wireshark TCP_MAX_UNACKED_SEGMENTS].
pub(crate) const LIMIT: usize = 10_000;

/// Modular comparison is an order for numbers closer than this.
const NEAR: u32 = 1 << 30;

/// ACKs between two attempts to sort the list again.
const RETRY: u32 = 64;

/// An unacknowledged segment.
#[derive(Clone, Copy, Debug)]
struct Entry {
    seq: u32,
    end: u32,
    /// Number in order of arrival.
    order: u32,
    time: i64,
}

/// The list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unacked {
    entries: VecDeque<Entry>,
    arrivals: u32,
    /// The lowest `seq`; valid if `!unsorted`.
    lowest: u32,
    /// True if `seq` does not increase along the list; valid if `!unsorted`.
    nested: bool,
    /// True if the list is in order of arrival.
    unsorted: bool,
    /// ACKs since the list is unsorted.
    waited: u32,
}

impl Unacked {
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if another segment can be stored.
    pub(crate) fn has_space(&self) -> bool {
        self.entries.len() < LIMIT
    }

    /// Stores a segment. The list must not be full.
    #[inline]
    pub(crate) fn insert(&mut self, seq: u32, end: u32, time: i64) {
        let entry = Entry { seq, end, order: self.arrivals, time };
        self.arrivals = self.arrivals.wrapping_add(1);
        let Some(last) = self.entries.back() else {
            self.arrivals = 1;
            self.lowest = seq;
            self.nested = false;
            self.unsorted = end.wrapping_sub(seq) >= NEAR;
            self.waited = 0;
            self.entries.push_back(Entry { order: 0, ..entry });
            return;
        };
        if self.unsorted {
            self.entries.push_back(entry);
            return;
        }
        let (high, last_seq) = (last.end, last.seq);
        let lowest = min(seq, self.lowest);
        let sane = end.wrapping_sub(seq) < NEAR
            && (end.wrapping_sub(high) as i32).unsigned_abs() < NEAR
            && max(end, high).wrapping_sub(lowest) < NEAR;
        if !sane {
            self.make_unsorted();
            self.entries.push_back(entry);
            return;
        }
        self.lowest = lowest;
        if le(high, end) {
            self.nested |= lt(seq, last_seq);
            self.entries.push_back(entry);
        } else {
            let at = self.entries.partition_point(|e| le(e.end, end));
            let below = at.checked_sub(1).is_some_and(|i| lt(seq, self.entries[i].seq));
            self.nested |= below || lt(self.entries[at].seq, seq);
            self.entries.insert(at, entry);
        }
    }

    /// Removes the segments that `ack` covers and shortens one that it covers in part. Returns the age of the oldest
    /// segment that ends at `ack` (`partial`: or that contains `ack`).
    #[inline]
    pub(crate) fn acknowledge(&mut self, ack: u32, now: i64, partial: bool) -> Option<i64> {
        let front = self.entries.front()?;
        // Most ACKs without progress: below the whole list.
        if !self.unsorted && le(ack, self.lowest) && self.is_near(ack) && gt(front.end, ack) {
            return None;
        }
        self.take(ack, now, partial)
    }

    fn is_near(&self, ack: u32) -> bool {
        let high = self.entries.back().map_or(ack, |e| e.end);
        (ack.wrapping_sub(high) as i32).unsigned_abs() < NEAR
            && (ack.wrapping_sub(self.lowest) as i32).unsigned_abs() < NEAR
    }

    fn take(&mut self, ack: u32, now: i64, partial: bool) -> Option<i64> {
        if !self.unsorted && !self.is_near(ack) {
            self.make_unsorted();
        }
        if self.unsorted {
            return self.walk(ack, now, partial);
        }
        let mut oldest: Option<(u32, i64)> = None;
        let mut match_ = |e: &Entry| {
            if oldest.is_none_or(|(order, _)| e.order < order) {
                oldest = Some((e.order, now.wrapping_sub(e.time)));
            }
        };
        while let Some(e) = self.entries.front()
            && le(e.end, ack)
        {
            if e.end == ack {
                match_(e);
            }
            self.entries.pop_front();
        }
        if self.nested {
            for e in &mut self.entries {
                if lt(e.seq, ack) {
                    if partial {
                        match_(e);
                    }
                    e.seq = ack;
                }
            }
            self.rescan();
        } else {
            for e in &mut self.entries {
                if !lt(e.seq, ack) {
                    break;
                }
                if partial {
                    match_(e);
                }
                e.seq = ack;
            }
            self.lowest = self.entries.front().map_or(0, |e| e.seq);
        }
        oldest.map(|(_, age)| age)
    }

    /// Recomputes `lowest` and `nested`.
    fn rescan(&mut self) {
        let Some(first) = self.entries.front() else { return };
        self.lowest = first.seq;
        self.nested = false;
        let mut before = first.seq;
        for e in &self.entries {
            self.nested |= lt(e.seq, before);
            before = e.seq;
            self.lowest = min(self.lowest, e.seq);
        }
    }

    /// The search of Wireshark over the whole list.
    fn walk(&mut self, ack: u32, now: i64, partial: bool) -> Option<i64> {
        let mut age = None;
        self.entries.retain_mut(|e| {
            // From the oldest entry: the first match counts. Wireshark starts at the newest, where the last match
            // counts.
            if e.end == ack {
                age = age.or(Some(now.wrapping_sub(e.time)));
                return false;
            }
            if gt(ack, e.seq) && le(ack, e.end) {
                if partial {
                    age = age.or(Some(now.wrapping_sub(e.time)));
                }
                e.seq = ack;
            }
            gt(e.end, ack)
        });
        self.waited += 1;
        if self.waited.is_multiple_of(RETRY) {
            self.calm_down();
        }
        age
    }

    fn make_unsorted(&mut self) {
        self.entries.make_contiguous().sort_unstable_by_key(|e| e.order);
        self.unsorted = true;
        self.waited = 0;
    }

    fn calm_down(&mut self) {
        let Some(first) = self.entries.front().map(|e| e.seq) else { return };
        let near = |x: u32| (x.wrapping_sub(first) as i32).unsigned_abs() < NEAR / 2;
        if self.entries.iter().all(|e| near(e.seq) && near(e.end) && e.end.wrapping_sub(e.seq) < NEAR) {
            let key = |e: &Entry| (e.end.wrapping_sub(first) as i32, e.order);
            self.entries.make_contiguous().sort_unstable_by_key(key);
            self.unsorted = false;
            self.rescan();
        }
    }

    /// Distance from the lowest start to the highest end in the list, both as unsigned numbers relative to `base`.
    #[inline]
    pub(crate) fn span(&self, base: u32) -> u32 {
        let Some(last) = self.entries.back() else { return 0 };
        let (low, high) = (self.lowest.wrapping_sub(base), last.end.wrapping_sub(base));
        if !self.unsorted && low <= high {
            return high - low;
        }
        let high = self.entries.iter().map(|e| e.end.wrapping_sub(base)).max().unwrap_or(0);
        let low = self.entries.iter().map(|e| e.seq.wrapping_sub(base)).min().unwrap_or(0);
        high.wrapping_sub(low)
    }

    /// True if a stored segment covers `seq..end`.
    pub(crate) fn covers(&self, seq: u32, end: u32) -> bool {
        let covers = |e: &Entry| le(e.seq, seq) && le(end, e.end);
        if self.unsorted || self.nested || !self.is_near(end) {
            return self.entries.iter().any(covers);
        }
        // Sorted by both numbers: the first entry that reaches far enough has the lowest start.
        let at = self.entries.partition_point(|e| lt(e.end, end));
        self.entries.get(at).is_some_and(covers)
    }

    /// The end of the contiguous run of stored segments that begins at `from`.
    pub(crate) fn run_from(&self, from: u32) -> u32 {
        let mut later: Vec<(u32, u32)> =
            self.entries.iter().filter(|e| le(from, e.seq) && e.seq != e.end).map(|e| (e.seq, e.end)).collect();
        later.sort_unstable_by_key(|e| e.0.wrapping_sub(from));
        let mut end = from;
        for (seq, next) in later {
            if seq == end {
                end = next;
            }
        }
        end
    }
}

crate::pack::fields!(Entry { seq, end, order, time });
crate::pack::fields!(Unacked { entries, arrivals, lowest, nested, unsorted, waited });

#[cfg(test)]
mod tests {
    use super::*;

    /// Wireshark's list: newest first, searched as a whole.
    #[derive(Default)]
    struct Plain(Vec<(u32, u32, i64)>);

    impl Plain {
        fn acknowledge(&mut self, ack: u32, now: i64, partial: bool) -> Option<i64> {
            let mut age = None;
            for i in (0..self.0.len()).rev() {
                let (seq, end, time) = self.0[i];
                if end == ack {
                    age = Some(now - time);
                } else if gt(ack, seq) && le(ack, end) {
                    if partial {
                        age = Some(now - time);
                    }
                    self.0[i].0 = ack;
                }
            }
            self.0.retain(|&(_, end, _)| gt(end, ack));
            age
        }

        fn span(&self, base: u32) -> u32 {
            let high = self.0.iter().map(|e| e.1.wrapping_sub(base)).max().unwrap_or(0);
            high.wrapping_sub(self.0.iter().map(|e| e.0.wrapping_sub(base)).min().unwrap_or(0))
        }
    }

    #[test]
    fn the_sorted_list_has_the_results_of_wiresharks_list() {
        let mut state = 1_u64;
        let mut random = move |n: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % u64::from(n)) as u32
        };
        for round in 0..400 {
            // Some rounds cross 2^32, some cross the base of the relative numbers, some have random numbers.
            let base = [0, 5, u32::MAX - 3000, 1 << 31][round % 4];
            let strange = round % 5 == 0;
            let partial = round % 2 == 0;
            let (mut fast, mut plain) = (Unacked::default(), Plain::default());
            let mut next = base.wrapping_sub(200);
            for step in 0..600 {
                let now = i64::from(step);
                if random(3) > 0 {
                    let len = random(5) * 10;
                    let seq = if random(4) == 0 { next.wrapping_sub(random(400)) } else { next };
                    let seq = if strange && random(20) == 0 { random(u32::MAX) } else { seq };
                    let end = seq.wrapping_add(len);
                    fast.insert(seq, end, now);
                    plain.0.push((seq, end, now));
                    next = max(next, end);
                } else {
                    let ack = next.wrapping_sub(random(500));
                    let ack = if strange && random(30) == 0 { random(u32::MAX) } else { ack };
                    assert_eq!(fast.acknowledge(ack, now, partial), plain.acknowledge(ack, now, partial));
                }
                assert_eq!(fast.len(), plain.0.len(), "round {round} step {step}");
                assert_eq!(fast.span(base), plain.span(base), "round {round} step {step}");
                let (a, b) = (next.wrapping_sub(random(300)), next.wrapping_sub(random(300)));
                let covered = plain.0.iter().any(|e| le(e.0, a) && le(b, e.1));
                assert_eq!(fast.covers(a, b), covered, "round {round} step {step}");
            }
        }
    }
}
