//! What happened to single packets, for logs: an endpoint that was asked for notes keeps them until they are taken.

use crate::packet::{Form, Space};

/// Why a packet was declared lost [RFC 9002 §6.1].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossTrigger {
    /// Enough later packets were acknowledged.
    ReorderingThreshold,
    /// A later packet was acknowledged, and enough time has passed.
    TimeThreshold,
}

/// Why an arriving packet was not processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Its keys don't exist, or were discarded.
    KeysUnavailable,
    /// It arrived before.
    Duplicate,
}

/// An event of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// An arriving packet was not processed.
    Refused(Form, u64, Refusal),
    /// A packet of this end was acknowledged for the first time.
    Acknowledged(Space, u64),
    /// A packet of this end was declared lost.
    Lost(Space, u64, LossTrigger),
}
