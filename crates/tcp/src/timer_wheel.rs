//! Timers that expire only at the ticks of a clock: Linux's timer wheel [Linux kernel/time/timer.c calc_wheel_index].
//!
//! ```text
//! a span counts in whole ticks, rounded up, from the last tick on; one tick is added, so that no timer is early
//! spans of 63 ticks and more are in coarser slots, of 8 ticks; from 504 ticks on of 64; and so on: they expire with it
//! ```
//! High-resolution timers (pacing, compressed ACKs) are exact and don't use it.

use dumbbell_units::{Dur, Time};

/// Slots of a level, less one (LVL_SIZE - 1).
const SLOTS: u64 = 63;
/// Slots of the next level are 2^3 times as long (LVL_CLK_SHIFT).
const SHIFT: u32 = 3;
/// Number of the highest level (LVL_DEPTH - 1 with more than 100 ticks a second).
const TOP_LEVEL: u32 = 8;

/// Returns when a timer expires that is set at `now` for `span`; with a tick of zero exactly then.
#[inline(always)] // to most callers the tick is zero
pub(crate) fn expiry(now: Time, span: Dur, tick: Dur) -> Time {
    if tick == Dur::ZERO { now + span } else { expiry_of_wheel(now, span, tick) }
}

fn expiry_of_wheel(now: Time, span: Dur, tick: Dur) -> Time {
    let ticks = span.0.div_ceil(tick.0);
    let shift = SHIFT * (0..TOP_LEVEL).find(|level| ticks < SLOTS << (SHIFT * level)).unwrap_or(TOP_LEVEL);
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
    fn timers_expire_at_whole_ticks_and_never_early() {
        // At 9 ms, after the tick of 8 ms: 3.3 ms is one tick, and one more.
        assert_eq!(at(9.0, 3.3), 16.0);
        assert_eq!(at(8.0, 4.0), 16.0);
        assert_eq!(at(8.0, 4.1), 20.0);
        // 40 ms are ten ticks.
        assert_eq!(at(0.0, 40.0), 44.0);
    }

    #[test]
    fn long_spans_expire_with_their_coarser_slot() {
        // 62 ticks expire at their tick, 63 expire with a slot of 8 ticks: (63 >> 3) + 1 = 8, that is 64 ticks = 256
        // ms.
        assert_eq!(at(0.0, 248.0), 252.0);
        assert_eq!(at(0.0, 252.0), 256.0);
        // 75 ticks: slot 9 + 1, 80 ticks.
        assert_eq!(at(0.0, 300.0), 320.0);
        // 1 s is 250 ticks: slot 31 + 1; 2.016 s, 504 ticks, in slots of 64: 7 + 1, 512 ticks.
        assert_eq!((at(0.0, 1000.0), at(0.0, 2016.0)), (1024.0, 2048.0));
    }

    #[test]
    fn without_a_tick_timers_are_exact() {
        assert_eq!(expiry(Time(5), Dur(7), Dur::ZERO), Time(12));
    }
}
