//! The receiving half: reassembly, SACK blocks, the decision when to acknowledge.
//!
//! Offsets count from the peer's initial sequence number: 0 is its SYN, 1 the first data byte.

use crate::config::Config;
use crate::segment::SackBlocks;
use dumbbell_units::{Seq, Time};

/// What arrived out of order, and what is owed to the sender.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    /// Next offset expected.
    pub(crate) nxt: u64,
    /// Ranges beyond `nxt`, disjoint and not adjacent, the one with the newest arrival first.
    ranges: Vec<(u64, u64)>,
    /// Segments received in order since the last ACK was sent.
    unacked_segments: u32,
    /// The timer of a delayed ACK.
    pub(crate) ack_at: Option<Time>,
    /// An ACK must go now; how many.
    pub(crate) ack_now: u32,
    /// The offset of the peer's FIN, once it is known.
    pub(crate) fin: Option<u64>,
    /// Payload bytes that arrived more than once.
    pub(crate) duplicate_bytes: u64,
}

impl Receiver {
    pub(crate) fn new(nxt: u64) -> Receiver {
        Receiver {
            nxt,
            ranges: Vec::new(),
            unacked_segments: 0,
            ack_at: None,
            ack_now: 0,
            fin: None,
            duplicate_bytes: 0,
        }
    }

    /// Takes in what a segment holds, `start..end` of the sequence space.
    pub(crate) fn on_data(&mut self, start: u64, end: u64, now: Time, config: &Config) {
        let before = self.nxt;
        if end <= self.nxt {
            self.duplicate_bytes += end - start;
        } else if start > self.nxt {
            self.store(start, end);
        } else {
            self.duplicate_bytes += self.nxt - start;
            self.advance(end);
        }
        let in_order = start <= before && self.nxt == end && self.nxt > before;
        self.owe_ack(in_order && self.ranges.is_empty(), now, config);
    }

    /// Delayed only for a segment in order with no hole anywhere [RFC 5681 §4.2].
    fn owe_ack(&mut self, may_wait: bool, now: Time, config: &Config) {
        self.unacked_segments += 1;
        if !may_wait || self.unacked_segments >= config.ack_every || self.fin_received() {
            self.ack_now += 1;
        } else if self.ack_at.is_none() {
            self.ack_at = Some(now + config.ack_delay);
        }
    }

    /// An ACK leaves, alone or with data.
    pub(crate) fn ack_sent(&mut self) {
        self.unacked_segments = 0;
        self.ack_at = None;
        self.ack_now = self.ack_now.saturating_sub(1);
    }

    pub(crate) fn fin_received(&self) -> bool {
        self.fin.is_some_and(|fin| self.nxt > fin)
    }

    /// Moves `nxt` to `end` and over every stored range that it meets.
    fn advance(&mut self, end: u64) {
        self.nxt = end;
        while let Some(i) = self.ranges.iter().position(|&(start, _)| start <= self.nxt) {
            let (start, end) = self.ranges.remove(i);
            self.duplicate_bytes += self.nxt.min(end) - start;
            self.nxt = self.nxt.max(end);
        }
    }

    /// Puts a range among the stored ones, merged with those that it touches, in front of all.
    fn store(&mut self, start: u64, end: u64) {
        let mut merged = (start, end);
        let mut duplicate = 0;
        self.ranges.retain(|&(s, e)| {
            let touches = s <= merged.1 && merged.0 <= e;
            if touches {
                duplicate += e.min(end).saturating_sub(s.max(start));
                merged = (s.min(merged.0), e.max(merged.1));
            }
            !touches
        });
        self.duplicate_bytes += duplicate;
        self.ranges.insert(0, merged);
    }

    /// The blocks to report, newest first [RFC 2018 §4].
    pub(crate) fn sack_blocks(&self, isn: Seq, most: usize, blocks: &mut SackBlocks) {
        for &(start, end) in self.ranges.iter().take(most) {
            blocks.push(isn.at(start), isn.at(end));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    const NOW: Time = Time(0);

    fn config() -> Config {
        Config::read("rfc", &[], dumbbell_cc::find("sack").unwrap()).unwrap()
    }

    fn feed(segments: &[(u64, u64)]) -> Receiver {
        let config = config();
        let mut r = Receiver::new(1);
        for &(start, end) in segments {
            r.on_data(start, end, NOW, &config);
        }
        r
    }

    #[test]
    fn holes_fill_in_any_order() {
        let r = feed(&[(101, 201), (301, 401), (1, 101), (201, 301)]);
        assert_eq!((r.nxt, r.ranges.len(), r.duplicate_bytes), (401, 0, 0));
    }

    #[test]
    fn overlaps_count_as_duplicates_once() {
        let r = feed(&[(101, 201), (151, 251), (1, 201)]);
        // 50 bytes of the second, 100 of the third were there.
        assert_eq!((r.nxt, r.duplicate_bytes), (251, 150));
    }

    #[test]
    fn the_newest_block_comes_first() {
        let r = feed(&[(101, 201), (301, 401), (501, 601), (201, 211)]);
        let mut blocks = SackBlocks::default();
        r.sack_blocks(Seq(0), 3, &mut blocks);
        assert_eq!(blocks.as_slice(), &[(Seq(101), Seq(211)), (Seq(501), Seq(601)), (Seq(301), Seq(401))]);
    }

    #[test]
    fn every_second_segment_is_acknowledged_and_a_hole_at_once() {
        let mut r = feed(&[(1, 101)]);
        assert_eq!((r.ack_now, r.ack_at.is_some()), (0, true));
        r.on_data(101, 201, NOW, &config());
        assert_eq!(r.ack_now, 1);
        r.ack_sent();
        r.on_data(301, 401, NOW, &config());
        assert_eq!(r.ack_now, 1);
    }
}
