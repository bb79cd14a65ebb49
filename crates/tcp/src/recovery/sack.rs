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
    pub(crate) fn next_by_pipe(&mut self, now: Time) -> Option<Outgoing> {
        let cwnd = (self.law.control().cwnd as u64).max(self.mss());
        let room = cwnd.saturating_sub(self.sent.pipe());
        if let Some(s) = self.sent.next_lost().copied() {
            return if s.len() <= room { self.resend(&s, now) } else { None };
        }
        if let Some(out) = self.send_new(self.room_for_new(room), now) {
            return Some(out);
        }
        if self.recovery.mode != Mode::Recovery || room < self.mss() {
            return None;
        }
        let high_sacked = self.sent.high_sacked();
        if let Some(s) =
            self.sent.unsacked_from(self.sent.high_rxt).filter(|s| s.start < high_sacked).copied()
        {
            return self.resend(&s, now);
        }
        self.rescue(now)
    }

    /// Without limited transmit, nothing new between the first duplicate ACK and recovery.
    fn room_for_new(&self, room: u64) -> u64 {
        let r = &self.recovery;
        if r.mode == Mode::Open && r.dupacks > 0 && !self.config.limited_transmit { 0 } else { room }
    }

    /// Once an episode: the last segment outstanding, so that a lost tail doesn't wait for the timer [RFC 6675 §4 (4)].
    // DIVERGES [RFC 6675 §4 (4)]: not if that segment has been sent again in this episode already. The rule as written
    // repeats it whenever the receiver's window (rather than a lack of data) ends rule 2.
    fn rescue(&mut self, now: Time) -> Option<Outgoing> {
        let last = self.sent.last_unsacked().copied()?;
        if self.recovery.rescued || last.start < self.sent.high_rxt {
            return None;
        }
        self.recovery.rescued = true;
        let high_rxt = self.sent.high_rxt;
        let out = self.resend(&last, now);
        self.sent.high_rxt = high_rxt;
        out
    }
}
