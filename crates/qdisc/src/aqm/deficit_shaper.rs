//! A shaper in deficit mode: each packet pushes back the time of the next by what it takes at the rate.
//!
//! ```text
//! next := max(next, now)          at the first arrival after nothing waited: no credit for idle time, so no burst
//! a packet may go when next <= now;  next += bytes / rate       what a late departure has lost is made up for
//! ```
//! Counted exactly, in fractions of a nanosecond.

use dumbbell_units::{Bytes, Rate, Time};

/// See the top of this file.
#[derive(Clone, Debug)]
pub struct DeficitShaper {
    rate: Rate,
    next: Time,
    /// What `next` lacks, in nanoseconds / rate.
    rest: u128,
}

impl DeficitShaper {
    /// A shaper that lets the first packet go at once; the rate is above zero.
    #[must_use]
    pub fn new(rate: Rate) -> DeficitShaper {
        DeficitShaper { rate, next: Time::ZERO, rest: 0 }
    }

    /// When the next packet may go: the first whole nanosecond.
    #[must_use]
    pub fn next(&self) -> Time {
        Time(self.next.0 + u64::from(self.rest > 0))
    }

    /// A packet arrives and nothing waits.
    pub fn wake(&mut self, now: Time) {
        if self.next < now {
            (self.next, self.rest) = (now, 0);
        }
    }

    /// A packet of so many bytes goes.
    pub fn send(&mut self, bytes: Bytes) {
        let takes = self.rest + u128::from(bytes.0) * 8 * 1_000_000_000;
        let rate = u128::from(self.rate.0);
        self.next = Time(self.next.0.saturating_add((takes / rate) as u64));
        self.rest = takes % rate;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_spaced_by_what_they_take() {
        // 3 bit/s: a byte takes 8/3 s.
        let mut shaper = DeficitShaper::new(Rate(3));
        shaper.wake(Time(5));
        let mut sent = Vec::new();
        for _ in 0..4 {
            sent.push(shaper.next().0);
            shaper.send(Bytes(1));
        }
        assert_eq!(sent, [5, 2_666_666_672, 5_333_333_339, 8_000_000_005]);
    }

    #[test]
    fn late_departures_are_made_up_for_but_idle_time_is_not() {
        // 8 Mbit/s: 1000 bytes a millisecond. A backlog whose packets at 0 and 1 ms could not go until 5 ms: the next may
        // go at once.
        let mut shaper = DeficitShaper::new(Rate(8_000_000));
        shaper.wake(Time(0));
        (0..2).for_each(|_| shaper.send(Bytes(1000)));
        assert_eq!(shaper.next(), Time(2_000_000));
        // Nothing waited until 9 ms: from there on.
        shaper.wake(Time(9_000_000));
        assert_eq!(shaper.next(), Time(9_000_000));
        // An arrival at an empty queue before its time waits.
        shaper.send(Bytes(1000));
        shaper.wake(Time(9_500_000));
        assert_eq!(shaper.next(), Time(10_000_000));
    }
}
