//! Segments that leave together, as a stack forms them that hands its interface several at a time (TSO, or GSO where the
//! interface can't): Linux does, whatever the interface.
//!
//! ```text
//! size     what the pacing rate holds in 2^-10 s, more where the smallest RTT is below 16 ms; 2 segments at least, 64 KiB
//!          at most, half the window at most, and no more than the window lets out
//! pieces   what the application writes lies in pieces as long as the longest burst, but of half the largest window offered
//!          at most; a burst takes the rest of one, and of the next only what it has room for beyond that
//! wait     a burst that would be shorter, and doesn't complete a piece, waits for more window, if something left within the
//!          last millisecond (or pacing held it back until then) and the next ACK is near: a millisecond at most (half of srtt where that is less) until the
//!          oldest segment was sent srtt ago; not in recovery, and not with a third of the window free
//! ```
//! A bulk sender has filled its send buffer, of 1 MiB, before the first ACK comes: with pieces of half the window that the
//! SYN-ACK could offer, which is not scaled. The first of them begins behind the initial window, as what has left while it
//! is being written makes room in it. It writes again when a third of the buffer is free, until that is full; the last
//! segment then carries PSH, which tells where it leaves alone. The buffer grows with the window, to what two of them take.
//! The pacing rate is what [`Sender::window_rate`] says, whether or not segments are paced.

use super::Sender;
use crate::recovery::Mode;
use dumbbell_units::{Dur, Rate, Time};

/// Largest burst, bytes: 64 KiB less the room for headers.
const MOST: u64 = 65_215;
/// Segments of the smallest.
const LEAST: u64 = 2;
/// A burst is as long as the rate divided by this.
const SHIFT: u32 = 10;

/// The send buffer at the start, bytes; what a segment of a window takes of it, and the descriptor of a piece.
const BUFFER: u64 = 1 << 20;
const SEGMENT: u64 = 2304;
const DESCRIPTOR: u64 = 1300;
/// What it takes in at once: the descriptors take room too.
const BUFFERED: u64 = 1_000_000;

/// The burst that leaves, in segments, and how many of it follow without asking; the piece that it is of.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst {
    segments: u64,
    left: u64,
    /// How many of a burst that goes again follow without asking.
    again: u64,
    /// The segment that leaves now is of the same burst as the last one.
    pub(super) follows: bool,
    /// Where the piece ends that snd_nxt lies in, and the one after it.
    end: u64,
    next: u64,
    /// The window that the SYN-ACK offered.
    first_offer: u64,
    /// Up to where the application has written: it has to wait for room in the buffer. Where it had to before.
    filled: [u64; 4],
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
        let piece = self.piece(unsent);
        let last = piece == unsent;
        let most = self.longest_burst();
        let half = ((self.window() as u64) / mss / 2).max(1) * mss;
        let quota = room.min(half).min(most) / mss * mss;
        let length = if last { piece } else { piece.max(quota.min(self.burst.next - self.nxt)) };
        let limit = room.min(self.edge - self.nxt);
        let completes = limit >= length && (!last || (self.closing && limit > length));
        if length > mss && limit < most && !completes && self.defers(limit, now) {
            self.wait_for_window();
            self.burst.waits = true;
            return true;
        }
        if length > piece {
            self.burst.end = self.nxt + length;
        }
        let segments = (quota.min(length) / mss).max(1);
        (self.burst.segments, self.burst.left) = (segments, segments - 1);
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

    /// How much of the piece that snd_nxt lies in hasn't been sent; `unsent` is what there is in all.
    fn piece(&mut self, unsent: u64) -> u64 {
        let mss = self.mss();
        if self.nxt == 1 {
            self.burst.first_offer = self.edge - 1;
            let initial = (self.control.cwnd as u64) / mss * mss;
            self.burst.end = self.nxt + initial + self.longest_piece(1);
            self.burst.next = self.burst.end + self.longest_piece(self.burst.end);
            self.burst.filled = [self.burst.end; 4];
            while self.burst.filled[0] < BUFFERED {
                self.burst.filled[0] += self.longest_piece(self.burst.filled[0]);
            }
        }
        while self.burst.end <= self.nxt {
            self.burst.end = self.burst.next.max(self.nxt + 1);
            self.burst.next = self.burst.end + self.longest_piece(self.burst.end);
        }
        if self.burst.end - self.nxt >= unsent {
            // The last piece grows with what is written, whatever of it has been sent.
            self.burst.end = self.nxt + self.longest_piece(self.nxt).max(unsent);
            self.burst.next = self.burst.end + self.longest_piece(self.burst.end);
        }
        (self.burst.end - self.nxt).min(unsent)
    }

    /// How long a piece is that begins at `start`.
    fn longest_piece(&self, start: u64) -> u64 {
        let offer = if start < BUFFERED { self.burst.first_offer } else { self.edge - self.una };
        MOST.min(offer / 2).max(self.mss()) / self.mss() * self.mss()
    }

    /// Whether the segment that leaves is the last of a burst of several, or the last one that the application could
    /// write: it carries PSH, so that the receiver doesn't wait for more.
    pub(super) fn ends_burst(&self) -> bool {
        let b = &self.burst;
        b.left == 0 && (b.segments > 1 || (self.config.tso && b.filled.contains(&self.nxt)))
    }

    /// An ACK may have made room in the send buffer, a third of it at least: the application fills it up.
    pub(super) fn refill(&mut self) {
        if !self.config.tso || self.burst.filled[0] <= self.una {
            return;
        }
        // Most ACKs are far from it: what lies in the buffer is more than two thirds even without what holds it.
        let cwnd = self.control.cwnd as u64;
        let held = 3 * (self.burst.filled[0] - self.una);
        if held > 2 * BUFFER && held * self.mss() > 4 * cwnd * SEGMENT {
            return;
        }
        let buffer = BUFFER.max(cwnd / self.mss() * 2 * SEGMENT);
        let piece = self.longest_piece(self.burst.filled[0]);
        let taken = |filled: u64| (filled - self.una) * (piece + DESCRIPTOR) / piece;
        let mut filled = self.burst.filled[0];
        if 3 * taken(filled) > 2 * buffer || filled >= self.written {
            return;
        }
        while taken(filled) < buffer && filled < self.written {
            filled += piece;
        }
        self.burst.filled.rotate_right(1);
        self.burst.filled[0] = filled;
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
