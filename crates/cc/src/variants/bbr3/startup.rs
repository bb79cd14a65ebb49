//! Startup and Drain [draft-ietf-ccwg-bbr-06 §5.3.1, §5.3.2].
//! The section numbers below are those of the draft.

use super::{Bbr3, Recovery, State};
use dumbbell_units::Time;

impl Bbr3 {
    /// §5.3.1.2 ResetFullBW, with the bandwidth to exceed: zero, or the delivery rate at the start of a probe.
    pub(super) fn reset_full_bw(&mut self, full_bw: f64) {
        (self.full_bw, self.full_bw_count, self.full_bw_now) = (full_bw, 0, false);
    }

    /// §5.3.1.2 CheckFullBWReached.
    pub(super) fn check_full_bw_reached(&mut self) {
        if self.full_bw_now || !self.round.round_start || self.rs.is_app_limited {
            return;
        }
        if self.rs.delivery_rate >= self.full_bw * self.set.full_bw_growth {
            self.reset_full_bw(self.rs.delivery_rate);
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= self.set.full_bw_rounds;
        self.full_bw_reached |= self.full_bw_now;
    }

    /// §5.3.1.1 CheckStartupDone.
    pub(super) fn check_startup_done(&mut self) {
        self.check_startup_high_loss();
        if self.state == State::Startup && self.full_bw_reached {
            // §5.3.2 EnterDrain
            self.state = State::Drain;
            self.drain_start_round = self.round.round_count;
        }
    }

    /// §5.3.1.3 CheckStartupHighLoss: a round trip of recovery ended with too much lost, in too many ranges.
    fn check_startup_high_loss(&mut self) {
        let high_loss = if self.selective_acks {
            self.loss_round.start
                && self.recovery == Recovery::Fast
                && self.loss_round.ranges >= self.set.startup_full_losses
                && self.is_inflight_too_high(self.rs.lost, self.rs.tx_in_flight)
        } else {
            self.recovery == Recovery::Fast
        };
        if self.loss_round.start {
            self.loss_round.ranges = 0;
        }
        if self.state != State::Startup || self.full_bw_reached || !high_loss {
            return;
        }
        self.undo.undo_state = Some(State::Startup);
        (self.full_bw_now, self.full_bw_reached) = (true, true); // full_bw_now as in appendix A.2, item 5
        self.inflight_longterm = self.bdp(self.bw).max(self.inflight_latest);
    }

    /// §5.3.2 CheckDrainDone.
    pub(super) fn check_drain_done(&mut self, now: Time) {
        if self.state == State::Drain
            && (self.inflight as f64 <= self.inflight_for(self.bw, 1.0)
                || self.round.round_count > self.drain_start_round + 3)
        {
            self.start_probe_bw_down(now);
        }
    }
}
