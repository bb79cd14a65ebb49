//! From the model to pacing rate, send quantum and window [draft-ietf-ccwg-bbr-06 §5.6].
//! The section numbers below are those of the draft.

use super::{Bbr3, Recovery, State};

impl Bbr3 {
    /// §5.6.2 InitPacingRate.
    pub(super) fn init_pacing_rate(&mut self, rtt: f64) {
        self.pacing_rate = self.set.startup_pacing_gain * self.initial_window / rtt.max(1e-6);
    }

    /// §5.6.2 SetPacingRateWithGain.
    pub(super) fn set_pacing_rate_with_gain(&mut self, gain: f64) {
        let rate = gain * self.bw * self.set.pacing_scale;
        if self.full_bw_reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// §5.6.3 SetSendQuantum.
    pub(super) fn send_quantum(&self) -> f64 {
        (0.001 * self.pacing_rate).min(65_536.0).max(2.0 * self.mss)
    }

    /// §5.6.4.6 SetCwnd, §5.6.4.2 UpdateMaxInflight.
    pub(super) fn set_cwnd(&mut self) {
        let max_inflight = self.quantization_budget(self.gains().1 * self.bdp(self.bw) + self.extra_acked_filter.get());
        let acked = self.rs.newly_acked as f64;
        if self.full_bw_reached {
            self.cwnd = (self.cwnd + acked).min(max_inflight);
        } else if self.cwnd < max_inflight || (self.delivered as f64) < self.initial_window {
            self.cwnd += acked;
        }
        self.cwnd = self.cwnd.max(self.set.min_cwnd);
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd_for_model();
    }

    /// §5.6.4.7 BoundCwndForModel. Drain is not bounded by inflight_longterm, as in the pseudo-code; the table of
    /// §5.6.1 has that bound.
    fn bound_cwnd_for_model(&mut self) {
        let cap = match self.state {
            State::ProbeBwDown | State::ProbeBwRefill | State::ProbeBwUp => self.inflight_longterm,
            State::ProbeRtt | State::ProbeBwCruise => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        self.cwnd = self.cwnd.min(cap.min(self.inflight_shortterm).max(self.set.min_cwnd));
    }

    /// §5.6.4.4 SaveCwnd.
    pub(super) fn save_cwnd(&mut self) {
        let reduced = self.recovery != Recovery::None || self.state == State::ProbeRtt;
        self.prior_cwnd = if reduced { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    /// §5.6.4.4 RestoreCwnd.
    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }
}
