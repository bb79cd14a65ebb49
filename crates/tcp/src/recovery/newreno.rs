//! NewReno: recovery goes on through partial acknowledgments [RFC 6582 §3.2].
//!
//! ```text
//! partial ACK   (below recover)   oldest segment sent again; window deflated by what was acknowledged, one segment
//!                                 put back; the first one restarts the timer (impatient) or each does
//! full ACK      (recover reached) recovery over with cwnd = (1) min(ssthresh, max(FlightSize, SMSS) + SMSS)
//!                                                     or (2) ssthresh
//! ```

use crate::sender::Sender;
use dumbbell_units::Time;

impl Sender {
    pub(super) fn newreno_new_ack(&mut self, acked: u64, all_acknowledged: bool, now: Time) {
        let mss = self.mss();
        if all_acknowledged {
            let outstanding = (self.nxt - self.una).max(mss) + mss;
            let bound = if self.config.bounded_exit { outstanding as f64 } else { f64::INFINITY };
            self.exit_recovery(bound, now);
            return;
        }
        self.recovery.resend_front = true;
        self.recovery.partial_seen = true;
        self.recovery.inflation -= acked as i64;
        if acked >= mss {
            self.recovery.inflation += mss as i64;
        }
    }
}
