//! The receiving half: reassembly, SACK blocks, the decision when to acknowledge.
//!
//! Offsets count from the peer's initial sequence number: 0 is its SYN, 1 the first data byte.

mod acks;
mod ranges;
mod told;
mod window;

pub(crate) use acks::{Acks, Path};

use crate::config::Config;
use acks::{Arrival, Arrived};
use dumbbell_units::Time;
use dumbbell_wire::{SackBlocks, Seq};
use ranges::Ranges;
use told::Told;
use window::{Growing, memory};

/// Blocks of an ACK that has timestamps too, and those that are told of once more in case that an ACK is lost.
const BLOCKS: usize = 3;
const EXPECTED: usize = 2;

/// What arrived out of order, and what is owed to the sender.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    /// Next offset expected.
    pub(crate) nxt: u64,
    ranges: Ranges,
    /// Where few ranges are kept for reports: how many, and which.
    kept: Option<usize>,
    told: Told,
    /// What the next ACK reports to have arrived twice [RFC 2883].
    dsack: Option<(u64, u64)>,
    /// Blocks of an ACK that tells of the last segments but one, before what the last one is told of pushes them out.
    pub(crate) early: Option<Vec<(u64, u64)>>,
    pub(crate) acks: Acks,
    /// Where the window grows.
    pub(crate) window: Option<Growing>,
    /// The offset of the peer's FIN, once it is known.
    pub(crate) fin: Option<u64>,
    /// Payload bytes that arrived more than once.
    pub(crate) duplicate_bytes: u64,
}

impl Receiver {
    pub(crate) fn new(nxt: u64, config: &Config) -> Receiver {
        Receiver {
            nxt,
            ranges: Ranges::default(),
            kept: (config.sack_kept > 0).then_some(config.sack_kept as usize),
            told: Told::default(),
            dsack: None,
            early: None,
            acks: Acks::default(),
            window: Growing::new(config),
            fin: None,
            duplicate_bytes: 0,
        }
    }

    /// Takes in what a segment holds, `start..end` of the sequence space; `pushed`: it carries PSH.
    pub(crate) fn on_data(
        &mut self,
        (start, end): (u64, u64),
        pushed: bool,
        now: Time,
        path: &Path,
        config: &Config,
    ) {
        let had_holes = !self.ranges.is_empty();
        let (buffers, waited, known) =
            (self.ranges.buffers(), self.waiting(), self.duplicate_bytes + end - start);
        let arrival = if end <= self.nxt {
            self.duplicate(start, end, end - start, config);
            Arrival::Again
        } else if start > self.nxt {
            if self.acks.is_merging() && self.rank(start, end) >= EXPECTED {
                self.told.extend(start, end); // an older range is told of with the segment, a new one is not
                self.early = Some(self.newest(BLOCKS));
                self.acks.merged_left();
            }
            let known = self.ranges.holds(start, end);
            if let Some(kept) = self.kept.filter(|_| !known) {
                self.told.add(start, end, kept);
            }
            match self.ranges.add(start, end) {
                0 => Arrival::OutOfOrder,
                duplicate => {
                    self.duplicate(start, end, duplicate, config);
                    Arrival::Again
                }
            }
        } else {
            let before = self.nxt;
            self.duplicate(start, before, before - start, config);
            self.advance(end);
            self.told.forget(self.nxt, self.ranges.is_empty());
            match (before > start, had_holes) {
                (true, _) if config.dsack => Arrival::Again,
                (_, false) => Arrival::InOrder,
                (_, true) => Arrival::Filling { holes: !self.ranges.is_empty() },
            }
        };
        let len = end - start;
        let (mut opens, mut narrower) = (false, false);
        let waits = self.waiting();
        if let Some(window) = &mut self.window {
            window.on_waiting(waits);
            let held = match arrival {
                Arrival::OutOfOrder if self.ranges.buffers() > buffers => waited,
                Arrival::OutOfOrder => waits,
                _ => waited + memory(len, 1),
            };
            match arrival {
                Arrival::Filling { .. } if self.nxt > end => window.on_filled(self.nxt - start),
                Arrival::InOrder | Arrival::Filling { .. } => window.on_unread(memory(len, 1)),
                _ => {}
            }
            opens = self.duplicate_bytes < known && window.on_data(len, held);
            narrower = window.is_narrower(held.max(waits));
            window.on_read(self.nxt, path.srtt, now);
        }
        if self.early.is_some() && arrival == Arrival::OutOfOrder {
            return; // that ACK counts as this segment's
        }
        let arrived = Arrived { len, pushed, last: self.fin_received(), opens, narrower };
        self.acks.on_data(arrival, arrived, self.nxt, now, path, config);
        if let Some(window) = self.window.as_mut().filter(|_| self.acks.now == 0) {
            window.on_unread(0);
        }
    }

    /// Memory of what waits out of order.
    fn waiting(&self) -> u64 {
        memory(self.ranges.bytes(), self.ranges.buffers())
    }

    /// So many bytes of a segment had arrived before. One ACK reports them: where only a part had, the whole segment can't
    /// be given, and the sender needn't know.
    fn duplicate(&mut self, start: u64, end: u64, bytes: u64, config: &Config) {
        self.duplicate_bytes += bytes;
        if config.dsack && bytes > 0 && bytes == end - start {
            self.dsack = Some((start, end));
        }
    }

    /// An ACK leaves, alone or with data.
    pub(crate) fn ack_sent(&mut self) {
        self.acks.sent(self.nxt);
    }

    pub(crate) fn fin_received(&self) -> bool {
        self.fin.is_some_and(|fin| self.nxt > fin)
    }

    /// Moves `nxt` to `end` and over every stored range that it meets.
    fn advance(&mut self, end: u64) {
        self.nxt = end;
        while let Some((start, end)) = self.ranges.take_up_to(self.nxt) {
            self.duplicate_bytes += self.nxt.min(end) - start;
            self.nxt = self.nxt.max(end);
        }
    }

    /// How many ranges were touched after the one that `start..end` touches, or how many there are; four at most.
    fn rank(&self, start: u64, end: u64) -> usize {
        if self.kept.is_some() { self.told.rank(start, end) } else { self.ranges.rank(start, end) }
    }

    /// The ranges to report, the one touched last first.
    fn newest(&mut self, most: usize) -> Vec<(u64, u64)> {
        if self.kept.is_some() { self.told.first(most).collect() } else { self.ranges.newest(most).collect() }
    }

    /// The blocks to report, newest first [RFC 2018 §4], before them what came twice.
    pub(crate) fn sack_blocks(&mut self, isn: Seq, most: usize, blocks: &mut SackBlocks) {
        let dsack = self.dsack.take();
        if let Some((start, end)) = dsack {
            blocks.push(isn.at(start), isn.at(end));
        }
        if !self.ranges.is_empty() {
            for (start, end) in self.newest(most - usize::from(dsack.is_some())) {
                blocks.push(isn.at(start), isn.at(end));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use dumbbell_units::Dur;

    const NOW: Time = Time(0);
    const PATH: Path = Path { srtt: None, rto: Dur::secs(1) };

    fn config() -> Config {
        Config::read("rfc", &[], dumbbell_cc::find("sack").unwrap()).unwrap()
    }

    fn feed(segments: &[(u64, u64)]) -> Receiver {
        let config = config();
        let mut r = Receiver::new(1, &config);
        for &(start, end) in segments {
            r.on_data((start, end), false, NOW, &PATH, &config);
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
        let mut r = feed(&[(101, 201), (301, 401), (501, 601), (201, 211)]);
        let mut blocks = SackBlocks::default();
        r.sack_blocks(Seq(0), 3, &mut blocks);
        let blocks: Vec<_> = blocks.as_slice().iter().map(|b| (b.left.0, b.right.0)).collect();
        assert_eq!(blocks, [(101, 211), (501, 601), (301, 401)]);
    }

    #[test]
    fn every_second_segment_is_acknowledged_and_a_hole_at_once() {
        let mut r = feed(&[(1, 101)]);
        assert_eq!((r.acks.now, r.acks.timer().is_some()), (0, true));
        r.on_data((101, 201), false, NOW, &PATH, &config());
        assert_eq!(r.acks.now, 1);
        r.ack_sent();
        r.on_data((301, 401), false, NOW, &PATH, &config());
        assert_eq!(r.acks.now, 1);
    }
}
