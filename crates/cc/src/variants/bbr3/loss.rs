//! What losses and marks do to the model, and how it is taken back.

use super::{Bbr3, Episode, State};
use crate::LostEvent;
use dumbbell_units::Time;

/// What a spurious recovery gives back (§2.15).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// The state that a loss ended.
    pub(super) state: Option<State>,
    /// Saved for losses whose recovery hasn't begun.
    pending: bool,
    /// There was a recovery since the last undo, and nothing but losses cut since.
    possible: bool,
    bw_shortterm: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
}

impl Bbr3 {
    /// §5.5.10.2 IsInflightTooHigh.
    pub(super) fn is_inflight_too_high(&self, lost: f64, tx_in_flight: f64) -> bool {
        lost > tx_in_flight * self.set.loss_thresh || (lost > 0.0 && !self.selective_acks)
    }

    /// §5.5.10.2 NoteLoss. Where the round begins is known when the ACK that told of the loss has been counted.
    fn note_loss(&mut self, now: Time) {
        if !self.loss_round.lossy {
            self.loss_round.begins = Some(now);
        }
        self.loss_round.lossy = true;
    }

    /// The round of a loss noted with this ACK begins with what it has delivered; one noted by a timer began before.
    pub(super) fn begin_loss_round(&mut self, before: u64, now: Time) {
        if let Some(at) = self.loss_round.begins.take() {
            self.loss_round.from = if at == now { self.delivered } else { before };
        }
    }

    /// §5.5.10.2 HandleLostPacket.
    pub(super) fn handle_lost_packet(&mut self, ev: &LostEvent, now: Time) {
        self.save_state_upon_loss();
        self.note_loss(now);
        self.loss_round.ranges += u64::from(ev.start != self.loss_round.last_end);
        self.loss_round.last_end = ev.start + ev.bytes;
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

    /// §5.5.10.2 InflightAtLoss: how much could have been in flight before losses exceeded the threshold.
    fn inflight_at_loss(&self, size: f64, lost: f64, tx_in_flight: f64) -> f64 {
        let (before, lost_before) = (tx_in_flight - size, lost - size);
        let prefix = (self.set.loss_thresh * before - lost_before) / (1.0 - self.set.loss_thresh);
        // DIVERGES [draft-ietf-ccwg-bbr-06 §5.5.10.2]: a prefix isn't negative, which it would be where the threshold
        // was exceeded before this segment.
        before + prefix.max(0.0)
    }

    /// §5.5.10.2 HandleInflightTooHigh.
    fn handle_inflight_too_high(&mut self, inflight: f64, app_limited: bool, now: Time) {
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false; // one answer a probe
        if !app_limited {
            self.inflight_longterm = inflight.max(self.target_inflight() * self.set.beta);
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_probe_bw_down(now);
        }
    }

    /// A congestion mark (§3.7): the queue is too long, whatever was lost.
    pub(super) fn handle_mark(&mut self, now: Time) {
        self.note_loss(now);
        self.undo.possible = false; // it was meant, whatever is said of losses
        if self.is_bw_probe_sample {
            self.handle_inflight_too_high(self.inflight as f64, false, now);
        }
    }

    /// §5.5.10.3 AdaptLowerBoundsFromCongestion, InitLowerBounds, LossLowerBounds.
    pub(super) fn adapt_lower_bounds(&mut self) {
        if self.is_probing_bw() || !self.loss_round.lossy {
            return;
        }
        if self.bw_shortterm.is_infinite() {
            self.bw_shortterm = self.max_bw.get();
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
        self.loss_round.lossy = false;
        (self.bw_latest, self.inflight_latest) = (0.0, 0.0);
    }

    /// §5.5.11.1 SaveStateUponLoss.
    fn save_state_upon_loss(&mut self) {
        // DIVERGES [draft-ietf-ccwg-bbr-06 §5.5.10.2, §5.6.4.4]: saved when an episode starts, as §5.5.11.1 says, not
        // again with each round trip that loses nor on entering the recovery that the loss brings: that would save what
        // the loss has already changed.
        if self.episode == Episode::Open && !self.undo.pending {
            self.undo = Undo {
                state: None,
                pending: true,
                possible: self.undo.possible,
                bw_shortterm: self.bw_shortterm,
                inflight_shortterm: self.inflight_shortterm,
                inflight_longterm: self.inflight_longterm,
            };
        }
    }

    /// §5.6.4.4 OnEnterFastRecovery, OnEnterRTO.
    pub(super) fn enter_recovery(&mut self, episode: Episode) {
        self.save_state_upon_loss();
        self.save_cwnd();
        (self.undo.pending, self.undo.possible) = (false, true);
        self.episode = episode;
        if episode == Episode::Timeout {
            self.cwnd = self.inflight as f64 + self.mss;
        }
    }

    /// §5.6.4.4: the window from before.
    pub(super) fn exit_recovery(&mut self) {
        if self.episode != Episode::Open {
            self.episode = Episode::Open;
            self.restore_cwnd();
        }
    }

    /// §5.5.11.2 HandleSpuriousLossDetection.
    pub(super) fn handle_spurious_loss_detection(&mut self) {
        if !std::mem::take(&mut self.undo.possible) {
            return;
        }
        self.episode = Episode::Open;
        self.restore_cwnd();
        self.loss_round.lossy = false;
        self.reset_full_bw(0.0);
        self.bw_shortterm = self.bw_shortterm.max(self.undo.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(self.undo.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(self.undo.inflight_longterm);
        let dips = self.state == State::ProbeRtt;
        match self.undo.state.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if !dips {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if self.state != State::Up && !dips => self.start_probe_bw_refill(),
            _ => {}
        }
    }
}
