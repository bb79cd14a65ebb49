//! Recovery that counts duplicate ACKs or SACKed segments: the part that Tahoe, Reno, NewReno and SACK share
//! [RFC 5681 §3.2, RFC 3042, RFC 6298 §5; Brakmo & Peterson 1995 §III.A for Vegas' fine-grained timeout].

use super::{NextSegment, Otherwise, Recovery, RecoveryCx};
use crate::ack::AckSummary;
use dumbbell_cc::{CaState, Congestion, LossRecovery};
use dumbbell_units::Time;

impl Recovery {
    pub(super) fn counting_on_ack(
        &mut self,
        blocks: &[(u64, u64)],
        ack: &AckSummary,
        was_in_recovery: bool,
        cx: &mut RecoveryCx<'_>,
    ) {
        let algorithm = cx.config.recovery.algorithm;
        let as_ns2 = cx.config.uses_sack() && cx.config.goes_back();
        if ack.sacked && !as_ns2 {
            cx.scoreboard.update(cx.config.recovery.dupack_threshold, cx.mss());
        }
        if cx.is_new_mark(ack) && !was_in_recovery {
            cx.notify_mark(self.limited_transmit);
        }
        if as_ns2 {
            self.sack1_on_ack(blocks, ack, cx);
        } else if ack.acked > 0 {
            cx.timer.expires = if cx.all_acknowledged() { None } else { Some(self.rto_after_new_ack(cx)) };
            self.on_new_ack(ack.acked, cx);
        } else if !cx.all_acknowledged() && (ack.sacked || (ack.duplicate && algorithm != LossRecovery::Sack)) {
            self.on_duplicate_ack(cx);
        }
    }

    /// Returns when the timer expires after an ACK of new data. Each of them restarts it [RFC 6298 (5.3)], except that
    /// the impatient NewReno restarts it only for the first partial ACK [RFC 6582 §4].
    fn rto_after_new_ack(&self, cx: &RecoveryCx<'_>) -> Time {
        let partial = cx.config.recovery.algorithm == LossRecovery::NewReno
            && self.state == CaState::Recovery
            && self.recover.is_some_and(|r| cx.snd.una < r);
        match cx.timer.expires {
            Some(at) if partial && cx.config.recovery.impatient && self.partial_ack => at,
            _ => cx.timer.expiry(cx.rtt.rto(), cx.now),
        }
    }

    fn on_duplicate_ack(&mut self, cx: &mut RecoveryCx<'_>) {
        self.dupacks += 1;
        self.one_more = true;
        let threshold = cx.config.recovery.dupack_threshold;
        if self.dupacks < threshold && self.state != CaState::Recovery && cx.fine_timeout_passed() {
            self.dupacks = threshold; // the first one suffices [Brakmo & Peterson 1995 §III.A]
        }
        match cx.config.recovery.algorithm {
            LossRecovery::Tahoe => self.tahoe_on_duplicate_ack(cx),
            LossRecovery::Reno | LossRecovery::NewReno => self.reno_on_duplicate_ack(cx),
            LossRecovery::Sack => self.sack_on_duplicate_ack(cx),
        }
    }

    fn on_new_ack(&mut self, acked: u64, cx: &mut RecoveryCx<'_>) {
        self.dupacks = 0;
        self.limited_transmit = 0;
        self.one_more = false;
        let full = self.recover.is_none_or(|r| cx.snd.una >= r);
        match (self.state, cx.config.recovery.algorithm) {
            (CaState::Loss, _) => {
                if full {
                    self.state = CaState::Open;
                }
            }
            (CaState::Recovery, LossRecovery::Tahoe | LossRecovery::Reno) => {
                self.exit_recovery(f64::INFINITY, cx);
            }
            (CaState::Recovery, LossRecovery::NewReno) => self.newreno_on_new_ack(acked, full, cx),
            (CaState::Recovery, LossRecovery::Sack) => {
                if full {
                    self.exit_recovery(f64::INFINITY, cx);
                }
            }
            (CaState::Open | CaState::Disorder | CaState::Cwr, _) => {}
        }
        if self.worried > 0 {
            self.worried -= 1;
            if !cx.all_acknowledged() && cx.fine_timeout_passed() {
                cx.notify_congestion(Congestion::Loss, cx.timer.backoffs, self.limited_transmit);
                self.retransmit_head = true;
                cx.restart_rto();
            }
        }
    }

    /// Fast retransmit: congestion control reduces the window, the oldest segment is retransmitted at once.
    pub(super) fn enter_recovery(&mut self, cx: &mut RecoveryCx<'_>) {
        cx.notify_congestion(Congestion::Loss, cx.timer.backoffs, self.limited_transmit);
        cx.counters.fast_retransmits += 1;
        self.state = CaState::Recovery;
        cx.stop_timing();
        self.recover = Some(cx.snd.max);
        self.retransmit_head = true;
        self.partial_ack = false;
        self.rescued = false;
        if cx.config.recovery.fine_timeouts {
            self.worried = 2;
        }
        cx.restart_rto();
    }

    pub(super) fn exit_recovery(&mut self, bound: f64, cx: &mut RecoveryCx<'_>) {
        self.state = CaState::Open;
        (self.inflation, self.deflation) = (0, 0);
        self.retransmit_head = false; // pacing may have delayed the retransmission until now
        cx.notify_recovery_exit(bound);
    }

    /// True if snd_una is beyond all data that was outstanding at the last fast retransmit or timeout.
    pub(super) fn is_beyond_recover(&self, cx: &RecoveryCx<'_>) -> bool {
        self.recover.is_none_or(|r| cx.snd.una > r)
    }

    /// The retransmission timer has expired: slow start from the oldest segment [RFC 6298 (5.4), RFC 5681 §3.1].
    pub(super) fn counting_on_timeout(&mut self, cx: &mut RecoveryCx<'_>) {
        cx.scoreboard.mark_all_lost();
        let repeated = if cx.config.growth.reduce_each_timeout { 0 } else { cx.timer.backoffs };
        cx.notify_congestion(Congestion::Timeout, repeated, self.limited_transmit);
        cx.timer.backoffs += 1;
        let config = &cx.config.recovery;
        let dupacks = match config.algorithm {
            LossRecovery::Tahoe if config.limited_retransmit => self.dupacks, // [ns-2 tcp.cc timeout]
            // Tahoe ignores further duplicates of the hole that the timer repairs.
            LossRecovery::Tahoe => config.dupack_threshold,
            _ => 0,
        };
        *self = Recovery {
            state: CaState::Loss,
            recover: Some(cx.snd.max),
            dupacks,
            ..Recovery::open(self.rack, self.tlp)
        };
        if cx.config.goes_back() {
            self.sack1_on_timeout();
            cx.snd.nxt = cx.snd.una;
        }
    }

    pub(super) fn counting_next(&mut self, cx: &mut RecoveryCx<'_>) -> NextSegment {
        if std::mem::take(&mut self.retransmit_head) && !cx.all_acknowledged() {
            return match cx.scoreboard.head() {
                Some(head) => NextSegment::Retransmit(head.start),
                None => NextSegment::Nothing,
            };
        }
        match (cx.config.uses_sack(), cx.config.goes_back()) {
            (true, false) => self.sack_next(cx),
            (true, true) => self.sack1_next(cx),
            (false, _) => self.window_next(cx),
        }
    }

    /// Returns the next segment without a scoreboard: the window limits snd_nxt - snd_una.
    pub(super) fn window_next(&mut self, cx: &mut RecoveryCx<'_>) -> NextSegment {
        let window = self.inflated_window(cx);
        let (una, nxt) = (cx.snd.una, cx.snd.nxt);
        if nxt < cx.snd.max {
            let Some((start, end)) = cx.scoreboard.at(nxt).map(|s| (s.start, s.end)) else {
                return NextSegment::Nothing;
            };
            let window = window + self.limited_retransmit(cx);
            if end - una > window.min(cx.snd.wnd_end - una) && start > una {
                return NextSegment::Blocked { by_cwnd: end - una > window };
            }
            cx.snd.nxt = end;
            self.one_more = false;
            return NextSegment::Retransmit(start);
        }
        let limit = (window + self.limited_transmit_allowance(cx)).saturating_sub(cx.snd.outstanding());
        NextSegment::New { limit, may_wait: false, otherwise: Otherwise::Nothing }
    }

    /// The window with inflation, at least one segment, bytes.
    fn inflated_window(&self, cx: &RecoveryCx<'_>) -> u64 {
        let cwnd = cx.cc.control.cwnd as i64 + self.inflation - self.deflation;
        (cwnd.max(0) as u64).max(cx.mss())
    }

    /// Counts the bytes beyond the window, if limited transmit has just sent a new segment.
    pub(super) fn note_limited_transmit(&mut self, cx: &RecoveryCx<'_>) {
        if cx.config.goes_back() && self.limited_transmit_allowance(cx) > 0 {
            let beyond = cx.snd.outstanding().saturating_sub(self.inflated_window(cx));
            self.limited_transmit = self.limited_transmit.max(beyond);
        }
    }

    /// Bytes beyond the window that the first duplicate ACKs allow for retransmissions after a timeout or Tahoe's
    /// collapse [ns-2 tcp.cc: singledup_].
    fn limited_retransmit(&self, cx: &RecoveryCx<'_>) -> u64 {
        let applies = cx.config.recovery.limited_retransmit
            && self.one_more
            && self.state != CaState::Recovery
            && self.dupacks < cx.config.recovery.dupack_threshold;
        if applies { u64::from(self.dupacks) * cx.mss() } else { 0 }
    }

    /// Bytes beyond the window that the first duplicate ACKs allow for new segments [RFC 3042 §2].
    fn limited_transmit_allowance(&self, cx: &RecoveryCx<'_>) -> u64 {
        let config = &cx.config.recovery;
        let after_timeout = config.limited_retransmit && self.state == CaState::Loss; // [ns-2 tcp.cc send_one]
        let applies = config.limited_transmit
            && (self.one_more || !config.limited_retransmit)
            && (self.state == CaState::Open || after_timeout)
            && self.dupacks < config.dupack_threshold;
        if applies { u64::from(self.dupacks) * cx.mss() } else { 0 }
    }
}
