//! The clock of Linux's laws: 250 ticks a second.

use dumbbell_units::{Dur, Time};

/// A tick.
pub const JIFFY: Dur = Dur::millis(4);

/// The last tick.
#[must_use]
pub fn floor_to_jiffy(now: Time) -> Time {
    Time(now.0 / JIFFY.0 * JIFFY.0)
}

/// So many whole ticks, rounded up.
#[must_use]
pub fn ceil_to_jiffies(span: Dur) -> Dur {
    JIFFY * span.0.div_ceil(JIFFY.0)
}
