//! BBR's responses to losses, congestion marks and the begin and end of loss recovery, and the undo of a response to a
//! spurious loss [draft-ietf-ccwg-bbr-06 §2.15, §3.7, §5.5.10, §5.5.11, §5.6.4.4].
//! The section numbers below are those of the draft.

use super::{Bbr3, Recovery, State};
use crate::LostEvent;
use dumbbell_units::Time;

/// State saved at a loss, and restored if the loss turns out to be spurious (§2.15).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// BBR.undo_state: the state (Startup, ProbeBW_UP) that BBR left because of the loss, if any.
    pub(super) undo_state: Option<State>,
    /// True if the state was saved at a loss and the recovery from this loss has not begun yet.
    pending: bool,
    /// True if an undo is allowed: a recovery began after the last undo, and no congestion mark has arrived since.
    possible: bool,
    /// The bounds before the loss: bytes/s, bytes, bytes.
    undo_bw_shortterm: f64,
    undo_inflight_shortterm: f64,
    undo_inflight_longterm: f64,
}

impl Bbr3 {
    /// §5.5.10.2 IsInflightTooHigh.
    pub(super) fn is_inflight_too_high(&self, lost: f64, tx_in_flight: f64) -> bool {
        lost > tx_in_flight * self.set.loss_thresh || (lost > 0.0 && !self.selective_acks)
    }

    /// §5.5.10.2 NoteLoss. The start of the round is known only when the ACK that revealed the loss has been counted:
    /// [`Bbr3::start_loss_round`].
    fn note_loss(&mut self, now: Time) {
        if !self.loss_round.is_loss_in_round {
            self.loss_round.noted_at = Some(now);
        }
        self.loss_round.is_loss_in_round = true;
    }

    /// Starts the round of a loss: with the bytes that this ACK has delivered if the ACK revealed the loss, with those
    /// delivered before if a timer did.
    pub(super) fn start_loss_round(&mut self, delivered_before: u64, now: Time) {
        if let Some(at) = self.loss_round.noted_at.take() {
            self.loss_round.delivered = if at == now { self.delivered } else { delivered_before };
        }
    }

    /// §5.5.10.2 HandleLostPacket.
    pub(super) fn handle_lost_packet(&mut self, ev: &LostEvent, now: Time) {
        self.save_state_upon_loss();
        self.note_loss(now);
        // A stack may count a short segment as a full one: the next one starts within its bytes.
        let (last, end) = (self.loss_round.last_start, self.loss_round.last_end);
        self.loss_round.ranges += u64::from(ev.start <= last || ev.start > end);
        (self.loss_round.last_start, self.loss_round.last_end) = (ev.start, ev.start + ev.bytes);
        if !self.is_bw_probe_sample {
            return;
        }
        let (lost, tx_in_flight) = (ev.lost_since as f64, ev.sent_in_flight as f64);
        if self.is_inflight_too_high(lost, tx_in_flight) {
            let inflight = self.inflight_at_loss(ev.bytes as f64, lost, tx_in_flight);
            let app_limited = ev.app_limited || self.app_limited_interval.contains(ev.prior_delivered);
            self.handle_inflight_too_high(inflight, app_limited, now);
        }
    }

    /// §5.5.10.2 InflightAtLoss: the bytes in flight at which the losses exceeded the threshold.
    fn inflight_at_loss(&self, size: f64, lost: f64, tx_in_flight: f64) -> f64 {
        let (inflight_prev, lost_prev) = (tx_in_flight - size, lost - size);
        let lost_prefix = (self.set.loss_thresh * inflight_prev - lost_prev) / (1.0 - self.set.loss_thresh);
        // DIVERGES [draft-ietf-ccwg-bbr-06 §5.5.10.2]: lost_prefix is at least zero. It would be negative if the losses
        // had exceeded the threshold before this segment.
        inflight_prev + lost_prefix.max(0.0)
    }

    /// §5.5.10.2 HandleInflightTooHigh.
    fn handle_inflight_too_high(&mut self, inflight: f64, app_limited: bool, now: Time) {
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false; // one response for each probe
        if !app_limited {
            self.inflight_longterm = inflight.max(self.target_inflight() * self.set.beta);
        }
        if self.state == State::ProbeBwUp {
            self.undo.undo_state = Some(State::ProbeBwUp);
            self.start_probe_bw_down(now);
        }
    }

    /// Responds to a congestion mark (§3.7) as to high loss: the queue is too long even if nothing was lost.
    pub(super) fn handle_mark(&mut self, now: Time) {
        self.note_loss(now);
        self.undo.possible = false; // a mark is never spurious
        if self.is_bw_probe_sample {
            self.handle_inflight_too_high(self.inflight as f64, false, now);
        }
    }

    /// §5.5.10.3 AdaptLowerBoundsFromCongestion, InitLowerBounds, LossLowerBounds.
    pub(super) fn adapt_lower_bounds(&mut self) {
        if self.is_probing_bw() || !self.loss_round.is_loss_in_round {
            return;
        }
        if self.bw_shortterm.is_infinite() {
            self.bw_shortterm = self.max_bw_filter.get();
        }
        if self.inflight_shortterm.is_infinite() {
            self.inflight_shortterm = self.cwnd;
        }
        self.bw_shortterm = self.bw_latest.max(self.set.beta * self.bw_shortterm);
        self.inflight_shortterm = self.inflight_latest.max(self.set.beta * self.inflight_shortterm);
    }

    /// §5.5.10.3 ResetShortTermModel.
    pub(super) fn reset_short_term_model(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (f64::INFINITY, f64::INFINITY);
    }

    /// §5.5.10.3 ResetCongestionSignals.
    pub(super) fn reset_congestion_signals(&mut self) {
        self.loss_round.is_loss_in_round = false;
        (self.bw_latest, self.inflight_latest) = (0.0, 0.0);
    }

    /// §5.5.11.1 SaveStateUponLoss.
    fn save_state_upon_loss(&mut self) {
        // DIVERGES [draft-ietf-ccwg-bbr-06 §5.5.10.2, §5.6.4.4]: the state is saved once, at the first loss before a
        // recovery, as in §5.5.11.1. It is not saved again in each round trip with losses or at the start of the
        // recovery: the losses have already changed the state by then.
        if self.recovery == Recovery::None && !self.undo.pending {
            self.undo = Undo {
                undo_state: None,
                pending: true,
                possible: self.undo.possible,
                undo_bw_shortterm: self.bw_shortterm,
                undo_inflight_shortterm: self.inflight_shortterm,
                undo_inflight_longterm: self.inflight_longterm,
            };
        }
    }

    /// §5.6.4.4 OnEnterFastRecovery, OnEnterRTO.
    pub(super) fn enter_recovery(&mut self, kind: Recovery) {
        self.save_state_upon_loss();
        self.save_cwnd();
        (self.undo.pending, self.undo.possible) = (false, true);
        self.recovery = kind;
        if kind == Recovery::Rto {
            self.cwnd = self.inflight as f64 + self.mss;
        }
    }

    /// §5.6.4.4 OnExitRecovery: restores the window.
    pub(super) fn exit_recovery(&mut self) {
        if self.recovery != Recovery::None {
            self.recovery = Recovery::None;
            self.restore_cwnd();
        }
    }

    /// §5.5.11.2 HandleSpuriousLossDetection.
    pub(super) fn handle_spurious_loss_detection(&mut self) {
        if !std::mem::take(&mut self.undo.possible) {
            return;
        }
        self.recovery = Recovery::None;
        self.restore_cwnd();
        self.loss_round.is_loss_in_round = false;
        self.reset_full_bw(0.0);
        self.bw_shortterm = self.bw_shortterm.max(self.undo.undo_bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(self.undo.undo_inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(self.undo.undo_inflight_longterm);
        let in_probe_rtt = self.state == State::ProbeRtt;
        match self.undo.undo_state.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if !in_probe_rtt {
                    self.state = State::Startup;
                }
            }
            Some(State::ProbeBwUp) if self.state != State::ProbeBwUp && !in_probe_rtt => self.start_probe_bw_refill(),
            _ => {}
        }
    }
}
