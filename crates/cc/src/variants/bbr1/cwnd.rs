//! The congestion window of BBRv1: growth towards the target, and the changes that loss recovery makes.
//!
//! Source: Linux 6.12 [Linux tcp_bbr.c bbr_set_cwnd, bbr_set_cwnd_to_recover_or_restore, bbr_save_cwnd].

use crate::{AckEvent, LostEvent, SentEvent};

/// The state of loss recovery (icsk_ca_state), as far as BBR distinguishes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CaState {
    Open,
    Cwr,
    Recovery,
    /// After a timeout.
    Loss,
}

/// The window and its saved value. Windows in segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) cwnd: f64,
    /// cwnd before recovery or PROBE_RTT.
    prior_cwnd: f64,
    ca_state: CaState,
    /// The state at the previous ACK. A recovery that begins before the next ACK continues the previous one.
    prev_ca_state: CaState,
    /// True if a recovery can be undone.
    undo_possible: bool,
    /// True in the first round trip of a recovery: as much is sent as is delivered.
    packet_conservation: bool,
    /// Bytes in flight.
    inflight: u64,
}

/// The window that the model requires.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    /// target_cwnd, segments.
    pub(super) target_cwnd: f64,
    /// True after STARTUP: only then the target limits the window.
    pub(super) full_bw_reached: bool,
    /// True until the initial window was delivered: the window grows even above the target.
    pub(super) initial: bool,
    /// The smallest window, segments (bbr_cwnd_min_target).
    pub(super) cwnd_min_target: f64,
}

impl Window {
    pub(super) fn new(cwnd: f64) -> Window {
        Window {
            cwnd,
            prior_cwnd: 0.0,
            ca_state: CaState::Open,
            prev_ca_state: CaState::Open,
            undo_possible: false,
            packet_conservation: false,
            inflight: 0,
        }
    }

    pub(super) fn on_sent(&mut self, ev: &SentEvent) {
        self.inflight = ev.flight + ev.bytes;
    }

    pub(super) fn on_lost(&mut self, ev: &LostEvent) {
        self.inflight = self.inflight.saturating_sub(ev.bytes);
        if self.ca_state == CaState::Cwr {
            // Recovery begins without another notice of congestion [Linux tcp_input.c tcp_enter_recovery].
            self.ca_state = CaState::Recovery;
        }
    }

    /// Ends packet conservation with the round trip [Linux tcp_bbr.c bbr_update_bw].
    pub(super) fn on_round_start(&mut self) {
        self.packet_conservation = false;
    }

    /// Saves the window: the current one, or the largest since, if recovery or PROBE_RTT has already reduced it.
    /// [Linux tcp_bbr.c bbr_save_cwnd]
    pub(super) fn save(&mut self, in_probe_rtt: bool) {
        let reduced = in_probe_rtt || matches!(self.prev_ca_state, CaState::Recovery | CaState::Loss);
        self.prior_cwnd = if reduced { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    /// Restores the saved window.
    pub(super) fn restore(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    pub(super) fn enter_recovery(&mut self) {
        (self.ca_state, self.undo_possible) = (CaState::Recovery, true);
    }

    /// Handles a mark: the state until the window in flight is acknowledged.
    pub(super) fn enter_cwr(&mut self) {
        self.ca_state = CaState::Cwr;
    }

    /// Handles a timeout: one segment more than is still in flight [Linux tcp_input.c tcp_enter_loss; tcp_bbr.c
    /// bbr_set_state].
    pub(super) fn enter_loss(&mut self, mss: f64) {
        (self.ca_state, self.prev_ca_state, self.undo_possible) = (CaState::Loss, CaState::Loss, true);
        self.cwnd = (self.inflight as f64 / mss).floor() + 1.0;
    }

    /// Ends recovery. The next ACK that delivers data restores the window, in [`Window::set_cwnd`].
    pub(super) fn exit_recovery(&mut self) {
        self.ca_state = CaState::Open;
    }

    /// Ends a spurious recovery. Returns false without one.
    pub(super) fn undo(&mut self) -> bool {
        self.exit_recovery();
        std::mem::take(&mut self.undo_possible)
    }

    /// Processes an ACK before the window is set. Returns true for the first ACK of a recovery that delivers data: the
    /// round trip of packet conservation begins with it.
    pub(super) fn begins_recovery(&mut self, ev: &AckEvent) -> bool {
        self.inflight = ev.inflight;
        if self.ca_state == CaState::Loss && !ev.in_loss {
            self.ca_state = CaState::Open;
        }
        ev.delivered > 0 && self.ca_state == CaState::Recovery && self.prev_ca_state != CaState::Recovery
    }

    /// Sets the window after an ACK that delivers data [Linux tcp_bbr.c bbr_set_cwnd].
    pub(super) fn set_cwnd(&mut self, ev: &AckEvent, mss: f64, target: &Target) {
        let acked = ev.delivered as f64 / mss;
        if self.recover_or_restore(ev, acked, mss) {
            return;
        }
        if target.full_bw_reached {
            self.cwnd = (self.cwnd + acked).min(target.target_cwnd);
        } else if self.cwnd < target.target_cwnd || target.initial {
            self.cwnd += acked;
        }
        self.cwnd = self.cwnd.max(target.cwnd_min_target);
    }

    /// Follows the state of recovery. Returns true during packet conservation, which sets the window alone.
    /// [Linux tcp_bbr.c bbr_set_cwnd_to_recover_or_restore]
    fn recover_or_restore(&mut self, ev: &AckEvent, acked: f64, mss: f64) -> bool {
        let inflight = ev.inflight as f64 / mss;
        if ev.lost > 0 {
            self.cwnd = (self.cwnd - ev.lost as f64 / mss).max(1.0);
        }
        match (self.prev_ca_state, self.ca_state) {
            (CaState::Open | CaState::Cwr | CaState::Loss, CaState::Recovery) => {
                self.packet_conservation = true;
                self.cwnd = inflight + acked;
            }
            (CaState::Recovery | CaState::Loss, CaState::Open | CaState::Cwr) => {
                self.packet_conservation = false;
                self.restore();
            }
            _ => {}
        }
        self.prev_ca_state = self.ca_state;
        if self.packet_conservation {
            self.cwnd = self.cwnd.max(inflight + acked);
        }
        self.packet_conservation
    }
}
