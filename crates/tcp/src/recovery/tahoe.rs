//! Tahoe: fast retransmit without fast recovery [Jacobson 1988; Fall & Floyd 1996 §2.1].
//!
//! The third duplicate ACK halves ssthresh, sets cwnd to one segment and retransmits from the hole on, whether or
//! not later segments have arrived (go-back-N). An ACK beyond snd_nxt moves snd_nxt with it.

use super::{Recovery, RecoveryCx};
use dumbbell_cc::Congestion;

impl Recovery {
    pub(super) fn tahoe_on_duplicate_ack(&mut self, cx: &mut RecoveryCx<'_>) {
        let allowed = !cx.config.recovery.one_reduction_per_window || self.is_beyond_recover(cx);
        if self.dupacks != cx.config.recovery.dupack_threshold || !allowed {
            return;
        }
        cx.notify_congestion(Congestion::Collapse, cx.timer.backoffs, self.limited_transmit);
        cx.counters.fast_retransmits += 1;
        cx.stop_timing();
        self.recover = Some(cx.snd.max);
        cx.snd.nxt = cx.snd.una;
        cx.restart_rto();
    }
}
