//! Packet contents, in one pool. Queues and links pass small handles.

mod duplicates;

pub(crate) use duplicates::{Copies, CopiesId};

use crate::capture::Cause;
use dumbbell_quic::Datagram;
use dumbbell_tcp::Segment;
use dumbbell_units::Time;

/// Contents of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Body {
    /// The TCP segment, for a TCP flow; of other packets only its payload is set.
    pub(crate) segment: Segment,
    /// Number of the connection within its flow.
    pub(crate) connection: u32,
    /// True for a packet with payload; datagrams always have payload.
    pub(crate) data: bool,
    /// True for a retransmission.
    pub(crate) retransmission: bool,
    /// Reason of the retransmission; valid only with `retransmission` in a run with captures.
    pub(crate) cause: Cause,
    /// Sequence number of a datagram or echo request; number of a QUIC packet; stream offset of a segment's first
    /// payload byte.
    pub(crate) number: u64,
    /// Sending time of the datagram or echo request.
    pub(crate) sent_at: Time,
    /// True for a packet with payload sent in the measured time of its flow.
    pub(crate) measured: bool,
    /// The packet and its duplicates, if links have made any.
    pub(crate) copies: Option<CopiesId>,
}

/// The pool. A slot is reused as soon as its packet is delivered or dropped.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    bodies: Vec<Body>,
    /// The QUIC datagrams among the contents, by handle; no longer than necessary.
    datagrams: Vec<Datagram>,
    free: Vec<u32>,
}

impl Pool {
    /// Returns a free slot. Its contents are those of an earlier packet.
    #[inline]
    pub(crate) fn allocate(&mut self) -> (u32, &mut Body) {
        let handle = self.free.pop().unwrap_or_else(|| {
            self.bodies.push(Body::default());
            (self.bodies.len() - 1) as u32
        });
        (handle, &mut self.bodies[handle as usize])
    }

    /// Returns the slot of a packet that was processed, if there is one, else a free slot.
    #[inline]
    pub(crate) fn reuse_or_allocate(&mut self, processed: &mut Option<u32>) -> (u32, &mut Body) {
        match processed.take() {
            Some(handle) => (handle, &mut self.bodies[handle as usize]),
            None => self.allocate(),
        }
    }

    /// Returns a new slot with a copy of another's contents.
    pub(crate) fn copy(&mut self, of: u32) -> u32 {
        let body = *self.get(of);
        let (handle, copy) = self.allocate();
        *copy = body;
        if (of as usize) < self.datagrams.len() {
            self.datagram_slot(handle);
            let original = std::mem::take(&mut self.datagrams[of as usize]);
            self.datagrams[handle as usize].copy_from(&original);
            self.datagrams[of as usize] = original;
        }
        handle
    }

    /// The datagram of a slot, to be written.
    pub(crate) fn datagram_slot(&mut self, handle: u32) -> &mut Datagram {
        let place = handle as usize;
        if self.datagrams.len() <= place {
            self.datagrams.resize_with(place + 1, Datagram::default);
        }
        &mut self.datagrams[place]
    }

    /// The datagram of a QUIC packet.
    #[inline]
    pub(crate) fn datagram(&self, handle: u32) -> &Datagram {
        &self.datagrams[handle as usize]
    }

    /// Returns the handles in use.
    pub(crate) fn in_use(&self) -> impl Iterator<Item = u32> {
        let mut used = vec![true; self.bodies.len()];
        self.free.iter().for_each(|handle| used[*handle as usize] = false);
        (0..).zip(used).filter_map(|(handle, used)| used.then_some(handle))
    }

    #[inline]
    pub(crate) fn get(&self, handle: u32) -> &Body {
        &self.bodies[handle as usize]
    }

    pub(crate) fn get_mut(&mut self, handle: u32) -> &mut Body {
        &mut self.bodies[handle as usize]
    }

    #[inline]
    pub(crate) fn free(&mut self, handle: u32) {
        self.free.push(handle);
    }
}
