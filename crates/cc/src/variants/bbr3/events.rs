//! The events of the connection, and the order in which an ACK updates the model [draft-ietf-ccwg-bbr-06 §5.2].
//! The section numbers below are those of the draft.

use super::{Bbr3, RateSample, Recovery, State};
use crate::common::pacing_rate;
use crate::{
    AckEvent, Congestion, CongestionControl, CongestionEvent, Control, Cx, LostEvent, Phase, RecoveryExit, SentEvent,
};
use dumbbell_units::{Dur, Time};

impl Bbr3 {
    /// Starts the time stamps with the first event, because `new` has no clock.
    fn start_clocks(&mut self, now: Time) {
        if self.probe_rtt_min_stamp.is_none() {
            (self.probe_rtt_min_stamp, self.min_rtt_stamp) = (Some(now), now);
            self.extra_acked_interval_start = Some(now);
        }
    }

    /// Fills RS.
    fn take_sample(&mut self, ev: &AckEvent) {
        self.inflight = ev.inflight;
        let before = self.delivered;
        self.delivered = ev.rate.map_or(before + ev.delivered, |rate| rate.total_delivered);
        let newly_acked = ev.delivered;
        self.rs = match ev.rate {
            Some(rate) => RateSample {
                delivered: rate.delivered,
                newly_acked,
                delivery_rate: rate.rate(),
                prior_delivered: rate.prior_delivered,
                tx_in_flight: rate.sent_in_flight as f64,
                lost: rate.lost as f64,
                is_app_limited: self.app_limited_interval.is_limited(&rate),
                valid: true,
            },
            None => RateSample { newly_acked, ..RateSample::default() },
        };
    }

    /// §5.2.3 UpdateModelAndState.
    fn update_model_and_state(&mut self, ev: &AckEvent, now: Time) {
        self.update_latest_delivery_signals();
        self.update_congestion_signals();
        self.update_ack_aggregation(now);
        self.check_full_bw_reached();
        self.check_startup_done();
        self.check_drain_done(now);
        self.update_probe_bw_cycle_phase(ev, now);
        self.update_min_rtt(ev.rtt, now);
        self.check_probe_rtt(now);
        self.advance_latest_delivery_signals();
        self.bw = self.max_bw_filter.get().min(self.bw_shortterm); // §5.5.10.3 BoundBWForModel
    }
}

impl CongestionControl for Bbr3 {
    fn on_established(&mut self, rtt: Option<Dur>, cx: &Cx) {
        self.start_clocks(cx.now);
        if let Some(rtt) = rtt.map(Dur::as_secs) {
            (self.min_rtt, self.has_seen_rtt) = (rtt, true);
            self.init_pacing_rate(rtt);
        }
    }

    /// §5.4.1 HandleRestartFromIdle.
    fn on_sent(&mut self, ev: &SentEvent, cx: &Cx) {
        self.start_clocks(cx.now);
        if ev.flight == 0 && ev.app_limited {
            self.idle_restart = true;
            self.extra_acked_interval_start = Some(cx.now);
            if self.in_probe_bw() {
                self.set_pacing_rate_with_gain(1.0);
            } else if self.state == State::ProbeRtt {
                self.check_probe_rtt_done(cx.now);
            }
        }
        self.inflight = ev.flight + ev.bytes;
        if self.inflight as f64 + self.mss > self.cwnd {
            self.cwnd_limited_to = ev.snd_nxt;
        }
    }

    fn on_lost(&mut self, ev: &LostEvent, cx: &Cx) {
        self.inflight = self.inflight.saturating_sub(ev.bytes);
        self.handle_lost_packet(ev, cx.now);
    }

    fn on_ack(&mut self, ev: &AckEvent, cx: &Cx) {
        self.mss = cx.mss;
        self.start_clocks(cx.now);
        let delivered_before = self.delivered;
        self.take_sample(ev);
        self.start_loss_round(delivered_before, cx.now);
        if self.recovery == Recovery::Rto && !ev.in_loss && !ev.in_recovery {
            self.exit_recovery();
        }
        self.update_model_and_state(ev, cx.now);
        if let Some(rtt) = ev.rtt.filter(|_| !self.has_seen_rtt) {
            self.has_seen_rtt = true;
            self.init_pacing_rate(rtt.as_secs());
        }
        self.set_pacing_rate_with_gain(self.gains().0);
        self.set_cwnd();
    }

    fn on_congestion(&mut self, ev: &CongestionEvent, cx: &Cx) {
        match ev.kind {
            Congestion::Ecn => self.handle_mark(cx.now),
            Congestion::Loss => self.enter_recovery(Recovery::Fast),
            Congestion::Timeout | Congestion::Collapse => self.enter_recovery(Recovery::Rto),
        }
    }

    fn on_recovery_exit(&mut self, _ev: &RecoveryExit, _cx: &Cx) {
        self.exit_recovery();
    }

    fn on_undo(&mut self, _cx: &Cx) {
        self.handle_spurious_loss_detection();
    }

    /// The model remains valid after idling (§5.4.2); `on_sent` handles the restart.
    fn on_restart(&mut self, _idle: Dur, _cx: &Cx) {}

    fn control(&self) -> Control {
        Control {
            cwnd: self.cwnd,
            ssthresh: f64::INFINITY,
            pacing: Some(pacing_rate(self.pacing_rate)),
            quantum: Some(self.send_quantum() as u64),
        }
    }

    fn phase(&self) -> Phase {
        match self.state {
            State::Startup => Phase::Startup,
            State::Drain => Phase::Drain,
            State::ProbeBwDown => Phase::ProbeDown,
            State::ProbeBwCruise => Phase::Cruise,
            State::ProbeBwRefill => Phase::Refill,
            State::ProbeBwUp => Phase::ProbeUp,
            State::ProbeRtt => Phase::ProbeRtt,
        }
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let set = |x: f64| if x.is_finite() { x } else { f64::NAN };
        let (pacing_gain, cwnd_gain) = self.gains();
        row.extend([
            self.bw,
            self.max_bw_filter.get(),
            set(self.bw_shortterm),
            set(self.min_rtt),
            set(self.probe_rtt_min_delay),
            self.pacing_rate,
            pacing_gain,
            cwnd_gain,
            self.round.round_count as f64,
            set(self.inflight_longterm),
            set(self.inflight_shortterm),
            self.extra_acked_filter.get(),
            self.full_bw_count as f64,
            f64::from(u8::from(self.full_bw_now)),
            f64::from(u8::from(self.full_bw_reached)),
            f64::from(u8::from(self.idle_restart)),
            self.bw_probe_wait.as_secs(),
            f64::from(self.phase() as u8),
        ]);
    }
}
