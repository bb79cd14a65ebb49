//! The maximum of a window of round trips or of time, such as BBR's bandwidth filter.

use std::collections::VecDeque;

/// The maximum of a series over a window that ends with the latest value. The caller chooses the unit of time, for
/// example round trips. A value leaves the window only when a newer value arrives: without new values nothing is
/// forgotten.
#[derive(Clone, Debug, Default)]
pub struct WindowedMax {
    /// Falling values: each is the largest after the one before it. At most one for each time.
    candidates: VecDeque<(u64, f64)>,
}

impl WindowedMax {
    /// Adds a value at time `at`, which never decreases.
    pub fn update(&mut self, value: f64, at: u64, window: u64) {
        while self.candidates.back().is_some_and(|(_, v)| *v <= value) {
            self.candidates.pop_back();
        }
        if self.candidates.back().is_none_or(|(t, _)| *t < at) {
            self.candidates.push_back((at, value));
        }
        while self.candidates.front().is_some_and(|(t, _)| at - t > window) {
            self.candidates.pop_front();
        }
    }

    /// Returns the maximum; zero before the first value.
    #[must_use]
    pub fn get(&self) -> f64 {
        self.candidates.front().map_or(0.0, |(_, v)| *v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_the_maximum_of_the_window() {
        let mut max = WindowedMax::default();
        assert_eq!(max.get(), 0.0);
        for (at, value, expected) in
            [(0, 5.0, 5.0), (0, 3.0, 5.0), (1, 4.0, 5.0), (2, 1.0, 5.0), (3, 2.0, 4.0), (4, 1.5, 2.0), (4, 9.0, 9.0)]
        {
            max.update(value, at, 2);
            assert_eq!(max.get(), expected, "at {at}");
        }
        // Nothing is forgotten without a new value; that value is then the only one.
        max.update(1.0, 100, 2);
        assert_eq!(max.get(), 1.0);
    }

    #[test]
    fn falling_values_of_one_round_use_no_memory() {
        let mut max = WindowedMax::default();
        for value in (0..1000).rev() {
            max.update(f64::from(value), 7, 10);
        }
        assert_eq!((max.get(), max.candidates.len()), (999.0, 1));
    }
}
