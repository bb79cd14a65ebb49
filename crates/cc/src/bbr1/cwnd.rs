//! The window of BBRv1: grows towards the model's target, and what a loss recovery takes of it and gives back
//! [Linux 6.12 tcp_bbr.c].

use crate::{AckEvent, LostEvent, SentEvent};

/// Where the endpoint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Episode {
    Open,
    /// Fast recovery; true until its first ACK has come.
    Recovery(bool),
    /// After a timeout.
    Loss,
}

/// Windows in segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) cwnd: f64,
    /// What it was before recovery or dip.
    prior: f64,
    episode: Episode,
    /// There was a recovery since the last undo.
    saved: bool,
    /// In the first round trip of a recovery no more leaves than arrives.
    conserve: bool,
    /// Bytes outstanding.
    inflight: u64,
}

impl Window {
    pub(super) fn new(cwnd: f64) -> Window {
        Window { cwnd, prior: 0.0, saved: false, episode: Episode::Open, conserve: false, inflight: 0 }
    }

    pub(super) fn sent(&mut self, ev: &SentEvent) {
        self.inflight = ev.flight + ev.bytes;
    }

    pub(super) fn lost(&mut self, ev: &LostEvent) {
        self.inflight = self.inflight.saturating_sub(ev.bytes);
    }

    /// A round trip has ended.
    pub(super) fn round_ended(&mut self) {
        self.conserve = false;
    }

    /// Remembers the window for when this is over: the latest good one, or the largest since, where recovery or the
    /// dip have cut it already.
    pub(super) fn save(&mut self, dips: bool) {
        let cut = dips || self.episode != Episode::Open;
        self.prior = if cut { self.prior.max(self.cwnd) } else { self.cwnd };
    }

    pub(super) fn restore(&mut self) {
        self.cwnd = self.cwnd.max(self.prior);
    }

    pub(super) fn enter_recovery(&mut self) {
        (self.episode, self.saved) = (Episode::Recovery(true), true);
    }

    /// A timeout: one segment more than is still thought to be on its way.
    pub(super) fn enter_loss(&mut self, mss: f64) {
        (self.episode, self.saved) = (Episode::Loss, true);
        self.cwnd = (self.inflight as f64 / mss).floor() + 1.0;
    }

    pub(super) fn exit_recovery(&mut self) {
        if self.episode != Episode::Open {
            self.episode = Episode::Open;
            self.conserve = false;
            self.restore();
        }
    }

    /// Nothing was lost. False if nothing was said to be.
    pub(super) fn undo(&mut self) -> bool {
        let cut = std::mem::take(&mut self.saved);
        if cut {
            self.exit_recovery();
            self.restore();
        }
        cut
    }

    /// Whether this ACK is the first of a recovery; the round trip that conserves packets starts with it.
    pub(super) fn begins_recovery(&mut self, ev: &AckEvent) -> bool {
        self.inflight = ev.inflight;
        self.episode == Episode::Recovery(true)
    }

    /// `target`: what the model wants outstanding; `full`: whether it is to be believed; `little`: too little has been
    /// delivered to go by it at all.
    pub(super) fn on_ack(
        &mut self,
        ev: &AckEvent,
        mss: f64,
        target: f64,
        full: bool,
        little: bool,
        least: f64,
    ) {
        let (acked, inflight) = (ev.delivered as f64 / mss, ev.inflight as f64 / mss);
        if ev.lost > 0 {
            self.cwnd = (self.cwnd - ev.lost as f64 / mss).max(1.0);
        }
        if self.episode == Episode::Recovery(true) {
            self.episode = Episode::Recovery(false);
            self.conserve = true;
            self.cwnd = inflight + acked;
        } else if self.episode == Episode::Loss && !ev.in_loss && !ev.in_recovery {
            self.exit_recovery();
        }
        if self.conserve {
            self.cwnd = self.cwnd.max(inflight + acked);
            return;
        }
        if full {
            self.cwnd = (self.cwnd + acked).min(target);
        } else if self.cwnd < target || little {
            self.cwnd += acked;
        }
        self.cwnd = self.cwnd.max(least);
    }
}
