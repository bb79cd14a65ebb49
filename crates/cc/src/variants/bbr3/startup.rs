//! Startup and drain.

use super::{Bbr3, Episode, FullBw, State};
use dumbbell_units::Time;

impl Bbr3 {
    /// §5.3.1.2 ResetFullBW; a probe goes on from the rate it has.
    pub(super) fn reset_full_bw(&mut self, mark: f64) {
        self.full = FullBw { mark, ..FullBw::default() };
    }

    /// §5.3.1.2 CheckFullBWReached.
    pub(super) fn check_full_bw_reached(&mut self) {
        if self.full.now || !self.round.round_start || self.rs.app_limited {
            return;
        }
        if self.rs.rate >= self.full.mark * self.set.full_bw_growth {
            self.reset_full_bw(self.rs.rate);
            return;
        }
        self.full.count += 1;
        self.full.now = self.full.count >= self.set.full_bw_rounds;
        self.full_bw_reached |= self.full.now;
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

    /// §5.3.1.3 CheckStartupHighLoss: a round trip of recovery is over, and too much of it was lost in too many places.
    fn check_startup_high_loss(&mut self) {
        let too_much = if self.selective_acks {
            self.loss_round.ended
                && self.episode == Episode::Fast
                && self.loss_round.ranges >= self.set.startup_full_losses
                && self.is_inflight_too_high(self.rs.lost, self.rs.tx_in_flight)
        } else {
            self.episode == Episode::Fast
        };
        if self.loss_round.ended {
            self.loss_round.ranges = 0;
        }
        if self.state != State::Startup || self.full_bw_reached || !too_much {
            return;
        }
        self.undo.state = Some(State::Startup);
        (self.full.now, self.full_bw_reached) = (true, true); // the first as in appendix A.2, item 5
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
