//! ACKs of a direction's data: cumulative, SACK [RFC 2018], D-SACK [RFC 2883].

use super::History;
use dumbbell_wire::SackBlock;
use dumbbell_wire::seq::{le, lt, max};

/// An acknowledgment of this direction's data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ack<'a> {
    pub(crate) time: i64,
    pub(crate) ack: u32,
    /// True without data and with the window of the previous ACK.
    pub(crate) pure: bool,
    pub(crate) sack: &'a [SackBlock],
    pub(crate) tsecr: Option<u32>,
}

/// Information in an ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Acked {
    /// Bytes newly acknowledged.
    pub(crate) bytes: u32,
    /// RTT sample: time since the newest of them was sent, if it was sent once (Karn's algorithm).
    pub(crate) rtt: Option<i64>,
    /// True if the first SACK block is a D-SACK.
    pub(crate) dsack: bool,
    /// Frame of a retransmission that is proven spurious.
    pub(crate) spurious_frame: Option<u64>,
    /// True for a D-SACK of data that was sent once: the network duplicated it.
    pub(crate) copied: bool,
    /// True if a recovery episode has ended.
    pub(crate) recovered: bool,
}

/// Sequence numbers further apart than this are unrelated.
const FAR: u32 = 1 << 30;

impl History {
    /// Processes an ACK.
    #[inline]
    pub(crate) fn acknowledge(&mut self, a: &Ack<'_>) -> Acked {
        let mut acked = Acked::default();
        if !self.started {
            self.restart(a.ack);
        }
        let Some(una) = self.una else {
            if (a.ack.wrapping_sub(self.high) as i32).unsigned_abs() < FAR {
                self.una = Some(a.ack);
                self.last_advance = a.time;
                self.last_ack = a.time;
                self.advance(a.ack, a, &mut acked);
                acked.bytes = 0;
            }
            return acked;
        };
        let step = a.ack.wrapping_sub(una);
        if (step as i32).unsigned_abs() >= FAR {
            return acked;
        }
        self.last_ack = a.time;
        if !a.sack.is_empty() {
            self.sack(a, &mut acked);
        }
        if step as i32 > 0 {
            acked.bytes = step;
            self.una = Some(a.ack);
            self.dupacks = 0;
            self.advance(a.ack, a, &mut acked);
            self.last_advance = a.time;
        } else if step == 0 && a.pure && una != self.high {
            self.dupacks = self.dupacks.saturating_add(1);
        }
        acked
    }

    #[inline]
    fn advance(&mut self, ack: u32, a: &Ack<'_>, acked: &mut Acked) {
        if lt(self.high, ack) {
            self.missed += u64::from(ack.wrapping_sub(self.high));
            self.high = ack;
        }
        let mut first = true;
        let mut newest = None;
        while let Some(s) = self.sent.get(self.acked) {
            let whole = le(s.end, ack);
            if !whole && !lt(s.start, ack) {
                break;
            }
            if std::mem::take(&mut first) && s.repeated {
                // [RFC 3522 §3.2]: the first ACK of the retransmitted data echoes an older timestamp.
                if let (Some(echo), Some(sent)) = (a.tsecr, s.hints.tsval)
                    && (echo.wrapping_sub(sent) as i32) < 0
                {
                    let (start, end) = (s.start, s.end);
                    acked.spurious_frame = acked.spurious_frame.or_else(|| self.prove(start, end, Some(echo)));
                }
            }
            let Some(s) = self.sent.get(self.acked) else { break };
            newest = (!s.repeated && !s.sacked).then_some(s.time);
            if !whole {
                break;
            }
            if s.sacked {
                self.sacked = self.sacked.saturating_sub(s.end.wrapping_sub(s.start));
            }
            self.acked += 1;
        }
        acked.rtt = newest.map(|t| a.time.wrapping_sub(t)).filter(|&t| t >= 0);
        self.trim();
        while let Some(h) = self.holes.front()
            && lt(h.start, ack)
        {
            let to = if le(h.end, ack) { h.end } else { ack };
            self.missed += u64::from(to.wrapping_sub(h.start));
            if le(h.end, ack) {
                self.holes.pop_front();
            } else {
                self.holes[0].start = ack;
            }
        }
        if self.episode.is_some_and(|e| le(e.recover, ack)) {
            self.episode = None;
            acked.recovered = true;
        }
    }

    fn sack(&mut self, a: &Ack<'_>, acked: &mut Acked) {
        let first = a.sack[0];
        let inside = |outer: &SackBlock| le(outer.left.0, first.left.0) && le(first.right.0, outer.right.0);
        // [RFC 2883 §4]: the first block is below the ACK or inside the second block.
        acked.dsack = lt(first.left.0, first.right.0) && le(first.right.0, a.ack) || a.sack.get(1).is_some_and(inside);
        if acked.dsack {
            acked.spurious_frame = self.prove(first.left.0, first.right.0, None);
            acked.copied = acked.spurious_frame.is_none() && !self.was_repeated(first.left.0, first.right.0);
        }
        let blocks = &a.sack[usize::from(acked.dsack)..];
        for b in blocks {
            if !lt(a.ack, b.right.0) || !lt(b.left.0, b.right.0) || Self::above(b.right.0, self.high) {
                continue;
            }
            let mut from = max(b.left.0, a.ack);
            for m in self.last_blocks {
                if le(m.left.0, from) && le(from, m.right.0) {
                    from = m.right.0;
                }
            }
            if le(b.right.0, from) {
                continue;
            }
            let at = self.sent.partition_point(|s| lt(s.start, from)).max(self.acked);
            for s in self.sent.iter_mut().skip(at) {
                if lt(b.right.0, s.end) {
                    break;
                }
                if !s.sacked {
                    s.sacked = true;
                    self.sacked += s.end.wrapping_sub(s.start);
                }
            }
            self.sacked_high = if self.sacked == 0 { b.right.0 } else { max(self.sacked_high, b.right.0) };
        }
        self.last_blocks = Default::default();
        for (mark, b) in self.last_blocks.iter_mut().zip(blocks) {
            *mark = *b;
        }
    }

    fn was_repeated(&self, start: u32, end: u32) -> bool {
        self.retransmitted.iter().any(|r| lt(r.start, end) && lt(start, r.end))
    }
}
