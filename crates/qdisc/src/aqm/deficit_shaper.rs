//! A shaper in deficit mode: each packet delays the next one by its transmission time at the rate
//! [Linux sch_cake.c cake_advance_shaper].
//!
//! ```text
//! arrival at an empty queue   time_next_packet = max(time_next_packet, now): idle time gives no credit, so no burst
//! departure                   allowed from time_next_packet on; time_next_packet += bytes / rate, so that a late
//!                             departure does not lower the rate
//! ```
//! Times are counted exactly, in fractions of a nanosecond.

use dumbbell_units::{Bytes, Rate, Time};

/// A deficit-mode shaper with its state.
#[derive(Clone, Debug)]
pub struct DeficitShaper {
    rate: Rate,
    time_next_packet: Time,
    /// Fraction of a nanosecond to add to `time_next_packet`, in units of 1 ns / rate.
    remainder: u128,
}

impl DeficitShaper {
    /// Returns a shaper that sends the first packet at once; the rate is above zero.
    #[must_use]
    pub fn new(rate: Rate) -> DeficitShaper {
        DeficitShaper { rate, time_next_packet: Time::ZERO, remainder: 0 }
    }

    /// Returns the time from which on the next packet may be sent, rounded up to a nanosecond.
    #[must_use]
    pub fn time_next_packet(&self) -> Time {
        Time(self.time_next_packet.0 + u64::from(self.remainder > 0))
    }

    /// A packet arrives at an empty queue [Linux sch_cake.c cake_enqueue].
    pub fn on_arrival_at_empty_queue(&mut self, now: Time) {
        if self.time_next_packet < now {
            (self.time_next_packet, self.remainder) = (now, 0);
        }
    }

    /// A packet is sent.
    pub fn advance(&mut self, bytes: Bytes) {
        let duration = self.remainder + u128::from(bytes.0) * 8 * 1_000_000_000;
        let rate = u128::from(self.rate.0);
        self.time_next_packet = Time(self.time_next_packet.0.saturating_add((duration / rate) as u64));
        self.remainder = duration % rate;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_spaced_by_their_transmission_time() {
        // 3 bit/s: a byte takes 8/3 s.
        let mut shaper = DeficitShaper::new(Rate(3));
        shaper.on_arrival_at_empty_queue(Time(5));
        let mut sent = Vec::new();
        for _ in 0..4 {
            sent.push(shaper.time_next_packet().0);
            shaper.advance(Bytes(1));
        }
        assert_eq!(sent, [5, 2_666_666_672, 5_333_333_339, 8_000_000_005]);
    }

    #[test]
    fn late_departures_are_compensated_but_idle_time_is_not() {
        // 8 Mbit/s: 1000 bytes per millisecond. Two packets due at 0 and 1 ms are sent late; the next is still due
        // at 2 ms.
        let mut shaper = DeficitShaper::new(Rate(8_000_000));
        shaper.on_arrival_at_empty_queue(Time(0));
        (0..2).for_each(|_| shaper.advance(Bytes(1000)));
        assert_eq!(shaper.time_next_packet(), Time(2_000_000));
        // The queue is empty until 9 ms, so the next packet may be sent then.
        shaper.on_arrival_at_empty_queue(Time(9_000_000));
        assert_eq!(shaper.time_next_packet(), Time(9_000_000));
        // An arrival at an empty queue waits for the shaper.
        shaper.advance(Bytes(1000));
        shaper.on_arrival_at_empty_queue(Time(9_500_000));
        assert_eq!(shaper.time_next_packet(), Time(10_000_000));
    }
}
