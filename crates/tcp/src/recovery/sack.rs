//! SACK-based recovery: the scoreboard shows which segments are lost, pipe how much may be sent [RFC 6675 §5].
//!
//! ```text
//! DupThresh duplicate ACKs, or IsLost(snd_una)   start of recovery: window reduced, oldest segment retransmitted
//! while cwnd - pipe >= 1 segment                 send NextSeg: (1) lost, (2) new, (3) not yet SACKed, (4) rescue
//! ACK reaches recover                            end of recovery
//! ```
//! After a timeout the same loop runs with all segments marked as lost that are not SACKed; SACKed segments are not
//! retransmitted [RFC 6675 §5.1].

use super::{NextSegment, Otherwise, Recovery, RecoveryCx};
use dumbbell_cc::CaState;

impl Recovery {
    pub(super) fn sack_on_duplicate_ack(&mut self, cx: &mut RecoveryCx<'_>) {
        let last_is_over = self.recover.is_none_or(|r| cx.snd.una >= r);
        if self.state == CaState::Recovery || !last_is_over {
            return;
        }
        if self.dupacks >= cx.config.recovery.dupack_threshold || cx.scoreboard.is_head_lost() {
            cx.scoreboard.reset_high_rxt();
            cx.scoreboard.mark_head_lost();
            self.enter_recovery(cx);
        }
    }

    /// Bytes of the window that pipe doesn't use.
    fn available(cx: &RecoveryCx<'_>) -> u64 {
        let cwnd = (cx.cc.control.cwnd as u64).max(cx.mss());
        cwnd.saturating_sub(cx.scoreboard.pipe())
    }

    /// Returns NextSeg's segment by rules (1) and (2) [RFC 6675 §4], as far as pipe allows.
    pub(super) fn sack_next(&mut self, cx: &mut RecoveryCx<'_>) -> NextSegment {
        let available = Recovery::available(cx);
        if let Some((start, payload)) = cx.scoreboard.next_lost().map(|s| (s.start, s.payload())) {
            if cx.scoreboard.counted(u64::from(payload), 1) > available {
                return NextSegment::Blocked { by_cwnd: true };
            }
            return NextSegment::Retransmit(start);
        }
        // Without limited transmit no new segment is sent between the first duplicate ACK and recovery.
        let held = self.state == CaState::Open && self.dupacks > 0 && !cx.config.recovery.limited_transmit;
        NextSegment::New {
            limit: if held { 0 } else { available },
            may_wait: false,
            otherwise: Otherwise::RetransmitUnsacked,
        }
    }

    /// Returns NextSeg's segment by rules (3) and (4) [RFC 6675 §4].
    pub(super) fn sack_next_unsacked(&mut self, cx: &mut RecoveryCx<'_>) -> NextSegment {
        if self.state != CaState::Recovery || Recovery::available(cx) < cx.mss() {
            return NextSegment::Nothing;
        }
        let (high_sacked, high_rxt) = (cx.scoreboard.high_sacked(), cx.scoreboard.high_rxt);
        match cx.scoreboard.unsacked_from(high_rxt).map(|s| s.start).filter(|s| *s < high_sacked) {
            Some(start) => NextSegment::Retransmit(start),
            None => self.rescue(cx),
        }
    }

    /// Returns the last segment outstanding, once in each recovery, so that a lost tail doesn't wait for the timer
    /// [RFC 6675 §4 NextSeg (4)].
    // DIVERGES [RFC 6675 §4 NextSeg (4)]: not if that segment was already retransmitted in this recovery. The rule as
    // written repeats it whenever the receiver's window (rather than a lack of data) ends rule (2).
    fn rescue(&mut self, cx: &mut RecoveryCx<'_>) -> NextSegment {
        let high_rxt = cx.scoreboard.high_rxt;
        if self.rescued || cx.scoreboard.unsacked_from(high_rxt).is_none() {
            return NextSegment::Nothing;
        }
        let Some(start) = cx.scoreboard.last_unsacked().map(|s| s.start) else { return NextSegment::Nothing };
        self.rescued = true;
        NextSegment::Rescue(start)
    }
}
