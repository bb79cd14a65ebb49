//! A receive window that grows (dynamic right-sizing), as in Linux.
//!
//! ```text
//! offered    starts at window_start; each segment adds two, up to the limit, and makes the next ACK a quick one
//! limit      a quarter above window_start, as segments turn out to take less memory than assumed; at the end of each
//!            round trip in which more was read than in the best so far
//!                2 * read + 16 segments, and twice in proportion to how much more it was
//!            but never above `window`
//! ```
//! The round trip is that of the timestamps, smoothed by an eighth. The application reads at once, so that only what is
//! out of order takes room; the right edge never moves back [RFC 9293 §3.8.6].

use crate::config::Config;
use dumbbell_units::{Dur, Time};

/// Of 256 bytes of memory, those that Linux assumes to hold payload, and those that do: 1448 in the 2288 of a full segment.
const ASSUMED: u64 = 128;
const FOUND: u64 = 162;

/// See the top of this file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growing {
    mss: u64,
    offered: u64,
    limit: u64,
    most: u64,
    /// The right edge that has been offered.
    edge: u64,
    /// What came in order with the segment that filled a hole, and is told before the application reads it.
    unread: u64,
    /// The round trip that is measured: when it began, what had been read then.
    began: Time,
    read: u64,
    /// The most that was read in one.
    best: u64,
    rtt: Option<f64>,
    last_echo: Option<u32>,
}

impl Growing {
    pub(super) fn new(config: &Config) -> Option<Growing> {
        let start = config.autotuning?;
        Some(Growing {
            mss: u64::from(config.mss),
            offered: start,
            limit: (start * FOUND / ASSUMED).min(config.window),
            most: config.window,
            edge: 0,
            unread: 0,
            began: Time::ZERO,
            read: 1,
            best: config.initial_window.min(start),
            rtt: None,
            last_echo: None,
        })
    }

    /// A full segment that echoes `echo`, which is `age` old.
    pub(crate) fn on_echo(&mut self, echo: u32, age: Dur) {
        if self.last_echo.replace(echo) != Some(echo) && age > Dur::ZERO {
            let sample = age.as_secs();
            self.rtt = Some(self.rtt.map_or(sample, |rtt| rtt + (sample - rtt) / 8.0));
        }
    }

    /// A segment of `len` bytes has arrived; whether the window grows. Memory that is taken counts: its own where the
    /// application is about to read it, what waits for it out of order; `first` of those out of order it finds none taken.
    pub(super) fn on_data(&mut self, len: u64, first: bool) -> bool {
        let taken = if first { 0 } else { self.mss };
        let limit = self.limit.saturating_sub(taken);
        if self.offered >= limit || len < 128 {
            return false;
        }
        self.offered = (self.offered + 2 * self.mss.max(len)).min(limit);
        true
    }

    /// The application has read up to `nxt`.
    pub(super) fn on_read(&mut self, nxt: u64, srtt: Option<Dur>, now: Time) {
        let Some(rtt) = self.rtt.map(Dur::from_secs_f64).or(srtt) else { return };
        if now.since(self.began) < rtt {
            return;
        }
        let read = nxt - self.read;
        if read > self.best {
            let window = 2 * read + 16 * self.mss;
            let more = (u128::from(window) * u128::from(read - self.best) / u128::from(self.best)) as u64;
            self.limit = self.limit.max((window + 2 * more).min(self.most));
            self.best = read;
        }
        (self.began, self.read) = (now, nxt);
    }

    /// A hole is filled: so many bytes are in order at once. With half of the window or more, reading would bring another
    /// ACK at once, so that nothing is held back. Whether something is.
    pub(super) fn on_filled(&mut self, bytes: u64) -> bool {
        self.unread = if 2 * bytes < self.offered { bytes } else { 0 };
        self.unread > 0
    }

    /// The window to offer beyond `nxt`.
    pub(crate) fn offer(&mut self, nxt: u64) -> u64 {
        let offered = self.offered.saturating_sub(std::mem::take(&mut self.unread));
        self.edge = self.edge.max(nxt + offered);
        self.edge - nxt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growing() -> Growing {
        let start = dumbbell_units::param::Raw::Text("65535 bytes".to_owned());
        let given = [("window_start".to_owned(), start)];
        let config = Config::read("linux", &given, dumbbell_cc::find("reno").unwrap()).unwrap();
        Growing::new(&config).unwrap()
    }

    #[test]
    fn two_segments_for_each_up_to_the_limit() {
        let mut g = growing();
        assert_eq!(g.offer(1), 65_535);
        assert!(g.on_data(1448, false));
        assert_eq!(g.offer(1449), 65_535 + 2 * 1448);
        // 65,535 * 162 / 128 = 82,942; the segment itself takes 1448 of it until it is read: 81,494 is left, which is 15,959
        // more than at the start: the sixth segment adds what is left.
        let grew = (0..10).filter(|_| g.on_data(1448, false)).count();
        assert_eq!((grew, g.offer(1449)), (5, 81_494));
        assert!(!g.on_data(100, true));
        // The first one out of order finds all of it free.
        assert!(g.on_data(1448, true));
        assert_eq!(g.offer(1449), 82_942);
    }

    #[test]
    fn the_right_edge_stays_where_it_was() {
        let mut g = growing();
        assert_eq!(g.offer(1), 65_535);
        g.offered = 10_000;
        assert_eq!(g.offer(1001), 64_535);
        // Of what fills a hole the application hasn't read anything yet; with the next ACK it has.
        g.offered = 65_535;
        g.on_filled(3000);
        assert_eq!((g.offer(4001), g.offer(4001)), (62_535, 65_535));
    }

    #[test]
    fn the_limit_follows_what_is_read_in_a_round_trip() {
        let mut g = growing();
        let at = |ms: u64| Time(ms * 1_000_000);
        g.on_echo(7, Dur::millis(100));
        g.on_read(1, None, at(100)); // begins to measure
        // 28,960 in a round trip, twice the initial window of 14,480: 2 * 28,960 + 16 * 1448 = 81,088, and the growth by
        // all of it twice over: 81,088 * 3 = 243,264.
        g.on_read(28_961, None, at(150));
        assert_eq!(g.limit, 82_942); // not over yet
        g.on_read(28_961, None, at(200));
        assert_eq!(g.limit, 243_264);
        // As much again: the limit stays.
        g.on_read(57_921, None, at(300));
        assert_eq!(g.limit, 243_264);
    }
}
