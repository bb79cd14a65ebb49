//! ProbeBW: the cycle of DOWN, CRUISE, REFILL and UP that probes for bandwidth [draft-ietf-ccwg-bbr-06 §5.3.3].
//! The section numbers below are those of the draft.

use super::{AckPhase, Bbr3, State};
use crate::AckEvent;
use dumbbell_units::Time;

impl Bbr3 {
    /// §5.3.3.9 StartProbeBW_DOWN.
    pub(super) fn start_probe_bw_down(&mut self, now: Time) {
        self.reset_congestion_signals();
        self.probe_up_acked_per_inc = f64::INFINITY;
        self.pick_probe_wait();
        self.cycle_stamp = now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.round.start_round(self.delivered);
        self.state = State::ProbeBwDown;
    }

    /// §5.3.3.8.3 PickProbeWait.
    fn pick_probe_wait(&mut self) {
        self.rounds_since_probe_up = self.random.next_u64() & 1;
        self.bw_probe_wait = self.set.probe_wait + self.set.probe_wait_spread.scale(self.random.uniform());
    }

    /// §5.3.3.9 StartProbeBW_REFILL.
    pub(super) fn start_probe_bw_refill(&mut self) {
        self.reset_short_term_model();
        self.bw_probe_up_rounds = 0;
        self.bw_probe_up_acked = 0.0;
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.round.start_round(self.delivered);
        self.state = State::ProbeBwRefill;
    }

    /// §5.3.3.9 StartProbeBW_UP.
    fn start_probe_bw_up(&mut self) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.round.start_round(self.delivered);
        self.reset_full_bw(self.rs.delivery_rate);
        self.state = State::ProbeBwUp;
        self.raise_inflight_longterm_slope();
    }

    /// §5.3.3.9 UpdateProbeBWCyclePhase.
    pub(super) fn update_probe_bw_cycle_phase(&mut self, ev: &AckEvent, now: Time) {
        if !self.full_bw_reached || self.adapt_long_term_model(ev) {
            return;
        }
        let state = self.state;
        match state {
            // CheckTimeToProbeBW may start ProbeBW_REFILL: then it isn't time to cruise.
            State::ProbeBwDown if !self.check_time_to_probe_bw(now) && self.is_time_to_cruise() => {
                self.state = State::ProbeBwCruise;
            }
            State::ProbeBwCruise => {
                self.check_time_to_probe_bw(now);
            }
            State::ProbeBwRefill if self.round.round_start => {
                self.is_bw_probe_sample = true;
                self.start_probe_bw_up();
            }
            State::ProbeBwUp if self.is_time_to_go_down(ev) => {
                self.prev_probe_too_high = false; // the probe ended without high loss
                self.start_probe_bw_down(now);
            }
            _ => {}
        }
    }

    /// §5.3.3.8.3 IsTimeToProbeBW. Starts ProbeBW_REFILL and returns true if it is time to probe.
    fn check_time_to_probe_bw(&mut self, now: Time) -> bool {
        let is_time = now > self.cycle_stamp + self.bw_probe_wait || self.is_reno_coexistence_probe_time();
        if is_time {
            self.start_probe_bw_refill();
        }
        is_time
    }

    /// §5.3.3.8.3 IsRenoCoexistenceProbeTime.
    fn is_reno_coexistence_probe_time(&self) -> bool {
        let rounds = (self.target_inflight() / self.mss).min(self.set.reno_rounds);
        self.rounds_since_probe_up as f64 >= rounds
    }

    /// §5.3.3.9 IsTimeToCruise.
    fn is_time_to_cruise(&self) -> bool {
        let inflight = self.inflight as f64;
        inflight <= self.inflight_with_headroom() && inflight <= self.inflight_for(self.max_bw_filter.get(), 1.0)
    }

    /// §5.3.3.9 IsTimeToGoDown.
    fn is_time_to_go_down(&mut self, ev: &AckEvent) -> bool {
        if self.prev_probe_too_high && self.inflight as f64 >= self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if self.is_limited_by_inflight_longterm(ev) {
            self.reset_full_bw(self.rs.delivery_rate); // inflight_longterm limits the rate, not the path
            return false;
        }
        self.full_bw_now
    }

    /// Returns true if sending is limited by cwnd, and cwnd by inflight_longterm.
    fn is_limited_by_inflight_longterm(&self, ev: &AckEvent) -> bool {
        ev.snd_una <= self.cwnd_limited_to && self.cwnd >= self.inflight_longterm
    }

    /// §5.3.3.9 InflightWithHeadroom.
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        let headroom = (self.set.headroom * self.inflight_longterm).max(self.mss);
        if self.inflight_longterm.is_infinite() {
            return f64::INFINITY;
        }
        (self.inflight_longterm - headroom).max(self.set.min_cwnd)
    }

    /// §5.3.3.9 RaiseInflightLongtermSlope.
    fn raise_inflight_longterm_slope(&mut self) {
        let growth = f64::from(1u32 << self.bw_probe_up_rounds);
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(30);
        self.probe_up_acked_per_inc = (self.cwnd / growth).max(self.mss);
    }

    /// §5.3.3.9 ProbeInflightLongtermUpward.
    fn probe_inflight_longterm_upward(&mut self, ev: &AckEvent) {
        if !self.is_limited_by_inflight_longterm(ev) {
            return;
        }
        self.bw_probe_up_acked += self.rs.newly_acked as f64;
        if self.bw_probe_up_acked >= self.probe_up_acked_per_inc {
            let increments = (self.bw_probe_up_acked / self.probe_up_acked_per_inc).floor();
            self.bw_probe_up_acked -= increments * self.probe_up_acked_per_inc;
            self.inflight_longterm += increments * self.mss;
        }
        if self.round.round_start {
            self.raise_inflight_longterm_slope();
        }
    }

    /// §5.3.3.9 AdaptLongTermModel. Returns true if it started another probe.
    fn adapt_long_term_model(&mut self, ev: &AckEvent) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.round.round_start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.round.round_start {
            self.is_bw_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.in_probe_bw() && !self.rs.is_app_limited {
                self.max_bw_filter.advance();
            }
            // §5.3.3.6: the precautionary probe was successful, another one follows.
            if self.in_probe_bw() && self.prev_probe_precautionary && !self.prev_probe_too_high {
                self.start_probe_bw_refill();
                return true;
            }
        }
        if self.is_inflight_too_high(self.rs.lost, self.rs.tx_in_flight) || self.inflight_longterm.is_infinite() {
            return false;
        }
        self.inflight_longterm = self.inflight_longterm.max(self.rs.tx_in_flight);
        if self.state == State::ProbeBwUp {
            self.probe_inflight_longterm_upward(ev);
        }
        false
    }
}
