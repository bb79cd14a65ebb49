//! The receiving half: reassembly, SACK blocks, D-SACK, receive window, acknowledgments [RFC 9293 §3.8, RFC 2018, RFC
//! 2883; Linux tcp_input.c tcp_data_queue].
//!
//! Offsets count from the peer's initial sequence number: 0 is its SYN, 1 the first data byte.

mod acks;
mod out_of_order;
mod selective_acks;
mod window;

pub(crate) use acks::Acks;

use crate::config::Config;
use crate::rtt::PathRtt;
use acks::{Arrival, ArrivedSegment};
use dumbbell_units::Time;
use dumbbell_wire::{SackBlocks, Seq};
use out_of_order::OutOfOrderQueue;
use selective_acks::SelectiveAcks;
use window::{ReceiveWindow, memory};

/// Blocks of an ACK that also has timestamps.
const BLOCKS: usize = 3;
/// Blocks that the following ACKs report too, in case an ACK is lost [Linux tcp_input.c TCP_SACK_BLOCKS_EXPECTED].
const BLOCKS_EXPECTED: usize = 2;

/// The receive sequence space, and the reports that are due to the sender.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    /// RCV.NXT.
    pub(crate) nxt: u64,
    out_of_order: OutOfOrderQueue,
    /// Number of ranges kept for SACK blocks; None: all.
    sack_kept: Option<usize>,
    selective_acks: SelectiveAcks,
    /// The duplicate that the next ACK reports [RFC 2883].
    dsack: Option<(u64, u64)>,
    /// Blocks of an ACK for the segments before the last one, which must be sent before the blocks of the last one
    /// replace them [Linux tcp_input.c tcp_sack_new_ofo_skb: tcp_sack_compress_send_ack].
    pub(crate) early_blocks: Option<Vec<(u64, u64)>>,
    pub(crate) acks: Acks,
    /// The receive window, if it grows.
    pub(crate) window: Option<ReceiveWindow>,
    /// Offset of the peer's FIN, once it is known.
    pub(crate) fin: Option<u64>,
    /// Payload bytes that arrived more than once.
    pub(crate) duplicate_bytes: u64,
}

impl Receiver {
    pub(crate) fn new(nxt: u64, config: &Config) -> Receiver {
        Receiver {
            nxt,
            out_of_order: OutOfOrderQueue::default(),
            sack_kept: (config.ack.sack_kept > 0).then_some(config.ack.sack_kept as usize),
            selective_acks: SelectiveAcks::default(),
            dsack: None,
            early_blocks: None,
            acks: Acks::new(config),
            window: ReceiveWindow::new(config),
            fin: None,
            duplicate_bytes: 0,
        }
    }

    /// Handles the data `start..end` of a segment; `psh`: it carries PSH.
    #[inline(always)] // as a part of header prediction
    pub(crate) fn on_data(&mut self, (start, end): (u64, u64), psh: bool, now: Time, path: &PathRtt, config: &Config) {
        if start == self.nxt && self.out_of_order.is_empty() {
            self.on_next_data(end, psh, now, path, config);
        } else {
            self.on_data_around_holes((start, end), psh, now, path, config);
        }
    }

    #[inline(never)]
    fn on_data_around_holes(
        &mut self,
        (start, end): (u64, u64),
        psh: bool,
        now: Time,
        path: &PathRtt,
        config: &Config,
    ) {
        let had_holes = !self.out_of_order.is_empty();
        let (buffers_before, queued_before) = (self.out_of_order.buffers(), self.queued_memory());
        let all_duplicate = self.duplicate_bytes + end - start;
        let arrival = if end <= self.nxt {
            self.note_duplicate(start, end, end - start, config);
            Arrival::Duplicate
        } else if start > self.nxt {
            self.queue(start, end, config)
        } else {
            let before = self.nxt;
            self.note_duplicate(start, before, before - start, config);
            self.advance(end);
            self.selective_acks.remove(self.nxt, self.out_of_order.is_empty());
            match (before > start, had_holes) {
                (true, _) if config.ack.dsack => Arrival::Duplicate,
                (_, false) => Arrival::InOrder,
                (_, true) => Arrival::Filling { holes: !self.out_of_order.is_empty() },
            }
        };
        let len = end - start;
        let (mut window_grows, mut window_shrinks) = (false, false);
        let queued = self.queued_memory();
        if let Some(window) = &mut self.window {
            window.set_queued(queued);
            let held = match arrival {
                Arrival::OutOfOrder if self.out_of_order.buffers() > buffers_before => queued_before,
                Arrival::OutOfOrder => queued,
                _ => queued_before + memory(len, 1),
            };
            match arrival {
                Arrival::Filling { .. } if self.nxt > end => window.on_hole_filled(self.nxt - start),
                Arrival::InOrder | Arrival::Filling { .. } => window.set_unread(memory(len, 1)),
                _ => {}
            }
            window_grows = self.duplicate_bytes < all_duplicate && window.grow(len, held);
            window_shrinks = window.is_smaller_than_offered(held.max(queued));
            window.adjust_limit(self.nxt, path.srtt, now);
        }
        if self.early_blocks.is_some() && arrival == Arrival::OutOfOrder {
            return; // the early ACK counts as the ACK of this segment
        }
        let segment = ArrivedSegment { len, psh, is_last: self.fin_received(), window_grows, window_shrinks };
        let read_first = self.acks.on_data(arrival, segment, self.nxt, now, path, config);
        if let Some(window) = self.window.as_mut().filter(|_| read_first || self.acks.pending == 0) {
            window.set_unread(0);
        }
    }

    /// Handles the data from rcv_nxt to `end`, while nothing is out of order: the same, with fewer steps.
    #[inline(always)]
    pub(crate) fn on_next_data(&mut self, end: u64, psh: bool, now: Time, path: &PathRtt, config: &Config) {
        let len = end - self.nxt;
        self.nxt = end;
        let (mut window_grows, mut window_shrinks) = (false, false);
        if let Some(window) = &mut self.window {
            let held = memory(len, 1);
            window.set_unread(held);
            window_grows = window.grow(len, held);
            window_shrinks = window.is_smaller_than_offered(held);
            window.adjust_limit(self.nxt, path.srtt, now);
        }
        let segment = ArrivedSegment { len, psh, is_last: self.fin_received(), window_grows, window_shrinks };
        let read_first = self.acks.on_data(Arrival::InOrder, segment, self.nxt, now, path, config);
        if let Some(window) = self.window.as_mut().filter(|_| read_first || self.acks.pending == 0) {
            window.set_unread(0);
        }
    }

    /// Adds a segment out of order [Linux tcp_input.c tcp_data_queue_ofo].
    fn queue(&mut self, start: u64, end: u64, config: &Config) -> Arrival {
        if self.acks.is_compressing() && self.rank(start, end) >= BLOCKS_EXPECTED {
            // An older range that the segment extends is reported with the segment; a new range isn't.
            self.selective_acks.extend(start, end);
            self.early_blocks = Some(self.newest(BLOCKS));
            self.acks.on_compressed_sent();
        }
        let known = self.out_of_order.contains(start, end);
        if let Some(kept) = self.sack_kept.filter(|_| !known) {
            self.selective_acks.add(start, end, kept);
        }
        match self.out_of_order.add(start, end) {
            0 => Arrival::OutOfOrder,
            duplicate => {
                self.note_duplicate(start, end, duplicate, config);
                Arrival::Duplicate
            }
        }
    }

    /// Payload bytes beyond a hole. A FIN takes one number of the sequence space, but has no payload.
    pub(crate) fn out_of_order_payload(&self) -> u64 {
        self.out_of_order.bytes() - u64::from(self.fin.is_some() && !self.fin_received())
    }

    /// Memory of the data that is out of order.
    fn queued_memory(&self) -> u64 {
        memory(self.out_of_order.bytes(), self.out_of_order.buffers())
    }

    /// Counts `bytes` of a segment that had arrived before. One ACK reports them if they are the whole segment: a
    /// D-SACK for a part would have to exclude the rest, and the sender doesn't need it.
    fn note_duplicate(&mut self, start: u64, end: u64, bytes: u64, config: &Config) {
        self.duplicate_bytes += bytes;
        if config.ack.dsack && bytes > 0 && bytes == end - start {
            self.dsack = Some((start, end));
        }
    }

    /// Notes that an ACK is sent, with or without data.
    pub(crate) fn on_ack_sent(&mut self) {
        self.acks.on_ack_sent(self.nxt);
    }

    /// True if no data is out of order.
    #[inline]
    pub(crate) fn has_no_hole(&self) -> bool {
        self.out_of_order.is_empty()
    }

    /// True if no hole, duplicate or FIN is known.
    pub(crate) fn is_in_order(&self) -> bool {
        self.has_no_hole() && self.dsack.is_none() && self.fin.is_none()
    }

    /// True if [`Receiver::is_in_order`], and the last segment that was sent has acknowledged everything: another one
    /// changes nothing.
    pub(crate) fn is_silent(&self) -> bool {
        self.is_in_order() && self.acks.are_silent(self.nxt)
    }

    /// True if the peer's FIN and all data before it have arrived.
    pub(crate) fn fin_received(&self) -> bool {
        self.fin.is_some_and(|fin| self.nxt > fin)
    }

    /// Moves rcv_nxt to `end`, and over each queued range that it reaches [Linux tcp_input.c tcp_ofo_queue].
    fn advance(&mut self, end: u64) {
        self.nxt = end;
        while let Some((start, end)) = self.out_of_order.take_up_to(self.nxt) {
            self.duplicate_bytes += self.nxt.min(end) - start;
            self.nxt = self.nxt.max(end);
        }
    }

    /// Returns the rank of the range that `start..end` touches: the number of ranges that were extended later, at most
    /// four.
    fn rank(&self, start: u64, end: u64) -> usize {
        if self.sack_kept.is_some() { self.selective_acks.rank(start, end) } else { self.out_of_order.rank(start, end) }
    }

    /// Returns the ranges to report, the one extended last first.
    fn newest(&mut self, most: usize) -> Vec<(u64, u64)> {
        if self.sack_kept.is_some() {
            self.selective_acks.first(most).collect()
        } else {
            self.out_of_order.newest(most).collect()
        }
    }

    /// True if an ACK has blocks.
    #[inline]
    pub(crate) fn has_sack_blocks(&self) -> bool {
        self.dsack.is_some() | !self.out_of_order.is_empty()
    }

    /// Writes the blocks of an ACK, newest first [RFC 2018 §4], after the D-SACK block if one is due [RFC 2883 §4].
    pub(crate) fn sack_blocks(&mut self, isn: Seq, most: usize, blocks: &mut SackBlocks) {
        let dsack = self.dsack.take();
        if let Some((start, end)) = dsack {
            blocks.push(isn.at(start), isn.at(end));
        }
        if !self.out_of_order.is_empty() {
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
    const PATH: PathRtt = PathRtt { srtt: None, rto: Dur::secs(1) };

    fn config() -> Config {
        Config::read("rfc", &[], dumbbell_cc::find("sack").unwrap()).unwrap()
    }

    fn receive(segments: &[(u64, u64)]) -> Receiver {
        let config = config();
        let mut r = Receiver::new(1, &config);
        for &(start, end) in segments {
            r.on_data((start, end), false, NOW, &PATH, &config);
        }
        r
    }

    #[test]
    fn holes_fill_in_any_order() {
        let r = receive(&[(101, 201), (301, 401), (1, 101), (201, 301)]);
        assert_eq!((r.nxt, r.out_of_order.len(), r.duplicate_bytes), (401, 0, 0));
    }

    #[test]
    fn overlaps_count_as_duplicates_once() {
        let r = receive(&[(101, 201), (151, 251), (1, 201)]);
        // 50 bytes of the second and 100 of the third had arrived before.
        assert_eq!((r.nxt, r.duplicate_bytes), (251, 150));
    }

    #[test]
    fn a_fin_beyond_a_hole_is_no_payload() {
        let mut r = receive(&[(1, 101)]);
        r.fin = Some(301); // the segment has 100 bytes and FIN
        r.on_data((201, 302), false, NOW, &PATH, &config());
        assert_eq!(r.out_of_order_payload(), 100);
        r.on_data((101, 201), false, NOW, &PATH, &config());
        assert_eq!((r.nxt, r.out_of_order_payload()), (302, 0));
    }

    #[test]
    fn the_first_sack_block_is_the_newest() {
        let mut r = receive(&[(101, 201), (301, 401), (501, 601), (201, 211)]);
        let mut blocks = SackBlocks::default();
        r.sack_blocks(Seq(0), 3, &mut blocks);
        let blocks: Vec<_> = blocks.as_slice().iter().map(|b| (b.left.0, b.right.0)).collect();
        assert_eq!(blocks, [(101, 211), (501, 601), (301, 401)]);
    }

    #[test]
    fn every_second_segment_is_acknowledged_and_a_hole_at_once() {
        let mut r = receive(&[(1, 101)]);
        assert_eq!((r.acks.pending, r.acks.timer().is_some()), (0, true));
        r.on_data((101, 201), false, NOW, &PATH, &config());
        assert_eq!(r.acks.pending, 1);
        r.on_ack_sent();
        r.on_data((301, 401), false, NOW, &PATH, &config());
        assert_eq!(r.acks.pending, 1);
    }
}
