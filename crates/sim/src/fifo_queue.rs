//! The queue of a link whose discipline is a plain FIFO. The departure of a packet is known when it arrives, so packets are
//! not stored: only their sizes are, until they depart.

use crate::ring::Ring;
use dumbbell_qdisc::{Backlog, PlainFifo};
use dumbbell_units::Time;
use std::num::NonZeroU32;

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct FifoQueue {
    rule: PlainFifo,
    /// Begin of the transmission, and size, of each waiting packet, and of some before them.
    waiting: Ring<(Time, NonZeroU32)>,
    /// Bytes of these packets.
    bytes: u64,
}

impl FifoQueue {
    pub(crate) fn new(rule: PlainFifo) -> FifoQueue {
        FifoQueue { rule, waiting: Ring::default(), bytes: 0 }
    }

    /// The backlog at `now`: a packet whose transmission begins now does not wait.
    #[inline(never)]
    pub(crate) fn backlog(&mut self, now: Time) -> Backlog {
        while let Some((_, bytes)) = self.waiting.pop_if(|(begin, _)| *begin <= now) {
            self.bytes -= u64::from(bytes.get());
        }
        self.most()
    }

    /// Frees the memory, if no packet waits.
    pub(crate) fn free_buffer(&mut self, now: Time) {
        if self.backlog(now).packets == 0 {
            self.waiting = Ring::default();
        }
    }

    /// The backlog, if none of the packets has begun.
    #[inline]
    fn most(&self) -> Backlog {
        Backlog { packets: self.waiting.len() as u64, bytes: self.bytes }
    }

    /// A packet arrives at `now` while the link is busy until `begin`. Returns false if it is dropped.
    #[inline]
    pub(crate) fn enqueue(&mut self, bytes: u32, now: Time, begin: Time) -> bool {
        // Packets that have begun matter only if the queue seems to be full, or its memory is.
        let is_clear = !self.waiting.is_full() && self.rule.admits(self.most(), bytes);
        let fits = is_clear || {
            let backlog = self.backlog(now);
            self.rule.admits(backlog, bytes)
        };
        if let Some(size) = NonZeroU32::new(bytes).filter(|_| fits) {
            self.waiting.push((begin, size)); // every packet has bytes
            self.bytes += u64::from(bytes);
        }
        fits
    }
}
