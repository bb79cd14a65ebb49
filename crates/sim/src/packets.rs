//! Packet contents, in one pool. Queues and links pass small handles.

use crate::capture::Cause;
use dumbbell_tcp::Segment;
use dumbbell_units::Time;

/// Contents of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Body {
    /// The TCP segment, for a TCP flow.
    pub(crate) segment: Segment,
    /// Number of the connection within its flow.
    pub(crate) connection: u32,
    /// True for a packet with payload; datagrams always have payload.
    pub(crate) data: bool,
    /// True for a retransmission.
    pub(crate) retransmission: bool,
    /// Reason of the retransmission; valid only with `retransmission` in a run with captures.
    pub(crate) cause: Cause,
    /// Sequence number of a datagram or echo request; stream offset of a segment's first payload byte.
    pub(crate) number: u64,
    /// Sending time of the datagram or echo request.
    pub(crate) sent_at: Time,
}

/// The pool. A slot is reused as soon as its packet is delivered or dropped.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    bodies: Vec<Body>,
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

    /// Returns a new slot with a copy of another's contents.
    pub(crate) fn copy(&mut self, of: u32) -> u32 {
        let body = *self.get(of);
        let (handle, copy) = self.allocate();
        *copy = body;
        handle
    }

    #[inline]
    pub(crate) fn get(&self, handle: u32) -> &Body {
        &self.bodies[handle as usize]
    }

    #[inline]
    pub(crate) fn free(&mut self, handle: u32) {
        self.free.push(handle);
    }
}
