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
//! out of order takes room; the right edge never moves back [RFC 9293 §3.8.6]. What is offered is in whole units of the
//! window's scale, rounded up.

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
    /// The right edge that has been offered, and the window up to it as it was told.
    edge: u64,
    told: u64,
    /// What the window's field counts in, bytes.
    unit: u64,
    /// What waits out of order, bytes.
    pub(super) waiting: u64,
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
            told: 0,
            unit: 1 << config.window_scale(),
            waiting: 0,
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

    /// A segment of `len` bytes has arrived; whether the window grows. `taken`: what holds memory, which is what waits out of
    /// order; this one too where it is in order and the application is about to read it.
    pub(super) fn on_data(&mut self, len: u64, taken: u64) -> bool {
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
    /// ACK at once, so that nothing is held back. Whether the window shrinks with it.
    pub(super) fn on_filled(&mut self, bytes: u64) -> bool {
        self.unread = if 2 * bytes < self.offered { bytes } else { 0 };
        self.unread > 0 && self.room() < self.told
    }

    /// What there is room for.
    fn room(&self) -> u64 {
        let free = self.limit.saturating_sub(self.waiting + self.unread);
        self.offered.min(free).next_multiple_of(self.unit)
    }

    /// The window to offer beyond `nxt`.
    pub(crate) fn offer(&mut self, nxt: u64) -> u64 {
        let still = self.edge.saturating_sub(nxt).next_multiple_of(self.unit);
        self.told = self.room().max(still);
        self.unread = 0;
        self.edge = nxt + self.told;
        self.told
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
        // In units of 8 KiB: 65,535 is 65,536, and 2,896 more, 68,431, are nine of them.
        assert_eq!(g.offer(1), 65_536);
        assert!(g.on_data(1448, 1448));
        assert_eq!(g.offer(1449), 73_728);
        // 65,535 * 162 / 128 = 82,942; the segment itself takes 1448 of it until it is read: 81,494 is left, which is 15,959
        // more than at the start: the sixth segment adds what is left.
        let grew = (0..10).filter(|_| g.on_data(1448, 1448)).count();
        assert_eq!((grew, g.offered, g.offer(1449)), (5, 81_494, 81_920));
        assert!(!g.on_data(100, 0));
        // The first one out of order finds all of it free, further ones what waits.
        assert!(!g.on_data(1448, 2 * 1448) && g.on_data(1448, 0));
        assert_eq!((g.offered, g.offer(1449)), (82_942, 90_112));
    }

    #[test]
    fn the_right_edge_stays_where_it_was() {
        let mut g = growing();
        assert_eq!(g.offer(1), 65_536);
        g.offered = 10_000;
        // 64,536 up to the right edge, in whole units.
        assert_eq!(g.offer(1001), 65_536);
        assert_eq!(g.offer(20_001), 49_152); // 46,536
    }

    #[test]
    fn the_window_shrinks_by_what_is_unread_where_that_crosses_a_unit() {
        let mut g = growing();
        (g.offered, g.limit) = (82_000, 82_000);
        assert_eq!(g.offer(1), 90_112); // eleven units
        // 1448 wait out of order, and 5 segments fill a hole: 82,000 - 6 * 1448 = 73,312, nine units, which is less than eleven.
        g.waiting = 1448;
        assert!(g.on_filled(5 * 1448));
        // 90,112 - 7,240 up to the right edge: eleven units once more. When the application has read, 80,552: ten.
        assert_eq!((g.offer(7241), g.room()), (90_112, 81_920));
        // A window of ten units doesn't shrink by two segments: 82,000 - 1448 - 2896 = 77,656.
        g.told = 81_920;
        assert!(!g.on_filled(2 * 1448));
        // Half of it and more is read at once.
        assert!(!g.on_filled(50_000));
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
