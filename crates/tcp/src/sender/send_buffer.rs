//! The send buffer: data is in pieces, which determine where bursts end and which segments carry PSH [Linux tcp.c
//! tcp_sendmsg_locked, tcp_xmit_size_goal; tcp_input.c tcp_check_space, tcp_sndbuf_expand].
//!
//! ```text
//! piece     as long as the longest burst, at most half the largest window offered (tcp_bound_to_half_wnd): at first that
//!           of the SYN-ACK, which isn't scaled; a shorter piece is extended by the next write
//! memory    payload, and 832 bytes for each piece and each burst outstanding; SACKed data is merged, up to 17 segments
//!           (tcp_shift_skb_data)
//! full      no new piece after the memory reaches the buffer's size, at first `send_buffer_start`, at most `send_buffer`:
//!           the application waits. It continues when a third of the buffer is free (sk_stream_is_writeable). The size follows cwnd, twice
//!           the memory of its segments, with BBR three times, when an ACK leaves cwnd partly unused while the application waits
//!           (tcp_sndbuf_expand)
//! PSH       the last segment before the application waits; a piece that ends more than half of the largest window after
//!           the last one marked (forced_push), or after the end of a write, which is 256 KiB long; the last of all
//! ```

use super::Sender;
use std::collections::VecDeque;

/// Longest piece and burst, bytes: 64 KiB less the space for headers [Linux net/core/sock.c sk_dst_gso_max_size].
pub(super) const MAX_PIECE: u64 = 65_215;
/// Memory of a full segment, bytes (SKB_TRUESIZE).
const SEGMENT_MEMORY: u64 = 2304;
/// Memory of a piece in addition to its payload, bytes.
const OVERHEAD: u64 = 832;
/// SACKed bytes that share one piece's overhead (MAX_SKB_FRAGS pages).
const SHARED: u64 = 17 * 1448;
/// Segments of the smallest window that the size follows [Linux include/net/tcp.h TCP_INIT_CWND].
const MIN_WINDOW: u64 = 10;
/// Bytes that the application writes at a time.
const WRITE: u64 = 1 << 18;

/// Written data that is not sent yet, up to `end`.
#[derive(Clone, Copy, Debug)]
struct Piece {
    end: u64,
    psh: bool,
}

/// The buffer.
#[derive(Clone, Debug)]
pub(super) struct SendBuffer {
    size: u64,
    max_size: u64,
    /// True while the application waits.
    full: bool,
    pieces: VecDeque<Piece>,
    /// Ends of the bursts that are outstanding.
    bursts: VecDeque<u64>,
    /// End of the last marked piece or complete write [Linux include/linux/tcp.h pushed_seq].
    pushed_seq: u64,
    /// End of the current write.
    write_end: u64,
    /// True if an ACK has released data.
    freed: bool,
}

impl SendBuffer {
    /// Returns a buffer of memory `start` that grows up to `max_size`; at least that of the smallest window.
    pub(super) fn new((start, max_size): (u64, u64)) -> SendBuffer {
        SendBuffer {
            size: start.max(MIN_WINDOW * 2 * SEGMENT_MEMORY),
            max_size,
            full: false,
            pieces: VecDeque::new(),
            bursts: VecDeque::new(),
            pushed_seq: 1,
            write_end: 1 + WRITE,
            freed: false,
        }
    }

    /// Notes that an ACK has moved snd_una.
    pub(super) fn note_freed(&mut self) {
        self.freed = true;
    }

    /// Notes that a burst is sent that ends at `end`.
    pub(super) fn note_burst(&mut self, end: u64) {
        self.bursts.push_back(end);
    }

    /// Extends the first piece, which contains snd_nxt, to `end`.
    pub(super) fn extend_first(&mut self, end: u64) {
        let mut psh = false;
        while let Some(next) = self.pieces.get_mut(1).filter(|p| p.end <= end) {
            psh |= std::mem::take(&mut next.psh);
            self.pieces.remove(1);
        }
        if let Some(first) = self.pieces.front_mut() {
            first.end = end;
            first.psh |= psh;
        }
    }

    /// Returns the end of the piece that contains snd_nxt, and of the one after it.
    pub(super) fn piece_ends(&self) -> Option<(u64, u64)> {
        let first = self.pieces.front()?.end;
        Some((first, self.pieces.get(1).map_or(first, |p| p.end)))
    }

    /// True if a segment that ends at `end` ends a marked piece.
    pub(super) fn is_marked(&self, end: u64) -> bool {
        self.pieces.front().is_some_and(|p| p.psh && p.end == end)
    }

    /// True while the application waits for memory.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// Memory in use with `payload` bytes, of which `outstanding` are sent and `sacked` are SACKed.
    fn memory(&self, payload: u64, (sacked, outstanding): (u64, u64)) -> u64 {
        let apart = self.bursts.len() as u64 * (outstanding - sacked) / outstanding.max(1);
        payload + (self.pieces.len() as u64 + apart + sacked.div_ceil(SHARED)) * OVERHEAD
    }

    /// Marks the last piece, and starts a write at `at`.
    fn start_write(&mut self, at: u64) {
        if let Some(last) = self.pieces.back_mut() {
            last.psh = true;
        }
        (self.pushed_seq, self.write_end) = (at, at + WRITE);
    }
}

impl Sender {
    /// The largest window that was offered so far.
    fn max_window(&self) -> u64 {
        self.snd.wnd_end - self.snd.una
    }

    /// Length of a piece that is written now [Linux tcp.c tcp_xmit_size_goal].
    fn size_goal(&self) -> u64 {
        MAX_PIECE.min(self.max_window() / 2).max(self.mss()) / self.mss() * self.mss()
    }

    /// Removes pieces that were sent, and lets the application write, unless it waits.
    pub(super) fn refill_buffer(&mut self) {
        while self.buffer.pieces.front().is_some_and(|p| p.end <= self.snd.nxt) {
            self.buffer.pieces.pop_front();
        }
        if self.snd.nxt == 1 && self.buffer.pieces.is_empty() {
            self.write_initial_window();
        }
        if self.buffer.full && self.buffer.pieces.is_empty() {
            // All data was sent, and the window allows more: the buffer grows, so that it doesn't limit here.
            self.expand_buffer();
            let at_limit = self.buffer.size >= self.buffer.max_size;
            self.buffer.full = at_limit && !self.is_writeable(self.snd.nxt);
        }
        if !self.buffer.full {
            self.fill_buffer();
        }
    }

    /// Adapts the size to cwnd [Linux tcp_input.c tcp_sndbuf_expand].
    fn expand_buffer(&mut self) {
        let segments = (self.cc.control.cwnd as u64 / self.mss()).max(MIN_WINDOW);
        // [Linux tcp_input.c tcp_sndbuf_expand; tcp_bbr.c bbr_sndbuf_expand]
        let windows = if self.config.recovery.own_recovery { 3 } else { 2 };
        let wanted = (segments * windows * SEGMENT_MEMORY).min(self.buffer.max_size);
        self.buffer.size = self.buffer.size.max(wanted);
    }

    /// True if a third of the buffer is free with data written up to `filled` [Linux include/net/sock.h
    /// sk_stream_is_writeable].
    fn is_writeable(&self, filled: u64) -> bool {
        let payload = filled - self.snd.una;
        let is_small = |memory: u64| 3 * memory <= 2 * self.buffer.size;
        is_small(payload) && is_small(self.buffer.memory(payload, self.sacked_of_outstanding()))
    }

    /// Writes the first pieces. When the first piece is complete, a burst of two is sent. The data that takes its place makes
    /// the piece longer than half of the window, so that it is marked and the whole initial window is sent; the data that
    /// takes the place of that stays marked.
    fn write_initial_window(&mut self) {
        let (mss, length) = (self.mss(), self.size_goal());
        let initial = (self.cc.control.cwnd as u64) / mss * mss;
        let end = self.snd.nxt + initial + length;
        if end <= self.write_seq {
            self.buffer.pieces.push_back(Piece { end, psh: true });
            self.buffer.pushed_seq = self.snd.nxt + length + initial.min(2 * mss);
        }
    }

    /// Lets the application write until the buffer is full [Linux tcp.c tcp_sendmsg_locked].
    fn fill_buffer(&mut self) {
        let (length, half) = (self.size_goal(), self.max_window() / 2);
        let (nxt, una, write_seq) = (self.snd.nxt, self.snd.una, self.write_seq);
        let sacked = self.sacked_of_outstanding();
        let b = &mut self.buffer;
        b.full = false;
        loop {
            let count = b.pieces.len();
            let filled = b.pieces.back().map_or(nxt, |p| p.end);
            if filled >= write_seq {
                return;
            }
            let before = if count > 1 { b.pieces[count - 2].end } else { nxt };
            let start = if filled - before < length { before } else { filled };
            if start == filled {
                if count > 0 && b.memory(filled - una, sacked) >= b.size {
                    b.full = true;
                    b.start_write(filled);
                    return;
                }
            } else {
                b.pieces.pop_back();
            }
            let end = (start + length).min(write_seq);
            while b.write_end < end {
                b.pushed_seq = b.write_end;
                b.write_end += WRITE;
            }
            b.pieces.push_back(Piece { end, psh: end == start + length && end > b.pushed_seq + half });
            if end == b.write_end {
                b.start_write(end);
            } else if b.pieces.back().is_some_and(|p| p.psh) {
                b.pushed_seq = end;
            }
        }
    }

    /// Bytes SACKed and bytes outstanding.
    fn sacked_of_outstanding(&self) -> (u64, u64) {
        let outstanding = self.snd.outstanding();
        (self.scoreboard.sacked_bytes().min(outstanding), outstanding)
    }

    /// Lets the application continue if enough memory is free. Called after all segments that an ACK allows were sent
    /// [Linux tcp_input.c tcp_check_space, tcp_new_space].
    #[inline]
    pub(super) fn check_space(&mut self) {
        if std::mem::take(&mut self.buffer.freed) && self.config.pacing.tso {
            self.use_freed_space();
        }
    }

    #[inline(never)]
    fn use_freed_space(&mut self) {
        while self.buffer.bursts.front().is_some_and(|end| *end <= self.snd.una) {
            self.buffer.bursts.pop_front();
        }
        if !self.buffer.full {
            return;
        }
        if self.scoreboard.pipe() < self.cc.control.cwnd as u64 {
            self.expand_buffer();
        }
        let filled = self.buffer.pieces.back().map_or(self.snd.nxt, |p| p.end);
        if self.is_writeable(filled) {
            // The application writes again. If all that it wrote before is sent, it has limited sending [Linux tcp.c
            // tcp_sendmsg_locked, tcp_rate.c tcp_rate_check_app_limited].
            if filled < self.snd.nxt + self.mss() {
                self.check_app_limited_after_data();
            }
            self.buffer.full = false;
            self.refill_buffer();
        }
    }
}
