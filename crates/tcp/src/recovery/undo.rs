//! Undo of reductions for losses that did not happen [RFC 4015, RFC 3522, RFC 3708; Linux tcp_input.c tcp_may_undo].
//!
//! ```text
//! timestamps   an ACK that moves snd_una echoes a time before the first retransmission was sent: it acknowledges the
//!              original, so that the retransmission was unnecessary (Eifel detection) [RFC 3522; tcp_packet_delayed]
//! D-SACK       each retransmission since the reduction was reported to have arrived twice [RFC 3708; tcp_check_dsack]
//! ```

use super::{Recovery, RecoveryCx};
use dumbbell_cc::CaState;
use dumbbell_units::Time;

/// A reduction that may be undone. The names are those of struct tcp_sock [Linux include/linux/tcp.h].
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// snd_una at the reduction.
    undo_marker: u64,
    /// Retransmissions that were not reported as unnecessary; None before the first.
    undo_retrans: Option<u64>,
    /// When the first retransmission was sent; None before it. That of an earlier reduction is kept while a
    /// retransmission is in flight or not acknowledged: its ACK echoes a time before those of later retransmissions.
    retrans_stamp: Option<Time>,
}

impl Undo {
    /// True unless each retransmission was reported as unnecessary.
    pub(super) fn is_open(&self) -> bool {
        self.undo_retrans != Some(0)
    }
}

impl Recovery {
    /// Prepares the undo of a reduction that is about to be made. Retransmissions in flight may cause D-SACKs later
    /// [Linux tcp_input.c tcp_init_undo].
    pub(super) fn init_undo(&mut self, cx: &RecoveryCx<'_>) {
        let probe = self.tlp.end_seq.is_some() && self.tlp.is_retrans;
        let retrans_out = cx.scoreboard.retrans_out();
        let unfinished = retrans_out > 0 || cx.scoreboard.head().is_some_and(|s| s.transmissions > 1);
        self.undo = Some(Undo {
            undo_marker: cx.snd.una,
            undo_retrans: Some(retrans_out + u64::from(probe)).filter(|count| *count > 0),
            retrans_stamp: self.undo.and_then(|undo| undo.retrans_stamp).filter(|_| unfinished),
        });
    }

    /// Counts a retransmission that is sent [Linux tcp_output.c tcp_retransmit_skb].
    pub(super) fn count_retransmission(&mut self, now: Time) {
        if let Some(undo) = &mut self.undo {
            undo.undo_retrans = Some(undo.undo_retrans.unwrap_or(0) + 1);
            undo.retrans_stamp.get_or_insert(now);
        }
    }

    /// Counts the segments of a D-SACK block as unnecessary retransmissions [Linux tcp_input.c tcp_check_dsack,
    /// tcp_dsack_seen].
    pub(super) fn count_dsack(&mut self, (start, end): (u64, u64), mss: u64) {
        let segments = (end - start).div_ceil(mss);
        if let Some(undo) = self.undo.as_mut().filter(|u| end > u.undo_marker) {
            undo.undo_retrans = undo.undo_retrans.map(|count| count.saturating_sub(segments));
        }
    }

    /// True if the timestamp of an ACK that moves snd_una shows that the original arrived [RFC 3522 §3.2; Linux
    /// tcp_input.c tcp_packet_delayed].
    pub(super) fn is_original_delayed(&self, echo: Option<Time>, cx: &RecoveryCx<'_>) -> bool {
        let by_timestamps = cx.config.recovery.rack.is_some_and(|r| r.undo_by_timestamps);
        let retrans_stamp = self.undo.and_then(|u| u.retrans_stamp);
        let tick = cx.config.connection.timestamp_clock.0;
        let before = |(echo, sent): (Time, Time)| echo.0 / tick < sent.0 / tick;
        by_timestamps && echo.zip(retrans_stamp).is_some_and(before)
    }

    /// True if each retransmission was reported as unnecessary.
    pub(super) fn are_all_retransmissions_unnecessary(&self, cx: &RecoveryCx<'_>) -> bool {
        let by_dsack = cx.config.recovery.rack.is_some_and(|r| r.undo_by_dsack);
        by_dsack && self.undo.is_some_and(|u| !u.is_open())
    }

    /// Undoes the reductions; with `unmark_losses` no segment is lost any more [Linux tcp_input.c
    /// tcp_undo_cwnd_reduction].
    pub(super) fn undo(&mut self, unmark_losses: bool, cx: &mut RecoveryCx<'_>) {
        self.undo = None;
        self.prr = None;
        self.inflation = 0;
        self.state = CaState::Open;
        self.frto = false;
        if unmark_losses {
            cx.scoreboard.unmark_losses();
        }
        cx.notify_undo();
    }
}
