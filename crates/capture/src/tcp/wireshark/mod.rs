//! Labels by the rules of Wireshark 4.0 and 4.4 [Wireshark packet-tcp.c `tcp_analyze_sequence_number`].
//!
//! ```text
//! segment ──> SYN handling ──> forward checks ──> ACK and data ──────> after the packet
//!             (ports reused,   window, probes,    unseen ACK,          initial RTT, options,
//!              base_seq)       keep-alives,       retransmission type, window scale
//!                              duplicate ACKs     RTT, bytes in flight
//! ```
//!
//! One pass in file order, with raw sequence numbers and Wireshark's default preferences. Identifiers are those of
//! Wireshark's source. A SYN that begins a new stream is handled in [`track`](super::track), where streams are
//! numbered. The rules are written from the behavior of the released versions and are compared with tshark frame by
//! frame (`validation/tshark`); no code is taken over.

mod retransmission;
mod sequence_analysis;
mod tcp_flow;
mod unacked;

pub(crate) use tcp_flow::{Scale, Stream};

use super::label::Labels;

/// Labels and values of a segment, as Wireshark shows them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Labels.
    pub labels: Labels,
    /// `duplicate_ack_num`: number of the duplicate ACK, from 1; 0: not a duplicate.
    pub duplicate_ack: u32,
    /// `ack_rtt`: time since the segment that it acknowledges, ns; 0: unknown. (Wireshark does not show a time of 0
    /// either.)
    pub ack_rtt: i64,
    /// `bytes_in_flight`; 0: unknown.
    pub bytes_in_flight: u32,
    /// `initial_rtt` of the stream, ns, if Wireshark shows it on this frame; otherwise 0.
    pub initial_rtt: i64,
}
