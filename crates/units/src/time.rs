//! Virtual time: times and durations in integer nanoseconds, so that results don't depend on rounding.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// A time, in nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// A duration, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dur(pub u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than every time of a run.
    pub const NEVER: Time = Time(u64::MAX);

    /// Returns the duration from `earlier` to `self`; zero if `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Time) -> Dur {
        Dur(self.0.saturating_sub(earlier.0))
    }

    /// Returns the time `span` later, as the sum does, in fewer steps; neither may be near the largest value.
    ///
    /// # Panics
    /// Where overflow is checked, if the sum overflows.
    #[must_use]
    #[inline(always)]
    pub fn after(self, span: Dur) -> Time {
        Time(self.0 + span.0)
    }

    /// Returns the seconds since the start of the run.
    #[must_use]
    pub fn as_secs(self) -> f64 {
        self.0 as f64 * 1e-9
    }
}

impl Dur {
    /// Zero.
    pub const ZERO: Dur = Dur(0);
    /// The longest duration.
    pub const MAX: Dur = Dur(u64::MAX);

    /// Returns a duration of whole microseconds.
    #[must_use]
    pub const fn micros(us: u64) -> Dur {
        Dur(us * 1_000)
    }

    /// Returns a duration of whole milliseconds.
    #[must_use]
    pub const fn millis(ms: u64) -> Dur {
        Dur(ms * 1_000_000)
    }

    /// Returns a duration of whole seconds.
    #[must_use]
    pub const fn secs(s: u64) -> Dur {
        Dur(s * 1_000_000_000)
    }

    /// Returns a duration of `s` seconds, rounded to a nanosecond; zero for negative numbers and NaN.
    #[must_use]
    pub fn from_secs_f64(s: f64) -> Dur {
        Dur((s * 1e9).round() as u64)
    }

    /// Returns the duration in seconds.
    #[must_use]
    pub fn as_secs(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// Returns the duration in milliseconds.
    #[must_use]
    pub fn as_millis(self) -> f64 {
        self.0 as f64 * 1e-6
    }

    /// Returns the duration times a factor, rounded to a nanosecond.
    #[must_use]
    pub fn scale(self, factor: f64) -> Dur {
        Dur((self.0 as f64 * factor).round() as u64)
    }

    /// Returns the difference, or zero if it is negative.
    #[must_use]
    pub fn saturating_sub(self, other: Dur) -> Dur {
        Dur(self.0.saturating_sub(other.0))
    }
}

impl Add<Dur> for Time {
    type Output = Time;
    fn add(self, d: Dur) -> Time {
        Time(self.0.saturating_add(d.0))
    }
}

impl AddAssign<Dur> for Time {
    fn add_assign(&mut self, d: Dur) {
        *self = *self + d;
    }
}

impl Add for Dur {
    type Output = Dur;
    fn add(self, d: Dur) -> Dur {
        Dur(self.0.saturating_add(d.0))
    }
}

impl AddAssign for Dur {
    fn add_assign(&mut self, d: Dur) {
        *self = *self + d;
    }
}

impl Sub for Dur {
    type Output = Dur;
    fn sub(self, d: Dur) -> Dur {
        Dur(self.0 - d.0)
    }
}

impl Mul<u64> for Dur {
    type Output = Dur;
    fn mul(self, n: u64) -> Dur {
        Dur(self.0.saturating_mul(n))
    }
}

impl Div<u64> for Dur {
    type Output = Dur;
    fn div(self, n: u64) -> Dur {
        Dur(self.0 / n)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6} s", self.as_secs())
    }
}

impl fmt::Display for Dur {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ns if ns % 1_000_000_000 == 0 => write!(f, "{} s", ns / 1_000_000_000),
            ns if ns >= 1_000_000 => write!(f, "{} ms", ns as f64 / 1e6),
            ns if ns >= 1_000 => write!(f, "{} us", ns as f64 / 1e3),
            ns => write!(f, "{ns} ns"),
        }
    }
}
