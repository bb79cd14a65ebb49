//! The send buffer as Linux fills it: in pieces, which say where bursts end and which segments carry PSH.
//!
//! ```text
//! pieces    as long as the longest burst, but half the largest window offered at most: at the start that of the SYN-ACK,
//!           which isn't scaled; a piece that is shorter takes in what is written next
//! memory    payload, and 832 bytes for each piece and each burst that is outstanding; what is SACKed is merged, up to 17
//!           segments
//! full      no new piece once that reaches the buffer's size, of 1 MiB at first: the application waits. It goes on when a
//!           third of the buffer is free. The size follows the window, twice what its segments take, whenever an ACK
//!           leaves room in the window while the application waits
//! PSH       the last segment before it waits; a piece that ends more than half of the largest window behind the last one
//!           marked, or behind the end of a write, of which each is 256 KiB; the last of all
//! ```

use super::Sender;
use std::collections::VecDeque;

/// Longest piece and burst, bytes: 64 KiB less the room for headers.
pub(super) const MOST: u64 = 65_215;
/// The buffer at the start, bytes; what a segment of a window takes of it, and a piece besides its payload.
const SIZE: u64 = 1 << 20;
const SEGMENT: u64 = 2304;
const OVERHEAD: u64 = 832;
/// Bytes that are SACKed and lie together in one.
const SHARED: u64 = 17 * 1448;
/// The smallest window that the size follows, segments.
const LEAST: u64 = 10;
/// What the application writes at a time, bytes.
const WRITE: u64 = 1 << 18;

/// What has been written and isn't sent, up to `end`.
#[derive(Clone, Copy, Debug)]
struct Piece {
    end: u64,
    push: bool,
}

/// See the top of this file.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    size: u64,
    /// The application waits.
    full: bool,
    pieces: VecDeque<Piece>,
    /// Ends of the bursts that are outstanding.
    bursts: VecDeque<u64>,
    /// Up to where what was written last is marked or is a whole write; where the write that runs ends.
    pushed: u64,
    write_end: u64,
    /// An ACK has freed something.
    freed: bool,
}

impl Default for Buffer {
    fn default() -> Buffer {
        Buffer {
            size: SIZE,
            full: false,
            pieces: VecDeque::new(),
            bursts: VecDeque::new(),
            pushed: 1,
            write_end: 1 + WRITE,
            freed: false,
        }
    }
}

impl Buffer {
    /// An ACK has moved snd_una.
    pub(super) fn note_freed(&mut self) {
        self.freed = true;
    }

    /// A burst leaves that ends there.
    pub(super) fn note_burst(&mut self, end: u64) {
        self.bursts.push_back(end);
    }

    /// The piece that snd_nxt lies in takes in what comes up to `end`.
    pub(super) fn grow_first(&mut self, end: u64) {
        let mut push = false;
        while let Some(next) = self.pieces.get_mut(1).filter(|p| p.end <= end) {
            push |= std::mem::take(&mut next.push);
            self.pieces.remove(1);
        }
        if let Some(first) = self.pieces.front_mut() {
            first.end = end;
            first.push |= push;
        }
    }

    /// Where the piece ends that snd_nxt lies in, and the one after it.
    pub(super) fn ends(&self) -> Option<(u64, u64)> {
        let first = self.pieces.front()?.end;
        Some((first, self.pieces.get(1).map_or(first, |p| p.end)))
    }

    /// Whether a segment that ends there carries PSH.
    pub(super) fn is_marked(&self, end: u64) -> bool {
        self.pieces.front().is_some_and(|p| p.push && p.end == end)
    }

    /// Memory in use, with so much payload; of `outstanding` so much is SACKed.
    fn memory(&self, payload: u64, (sacked, outstanding): (u64, u64)) -> u64 {
        let apart = self.bursts.len() as u64 * (outstanding - sacked) / outstanding.max(1);
        payload + (self.pieces.len() as u64 + apart + sacked.div_ceil(SHARED)) * OVERHEAD
    }

    /// Marks what was written last, and begins a write.
    fn begin_write(&mut self, at: u64) {
        if let Some(last) = self.pieces.back_mut() {
            last.push = true;
        }
        (self.pushed, self.write_end) = (at, at + WRITE);
    }
}

impl Sender {
    /// The largest window that was offered so far.
    fn largest_offer(&self) -> u64 {
        self.edge - self.una
    }

    /// How long a piece is that is written now.
    fn piece_length(&self) -> u64 {
        MOST.min(self.largest_offer() / 2).max(self.mss()) / self.mss() * self.mss()
    }

    /// Drops what has been sent, and lets the application write, unless it waits.
    pub(super) fn look_into_buffer(&mut self) {
        while self.buffer.pieces.front().is_some_and(|p| p.end <= self.nxt) {
            self.buffer.pieces.pop_front();
        }
        if self.nxt == 1 && self.buffer.pieces.is_empty() {
            self.write_initial_window();
        }
        if self.buffer.full && self.buffer.pieces.is_empty() {
            // All of it has left, and the window lets out more: the buffer follows, and doesn't hold sending up here.
            self.grow_buffer();
            self.buffer.full = false;
        }
        if !self.buffer.full {
            self.fill();
        }
    }

    /// The size follows the window.
    fn grow_buffer(&mut self) {
        let segments = (self.control.cwnd as u64 / self.mss()).max(LEAST);
        self.buffer.size = self.buffer.size.max(segments * 2 * SEGMENT);
    }

    /// When the first piece is complete, a burst of two leaves; with what takes its room the piece is longer than half of
    /// the window, so that it is marked and all of the initial window leaves; what takes the room of that stays marked.
    fn write_initial_window(&mut self) {
        let (mss, length) = (self.mss(), self.piece_length());
        let initial = (self.control.cwnd as u64) / mss * mss;
        let end = self.nxt + initial + length;
        if end <= self.written {
            self.buffer.pieces.push_back(Piece { end, push: true });
            self.buffer.pushed = self.nxt + length + initial.min(2 * mss);
        }
    }

    /// The application writes as long as there is room.
    fn fill(&mut self) {
        let (length, half) = (self.piece_length(), self.largest_offer() / 2);
        let (nxt, una, written) = (self.nxt, self.una, self.written);
        let sacked = self.sacked_of_outstanding();
        let b = &mut self.buffer;
        b.full = false;
        loop {
            let count = b.pieces.len();
            let filled = b.pieces.back().map_or(nxt, |p| p.end);
            if filled >= written {
                return;
            }
            let before = if count > 1 { b.pieces[count - 2].end } else { nxt };
            let start = if filled - before < length { before } else { filled };
            if start == filled {
                if count > 0 && b.memory(filled - una, sacked) >= b.size {
                    b.full = true;
                    b.begin_write(filled);
                    return;
                }
            } else {
                b.pieces.pop_back();
            }
            let end = (start + length).min(written);
            while b.write_end < end {
                b.pushed = b.write_end;
                b.write_end += WRITE;
            }
            b.pieces.push_back(Piece { end, push: end == start + length && end > b.pushed + half });
            if end == b.write_end {
                b.begin_write(end);
            } else if b.pieces.back().is_some_and(|p| p.push) {
                b.pushed = end;
            }
        }
    }

    fn sacked_of_outstanding(&self) -> (u64, u64) {
        let outstanding = self.nxt - self.una;
        (self.sent.sacked_bytes().min(outstanding), outstanding)
    }

    /// Everything that an ACK let out has left: the application goes on if there is room.
    pub(super) fn check_space(&mut self) {
        if !std::mem::take(&mut self.buffer.freed) {
            return;
        }
        while self.buffer.bursts.front().is_some_and(|end| *end <= self.una) {
            self.buffer.bursts.pop_front();
        }
        if !self.buffer.full {
            return;
        }
        if self.sent.pipe() < self.control.cwnd as u64 {
            self.grow_buffer();
        }
        let filled = self.buffer.pieces.back().map_or(self.nxt, |p| p.end);
        if 3 * self.buffer.memory(filled - self.una, self.sacked_of_outstanding()) <= 2 * self.buffer.size {
            self.buffer.full = false;
            self.look_into_buffer();
        }
    }
}
