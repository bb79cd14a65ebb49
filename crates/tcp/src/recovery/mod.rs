//! Loss recovery: how losses are found, and which segment is sent next [RFC 5681, 6582, 6675, 8985].
//!
//! ```text
//! counting    duplicate ACKs, SACKed segments: tahoe.rs, reno.rs, newreno.rs, sack.rs, sack1.rs (of ns-2);
//!             `counting.rs` has the common part
//! by time     rack_recovery.rs (states), rack.rs (losses), tlp.rs (probes), prr.rs (window), frto.rs, undo.rs
//! ```
//! The sender reports ACKs, expiries and transmissions, and requests the next segment. Each call gets a [`RecoveryCx`],
//! which holds all that recovery may read or change; the answer is a [`NextSegment`], which the sender sends.

mod counting;
mod cx;
mod frto;
mod newreno;
mod prr;
mod rack;
mod rack_recovery;
mod reno;
mod sack;
mod sack1;
mod tahoe;
#[cfg(test)]
mod tests;
mod tlp;
mod undo;

pub(crate) use cx::RecoveryCx;
pub(crate) use rack::Rack;

use crate::ack::{AckSummary, IncomingAck};
use crate::config::Config;
use crate::scoreboard::Scoreboard;
use crate::send_sequence::SendSequence;
use crate::send_timer::TimerKind;
use dumbbell_cc::CaState;
use prr::Prr;
use sack1::Sack1;
use tlp::Tlp;
use undo::Undo;

/// The state of recovery.
#[derive(Clone, Debug)]
pub(crate) struct Recovery {
    /// Open, Cwr, Recovery or Loss [Linux include/uapi/linux/tcp.h enum tcp_ca_state]. Disorder follows from the
    /// scoreboard and is not stored.
    pub(crate) state: CaState,
    dupacks: u32,
    /// snd_max when the last recovery, collapse or timeout began [RFC 6582 §3.2].
    pub(crate) recover: Option<u64>,
    /// Bytes by which the window is larger than that of congestion control (negative after partial ACKs).
    inflation: i64,
    /// Bytes by which partial ACKs have reduced cwnd itself in this recovery [ns-2 tcp-newreno.cc partialnewack].
    deflation: i64,
    /// True from a duplicate ACK to the next segment sent [ns-2 tcp.cc send_one].
    one_more: bool,
    /// With `sack_rules = "ns2"`.
    sack1: Sack1,
    /// Bytes outstanding that limited transmit has sent.
    limited_transmit: u64,
    /// True after a partial ACK in this recovery.
    partial_ack: bool,
    /// True if the segment at snd_una is retransmitted next, independent of the window.
    retransmit_head: bool,
    /// True after the rescue retransmission of this recovery [RFC 6675 §2 RescueRxt].
    rescued: bool,
    /// New ACKs that still check the fine-grained timeout [ns-2 tcp-vegas.cc v_worried_].
    worried: u8,
    /// With RACK: the window during recovery.
    prr: Option<Prr>,
    /// With RACK: the reduction that may be undone.
    undo: Option<Undo>,
    /// With RACK: true while F-RTO examines a timeout.
    frto: bool,
    /// With RACK: true if only new segments may be sent until the next ACK.
    new_data_only: bool,
    pub(crate) rack: Rack,
    pub(crate) tlp: Tlp,
}

/// The next segment, as recovery decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextSegment {
    /// None until something changes.
    Nothing,
    /// None, because a window is full: cwnd's, or the receiver's.
    Blocked {
        /// True if it is the congestion window.
        by_cwnd: bool,
    },
    /// The segment at this offset again.
    Retransmit(u64),
    /// The lost segment at this offset again, with as many of its burst as `limit` bytes allow.
    RetransmitBurst {
        /// Offset of the first segment.
        start: u64,
        /// Bytes that the window allows.
        limit: u64,
    },
    /// The segment at this offset again, without an effect on HighRxt [RFC 6675 §4 NextSeg (4)].
    Rescue(u64),
    /// The segment at this offset again, although it isn't lost [RFC 8985 §7.3].
    Probe(u64),
    /// A new segment of at most `limit` bytes.
    New {
        /// Bytes that the window allows.
        limit: u64,
        /// True if it may wait until a longer burst can be sent.
        may_wait: bool,
        /// Next step if no new segment can be sent.
        otherwise: Otherwise,
    },
}

/// Next step if no new segment can be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Otherwise {
    /// Send nothing.
    Nothing,
    /// Retransmit a segment that isn't lost [RFC 6675 §4 NextSeg (3), (4)].
    RetransmitUnsacked,
    /// Send the last segment again as a probe [RFC 8985 §7.3].
    ProbeLast,
    /// End F-RTO, which needs new data [RFC 5682 §3.1 step 2].
    EndFrto,
}

impl Recovery {
    pub(crate) fn new(config: &Config) -> Recovery {
        Recovery::open(Rack::new(config), Tlp::default())
    }

    fn open(rack: Rack, tlp: Tlp) -> Recovery {
        Recovery {
            state: CaState::Open,
            dupacks: 0,
            recover: None,
            inflation: 0,
            deflation: 0,
            one_more: false,
            sack1: Sack1::default(),
            limited_transmit: 0,
            partial_ack: false,
            retransmit_head: false,
            rescued: false,
            worried: 0,
            prr: None,
            undo: None,
            frto: false,
            new_data_only: false,
            rack,
            tlp,
        }
    }

    /// The window without inflation, bytes: PRR's, or `cwnd` of congestion control.
    pub(crate) fn window(&self, cwnd: f64) -> f64 {
        self.prr.as_ref().map_or(cwnd, |prr| prr.cwnd().cast_signed() as f64) // cheaper than from u64
    }

    /// True if the window is that of congestion control.
    pub(crate) fn has_no_window(&self) -> bool {
        self.prr.is_none()
    }

    /// Bytes by which the window is larger than that of congestion control (negative after partial ACKs).
    pub(crate) fn inflation(&self) -> f64 {
        (self.inflation - self.deflation) as f64
    }

    /// True if a segment waits to be retransmitted.
    pub(crate) fn has_retransmission(&self, config: &Config, snd: &SendSequence, scoreboard: &Scoreboard) -> bool {
        if self.retransmit_head {
            return true;
        }
        match (config.uses_sack(), config.uses_rack()) {
            (true, false) if !config.goes_back() => scoreboard.has_next_lost(),
            (true, true) => scoreboard.needs_retransmission(),
            _ => snd.nxt < snd.max,
        }
    }

    /// True if the segment at snd_una is retransmitted next.
    pub(crate) fn retransmits_head(&self) -> bool {
        self.retransmit_head
    }

    /// Handles an ACK whose segments the scoreboard has recorded. `was_in_recovery`: the state before the ACK.
    pub(crate) fn on_ack(
        &mut self,
        ack: &IncomingAck<'_>,
        summary: &AckSummary,
        was_in_recovery: bool,
        cx: &mut RecoveryCx<'_>,
    ) {
        if cx.config.uses_rack() {
            self.rack_on_ack(ack, summary, cx);
        } else {
            self.counting_on_ack(ack.sack, summary, was_in_recovery, cx);
        }
    }

    /// True if no loss, reduction or probe is open, so that an ACK of new data has no effect but those of
    /// [`Recovery::on_expected_ack`]; the scoreboard is to be checked too.
    #[inline]
    pub(crate) fn is_steady(&self) -> bool {
        self.state == CaState::Open
            && !self.retransmit_head
            && self.tlp.end_seq.is_none()
            && self.undo.is_none_or(|undo| undo.is_open())
    }

    /// Handles an ACK of new data without SACK blocks, while [`Recovery::is_steady`] and the scoreboard is intact.
    /// Without RACK the timer is left to the sender.
    #[inline]
    pub(crate) fn counting_on_expected_ack(&mut self) {
        (self.dupacks, self.limited_transmit) = (0, 0);
    }

    /// The same with RACK. Returns true if [`Recovery::rack_on_late_segment`] must follow: the oldest segment was sent
    /// before a retransmission that was delivered.
    #[inline(always)] // it has one caller
    pub(crate) fn rack_on_expected_ack(&mut self, scoreboard: &Scoreboard) -> bool {
        self.new_data_only = false;
        self.rack.timer_armed = false;
        scoreboard.head().is_some_and(|s| self.rack.precedes_newest(s))
    }

    /// See [`Recovery::rack_on_expected_ack`]. Sets the timer too.
    pub(crate) fn rack_on_late_segment(&mut self, summary: &AckSummary, cx: &mut RecoveryCx<'_>) {
        self.on_ack_in_open(summary, cx);
        if cx.all_acknowledged() {
            cx.timer.expires = None;
        } else if !self.rack.timer_armed {
            self.schedule_probe_or_rto(true, cx);
        }
    }

    /// True if a new segment comes next, as far as the window allows; the scoreboard is to be checked too.
    #[inline]
    pub(crate) fn sends_new_data(&self) -> bool {
        self.state == CaState::Open
            && !self.retransmit_head
            && !self.tlp.due
            && !self.new_data_only
            && self.dupacks == 0
            && self.inflation == 0
    }

    /// Updates PRR's window with the bytes that an ACK delivers; `safe` if it moves snd_una and reports no further
    /// loss.
    #[inline(always)] // for each ACK, mostly without PRR
    pub(crate) fn prr_on_ack(&mut self, delivered: u64, safe: bool, pipe: u64) {
        if let Some(prr) = &mut self.prr
            && delivered > 0
        {
            prr.on_ack(delivered, safe, pipe);
        }
    }

    /// Handles the expiry of the timer.
    pub(crate) fn on_timer(&mut self, kind: TimerKind, cx: &mut RecoveryCx<'_>) {
        match kind {
            TimerKind::Rto if cx.config.uses_rack() => self.rack_on_timeout(cx),
            TimerKind::Rto => self.counting_on_timeout(cx),
            TimerKind::Probe => self.on_probe_timer(cx),
            TimerKind::Reorder => self.on_reorder_timer(cx),
        }
    }

    /// Returns the next segment.
    pub(crate) fn next(&mut self, cx: &mut RecoveryCx<'_>) -> NextSegment {
        if cx.config.uses_rack() { self.rack_next(cx) } else { self.counting_next(cx) }
    }

    /// Returns the next segment after no new one could be sent.
    pub(crate) fn next_without_new(&mut self, otherwise: Otherwise, cx: &mut RecoveryCx<'_>) -> NextSegment {
        match otherwise {
            Otherwise::Nothing => NextSegment::Nothing,
            Otherwise::RetransmitUnsacked => self.sack_next_unsacked(cx),
            Otherwise::ProbeLast => self.probe_last(cx),
            Otherwise::EndFrto => self.end_frto_without_new_data(cx),
        }
    }

    /// Notes that a new segment was added, before congestion control knows of it.
    pub(crate) fn on_new_segment(&mut self, cx: &RecoveryCx<'_>) {
        self.sack1_on_new_segment();
        self.note_limited_transmit(cx);
        self.one_more = false;
    }

    /// Notes a segment that is sent, with the bytes that it counts as, for PRR.
    pub(crate) fn on_bytes_sent(&mut self, bytes: u64) {
        if let Some(prr) = &mut self.prr {
            prr.on_sent(bytes);
        }
    }

    /// Sets the timer after a segment was sent; `repeated`: its offset, if it was sent before.
    pub(crate) fn on_sent(&mut self, repeated: Option<u64>, cx: &mut RecoveryCx<'_>) {
        if cx.config.uses_rack() {
            self.rack_timer_after_sending(repeated, cx);
        } else if cx.timer.expires.is_none() {
            cx.restart_rto();
        }
    }
}
