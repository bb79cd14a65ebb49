//! Tail loss probes: after two round trips without an ACK, a segment is sent to trigger one [RFC 8985 §7].
//!
//! ```text
//! timer     PTO after new data and after each ACK of new data, unless a segment is SACKed or in recovery:
//!           2 SRTT, plus tlp_ack_delay with one segment outstanding; 1 s without a sample; never after the RTO
//! probe     a new segment if one is available, whatever cwnd; else the last segment again. Then the RTO counts from
//!           now
//! its ACK   beyond TLP.end_seq although the probe was a retransmission: the last segment had been lost, which is
//!           reported to congestion control. A D-SACK or a duplicate ACK: both arrived
//! ```

use super::{NextSegment, Otherwise, Recovery, RecoveryCx};
use crate::ack::AckSummary;
use crate::config::Config;
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;
use crate::send_timer::{SendTimer, TimerKind};
use dumbbell_cc::{CaState, Congestion};
use dumbbell_units::{Dur, Time};

/// PTO before the first round-trip sample [RFC 8985 §7.2 TLP_calc_PTO].
const PTO_WITHOUT_SAMPLE: Dur = Dur::secs(1);

/// TLP's variables; the names are those of RFC 8985 §7.1.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tlp {
    /// snd_nxt when the probe was sent that is not yet answered.
    pub(super) end_seq: Option<u64>,
    /// True if the probe was a retransmission.
    pub(super) is_retrans: bool,
    /// True if a probe is to be sent now.
    pub(crate) due: bool,
    /// True if a round-trip sample was taken since the last probe.
    pub(crate) sampled: bool,
    /// When the timer was set after a new segment was sent; None after an ACK has set it.
    set_after_sending: Option<Time>,
}

impl Recovery {
    /// True if the timer may be that of a probe [RFC 8985 §7.2].
    fn may_probe(&self, config: &Config, scoreboard: &Scoreboard) -> bool {
        config.recovery.rack.is_some_and(|r| r.tlp)
            && matches!(self.state, CaState::Open | CaState::Cwr)
            && scoreboard.sacked_bytes() == 0
    }

    /// True if the timer is that of a probe, and sending another segment doesn't change it: a new segment was sent
    /// before at the same time. The PTO differs only with one outstanding.
    #[inline]
    pub(crate) fn probe_timer_is_set(
        &self,
        retransmission: bool,
        timer: &SendTimer,
        scoreboard: &Scoreboard,
        config: &Config,
        now: Time,
    ) -> bool {
        self.tlp.set_after_sending == Some(now)
            && timer.kind == TimerKind::Probe
            && timer.expires.is_some()
            && scoreboard.segment_count() > 2
            && !self.tlp.due
            && !retransmission
            && self.may_probe(config, scoreboard)
    }

    /// Sets the timer after an ACK of new data, or after a new segment was sent [RFC 8985 §7.2; Linux tcp_output.c
    /// tcp_schedule_loss_probe].
    pub(super) fn schedule_probe_or_rto(&mut self, after_ack: bool, cx: &mut RecoveryCx<'_>) {
        if after_ack {
            self.set_timer_after_ack(cx.timer, cx.rtt, cx.scoreboard, cx.config, cx.now);
            return;
        }
        self.tlp.set_after_sending = Some(cx.now);
        if !self.may_probe(cx.config, cx.scoreboard) {
            cx.restart_rto();
            return;
        }
        // The RTO counts from the time at which the oldest segment was sent.
        let start = cx.scoreboard.head().map_or(cx.now, |s| s.xmit_ts);
        let rto_expires = start + cx.rtt.rto();
        let pto = probe_timeout(cx.rtt, cx.scoreboard, cx.config, cx.timer);
        cx.timer.start(TimerKind::Probe, pto.min(rto_expires.since(cx.now)), cx.now);
    }

    /// The same after an ACK of new data, if a segment is outstanding. The RTO counts from now.
    #[inline]
    pub(crate) fn set_timer_after_ack(
        &mut self,
        timer: &mut SendTimer,
        rtt: &RttEstimator,
        scoreboard: &Scoreboard,
        config: &Config,
        now: Time,
    ) {
        self.tlp.set_after_sending = None;
        if self.may_probe(config, scoreboard) {
            let pto = probe_timeout(rtt, scoreboard, config, timer);
            timer.start(TimerKind::Probe, pto.min(rtt.rto()), now);
        } else {
            timer.start(TimerKind::Rto, rtt.rto(), now);
        }
    }

    /// Sets the timer after a segment was sent, unless [`Recovery::probe_timer_is_set`]; see [`Recovery::on_sent`].
    pub(super) fn rack_timer_after_sending(&mut self, repeated: Option<u64>, cx: &mut RecoveryCx<'_>) {
        let probe = std::mem::take(&mut self.tlp.due);
        if probe {
            self.tlp.end_seq = Some(cx.snd.max);
            self.tlp.is_retrans = repeated.is_some();
            self.tlp.sampled = false;
            cx.restart_rto();
        } else if let Some(start) = repeated {
            if start == cx.snd.una && cx.timer.kind != TimerKind::Reorder {
                cx.restart_rto();
            }
        } else if self.may_probe(cx.config, cx.scoreboard) {
            self.schedule_probe_or_rto(false, cx);
        } else if cx.timer.expires.is_none() {
            cx.restart_rto();
        } else if cx.timer.kind == TimerKind::Probe {
            cx.rearm_rto();
        }
    }

    /// The probe timer has expired [RFC 8985 §7.3 TLP_send_probe].
    pub(super) fn on_probe_timer(&mut self, cx: &mut RecoveryCx<'_>) {
        if self.tlp.end_seq.is_none() && self.tlp.sampled {
            self.tlp.due = true;
            cx.timer.expires = None;
        } else {
            cx.rearm_rto();
        }
    }

    /// Returns the last segment as a probe, because no new one can be sent.
    pub(super) fn probe_last(&mut self, cx: &mut RecoveryCx<'_>) -> NextSegment {
        if let Some(last) = cx.scoreboard.last_unsacked() {
            return NextSegment::Probe(last.start);
        }
        self.tlp.due = false;
        cx.rearm_rto();
        self.rack_next(cx)
    }

    /// Returns the probe: a new segment if possible.
    pub(super) fn next_probe(cx: &RecoveryCx<'_>) -> NextSegment {
        NextSegment::New { limit: cx.mss(), may_wait: false, otherwise: Otherwise::ProbeLast }
    }

    /// Checks whether an ACK answers the probe [RFC 8985 §7.4.2 TLP_process_ack; Linux tcp_input.c
    /// tcp_process_tlp_ack].
    pub(super) fn process_tlp_ack(&mut self, ack: &AckSummary, dsack: Option<(u64, u64)>, cx: &mut RecoveryCx<'_>) {
        let Some(end_seq) = self.tlp.end_seq.filter(|end_seq| cx.snd.una >= *end_seq) else { return };
        if !self.tlp.is_retrans || dsack.is_some_and(|(_, end)| end == end_seq) {
            self.tlp.end_seq = None;
        } else if cx.snd.una > end_seq {
            self.tlp.end_seq = None;
            if self.state == CaState::Open {
                cx.notify_congestion(Congestion::Loss, cx.timer.backoffs, self.limited_transmit);
                cx.notify_recovery_exit(f64::INFINITY);
            }
        } else if ack.duplicate {
            self.tlp.end_seq = None;
        }
    }
}

/// Returns the PTO [RFC 8985 §7.2 TLP_calc_PTO].
#[inline]
fn probe_timeout(rtt: &RttEstimator, scoreboard: &Scoreboard, config: &Config, timer: &SendTimer) -> Dur {
    let Some(srtt) = rtt.srtt() else { return PTO_WITHOUT_SAMPLE };
    let ack_delay = config.recovery.rack.map_or(Dur::ZERO, |r| r.tlp_ack_delay);
    srtt * 2 + if scoreboard.segment_count() == 1 { ack_delay } else { timer.least_span() }
}
