//! SACK as in ns-2 [ns-2 tcp-sack1.cc, scoreboard-rq.cc]: `sack_rules = "ns2"`.
//!
//! ```text
//! third duplicate ACK   with new blocks, beyond `recover`: window halved, pipe = segments outstanding - 3, oldest
//!                       segment retransmitted
//! in recovery           each ACK: pipe - 1; a partial one: pipe - 1 more, timer restarted; each segment sent: pipe + 1
//! while pipe < cwnd     the lowest hole below a SACKed segment that was not retransmitted, then new data
//! ACK reaches recover   end of recovery; the blocks are forgotten, as with each new ACK outside of recovery
//! timeout               the blocks are forgotten; go-back-N; duplicate ACKs have no effect until the next new ACK
//! ```
//! Duplicate ACKs without new blocks don't count. There is no rescue retransmission, and no rule of three segments
//! above a hole [RFC 6675 §4].

use super::{NextSegment, Otherwise, Recovery, RecoveryCx};
use crate::ack::AckSummary;
use dumbbell_cc::CaState;

/// The sender's own record of SACK blocks, apart from the scoreboard, which forgets none.
#[derive(Clone, Debug, Default)]
pub(super) struct Sack1 {
    /// Ranges reported, in order, without overlaps.
    ranges: Vec<(u64, u64)>,
    /// Offset from which on holes were not retransmitted (h_seqno_).
    next_hole: u64,
    /// Segments in flight during recovery (pipe_).
    pipe: i64,
    /// True from a timeout to the next new ACK (timeout_).
    waits_for_new_ack: bool,
}

impl Sack1 {
    fn forget(&mut self) {
        self.ranges.clear();
        self.next_hole = 0;
    }

    /// Adds blocks, and removes all below `una`; returns true if there is anything new.
    fn add(&mut self, blocks: &[(u64, u64)], una: u64) -> bool {
        let total = |ranges: &[(u64, u64)]| ranges.iter().map(|(start, end)| end - start).sum::<u64>();
        self.ranges.retain(|(_, end)| *end > una);
        let before = total(&self.ranges);
        for &(start, end) in blocks.iter().filter(|(start, end)| *start >= una && start < end) {
            let joined = |r: &(u64, u64)| r.0 <= end && start <= r.1;
            let low = self.ranges.iter().filter(|r| joined(r)).map(|r| r.0).fold(start, u64::min);
            let high = self.ranges.iter().filter(|r| joined(r)).map(|r| r.1).fold(end, u64::max);
            self.ranges.retain(|r| !joined(r));
            let at = self.ranges.partition_point(|r| r.0 < low);
            self.ranges.insert(at, (low, high));
        }
        total(&self.ranges) != before
    }

    /// The lowest offset below a block that is neither in a block nor retransmitted.
    fn hole(&self, una: u64) -> Option<u64> {
        let mut at = self.next_hole.max(una);
        for &(start, end) in &self.ranges {
            if at < start {
                return Some(at);
            }
            at = at.max(end);
        }
        None
    }
}

impl Recovery {
    /// Handles an ACK.
    pub(super) fn sack1_on_ack(&mut self, blocks: &[(u64, u64)], ack: &AckSummary, cx: &mut RecoveryCx<'_>) {
        let in_recovery = self.state == CaState::Recovery;
        self.sack1.pipe -= i64::from(in_recovery);
        if ack.acked == 0 {
            self.sack1_on_duplicate_ack(blocks, cx);
            return;
        }
        cx.timer.expires = (!cx.all_acknowledged()).then(|| cx.timer.expiry(cx.rtt.rto(), cx.now));
        let full = self.recover.is_none_or(|r| cx.snd.una >= r);
        if in_recovery && !full {
            self.sack1.add(blocks, cx.snd.una);
            self.sack1.pipe -= 1;
            return;
        }
        (self.dupacks, self.limited_transmit, self.one_more) = (0, 0, false);
        self.sack1.forget();
        self.sack1.waits_for_new_ack = false;
        if in_recovery {
            self.recover = None;
            self.exit_recovery(f64::INFINITY, cx);
        } else if full {
            self.state = CaState::Open;
        }
    }

    fn sack1_on_duplicate_ack(&mut self, blocks: &[(u64, u64)], cx: &mut RecoveryCx<'_>) {
        let ignored = self.sack1.waits_for_new_ack || cx.all_acknowledged();
        if ignored || !self.sack1.add(blocks, cx.snd.una) {
            return;
        }
        self.dupacks += 1;
        self.one_more = true;
        let threshold = cx.config.recovery.dupack_threshold;
        if self.state == CaState::Recovery || self.dupacks != threshold || !self.is_beyond_recover(cx) {
            return;
        }
        self.sack1.pipe = cx.scoreboard.segment_count() as i64 - i64::from(threshold);
        self.sack1.next_hole = cx.scoreboard.head().map_or(0, |head| head.end);
        self.enter_recovery(cx);
    }

    /// Forgets the blocks after a timeout.
    pub(super) fn sack1_on_timeout(&mut self) {
        self.sack1 = super::Sack1 { waits_for_new_ack: true, ..super::Sack1::default() };
    }

    /// Returns the next segment.
    pub(super) fn sack1_next(&mut self, cx: &mut RecoveryCx<'_>) -> NextSegment {
        if self.state != CaState::Recovery {
            return self.window_next(cx);
        }
        if self.sack1.pipe >= (cx.cc.control.cwnd / cx.mss() as f64) as i64 {
            return NextSegment::Blocked { by_cwnd: true };
        }
        let hole = self.sack1.hole(cx.snd.una).and_then(|at| cx.scoreboard.at(at));
        if let Some((start, end)) = hole.map(|s| (s.start, s.end)) {
            self.sack1.pipe += 1;
            self.sack1.next_hole = end;
            return NextSegment::Retransmit(start);
        }
        NextSegment::New { limit: cx.mss(), may_wait: false, otherwise: Otherwise::Nothing }
    }

    /// Counts a new segment that is sent.
    pub(super) fn sack1_on_new_segment(&mut self) {
        self.sack1.pipe += i64::from(self.state == CaState::Recovery);
    }
}

#[cfg(test)]
mod tests {
    use super::Sack1;

    #[test]
    fn holes_are_below_blocks_and_repaired_once() {
        let mut sack1 = Sack1::default();
        assert!(sack1.add(&[(3000, 4000)], 1000));
        assert!(!sack1.add(&[(3000, 4000)], 1000)); // nothing new
        assert_eq!(sack1.hole(1000), Some(1000));
        sack1.next_hole = 2000;
        assert_eq!(sack1.hole(1000), Some(2000)); // one block above suffices
        assert!(sack1.add(&[(5000, 6000), (2000, 3000)], 1000));
        assert_eq!(sack1.ranges, [(2000, 4000), (5000, 6000)]);
        assert_eq!(sack1.hole(1000), Some(4000));
        sack1.next_hole = 5000;
        assert_eq!(sack1.hole(1000), None); // all retransmitted; above the highest block there is no hole
        sack1.forget();
        assert!(sack1.add(&[(5000, 6000)], 1000)); // new again
    }
}
