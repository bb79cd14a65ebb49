//! The send buffer: data is in pieces, which determine where bursts end and which segments carry PSH [Linux tcp.c
//! tcp_sendmsg_locked, tcp_xmit_size_goal; tcp_input.c tcp_check_space, tcp_sndbuf_expand].
//!
//! ```text
//! piece     as long as the longest burst, at most half the largest window offered (tcp_bound_to_half_wnd): at first
//!           that of the SYN-ACK, which isn't scaled; a shorter piece is extended by the next write
//! memory    payload, and 832 bytes for each piece and each burst outstanding; SACKed data is merged, up to 17 segments
//!           (tcp_shift_skb_data)
//! full      no new piece after the memory reaches the buffer's size, at first `send_buffer_start`, at most
//!           `send_buffer`: the application waits. It continues when a third of the buffer is free
//!           (sk_stream_is_writeable), after everything is sent that the window allows
//! size      follows cwnd while the application waits, twice the memory of its segments, with BBR three times, when a
//!           burst (tcp_event_new_data_sent) or an ACK (tcp_check_space) leaves cwnd partly unused
//!           (tcp_should_expand_sndbuf)
//! writing   a complete piece is sent at once if nothing waits before it, as one burst (tcp_push_one); what remains of
//!           it is extended again. A marked piece, and the end of writing, let everything go that the window allows
//! PSH       the last segment before the application waits; a piece that ends more than half of the largest window
//!           after the last one marked (forced_push), or after the end of a write, which is 256 KiB long; the last of
//!           all
//! ```

use super::Sender;
use dumbbell_units::Time;
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

/// The last piece that the application has written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Written {
    /// No memory is free, or no data is left.
    Nothing,
    /// The application has no more data.
    Last,
    /// Complete, and marked.
    Marked,
    /// Complete, and the first that isn't sent.
    First,
    /// Complete, behind others.
    Behind,
}

/// What comes next while the application writes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Turn {
    /// The application writes.
    App,
    /// One burst is sent without waiting for a longer one [Linux tcp_output.c tcp_push_one].
    One,
    /// Bursts are sent as usual [Linux tcp_output.c __tcp_push_pending_frames].
    Stack,
}

/// The buffer.
#[derive(Clone, Debug)]
pub(super) struct SendBuffer {
    size: u64,
    max_size: u64,
    /// True while the application waits.
    full: bool,
    /// True if the application may continue, and hasn't yet.
    woken: bool,
    turn: Turn,
    pieces: VecDeque<Piece>,
    /// Ends of the bursts that are outstanding.
    bursts: VecDeque<u64>,
    /// End of the last marked piece or complete write [Linux include/linux/tcp.h pushed_seq].
    pushed_seq: u64,
    /// End of the current write.
    write_end: u64,
    /// True if an ACK has arrived since the last [`Sender::check_space`].
    acked: bool,
}

impl SendBuffer {
    /// Returns a buffer of memory `start` that grows up to `max_size`; at least that of the smallest window.
    pub(super) fn new((start, max_size): (u64, u64)) -> SendBuffer {
        SendBuffer {
            size: start.max(MIN_WINDOW * 2 * SEGMENT_MEMORY),
            max_size,
            full: false,
            woken: false,
            turn: Turn::App,
            pieces: VecDeque::new(),
            bursts: VecDeque::new(),
            pushed_seq: 1,
            write_end: 1 + WRITE,
            acked: false,
        }
    }

    /// Notes that an ACK has arrived.
    pub(super) fn note_ack(&mut self) {
        self.acked = true;
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

    /// Removes pieces that were sent; lets the application continue if a burst was sent only because it completed a
    /// piece.
    pub(super) fn continue_writing(&mut self) {
        if self.buffer.turn == Turn::App {
            self.let_application_write(true);
        }
        self.drop_sent_pieces();
    }

    fn drop_sent_pieces(&mut self) {
        while self.buffer.pieces.front().is_some_and(|p| p.end <= self.snd.nxt) {
            self.buffer.pieces.pop_front();
        }
    }

    /// True if the next burst doesn't wait for a longer one [Linux tcp_output.c tcp_push_one].
    pub(super) fn pushes_one(&mut self) -> bool {
        let one = self.buffer.turn == Turn::One;
        if one {
            self.buffer.turn = Turn::App;
        }
        one
    }

    /// cwnd in whole bytes.
    #[inline]
    fn whole_cwnd(&self) -> u64 {
        (self.cc.control.cwnd as i64).cast_unsigned() // cheaper than to u64, and never negative
    }

    /// Adapts the size to cwnd [Linux tcp_input.c tcp_sndbuf_expand].
    fn expand_buffer(&mut self) {
        let segments = (self.whole_cwnd() / self.mss()).max(MIN_WINDOW);
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

    /// Lets the application write, unless it waits. Returns true if it has completed something to send. `may_send`:
    /// false if nothing can be sent now, so that it writes to the end.
    #[inline]
    pub(super) fn let_application_write(&mut self, may_send: bool) -> bool {
        self.config.pacing.tso && !self.buffer.full && self.write_pieces(may_send)
    }

    #[inline(never)]
    fn write_pieces(&mut self, may_send: bool) -> bool {
        if std::mem::take(&mut self.buffer.woken) && self.unsent_in_buffer() < self.mss() {
            // All that it wrote before is sent: it has limited sending [Linux tcp.c tcp_sendmsg_locked, tcp_rate.c
            // tcp_rate_check_app_limited].
            self.check_app_limited_after_data();
        }
        let mut wrote = false;
        self.buffer.turn = loop {
            match self.write_piece() {
                Written::Nothing => break Turn::Stack,
                Written::Marked | Written::Last if may_send => {
                    wrote = true;
                    break Turn::Stack;
                }
                Written::First if may_send => {
                    wrote = true;
                    break Turn::One;
                }
                _ => wrote = true,
            }
        };
        wrote && may_send
    }

    fn unsent_in_buffer(&self) -> u64 {
        self.buffer.pieces.back().map_or(0, |p| p.end.saturating_sub(self.snd.nxt))
    }

    /// Extends the last piece, or writes a new one [Linux tcp.c tcp_sendmsg_locked].
    fn write_piece(&mut self) -> Written {
        self.drop_sent_pieces();
        let (length, half) = (self.size_goal(), self.max_window() / 2);
        let (nxt, una, write_seq, mss) = (self.snd.nxt, self.snd.una, self.write_seq, self.mss());
        let sacked = self.sacked_of_outstanding();
        let b = &mut self.buffer;
        let count = b.pieces.len();
        let filled = b.pieces.back().map_or(nxt, |p| p.end);
        if filled >= write_seq {
            return Written::Nothing;
        }
        let before = if count > 1 { b.pieces[count - 2].end } else { nxt };
        let extends = count > 0 && filled - before < length;
        if !extends && b.memory(filled - una, sacked) >= b.size {
            b.full = true;
            b.start_write(filled);
            return Written::Nothing;
        }
        let (start, was_marked) =
            if extends { (before, b.pieces.pop_back().is_some_and(|p| p.psh)) } else { (filled, false) };
        let end = (start + length).min(write_seq);
        let at_write_end = nxt + b.write_end.saturating_sub(nxt) / mss * mss;
        if b.pieces.is_empty() && at_write_end > filled && at_write_end < end {
            // Nothing waits before: the end of the write is sent before the next write. Only full segments are modeled.
            b.pieces.push_back(Piece { end: at_write_end, psh: true });
            (b.pushed_seq, b.write_end) = (b.write_end, b.write_end + WRITE);
            return Written::Last;
        }
        while b.write_end < end {
            b.pushed_seq = b.write_end;
            b.write_end += WRITE;
        }
        let complete = end == start + length;
        let forced = complete && end > b.pushed_seq + half;
        b.pieces.push_back(Piece { end, psh: forced || was_marked });
        if end == b.write_end {
            b.start_write(end);
        } else if forced {
            b.pushed_seq = end;
        }
        match b.pieces.len() {
            _ if !complete => Written::Last,
            _ if forced => Written::Marked,
            1 => Written::First,
            _ => Written::Behind,
        }
    }

    /// Bytes SACKed and bytes outstanding.
    fn sacked_of_outstanding(&self) -> (u64, u64) {
        let outstanding = self.snd.outstanding();
        (self.scoreboard.sacked_bytes().min(outstanding), outstanding)
    }

    /// After an ACK, when all segments that it allows were sent [Linux tcp_input.c tcp_data_snd_check].
    #[inline]
    pub(super) fn check_space(&mut self, now: Time) {
        if std::mem::take(&mut self.buffer.acked) && self.config.pacing.tso {
            self.use_freed_space(now);
        }
    }

    /// After an ACK or a burst: if the application waits, the size follows cwnd, and it may continue [Linux tcp_input.c
    /// tcp_check_space, tcp_new_space].
    #[inline(never)]
    pub(super) fn use_freed_space(&mut self, now: Time) {
        while self.buffer.bursts.front().is_some_and(|end| *end <= self.snd.una) {
            self.buffer.bursts.pop_front();
        }
        if !self.buffer.full {
            return;
        }
        if self.scoreboard.pipe() < self.whole_cwnd() {
            self.expand_buffer();
            self.usage.snd_cwnd_stamp = now;
        }
        let filled = self.buffer.pieces.back().map_or(self.snd.nxt, |p| p.end).max(self.snd.nxt);
        if self.is_writeable(filled) {
            (self.buffer.full, self.buffer.woken) = (false, true);
        }
    }
}
