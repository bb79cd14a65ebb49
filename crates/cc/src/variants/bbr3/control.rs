//! From the model to pacing rate and window.

use super::{Bbr3, Episode, State};

impl Bbr3 {
    /// §5.6.2 InitPacingRate.
    pub(super) fn init_pacing_rate(&mut self, rtt: f64) {
        self.pacing = self.set.startup_pacing_gain * self.initial_window / rtt.max(1e-6);
    }

    /// §5.6.2 SetPacingRateWithGain.
    pub(super) fn set_pacing_rate_with_gain(&mut self, gain: f64) {
        let rate = gain * self.bw * self.set.pace;
        if self.full_bw_reached || rate > self.pacing {
            self.pacing = rate;
        }
    }

    /// §5.6.3 SetSendQuantum.
    pub(super) fn send_quantum(&self) -> f64 {
        (0.001 * self.pacing).min(65_536.0).max(2.0 * self.mss)
    }

    /// §5.6.4.6 SetCwnd, §5.6.4.2 UpdateMaxInflight.
    pub(super) fn set_cwnd(&mut self) {
        let max_inflight =
            self.with_quanta(self.gains().1 * self.bdp(self.bw) + self.extra_acked_filter.get());
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

    /// §5.6.4.7 BoundCwndForModel; the table of §5.6.1 names inflight_longterm for drain too, this doesn't.
    fn bound_cwnd_for_model(&mut self) {
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_longterm,
            State::ProbeRtt | State::Cruise => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        self.cwnd = self.cwnd.min(cap.min(self.inflight_shortterm).max(self.set.min_cwnd));
    }

    /// §5.6.4.4 SaveCwnd.
    pub(super) fn save_cwnd(&mut self) {
        let cut = self.episode != Episode::Open || self.state == State::ProbeRtt;
        self.prior_cwnd = if cut { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    /// §5.6.4.4 RestoreCwnd.
    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }
}
