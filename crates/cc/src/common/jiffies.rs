//! The timer ticks (jiffies) of Linux, at HZ = 250. The integer rules of its variants measure time in them [Linux
//! include/net/tcp.h tcp_jiffies32].

use dumbbell_units::{Dur, Time};

/// One tick: a second divided by HZ.
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
