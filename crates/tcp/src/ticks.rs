//! Timers that a kernel looks at with each of its clock's ticks only.
//!
//! ```text
//! a span counts in whole ticks, rounded up, from the last tick on; none is ever early, so that one tick is added
//! spans of 63 ticks and more lie in coarser slots, of 8 ticks, from 504 on of 64, and so on: they expire with the slot
//! ```
//! This is Linux's timer wheel. Timers of a high resolution (pacing, merged ACKs) are exact.

use dumbbell_units::{Dur, Time};

/// Slots of a level, but one.
const SLOTS: u64 = 63;
/// From one level to the next slots are 2^3 as long.
const SHIFT: u32 = 3;
const LEVELS: u32 = 8;

/// When a timer expires that is set at `now` for `span`; a tick of zero: exactly.
pub(crate) fn expiry(now: Time, span: Dur, tick: Dur) -> Time {
    if tick == Dur::ZERO {
        return now + span;
    }
    let ticks = span.0.div_ceil(tick.0);
    let shift = SHIFT * (0..LEVELS).find(|level| ticks < SLOTS << (SHIFT * level)).unwrap_or(LEVELS);
    let slot = ((now.0 / tick.0 + ticks) >> shift) + 1;
    Time((slot << shift).saturating_mul(tick.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(now: f64, span: f64) -> f64 {
        let ns = |ms: f64| (ms * 1e6) as u64;
        expiry(Time(ns(now)), Dur(ns(span)), Dur::millis(4)).0 as f64 / 1e6
    }

    #[test]
    fn whole_ticks_and_never_early() {
        // At 9 ms, after the tick of 8 ms: 3.3 ms is one tick, and one more.
        assert_eq!(at(9.0, 3.3), 16.0);
        assert_eq!(at(8.0, 4.0), 16.0);
        assert_eq!(at(8.0, 4.1), 20.0);
        // 40 ms are ten ticks.
        assert_eq!(at(0.0, 40.0), 44.0);
    }

    #[test]
    fn long_spans_are_coarse() {
        // 62 ticks are exact to the tick, 63 expire with a slot of 8 ticks: (63 >> 3) + 1 = 8, that is 64 ticks = 256 ms.
        assert_eq!(at(0.0, 248.0), 252.0);
        assert_eq!(at(0.0, 252.0), 256.0);
        // 75 ticks: slot 9 + 1, 80 ticks.
        assert_eq!(at(0.0, 300.0), 320.0);
        // 1 s is 250 ticks: slot 31 + 1; 2.016 s, 504 ticks, in slots of 64: 7 + 1, 512 ticks.
        assert_eq!((at(0.0, 1000.0), at(0.0, 2016.0)), (1024.0, 2048.0));
    }

    #[test]
    fn without_a_tick_exactly() {
        assert_eq!(expiry(Time(5), Dur(7), Dur::ZERO), Time(12));
    }
}
