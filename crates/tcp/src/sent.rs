//! What has been sent and not yet acknowledged cumulatively: one entry a segment, oldest first.
//!
//! The SACK scoreboard lives here too [RFC 6675 §3]. `pipe` is kept up to date with each change, so asking for it
//! costs nothing:
//! ```text
//! in pipe =  (first transmission, neither SACKed nor lost)  +  (retransmission of this episode, not SACKed)
//! ```
//! A segment counts as lost when `DupThresh` discontiguous SACKed ranges, or more than (DupThresh - 1) * SMSS SACKed
//! bytes, lie above it (IsLost). Both only grow towards lower offsets, so one edge divides lost from not lost.

use crate::rate::Stamp;
use dumbbell_units::Time;
use std::collections::VecDeque;

/// One segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Whether the last of its offsets is a FIN.
    pub(crate) fin: bool,
    pub(crate) first_at: Time,
    pub(crate) last_at: Time,
    pub(crate) transmissions: u32,
    /// Of the last transmission.
    pub(crate) stamp: Stamp,
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

    fn delivered(&self, told: Told) -> Delivered {
        Delivered {
            told,
            first_at: self.first_at,
            last_at: self.last_at,
            transmissions: self.transmissions,
            payload: self.payload(),
            end: self.end,
            stamp: self.stamp,
        }
    }

    fn in_pipe(&self) -> u64 {
        if self.sacked {
            return 0;
        }
        self.len() * (u64::from(!self.lost) + u64::from(self.resent))
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
    /// Where it ends, as an offset from the initial sequence number.
    pub end: u64,
    /// What it remembers of its last sending.
    pub stamp: Stamp,
}

/// A transmission that has just been taken for lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost {
    pub(crate) payload: u32,
    pub(crate) stamp: Stamp,
}

/// See the top of this file.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentQueue {
    segments: VecDeque<Sent>,
    pipe: u64,
    sacked_bytes: u64,
    /// End of the highest SACKed segment.
    high_sacked: u64,
    /// Every unSACKed segment that starts below this offset is lost.
    lost_below: u64,
    /// Retransmissions of this episode have gone up to here (HighRxt).
    pub(crate) high_rxt: u64,
    /// Transmissions taken for lost that nobody has been told of yet.
    pub(crate) newly_lost: Vec<Lost>,
}

impl SentQueue {
    pub(crate) fn front(&self) -> Option<&Sent> {
        self.segments.front()
    }

    pub(crate) fn pipe(&self) -> u64 {
        self.pipe
    }

    pub(crate) fn high_sacked(&self) -> u64 {
        self.high_sacked
    }

    /// A new segment leaves for the first time.
    pub(crate) fn push(&mut self, start: u64, end: u64, fin: bool, now: Time) {
        self.pipe += end - start;
        self.segments.push_back(Sent {
            start,
            end,
            fin,
            first_at: now,
            last_at: now,
            transmissions: 1,
            stamp: Stamp::default(),
            sacked: false,
            lost: false,
            resent: false,
        });
    }

    fn index_of(&self, offset: u64) -> Option<usize> {
        let i = self.segments.partition_point(|s| s.end <= offset);
        (i < self.segments.len()).then_some(i)
    }

    /// The segment that holds `offset`, or the first above it.
    pub(crate) fn at(&self, offset: u64) -> Option<&Sent> {
        self.index_of(offset).map(|i| &self.segments[i])
    }

    /// The first segment at or above `offset` that is not SACKed.
    pub(crate) fn unsacked_from(&self, offset: u64) -> Option<&Sent> {
        self.segments.range(self.index_of(offset)?..).find(|s| !s.sacked)
    }

    /// The segment that holds `offset` keeps the stamp of its sending.
    pub(crate) fn stamp(&mut self, offset: u64, stamp: Stamp) {
        let last = self.segments.back_mut().filter(|s| s.start == offset);
        if let Some(s) = last {
            s.stamp = stamp;
        } else if let Some(i) = self.index_of(offset) {
            self.segments[i].stamp = stamp;
        }
    }

    /// The segment that starts at `start` leaves again.
    pub(crate) fn resend(&mut self, start: u64, now: Time) -> Option<Sent> {
        let i = self.index_of(start)?;
        let s = &mut self.segments[i];
        self.pipe -= s.in_pipe();
        s.resent = true;
        s.last_at = now;
        s.transmissions += 1;
        self.pipe += s.in_pipe();
        self.high_rxt = self.high_rxt.max(s.end);
        Some(*s)
    }

    /// Everything below `ack` is acknowledged; each segment goes to `delivered`.
    pub(crate) fn acknowledge(&mut self, ack: u64, delivered: &mut Vec<Delivered>) {
        while let Some(s) = self.segments.front_mut() {
            if s.end > ack {
                if s.start < ack {
                    self.pipe -= s.in_pipe();
                    s.start = ack; // part of a segment
                    self.pipe += s.in_pipe();
                }
                return;
            }
            self.pipe -= s.in_pipe();
            if s.sacked {
                self.sacked_bytes -= s.len();
            }
            delivered.push(s.delivered(if s.sacked {
                Told::AcknowledgedAfterSack
            } else {
                Told::Acknowledged
            }));
            self.segments.pop_front();
        }
    }

    /// A SACK block `start..end`; true if it tells anything new.
    pub(crate) fn sack(&mut self, start: u64, end: u64, delivered: &mut Vec<Delivered>) -> bool {
        let Some(first) = self.index_of(start) else { return false };
        let mut news = false;
        for s in self.segments.range_mut(first..) {
            if s.end > end {
                break;
            }
            if s.start < start || s.sacked {
                continue;
            }
            self.pipe -= s.in_pipe();
            s.sacked = true;
            self.sacked_bytes += s.len();
            self.high_sacked = self.high_sacked.max(s.end);
            delivered.push(s.delivered(Told::Sacked));
            news = true;
        }
        news
    }

    /// Finds what is lost by now (IsLost, [RFC 6675 §4]) and takes it out of pipe.
    pub(crate) fn find_lost(&mut self, threshold: u32, mss: u64) {
        let Some(top) = self.index_of(self.high_sacked.saturating_sub(1)) else { return };
        if self.sacked_bytes == 0 {
            return;
        }
        let (mut bytes, mut ranges, mut in_range) = (0, 0, false);
        for i in (0..=top).rev() {
            let s = &self.segments[i];
            if s.start < self.lost_below {
                return;
            }
            if s.sacked {
                bytes += s.len();
                ranges += u32::from(!in_range);
                in_range = true;
            } else {
                in_range = false;
                if ranges >= threshold || bytes > u64::from(threshold - 1) * mss {
                    self.mark_lost_below(i + 1);
                    return;
                }
            }
        }
    }

    fn mark_lost_below(&mut self, count: usize) {
        let first = self.index_of(self.lost_below).unwrap_or(0);
        for i in first..count {
            self.lose(i);
        }
        self.lost_below = self.lost_below.max(self.segments[count - 1].end);
    }

    /// A segment counts as lost, whether or not it has been sent again.
    fn lose(&mut self, i: usize) {
        let s = &mut self.segments[i];
        if !s.sacked && !s.lost {
            self.pipe -= s.in_pipe();
            s.lost = true;
            self.pipe += s.in_pipe();
            self.newly_lost.push(Lost { payload: s.payload(), stamp: s.stamp });
        }
    }

    /// The last transmission of a segment counts as lost.
    fn lose_transmission(&mut self, i: usize) {
        let s = &mut self.segments[i];
        if !s.sacked && (!s.lost || s.resent) {
            self.pipe -= s.in_pipe();
            (s.lost, s.resent) = (true, false);
            self.newly_lost.push(Lost { payload: s.payload(), stamp: s.stamp });
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
    pub(crate) fn next_lost(&self) -> Option<&Sent> {
        self.unsacked_from(self.high_rxt).filter(|s| s.start < self.lost_below)
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

    #[cfg(test)]
    fn pipe_from_scratch(&self) -> u64 {
        self.segments.iter().map(Sent::in_pipe).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten segments of 100 bytes, the given ones SACKed in turn, losses looked for after each.
    fn board(sacked: &[u64]) -> SentQueue {
        let mut q = SentQueue::default();
        (0..10).for_each(|i| q.push(1 + i * 100, 101 + i * 100, false, Time(i)));
        let mut delivered = Vec::new();
        for i in sacked {
            assert!(q.sack(1 + i * 100, 101 + i * 100, &mut delivered));
            q.find_lost(3, 100);
            assert_eq!(q.pipe(), q.pipe_from_scratch());
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
        let q = board(&[9, 7, 5]);
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
        assert_eq!(q.pipe(), q.pipe_from_scratch());
    }

    #[test]
    fn acknowledging_part_of_a_segment_keeps_the_rest() {
        let mut q = board(&[]);
        let mut delivered = Vec::new();
        q.acknowledge(151, &mut delivered);
        assert_eq!((delivered.len(), q.front().map(|s| s.start), q.pipe()), (1, Some(151), 850));
    }

    #[test]
    fn a_timeout_empties_the_pipe() {
        let mut q = board(&[1, 2, 3]);
        q.lose_all();
        assert_eq!((q.pipe(), q.next_lost().map(|s| s.start)), (0, Some(1)));
        q.resend(1, Time(5));
        assert_eq!((q.pipe(), q.next_lost().map(|s| s.start)), (100, Some(401)));
    }
}
