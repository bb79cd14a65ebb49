//! Pacing by a leaky bucket [RFC 9002 §7.7]: credit grows at the pacing rate up to the size of a burst; a packet takes
//! its bytes. The credit is in bytes, so that a packet sent at an old rate doesn't delay others at a new one.
//!
//! With `refill`, as in quinn, credit is added only when a packet lacks it, for the time since the last addition, up to
//! a burst. A sender without credit then waits for that of a whole burst.

use dumbbell_units::{Dur, Rate, Time};

/// The part of a byte that rounding may lose.
const ROUNDING: f64 = 1e-6;

/// The pacer of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pacer {
    /// True if credit is added only when a packet lacks it.
    refill: bool,
    /// Bytes of credit at `since`; None before the first packet: the bucket is full.
    credit: Option<f64>,
    since: Time,
}

impl Pacer {
    pub(crate) fn new(refill: bool) -> Pacer {
        Pacer { refill, ..Pacer::default() }
    }

    /// Bytes of credit for a packet of `bytes`, and the time up to which it has been added.
    fn credit(&self, bytes: u64, rate: Rate, burst: u64, now: Time) -> (f64, Time) {
        let burst = burst.max(bytes) as f64;
        match self.credit {
            None => (burst, now),
            Some(credit) if self.refill && suffices(credit, bytes) => (credit, self.since),
            Some(credit) => {
                let grown = rate.0 as f64 / 8.0 * now.since(self.since).as_secs();
                ((credit + grown).min(burst), now)
            }
        }
    }

    /// Returns when a packet of `bytes` may be sent: now, if the credit suffices.
    pub(crate) fn allows_at(&self, bytes: u64, rate: Rate, burst: u64, now: Time) -> Time {
        let (credit, _) = self.credit(bytes, rate, burst, now);
        if suffices(credit, bytes) {
            return now;
        }
        let missing = if self.refill { burst.max(bytes) } else { bytes } as f64 - credit;
        now + Dur((missing * 8e9 / rate.0.max(1) as f64).ceil() as u64).max(Dur(1))
    }

    /// Takes the bytes of a packet. Probes and packets of the handshake aren't paced: they may leave a debt.
    pub(crate) fn on_sent(&mut self, bytes: u64, rate: Rate, burst: u64, now: Time) {
        let (credit, since) = self.credit(bytes, rate, burst, now);
        (self.credit, self.since) = (Some(credit - bytes as f64), since);
    }
}

fn suffices(credit: f64, bytes: u64) -> bool {
    bytes as f64 - credit <= ROUNDING
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_then_the_rate() {
        // 8 Mbit/s: 1000 bytes a millisecond; bursts of 3000 bytes.
        let (rate, mut pacer, mut now) = (Rate(8_000_000), Pacer::default(), Time(10_000_000));
        let mut times = Vec::new();
        for _ in 0..6 {
            now = now.max(pacer.allows_at(1000, rate, 3000, now));
            pacer.on_sent(1000, rate, 3000, now);
            times.push(now.0 / 1_000_000);
        }
        assert_eq!(times, [10, 10, 10, 11, 12, 13]);
        // After 2 ms without packets the bucket has credit for two.
        now = Time(16_000_000);
        for _ in 0..3 {
            now = now.max(pacer.allows_at(1000, rate, 3000, now));
            pacer.on_sent(1000, rate, 3000, now);
            times.push(now.0 / 1_000_000);
        }
        assert_eq!(times[6..], [16, 16, 16]);
        assert_eq!(pacer.allows_at(1000, rate, 3000, now), Time(17_000_000));
    }

    #[test]
    fn a_refill_adds_credit_when_it_is_used_up() {
        // 1000 bytes a millisecond, bursts of 3000 bytes: none is left at 10 ms.
        let (rate, mut pacer, now) = (Rate(8_000_000), Pacer::new(true), Time(10_000_000));
        (0..3).for_each(|_| pacer.on_sent(1000, rate, 3000, now));
        assert_eq!(pacer.allows_at(1000, rate, 3000, now), Time(13_000_000));
        // At 11 ms an ACK lets the sender look again: the credit of one packet suffices.
        assert_eq!(pacer.allows_at(1000, rate, 3000, Time(11_000_000)), Time(11_000_000));
        // At 15 ms a burst is there, added up to 15 ms. After two packets one is left until 18 ms; the time since 15 ms
        // counts then, so that a burst follows it at once: four packets instead of three.
        let mut burst = |at: u64, packets: u32| {
            (0..packets).for_each(|_| {
                assert_eq!(pacer.allows_at(1000, rate, 3000, Time(at)), Time(at));
                pacer.on_sent(1000, rate, 3000, Time(at));
            });
            pacer.allows_at(1000, rate, 3000, Time(at))
        };
        assert_eq!(burst(15_000_000, 2), Time(15_000_000));
        assert_eq!(burst(18_000_000, 4), Time(21_000_000));
    }

    #[test]
    fn a_new_rate_applies_at_once() {
        // The burst is used up at 1 Mbit/s; at 100 Mbit/s a packet of 1000 bytes needs 80 us more.
        let (mut pacer, now) = (Pacer::default(), Time(1_000_000));
        (0..3).for_each(|_| pacer.on_sent(1000, Rate(1_000_000), 3000, now));
        assert_eq!(pacer.allows_at(1000, Rate(1_000_000), 3000, now), Time(9_000_000));
        assert_eq!(pacer.allows_at(1000, Rate(100_000_000), 3000, now), Time(1_080_000));
    }
}
