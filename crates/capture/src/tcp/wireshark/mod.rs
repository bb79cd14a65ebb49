//! Labels after the rules of Wireshark 4.0 and 4.4.
//!
//! ```text
//! segment ──> SYN handling ──> ladder ──> after the ladder ──> after the packet
//!             (ports reused,   window,    ACK of the unseen,   irtt, options,
//!              base numbers)   probes,    retransmissions,     window scale
//!                              dup. ACKs  list, RTT, flight
//! ```
//!
//! One pass in file order, raw sequence numbers, Wireshark's default preferences. Whether a SYN begins a new stream
//! is decided in [`track`](super::track), because streams are numbered there.

mod retransmission;
mod sequence_analysis;
mod tcp_flow;
mod unacked;

pub(crate) use tcp_flow::{Scale, Stream};

use super::label::Labels;

/// What one segment was found to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Its labels.
    pub labels: Labels,
    /// Number of the duplicate ACK, from 1; 0: it is none.
    pub duplicate_ack: u32,
    /// Time since the segment that it acknowledges, ns; 0: not known (or 0: Wireshark doesn't show that either).
    pub ack_rtt: i64,
    /// Bytes in flight; 0: not known.
    pub bytes_in_flight: u32,
    /// Initial RTT of the stream, ns, if Wireshark shows it on this frame; else 0.
    pub initial_rtt: i64,
}
