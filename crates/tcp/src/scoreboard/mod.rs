//! The SACK scoreboard [RFC 6675 §3]: one entry for each segment that is not acknowledged cumulatively, lowest first.
//!
//! `pipe` is updated with each change, so that reading it costs nothing:
//! ```text
//! in pipe =  (first transmission, neither SACKed nor lost)  +  (retransmission since the last loss, not SACKed)
//! ```
//! Losses are found by one of two methods. RFC 6675 counts: a segment is lost (IsLost) when `DupThresh` discontiguous
//! SACKed ranges, or more than (DupThresh - 1) * SMSS SACKed bytes, lie above it. Both counts only grow towards lower
//! offsets, so that one offset divides lost from other segments. RACK uses times: a segment is lost when it was sent
//! long enough before one that was delivered (`rack.rs`).
//!
//! The average time of each operation doesn't depend on the number of outstanding segments: runs of SACKed segments are
//! skipped by links that each use shortens, lost segments are in a heap, transmissions are in a list ordered by time.
//! Counters have Linux's names: sacked_out, lost_out, retrans_out [Linux include/linux/tcp.h struct tcp_sock].

mod rack;
mod segment;
#[cfg(test)]
mod tests;
mod transmissions;

pub use segment::{DeliveredSegment, SegmentFate};
pub(crate) use segment::{LostTransmission, SentSegment};

use crate::delivery_rate::TxState;
use dumbbell_units::Time;
use rack::RackLists;
use std::cmp::Reverse;
use std::collections::VecDeque;

/// Segments for which there is memory, at least, once there was one.
const SHORTEST: usize = 8;

/// The segments from snd_una on, and their counters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    segments: VecDeque<SentSegment>,
    /// State of the connection at the last transmission of each segment, where delivery-rate samples are needed.
    tx: Option<VecDeque<TxState>>,
    /// Number of the lowest segment, counted from the start of the connection.
    first: u64,
    /// Length of a full segment: a first guess for the index of an offset.
    mss: u64,
    /// Bytes that a segment counts as; 0: as its own bytes.
    unit: u64,
    pipe: u64,
    sacked_bytes: u64,
    /// SACKed segments.
    sacked_out: u64,
    /// Segments whose retransmission is in flight.
    retrans_out: u64,
    /// Lost segments that have not been retransmitted.
    needing_retransmission: u64,
    /// Segments that are marked as lost, retransmitted or not.
    lost_out: u64,
    /// Segments that were sent more than once.
    repeated: u64,
    /// End of the highest SACKed segment.
    high_sacked: u64,
    /// Every segment below this offset that isn't SACKed is lost.
    lost_below: u64,
    /// End of the highest segment that was retransmitted in this recovery [RFC 6675 §2 HighRxt].
    pub(crate) high_rxt: u64,
    /// Transmissions marked as lost that were not yet reported to congestion control; only their bytes are counted
    /// where delivery-rate samples aren't needed.
    pub(crate) newly_lost: Vec<LostTransmission>,
    pub(crate) newly_lost_bytes: u64,
    rack: Option<Box<RackLists>>,
    /// Segments that searches have visited, which a test limits.
    #[cfg(test)]
    steps: std::cell::Cell<u64>,
}

impl Scoreboard {
    pub(crate) fn new(mss: u32, unit: u64, uses_rack: bool, keeps_rates: bool) -> Scoreboard {
        Scoreboard {
            mss: u64::from(mss),
            unit,
            tx: keeps_rates.then(VecDeque::new),
            rack: uses_rack.then(Box::default),
            ..Scoreboard::default()
        }
    }

    /// Releases the memory, if nothing is outstanding.
    pub(crate) fn release_memory(&mut self) {
        if self.segments.is_empty() {
            self.segments = VecDeque::new();
            self.tx = self.tx.take().map(|_| VecDeque::new());
            self.newly_lost = Vec::new();
            self.rack = self.rack.take().map(|rack| Box::new(rack.without_memory()));
        }
    }

    /// The segment at snd_una.
    pub(crate) fn head(&self) -> Option<&SentSegment> {
        self.segments.front()
    }

    pub(crate) fn segment_count(&self) -> usize {
        self.segments.len()
    }

    pub(crate) fn pipe(&self) -> u64 {
        self.pipe
    }

    /// Bytes that a segment counts as; 0: as its own bytes.
    pub(crate) fn unit(&self) -> u64 {
        self.unit
    }

    /// Bytes that `segments` segments with `bytes` bytes in all count as, in the window and in what is delivered.
    #[inline]
    pub(crate) fn counted(&self, bytes: u64, segments: u64) -> u64 {
        if self.unit > 0 { self.unit * segments } else { bytes }
    }

    pub(crate) fn high_sacked(&self) -> u64 {
        self.high_sacked
    }

    pub(crate) fn sacked_bytes(&self) -> u64 {
        self.sacked_bytes
    }

    pub(crate) fn sacked_out(&self) -> u64 {
        self.sacked_out
    }

    pub(crate) fn retrans_out(&self) -> u64 {
        self.retrans_out
    }

    /// True if a segment is marked as lost, retransmitted or not.
    pub(crate) fn has_lost(&self) -> bool {
        self.lost_out > 0
    }

    /// True if a lost segment has not been retransmitted.
    pub(crate) fn needs_retransmission(&self) -> bool {
        self.needing_retransmission > 0
    }

    /// True if each segment was sent once, and none is SACKed or lost.
    #[inline]
    pub(crate) fn is_intact(&self) -> bool {
        self.repeated | self.sacked_out | self.lost_out | self.newly_lost_bytes == 0 && self.newly_lost.is_empty()
    }

    /// True if a segment was sent more than once.
    pub(crate) fn has_repeated(&self) -> bool {
        self.repeated > 0
    }

    /// Adds a new segment; `follows_in_burst` is true if the previous one is part of the same burst.
    #[inline(always)] // it has one caller
    pub(crate) fn push(&mut self, start: u64, end: u64, fin: bool, follows_in_burst: bool, now: Time) {
        self.pipe += self.counted(end - start, 1);
        self.segments.push_back(SentSegment {
            start,
            end,
            first_sent: now,
            xmit_ts: now,
            transmissions: 1,
            skip: 1,
            follows_in_burst,
            fin,
            psh: false,
            sacked: false,
            lost: false,
            retransmitted: false,
        });
        if let Some(tx) = &mut self.tx {
            tx.push_back(TxState::default());
        }
        if let Some(rack) = &mut self.rack {
            rack.transmissions.push();
        }
    }

    /// Sets PSH on the newest segment, for each of its transmissions.
    pub(crate) fn set_psh_on_newest(&mut self) {
        if let Some(newest) = self.segments.back_mut() {
            newest.psh = true;
        }
    }

    /// Returns the index of the segment that contains `offset`, or of the first above it.
    fn index_of(&self, offset: u64) -> Option<usize> {
        let head = self.segments.front()?;
        if offset < head.end {
            return Some(0);
        }
        let guess = 1 + ((offset - head.end) / self.mss.max(1)) as usize;
        if self.segments.get(guess).is_some_and(|s| s.start <= offset && offset < s.end) {
            return Some(guess);
        }
        let i = self.segments.partition_point(|s| s.end <= offset);
        (i < self.segments.len()).then_some(i)
    }

    /// Returns the segment that contains `offset`, or the first above it.
    pub(crate) fn at(&self, offset: u64) -> Option<&SentSegment> {
        self.index_of(offset).map(|i| &self.segments[i])
    }

    /// Returns the first index from `i` on whose segment is not SACKed; the number of segments if all are.
    fn unsacked(&self, mut i: usize) -> usize {
        while let Some(s) = self.segments.get(i).filter(|s| s.sacked) {
            self.count_step();
            i += s.skip as usize;
        }
        i
    }

    /// Counts a step of a search, in tests only.
    #[inline(always)]
    fn count_step(&self) {
        #[cfg(test)]
        self.steps.set(self.steps.get() + 1);
    }

    /// Returns the same, and shortens the links on the path for the next call.
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

    /// Returns the first segment at or above `offset` that is not SACKed.
    pub(crate) fn unsacked_from(&mut self, offset: u64) -> Option<&SentSegment> {
        let from = self.index_of(offset)?;
        let i = self.skip_sacked(from);
        self.segments.get(i)
    }

    /// Changes a segment and updates the counters.
    #[inline]
    fn change(&mut self, i: usize, change: impl FnOnce(&mut SentSegment)) {
        let s = &mut self.segments[i];
        self.pipe -= s.in_pipe(self.unit);
        self.retrans_out -= u64::from(s.retransmitted && !s.sacked);
        self.needing_retransmission -= u64::from(s.needs_retransmission());
        self.lost_out -= u64::from(s.lost && !s.sacked);
        change(s);
        self.pipe += s.in_pipe(self.unit);
        self.retrans_out += u64::from(s.retransmitted && !s.sacked);
        self.needing_retransmission += u64::from(s.needs_retransmission());
        self.lost_out += u64::from(s.lost && !s.sacked);
    }

    /// Stores the state of the connection at the last transmission of the segment that contains `offset`.
    pub(crate) fn set_tx_state(&mut self, offset: u64, state: TxState) {
        if let Some(i) = self.index_of(offset)
            && let Some(tx) = &mut self.tx
        {
            tx[i] = state;
        }
    }

    /// The same for the newest segment.
    pub(crate) fn set_tx_state_of_newest(&mut self, state: TxState) {
        if let Some(tx) = self.tx.as_mut().and_then(VecDeque::back_mut) {
            *tx = state;
        }
    }

    /// The state of the connection at the last transmission of a segment; None where they aren't kept.
    fn tx_state(&self, i: usize) -> Option<TxState> {
        self.tx.as_ref().map(|tx| tx[i])
    }

    /// Notes that the segment at `start` is retransmitted; returns the segment.
    pub(crate) fn retransmit(&mut self, start: u64, now: Time) -> Option<SentSegment> {
        let i = self.index_of(start)?;
        self.change(i, |s| s.retransmitted = true);
        self.high_rxt = self.high_rxt.max(self.segments[i].end);
        self.repeat(start, now)
    }

    /// The same for a segment that isn't lost, such as a probe: pipe doesn't count the second transmission.
    pub(crate) fn repeat(&mut self, start: u64, now: Time) -> Option<SentSegment> {
        let i = self.index_of(start)?;
        let s = &mut self.segments[i];
        s.xmit_ts = now;
        self.repeated += u64::from(s.transmissions == 1);
        s.transmissions += 1;
        let s = *s;
        if let Some(rack) = &mut self.rack {
            rack.transmissions.retransmit(self.first + i as u64);
        }
        Some(s)
    }

    /// Removes all segments below `ack`, which are acknowledged; calls `each` for each of them.
    #[inline]
    pub(crate) fn acknowledge(&mut self, ack: u64, each: impl FnMut(&SentSegment, Option<TxState>, SegmentFate)) {
        self.remove_below(ack, each);
        let length = self.segments.len().max(SHORTEST);
        if self.segments.capacity() > 4 * length {
            self.shrink(2 * length);
        }
    }

    /// Frees memory after the window has become much smaller: a network may have very many flows, whose first windows
    /// are their longest.
    #[cold]
    fn shrink(&mut self, to: usize) {
        self.segments.shrink_to(to);
        if let Some(tx) = &mut self.tx {
            tx.shrink_to(to);
        }
    }

    #[inline]
    fn remove_below(&mut self, ack: u64, mut each: impl FnMut(&SentSegment, Option<TxState>, SegmentFate)) {
        while let Some(s) = self.segments.front_mut() {
            if s.end > ack {
                if s.start < ack {
                    self.pipe -= s.in_pipe(self.unit);
                    self.sacked_bytes -= if s.sacked { ack - s.start } else { 0 };
                    s.start = ack; // a part of the segment is acknowledged
                    self.pipe += s.in_pipe(self.unit);
                }
                return;
            }
            let tx = self.tx.as_mut().and_then(VecDeque::pop_front);
            self.pipe -= s.in_pipe(self.unit);
            self.repeated -= u64::from(s.transmissions > 1);
            if s.sacked {
                self.sacked_bytes -= s.len();
                self.sacked_out -= 1;
                each(s, tx, SegmentFate::AcknowledgedAfterSack);
            } else {
                self.retrans_out -= u64::from(s.retransmitted);
                self.needing_retransmission -= u64::from(s.needs_retransmission());
                self.lost_out -= u64::from(s.lost);
                each(s, tx, SegmentFate::Acknowledged);
            }
            self.segments.pop_front();
            self.first += 1;
            if let Some(rack) = &mut self.rack {
                rack.transmissions.pop();
            }
        }
    }

    /// The same while [`Scoreboard::is_intact`]; `acked`: bytes from snd_una to `ack`. Returns the number of segments.
    #[inline(always)] // it has one caller
    pub(crate) fn acknowledge_intact(
        &mut self,
        ack: u64,
        acked: u64,
        each: impl FnMut(&SentSegment, Option<TxState>),
    ) -> u64 {
        let before = self.segments.len();
        self.remove_intact_below(ack, each);
        let segments = (before - self.segments.len()) as u64;
        self.pipe -= self.counted(acked, segments);
        segments
    }

    #[inline(always)] // it has one caller
    fn remove_intact_below(&mut self, ack: u64, mut each: impl FnMut(&SentSegment, Option<TxState>)) {
        while let Some(s) = self.segments.front_mut() {
            if s.end > ack {
                s.start = s.start.max(ack);
                return;
            }
            let is_last = s.end == ack;
            let tx = self.tx.as_mut().and_then(VecDeque::pop_front);
            each(s, tx);
            self.segments.pop_front();
            self.first += 1;
            if let Some(rack) = &mut self.rack {
                rack.transmissions.pop();
            }
            if is_last {
                return;
            }
        }
    }

    /// Marks the segments of a SACK block `start..end`; calls `each` for each that was not SACKed before. Returns true
    /// if there was one.
    pub(crate) fn sack(
        &mut self,
        start: u64,
        end: u64,
        mut each: impl FnMut(&SentSegment, Option<TxState>, SegmentFate),
    ) -> bool {
        let Some(first) = self.index_of(start) else { return false };
        let mut i = self.skip_sacked(first);
        let mut any_new = false;
        while let Some(s) = self.segments.get(i).copied().filter(|s| s.end <= end) {
            if s.start >= start {
                self.change(i, |s| s.sacked = true);
                self.sacked_bytes += s.len();
                self.sacked_out += 1;
                self.high_sacked = self.high_sacked.max(s.end);
                if let Some(rack) = &mut self.rack {
                    rack.transmissions.remove(self.first + i as u64);
                }
                each(&s, self.tx_state(i), SegmentFate::Sacked);
                any_new = true;
            }
            i = self.skip_sacked(i + 1);
        }
        any_new
    }

    /// Marks the segments that are lost by the SACKed ones above them [RFC 6675 §4 Update, IsLost].
    pub(crate) fn update(&mut self, dup_thresh: u32, mss: u64) {
        if let Some(top) = self.lowest_proof_of_loss(dup_thresh, mss) {
            let first = self.index_of(self.lost_below).unwrap_or(0);
            let mut i = self.skip_sacked(first);
            while i < top {
                self.mark_lost(i);
                self.lost_below = self.lost_below.max(self.segments[i].end);
                i = self.skip_sacked(i + 1);
            }
        }
    }

    /// Returns the highest SACKed segment that, with those above it, proves all lower segments lost; None if all of
    /// these are marked already. The search from the top is short because few SACKed segments suffice.
    fn lowest_proof_of_loss(&self, dup_thresh: u32, mss: u64) -> Option<usize> {
        if self.sacked_bytes == 0 {
            return None;
        }
        let top = self.index_of(self.high_sacked.saturating_sub(1))?;
        let (mut bytes, mut ranges, mut in_range) = (0, 0, false);
        for i in (0..=top).rev() {
            self.count_step();
            let s = &self.segments[i];
            if s.start < self.lost_below {
                return None;
            }
            if s.sacked {
                bytes += s.len();
                ranges += u32::from(!in_range);
                if ranges >= dup_thresh || bytes > u64::from(dup_thresh - 1) * mss {
                    return Some(i);
                }
            }
            in_range = s.sacked;
        }
        None
    }

    /// Marks a segment as lost; its retransmission, if any, stays in pipe.
    fn mark_lost(&mut self, i: usize) {
        let s = self.segments[i];
        if !s.sacked && !s.lost {
            self.change(i, |s| s.lost = true);
            self.note_lost(i);
        }
    }

    /// Notes a loss that congestion control must know.
    fn note_lost(&mut self, i: usize) {
        let s = &self.segments[i];
        match &self.tx {
            None => self.newly_lost_bytes += u64::from(s.counted(self.unit)),
            Some(tx) => {
                self.newly_lost.push(LostTransmission { start: s.start, bytes: s.counted(self.unit), tx: tx[i] });
            }
        }
    }

    /// Marks the last transmission of a segment as lost.
    fn mark_transmission_lost(&mut self, i: usize) {
        let s = &mut self.segments[i];
        if s.sacked || s.needs_retransmission() {
            return;
        }
        self.pipe -= s.in_pipe(self.unit);
        self.retrans_out -= u64::from(s.retransmitted);
        self.lost_out += u64::from(!s.lost);
        self.needing_retransmission += 1;
        (s.lost, s.retransmitted) = (true, false); // not in pipe
        self.note_lost(i);
        if let Some(rack) = &mut self.rack {
            let number = self.first + i as u64;
            rack.transmissions.remove(number);
            rack.lost.push(Reverse(number));
        }
    }

    /// Marks the last transmission of the segment that contains `offset` as lost.
    pub(crate) fn mark_lost_at(&mut self, offset: u64) {
        if let Some(i) = self.index_of(offset) {
            self.mark_transmission_lost(i);
        }
    }

    /// True if the segment at snd_una is lost: IsLost(HighACK + 1) [RFC 6675 §5].
    pub(crate) fn is_head_lost(&self) -> bool {
        self.head().is_some_and(|s| s.lost && !s.sacked)
    }

    /// Returns the lowest lost segment that was not retransmitted in this recovery [RFC 6675 §4 NextSeg (1)].
    pub(crate) fn next_lost(&mut self) -> Option<&SentSegment> {
        let lost_below = self.lost_below;
        self.unsacked_from(self.high_rxt).filter(|s| s.start < lost_below)
    }

    /// True if [`Scoreboard::next_lost`] returns a segment.
    pub(crate) fn has_next_lost(&self) -> bool {
        let first = self.index_of(self.high_rxt).and_then(|i| self.segments.get(self.unsacked(i)));
        first.is_some_and(|s| s.start < self.lost_below)
    }

    /// Returns the highest segment that is not SACKed.
    pub(crate) fn last_unsacked(&self) -> Option<&SentSegment> {
        self.segments.iter().rev().find(|s| !s.sacked)
    }

    /// Resets HighRxt at the start of a recovery: segments may be retransmitted again [RFC 6675 §5 step (4)].
    pub(crate) fn reset_high_rxt(&mut self) {
        self.high_rxt = self.head().map_or(0, |s| s.start);
    }

    /// Marks as lost all segments that are not SACKed: the retransmission timer has expired [RFC 6675 §5.1]. Not for
    /// RACK, which has its own rule. One pass: after a burst of losses this is repeated for a large window.
    pub(crate) fn mark_all_lost(&mut self) {
        let (mut newly, mut bytes) = (0, 0);
        for (i, s) in self.segments.iter_mut().enumerate() {
            if s.sacked || s.needs_retransmission() {
                continue;
            }
            newly += 1;
            self.retrans_out -= u64::from(s.retransmitted);
            self.lost_out += u64::from(!s.lost);
            (s.lost, s.retransmitted) = (true, false);
            match &self.tx {
                None => bytes += u64::from(s.counted(self.unit)),
                Some(tx) => {
                    self.newly_lost.push(LostTransmission { start: s.start, bytes: s.counted(self.unit), tx: tx[i] });
                }
            }
        }
        self.pipe = 0;
        self.needing_retransmission += newly;
        self.newly_lost_bytes += bytes;
        self.lost_below = self.segments.back().map_or(0, |s| s.end);
        self.reset_high_rxt();
    }

    /// Marks the segment at snd_una as lost, because of duplicate ACKs.
    pub(crate) fn mark_head_lost(&mut self) {
        if let Some(end) = self.segments.front().filter(|s| !s.sacked && !s.lost).map(|s| s.end) {
            self.mark_lost(0);
            self.lost_below = self.lost_below.max(end);
        }
    }
}
