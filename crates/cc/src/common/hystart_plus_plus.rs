//! HyStart++: growing delay turns slow start into a conservative one (CSS), which is taken back when the delay falls again
//! and else ends slow start after five rounds [RFC 9406].
//!
//! ```text
//! round        until what is sent next at its start is acknowledged                                      [§4.1]
//! slow start   cwnd += min(acked, L SMSS); after 8 samples of a round: its smallest RTT above the last round's
//!              by an eighth of that, 4 to 16 ms: CSS, and that RTT is the baseline                       [§4.2]
//! CSS          cwnd += min(acked, L SMSS) / 4; after 8 samples: smallest below the baseline: slow start again;
//!              5 rounds of it, the one it began in counted: ssthresh = cwnd                               [§4.2]
//! ```
//! L is 8, without bound where segments are paced [§4.3]. Only for the first slow start [§4.3].

use super::Round;
use crate::AckEvent;
use dumbbell_units::Dur;

/// MIN_RTT_THRESH and MAX_RTT_THRESH [RFC 9406 §4.3].
const THRESH: (Dur, Dur) = (Dur::millis(4), Dur::millis(16));
/// MIN_RTT_DIVISOR [RFC 9406 §4.3].
const DIVISOR: u64 = 8;
/// N_RTT_SAMPLE [RFC 9406 §4.3].
const SAMPLES: u32 = 8;
/// CSS_GROWTH_DIVISOR [RFC 9406 §4.3].
const GROWTH: f64 = 0.25;
/// CSS_ROUNDS [RFC 9406 §4.3].
const ROUNDS: u32 = 5;
/// L without pacing, segments [RFC 9406 §4.3].
const LIMIT: f64 = 8.0;

/// The conservative phase.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// cssBaselineMinRtt.
    baseline: Dur,
    /// Rounds of it that are over.
    rounds: u32,
}

/// See the top of this file.
#[derive(Clone, Copy, Debug)]
pub struct HyStartPlusPlus {
    limit: f64,
    round: Option<Round>,
    /// lastRoundMinRTT; none before the second round.
    last: Option<Dur>,
    /// currentRoundMinRTT.
    least: Option<Dur>,
    samples: u32,
    css: Option<Conservative>,
}

impl HyStartPlusPlus {
    /// For a stack that paces segments or doesn't.
    #[must_use]
    pub fn new(paced: bool) -> HyStartPlusPlus {
        let limit = if paced { f64::INFINITY } else { LIMIT };
        HyStartPlusPlus { limit, round: None, last: None, least: None, samples: 0, css: None }
    }

    /// Takes in an ACK of slow start; gives whether that is over [RFC 9406 §4.2].
    pub fn on_ack(&mut self, ev: &AckEvent) -> bool {
        if self.round.is_none_or(|round| round.ended(ev.snd_una)) {
            if let Some(css) = &mut self.css {
                css.rounds += 1;
                if css.rounds >= ROUNDS {
                    return true;
                }
            }
            self.round = Some(Round::from(ev.snd_nxt));
            (self.last, self.least, self.samples) = (self.least, None, 0);
        }
        let Some(rtt) = ev.rtt else { return false };
        let least = self.least.map_or(rtt, |least| least.min(rtt));
        self.least = Some(least);
        self.samples += 1;
        if self.samples >= SAMPLES {
            match (self.css, self.last) {
                (Some(css), _) if least < css.baseline => self.css = None,
                (None, Some(last)) if least >= last + (last / DIVISOR).clamp(THRESH.0, THRESH.1) => {
                    self.css = Some(Conservative { baseline: least, rounds: 0 });
                }
                _ => {}
            }
        }
        false
    }

    /// Most segments that an ACK counts for, and what of them is added to the window.
    #[must_use]
    pub fn growth(&self) -> (f64, f64) {
        (self.limit, if self.css.is_some() { GROWTH } else { 1.0 })
    }
}
