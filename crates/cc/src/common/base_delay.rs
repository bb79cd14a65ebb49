//! LEDBAT's view of the path: the smallest delay of the last minutes, and the delay now [RFC 6817].

use dumbbell_units::Time;
use std::collections::VecDeque;

/// Samples that the delay now is the smallest of (CURRENT_FILTER).
const FILTER: usize = 4;
const MINUTE: u64 = 60_000_000_000;

/// See the top of this file.
#[derive(Clone, Debug)]
pub struct BaseDelay {
    /// The smallest delay of each of the last minutes, s; the running one last.
    minutes: VecDeque<f64>,
    history: usize,
    /// The running minute.
    minute: u64,
    /// The last samples, s.
    latest: VecDeque<f64>,
}

impl BaseDelay {
    /// For a history of so many minutes (BASE_HISTORY).
    #[must_use]
    pub fn new(history: usize) -> BaseDelay {
        BaseDelay { minutes: VecDeque::new(), history, minute: 0, latest: VecDeque::with_capacity(FILTER) }
    }

    /// Takes in a sample in seconds. It may be negative where it is the difference of two clocks.
    pub fn sample(&mut self, delay: f64, now: Time) {
        let minute = now.0 / MINUTE;
        match self.minutes.back_mut() {
            Some(least) if minute == self.minute => *least = least.min(delay),
            _ => {
                if self.minutes.len() == self.history {
                    self.minutes.pop_front();
                }
                self.minutes.push_back(delay);
            }
        }
        self.minute = minute;
        if self.latest.len() == FILTER {
            self.latest.pop_front();
        }
        self.latest.push_back(delay);
    }

    /// The smallest delay of the history, s; None before the first sample.
    #[must_use]
    pub fn base(&self) -> Option<f64> {
        self.minutes.iter().copied().reduce(f64::min)
    }

    /// The delay now above the base, s; None before the first sample.
    #[must_use]
    pub fn queueing(&self) -> Option<f64> {
        Some(self.latest.iter().copied().reduce(f64::min)? - self.base()?)
    }
}
