//! The E-model.

use dumbbell_apps::voice::{self, Transmission};
use pyo3::prelude::*;

/// Returns the rating factor R [ITU-T G.107]. The caller has checked the amounts.
#[pyfunction]
pub(crate) fn r_factor(delay_ms: f64, loss: f64, burst_ratio: f64, ie: f64, bpl: f64, talker_echo_db: f64) -> f64 {
    Transmission { delay_ms, loss, burst_ratio, ie, bpl, talker_echo_db }.r()
}

/// Returns the mean opinion score that belongs to a rating factor [ITU-T G.107 Annex B].
#[pyfunction]
pub(crate) fn mos(r: f64) -> f64 {
    voice::mos(r)
}
