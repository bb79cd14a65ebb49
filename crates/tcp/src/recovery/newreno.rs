//! NewReno: recovery continues through partial acknowledgments [RFC 6582 §3.2].
//!
//! ```text
//! partial ACK   (below recover)   oldest segment retransmitted; window deflated by the bytes acknowledged, plus one
//!                                 segment; the first one restarts the timer (impatient) or each does
//! full ACK      (at recover)      end of recovery with cwnd = (1) min(ssthresh, max(FlightSize, SMSS) + SMSS)
//!                                                         or (2) ssthresh
//! ```

use super::{Recovery, RecoveryCx};

impl Recovery {
    /// Handles an ACK of new data during recovery; `full`: it reaches `recover`.
    pub(super) fn newreno_on_new_ack(&mut self, acked: u64, full: bool, cx: &mut RecoveryCx<'_>) {
        let mss = cx.mss();
        if full {
            let flight_size = cx.snd.outstanding().max(mss) + mss;
            let bound = if cx.config.recovery.bounded_exit { flight_size as f64 } else { f64::INFINITY };
            self.exit_recovery(bound, cx);
            return;
        }
        self.retransmit_head = true;
        self.partial_ack = true;
        self.inflation -= acked as i64;
        if acked >= mss {
            self.inflation += mss as i64;
        }
    }
}
