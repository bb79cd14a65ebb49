//! The minimum of a time window.

use dumbbell_units::{Dur, Time};
use std::collections::VecDeque;

/// The minimum of the values of a time window. It keeps only values that can still become the minimum: they rise with
/// time.
#[derive(Clone, Debug, Default)]
pub struct WindowedMin(VecDeque<(Time, f64)>);

impl WindowedMin {
    /// Adds a value, removes values older than `span`, and returns the minimum.
    pub fn add(&mut self, value: f64, span: Dur, now: Time) -> f64 {
        while self.0.back().is_some_and(|(_, v)| *v >= value) {
            self.0.pop_back();
        }
        self.0.push_back((now, value));
        while self.0.len() > 1 && self.0.front().is_some_and(|(t, _)| now.since(*t) > span) {
            self.0.pop_front();
        }
        self.get().unwrap_or(value)
    }

    /// Returns the minimum as of the last value; None before the first.
    #[must_use]
    pub fn get(&self) -> Option<f64> {
        self.0.front().map(|(_, v)| *v)
    }
}
