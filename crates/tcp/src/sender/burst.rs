//! Segments that leave together, as a stack forms them that hands its interface several at a time (TSO, or GSO where the
//! interface can't): Linux does, whatever the interface.
//!
//! ```text
//! size     what the pacing rate holds in 2^-10 s, more where the smallest RTT is below 16 ms; 2 segments at least, 64 KiB
//!          at most, half the window at most, and no more than the window lets out
//! pieces   a burst takes the rest of one of the send buffer's pieces, and of the next only what it has room for beyond that
//! wait     a burst that would be shorter, and doesn't complete a piece, waits for more window, if something left within the
//!          last millisecond (or pacing held it back until then) and the next ACK is near: a millisecond at most (half of
//!          srtt where that is less) until the oldest segment was sent srtt ago; not in recovery, and not with a third of
//!          the window free
//! ```
//! The pacing rate is what [`Sender::window_rate`] says, whether or not segments are paced.

use super::Sender;
use super::buffer::MOST;
use crate::recovery::Mode;
use dumbbell_units::{Dur, Rate, Time};

/// Segments of the smallest.
const LEAST: u64 = 2;
/// A burst is as long as the rate divided by this.
const SHIFT: u32 = 10;

/// The burst that leaves, in segments, and how many of it follow without asking.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst {
    segments: u64,
    left: u64,
    /// How many of a burst that goes again follow without asking.
    again: u64,
    /// The segment that leaves now is of the same burst as the last one.
    pub(super) follows: bool,
    /// It was decided to wait, and nothing has happened since.
    waits: bool,
}

impl Sender {
    /// What leaves in one burst when paced.
    pub(super) fn quantum(&self, rate: Rate) -> u64 {
        match self.control.quantum {
            Some(quantum) => quantum,
            None if self.config.tso => self.burst_bytes(rate),
            None => self.mss(),
        }
    }

    fn burst_bytes(&self, rate: Rate) -> u64 {
        let mut bytes = (rate.0 / 8) >> SHIFT;
        let shift = self.min_rtt().map_or(u64::MAX, |rtt| (rtt.0 / 1000) >> 9);
        if shift < 32 {
            bytes += MOST >> shift;
        }
        (bytes.min(MOST) / self.mss()).max(LEAST) * self.mss()
    }

    /// Whether a new segment waits until a longer burst may leave; `room` is what the window lets out. Where it doesn't
    /// wait, notes how many follow.
    pub(crate) fn waits_for_burst(&mut self, room: u64, now: Time) -> bool {
        if !self.config.tso {
            return false;
        }
        if self.burst.left > 0 {
            self.burst.left -= 1;
            self.burst.follows = true;
            return false;
        }
        if self.burst.waits {
            return true;
        }
        self.burst.segments = 0;
        let mss = self.mss();
        let unsent = self.written - self.nxt.min(self.written);
        if room < mss || unsent <= mss {
            return false;
        }
        self.look_into_buffer();
        let Some((end, next)) = self.buffer.ends() else { return false };
        let piece = (end - self.nxt).min(unsent);
        let last = piece == unsent;
        let most = self.longest_burst();
        let half = ((self.window() as u64) / mss / 2).max(1) * mss;
        let quota = room.min(half).min(most) / mss * mss;
        let length = if last { piece } else { piece.max(quota.min(next - self.nxt)) };
        let limit = room.min(self.edge - self.nxt);
        let completes = limit >= length && (!last || (self.closing && limit > length));
        if length > mss && limit < most && !completes && self.defers(limit, now) {
            self.wait_for_window();
            self.burst.waits = true;
            return true;
        }
        if length > piece {
            self.buffer.grow_first(self.nxt + length);
        }
        let segments = (quota.min(length) / mss).max(1);
        (self.burst.segments, self.burst.left) = (segments, segments - 1);
        self.buffer.note_burst(self.nxt + segments * mss);
        false
    }

    /// The lost segment at `start` goes again, with others of the burst in which it was sent; `room` is what the window lets out.
    pub(crate) fn resend_burst(&mut self, start: u64, room: u64) {
        if !self.config.tso {
            return;
        }
        if self.burst.again > 0 {
            self.burst.again -= 1;
            self.burst.follows = true;
            return;
        }
        let most = self.longest_burst().min(room) / self.mss();
        self.burst.again = self.sent.take_burst(start, most) - 1;
    }

    /// A burst that has begun leaves whole.
    pub(super) fn is_in_burst(&self) -> bool {
        self.burst_left() > 0
    }

    /// Nothing more may leave: what was to follow is decided anew.
    pub(super) fn end_burst(&mut self) {
        (self.burst.left, self.burst.again) = (0, 0);
    }

    /// How many segments of it are left.
    pub(super) fn burst_left(&self) -> u64 {
        self.burst.left + self.burst.again
    }

    /// What leaves at once at most, bytes.
    fn longest_burst(&self) -> u64 {
        let rate = self.control.pacing.or_else(|| self.window_rate());
        rate.map_or(LEAST * self.mss(), |rate| self.quantum(rate))
    }

    /// An ACK, a timer or something written: whether to wait is decided anew. Being asked without a cause must not matter.
    pub(crate) fn reconsider_burst(&mut self) {
        self.burst.waits = false;
    }

    /// Whether the segment that leaves is the last of a burst of several: it carries PSH, so that the receiver doesn't wait
    /// for more.
    pub(super) fn ends_burst(&self) -> bool {
        self.burst.left == 0 && self.burst.segments > 1
    }

    /// Whether it is the last one that the application could write, or the last of a piece that is marked: it carries PSH
    /// too, also when it is sent again.
    pub(super) fn ends_marked(&self) -> bool {
        self.config.tso && self.buffer.is_marked(self.nxt)
    }

    fn defers(&self, limit: u64, now: Time) -> bool {
        let recovering = matches!(self.recovery.mode, Mode::Recovery | Mode::Loss);
        if recovering || now.since(self.pacer.next()) > Dur::millis(1) {
            return false;
        }
        if limit as f64 >= self.window() / 3.0 {
            return false;
        }
        let srtt = self.rtt.srtt().unwrap_or(Dur::ZERO);
        let near = now + (srtt / 2).min(Dur::millis(1));
        self.sent.front().is_some_and(|s| s.last_at + srtt <= near)
    }
}
