//! Pacing rates.

use dumbbell_units::Rate;

/// A pacing rate from bytes/s: never zero, since a connection that may send at all must be able to.
#[must_use]
pub fn pacing_rate(bytes_per_second: f64) -> Rate {
    Rate(((bytes_per_second * 8.0) as u64).max(1))
}
