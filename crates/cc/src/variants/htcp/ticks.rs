//! H-TCP as Linux counts: times in ticks of 4 ms, alpha and beta in whole 128ths, rates in segments a second.
//!
//! ```text
//! ACK          before anything follows from it: its round trip; what it acknowledges counts for growth if nothing was amiss
//! rate         of a window of segments, less alpha, acknowledged outside of recovery over a smallest round trip or more
//! congestion   beta, alpha, what is left of the window, the largest round trip fades; then t starts again
//! the end      t starts again once more
//! ```

use super::Settings;
use crate::common::JIFFY;
use crate::event::{AckArrival, CaState};
use dumbbell_units::Time;

/// Ticks a second.
const HZ: u64 = 1_000_000_000 / JIFFY.0;
/// What alpha and beta are counted in.
pub(super) const UNIT: u64 = 128;
/// Bounds of beta.
const BETA: (u64, u64) = (UNIT / 2, 102);
/// What a sample may be above the largest to raise it, and the smallest round trip up to which beta is its lower bound.
const JUMP: u64 = HZ / 50;
const SHORT: u64 = HZ.div_ceil(100);

/// Where t was 0, and what a loss that was none gives back: that, the largest round trip, the highest rate.
type Undo = (u64, u64, u64);

/// See the top of this file.
#[derive(Clone, Debug)]
pub(super) struct Ticks {
    pub(super) alpha: u64,
    pub(super) beta: u64,
    /// A loss with a steady rate has been seen, after which the round trips decide.
    trusts: bool,
    /// Segments that the next ACK in avoidance counts.
    acked: u64,
    /// Since when, and how many segments.
    count: u64,
    since: Option<u64>,
    /// The smallest and the largest round trip; 0: none yet.
    pub(super) min: u64,
    pub(super) max: u64,
    began: Option<u64>,
    undo: Option<Undo>,
    smoothed: u64,
    highest: u64,
    at_loss: u64,
}

impl Ticks {
    pub(super) fn new() -> Ticks {
        Ticks {
            alpha: UNIT,
            beta: BETA.0,
            trusts: false,
            acked: 1,
            count: 0,
            since: None,
            min: 0,
            max: 0,
            began: None,
            undo: None,
            smoothed: 0,
            highest: 0,
            at_loss: 0,
        }
    }

    fn tick(now: Time) -> u64 {
        now.0 / JIFFY.0
    }

    /// The connection begins, or an ACK is the first.
    pub(super) fn begin(&mut self, now: Time) {
        self.began.get_or_insert(Ticks::tick(now));
    }

    /// Ticks since the last loss or the end of its recovery.
    fn passed(&self, now: Time) -> u64 {
        Ticks::tick(now) - self.began.unwrap_or(Ticks::tick(now))
    }

    /// An ACK, with a window of so many segments.
    pub(super) fn arrived(&mut self, ev: &AckArrival, cwnd: u64, mss: u64, now: Time) {
        self.begin(now);
        let segments = ev.acked.div_ceil(mss);
        if ev.state == CaState::Open {
            self.acked = segments;
        }
        if let Some(rtt) = ev.rtt.filter(|rtt| rtt.0 > 0) {
            self.sample(rtt.0.div_ceil(JIFFY.0), ev.state);
        }
        let tick = Ticks::tick(now);
        if matches!(ev.state, CaState::Cwr | CaState::Recovery | CaState::Loss) {
            (self.count, self.since) = (0, Some(tick));
            return;
        }
        self.count += segments;
        // At the start the interval is as long as the machine has run: that rate is 0.
        let span = self.since.map(|since| tick - since);
        let step = (self.alpha / UNIT).max(1);
        if self.min > 0
            && cwnd >= step
            && self.count >= cwnd - step
            && span.is_none_or(|span| span >= self.min)
        {
            let rate = span.map_or(0, |span| self.count * HZ / span.max(1));
            if self.passed(now) / self.min <= 3 {
                (self.smoothed, self.highest) = (rate, rate);
            } else {
                self.smoothed = (3 * self.smoothed + rate) / 4;
                self.highest = self.highest.max(self.smoothed);
            }
            (self.count, self.since) = (0, Some(tick));
        }
    }

    fn sample(&mut self, rtt: u64, amiss: CaState) {
        if self.min == 0 || rtt < self.min {
            self.min = rtt;
        }
        if amiss == CaState::Open {
            self.max = self.max.max(self.min);
            if rtt > self.max && rtt <= self.max + JUMP {
                self.max = rtt;
            }
        }
    }

    /// An ACK in avoidance; `counted` is what has been towards the next segment. Gives that, and whether the window grows.
    pub(super) fn avoid(&mut self, counted: u64, cwnd: u64, now: Time, settings: &Settings) -> (u64, bool) {
        self.begin(now);
        let acked = std::mem::replace(&mut self.acked, 1);
        if counted * self.alpha / UNIT < cwnd {
            return (counted + acked, false);
        }
        self.look_up(now, settings);
        (0, true)
    }

    /// alpha as of now.
    fn look_up(&mut self, now: Time, settings: &Settings) {
        let over = self.passed(now).saturating_sub(settings.delta_l.0 / JIFFY.0);
        let mut factor = match over {
            0 => 1,
            _ => 1 + (10 * over + (over / 2) * (over / 2) / HZ) / HZ,
        };
        if settings.rtt_scaling && self.min > 0 {
            let scale = (8 * HZ / (10 * self.min)).clamp(4, 80);
            factor = (8 * factor / scale).max(1);
        }
        self.alpha = 2 * factor * (UNIT - self.beta);
    }

    /// Congestion: what is left of a window of so many segments.
    pub(super) fn reduce(&mut self, cwnd: u64, now: Time, settings: &Settings) -> u64 {
        self.begin(now);
        self.back_off(settings);
        self.look_up(now, settings);
        if self.min > 0 && self.max > self.min {
            self.max = self.min + (self.max - self.min) * 95 / 100;
        }
        let began = self.began.replace(Ticks::tick(now)).unwrap_or(0);
        self.undo = Some((began, self.max, self.at_loss));
        cwnd * self.beta / UNIT
    }

    fn back_off(&mut self, settings: &Settings) {
        let before = std::mem::replace(&mut self.at_loss, self.highest);
        self.beta = BETA.0;
        if !(4 * before..=6 * before).contains(&(5 * self.highest)) || !settings.adaptive_backoff {
            self.trusts = false;
        } else if self.trusts && self.min > SHORT && self.max > 0 {
            self.beta = (UNIT * self.min / self.max).clamp(BETA.0, BETA.1);
        } else {
            self.trusts = true;
        }
    }

    /// Nothing is amiss any more.
    pub(super) fn settled(&mut self, now: Time) {
        if self.undo.take().is_some() {
            self.began = Some(Ticks::tick(now));
        }
    }

    /// The last loss was none.
    pub(super) fn undone(&mut self) {
        if let Some((began, max, at_loss)) = self.undo.take() {
            (self.began, self.max, self.at_loss) = (Some(began), max, at_loss);
        }
    }
}
