//! Congestion marks of laws that answer to how many there are: their share round by round, and when to answer them.

use super::Round;
use crate::AckEvent;

/// What an ACK asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EcnResponse {
    /// Nothing.
    None,
    /// The answer in proportion to the share of marks, once a window of data [RFC 8257 §3.3].
    Scalable,
    /// The receiver cannot count marks and has echoed that there was one, as RFC 3168 has it: as to a loss, of this window
    /// in bytes.
    Classic(f64),
}

/// See the top of this file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Marks {
    round: Option<Round>,
    delivered: u64,
    marked: u64,
    /// What was outstanding at the last answer: no other before it is acknowledged.
    answered: Option<Round>,
    /// The receiver has been seen to count marks.
    counted: bool,
    /// The endpoint was told of a mark, and the next ACK shows of which kind; the window then.
    echoed: Option<f64>,
}

impl Marks {
    /// The endpoint tells of a mark.
    pub fn on_ecn_echo(&mut self, window: f64) {
        self.echoed = Some(window);
    }

    /// Takes in an ACK; gives the bytes marked and delivered when it ends a round, and what it asks for.
    pub fn on_ack(&mut self, ev: &AckEvent) -> (Option<(f64, f64)>, EcnResponse) {
        let round = self.count(ev);
        self.counted |= ev.marked > 0;
        let echoed = if ev.delivered > 0 { self.echoed.take() } else { None };
        if self.answered.is_some_and(|round| round.ended(ev.snd_una)) {
            self.answered = None;
        }
        let answer = match echoed {
            _ if self.answered.is_some() => EcnResponse::None,
            _ if ev.marked > 0 => EcnResponse::Scalable,
            Some(window) if !self.counted => EcnResponse::Classic(window),
            _ => EcnResponse::None,
        };
        if answer != EcnResponse::None {
            self.answered = Some(Round::from(ev.snd_nxt));
        }
        (round, answer)
    }

    /// Whether what was outstanding at the last answer isn't acknowledged yet.
    #[must_use]
    pub fn in_cwr(&self) -> bool {
        self.answered.is_some()
    }

    fn count(&mut self, ev: &AckEvent) -> Option<(f64, f64)> {
        self.delivered += ev.delivered;
        self.marked += ev.marked.min(ev.delivered);
        if !self.round.is_none_or(|round| round.ended(ev.snd_una)) {
            return None;
        }
        let counted =
            self.round.filter(|_| self.delivered > 0).map(|_| (self.marked as f64, self.delivered as f64));
        (self.round, self.delivered, self.marked) = (Some(Round::from(ev.snd_nxt)), 0, 0);
        counted
    }
}
