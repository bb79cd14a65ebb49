//! The sending part of a stream, and of the handshake's messages in a packet number space [RFC 9000 §3.1, §7].

use crate::ranges::RangeSet;

/// A piece of data that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) offset: u64,
    pub(crate) len: u32,
    pub(crate) fin: bool,
    /// True if it was sent before.
    pub(crate) again: bool,
}

/// The end of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fin {
    /// The application may write more.
    #[default]
    Open,
    /// It has to be sent.
    Due {
        again: bool,
    },
    Sent,
    Acknowledged,
}

/// See the top of this file.
#[derive(Debug, Default)]
pub(crate) struct SendStream {
    /// Bytes written by the application.
    written: u64,
    /// The first byte that was never sent.
    next: u64,
    acknowledged: RangeSet,
    /// Bytes to retransmit.
    lost: RangeSet,
    fin: Fin,
    /// Offset below which the peer allows data.
    pub(crate) max: u64,
}

impl SendStream {
    pub(crate) fn new(max: u64) -> SendStream {
        SendStream { max, ..SendStream::default() }
    }

    pub(crate) fn write(&mut self, bytes: u64) {
        self.written = self.written.saturating_add(bytes).min(1 << 60);
    }

    /// Ends the stream after the data that was written.
    pub(crate) fn finish(&mut self) {
        if self.fin == Fin::Open {
            self.fin = Fin::Due { again: false };
        }
    }

    /// Discards data that was never sent, then ends the stream.
    pub(crate) fn finish_now(&mut self) {
        if self.fin == Fin::Open {
            self.written = self.next;
            self.finish();
        }
    }

    /// The first byte that was never sent.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// The first byte that is not acknowledged.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.acknowledged.prefix()
    }

    /// True if everything written is acknowledged, and the end if there is one.
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.acknowledged.prefix() == self.written && matches!(self.fin, Fin::Open | Fin::Acknowledged)
    }

    /// True if all data and the end are acknowledged: nothing follows.
    pub(crate) fn is_settled(&self) -> bool {
        self.fin == Fin::Acknowledged && self.acknowledged.prefix() == self.written
    }

    /// True if data has to be retransmitted.
    pub(crate) fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Bytes that may be sent now; `credit`: new bytes that the connection's flow control allows.
    pub(crate) fn sendable(&self, credit: u64) -> u64 {
        self.lost.len() + self.new_bytes(credit)
    }

    fn new_bytes(&self, credit: u64) -> u64 {
        self.written.min(self.max).saturating_sub(self.next).min(credit)
    }

    /// True if data or the end can be sent now.
    pub(crate) fn has_something(&self, credit: u64) -> bool {
        !self.lost.is_empty() || self.new_bytes(credit) > 0 || self.fin_is_next()
    }

    /// True if only the end is left to send.
    fn fin_is_next(&self) -> bool {
        matches!(self.fin, Fin::Due { .. }) && self.next == self.written
    }

    /// Offset of the next piece.
    pub(crate) fn next_offset(&self) -> u64 {
        self.lost.ranges().first().map_or(self.next, |r| r.0)
    }

    /// Takes the next piece, lost data first, of at most `limit` bytes. Returns None if nothing can be sent.
    pub(crate) fn take(&mut self, limit: u32, credit: u64) -> Option<Piece> {
        let (offset, len, mut again) = if let Some((start, end)) = self.lost.take_first(limit.into()) {
            (start, end - start, true)
        } else {
            let len = self.new_bytes(credit).min(limit.into());
            if len == 0 && !self.fin_is_next() {
                return None;
            }
            self.next += len;
            (self.next - len, len, false)
        };
        let fin = offset + len == self.written && self.fin_is_next();
        if fin {
            again |= self.fin == Fin::Due { again: true };
            self.fin = Fin::Sent;
        }
        Some(Piece { offset, len: len as u32, fin, again })
    }

    pub(crate) fn on_acked(&mut self, offset: u64, len: u32, fin: bool) {
        self.acknowledged.insert(offset, offset + u64::from(len));
        self.lost.remove(offset, offset + u64::from(len));
        if fin {
            self.fin = Fin::Acknowledged;
        }
    }

    /// The piece has to be retransmitted, except for what was acknowledged.
    pub(crate) fn on_lost(&mut self, offset: u64, len: u32, fin: bool) {
        let end = offset + u64::from(len);
        if offset >= self.acknowledged.prefix() || end > self.acknowledged.prefix() {
            self.lost.insert(offset, end);
            for &(start, acked_end) in self.acknowledged.ranges() {
                self.lost.remove(start, acked_end);
            }
        }
        if fin && self.fin == Fin::Sent {
            self.fin = Fin::Due { again: true };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_data_goes_first_and_acknowledged_data_never_again() {
        let mut s = SendStream::new(u64::MAX);
        s.write(2500);
        s.finish();
        let take = |s: &mut SendStream| s.take(1000, u64::MAX).map(|p| (p.offset, p.len, p.fin, p.again));
        let sent: Vec<_> = std::iter::from_fn(|| take(&mut s)).collect();
        assert_eq!(sent, [(0, 1000, false, false), (1000, 1000, false, false), (2000, 500, true, false)]);
        s.on_acked(1000, 1000, false);
        s.on_lost(0, 1000, false);
        s.on_lost(2000, 500, true);
        // The second half of the first piece arrives late.
        s.on_acked(500, 500, false);
        let again: Vec<_> = std::iter::from_fn(|| take(&mut s)).collect();
        assert_eq!(again, [(0, 500, false, true), (2000, 500, true, true)]);
        s.on_acked(0, 500, false);
        assert!(!s.is_acknowledged());
        s.on_acked(2000, 500, true);
        assert!(s.is_acknowledged());
    }

    #[test]
    fn the_peers_limits_hold() {
        let mut s = SendStream::new(1500);
        s.write(5000);
        assert_eq!(s.take(1000, 700).map(|p| p.len), Some(700));
        assert_eq!(s.take(1000, u64::MAX).map(|p| p.len), Some(800));
        assert_eq!(s.take(1000, u64::MAX), None);
        s.max = 3000;
        assert_eq!(s.take(1000, u64::MAX).map(|p| (p.offset, p.len)), Some((1500, 1000)));
    }
}
