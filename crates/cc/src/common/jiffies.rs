//! Linux's timer ticks (jiffies), at HZ = 250. The integer rules of Linux's variants measure time in them.

use dumbbell_units::{Dur, Time};

/// One tick (Linux: CONFIG_HZ=250).
pub const JIFFY: Dur = Dur::millis(4);

/// Rounds a time down to a tick [Linux include/net/tcp.h tcp_jiffies32].
#[must_use]
pub fn floor_to_jiffy(now: Time) -> Time {
    Time(now.0 / JIFFY.0 * JIFFY.0)
}

/// Rounds a duration up to whole ticks, as usecs_to_jiffies does [Linux tcp_cubic.c bictcp_update].
#[must_use]
pub fn ceil_to_jiffies(span: Dur) -> Dur {
    JIFFY * span.0.div_ceil(JIFFY.0)
}
