//! YeAH with the order of steps of Linux, on a stack that counts cwnd in segments [Linux net/ipv4/tcp_yeah.c].
//!
//! ```text
//! each ACK    the RTT sample belongs to the round that the ACK ends                [tcp_vegas.c tcp_vegas_pkts_acked]
//! growth      first the window grows, then the round ends                                       [tcp_yeah_cong_avoid]
//! round       fewer than three samples: no decision, because they may come from delayed ACKs    [tcp_yeah_cong_avoid]
//! ```
//! The end of a recovery starts a round, and a segment that is sent with nothing in flight also resets base_rtt
//! [Linux tcp_vegas.c tcp_vegas_state, tcp_vegas_cwnd_event].

use super::Yeah;
use crate::{AckEvent, Cx};

/// A round needs more samples than this [Linux tcp_yeah.c tcp_yeah_cong_avoid].
const TOO_FEW_SAMPLES: u32 = 2;

impl Yeah {
    /// Takes the RTT sample of an ACK.
    pub(super) fn linux_sample(&mut self, ev: &AckEvent) {
        self.rtts.sample(ev);
    }

    /// Ends the round if the ACK ends it; call this after the window has grown.
    pub(super) fn linux_end_round(&mut self, ev: &AckEvent, cx: &Cx) {
        let enough = self.rtts.samples() > TOO_FEW_SAMPLES;
        if let Some(round) = self.rtts.end_round(ev).filter(|_| enough) {
            self.end_round(&round, cx);
        }
    }
}
