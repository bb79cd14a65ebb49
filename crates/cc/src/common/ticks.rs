//! The clock of Linux's laws: 250 ticks a second.

use dumbbell_units::{Dur, Time};

/// A tick.
pub const TICK: Dur = Dur::millis(4);

/// The last tick.
#[must_use]
pub fn last_tick(now: Time) -> Time {
    Time(now.0 / TICK.0 * TICK.0)
}

/// So many whole ticks, rounded up.
#[must_use]
pub fn whole_ticks(span: Dur) -> Dur {
    TICK * span.0.div_ceil(TICK.0)
}
