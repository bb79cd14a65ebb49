//! Tail loss probes: where no ACK comes for two round trips, a segment is sent to fetch one [RFC 8985 §7].
//!
//! ```text
//! timer     after new data, and after each ACK of new data, unless something is SACKed or in recovery:
//!           2 srtt, with one segment outstanding tlp_ack_delay more, 1 s without a sample; not after the timeout would come
//! probe     a new segment if there is one, whatever cwnd says; else the last one again. Then the timeout counts from now
//! its ACK   beyond what was sent before the probe although the probe was a repetition: the last segment had been lost,
//!           and the law hears of it. A DSACK or a duplicate ACK: both arrived
//! ```

use super::Mode;
use crate::sender::{News, Outgoing, Sender, Timer};
use dumbbell_cc::{Congestion, RecoveryExit};
use dumbbell_units::{Dur, Time};

/// See the top of this file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tlp {
    /// snd_nxt when the probe was sent that isn't answered yet.
    pub(super) end: Option<u64>,
    /// It was sent before.
    pub(super) repeats: bool,
    /// A probe is to be sent now.
    pub(crate) due: bool,
    /// There was a round-trip sample since the last probe.
    pub(crate) sampled: bool,
}

impl Sender {
    /// Whether the timer stands for a probe.
    fn probes(&self) -> bool {
        let modern = self.config.rack.filter(|m| m.tlp);
        modern.is_some()
            && matches!(self.recovery.mode, Mode::Open | Mode::Reducing)
            && self.sent.sacked_bytes() == 0
    }

    /// When a probe is sent, counted from now.
    fn probe_timeout(&self) -> Dur {
        let Some(srtt) = self.rtt.srtt() else { return Dur::secs(1) };
        let delay = self.config.rack.map_or(Dur::ZERO, |m| m.tlp_ack_delay);
        srtt * 2 + if self.sent.count() == 1 { delay } else { self.least_span() }
    }

    /// The timer after an ACK of new data, or after something new was sent.
    pub(super) fn set_timer(&mut self, after_ack: bool, now: Time) {
        if !self.probes() {
            self.restart_timer(now);
            return;
        }
        let rto = self.rtt.rto();
        // An ACK starts the timeout anew; else it counts from when the oldest segment was sent.
        let expires = if after_ack { now } else { self.sent.front().map_or(now, |s| s.last_at) } + rto;
        self.timer = Timer::Probe;
        self.timer_at = Some(self.expiry(self.probe_timeout().min(expires.since(now)), now));
    }

    /// The timer once a segment has left.
    pub(crate) fn timer_after_sending(&mut self, out: &Outgoing, now: Time) {
        let probe = std::mem::take(&mut self.tlp.due);
        if probe {
            self.tlp.end = Some(self.max);
            self.tlp.repeats = out.retransmission;
            self.tlp.sampled = false;
            self.restart_timer(now);
        } else if out.retransmission {
            if out.start == self.una && self.timer != Timer::Reorder {
                self.restart_timer(now);
            }
        } else if self.probes() {
            self.set_timer(false, now);
        } else if self.timer_at.is_none() {
            self.restart_timer(now);
        } else if self.timer == Timer::Probe {
            self.restart_timer_from_front(now);
        }
    }

    /// The probe timer has expired.
    pub(crate) fn on_probe_timer(&mut self, now: Time) {
        if self.tlp.end.is_none() && self.tlp.sampled {
            self.tlp.due = true;
            self.timer_at = None;
        } else {
            self.restart_timer_from_front(now);
        }
    }

    /// Sends the probe.
    pub(super) fn send_probe(&mut self, now: Time, out: &mut Outgoing) -> bool {
        if self.send_new(self.mss(), now, out) {
            return true;
        }
        let last = self.sent.back().map(|s| s.start);
        match last.and_then(|_| self.sent.last_unsacked()).map(|s| s.start) {
            Some(start) => self.resend_as_probe(start, now, out),
            None => false,
        }
    }

    /// What an ACK says of a probe [RFC 8985 §7.4.2].
    pub(super) fn answer_to_probe(&mut self, news: &News, dsack: Option<(u64, u64)>, now: Time) {
        let Some(end) = self.tlp.end.filter(|end| self.una >= *end) else { return };
        if !self.tlp.repeats || dsack.is_some_and(|(_, to)| to == end) {
            self.tlp.end = None;
        } else if self.una > end {
            self.tlp.end = None;
            if matches!(self.recovery.mode, Mode::Open) {
                self.tell_congestion(Congestion::Loss, now);
                let cx = self.cx(now);
                self.tell_law(|law| law.on_recovery_exit(&RecoveryExit { bound: f64::INFINITY }, &cx));
            }
        } else if news.duplicate {
            self.tlp.end = None;
        }
    }
}
