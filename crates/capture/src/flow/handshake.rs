//! Start and end of a connection: handshake and its round-trip times, the capture point, FIN and RST [RFC 9293 §3.5,
//! §3.6].
//!
//! The times from SYN to SYN+ACK and from SYN+ACK to ACK are the round-trip times from the capture point to both ends.

use super::connection::{Connection, Ending};
use crate::tcp::segment::Segment;
use dumbbell_wire::TcpFlags;

impl Connection {
    /// The shortest round-trip time of the whole path known so far.
    pub(crate) fn round_trip(&self) -> Option<i64> {
        let handshake = self.syn.zip(self.handshake_end).map(|(a, b)| b - a).filter(|&t| t > 0);
        let both = self.clocks[0].shortest.zip(self.clocks[1].shortest).map(|(a, b)| a + b);
        match (handshake, both) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// The capture point on the path: 0 at the sender of direction `d`, 1 at its receiver.
    pub(crate) fn vantage(&self, d: usize) -> Option<f64> {
        let ahead = self.clocks[d].shortest;
        let behind = self.clocks[1 - d].shortest;
        let share = |ahead: i64, behind: i64| (ahead + behind > 0).then(|| behind as f64 / (ahead + behind) as f64);
        if let (Some(syn), Some(syn_ack), Some(end), Some(opener)) =
            (self.syn, self.syn_ack, self.handshake_end, self.opener)
        {
            let (out, back) = (syn_ack - syn, end - syn_ack);
            return if usize::from(opener) == d { share(out, back) } else { share(back, out) };
        }
        share(ahead?, behind?)
    }

    #[cold]
    pub(super) fn handshake(&mut self, d: usize, s: &Segment) {
        let flags = s.flags;
        let side = &mut *self.sides[d];
        if flags.contains(TcpFlags::SYN) {
            side.syns += 1;
            side.mss = s.options.mss.or(side.mss);
            side.wscale = s.options.wscale.or(side.wscale);
            side.sack_permitted |= s.options.sack_permitted;
            if flags.contains(TcpFlags::ACK) {
                side.syn_ecn |= flags.contains(TcpFlags::ECE);
                self.syn_ack = self.syn_ack.or(Some(s.time));
                self.opener = self.opener.or(Some(1 - d as u8));
            } else {
                side.syn_ecn |= flags.contains(TcpFlags::ECE | TcpFlags::CWR);
                // A retransmitted SYN: the answer may be to either; the last one gives the shorter time.
                if self.syn_ack.is_none() {
                    self.syn = Some(s.time);
                }
                self.opener = self.opener.or(Some(d as u8));
            }
        } else if flags.contains(TcpFlags::ACK)
            && self.handshake_end.is_none()
            && self.syn_ack.is_some()
            && self.opener == Some(d as u8)
        {
            self.handshake_end = Some(s.time);
        }
        let side = &mut *self.sides[d];
        if flags.contains(TcpFlags::FIN) {
            side.fins += 1;
            self.fin[d] = true;
        }
        if flags.contains(TcpFlags::RST) {
            side.resets += 1;
            self.reset = self.reset.or(Some(d as u8));
        }
    }

    /// True after a FIN of both sides, or a RST.
    pub(crate) fn is_closed(&self) -> bool {
        self.reset.is_some() || self.fin == [true, true]
    }

    /// State of the connection at the end of the capture.
    pub(crate) fn ending(&self) -> Ending {
        let only_syns = self.sides.iter().all(|s| s.data_packets == 0) && self.syn_ack.is_none();
        match self.reset {
            Some(by) if only_syns && self.opener.is_some_and(|o| o != by) => Ending::Refused,
            Some(_) => Ending::Reset,
            None => match self.fin {
                [true, true] => Ending::Fin,
                [false, false] => Ending::Open,
                _ => Ending::HalfClosed,
            },
        }
    }
}
