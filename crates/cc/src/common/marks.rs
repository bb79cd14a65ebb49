//! ECN marks, for variants that respond to the fraction of marked data (DCTCP, Prague): that fraction for each round
//! trip, and when to respond [RFC 8257 §3.3; RFC 3168 §6.1.2].

use super::Round;
use crate::AckEvent;

/// The response to congestion marks that an ACK requires.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EcnResponse {
    /// No response.
    None,
    /// A response in proportion to the fraction of marked data, once per window of data [RFC 8257 §3.3].
    Scalable,
    /// The response to a loss, from this window in bytes: the receiver doesn't count marks, it echoes as in RFC 3168.
    Classic(f64),
}

/// Counts marks by round trips.
#[derive(Clone, Copy, Debug, Default)]
pub struct Marks {
    round: Option<Round>,
    /// True if a round trip ends already when all sent before its start is acknowledged, the first with the first ACK
    /// [Linux tcp_dctcp.h dctcp_reset, tcp_dctcp.c dctcp_update_alpha].
    early: bool,
    delivered: u64,
    marked: u64,
    /// Set from a response until the data in flight at that time is acknowledged: no other response until then [Linux
    /// tcp_input.c tcp_enter_cwr].
    cwr: Option<Round>,
    /// True if the receiver has counted marks.
    counted: bool,
    /// The window at an echoed mark; the next ACK shows whether the receiver counts marks.
    echoed: Option<f64>,
}

impl Marks {
    /// Returns a counter without marks, whose round trips are Linux's if `early`.
    #[must_use]
    pub fn new(early: bool) -> Marks {
        Marks { round: early.then(|| Round::from(0)), early, ..Marks::default() }
    }

    /// The endpoint reports an echoed mark.
    pub fn on_ecn_echo(&mut self, window: f64) {
        self.echoed = Some(window);
    }

    /// Processes an ACK. Returns the marked and delivered bytes of the round trip that it ends, and the required
    /// response.
    pub fn on_ack(&mut self, ev: &AckEvent) -> (Option<(f64, f64)>, EcnResponse) {
        let round = self.count(ev);
        self.counted |= ev.marked > 0;
        let echoed = if ev.delivered > 0 { self.echoed.take() } else { None };
        if self.cwr.is_some_and(|round| round.ended(ev.snd_una)) {
            self.cwr = None;
        }
        let response = match echoed {
            _ if self.cwr.is_some() => EcnResponse::None,
            _ if ev.marked > 0 => EcnResponse::Scalable,
            Some(window) if !self.counted => EcnResponse::Classic(window),
            _ => EcnResponse::None,
        };
        if response != EcnResponse::None {
            self.cwr = Some(Round::from(ev.snd_nxt));
        }
        (round, response)
    }

    /// True from a response until the data in flight at that time is acknowledged.
    #[must_use]
    pub fn in_cwr(&self) -> bool {
        self.cwr.is_some()
    }

    fn count(&mut self, ev: &AckEvent) -> Option<(f64, f64)> {
        self.delivered += ev.delivered;
        self.marked += ev.marked.min(ev.delivered);
        if !self.round.is_none_or(|round| round.ended(ev.snd_una)) {
            return None;
        }
        let counted = self.round.filter(|_| self.delivered > 0).map(|_| (self.marked as f64, self.delivered as f64));
        (self.round, self.delivered, self.marked) = (Some(Round::from(ev.snd_nxt - u64::from(self.early))), 0, 0);
        counted
    }
}
