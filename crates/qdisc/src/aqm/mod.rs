//! AQM algorithms and shapers as pure state machines without packets, so that each can be tested against its source.
//! The queue disciplines in `../disciplines` combine them with queues.

pub mod blue;
pub mod cobalt;
pub mod codel;
pub mod deficit_shaper;
pub mod pi2;
pub mod pie;
pub mod red;
pub mod red_linux;
pub mod token_bucket;

/// The decision of an AQM algorithm on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Send it unchanged.
    Pass,
    /// Mark it, or drop it if it is not ECN-capable.
    Mark,
    /// Drop it.
    Drop,
}
