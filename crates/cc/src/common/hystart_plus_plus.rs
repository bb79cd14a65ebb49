//! HyStart++: growing delay changes slow start into Conservative Slow Start (CSS). CSS is revoked when the delay falls
//! again; otherwise it ends after five rounds, and so does slow start [RFC 9406].
//!
//! ```text
//! round        until the segment that is sent next at its start is acknowledged                           [§4.1]
//! slow start   cwnd += min(acked, L SMSS); after 8 samples of a round: currentRoundMinRTT >=
//!              lastRoundMinRTT + clamp(lastRoundMinRTT / 8, 4 ms, 16 ms): CSS with that RTT as baseline     [§4.2]
//! CSS          cwnd += min(acked, L SMSS) / 4; after 8 samples: currentRoundMinRTT < baseline: slow start;
//!              after 5 rounds, including the one in which it began: ssthresh = cwnd                        [§4.2]
//! ```
//! L is 8, or infinite with pacing [§4.3]. Only the initial slow start uses it [§4.3].

use super::Round;
use crate::AckEvent;
use dumbbell_units::Dur;

/// MIN_RTT_THRESH and MAX_RTT_THRESH [RFC 9406 §4.3].
const RTT_THRESH: (Dur, Dur) = (Dur::millis(4), Dur::millis(16));
/// [RFC 9406 §4.3].
const MIN_RTT_DIVISOR: u64 = 8;
/// [RFC 9406 §4.3].
const N_RTT_SAMPLE: u32 = 8;
/// 1 / CSS_GROWTH_DIVISOR [RFC 9406 §4.3].
const CSS_GROWTH: f64 = 0.25;
/// [RFC 9406 §4.3].
const CSS_ROUNDS: u32 = 5;
/// L without pacing, segments [RFC 9406 §4.3].
const L: f64 = 8.0;

/// Conservative Slow Start.
#[derive(Clone, Copy, Debug)]
struct Css {
    /// cssBaselineMinRtt.
    baseline_min_rtt: Dur,
    /// Completed rounds.
    rounds: u32,
}

/// The state of HyStart++.
#[derive(Clone, Copy, Debug)]
pub struct HyStartPlusPlus {
    limit: f64,
    round: Option<Round>,
    /// lastRoundMinRTT; None before the second round.
    last_round_min_rtt: Option<Dur>,
    /// currentRoundMinRTT.
    current_round_min_rtt: Option<Dur>,
    /// rttSampleCount.
    rtt_sample_count: u32,
    css: Option<Css>,
}

impl HyStartPlusPlus {
    /// Returns the state at the start of a connection; `paced`: the stack paces segments.
    #[must_use]
    pub fn new(paced: bool) -> HyStartPlusPlus {
        HyStartPlusPlus {
            limit: if paced { f64::INFINITY } else { L },
            round: None,
            last_round_min_rtt: None,
            current_round_min_rtt: None,
            rtt_sample_count: 0,
            css: None,
        }
    }

    /// Processes an ACK in slow start [RFC 9406 §4.2]. Returns true if slow start ends.
    pub fn on_ack(&mut self, ev: &AckEvent) -> bool {
        if self.round.is_none_or(|round| round.ended(ev.snd_una)) {
            if let Some(css) = &mut self.css {
                css.rounds += 1;
                if css.rounds >= CSS_ROUNDS {
                    return true;
                }
            }
            self.round = Some(Round::from(ev.snd_nxt));
            (self.last_round_min_rtt, self.current_round_min_rtt) = (self.current_round_min_rtt, None);
            self.rtt_sample_count = 0;
        }
        let Some(rtt) = ev.rtt else { return false };
        let current = self.current_round_min_rtt.map_or(rtt, |min| min.min(rtt));
        self.current_round_min_rtt = Some(current);
        self.rtt_sample_count += 1;
        if self.rtt_sample_count >= N_RTT_SAMPLE {
            match (self.css, self.last_round_min_rtt) {
                (Some(css), _) if current < css.baseline_min_rtt => self.css = None,
                (None, Some(last)) if current >= last + (last / MIN_RTT_DIVISOR).clamp(RTT_THRESH.0, RTT_THRESH.1) => {
                    self.css = Some(Css { baseline_min_rtt: current, rounds: 0 });
                }
                _ => {}
            }
        }
        false
    }

    /// Returns the most segments that one ACK counts for, and the fraction of them that is added to cwnd.
    #[must_use]
    pub fn growth(&self) -> (f64, f64) {
        (self.limit, if self.css.is_some() { CSS_GROWTH } else { 1.0 })
    }
}
