//! A receive window that grows (dynamic right-sizing), as in Linux.
//!
//! ```text
//! offered    starts a segment below window_start; each segment that brings something adds two, up to the limit, and makes the
//!            next ACK a quick one
//! limit      a quarter above window_start, as segments turn out to take less memory than assumed; at the end of each
//!            round trip in which more was read than in the best so far
//!                2 * read + 16 segments, and twice in proportion to how much more it was
//!            but never above `window`; less by what the memory in use could hold
//! field      in steps of the window scale, rounded up
//! ```
//! The round trip is that of the timestamps, which shrinks at once and grows by an eighth. The application reads at once, so
//! that only what is out of order takes room, and, in the ACK that tells of it, what filled a hole; the right edge never moves
//! back [RFC 9293 §3.8.6].

use crate::config::Config;
use dumbbell_units::{Dur, Time};

/// Memory of a buffer besides its payload; full segments in a row share one, and of what fills a hole so many at most.
const OVERHEAD: u64 = 832;
const SHARED: u64 = 17 * 1448;
/// Of 256 bytes of memory, those that Linux assumes to hold payload, and those that do: 1448 in the 2280 of a full segment.
const ASSUMED: u64 = 128;
const FOUND: u64 = 162;

/// Memory that so many bytes in so many buffers take.
pub(super) const fn memory(bytes: u64, buffers: u64) -> u64 {
    bytes + buffers * OVERHEAD
}

/// See the top of this file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growing {
    mss: u64,
    offered: u64,
    limit: u64,
    most: u64,
    /// The right edge that has been offered.
    edge: u64,
    /// The window that was offered last.
    last: u64,
    /// The field counts in steps of so many bytes.
    step: u64,
    /// Memory of what waits out of order, and of what filled a hole and isn't read before it is told.
    waiting: u64,
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
            offered: start.saturating_sub(u64::from(config.mss)).max(2 * u64::from(config.mss)).min(start),
            limit: (start * FOUND / ASSUMED).min(config.window),
            most: config.window,
            edge: 0,
            last: 0,
            step: 1 << config.window_scale(),
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
            // A shorter one counts at once.
            self.rtt = Some(self.rtt.map_or(sample, |rtt| sample.min(rtt + (sample - rtt) / 8.0)));
        }
    }

    /// A segment of `len` bytes has brought something, while `held` bytes of memory are in use; whether the window grows.
    pub(super) fn on_data(&mut self, len: u64, held: u64) -> bool {
        let limit = self.room(held);
        if self.offered >= limit || len < 128 {
            return false;
        }
        self.offered = (self.offered + 2 * self.mss.max(len)).min(limit);
        true
    }

    /// What the limit leaves beside memory in use.
    fn room(&self, held: u64) -> u64 {
        self.limit.saturating_sub((held * FOUND).div_ceil(256))
    }

    /// Memory of what waits out of order.
    pub(super) fn on_waiting(&mut self, memory: u64) {
        self.waiting = memory;
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

    /// What has just come isn't read before an ACK that leaves at once.
    pub(super) fn on_unread(&mut self, memory: u64) {
        self.unread = memory;
    }

    /// A hole is filled: so many bytes are in order at once. With half of the window or more, reading would bring another ACK
    /// at once, so that nothing is held back.
    pub(super) fn on_filled(&mut self, bytes: u64) {
        self.unread = if 2 * bytes < self.offered { memory(bytes, 1 + bytes / SHARED) } else { 0 };
    }

    /// The window beside so much memory in use, in steps.
    fn beside(&self, held: u64) -> u64 {
        self.offered.min(self.room(held)).next_multiple_of(self.step)
    }

    /// Whether less than the last time would be offered now.
    pub(super) fn is_narrower(&self, held: u64) -> bool {
        self.beside(held) < self.last
    }

    /// The window to offer beyond `nxt`.
    pub(crate) fn offer(&mut self, nxt: u64) -> u64 {
        let held = self.waiting + std::mem::take(&mut self.unread);
        let left = self.edge.saturating_sub(nxt).next_multiple_of(self.step);
        self.last = self.beside(held).max(left);
        self.edge = nxt + self.last;
        self.last
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
        // The field's steps are 8,192 bytes, as 256 MiB have to fit: 65,535 less a segment are eight.
        let mut g = growing();
        assert_eq!((g.offered, g.offer(1)), (64_087, 65_536));
        let alone = memory(1448, 1);
        assert!(g.on_data(1448, alone));
        assert_eq!((g.offered, g.offer(1449)), (64_087 + 2 * 1448, 9 * 8192));
        // 65,535 * 162 / 128 = 82,942; the segment itself takes 2280 bytes until it is read, which would hold 1443: 81,499 is
        // left, which is 14,516 more: five times 2896, and what is left.
        let grew = (0..10).filter(|_| g.on_data(1448, alone)).count();
        assert_eq!((grew, g.offered, g.offer(1449)), (6, 81_499, 81_920));
        assert!(!g.on_data(100, 0));
        // The first one out of order finds all of it free.
        assert!(g.on_data(1448, 0));
        assert_eq!((g.offered, g.offer(1449)), (82_942, 90_112));
    }

    #[test]
    fn what_waits_takes_room() {
        // 41,470 bytes in two buffers: 41,470 + 2 * 832 = 43,134 bytes of memory, which would hold 27,296: of 82,942 are 55,646
        // left, 7 steps.
        let mut g = growing();
        g.offered = 82_942;
        assert_eq!(g.offer(1), 90_112);
        assert!(!g.is_narrower(0));
        g.on_waiting(memory(41_470, 2));
        assert!(g.is_narrower(memory(41_470, 2)));
        // The right edge stays, here by a step more than what would be offered.
        assert_eq!(g.offer(1), 90_112);
        assert_eq!(g.offer(30_001), 65_536);
    }

    #[test]
    fn the_right_edge_stays_where_it_was() {
        let mut g = growing();
        assert_eq!(g.offer(1), 65_536);
        g.offered = 10_000;
        assert_eq!(g.offer(8193), 57_344);
        // Of what fills a hole the application hasn't read anything yet, and the limit leaves less; with the next ACK it has.
        let mut g = growing();
        (g.offered, g.limit) = (65_536, 65_536);
        g.on_filled(3000);
        assert_eq!((g.offer(4001), g.offer(4001)), (65_536, 65_536));
        g.on_filled(20_000);
        assert_eq!((g.offer(104_001), g.offer(104_001)), (57_344, 65_536));
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
