//! Outstanding segments of a sender as its tap observes them, and the packets that an ACK reports: the input of
//! [`dumbbell_sim::meter::AckTimes`].
//!
//! With offloads the tap observes super-packets. ACKs, SACK blocks and retransmissions may cover a part of one; it is
//! then cut there, and each part has its own number of transmissions and its own report.

use super::ranges::Ranges;
use dumbbell_tcp::{DeliveredSegment, SegmentFate};
use dumbbell_units::Time;
use std::collections::VecDeque;

/// Segments whose memory a connection without outstanding data keeps: a workload has many such connections.
const MOST_KEPT: usize = 8;

#[derive(Clone, Copy, Debug)]
struct Segment {
    /// Offsets of the first byte and of the byte after the last.
    start: u64,
    end: u64,
    /// Time of the first transmission, ns.
    first_at: u64,
    /// Number of transmissions.
    transmissions: u32,
    /// True if a SACK block has covered it.
    sacked: bool,
}

impl Segment {
    fn delivered(&self, fate: SegmentFate) -> DeliveredSegment {
        DeliveredSegment {
            fate,
            first_at: Time(self.first_at),
            transmissions: self.transmissions,
            payload: (self.end - self.start) as u32,
        }
    }
}

/// The segments between the cumulative ACK and the highest byte sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Segments {
    /// Segments that are not acknowledged, in order, without gaps.
    waiting: VecDeque<Segment>,
    /// The SACKed bytes above `acked`.
    sacked: Ranges,
    /// SND.UNA as the tap observes it.
    acked: u64,
    /// SND.NXT as the tap observes it: the byte after the highest one sent.
    highest: u64,
}

impl Segments {
    /// Records the transmission of [start, end); returns true if some of it was sent before.
    pub(crate) fn sent(&mut self, start: u64, end: u64, now: u64) -> bool {
        let again = start < self.highest;
        if again {
            let range = self.cut_out(start, end.min(self.highest));
            self.waiting.range_mut(range).for_each(|s| s.transmissions += 1);
        }
        if end > self.highest {
            let start = start.max(self.highest);
            self.waiting.push_back(Segment { start, end, first_at: now, transmissions: 1, sacked: false });
            self.highest = end;
        }
        again
    }

    /// Cuts the segments at both ends of [start, end); returns the indices of those between.
    fn cut_out(&mut self, start: u64, end: u64) -> std::ops::Range<usize> {
        let from = self.cut(start);
        from..self.cut(end).max(from)
    }

    /// Cuts the segment that contains `offset` in its middle; returns the index of the first segment from `offset` on.
    fn cut(&mut self, offset: u64) -> usize {
        let i = self.waiting.partition_point(|s| s.end <= offset);
        match self.waiting.get_mut(i) {
            Some(s) if s.start < offset => {
                let rest = Segment { start: offset, ..*s };
                s.end = offset;
                self.waiting.insert(i + 1, rest);
                i + 1
            }
            _ => i,
        }
    }

    /// Records an ACK with its SACK blocks, of which the parts below the cumulative ACK (D-SACK [RFC 2883 §4]) are
    /// ignored; returns the packets that it covers or newly SACKs.
    pub(crate) fn acknowledged(&mut self, ack: u64, blocks: impl Iterator<Item = (u64, u64)>) -> Vec<DeliveredSegment> {
        let mut packets = Vec::new();
        let ack = ack.min(self.highest);
        if ack > self.acked {
            let count = self.cut(ack);
            packets.extend(self.waiting.drain(..count).map(|s| {
                s.delivered(if s.sacked { SegmentFate::AcknowledgedAfterSack } else { SegmentFate::Acknowledged })
            }));
            self.acked = ack;
            self.sacked.remove_below(ack);
            if self.waiting.is_empty() && self.waiting.capacity() > MOST_KEPT {
                self.waiting = VecDeque::new();
            }
        }
        for (start, end) in blocks {
            let (start, end) = (start.max(self.acked), end.min(self.highest));
            if start >= end {
                continue;
            }
            for (from, to) in self.sacked.missing(start, end) {
                let range = self.cut_out(from, to);
                for s in self.waiting.range_mut(range) {
                    s.sacked = true;
                    packets.push(s.delivered(SegmentFate::Sacked));
                }
            }
            self.sacked.add(start, end);
        }
        packets
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
    use SegmentFate::{Acknowledged, AcknowledgedAfterSack, Sacked};

    /// Fate, time of the first transmission, number of transmissions, payload of each packet.
    fn ack(s: &mut Segments, ack: u64, blocks: &[(u64, u64)]) -> Vec<(SegmentFate, u64, u32, u32)> {
        let packets = s.acknowledged(ack, blocks.iter().copied());
        packets.into_iter().map(|p| (p.fate, p.first_at.0, p.transmissions, p.payload)).collect()
    }

    /// Ten packets of 100 bytes, sent at 0 to 9 ns.
    fn ten() -> Segments {
        let mut s = Segments::default();
        (0..10).for_each(|i| assert!(!s.sent(i * 100, i * 100 + 100, i)));
        s
    }

    #[test]
    fn acknowledged_packets_have_their_first_transmission() {
        let mut s = ten();
        assert_eq!(s.outstanding(), 1000);
        assert!(s.sent(100, 200, 50));
        assert_eq!(ack(&mut s, 200, &[]), [(Acknowledged, 0, 1, 100), (Acknowledged, 1, 2, 100)]);
        assert_eq!((s.outstanding(), s.acked()), (800, 200));
        assert_eq!(ack(&mut s, 200, &[]), []);
    }

    #[test]
    fn a_packet_is_sacked_once() {
        let mut s = ten();
        assert_eq!(ack(&mut s, 100, &[(200, 300)]), [(Acknowledged, 0, 1, 100), (Sacked, 2, 1, 100)]);
        assert_eq!(ack(&mut s, 100, &[(200, 400)]), [(Sacked, 3, 1, 100)]);
        // An ACK was lost: two blocks report the new data.
        assert_eq!(
            ack(&mut s, 100, &[(800, 900), (200, 600)]),
            [(Sacked, 8, 1, 100), (Sacked, 4, 1, 100), (Sacked, 5, 1, 100)]
        );
        assert!(s.sent(100, 200, 50));
        let repaired: Vec<_> = ack(&mut s, 600, &[(800, 900)]);
        assert_eq!(repaired[0], (Acknowledged, 1, 2, 100));
        assert!(repaired[1..].iter().all(|p| p.0 == AcknowledgedAfterSack));
        assert_eq!(repaired.len(), 5);
    }

    #[test]
    fn duplicates_of_received_data_report_nothing() {
        let mut s = ten();
        ack(&mut s, 500, &[(600, 800)]);
        assert_eq!(ack(&mut s, 500, &[(200, 300), (600, 800)]), []); // below the cumulative ACK
        assert_eq!(ack(&mut s, 500, &[(600, 700), (600, 800)]), []); // within the second block
        assert_eq!(ack(&mut s, 500, &[(900, 1200)]), [(Sacked, 9, 1, 100)]); // beyond the data sent
        assert_eq!(ack(&mut s, 500, &[(800, 700)]), []);
    }

    #[test]
    fn super_packets_are_cut_where_acks_and_retransmissions_end() {
        let mut s = Segments::default();
        s.sent(0, 1000, 7);
        assert_eq!(ack(&mut s, 300, &[(500, 700)]), [(Acknowledged, 7, 1, 300), (Sacked, 7, 1, 200)]);
        assert!(s.sent(300, 400, 50));
        assert_eq!(
            ack(&mut s, 1000, &[]),
            [
                (Acknowledged, 7, 2, 100),
                (Acknowledged, 7, 1, 100),
                (AcknowledgedAfterSack, 7, 1, 200),
                (Acknowledged, 7, 1, 300)
            ]
        );
        // A retransmission that continues with new data.
        s.sent(1000, 1100, 60);
        assert!(s.sent(1050, 1200, 61));
        assert_eq!(
            ack(&mut s, 1200, &[]),
            [(Acknowledged, 60, 1, 50), (Acknowledged, 60, 2, 50), (Acknowledged, 61, 1, 100)]
        );
    }
}
