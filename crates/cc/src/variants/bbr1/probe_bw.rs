//! PROBE_BW: the cycle of eight pacing gains around the estimated bandwidth.
//!
//! Source: Linux 6.12 [Linux tcp_bbr.c bbr_main]; each function names its counterpart.

use super::{Bbr1, Mode};
use crate::AckEvent;
use dumbbell_units::Time;

/// Phases of a cycle [Linux tcp_bbr.c CYCLE_LEN].
const CYCLE_LEN: usize = 8;

impl Bbr1 {
    /// Starts the cycle at a random phase, but not at the one that drains (gain 0.75).
    /// [Linux tcp_bbr.c bbr_reset_probe_bw_mode]
    pub(super) fn reset_probe_bw_mode(&mut self, now: Time) {
        let random = (self.random.uniform() * (CYCLE_LEN - 1) as f64) as usize;
        self.mode = Mode::ProbeBw((CYCLE_LEN - random) % CYCLE_LEN);
        self.cycle_stamp = now;
    }

    /// [Linux tcp_bbr.c bbr_update_cycle_phase, bbr_advance_cycle_phase]
    pub(super) fn update_cycle_phase(&mut self, ev: &AckEvent, now: Time) {
        let Mode::ProbeBw(cycle_idx) = self.mode else { return };
        if self.is_next_cycle_phase(ev, now) {
            self.mode = Mode::ProbeBw((cycle_idx + 1) % CYCLE_LEN);
            self.cycle_stamp = now;
        }
    }

    /// [Linux tcp_bbr.c bbr_is_next_cycle_phase]
    fn is_next_cycle_phase(&self, ev: &AckEvent, now: Time) -> bool {
        let is_full_length = self.min_rtt.is_some_and(|rtt| now.since(self.cycle_stamp).as_secs() > rtt);
        if self.pacing_gain == 1.0 {
            return is_full_length;
        }
        let inflight = self.packets_in_net_at_edt(ev.flight, ev, now);
        let target = self.inflight(self.max_bw.get(), self.pacing_gain.max(1.0));
        if self.pacing_gain > 1.0 {
            is_full_length && (ev.lost > 0 || inflight >= target)
        } else {
            is_full_length || inflight <= target
        }
    }
}
