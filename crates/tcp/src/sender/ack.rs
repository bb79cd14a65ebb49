//! An acknowledgment arrives: scoreboard, recovery and congestion control in turn [Linux tcp_input.c tcp_ack].

use super::Sender;
use super::summary::AckSummary;
use crate::cc_driver::cc_cx;
use crate::ecn::EcnMode;
use crate::endpoint::timestamp;
use dumbbell_cc::{AckArrival, AckEvent, CaState};
use dumbbell_units::Time;
use dumbbell_wire::{AccEcn, TcpFlags};

/// An acknowledgment, with offsets and times in place of wire values.
pub(crate) struct IncomingAck<'a> {
    pub(crate) ack: u64,
    /// Offset up to which the receiver allows data.
    pub(crate) wnd_end: u64,
    /// True if it can be a duplicate ACK: no payload, no SYN or FIN [RFC 5681 §2 (b), (c)].
    pub(crate) may_be_duplicate: bool,
    pub(crate) sack: &'a [(u64, u64)],
    /// A segment that arrived twice [RFC 2883].
    pub(crate) dsack: Option<(u64, u64)>,
    /// When the segment was sent whose timestamp it echoes.
    pub(crate) echo: Option<Time>,
    /// Its own timestamp, by the receiver's clock.
    pub(crate) tsval: Option<u32>,
    pub(crate) flags: TcpFlags,
    pub(crate) accecn: Option<&'a AccEcn>,
}

impl Sender {
    /// Handles an acknowledgment.
    pub(crate) fn on_ack(&mut self, ack: &IncomingAck<'_>, now: Time) {
        self.delivered.clear();
        self.reconsider_burst();
        if ack.ack > self.snd.max || ack.ack < self.snd.una {
            return;
        }
        let same_window = ack.wnd_end == self.snd.wnd_end;
        self.snd.wnd_end = self.snd.wnd_end.max(ack.wnd_end);
        let reports_more = ack.dsack.is_some() || self.ecn.mode != EcnMode::Off;
        if ack.ack == self.snd.max && self.snd.una == self.snd.max && !reports_more {
            return; // nothing is outstanding: an ACK on data in the other direction
        }
        self.check_app_limited();
        let flight = self.flight();
        let lost_before = self.delivery_rate.lost();
        let state = self.ca_state();
        let was_in_recovery = state == CaState::Recovery;
        let summary = self.process_ack(ack, same_window, now);
        self.notify_arrival(ack, &summary, state, now);
        let (recovery, mut cx) = self.recovery_cx(now);
        recovery.on_ack(ack, &summary, was_in_recovery, &mut cx);
        if summary.acked == 0 && !summary.sacked {
            return;
        }
        self.notify_losses(now);
        let lost = self.delivery_rate.lost() - lost_before;
        let rate = self.delivery_rate.sample(self.min_rtt.get(), now);
        let safe_ack = summary.acked > 0 && lost == 0;
        self.recovery.prr_on_ack(summary.delivered, safe_ack, self.scoreboard.pipe());
        let in_recovery = matches!(self.recovery.state, CaState::Recovery | CaState::Cwr)
            || (was_in_recovery && !self.config.growth.on_exit);
        let ev = AckEvent {
            acked: self.counts_for_growth(&summary),
            delivered: summary.delivered,
            rtt: self.cc_rtt(&summary, now),
            one_way: self.one_way_delay(ack, &summary),
            flight,
            snd_una: self.snd.una,
            snd_nxt: self.snd.nxt,
            cwnd_limited: self.is_cwnd_limited() || self.config.growth.unused,
            in_recovery,
            in_loss: self.recovery.state == CaState::Loss,
            disordered: self.ca_state() == CaState::Disorder,
            inflight: self.flight(),
            departs: self.pacer.next().max(now),
            lost,
            marked: summary.marks.bytes,
            rate,
        };
        let cx = cc_cx(&self.config, now);
        self.cc.notify(|cc| cc.on_ack(&ev, &cx));
    }

    /// The state of recovery; Disorder if segments are SACKed or a probe is outstanding, and no loss is known.
    fn ca_state(&self) -> CaState {
        let probed = || self.scoreboard.head().is_some_and(|s| s.transmissions > 1);
        match self.recovery.state {
            CaState::Open if self.scoreboard.sacked_bytes() > 0 || probed() => CaState::Disorder,
            state => state,
        }
    }

    /// Reports the arrival of the ACK to a congestion control algorithm that wants it; `state`: before the ACK.
    fn notify_arrival(&mut self, ack: &IncomingAck<'_>, summary: &AckSummary, state: CaState, now: Time) {
        if !self.cc.wants_arrivals {
            return;
        }
        let snd_wnd = ack.wnd_end - ack.ack;
        let plain = ack.sack.is_empty() && ack.dsack.is_none() && snd_wnd == self.snd_wnd;
        self.snd_wnd = snd_wnd;
        let rtt = self.cc_rtt(summary, now);
        let ev = AckArrival { acked: summary.acked, fast_path: plain && summary.acked > 0, rtt, state };
        let cx = cc_cx(&self.config, now);
        self.cc.notify(|cc| cc.on_arrival(&ev, &cx));
    }

    /// One-way delay of the newest segment in seconds, by the clocks of both ends.
    fn one_way_delay(&self, ack: &IncomingAck<'_>, summary: &AckSummary) -> Option<f64> {
        let clock = self.config.connection.timestamp_clock;
        summary.newest_sent.zip(ack.tsval).map(|(sent, tsval)| {
            let ticks = tsval.wrapping_sub(timestamp(sent, clock)).cast_signed();
            f64::from(ticks) * clock.as_secs() // between minus and plus half of the field's range
        })
    }

    /// Bytes for the window's growth. Where delivered bytes count: none if snd_una stays, unless reordering was observed
    /// [Linux tcp_input.c tcp_may_raise_cwnd].
    fn counts_for_growth(&self, ack: &AckSummary) -> u64 {
        if !self.config.growth.by_delivered {
            return ack.acked;
        }
        let reordering = self.recovery.rack.reordering();
        let counts = ack.acked > 0 || reordering > self.config.recovery.dupack_threshold.into();
        if counts { ack.delivered } else { 0 }
    }
}
