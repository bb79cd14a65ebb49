//! AQM laws: pure state machines without packets, so that each can be tested against its document.

pub mod blue;
pub mod cobalt;
pub mod codel;
pub mod deficit_shaper;
pub mod pi2;
pub mod pie;
pub mod red;
pub mod token_bucket;

/// What happens to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    Pass,
    /// It is marked, or dropped if it can't be.
    Mark,
    /// It is dropped.
    Drop,
}
