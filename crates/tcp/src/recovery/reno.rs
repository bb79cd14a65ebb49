//! Reno: fast retransmit and fast recovery [RFC 5681 §3.2].
//!
//! ```text
//! third duplicate ACK    ssthresh = half, cwnd = ssthresh + 3 segments, oldest segment sent again   (steps 2, 3)
//! each further one       cwnd + 1 segment; new segments as it allows                                (steps 4, 5)
//! next new ACK           cwnd = ssthresh, recovery over, whatever else is missing                   (step 6)
//! ```
//! NewReno begins in the same way and differs at the last line.

use super::Mode;
use crate::sender::Sender;
use dumbbell_cc::LossRecovery;
use dumbbell_units::Time;

impl Sender {
    pub(super) fn reno_duplicate_ack(&mut self, now: Time) {
        let threshold = self.config.dupack_threshold;
        let mss = self.config.mss;
        if self.recovery.mode == Mode::Recovery {
            self.recovery.inflation += i64::from(mss);
            return;
        }
        // Vegas' law itself knows a loss that an earlier reduction has answered, by when the segment was sent.
        let guarded = if self.config.fine_timeouts {
            self.recovery.mode == Mode::Loss
        } else {
            self.config.shell == LossRecovery::NewReno || self.config.one_reduction_per_window
        };
        if self.recovery.dupacks == threshold && (!guarded || self.beyond_recover()) {
            self.enter_recovery(now);
            self.recovery.inflation = i64::from(threshold) * i64::from(mss);
        }
    }
}
