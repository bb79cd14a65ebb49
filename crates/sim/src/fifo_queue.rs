//! The queue of a link whose discipline is a plain FIFO. The departure of a packet is known when it arrives, so packets
//! are not stored: only their sizes are, until they depart.

use crate::ring::Ring;
use dumbbell_qdisc::{Backlog, PlainFifo};
use dumbbell_units::Time;
use std::num::NonZeroU32;

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct FifoQueue {
    rule: PlainFifo,
    /// Boxed, because a packet has never waited on most links.
    waiting: Option<Box<Waiting>>,
}

#[derive(Debug, Default)]
struct Waiting {
    /// Begin of the transmission, and size, of each waiting packet, and of some before them.
    packets: Ring<(Time, NonZeroU32)>,
    /// Bytes of these packets.
    bytes: u64,
}

impl Waiting {
    /// The backlog, if none of the packets has begun.
    #[inline]
    fn most(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u64, bytes: self.bytes }
    }

    /// The backlog at `now`: a packet whose transmission begins now does not wait.
    #[inline(never)]
    fn backlog(&mut self, now: Time) -> Backlog {
        while let Some((_, bytes)) = self.packets.pop_if(|(begin, _)| *begin <= now) {
            self.bytes -= u64::from(bytes.get());
        }
        self.most()
    }
}

impl FifoQueue {
    pub(crate) fn new(rule: PlainFifo) -> FifoQueue {
        FifoQueue { rule, waiting: None }
    }

    /// The backlog at `now`.
    pub(crate) fn backlog(&mut self, now: Time) -> Backlog {
        self.waiting.as_mut().map_or(Backlog::default(), |waiting| waiting.backlog(now))
    }

    /// Frees the memory, if no packet waits.
    pub(crate) fn free_buffer(&mut self, now: Time) {
        if self.backlog(now).packets == 0 {
            self.waiting = None;
        }
    }

    /// A packet arrives at `now` while the link is busy until `begin`. Returns false if it is dropped.
    #[inline]
    pub(crate) fn enqueue(&mut self, bytes: u32, now: Time, begin: Time) -> bool {
        let waiting = self.waiting.get_or_insert_default();
        // Packets that have begun matter only if the queue seems to be full, or its memory is.
        let fits = !waiting.packets.is_full() && self.rule.admits(waiting.most(), bytes)
            || self.rule.admits(waiting.backlog(now), bytes);
        if let Some(size) = NonZeroU32::new(bytes).filter(|_| fits) {
            waiting.packets.push((begin, size)); // every packet has bytes
            waiting.bytes += u64::from(bytes);
        }
        fits
    }
}
