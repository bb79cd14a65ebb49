//! Recovery with RACK: the states, and how RACK, probes, PRR, F-RTO and undo interact in them [RFC 8985 §8; Linux
//! tcp_input.c tcp_fastretrans_alert, tcp_enter_recovery, tcp_enter_loss, tcp_enter_cwr].
//!
//! ```text
//! Open      -- a loss is found -->           Recovery   congestion control reduces, PRR shrinks the window gradually
//! Open      -- a mark -->                    Cwr        the same without retransmissions
//! any       -- timeout -->                   Loss       one segment, slow start; F-RTO first checks if it was spurious
//! Recovery, Loss -- recover acknowledged --> Open       (Cwr: acknowledged and one byte more)
//! Recovery, Loss -- shown to be spurious --> Open       reductions are undone
//! Loss      -- a retransmission is lost -->  Recovery   a further reduction
//! ```

use super::prr::Prr;
use super::{NextSegment, Otherwise, Recovery, RecoveryCx};
use crate::ack::{AckSummary, IncomingAck};
use crate::config::ReduceFrom;
use dumbbell_cc::{CaState, Congestion};

impl Recovery {
    /// Handles an ACK whose segments the scoreboard has recorded.
    pub(super) fn rack_on_ack(&mut self, ack: &IncomingAck<'_>, summary: &AckSummary, cx: &mut RecoveryCx<'_>) {
        self.new_data_only = false;
        if let Some(block) = ack.dsack {
            self.rack.on_dsack(cx.snd.una, cx.snd.nxt);
            self.count_dsack(block, cx.mss());
        }
        self.process_tlp_ack(summary, ack.dsack, cx);
        self.rack.timer_armed = false;
        self.complete_reduction(ack, summary, cx);
        match self.state {
            CaState::Recovery => self.on_ack_in_recovery(ack, summary, cx),
            CaState::Loss => self.on_ack_in_loss(ack, summary, cx),
            CaState::Open | CaState::Disorder | CaState::Cwr => self.on_ack_in_open(summary, cx),
        }
        if cx.all_acknowledged() {
            cx.timer.expires = None;
        } else if !self.rack.timer_armed && (summary.acked > 0 || summary.precedes(cx.scoreboard.head())) {
            self.schedule_probe_or_rto(true, cx);
        }
    }

    /// Ends the recovery or reduction that the ACK completes.
    fn complete_reduction(&mut self, ack: &IncomingAck<'_>, summary: &AckSummary, cx: &mut RecoveryCx<'_>) {
        let Some(recover) = self.recover else { return };
        match self.state {
            CaState::Recovery if cx.snd.una >= recover => {
                if self.is_spurious(ack, summary, cx) {
                    self.undo(false, cx);
                } else {
                    self.rack.on_recovery_exit();
                    self.end_reduction(cx);
                }
            }
            CaState::Cwr if cx.snd.una > recover => self.end_reduction(cx),
            _ => {}
        }
    }

    /// Sets the window to that of congestion control [RFC 9937 §6.4; Linux tcp_input.c tcp_end_cwnd_reduction].
    fn end_reduction(&mut self, cx: &mut RecoveryCx<'_>) {
        let bound = self.prr.take().map_or(f64::INFINITY, |prr| prr.ssthresh() as f64);
        self.state = CaState::Open;
        cx.notify_recovery_exit(bound);
    }

    pub(super) fn is_spurious(&self, ack: &IncomingAck<'_>, summary: &AckSummary, cx: &RecoveryCx<'_>) -> bool {
        (summary.acked > 0 && self.is_original_delayed(ack.echo, cx)) || self.are_all_retransmissions_unnecessary(cx)
    }

    fn on_ack_in_recovery(&mut self, ack: &IncomingAck<'_>, summary: &AckSummary, cx: &mut RecoveryCx<'_>) {
        if summary.acked > 0 && self.is_original_delayed(ack.echo, cx) {
            // The original filled the hole, late [Linux tcp_input.c tcp_try_undo_partial].
            self.rack.on_reordering(cx.snd.una - summary.acked);
            if cx.scoreboard.retrans_out() > 0 {
                self.new_data_only = true; // no further retransmissions until the ACKs of those in flight
                return;
            }
            self.undo(true, cx);
        } else if self.are_all_retransmissions_unnecessary(cx) {
            self.undo(false, cx);
        }
        self.detect_loss_and_arm_timer(cx);
        if self.state == CaState::Open && cx.scoreboard.has_lost() {
            self.enter_rack_recovery(summary.delivered, cx);
        }
    }

    fn on_ack_in_loss(&mut self, ack: &IncomingAck<'_>, summary: &AckSummary, cx: &mut RecoveryCx<'_>) {
        self.process_loss(ack, summary, cx);
        let retransmission_lost = self.detect_loss_and_arm_timer(cx);
        if (self.state == CaState::Open || retransmission_lost) && cx.scoreboard.has_lost() {
            self.enter_rack_recovery(summary.delivered, cx);
        }
    }

    pub(super) fn on_ack_in_open(&mut self, summary: &AckSummary, cx: &mut RecoveryCx<'_>) {
        if self.state == CaState::Open && self.are_all_retransmissions_unnecessary(cx) {
            self.undo(false, cx);
        }
        self.detect_loss_and_arm_timer(cx);
        // A segment that was sent and lost during the last recovery, and isn't acknowledged, starts another one.
        if cx.scoreboard.has_lost() {
            self.enter_rack_recovery(summary.delivered, cx);
        } else if cx.is_new_mark(summary) && self.state == CaState::Open {
            self.undo = None; // the reduction for a mark is never undone
            let recover_fs = self.recover_fs(summary.delivered, cx);
            cx.notify_mark(self.limited_transmit);
            if cx.config.ecn.own_response {
                return; // the congestion control algorithm reduces the window itself, when it receives the ACK
            }
            self.state = CaState::Cwr;
            self.recover = Some(cx.snd.max);
            self.start_reduction(recover_fs, cx);
        }
    }

    /// Starts recovery: congestion control reduces the window, unless a reduction is in progress, whose end is also the
    /// end of this recovery [Linux tcp_input.c tcp_enter_recovery, tcp_init_cwnd_reduction]. `delivered` are the bytes
    /// that the ACK delivers which shows the loss.
    pub(super) fn enter_rack_recovery(&mut self, delivered: u64, cx: &mut RecoveryCx<'_>) {
        cx.counters.fast_retransmits += 1;
        self.tlp.end_seq = None;
        if self.state == CaState::Cwr {
            cx.notify_losses();
        } else {
            self.init_undo(cx);
            let recover_fs = self.recover_fs(delivered, cx);
            cx.notify_congestion(Congestion::Loss, cx.timer.backoffs, self.limited_transmit);
            self.start_reduction(recover_fs, cx);
            self.recover = Some(cx.snd.max);
        }
        self.state = CaState::Recovery;
        self.inflation = 0;
        self.frto = false;
        // PRR allows at least one segment with the first ACK; an algorithm with its own recovery decides itself.
        self.retransmit_head = self.prr.is_none() && !cx.config.recovery.own_recovery;
    }

    /// Returns RecoverFS: the bytes that may be delivered during the reduction. Needed before the window is reduced.
    // DIVERGES [RFC 9937 §6.1]: where reductions start from cwnd or the offered window, it is cwnd [Linux tcp_input.c
    // tcp_init_cwnd_reduction].
    fn recover_fs(&self, delivered: u64, cx: &RecoveryCx<'_>) -> u64 {
        if cx.config.growth.reduce_from != ReduceFrom::Flight {
            return cx.cc.control.cwnd as u64;
        }
        let bytes = cx.snd.max - cx.snd.una - cx.scoreboard.sacked_bytes();
        let segments = cx.scoreboard.segment_count() as u64 - cx.scoreboard.sacked_out();
        cx.scoreboard.counted(bytes, segments) + delivered
    }

    /// Starts PRR, if it is on and the congestion control algorithm has no recovery of its own.
    fn start_reduction(&mut self, recover_fs: u64, cx: &RecoveryCx<'_>) {
        if cx.config.recovery.own_recovery || !cx.config.recovery.rack.is_some_and(|r| r.prr) {
            return;
        }
        let mss = cx.mss();
        let ssthresh = ((cx.cc.control.cwnd as u64) / mss * mss).max(mss);
        self.prr = Some(Prr::new(ssthresh, recover_fs, mss, cx.scoreboard.pipe()));
    }

    /// The retransmission timer has expired [Linux tcp_input.c tcp_enter_loss].
    pub(super) fn rack_on_timeout(&mut self, cx: &mut RecoveryCx<'_>) {
        let state = self.state;
        // A reduction in progress already answers the losses of its window.
        let answered = match state {
            CaState::Open | CaState::Disorder => false,
            CaState::Loss => cx.timer.backoffs > 0,
            CaState::Recovery | CaState::Cwr => self.recover.is_some_and(|r| r > cx.snd.una),
        };
        let first = state == CaState::Open || state == CaState::Cwr;
        let frto = cx.config.recovery.rack.is_some_and(|r| r.frto) && (first || cx.timer.backoffs > 0);
        self.rack_mark_losses_on_rto(cx);
        if !answered {
            self.init_undo(cx);
        }
        let backoffs = if answered { cx.timer.backoffs.max(1) } else { 0 };
        cx.notify_congestion(Congestion::Timeout, backoffs, self.limited_transmit);
        cx.timer.backoffs += 1;
        self.tlp.end_seq = None;
        let inflation = if cx.config.recovery.own_recovery { 0 } else { cx.scoreboard.pipe() as i64 };
        *self = Recovery {
            state: CaState::Loss,
            recover: Some(cx.snd.max),
            inflation, // segments in flight don't block the retransmission
            retransmit_head: true,
            undo: self.undo,
            frto,
            ..Recovery::open(self.rack, self.tlp)
        };
    }

    /// Returns the next segment: a probe, a lost segment (lowest first), a new one.
    pub(super) fn rack_next(&mut self, cx: &mut RecoveryCx<'_>) -> NextSegment {
        if self.tlp.due {
            return Recovery::next_probe(cx);
        }
        // Pacing may have delayed the retransmission until the end of recovery.
        let repairs = matches!(self.state, CaState::Recovery | CaState::Loss);
        if std::mem::take(&mut self.retransmit_head) && repairs {
            let start = cx.scoreboard.next_retransmission().map_or(cx.snd.una, |s| s.start);
            cx.scoreboard.take_burst(start, 1);
            self.count_retransmission(cx.now);
            return NextSegment::Retransmit(start);
        }
        if self.new_data_only {
            let limit = self.rack_available(cx);
            return NextSegment::New { limit, may_wait: false, otherwise: Otherwise::EndFrto };
        }
        self.lost_or_new(cx)
    }

    /// Bytes of the window that pipe doesn't use.
    fn rack_available(&self, cx: &RecoveryCx<'_>) -> u64 {
        let window = (self.window(cx.cc.control.cwnd) as i64 + self.inflation).max(0) as u64;
        window.max(cx.mss()).saturating_sub(cx.scoreboard.pipe())
    }

    /// Returns the lowest lost segment with its burst, or a new segment.
    pub(super) fn lost_or_new(&mut self, cx: &mut RecoveryCx<'_>) -> NextSegment {
        let limit = self.rack_available(cx);
        if let Some((start, payload)) = cx.scoreboard.next_retransmission().map(|s| (s.start, s.payload())) {
            if cx.scoreboard.counted(u64::from(payload), 1) > limit {
                return NextSegment::Blocked { by_cwnd: true };
            }
            self.count_retransmission(cx.now);
            return NextSegment::RetransmitBurst { start, limit };
        }
        let held =
            self.state == CaState::Open && cx.scoreboard.sacked_bytes() > 0 && !cx.config.recovery.limited_transmit;
        NextSegment::New { limit: if held { 0 } else { limit }, may_wait: !held, otherwise: Otherwise::Nothing }
    }
}
