//! The largest value of the recent past.

use std::collections::VecDeque;

/// The maximum of a series over a window that ends with the latest value; time is whatever the caller counts in, such as
/// round trips. A value falls out of the window when one arrives that is more than the window's length younger: without
/// new values nothing is forgotten.
#[derive(Clone, Debug, Default)]
pub struct WindowedMax {
    /// Falling values, each the largest since the one before it; at most one for each time.
    candidates: VecDeque<(u64, f64)>,
}

impl WindowedMax {
    /// Takes in a value at time `at`, which never goes back.
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

    /// The maximum; zero before the first value.
    #[must_use]
    pub fn get(&self) -> f64 {
        self.candidates.front().map_or(0.0, |(_, v)| *v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_the_window_and_then_the_largest_since() {
        let mut max = WindowedMax::default();
        assert_eq!(max.get(), 0.0);
        for (at, value, expected) in [
            (0, 5.0, 5.0),
            (0, 3.0, 5.0),
            (1, 4.0, 5.0),
            (2, 1.0, 5.0),
            (3, 2.0, 4.0),
            (4, 1.5, 2.0),
            (4, 9.0, 9.0),
        ] {
            max.update(value, at, 2);
            assert_eq!(max.get(), expected, "at {at}");
        }
        // A long silence forgets nothing; the value that ends it is then all there is.
        max.update(1.0, 100, 2);
        assert_eq!(max.get(), 1.0);
    }

    #[test]
    fn falling_values_of_one_round_take_no_room() {
        let mut max = WindowedMax::default();
        for value in (0..1000).rev() {
            max.update(f64::from(value), 7, 10);
        }
        assert_eq!((max.get(), max.candidates.len()), (999.0, 1));
    }
}
