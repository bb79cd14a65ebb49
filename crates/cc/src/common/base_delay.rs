//! LEDBAT's delay filters: the base delay of the last minutes and the current delay [RFC 6817 §2.4.2].

use dumbbell_units::Time;
use std::collections::VecDeque;

/// CURRENT_FILTER: samples whose minimum is the current delay [RFC 6817 §2.5].
const CURRENT_FILTER: usize = 4;
/// One minute, ns.
const MINUTE: u64 = 60_000_000_000;

/// Base delay and current delay of one path.
#[derive(Clone, Debug)]
pub struct BaseDelay {
    /// base_delays: the minimum of each of the last minutes, s; the current minute is last.
    base_delays: VecDeque<f64>,
    base_history: usize,
    /// The current minute.
    minute: u64,
    /// current_delays: the last samples, s.
    current_delays: VecDeque<f64>,
}

impl BaseDelay {
    /// Returns empty filters with a history of `base_history` minutes (BASE_HISTORY).
    #[must_use]
    pub fn new(base_history: usize) -> BaseDelay {
        BaseDelay {
            base_delays: VecDeque::new(),
            base_history,
            minute: 0,
            current_delays: VecDeque::with_capacity(CURRENT_FILTER),
        }
    }

    /// Takes a delay sample in seconds. It may be negative, if it is the difference of two clocks.
    pub fn sample(&mut self, delay: f64, now: Time) {
        let minute = now.0 / MINUTE;
        match self.base_delays.back_mut() {
            Some(min) if minute == self.minute => *min = min.min(delay),
            _ => {
                if self.base_delays.len() == self.base_history {
                    self.base_delays.pop_front();
                }
                self.base_delays.push_back(delay);
            }
        }
        self.minute = minute;
        if self.current_delays.len() == CURRENT_FILTER {
            self.current_delays.pop_front();
        }
        self.current_delays.push_back(delay);
    }

    /// Returns the base delay, s; None before the first sample.
    #[must_use]
    pub fn base(&self) -> Option<f64> {
        self.base_delays.iter().copied().reduce(f64::min)
    }

    /// Returns the queueing delay, s: the current delay less the base delay. None before the first sample.
    #[must_use]
    pub fn queueing(&self) -> Option<f64> {
        Some(self.current_delays.iter().copied().reduce(f64::min)? - self.base()?)
    }
}
