//! Bursts: segments that a stack passes to its interface together (TSO, or GSO where the interface can't split them).
//! Linux forms them on every interface [Linux tcp_output.c tcp_write_xmit, tcp_tso_autosize, tcp_tso_should_defer].
//!
//! ```text
//! size     the bytes that the pacing rate sends in 2^-10 s, more if the smallest RTT is below 16 ms; at least 2
//!          segments, at most 64 KiB, half the window (tcp_cwnd_test) and the part of the window that is free
//! pieces   a burst contains the rest of one piece of the send buffer, and of the next only as much as its size leaves
//! wait     a burst that would be shorter, and doesn't complete a piece, waits for more window, if a segment was sent
//!          within the last millisecond (or pacing held it until then) and the next ACK is near: at most a millisecond
//!          (or half of SRTT) until the oldest segment was sent SRTT ago; not in recovery, and not with a third of the
//!          window free
//! ```
//! The pacing rate is that of [`Sender::window_rate`], whether or not segments are paced.

use super::Sender;
use super::send_buffer::MAX_PIECE;
use dumbbell_cc::CaState;
use dumbbell_units::{Dur, Rate, Time};

/// Least segments of a burst [Linux tcp_ipv4.c tcp_sk_init: sysctl_tcp_min_tso_segs].
const MIN_TSO_SEGS: u64 = 2;
/// A burst is as long as the rate divided by 2^10 [Linux net/core/sock.c sock_init_data_uid: sk_pacing_shift].
const PACING_SHIFT: u32 = 10;
/// The burst of a path grows by 2^(-min_rtt / 512 us) of 64 KiB [Linux tcp_ipv4.c tcp_sk_init: sysctl_tcp_tso_rtt_log].
const TSO_RTT_LOG: u32 = 9;
/// A burst doesn't wait if this part of the window is free [Linux tcp_ipv4.c tcp_sk_init: sysctl_tcp_tso_win_divisor].
const TSO_WIN_DIVISOR: f64 = 3.0;

/// The current burst, in segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst {
    segments: u64,
    /// New segments that follow without a further decision.
    left: u64,
    /// Retransmissions that follow without a further decision.
    left_to_retransmit: u64,
    /// True if the current segment belongs to the same burst as the last one.
    pub(super) follows: bool,
    /// True if it was decided to wait, and nothing has happened since.
    waits: bool,
}

impl Burst {
    /// True if it was decided to wait, and nothing has happened since.
    pub(super) fn waits(&self) -> bool {
        self.waits
    }

    /// Notes that no burst can be sent.
    pub(super) fn forget(&mut self) {
        self.segments = 0;
    }
}

impl Sender {
    /// Bytes that are sent in one burst when paced.
    pub(super) fn quantum(&self, rate: Rate) -> u64 {
        match self.cc.control.quantum {
            Some(quantum) => quantum,
            None if self.config.pacing.tso => self.burst_bytes(rate),
            None => self.mss(),
        }
    }

    /// Returns the size of a burst in bytes [Linux tcp_output.c tcp_tso_autosize].
    fn burst_bytes(&self, rate: Rate) -> u64 {
        let mut bytes = (rate.0 / 8) >> PACING_SHIFT;
        let shift = self.min_rtt.get().map_or(u64::MAX, |rtt| (rtt.0 / 1000) >> TSO_RTT_LOG);
        if shift < 32 {
            bytes += MAX_PIECE >> shift;
        }
        (bytes.min(MAX_PIECE) / self.mss()).max(MIN_TSO_SEGS) * self.mss()
    }

    /// Returns true if a new segment waits until a longer burst can be sent; else determines how many segments follow
    /// it. `limit`: bytes that the window allows.
    #[inline]
    pub(super) fn waits_for_burst(&mut self, limit: u64, now: Time) -> bool {
        if !self.config.pacing.tso {
            return false;
        }
        if self.burst.left > 0 {
            self.burst.left -= 1;
            self.burst.follows = true;
            return false;
        }
        self.burst.waits || self.waits_for_new_burst(limit, now)
    }

    #[inline(never)]
    fn waits_for_new_burst(&mut self, limit: u64, now: Time) -> bool {
        self.burst.segments = 0;
        let mss = self.mss();
        let nxt = self.snd.nxt;
        let unsent = self.write_seq - nxt.min(self.write_seq);
        if limit < mss || unsent <= mss {
            return false;
        }
        self.continue_writing();
        let Some((end, next)) = self.buffer.piece_ends() else {
            // The application waits for memory of the send buffer: the next ACK may free some.
            self.burst.waits = true;
            self.note_cwnd_limited(false);
            return true;
        };
        let piece = (end - nxt).min(unsent);
        let last = piece == unsent;
        let longest = self.longest_burst();
        let half = ((self.window() as i64).cast_unsigned() / mss / 2).max(1) * mss; // [Linux tcp_output.c tcp_cwnd_test]
        let quota = limit.min(half).min(longest) / mss * mss;
        let length = if last { piece } else { piece.max(quota.min(next - nxt)) };
        let offered = self.snd.wnd_end - nxt;
        let allowed = limit.min(offered);
        let completes = allowed >= length && (!last || (self.closing && allowed > length));
        let one = self.pushes_one();
        if !one && length > mss && allowed < longest && !completes && self.should_defer(allowed, now) {
            // Sending isn't limited by cwnd if the receiver's window ends before [Linux tcp_output.c
            // tcp_tso_should_defer].
            if limit < offered && limit <= length {
                self.note_waiting_for_burst();
            }
            self.burst.waits = true;
            return true;
        }
        if length > piece {
            self.buffer.extend_first(nxt + length);
        }
        let segments = (quota.min(length) / mss).max(1);
        (self.burst.segments, self.burst.left) = (segments, segments - 1);
        self.buffer.note_burst(nxt + segments * mss);
        false
    }

    /// Determines how many lost segments are retransmitted with the one at `start`: those of the burst in which it was
    /// sent [Linux tcp_output.c tcp_xmit_retransmit_queue]. `limit`: bytes that the window allows.
    pub(super) fn retransmit_burst(&mut self, start: u64, limit: u64) {
        if !self.config.pacing.tso {
            return;
        }
        if self.burst.left_to_retransmit > 0 {
            self.burst.left_to_retransmit -= 1;
            self.burst.follows = true;
            return;
        }
        let segments = self.longest_burst().min(limit) / self.mss();
        self.burst.left_to_retransmit = self.scoreboard.take_burst(start, segments) - 1;
    }

    /// True inside of a burst, which is sent without interruption.
    pub(super) fn is_in_burst(&self) -> bool {
        self.segments_left_in_burst() > 0
    }

    /// Ends the burst: no further segment can be sent.
    pub(super) fn end_burst(&mut self) {
        (self.burst.left, self.burst.left_to_retransmit) = (0, 0);
    }

    pub(super) fn segments_left_in_burst(&self) -> u64 {
        self.burst.left + self.burst.left_to_retransmit
    }

    /// Bytes of the longest burst.
    fn longest_burst(&self) -> u64 {
        let rate = self.cc.control.pacing.or_else(|| self.window_rate());
        rate.map_or(MIN_TSO_SEGS * self.mss(), |rate| self.quantum(rate))
    }

    /// Allows a new decision whether to wait, after an ACK, a timer or a write. Calls of [`Sender::next`] without such
    /// a cause have no effect.
    pub(crate) fn reconsider_burst(&mut self) {
        self.burst.waits = false;
    }

    /// True if the current segment is the last of a burst of several. It carries PSH, so that the receiver doesn't wait
    /// for more.
    pub(super) fn ends_burst(&self) -> bool {
        self.burst.left == 0 && self.burst.segments > 1
    }

    /// True if the current segment ends a marked piece of the send buffer. It carries PSH, also when retransmitted.
    pub(super) fn ends_marked(&self) -> bool {
        self.config.pacing.tso && self.buffer.is_marked(self.snd.nxt)
    }

    /// True if a burst should wait for more window [Linux tcp_output.c tcp_tso_should_defer].
    fn should_defer(&self, allowed: u64, now: Time) -> bool {
        let recovering = matches!(self.recovery.state, CaState::Recovery | CaState::Loss);
        if recovering || now.since(self.pacer.next()) > Dur::millis(1) {
            return false;
        }
        let usable = self.window().min((self.snd.wnd_end - self.snd.una) as f64);
        if allowed as f64 >= usable / TSO_WIN_DIVISOR {
            return false;
        }
        let srtt = self.rtt.srtt().unwrap_or(Dur::ZERO);
        let near = now + (srtt / 2).min(Dur::millis(1));
        self.scoreboard.head().is_some_and(|s| s.xmit_ts + srtt <= near)
    }
}
