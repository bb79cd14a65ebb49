//! The window of BBRv1: grows towards the model's target, and what a loss recovery takes of it and gives back
//! [Linux 6.12 tcp_bbr.c].

use crate::{AckEvent, LostEvent, SentEvent};

/// Where the endpoint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Episode {
    Open,
    Recovery,
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
    /// Where it was with the last ACK: a recovery that follows another one at once is the same one to this law.
    last: Episode,
    /// There was a recovery since the last undo.
    saved: bool,
    /// In the first round trip of a recovery no more leaves than arrives.
    conserve: bool,
    /// Bytes outstanding.
    inflight: u64,
}

/// What the model says of the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// Segments outstanding.
    pub(super) target: f64,
    /// Whether the target is to be believed.
    pub(super) full: bool,
    /// Too little has been delivered to go by it at all.
    pub(super) little: bool,
    /// Segments at least.
    pub(super) least: f64,
}

impl Window {
    pub(super) fn new(cwnd: f64) -> Window {
        let (episode, last) = (Episode::Open, Episode::Open);
        Window { cwnd, prior: 0.0, episode, last, saved: false, conserve: false, inflight: 0 }
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
        let cut = dips || self.last != Episode::Open;
        self.prior = if cut { self.prior.max(self.cwnd) } else { self.cwnd };
    }

    pub(super) fn restore(&mut self) {
        self.cwnd = self.cwnd.max(self.prior);
    }

    pub(super) fn enter_recovery(&mut self) {
        (self.episode, self.saved) = (Episode::Recovery, true);
    }

    /// A timeout: one segment more than is still thought to be on its way.
    pub(super) fn enter_loss(&mut self, mss: f64) {
        (self.episode, self.last, self.saved) = (Episode::Loss, Episode::Loss, true);
        self.cwnd = (self.inflight as f64 / mss).floor() + 1.0;
    }

    /// It is over; what the next ACK that delivers something makes of that is in [`Window::on_ack`].
    pub(super) fn exit_recovery(&mut self) {
        self.episode = Episode::Open;
    }

    /// Nothing was lost. False if nothing was said to be.
    pub(super) fn undo(&mut self) -> bool {
        self.exit_recovery();
        std::mem::take(&mut self.saved)
    }

    /// An ACK, before the model looks at it. True if it is the first of a recovery that delivers something: the round trip
    /// that conserves packets starts with it.
    pub(super) fn begins_recovery(&mut self, ev: &AckEvent) -> bool {
        self.inflight = ev.inflight;
        if self.episode == Episode::Loss && !ev.in_loss {
            self.episode = Episode::Open;
        }
        ev.delivered > 0 && self.episode == Episode::Recovery && self.last != Episode::Recovery
    }

    /// An ACK that delivers something.
    pub(super) fn on_ack(&mut self, ev: &AckEvent, mss: f64, wanted: &Wanted) {
        let (acked, inflight) = (ev.delivered as f64 / mss, ev.inflight as f64 / mss);
        if ev.lost > 0 {
            self.cwnd = (self.cwnd - ev.lost as f64 / mss).max(1.0);
        }
        match (self.last, self.episode) {
            (Episode::Open | Episode::Loss, Episode::Recovery) => {
                self.conserve = true;
                self.cwnd = inflight + acked;
            }
            (Episode::Recovery | Episode::Loss, Episode::Open) => {
                self.conserve = false;
                self.restore();
            }
            _ => {}
        }
        self.last = self.episode;
        if self.conserve {
            self.cwnd = self.cwnd.max(inflight + acked);
            return;
        }
        if wanted.full {
            self.cwnd = (self.cwnd + acked).min(wanted.target);
        } else if self.cwnd < wanted.target || wanted.little {
            self.cwnd += acked;
        }
        self.cwnd = self.cwnd.max(wanted.least);
    }
}
