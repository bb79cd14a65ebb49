//! SACK-based recovery: the scoreboard says what is lost, pipe how much may be sent [RFC 6675 §5].
//!
//! ```text
//! DupThresh duplicate ACKs, or IsLost(snd_una)   recovery begins: window reduced, oldest segment sent again
//! while cwnd - pipe >= 1 segment                 send NextSeg: 1 lost, 2 new, 3 not yet SACKed, 4 rescue
//! ACK reaches recover                            recovery over
//! ```
//! After a timeout the same loop runs with everything not SACKed taken for lost; the SACKed segments are not sent
//! again [RFC 6675 §5.1].

use super::Mode;
use crate::sender::{Outgoing, Sender};
use dumbbell_units::Time;

impl Sender {
    pub(super) fn sack_duplicate_ack(&mut self, now: Time) {
        let over_last = self.recovery.recover.is_none_or(|r| self.una >= r);
        if self.recovery.mode == Mode::Recovery || !over_last {
            return;
        }
        if self.recovery.dupacks >= self.config.dupack_threshold || self.sent.front_is_lost() {
            self.sent.start_episode();
            self.sent.lose_front();
            self.enter_recovery(now);
        }
    }

    /// NextSeg [RFC 6675 §4], as far as pipe leaves room.
    pub(crate) fn next_by_pipe(&mut self, now: Time, out: &mut Outgoing) -> bool {
        let cwnd = (self.control.cwnd as u64).max(self.mss());
        let room = cwnd.saturating_sub(self.sent.pipe());
        if let Some((start, payload)) = self.sent.next_lost().map(|s| (s.start, s.payload())) {
            if u64::from(payload) > room {
                self.held_by_window(true);
                return false;
            }
            return self.resend(start, now, out);
        }
        if self.send_new(self.room_for_new(room), now, out) {
            return true;
        }
        if self.recovery.mode != Mode::Recovery || room < self.mss() {
            return false;
        }
        let (high_sacked, high_rxt) = (self.sent.high_sacked(), self.sent.high_rxt);
        match self.sent.unsacked_from(high_rxt).map(|s| s.start).filter(|s| *s < high_sacked) {
            Some(start) => self.resend(start, now, out),
            None => self.rescue(now, out),
        }
    }

    /// Without limited transmit, nothing new between the first duplicate ACK and recovery.
    fn room_for_new(&self, room: u64) -> u64 {
        let r = &self.recovery;
        if r.mode == Mode::Open && r.dupacks > 0 && !self.config.limited_transmit { 0 } else { room }
    }

    /// Once an episode: the last segment outstanding, so that a lost tail doesn't wait for the timer [RFC 6675 §4 (4)].
    // DIVERGES [RFC 6675 §4 (4)]: not if that segment has been sent again in this episode already. The rule as written
    // repeats it whenever the receiver's window (rather than a lack of data) ends rule 2.
    fn rescue(&mut self, now: Time, out: &mut Outgoing) -> bool {
        let high_rxt = self.sent.high_rxt;
        if self.recovery.rescued || self.sent.unsacked_from(high_rxt).is_none() {
            return false;
        }
        let Some(start) = self.sent.last_unsacked().map(|s| s.start) else { return false };
        self.recovery.rescued = true;
        let sends = self.resend(start, now, out);
        self.sent.high_rxt = high_rxt;
        sends
    }
}
