//! The queue of a link whose discipline is a plain FIFO. The departure of a packet is known when it arrives, so packets are
//! not stored: only their sizes are, until they depart.

use dumbbell_qdisc::{Backlog, PlainFifo};
use dumbbell_units::Time;
use std::collections::VecDeque;

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct FifoQueue {
    rule: PlainFifo,
    /// Begin of the transmission, and size, of each waiting packet, and of some before them.
    waiting: VecDeque<(Time, u32)>,
    /// Bytes of these packets.
    bytes: u64,
}

impl FifoQueue {
    pub(crate) fn new(rule: PlainFifo) -> FifoQueue {
        FifoQueue { rule, waiting: VecDeque::new(), bytes: 0 }
    }

    /// The backlog at `now`: a packet whose transmission begins now does not wait.
    #[inline(never)]
    pub(crate) fn backlog(&mut self, now: Time) -> Backlog {
        while let Some(&(_, bytes)) = self.waiting.front().filter(|(begin, _)| *begin <= now) {
            self.bytes -= u64::from(bytes);
            self.waiting.pop_front();
        }
        self.most()
    }

    /// Frees the memory, if no packet waits.
    pub(crate) fn free_buffer(&mut self, now: Time) {
        if self.backlog(now).packets == 0 {
            self.waiting = VecDeque::new();
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
        let is_clear = self.waiting.len() < self.waiting.capacity() && self.rule.admits(self.most(), bytes);
        let fits = is_clear || {
            let backlog = self.backlog(now);
            self.rule.admits(backlog, bytes)
        };
        if fits {
            self.waiting.push_back((begin, bytes));
            self.bytes += u64::from(bytes);
        }
        fits
    }
}
