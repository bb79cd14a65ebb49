//! min_rtt and ProbeRTT: the window is reduced to measure the RTT without a queue [draft-ietf-ccwg-bbr-06 §5.3.4].
//! The section numbers below are those of the draft.

use super::{AckPhase, Bbr3, State};
use dumbbell_units::{Dur, Time};

impl Bbr3 {
    /// §5.3.4.3 UpdateMinRTT.
    pub(super) fn update_min_rtt(&mut self, rtt: Option<Dur>, now: Time) {
        let since = self.probe_rtt_min_stamp.unwrap_or(now);
        self.probe_rtt_expired = now > since + self.set.probe_rtt_interval;
        if let Some(rtt) = rtt.map(Dur::as_secs)
            && (rtt < self.probe_rtt_min_delay || self.probe_rtt_expired)
        {
            (self.probe_rtt_min_delay, self.probe_rtt_min_stamp) = (rtt, Some(now));
        }
        let expired = now > self.min_rtt_stamp + self.set.min_rtt_window;
        if self.probe_rtt_min_delay < self.min_rtt || (expired && self.probe_rtt_min_delay.is_finite()) {
            self.min_rtt = self.probe_rtt_min_delay;
            self.min_rtt_stamp = self.probe_rtt_min_stamp.unwrap_or(now);
        }
    }

    /// §5.3.4.3 CheckProbeRTT.
    pub(super) fn check_probe_rtt(&mut self, now: Time) {
        if self.state != State::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.state = State::ProbeRtt;
            self.save_cwnd();
            self.probe_rtt_done_stamp = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.round.start_round(self.delivered);
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(now);
        }
        if self.rs.newly_acked > 0 {
            self.idle_restart = false;
        }
    }

    /// §5.3.4.3 HandleProbeRTT.
    fn handle_probe_rtt(&mut self, now: Time) {
        self.app_limited_interval.mark(self.delivered, self.inflight);
        if self.probe_rtt_done_stamp.is_some() {
            self.probe_rtt_round_done |= self.round.round_start;
            if self.probe_rtt_round_done {
                self.check_probe_rtt_done(now);
            }
        } else if self.inflight as f64 <= self.probe_rtt_cwnd() {
            self.probe_rtt_done_stamp = Some(now + self.set.probe_rtt_duration);
            self.probe_rtt_round_done = false;
            self.round.start_round(self.delivered);
        }
    }

    /// §5.3.4.3 CheckProbeRTTDone, §5.3.4.4 ExitProbeRTT.
    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt_done_stamp.is_none_or(|done| now <= done) {
            return;
        }
        self.probe_rtt_min_stamp = Some(now); // the next ProbeRTT is a whole ProbeRTTInterval away
        self.restore_cwnd();
        self.reset_short_term_model();
        if self.full_bw_reached {
            self.start_probe_bw_down(now);
            self.state = State::ProbeBwCruise; // the queue is already drained
        } else {
            self.state = State::Startup;
        }
    }

    /// §5.6.4.5 ProbeRTTCwnd.
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        (self.set.probe_rtt_cwnd_gain * self.bdp(self.bw)).max(self.set.min_cwnd)
    }
}
