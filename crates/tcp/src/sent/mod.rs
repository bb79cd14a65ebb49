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

mod by_time;
mod flights;
mod segment;
#[cfg(test)]
mod tests;

pub use segment::{DeliveredSegment, SegmentFate};
pub(crate) use segment::{Lost, Sent};

use crate::rate::Stamp;
use by_time::ByTime;
use dumbbell_units::Time;
use std::cmp::Reverse;
use std::collections::VecDeque;

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

    /// A new segment leaves for the first time, in one burst with the one before it or not.
    pub(crate) fn push(&mut self, start: u64, end: u64, fin: bool, joined: bool, now: Time) {
        self.pipe += end - start;
        self.segments.push_back(Sent {
            start,
            end,
            first_at: now,
            last_at: now,
            stamp: Stamp::default(),
            transmissions: 1,
            skip: 1,
            joined,
            fin,
            psh: false,
            sacked: false,
            lost: false,
            resent: false,
        });
        if let Some(by_time) = &mut self.by_time {
            by_time.flights.push();
        }
    }

    /// The newest segment carries PSH, each time that it is sent.
    pub(crate) fn push_newest(&mut self) {
        if let Some(newest) = self.segments.back_mut() {
            newest.psh = true;
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
    pub(crate) fn acknowledge(&mut self, ack: u64, mut each: impl FnMut(&Sent, SegmentFate)) {
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
                each(s, SegmentFate::AcknowledgedAfterSack);
            } else {
                self.resent_segments -= u64::from(s.resent);
                self.waiting_segments -= u64::from(s.waits());
                self.lost_segments -= u64::from(s.lost);
                each(s, SegmentFate::Acknowledged);
            }
            self.segments.pop_front();
            self.first += 1;
            if let Some(by_time) = &mut self.by_time {
                by_time.flights.pop();
            }
        }
    }

    /// A SACK block `start..end`; each segment that it is the first to tell of goes to `each`. True if there was one.
    pub(crate) fn sack(&mut self, start: u64, end: u64, mut each: impl FnMut(&Sent, SegmentFate)) -> bool {
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
                each(&s, SegmentFate::Sacked);
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
