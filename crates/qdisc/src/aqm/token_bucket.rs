//! A token bucket: what may go is what fits into a bucket that fills at a rate.
//!
//! ```text
//! level(t) = min(burst, level(t0) + rate (t - t0)), starts full;  n bytes may go when level >= n, then level -= n
//! ```
//! So no span of length T sees more than burst + rate T go. A packet larger than the bucket may go when that is full and
//! leaves a debt, so that the rate holds. Counted exactly, in bits times 10^9: nothing is lost to rounding.

use dumbbell_units::{Bytes, Dur, Rate, Time};

/// One byte in the unit of the level.
const BYTE: i128 = 8 * 1_000_000_000;

/// See the top of this file.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    rate: Rate,
    burst: i128,
    level: i128,
    at: Time,
}

impl TokenBucket {
    /// A full bucket.
    #[must_use]
    pub fn new(rate: Rate, burst: Bytes) -> TokenBucket {
        let burst = i128::from(burst.0) * BYTE;
        TokenBucket { rate, burst, level: burst, at: Time::ZERO }
    }

    /// Bytes in the bucket when it was last looked at; below zero after a packet that it couldn't hold.
    #[must_use]
    pub fn level(&self) -> f64 {
        self.level as f64 / BYTE as f64
    }

    /// Takes so many bytes out if they may go now; otherwise says when they may.
    ///
    /// # Errors
    /// The earliest time at which they may go.
    ///
    /// # Panics
    /// If the rate is zero: scenarios are checked before they get here.
    pub fn take(&mut self, now: Time, bytes: Bytes) -> Result<(), Time> {
        let rate = i128::from(self.rate.0);
        let gained = rate * i128::from(now.since(self.at).0);
        // What a packet that has waited to the next nanosecond leaves is kept, even if the bucket holds no more than it.
        let full = self.burst + rate - 1;
        (self.level, self.at) = ((self.level + gained).min(full), self.at.max(now));
        let size = i128::from(bytes.0) * BYTE;
        let missing = size.min(self.burst) - self.level;
        if missing > 0 {
            let wait = (missing as u128).div_ceil(rate as u128);
            return Err(self.at + Dur(u64::try_from(wait).unwrap_or(u64::MAX)));
        }
        self.level -= size;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_burst_then_the_rate() {
        // 8 Mbit/s are 1000 bytes a millisecond; the bucket holds 3000.
        let mut bucket = TokenBucket::new(Rate(8_000_000), Bytes(3000));
        for _ in 0..3 {
            assert_eq!(bucket.take(Time(0), Bytes(1000)), Ok(()));
        }
        assert_eq!(bucket.take(Time(0), Bytes(1000)), Err(Time(MS)));
        assert_eq!(bucket.take(Time(MS - 1), Bytes(1000)), Err(Time(MS)));
        assert_eq!(bucket.take(Time(MS), Bytes(1000)), Ok(()));
        // 500 bytes short: half a millisecond.
        assert_eq!(bucket.take(Time(2 * MS), Bytes(1500)), Err(Time(5 * MS / 2)));
        // Never more than the bucket holds.
        assert_eq!(bucket.take(Time(100 * MS), Bytes(3000)), Ok(()));
        assert_eq!(bucket.take(Time(100 * MS), Bytes(1)), Err(Time(100 * MS + 1000)));
    }

    #[test]
    fn a_packet_too_large_for_the_bucket_leaves_a_debt() {
        let mut bucket = TokenBucket::new(Rate(8_000_000), Bytes(500));
        assert_eq!(bucket.take(Time(0), Bytes(1500)), Ok(()));
        assert_eq!(bucket.level(), -1000.0);
        // Back to 500: 1500 bytes later.
        assert_eq!(bucket.take(Time(0), Bytes(1500)), Err(Time(3 * MS / 2)));
    }

    #[test]
    fn nothing_is_lost_to_rounding() {
        // 3 bit/s, 1 byte: 8/3 s each; the n-th goes at 8 n / 3 s, up to the next nanosecond.
        let mut bucket = TokenBucket::new(Rate(3), Bytes(1));
        let mut now = Time(0);
        assert_eq!(bucket.take(now, Bytes(1)), Ok(()));
        for n in 1..=3u64 {
            now = bucket.take(now, Bytes(1)).unwrap_err();
            assert_eq!(now, Time((8_000_000_000 * n).div_ceil(3)));
            assert_eq!(bucket.take(now, Bytes(1)), Ok(()));
        }
    }
}
