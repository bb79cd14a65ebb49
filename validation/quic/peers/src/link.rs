//! A link: a transmitter with a rate, a tail-drop queue before it, a delay after it, and random loss.

use dumbbell_quic::UDP_HEADER;
use dumbbell_units::random::Stream;
use dumbbell_units::{Bytes, Dur, Rate, Time};
use std::collections::VecDeque;

/// RFC 791, Section 3.1: without options.
const IPV4_HEADER: u32 = 20;

/// See the top of this file.
#[derive(Debug)]
pub struct Link {
    rate: Rate,
    delay: Dur,
    /// Packets that wait at most, besides the one in transmission.
    buffer: usize,
    loss: f64,
    random: Stream,
    /// When the packets in the queue and in transmission have left.
    departures: VecDeque<Time>,
    /// Packets that were offered.
    pub offered: u64,
    /// Packets that the full queue dropped.
    pub drops: u64,
    /// Packets that were lost at random.
    pub losses: u64,
    /// Sum of the queueing delays of the packets that were accepted.
    pub queueing: Dur,
}

impl Link {
    /// Returns an idle link.
    #[must_use]
    pub fn new(rate: Rate, delay: Dur, buffer: usize, loss: f64, random: Stream) -> Link {
        let departures = VecDeque::new();
        Link { rate, delay, buffer, loss, random, departures, offered: 0, drops: 0, losses: 0, queueing: Dur::ZERO }
    }

    /// Takes a datagram with `bytes` of UDP payload; returns when it arrives, None if it is lost.
    pub fn send(&mut self, bytes: u32, now: Time) -> Option<Time> {
        self.offered += 1;
        if self.loss > 0.0 && self.random.uniform() < self.loss {
            self.losses += 1;
            return None;
        }
        while self.departures.front().is_some_and(|at| *at <= now) {
            self.departures.pop_front();
        }
        if self.departures.len() > self.buffer {
            self.drops += 1;
            return None;
        }
        let start = self.departures.back().map_or(now, |last| now.max(*last));
        self.queueing = self.queueing + start.since(now);
        let end = start + self.rate.time_for(Bytes(u64::from(bytes + IPV4_HEADER + UDP_HEADER)));
        self.departures.push_back(end);
        Some(end + self.delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_in_transmission_and_the_queue() {
        // 1222 + 28 bytes at 10 Mbit/s take 1 ms. One is sent, two wait, the fourth is dropped.
        let random = Stream::new(1, "test");
        let mut link = Link::new(Rate(10_000_000), Dur::millis(20), 2, 0.0, random);
        let arrivals: Vec<_> = (0..4).map(|_| link.send(1222, Time::ZERO)).collect();
        let ms = |t: u64| Some(Time(t * 1_000_000));
        assert_eq!(arrivals, [ms(21), ms(22), ms(23), None]);
        assert_eq!((link.offered, link.drops, link.queueing), (4, 1, Dur::millis(3)));
        // At 1 ms the first has left: there is room for one.
        assert_eq!(link.send(1222, Time(1_000_000)), ms(24));
    }
}
