//! What packets carry: kept in one pool while queues and links pass small handles around.

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
    pub(crate) fn put(&mut self, body: Body) -> u32 {
        match self.free.pop() {
            Some(i) => {
                self.bodies[i as usize] = body;
                i
            }
            None => {
                self.bodies.push(body);
                (self.bodies.len() - 1) as u32
            }
        }
    }

    pub(crate) fn get(&self, handle: u32) -> &Body {
        &self.bodies[handle as usize]
    }

    pub(crate) fn take(&mut self, handle: u32) -> &Body {
        self.free.push(handle);
        &self.bodies[handle as usize]
    }
}
