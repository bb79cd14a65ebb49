//! The conversion of a variant's rate to a pacing rate.

use dumbbell_units::Rate;

/// Converts bytes/s to a pacing rate. The rate is never zero, so that a connection can always send.
#[must_use]
pub fn pacing_rate(bytes_per_second: f64) -> Rate {
    Rate(((bytes_per_second * 8.0) as u64).max(1))
}
