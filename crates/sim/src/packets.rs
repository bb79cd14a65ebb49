//! What packets carry: kept in one pool while queues and links pass small handles around.

use crate::capture::Cause;
use dumbbell_tcp::Segment;
use dumbbell_units::Time;

/// The contents of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Body {
    /// The TCP segment (of a TCP flow).
    pub(crate) segment: Segment,
    /// Which of the flow's connections it belongs to.
    pub(crate) connection: u32,
    /// Whether it carries payload (datagrams always do).
    pub(crate) data: bool,
    /// Whether it was sent before.
    pub(crate) retransmission: bool,
    /// Why it was sent again; means something only with `retransmission`, and where packets are captured.
    pub(crate) cause: Cause,
    /// Number of a datagram or echo request; offset of a segment's first payload byte.
    pub(crate) number: u64,
    /// When the datagram or echo request was sent.
    pub(crate) sent_at: Time,
}

/// The pool. A slot is free again as soon as its packet is delivered or dropped.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    bodies: Vec<Body>,
    free: Vec<u32>,
}

impl Pool {
    /// A free slot; what it holds is left from an earlier packet.
    #[inline]
    pub(crate) fn allocate(&mut self) -> (u32, &mut Body) {
        let handle = self.free.pop().unwrap_or_else(|| {
            self.bodies.push(Body::default());
            (self.bodies.len() - 1) as u32
        });
        (handle, &mut self.bodies[handle as usize])
    }

    /// A slot that holds the same as another.
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
