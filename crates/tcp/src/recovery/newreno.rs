//! NewReno: recovery continues through partial acknowledgments [RFC 6582 §3.2].
//!
//! ```text
//! partial ACK   (below recover)   oldest segment retransmitted; window deflated by the bytes acknowledged, plus one
//!                                 segment; the first one restarts the timer (impatient) or each does
//! full ACK      (at recover)      end of recovery with cwnd = (1) min(ssthresh, max(FlightSize, SMSS) + SMSS)
//!                                                         or (2) ssthresh
//!                                                         or, as in ns-2, what partial ACKs have left
//! ```

use super::{Recovery, RecoveryCx};
use crate::config::NewRenoExit;

impl Recovery {
    /// Handles an ACK of new data during recovery; `full`: it reaches `recover`.
    pub(super) fn newreno_on_new_ack(&mut self, acked: u64, full: bool, cx: &mut RecoveryCx<'_>) {
        let mss = cx.mss();
        if full {
            let flight_size = cx.snd.outstanding().max(mss) + mss;
            let bound = match cx.config.recovery.exit {
                NewRenoExit::Flight => flight_size as f64,
                NewRenoExit::Ssthresh => f64::INFINITY,
                NewRenoExit::Deflated => cx.cc.control.cwnd - self.deflation as f64,
            };
            self.exit_recovery(bound, cx);
            return;
        }
        self.retransmit_head = true;
        self.partial_ack = true;
        if cx.config.recovery.exit == NewRenoExit::Deflated {
            self.deflate_both(acked as i64, cx);
            return;
        }
        self.inflation -= acked as i64;
        if acked >= mss {
            self.inflation += mss as i64;
        }
    }

    /// Deflates the window by the bytes acknowledged less one segment; if the inflation doesn't suffice, cwnd itself,
    /// to one segment at least [ns-2 tcp-newreno.cc partialnewack].
    fn deflate_both(&mut self, acked: i64, cx: &RecoveryCx<'_>) {
        let (mss, cwnd) = (cx.mss() as i64, cx.cc.control.cwnd as i64);
        if self.inflation > acked {
            self.inflation -= acked - mss;
        } else {
            self.deflation = (self.deflation + acked - self.inflation).min((cwnd - mss).max(0));
            self.inflation = mss;
        }
    }
}
