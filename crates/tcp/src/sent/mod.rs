//! What has been sent and not yet acknowledged cumulatively: one entry a segment, oldest first.
//!
//! The SACK scoreboard lives here too [RFC 6675 §3]. `pipe` is kept up to date with each change, so asking for it
//! costs nothing:
//! ```text
//! in pipe =  (first transmission, neither SACKed nor lost)  +  (retransmission since the last loss, not SACKed)
//! ```
//! Two ways to find losses: a segment counts as lost when `DupThresh` discontiguous SACKed ranges, or more than
//! (DupThresh - 1) * SMSS SACKed bytes, lie above it (IsLost; both only grow towards lower offsets, so one edge divides
//! lost from not lost); or, with RACK, when it was sent long enough before one that was delivered.
//!
//! Nothing here takes longer with more segments outstanding, on average: runs of SACKed segments are skipped by links
//! that are shortened as they are used, what is to be sent again waits in a heap, times are in a list of their own.

mod flights;

use crate::rate::Stamp;
use dumbbell_units::{Dur, Time};
use flights::Flights;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// One segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) first_at: Time,
    pub(crate) last_at: Time,
    /// Of the last transmission.
    pub(crate) stamp: Stamp,
    pub(crate) transmissions: u32,
    /// How far to go for the next segment that may not be SACKed, if this one is.
    skip: u32,
    /// Whether the last of its offsets is a FIN.
    pub(crate) fin: bool,
    sacked: bool,
    lost: bool,
    resent: bool,
}

impl Sent {
    pub(crate) fn len(&self) -> u64 {
        self.end - self.start
    }

    pub(crate) fn payload(&self) -> u32 {
        (self.len() - u64::from(self.fin)) as u32
    }

    pub(crate) fn delivered(&self, told: Told) -> Delivered {
        Delivered {
            told,
            first_at: self.first_at,
            last_at: self.last_at,
            transmissions: self.transmissions,
            payload: self.payload(),
        }
    }

    fn in_pipe(&self) -> u64 {
        if self.sacked {
            return 0;
        }
        self.len() * (u64::from(!self.lost) + u64::from(self.resent))
    }

    /// Lost, and not sent again since.
    fn waits(&self) -> bool {
        self.lost && !self.resent && !self.sacked
    }
}

/// What an ACK told of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Acknowledged, and not SACKed before.
    Acknowledged,
    /// SACKed for the first time.
    Sacked,
    /// Acknowledged after it had been SACKed.
    AcknowledgedAfterSack,
}

/// A segment that has just been acknowledged or SACKed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// In which way.
    pub told: Told,
    /// When it was first sent.
    pub first_at: Time,
    /// When it was last sent.
    pub last_at: Time,
    /// How often it was sent.
    pub transmissions: u32,
    /// Its payload bytes.
    pub payload: u32,
}

/// A transmission that has just been taken for lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost {
    pub(crate) start: u64,
    pub(crate) payload: u32,
    pub(crate) stamp: Stamp,
}

/// What RACK needs.
#[derive(Clone, Debug, Default)]
struct ByTime {
    flights: Flights,
    /// Numbers of segments that were lost, lowest first; some have been sent again or delivered since.
    waiting: BinaryHeap<Reverse<u64>>,
}

/// See the top of this file.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentQueue {
    segments: VecDeque<Sent>,
    /// The number of the oldest, counted from the start of the connection.
    first: u64,
    /// Length of a full segment: where most are full, it tells where one is to be found.
    mss: u64,
    pipe: u64,
    sacked_bytes: u64,
    sacked_segments: u64,
    /// Segments whose retransmission is under way, and those that wait to be sent again.
    resent_segments: u64,
    waiting_segments: u64,
    /// Segments that are taken for lost, sent again or not.
    lost_segments: u64,
    /// End of the highest SACKed segment.
    high_sacked: u64,
    /// Every unSACKed segment that starts below this offset is lost.
    lost_below: u64,
    /// Retransmissions of this episode have gone up to here (HighRxt).
    pub(crate) high_rxt: u64,
    /// Transmissions taken for lost that nobody has been told of yet.
    pub(crate) newly_lost: Vec<Lost>,
    by_time: Option<Box<ByTime>>,
}

impl SentQueue {
    pub(crate) fn new(mss: u32, rack: bool) -> SentQueue {
        SentQueue { mss: u64::from(mss), by_time: rack.then(Box::default), ..SentQueue::default() }
    }

    pub(crate) fn front(&self) -> Option<&Sent> {
        self.segments.front()
    }

    pub(crate) fn back(&self) -> Option<&Sent> {
        self.segments.back()
    }

    pub(crate) fn count(&self) -> usize {
        self.segments.len()
    }

    pub(crate) fn pipe(&self) -> u64 {
        self.pipe
    }

    pub(crate) fn high_sacked(&self) -> u64 {
        self.high_sacked
    }

    pub(crate) fn sacked_bytes(&self) -> u64 {
        self.sacked_bytes
    }

    pub(crate) fn sacked_segments(&self) -> u64 {
        self.sacked_segments
    }

    pub(crate) fn resent_segments(&self) -> u64 {
        self.resent_segments
    }

    /// Whether a segment is taken for lost, be it sent again or not.
    pub(crate) fn has_lost(&self) -> bool {
        self.lost_segments > 0
    }

    /// Whether a lost segment has not been sent again.
    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting_segments > 0
    }

    /// A new segment leaves for the first time.
    pub(crate) fn push(&mut self, start: u64, end: u64, fin: bool, now: Time) {
        self.pipe += end - start;
        self.segments.push_back(Sent {
            start,
            end,
            first_at: now,
            last_at: now,
            stamp: Stamp::default(),
            transmissions: 1,
            skip: 1,
            fin,
            sacked: false,
            lost: false,
            resent: false,
        });
        if let Some(by_time) = &mut self.by_time {
            by_time.flights.push();
        }
    }

    /// The index of the segment that holds `offset`, or of the first above it.
    fn index_of(&self, offset: u64) -> Option<usize> {
        let front = self.segments.front()?;
        if offset < front.end {
            return Some(0);
        }
        let guess = 1 + ((offset - front.end) / self.mss.max(1)) as usize;
        if self.segments.get(guess).is_some_and(|s| s.start <= offset && offset < s.end) {
            return Some(guess);
        }
        let i = self.segments.partition_point(|s| s.end <= offset);
        (i < self.segments.len()).then_some(i)
    }

    /// The segment that holds `offset`, or the first above it.
    pub(crate) fn at(&self, offset: u64) -> Option<&Sent> {
        self.index_of(offset).map(|i| &self.segments[i])
    }

    /// The first index from `i` on whose segment is not SACKed; the number of segments if there is none.
    fn unsacked(&self, mut i: usize) -> usize {
        while let Some(s) = self.segments.get(i).filter(|s| s.sacked) {
            i += s.skip as usize;
        }
        i
    }

    /// The same; the way there will be shorter next time.
    fn skip_sacked(&mut self, from: usize) -> usize {
        let to = self.unsacked(from);
        let mut i = from;
        while i < to {
            let s = &mut self.segments[i];
            let next = i + s.skip as usize;
            s.skip = (to - i) as u32;
            i = next;
        }
        to
    }

    /// The first segment at or above `offset` that is not SACKed.
    pub(crate) fn unsacked_from(&mut self, offset: u64) -> Option<&Sent> {
        let from = self.index_of(offset)?;
        let i = self.skip_sacked(from);
        self.segments.get(i)
    }

    /// Changes a segment and what is counted of it.
    #[inline]
    fn change(&mut self, i: usize, change: impl FnOnce(&mut Sent)) {
        let s = &mut self.segments[i];
        self.pipe -= s.in_pipe();
        self.resent_segments -= u64::from(s.resent && !s.sacked);
        self.waiting_segments -= u64::from(s.waits());
        self.lost_segments -= u64::from(s.lost && !s.sacked);
        change(s);
        self.pipe += s.in_pipe();
        self.resent_segments += u64::from(s.resent && !s.sacked);
        self.waiting_segments += u64::from(s.waits());
        self.lost_segments += u64::from(s.lost && !s.sacked);
    }

    /// The segment that holds `offset` keeps the stamp of its sending.
    pub(crate) fn stamp(&mut self, offset: u64, stamp: Stamp) {
        if let Some(i) = self.index_of(offset) {
            self.segments[i].stamp = stamp;
        }
    }

    /// The same for the newest segment.
    pub(crate) fn stamp_newest(&mut self, stamp: Stamp) {
        if let Some(s) = self.segments.back_mut() {
            s.stamp = stamp;
        }
    }

    /// The segment that starts at `start` leaves again.
    pub(crate) fn resend(&mut self, start: u64, now: Time) -> Option<Sent> {
        let i = self.index_of(start)?;
        self.change(i, |s| s.resent = true);
        self.high_rxt = self.high_rxt.max(self.segments[i].end);
        self.repeat(start, now)
    }

    /// The same, although it isn't lost: it stays what it is.
    pub(crate) fn repeat(&mut self, start: u64, now: Time) -> Option<Sent> {
        let i = self.index_of(start)?;
        let s = &mut self.segments[i];
        s.last_at = now;
        s.transmissions += 1;
        let s = *s;
        if let Some(by_time) = &mut self.by_time {
            by_time.flights.again(self.first + i as u64);
        }
        Some(s)
    }

    /// Everything below `ack` is acknowledged; each segment goes to `each`.
    #[inline]
    pub(crate) fn acknowledge(&mut self, ack: u64, mut each: impl FnMut(&Sent, Told)) {
        while let Some(s) = self.segments.front_mut() {
            if s.end > ack {
                if s.start < ack {
                    self.pipe -= s.in_pipe();
                    self.sacked_bytes -= if s.sacked { ack - s.start } else { 0 };
                    s.start = ack; // part of a segment
                    self.pipe += s.in_pipe();
                }
                return;
            }
            self.pipe -= s.in_pipe();
            if s.sacked {
                self.sacked_bytes -= s.len();
                self.sacked_segments -= 1;
                each(s, Told::AcknowledgedAfterSack);
            } else {
                self.resent_segments -= u64::from(s.resent);
                self.waiting_segments -= u64::from(s.waits());
                self.lost_segments -= u64::from(s.lost);
                each(s, Told::Acknowledged);
            }
            self.segments.pop_front();
            self.first += 1;
            if let Some(by_time) = &mut self.by_time {
                by_time.flights.pop();
            }
        }
    }

    /// A SACK block `start..end`; each segment that it is the first to tell of goes to `each`. True if there was one.
    pub(crate) fn sack(&mut self, start: u64, end: u64, mut each: impl FnMut(&Sent, Told)) -> bool {
        let Some(first) = self.index_of(start) else { return false };
        let mut i = self.skip_sacked(first);
        let mut news = false;
        while let Some(s) = self.segments.get(i).copied().filter(|s| s.end <= end) {
            if s.start >= start {
                self.change(i, |s| s.sacked = true);
                self.sacked_bytes += s.len();
                self.sacked_segments += 1;
                self.high_sacked = self.high_sacked.max(s.end);
                if let Some(by_time) = &mut self.by_time {
                    by_time.flights.remove(self.first + i as u64);
                }
                each(&s, Told::Sacked);
                news = true;
            }
            i = self.skip_sacked(i + 1);
        }
        news
    }

    /// Finds what is lost by now (IsLost, [RFC 6675 §4]) and takes it out of pipe.
    pub(crate) fn find_lost(&mut self, threshold: u32, mss: u64) {
        if let Some(top) = self.enough_above(threshold, mss) {
            let first = self.index_of(self.lost_below).unwrap_or(0);
            let mut i = self.skip_sacked(first);
            while i < top {
                self.lose(i);
                self.lost_below = self.lost_below.max(self.segments[i].end);
                i = self.skip_sacked(i + 1);
            }
        }
    }

    /// The highest SACKed segment that has enough SACKed above it, itself included, to make those below it lost; none
    /// where all of them are already. Looks at few segments, because few are enough.
    fn enough_above(&self, threshold: u32, mss: u64) -> Option<usize> {
        if self.sacked_bytes == 0 {
            return None;
        }
        let top = self.index_of(self.high_sacked.saturating_sub(1))?;
        let (mut bytes, mut ranges, mut in_range) = (0, 0, false);
        for i in (0..=top).rev() {
            let s = &self.segments[i];
            if s.start < self.lost_below {
                return None;
            }
            if s.sacked {
                bytes += s.len();
                ranges += u32::from(!in_range);
                if ranges >= threshold || bytes > u64::from(threshold - 1) * mss {
                    return Some(i);
                }
            }
            in_range = s.sacked;
        }
        None
    }

    /// A segment counts as lost, whether or not it has been sent again.
    fn lose(&mut self, i: usize) {
        let s = self.segments[i];
        if !s.sacked && !s.lost {
            self.change(i, |s| s.lost = true);
            self.newly_lost.push(Lost { start: s.start, payload: s.payload(), stamp: s.stamp });
        }
    }

    /// The last transmission of a segment counts as lost.
    fn lose_transmission(&mut self, i: usize) {
        let s = self.segments[i];
        if s.sacked || s.waits() {
            return;
        }
        self.change(i, |s| (s.lost, s.resent) = (true, false));
        self.newly_lost.push(Lost { start: s.start, payload: s.payload(), stamp: s.stamp });
        if let Some(by_time) = &mut self.by_time {
            let number = self.first + i as u64;
            by_time.flights.remove(number);
            by_time.waiting.push(Reverse(number));
        }
    }

    /// The same for the segment that holds `offset`: it is to be sent again.
    pub(crate) fn lose_at(&mut self, offset: u64) {
        if let Some(i) = self.index_of(offset) {
            self.lose_transmission(i);
        }
    }

    /// Whether the oldest outstanding segment counts as lost.
    pub(crate) fn front_is_lost(&self) -> bool {
        self.front().is_some_and(|s| s.lost && !s.sacked)
    }

    /// The lowest lost segment that hasn't been sent again in this episode (NextSeg rule 1).
    pub(crate) fn next_lost(&mut self) -> Option<&Sent> {
        let lost_below = self.lost_below;
        self.unsacked_from(self.high_rxt).filter(|s| s.start < lost_below)
    }

    /// Whether there is one.
    pub(crate) fn has_next_lost(&self) -> bool {
        let first = self.index_of(self.high_rxt).and_then(|i| self.segments.get(self.unsacked(i)));
        first.is_some_and(|s| s.start < self.lost_below)
    }

    /// The highest segment that is not SACKed.
    pub(crate) fn last_unsacked(&self) -> Option<&Sent> {
        self.segments.iter().rev().find(|s| !s.sacked)
    }

    /// A new recovery episode: what was sent again in an earlier one may be sent again.
    pub(crate) fn start_episode(&mut self) {
        let una = self.front().map_or(0, |s| s.start);
        self.high_rxt = una;
    }

    /// A timeout: everything outstanding and not SACKed is taken for lost.
    pub(crate) fn lose_all(&mut self) {
        for i in 0..self.segments.len() {
            self.lose_transmission(i);
        }
        self.lost_below = self.segments.back().map_or(0, |s| s.end);
        self.start_episode();
    }

    /// The oldest outstanding segment is taken for lost (duplicate ACKs say so).
    pub(crate) fn lose_front(&mut self) {
        if let Some(end) = self.segments.front().filter(|s| !s.sacked && !s.lost).map(|s| s.end) {
            self.lose(0);
            self.lost_below = self.lost_below.max(end);
        }
    }
}

/// What RACK asks for [RFC 8985 §6].
impl SentQueue {
    /// Takes for lost what was sent before the edge (when a delivered segment was sent, and where it ends) and `wait`
    /// or longer ago. Gives when the rest of what was sent before the edge will be.
    pub(crate) fn lose_overdue(&mut self, edge: (Time, u64), wait: Dur, now: Time) -> Option<Time> {
        loop {
            let number = self.by_time.as_ref()?.flights.oldest()?;
            let i = (number - self.first) as usize;
            let s = &self.segments[i];
            if (s.last_at, s.end) >= edge {
                return None;
            }
            if s.last_at + wait > now {
                break;
            }
            self.lose_transmission(i);
        }
        let (segments, first) = (&self.segments, self.first);
        let sent = |number: u64| &segments[(number - first) as usize];
        let last = self.by_time.as_mut()?.flights.mark(|n| (sent(n).last_at, sent(n).end) < edge)?;
        Some(sent(last).last_at + wait)
    }

    /// A timeout: the oldest segment is lost, and what was sent `wait` or longer ago [RFC 8985 §6.3].
    pub(crate) fn lose_old(&mut self, wait: Dur, now: Time) {
        for i in 0..self.segments.len() {
            if i == 0 || self.segments[i].last_at + wait <= now {
                self.lose_transmission(i);
            }
        }
    }

    /// The lowest segment that waits to be sent again.
    pub(crate) fn next_waiting(&mut self) -> Option<&Sent> {
        let by_time = self.by_time.as_mut()?;
        while let Some(Reverse(number)) = by_time.waiting.peek() {
            let i = number.checked_sub(self.first).map(|i| i as usize);
            if i.is_some_and(|i| self.segments[i].waits()) {
                return i.map(|i| &self.segments[i]);
            }
            by_time.waiting.pop();
        }
        None
    }

    /// Nothing was lost after all: what waits to be sent again is under way.
    pub(crate) fn forget_losses(&mut self) {
        for i in 0..self.segments.len() {
            if self.segments[i].lost && !self.segments[i].sacked {
                self.change(i, |s| s.lost = false);
            }
        }
        let Some(by_time) = &mut self.by_time else { return };
        by_time.waiting.clear();
        let mut under_way: Vec<(Time, u64, u64)> = (self.first..)
            .zip(&self.segments)
            .filter(|(_, s)| !s.sacked)
            .map(|(number, s)| (s.last_at, s.end, number))
            .collect();
        under_way.sort_unstable();
        for (_, _, number) in under_way {
            by_time.flights.again(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_units::random::Stream;

    fn counted(q: &SentQueue) -> [u64; 6] {
        [q.pipe, q.sacked_bytes, q.sacked_segments, q.resent_segments, q.waiting_segments, q.lost_segments]
    }

    fn from_scratch(q: &SentQueue) -> [u64; 6] {
        let sum = |f: fn(&Sent) -> u64| q.segments.iter().map(f).sum();
        [
            sum(Sent::in_pipe),
            sum(|s| if s.sacked { s.len() } else { 0 }),
            sum(|s| u64::from(s.sacked)),
            sum(|s| u64::from(s.resent && !s.sacked)),
            sum(|s| u64::from(s.waits())),
            sum(|s| u64::from(s.lost && !s.sacked)),
        ]
    }

    /// Ten segments of 100 bytes, the given ones SACKed in turn, losses looked for after each.
    fn board(sacked: &[u64]) -> SentQueue {
        let mut q = SentQueue::new(100, false);
        (0..10).for_each(|i| q.push(1 + i * 100, 101 + i * 100, false, Time(i)));
        let mut delivered = Vec::new();
        for i in sacked {
            assert!(q.sack(1 + i * 100, 101 + i * 100, |s, _| delivered.push(s.start)));
            q.find_lost(3, 100);
            assert_eq!(counted(&q), from_scratch(&q));
        }
        assert_eq!(delivered.len(), sacked.len());
        q
    }

    #[test]
    fn three_sacked_segments_above_make_a_loss() {
        // DupThresh - 1 = 2 segments of bytes must be exceeded.
        assert!(!board(&[1, 2]).front_is_lost());
        let q = board(&[1, 2, 3]);
        assert!(q.front_is_lost());
        assert_eq!(q.pipe(), 600); // ten, less three SACKed, less one lost
    }

    #[test]
    fn three_ranges_make_a_loss_of_what_lies_below_the_lowest() {
        let mut q = board(&[9, 7, 5]);
        // 0..=4 have three ranges above; 6 has two, 8 one.
        assert_eq!(q.next_lost().map(|s| s.start), Some(1));
        assert_eq!(q.pipe(), 200);
    }

    #[test]
    fn retransmissions_count_again_and_are_not_repeated() {
        let mut q = board(&[1, 2, 3, 5, 6, 7]);
        // Lost: 0 and 4. Pipe: 8, 9.
        assert_eq!(q.pipe(), 200);
        q.start_episode();
        for expected in [1, 401] {
            let start = q.next_lost().map(|s| s.start).unwrap();
            assert_eq!(start, expected);
            q.resend(start, Time(99));
        }
        assert!(q.next_lost().is_none());
        assert_eq!(q.pipe(), 400);
        assert_eq!(counted(&q), from_scratch(&q));
    }

    #[test]
    fn acknowledging_part_of_a_segment_keeps_the_rest() {
        let mut q = board(&[]);
        let mut delivered = 0;
        q.acknowledge(151, |_, _| delivered += 1);
        assert_eq!((delivered, q.front().map(|s| s.start), q.pipe()), (1, Some(151), 850));
    }

    #[test]
    fn a_timeout_empties_the_pipe() {
        let mut q = board(&[1, 2, 3]);
        q.lose_all();
        assert_eq!((q.pipe(), q.next_lost().map(|s| s.start)), (0, Some(1)));
        q.resend(1, Time(5));
        assert_eq!((q.pipe(), q.next_lost().map(|s| s.start)), (100, Some(401)));
    }

    /// IsLost as RFC 6675 §4 puts it, for each segment: DupThresh discontiguous SACKed ranges above it, or more than
    /// (DupThresh - 1) * SMSS SACKed bytes. Nothing that was found lost is taken back.
    #[test]
    fn losses_are_found_where_the_rule_finds_them() {
        let is_lost = |q: &SentQueue, i: usize| {
            let above: Vec<&Sent> = q.segments.iter().skip(i + 1).collect();
            let ranges = (0..above.len()).filter(|j| above[*j].sacked && (*j == 0 || !above[*j - 1].sacked));
            let bytes: u64 = above.iter().filter(|s| s.sacked).map(|s| s.len()).sum();
            ranges.count() >= 3 || bytes > 200
        };
        let mut random = Stream::new(7, "lost");
        let mut q = SentQueue::new(100, false);
        let (mut end, mut told) = (1, 0);
        for _ in 0..20_000 {
            let una = q.front().map_or(end, |s| s.start);
            let offset = una + random.next_u64() % (end - una).max(1);
            match random.next_u64() % 8 {
                0..=3 => {
                    let len = [100, 100, 100, 40, 90][(random.next_u64() % 5) as usize];
                    q.push(end, end + len, false, Time(0));
                    end += len;
                }
                4 => q.acknowledge(una + (offset - una) / 6, |_, _| {}),
                5 => drop(q.sack(offset, offset + 300, |_, _| {})),
                6 => q.lose_front(),
                _ => {
                    let expected: Vec<bool> = (0..q.count())
                        .map(|i| q.segments[i].lost || (!q.segments[i].sacked && is_lost(&q, i)))
                        .collect();
                    q.newly_lost.clear();
                    q.find_lost(3, 100);
                    let found: Vec<bool> = q.segments.iter().map(|s| s.lost).collect();
                    assert_eq!(found, expected);
                    told += q.newly_lost.len();
                }
            }
            assert_eq!(counted(&q), from_scratch(&q));
        }
        assert!(told > 500, "few were lost: {told}");
    }

    /// A window of 50,000 segments whose first is lost, and each of the others SACKed by an ACK of its own. Going over
    /// what is SACKed with each ACK would take 1.25 thousand million steps, in this build some ten seconds.
    #[test]
    fn a_large_recovery_takes_no_longer_for_each_ack() {
        let begun = std::time::Instant::now();
        let mut q = SentQueue::new(100, false);
        (0..50_000).for_each(|i| q.push(1 + i * 100, 101 + i * 100, false, Time(i)));
        for i in 1..50_000 {
            q.sack(101, 101 + i * 100, |_, _| {});
            q.find_lost(3, 100);
            if q.next_lost().is_some() {
                q.resend(1, Time(60_000));
            }
        }
        assert_eq!((q.pipe(), q.resent_segments()), (100, 1));
        assert!(begun.elapsed().as_secs() < 3, "{:?}", begun.elapsed());
    }

    #[test]
    fn everything_is_found_where_a_plain_search_finds_it() {
        // Segments of three lengths, so that the guess of a place is right only sometimes.
        let mut random = Stream::new(5, "sent");
        let mut q = SentQueue::new(100, true);
        let (mut end, mut now) = (1, 0);
        for _ in 0..20_000 {
            now += random.next_u64() % 3;
            let una = q.front().map_or(end, |s| s.start);
            let offset = una + random.next_u64() % (end - una).max(1);
            match random.next_u64() % 10 {
                0..=3 => {
                    let len = [100, 100, 100, 37, 250][(random.next_u64() % 5) as usize];
                    q.push(end, end + len, false, Time(now));
                    end += len;
                }
                4 => q.acknowledge(una + (offset - una) / 8, |_, _| {}),
                5 | 6 => {
                    let plain = |s: &&Sent| s.start >= offset && s.end <= offset + 700 && !s.sacked;
                    let expected: Vec<u64> = q.segments.iter().filter(plain).map(|s| s.start).collect();
                    let mut told = Vec::new();
                    let news = q.sack(offset, offset + 700, |s, _| told.push(s.start));
                    assert_eq!((news, &told), (!expected.is_empty(), &expected));
                }
                7 => {
                    let edge = (Time(now - now.min(20)), end + 1);
                    let wait = Dur(random.next_u64() % 40);
                    let under_way = |s: &&Sent| !s.sacked && !s.waits() && (s.last_at, s.end) < edge;
                    let rest = q
                        .segments
                        .iter()
                        .filter(under_way)
                        .map(|s| s.last_at + wait)
                        .filter(|t| *t > Time(now));
                    let expected = rest.max();
                    assert_eq!(q.lose_overdue(edge, wait, Time(now)), expected);
                }
                8 => {
                    let expected = q.segments.iter().find(|s| s.waits()).map(|s| s.start);
                    assert_eq!(q.next_waiting().map(|s| s.start), expected);
                    if let Some(start) = expected {
                        q.resend(start, Time(now));
                    }
                }
                _ if now % 50 == 0 => q.forget_losses(),
                _ if now % 50 == 1 => q.lose_old(Dur(30), Time(now)),
                _ => {
                    let expected = q.segments.iter().find(|s| s.end > offset && !s.sacked).map(|s| s.start);
                    assert_eq!(q.unsacked_from(offset).map(|s| s.start), expected);
                    assert_eq!(
                        q.at(offset).map(|s| s.start),
                        q.segments.iter().find(|s| s.end > offset).map(|s| s.start)
                    );
                }
            }
            assert_eq!(counted(&q), from_scratch(&q));
        }
        assert!(q.first > 1000, "few were acknowledged");
    }
}
