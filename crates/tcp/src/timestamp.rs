//! The timestamp clock of a connection [RFC 7323 §5.4].

use dumbbell_units::{Dur, Time};

/// Returns the value of the timestamp clock: its ticks, modulo 2^32.
pub(crate) fn timestamp(now: Time, tick: Dur) -> u32 {
    (now.0 / tick.0) as u32
}

/// Returns when a segment was sent by its timestamp, which an ACK echoes at `now`.
#[inline]
pub(crate) fn sent_at(echo: u32, now: Time, tick: Dur) -> Time {
    let age = timestamp(now, tick).wrapping_sub(echo);
    Time(now.0.saturating_sub(u64::from(age) * tick.0))
}
