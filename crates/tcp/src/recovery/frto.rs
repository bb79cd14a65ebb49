//! After a timeout: F-RTO, and the end of the loss state [RFC 5682 §3.1, SACK-enhanced; Linux tcp_input.c
//! tcp_process_loss].
//!
//! ```text
//! timeout          the first segment is retransmitted
//! ACK of part      send new data instead of further retransmissions                     (step 2 b)
//! next ACK         of a segment that was not retransmitted: the timeout was spurious     (step 3 b)
//!                  a SACK or a duplicate ACK: segments are missing                        (step 3 a)
//! ```

use super::{NextSegment, Recovery, RecoveryCx};
use crate::ack::{AckSummary, IncomingAck};
use dumbbell_cc::CaState;

impl Recovery {
    /// Handles an ACK in the loss state.
    pub(super) fn process_loss(&mut self, ack: &IncomingAck<'_>, summary: &AckSummary, cx: &mut RecoveryCx<'_>) {
        let recovered = self.recover.is_none_or(|r| cx.snd.una >= r);
        if summary.acked > 0 && self.is_spurious(ack, summary, cx) {
            self.undo(true, cx);
            return;
        }
        if self.frto {
            if summary.original_delivered {
                self.undo(true, cx); // step 3 b: delivered without a retransmission
                return;
            }
            if self.recover.is_some_and(|r| cx.snd.max > r) {
                if summary.sacked || summary.duplicate {
                    self.frto = false; // step 3 a: segments are missing
                }
            } else if summary.acked > 0 && !recovered {
                self.recover = Some(cx.snd.max); // step 2 b: new data, if available
                self.new_data_only = true;
                return;
            }
        }
        if recovered {
            self.state = CaState::Open;
            self.inflation = 0;
            self.frto = false;
            self.rack.on_recovery_exit();
        }
    }

    /// Ends F-RTO if it needs new data and none is available; returns the next segment.
    pub(super) fn end_frto_without_new_data(&mut self, cx: &mut RecoveryCx<'_>) -> NextSegment {
        if !self.frto || self.recover.is_some_and(|r| cx.snd.max > r) {
            return NextSegment::Nothing;
        }
        (self.new_data_only, self.frto) = (false, false);
        self.lost_or_new(cx)
    }
}
