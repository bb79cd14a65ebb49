//! Loss recovery: the shells. Each file holds one document's answer to duplicate and new ACKs; what they share is here.

mod by_time;
mod newreno;
mod prr;
mod rack;
mod reno;
mod sack;
mod tahoe;
mod tlp;
mod undo;

pub(crate) use rack::Rack;
pub(crate) use tlp::Tlp;

use crate::sender::{Outgoing, Sender};
use dumbbell_cc::{Congestion, LossRecovery, RecoveryExit};
use dumbbell_units::Time;
use prr::Prr;
use undo::Undo;

/// Where a sender stands with its losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// No loss known.
    #[default]
    Open,
    /// The window shrinks because of a mark, until more than `recover` is acknowledged.
    Reducing,
    /// Fast recovery, until `recover` is acknowledged (Reno: until the first new ACK).
    Recovery,
    /// After a timeout, until `recover` is acknowledged.
    Loss,
}

/// The state of recovery.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recovery {
    pub(crate) mode: Mode,
    pub(crate) dupacks: u32,
    /// snd_max when the last recovery, collapse or timeout began.
    pub(crate) recover: Option<u64>,
    /// Bytes by which the window is inflated beyond the law's (below zero after partial ACKs).
    pub(crate) inflation: i64,
    /// Bytes outstanding that limited transmit let out.
    pub(crate) limited: u64,
    /// A partial ACK has come in this recovery.
    pub(crate) partial_seen: bool,
    /// The oldest segment is to be sent again whatever the window says.
    pub(crate) resend_front: bool,
    /// The rescue retransmission of this recovery has been made.
    pub(crate) rescued: bool,
    /// Where losses are found by time: the window in recovery, what may be taken back, whether F-RTO is at work, whether
    /// only new segments may leave until the next ACK.
    pub(crate) prr: Option<Prr>,
    pub(crate) undo: Option<Undo>,
    pub(crate) frto: bool,
    pub(crate) new_first: bool,
    /// New ACKs that still check the fine-grained timeout.
    pub(crate) worried: u8,
}

impl Sender {
    pub(crate) fn on_duplicate_ack(&mut self, now: Time) {
        self.recovery.dupacks += 1;
        let threshold = self.config.dupack_threshold;
        if self.recovery.dupacks < threshold
            && self.recovery.mode != Mode::Recovery
            && self.fine_timeout_passed(now)
        {
            self.recovery.dupacks = threshold; // no need for a third one [Brakmo & Peterson 1995 §III.A]
        }
        match self.config.shell {
            LossRecovery::Tahoe => self.tahoe_duplicate_ack(now),
            LossRecovery::Reno | LossRecovery::NewReno => self.reno_duplicate_ack(now),
            LossRecovery::Sack => self.sack_duplicate_ack(now),
        }
    }

    pub(crate) fn on_new_ack(&mut self, acked: u64, now: Time) {
        self.recovery.dupacks = 0;
        self.recovery.limited = 0;
        let all_acknowledged = self.recovery.recover.is_none_or(|r| self.una >= r);
        match (self.recovery.mode, self.config.shell) {
            (Mode::Open | Mode::Reducing, _) => {}
            (Mode::Loss, _) => {
                if all_acknowledged {
                    self.recovery.mode = Mode::Open;
                }
            }
            (Mode::Recovery, LossRecovery::Tahoe | LossRecovery::Reno) => {
                self.exit_recovery(f64::INFINITY, now)
            }
            (Mode::Recovery, LossRecovery::NewReno) => self.newreno_new_ack(acked, all_acknowledged, now),
            (Mode::Recovery, LossRecovery::Sack) => {
                if all_acknowledged {
                    self.exit_recovery(f64::INFINITY, now);
                }
            }
        }
        if self.recovery.worried > 0 {
            self.recovery.worried -= 1;
            if self.una < self.max && self.fine_timeout_passed(now) {
                self.tell_congestion(Congestion::Loss, now);
                self.recovery.resend_front = true;
                self.restart_timer(now);
            }
        }
    }

    /// Fast retransmit: the law reduces the window, the oldest segment goes again at once.
    fn enter_recovery(&mut self, now: Time) {
        self.tell_congestion(Congestion::Loss, now);
        self.counters.fast_retransmits += 1;
        self.recovery.mode = Mode::Recovery;
        self.recovery.recover = Some(self.max);
        self.recovery.resend_front = true;
        self.recovery.partial_seen = false;
        self.recovery.rescued = false;
        if self.config.fine_timeouts {
            self.recovery.worried = 2;
        }
        self.restart_timer(now);
    }

    fn exit_recovery(&mut self, bound: f64, now: Time) {
        self.recovery.mode = Mode::Open;
        self.recovery.inflation = 0;
        self.recovery.resend_front = false; // held back by pacing until now
        let cx = self.cx(now);
        self.tell_law(|law| law.on_recovery_exit(&RecoveryExit { bound }, &cx));
    }

    /// Whether a fast retransmit is allowed here: the ACK must cover more than what was outstanding at the last one.
    fn beyond_recover(&self) -> bool {
        self.recovery.recover.is_none_or(|r| self.una > r)
    }

    /// The next segment of a shell that counts what is outstanding by snd_nxt - snd_una.
    pub(crate) fn next_by_window(&mut self, now: Time, out: &mut Outgoing) -> bool {
        let cwnd = self.control.cwnd as i64 + self.recovery.inflation;
        let window = (cwnd.max(0) as u64).max(self.mss());
        if self.nxt < self.max {
            let Some((start, end)) = self.sent.at(self.nxt).map(|s| (s.start, s.end)) else { return false };
            let window = window + self.limited_retransmit();
            if end - self.una > window.min(self.edge - self.una) && start > self.una {
                self.held_by_window(end - self.una > window);
                return false;
            }
            self.nxt = end;
            return self.resend(start, now, out);
        }
        let outstanding = self.nxt - self.una;
        let extra = self.limited_transmit();
        if !self.send_new((window + extra).saturating_sub(outstanding), now, out) {
            return false;
        }
        if extra > 0 {
            let above = (self.nxt - self.una).saturating_sub(window);
            self.recovery.limited = self.recovery.limited.max(above);
        }
        true
    }

    /// What the first duplicate ACKs let out of what is to be sent again after a timeout or Tahoe's collapse, where the
    /// stack has that.
    fn limited_retransmit(&self) -> u64 {
        let r = &self.recovery;
        let counts = self.config.limited_retransmit
            && r.mode != Mode::Recovery
            && r.dupacks < self.config.dupack_threshold;
        if counts { u64::from(r.dupacks) * self.mss() } else { 0 }
    }

    /// What the first duplicate ACKs let out beyond the window [RFC 3042 §2].
    fn limited_transmit(&self) -> u64 {
        let r = &self.recovery;
        let counts =
            self.config.limited_transmit && r.mode == Mode::Open && r.dupacks < self.config.dupack_threshold;
        if counts { u64::from(r.dupacks) * self.mss() } else { 0 }
    }
}
