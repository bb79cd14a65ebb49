//! Reductions that answered losses that weren't are taken back [RFC 4015, RFC 3708].
//!
//! ```text
//! timestamps   an ACK that moves snd_una echoes a time before the first retransmission was sent: what it acknowledges is
//!              an original, so the retransmission was not needed (Eifel detection) [RFC 3522]
//! DSACK        every retransmission since the reduction has been reported to have arrived twice [RFC 3708]
//! ```

use super::Mode;
use crate::sender::Sender;
use dumbbell_units::Time;

/// A reduction that may be taken back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Undo {
    /// snd_una when it was made.
    marker: u64,
    /// Retransmissions that haven't been reported to be superfluous; None before the first.
    open: Option<u64>,
    /// When the first retransmission was sent; None before it. One of a reduction before this one counts while something
    /// that was sent again is under way or not acknowledged: its ACK echoes a time before those that follow.
    resent_at: Option<Time>,
}

impl Sender {
    /// A reduction for a loss is about to be made; retransmissions under way may bring DSACKs later.
    pub(super) fn may_be_undone(&mut self) {
        let probe = self.tlp.end.is_some() && self.tlp.repeats;
        let under_way = self.sent.resent_segments();
        let again = under_way > 0 || self.sent.front().is_some_and(|s| s.transmissions > 1);
        self.recovery.undo = Some(Undo {
            marker: self.una,
            open: Some(under_way + u64::from(probe)).filter(|open| *open > 0),
            resent_at: self.recovery.undo.and_then(|undo| undo.resent_at).filter(|_| again),
        });
    }

    /// A retransmission leaves.
    pub(super) fn note_resent(&mut self, now: Time) {
        if let Some(undo) = &mut self.recovery.undo {
            undo.open = Some(undo.open.unwrap_or(0) + 1);
            undo.resent_at.get_or_insert(now);
        }
    }

    /// A segment has arrived twice.
    pub(super) fn note_dsack(&mut self, (from, to): (u64, u64)) {
        let segments = (to - from).div_ceil(self.mss());
        if let Some(undo) = self.recovery.undo.as_mut().filter(|u| to > u.marker) {
            undo.open = undo.open.map(|open| open.saturating_sub(segments));
        }
    }

    /// Whether the timestamp of an ACK that moves snd_una shows that the originals arrived.
    pub(super) fn eifel_detects(&self, echo: Option<Time>) -> bool {
        let by_timestamps = self.config.rack.is_some_and(|m| m.undo_by_timestamps);
        let resent_at = self.recovery.undo.and_then(|u| u.resent_at);
        by_timestamps && resent_at.zip(echo).is_some_and(|(resent, echo)| self.echoes_before(echo, resent))
    }

    /// Whether all retransmissions have been reported to be superfluous.
    pub(super) fn dsacks_detect(&self) -> bool {
        let by_dsack = self.config.rack.is_some_and(|m| m.undo_by_dsack);
        by_dsack && self.recovery.undo.is_some_and(|u| u.open == Some(0))
    }

    /// Takes the reductions back; `losses` too: what waits to be sent again isn't lost.
    pub(super) fn undo(&mut self, losses: bool, now: Time) {
        self.recovery.undo = None;
        self.recovery.prr = None;
        self.recovery.inflation = 0;
        self.recovery.mode = Mode::Open;
        self.recovery.frto = false;
        if losses {
            self.sent.forget_losses();
        }
        let cx = self.cx(now);
        self.tell_law(|law| law.on_undo(&cx));
    }
}
