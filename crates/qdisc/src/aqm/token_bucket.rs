//! A token bucket: tokens arrive at a rate, and a packet may be sent when the bucket holds its bytes
//! [Linux sch_tbf.c tbf_dequeue].
//!
//! ```text
//! tokens(t) = min(burst, tokens(t_c) + rate (t - t_c)), initially burst
//! n bytes may be sent when tokens >= n; then tokens -= n
//! ```
//! In any time T at most burst + rate T bytes are sent. A packet larger than the bucket may be sent when the bucket is
//! full; the tokens are then negative, so that the rate holds. Tokens are counted exactly, in bits times 10^9: rounding
//! loses nothing.

use dumbbell_units::{Bytes, Dur, Rate, Time};

/// One byte in the unit of the tokens.
const BYTE: i128 = 8 * 1_000_000_000;

/// A token bucket with its state.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    rate: Rate,
    burst: i128,
    tokens: i128,
    /// Time of the last update of the tokens.
    t_c: Time,
}

impl TokenBucket {
    /// Returns a full bucket.
    #[must_use]
    pub fn new(rate: Rate, burst: Bytes) -> TokenBucket {
        let burst = i128::from(burst.0) * BYTE;
        TokenBucket { rate, burst, tokens: burst, t_c: Time::ZERO }
    }

    /// Returns the tokens at the last update, in bytes; negative after a packet larger than the bucket.
    #[must_use]
    pub fn tokens(&self) -> f64 {
        self.tokens as f64 / BYTE as f64
    }

    /// Consumes tokens for `bytes` if the bucket holds them.
    ///
    /// # Errors
    /// The earliest time at which the bytes may be sent.
    ///
    /// # Panics
    /// If the rate is zero: the checks of a scenario exclude it.
    pub fn consume(&mut self, now: Time, bytes: Bytes) -> Result<(), Time> {
        let rate = i128::from(self.rate.0);
        let gained = rate * i128::from(now.since(self.t_c).0);
        // Departures are rounded up to whole nanoseconds. The tokens of the last nanosecond are kept beyond the burst.
        let full = self.burst + rate - 1;
        (self.tokens, self.t_c) = ((self.tokens + gained).min(full), self.t_c.max(now));
        let size = i128::from(bytes.0) * BYTE;
        let missing = size.min(self.burst) - self.tokens;
        if missing > 0 {
            let wait = (missing as u128).div_ceil(rate as u128);
            return Err(self.t_c + Dur(u64::try_from(wait).unwrap_or(u64::MAX)));
        }
        self.tokens -= size;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_burst_is_sent_at_once_and_then_the_rate_holds() {
        // 8 Mbit/s: 1000 bytes per millisecond; the bucket holds 3000.
        let mut bucket = TokenBucket::new(Rate(8_000_000), Bytes(3000));
        for _ in 0..3 {
            assert_eq!(bucket.consume(Time(0), Bytes(1000)), Ok(()));
        }
        assert_eq!(bucket.consume(Time(0), Bytes(1000)), Err(Time(MS)));
        assert_eq!(bucket.consume(Time(MS - 1), Bytes(1000)), Err(Time(MS)));
        assert_eq!(bucket.consume(Time(MS), Bytes(1000)), Ok(()));
        // 500 bytes short: half a millisecond.
        assert_eq!(bucket.consume(Time(2 * MS), Bytes(1500)), Err(Time(5 * MS / 2)));
        // The bucket never holds more than its burst.
        assert_eq!(bucket.consume(Time(100 * MS), Bytes(3000)), Ok(()));
        assert_eq!(bucket.consume(Time(100 * MS), Bytes(1)), Err(Time(100 * MS + 1000)));
    }

    #[test]
    fn a_packet_larger_than_the_bucket_makes_the_tokens_negative() {
        let mut bucket = TokenBucket::new(Rate(8_000_000), Bytes(500));
        assert_eq!(bucket.consume(Time(0), Bytes(1500)), Ok(()));
        assert_eq!(bucket.tokens(), -1000.0);
        // The bucket is full again, at 500, after 1500 bytes.
        assert_eq!(bucket.consume(Time(0), Bytes(1500)), Err(Time(3 * MS / 2)));
    }

    #[test]
    fn rounding_loses_nothing() {
        // 3 bit/s, 1 byte: 8/3 s each; the n-th is sent at 8 n / 3 s, rounded up to a nanosecond.
        let mut bucket = TokenBucket::new(Rate(3), Bytes(1));
        let mut now = Time(0);
        assert_eq!(bucket.consume(now, Bytes(1)), Ok(()));
        for n in 1..=3u64 {
            now = bucket.consume(now, Bytes(1)).unwrap_err();
            assert_eq!(now, Time((8_000_000_000 * n).div_ceil(3)));
            assert_eq!(bucket.consume(now, Bytes(1)), Ok(()));
        }
    }
}
