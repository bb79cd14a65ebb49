//! The smallest value of the last while.

use dumbbell_units::{Dur, Time};
use std::collections::VecDeque;

/// Keeps only what can still become the smallest: values that rise with time.
#[derive(Clone, Debug, Default)]
pub struct WindowedMin(VecDeque<(Time, f64)>);

impl WindowedMin {
    /// Takes in a value, forgets those older than `span` (except this one), and gives the smallest of the rest.
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

    /// The smallest as of the last value; None before the first.
    #[must_use]
    pub fn get(&self) -> Option<f64> {
        self.0.front().map(|(_, v)| *v)
    }
}
