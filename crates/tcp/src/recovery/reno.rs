//! Reno: fast retransmit and fast recovery [RFC 5681 §3.2].
//!
//! ```text
//! third duplicate ACK    ssthresh = half, cwnd = ssthresh + 3 segments, oldest segment retransmitted   (steps 2, 3)
//! each further one       cwnd + 1 segment; new segments as the window allows                          (steps 4, 5)
//! next new ACK           cwnd = ssthresh, end of recovery, even if more segments are missing          (step 6)
//! ```
//! NewReno starts in the same manner; it differs in the last line.

use super::{Recovery, RecoveryCx};
use dumbbell_cc::{CaState, LossRecovery};

impl Recovery {
    pub(super) fn reno_on_duplicate_ack(&mut self, cx: &mut RecoveryCx<'_>) {
        let config = &cx.config.recovery;
        let mss = i64::from(cx.config.connection.mss);
        if self.state == CaState::Recovery {
            self.inflation += mss;
            return;
        }
        // Vegas itself recognizes a loss that an earlier reduction has answered, by the time at which the segment was
        // sent.
        let guarded = if config.fine_timeouts {
            self.state == CaState::Loss
        } else {
            config.algorithm == LossRecovery::NewReno || config.one_reduction_per_window
        };
        let threshold = config.dupack_threshold;
        if self.dupacks == threshold && (!guarded || self.is_beyond_recover(cx)) {
            self.enter_recovery(cx);
            self.inflation = i64::from(threshold) * mss;
        }
    }
}
