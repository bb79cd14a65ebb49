//! Tahoe: fast retransmit without fast recovery.
//!
//! The third duplicate ACK halves ssthresh, sets cwnd to one segment and sends again from the hole on, whether or
//! not later segments have arrived (go-back-N); an ACK that jumps ahead moves snd_nxt with it.
//! Source: Jacobson 1988; Fall & Floyd 1996 §2.1.

use crate::sender::Sender;
use dumbbell_cc::Congestion;
use dumbbell_units::Time;

impl Sender {
    pub(super) fn tahoe_duplicate_ack(&mut self, now: Time) {
        let allowed = !self.config.one_reduction_per_window || self.beyond_recover();
        if self.recovery.dupacks != self.config.dupack_threshold || !allowed {
            return;
        }
        self.tell_congestion(Congestion::Collapse, now);
        self.counters.fast_retransmits += 1;
        self.recovery.recover = Some(self.max);
        self.nxt = self.una;
        self.restart_timer(now);
    }
}
