//! Backoff of one device [IEEE 802.11-2016 §10.3.4.3, §10.22.2].
//!
//! ```text
//! the medium is idle from t on     slots count from t + AIFS; the device may send when its counter is zero
//! it becomes busy                  the counter keeps the slots that are left
//! a transmission ends              a new counter, uniform in 0..=cw; cw doubles after a failure
//! a packet comes                   to an idle medium: the device may send at once, if AIFS has passed and no slots are
//!                                  left; to a busy medium: with a new counter, if no slots are left
//! ```
//! After a frame that failed, every device waits for EIFS instead of AIFS. For the senders this stands for the ACK
//! timeout, which has about the same length.

use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time};

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Backoff {
    /// Slots that are left.
    counter: u32,
    cw: u32,
    limits: (u32, u32),
    /// Arrival of the packet that waits; None without one.
    waiting_since: Option<Time>,
    random: Stream,
}

impl Backoff {
    pub(crate) fn new(limits: (u32, u32), random: Stream) -> Backoff {
        Backoff { counter: 0, cw: limits.0, limits, waiting_since: None, random }
    }

    /// The device has a packet to send.
    pub(crate) fn wait(&mut self, now: Time, medium_is_busy: bool) {
        if self.waiting_since.is_none() {
            self.waiting_since = Some(now);
            if medium_is_busy && self.counter == 0 {
                self.draw();
            }
        }
    }

    /// The device has nothing to send.
    pub(crate) fn rest(&mut self) {
        self.waiting_since = None;
    }

    /// Time at which the device sends, if the medium stays idle from the time `from` (the end of the interframe space).
    pub(crate) fn access(&self, from: Time, slot: Dur) -> Time {
        self.waiting_since.map_or(Time::NEVER, |since| since.max(from + slot * u64::from(self.counter)))
    }

    /// Another device begins to send.
    pub(crate) fn freeze(&mut self, now: Time, from: Time, slot: Dur) {
        let passed = now.since(from).0 / slot.0;
        self.counter = self.counter.saturating_sub(u32::try_from(passed).unwrap_or(u32::MAX));
    }

    /// Its transmission has ended, and its frame is finished unless `failed`.
    pub(crate) fn again(&mut self, failed: bool) {
        self.cw = if failed { (2 * self.cw + 1).min(self.limits.1) } else { self.limits.0 };
        self.draw();
    }

    fn draw(&mut self) {
        self.counter = (self.random.next_u64() % u64::from(self.cw + 1)) as u32;
    }

    pub(crate) fn random(&mut self) -> &mut Stream {
        &mut self.random
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: Dur = Dur::micros(9);

    #[test]
    fn slots_count_while_the_medium_is_idle() {
        let mut backoff = Backoff::new((15, 1023), Stream::new(1, "backoff"));
        assert_eq!(backoff.access(Time::ZERO, SLOT), Time::NEVER);
        backoff.wait(Time(500_000), false);
        assert_eq!(backoff.access(Time(34_000), SLOT), Time(500_000)); // AIFS has passed: at once
        backoff.counter = 5;
        assert_eq!(backoff.access(Time(500_000), SLOT), Time(545_000));
        backoff.freeze(Time(526_000), Time(500_000), SLOT); // two slots of 9 µs have passed
        assert_eq!(backoff.counter, 3);
        backoff.freeze(Time(600_000), Time(700_000), SLOT); // busy again before the interframe space was over
        assert_eq!(backoff.counter, 3);
    }

    #[test]
    fn the_window_doubles_up_to_its_limit() {
        let mut backoff = Backoff::new((15, 1023), Stream::new(1, "backoff"));
        let windows: Vec<u32> = (0..8)
            .map(|_| {
                backoff.again(true);
                backoff.cw
            })
            .collect();
        assert_eq!(windows, [31, 63, 127, 255, 511, 1023, 1023, 1023]);
        backoff.again(false);
        assert_eq!(backoff.cw, 15);
        let draws: Vec<u32> = (0..1000)
            .map(|_| {
                backoff.draw();
                backoff.counter
            })
            .collect();
        assert_eq!((draws.iter().min(), draws.iter().max()), (Some(&0), Some(&15)));
    }
}
