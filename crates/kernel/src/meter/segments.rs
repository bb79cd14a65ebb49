//! Outstanding segments of a sender as its tap observes them, and the times for their RTT samples. Segments sent more than
//! once are marked, so that the meter can apply Karn's algorithm [RFC 6298 §3].

use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
struct Segment {
    /// Offsets of the first byte and of the byte after the last.
    start: u64,
    end: u64,
    /// Times of the first and of the last transmission, ns.
    first: u64,
    last: u64,
    /// Number of transmissions.
    times: u32,
}

/// A segment that the cumulative ACK has covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Acknowledged {
    /// When it was first sent, ns.
    pub(crate) first: u64,
    /// When it was last sent, ns.
    pub(crate) last: u64,
    /// Number of transmissions.
    pub(crate) times: u32,
}

/// The segments between the cumulative ACK and the highest byte sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Segments {
    /// Segments that are not acknowledged, in order.
    waiting: VecDeque<Segment>,
    /// SND.UNA as the tap observes it.
    acked: u64,
    /// SND.NXT as the tap observes it: the byte after the highest one sent.
    highest: u64,
}

impl Segments {
    /// Records the transmission of [start, end); returns true if some of it was sent before.
    pub(crate) fn sent(&mut self, start: u64, end: u64, now: u64) -> bool {
        if start >= self.highest {
            self.waiting.push_back(Segment { start, end, first: now, last: now, times: 1 });
            self.highest = end;
            return false;
        }
        let from = self.waiting.partition_point(|s| s.end <= start);
        for s in self.waiting.iter_mut().skip(from).take_while(|s| s.start < end) {
            (s.last, s.times) = (now, s.times + 1);
        }
        if end > self.highest {
            let start = self.highest;
            self.waiting.push_back(Segment { start, end, first: now, last: now, times: 2 });
            self.highest = end;
        }
        true
    }

    /// Records a cumulative ACK; `each` is called with every segment that it covers.
    pub(crate) fn acknowledged(&mut self, ack: u64, mut each: impl FnMut(Acknowledged)) {
        self.acked = self.acked.max(ack);
        while let Some(s) = self.waiting.front().filter(|s| s.end <= ack) {
            each(Acknowledged { first: s.first, last: s.last, times: s.times });
            self.waiting.pop_front();
        }
    }

    /// Bytes sent and not acknowledged.
    pub(crate) fn outstanding(&self) -> u64 {
        self.highest.saturating_sub(self.acked)
    }

    /// The byte after the highest sent.
    pub(crate) fn highest(&self) -> u64 {
        self.highest
    }

    /// The byte after the last acknowledged in order.
    pub(crate) fn acked(&self) -> u64 {
        self.acked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledged_segments_have_their_first_and_last_transmission() {
        let mut s = Segments::default();
        assert!(!s.sent(0, 100, 10));
        assert!(!s.sent(100, 200, 11));
        assert!(!s.sent(200, 300, 12));
        assert_eq!(s.outstanding(), 300);
        assert!(s.sent(100, 200, 50));
        let mut seen = Vec::new();
        s.acknowledged(250, |a| seen.push(a));
        assert_eq!(
            seen,
            [Acknowledged { first: 10, last: 10, times: 1 }, Acknowledged { first: 11, last: 50, times: 2 }]
        );
        assert_eq!(s.outstanding(), 50);
    }
}
