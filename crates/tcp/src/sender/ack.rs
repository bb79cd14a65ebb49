//! An acknowledgment arrives: scoreboard, recovery and congestion control in turn [Linux tcp_input.c tcp_ack].

use super::Sender;
use crate::ack::{AckSummary, IncomingAck};
use crate::ecn::EcnMode;
use crate::timestamp::timestamp;
use dumbbell_cc::{AckArrival, AckEvent, CaState};
use dumbbell_units::Time;
use dumbbell_wire::TcpFlags;

/// Reported segments for which memory is kept.
const KEPT: usize = 16;

/// The state before an acknowledgment.
struct BeforeAck {
    flight: u64,
    /// Bytes lost so far.
    lost: u64,
    was_in_recovery: bool,
}

impl Sender {
    /// Handles an acknowledgment.
    pub(crate) fn on_ack(&mut self, ack: &IncomingAck<'_>, now: Time) {
        self.delivered.clear();
        self.delivered.shrink_to(KEPT); // after the repair of a hole it is long
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
        if summary.acked > 0 || summary.sacked {
            self.notify_ack(&summary, ack.tsval, BeforeAck { flight, lost: lost_before, was_in_recovery }, now);
        }
    }

    /// Handles an acknowledgment of data that was received before, in the usual case that nothing is outstanding;
    /// `wnd_end`: offset up to which the receiver allows data.
    #[inline]
    pub(crate) fn on_idle_ack(&mut self, wnd_end: u64) {
        self.reconsider_burst();
        self.extend_window(wnd_end);
    }

    /// Notes that the receiver allows data up to `wnd_end`.
    #[inline]
    pub(crate) fn extend_window(&mut self, wnd_end: u64) {
        self.snd.wnd_end = self.snd.wnd_end.max(wnd_end);
    }

    /// True if an acknowledgment of new data without SACK blocks may be passed to [`Sender::on_expected_ack`].
    #[inline(always)] // it has one caller
    pub(crate) fn is_steady(&self) -> bool {
        self.recovery.is_steady()
            && self.scoreboard.is_intact()
            && !self.cc.wants_arrivals
            && !self.config.recovery.fine_timeouts
    }

    /// Handles the acknowledgment of everything below `ack` while [`Sender::is_steady`], as [`Sender::on_ack`] does,
    /// with fewer steps. Returns true if the oldest segment may be lost.
    #[inline(always)] // with all its parts, so that the summary needs no memory
    pub(crate) fn on_expected_ack(&mut self, ack: u64, timestamps: Option<(u32, u32)>, now: Time) -> bool {
        self.check_app_limited();
        let flight = self.flight();
        let tsval = timestamps.map(|(value, _)| value);
        let summary = self.process_expected_ack(ack, timestamps.map(|(_, echo)| echo), now);
        if self.config.uses_rack() {
            if self.recovery.rack_on_expected_ack(&self.scoreboard) {
                self.on_late_segment(summary, tsval, flight, now);
                return true;
            }
            if self.snd.una == self.snd.max {
                self.timer.expires = None;
            } else {
                let (rtt, scoreboard) = (&self.rtt, &self.scoreboard);
                self.recovery.set_timer_after_ack(&mut self.timer, rtt, scoreboard, &self.config, now);
            }
        } else {
            self.recovery.counting_on_expected_ack();
            let outstanding = self.snd.una < self.snd.max;
            self.timer.expires = outstanding.then(|| self.timer.expiry(self.rtt.rto(), now));
        }
        self.notify_expected_ack(&summary, tsval, flight, now);
        false
    }

    #[inline(never)]
    fn on_late_segment(&mut self, summary: AckSummary, tsval: Option<u32>, flight: u64, now: Time) {
        let lost = self.delivery_rate.lost();
        let (recovery, mut cx) = self.recovery_cx(now);
        recovery.rack_on_late_segment(&summary, &mut cx);
        self.notify_ack(&summary, tsval, BeforeAck { flight, lost, was_in_recovery: false }, now);
    }

    /// The same as [`Sender::notify_ack`] while nothing is lost and recovery has no part.
    #[inline(always)] // for nearly every ACK
    fn notify_expected_ack(&mut self, summary: &AckSummary, tsval: Option<u32>, flight: u64, now: Time) {
        let ev = self.ack_event(summary, tsval, flight, now);
        self.usage.snd_cwnd_stamp = now; // [Linux tcp_input.c tcp_cong_avoid]
        self.cc.notify(now, |cc, cx| cc.on_ack(&ev, cx));
    }

    /// The event of an ACK while nothing is lost and recovery has no part, with its rate sample.
    #[inline(always)] // for each ACK
    fn ack_event(&mut self, summary: &AckSummary, tsval: Option<u32>, flight: u64, now: Time) -> AckEvent {
        let mut ev = AckEvent {
            acked: self.counts_for_growth(summary),
            delivered: summary.delivered,
            rtt: self.cc_rtt(summary, now),
            one_way: self.one_way_delay(tsval, summary),
            flight,
            cwnd_limited: self.is_cwnd_limited() || self.config.growth.unused,
            inflight: self.flight(),
            departs: self.pacer.next().max(now),
            ..AckEvent::in_order(summary.acked, self.snd.una..self.snd.nxt, now)
        };
        if self.cc.wants_rates {
            ev.rate = self.delivery_rate.sample(self.min_rtt.get(), now);
        } else {
            self.delivery_rate.end_app_limited();
        }
        ev
    }

    /// Reports an ACK that delivers data to congestion control; `tsval`: its own timestamp.
    #[inline(never)]
    fn notify_ack(&mut self, summary: &AckSummary, tsval: Option<u32>, before: BeforeAck, now: Time) {
        let BeforeAck { flight, lost: lost_before, was_in_recovery } = before;
        self.notify_losses(now);
        let lost = self.delivery_rate.lost() - lost_before;
        let safe_ack = summary.acked > 0 && lost == 0;
        self.recovery.prr_on_ack(summary.delivered, safe_ack, self.scoreboard.pipe());
        let in_recovery = matches!(self.recovery.state, CaState::Recovery | CaState::Cwr)
            || (was_in_recovery && !self.grows_on_exit());
        let ev = AckEvent {
            in_recovery,
            in_loss: self.recovery.state == CaState::Loss,
            disordered: self.ca_state() == CaState::Disorder,
            lost,
            marked: summary.marks.bytes,
            ..self.ack_event(summary, tsval, flight, now)
        };
        if !ev.in_recovery && ev.acked > 0 {
            self.usage.snd_cwnd_stamp = now; // [Linux tcp_input.c tcp_cong_avoid]
        }
        self.cc.notify(now, |cc, cx| cc.on_ack(&ev, cx));
    }

    /// True if the ACK that ends recovery lets cwnd grow; never with the SACK of ns-2 [ns-2 tcp-sack1.cc recv].
    fn grows_on_exit(&self) -> bool {
        self.config.growth.on_exit && !(self.config.uses_sack() && self.config.goes_back())
    }

    /// The state of recovery; Disorder if segments are SACKed or a probe is outstanding, and no loss is known.
    #[inline]
    pub(super) fn ca_state(&self) -> CaState {
        let probed = || self.scoreboard.has_repeated() && self.scoreboard.head().is_some_and(|s| s.transmissions > 1);
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
        // An ACK with ECE isn't a predicted one [Linux include/linux/tcp.h TCP_HP_BITS].
        let echoes = ack.flags.contains(TcpFlags::ECE);
        let plain = ack.sack.is_empty() && ack.dsack.is_none() && snd_wnd == self.snd_wnd && !echoes;
        self.snd_wnd = snd_wnd;
        let rtt = self.cc_rtt(summary, now);
        let ev = AckArrival { acked: summary.acked, fast_path: plain && summary.acked > 0, rtt, state };
        self.cc.notify(now, |cc, cx| cc.on_arrival(&ev, cx));
    }

    /// One-way delay of the newest segment in seconds, by the clocks of both ends.
    #[inline(always)] // for each ACK
    fn one_way_delay(&self, tsval: Option<u32>, summary: &AckSummary) -> Option<f64> {
        if !self.cc.wants_one_way {
            return None;
        }
        let clock = self.config.connection.timestamp_clock;
        summary.newest_sent.zip(tsval).map(|(sent, tsval)| {
            let ticks = tsval.wrapping_sub(timestamp(sent, clock)).cast_signed();
            f64::from(ticks) * clock.as_secs() // between minus and plus half of the field's range
        })
    }

    /// Bytes for the window's growth. Where delivered bytes count: none if snd_una stays, unless reordering was
    /// observed [Linux tcp_input.c tcp_may_raise_cwnd].
    fn counts_for_growth(&self, ack: &AckSummary) -> u64 {
        if !self.config.growth.by_delivered {
            return ack.acked;
        }
        let reordering = self.recovery.rack.reordering();
        let counts = ack.acked > 0 || reordering > self.config.recovery.dupack_threshold.into();
        if counts { ack.delivered } else { 0 }
    }
}
