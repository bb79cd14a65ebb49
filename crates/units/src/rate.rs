//! A bit rate, and the transmission times and byte counts that follow from it, in integers.

use crate::{Bytes, Dur};
use std::fmt;

/// A bit rate in bit/s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

impl Rate {
    /// Returns the transmission time of `bytes`, rounded up to a nanosecond, so that a link is never faster than its
    /// rate.
    ///
    /// # Panics
    /// If the rate is zero: the checks of a scenario exclude it.
    #[must_use]
    pub fn time_for(self, bytes: Bytes) -> Dur {
        let bit_ns = u128::from(bytes.0) * 8 * 1_000_000_000;
        Dur(u64::try_from(bit_ns.div_ceil(u128::from(self.0))).unwrap_or(u64::MAX))
    }

    /// Returns the whole bytes sent in `span` at this rate, rounded down.
    #[must_use]
    pub fn bytes_in(self, span: Dur) -> Bytes {
        let bits = u128::from(self.0) * u128::from(span.0) / 1_000_000_000;
        Bytes(u64::try_from(bits / 8).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            r if r >= 1_000_000_000 => write!(f, "{} Gbit/s", r as f64 / 1e9),
            r if r >= 1_000_000 => write!(f, "{} Mbit/s", r as f64 / 1e6),
            r if r >= 1_000 => write!(f, "{} kbit/s", r as f64 / 1e3),
            r => write!(f, "{r} bit/s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transmission_time_rounds_up_and_capacity_rounds_down() {
        // 1040 bytes at 10 Mbit/s: 8320 bit / 1e7 bit/s = 832 us.
        assert_eq!(Rate(10_000_000).time_for(Bytes(1040)), Dur::micros(832));
        // 1 byte at 3 bit/s: 8/3 s = 2.666... s, up.
        assert_eq!(Rate(3).time_for(Bytes(1)), Dur(2_666_666_667));
        assert_eq!(Rate(3).bytes_in(Dur(2_666_666_666)), Bytes(0));
        assert_eq!(Rate(3).bytes_in(Dur(2_666_666_667)), Bytes(1));
    }

    #[test]
    fn no_overflow_at_the_extremes() {
        assert_eq!(Rate(u64::MAX).bytes_in(Dur(u64::MAX)), Bytes(u64::MAX));
        assert_eq!(Rate(1).time_for(Bytes(u64::MAX)), Dur(u64::MAX));
    }
}
