//! What Wireshark remembers of a stream.

use super::super::label::Labels;
use super::unacked::Unacked;
use dumbbell_wire::SackBlocks;

/// The window scale of a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Its SYN wasn't seen.
    Unknown,
    /// The SYN shows that scaling isn't used.
    Unused,
    /// Shift count.
    Shift(u8),
}

/// One direction of a stream. 0 means "unset" for the sequence numbers, as it does to Wireshark.
#[derive(Clone, Debug)]
pub(crate) struct TcpFlow {
    pub(crate) base_seq: u32,
    /// Highest number seen.
    pub(crate) nextseq: u32,
    pub(super) nextseqtime: i64,
    /// The segment that last raised `nextseq` had no payload.
    pub(super) nextseq_by_empty: bool,
    /// End of what was seen without a hole.
    pub(super) maxseqtobeacked: u32,
    /// The acknowledgment field of the last segment, whatever its flags.
    pub(super) lastack: u32,
    pub(super) lastacktime: i64,
    /// Window field of the last segment; all ones before the first.
    pub(super) window: u32,
    pub(crate) scale: Scale,
    /// A SYN was the last with news about the handshake: its window isn't scaled.
    pub(super) is_first_ack: bool,
    /// All ones after an ACK of unseen data (4.0): more than any limit.
    pub(super) dupacknum: u32,
    pub(super) lastsegmentflags: Labels,
    /// Nothing is missing that would make the bytes in flight wrong.
    pub(super) valid_bif: bool,
    pub(super) unacked: Unacked,
    /// SACK blocks of the last segment.
    pub(super) sack: SackBlocks,
    /// What MPTCP's options had been about at the last packet in this direction.
    pub(super) mptcp: u8,
}

impl Default for TcpFlow {
    fn default() -> Self {
        Self {
            base_seq: 0,
            nextseq: 0,
            nextseqtime: 0,
            nextseq_by_empty: false,
            maxseqtobeacked: 0,
            lastack: 0,
            lastacktime: 0,
            window: u32::MAX,
            scale: Scale::Unknown,
            is_first_ack: false,
            dupacknum: 0,
            lastsegmentflags: Labels::NONE,
            valid_bif: true,
            unacked: Unacked::default(),
            sack: SackBlocks::default(),
            mptcp: 0,
        }
    }
}

impl TcpFlow {
    /// Shift count for the window in a segment of this direction that has no SYN.
    pub(crate) fn shift(&self) -> u8 {
        match self.scale {
            Scale::Shift(n) if !self.is_first_ack => n,
            _ => 0,
        }
    }
}

/// A stream: both directions, and what they share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stream {
    pub(crate) flows: [TcpFlow; 2],
    /// Time of the last SYN without ACK.
    pub(super) syn_time: Option<i64>,
    /// Initial RTT, ns; 0: not known yet.
    pub(crate) initial_rtt: i64,
    /// What MPTCP's options have been about so far, either way: bits of [`MPTCP`].
    pub(super) mptcp: u8,
}

/// The subtypes of MPTCP that count, MP_CAPABLE to MP_FASTCLOSE: a bit each.
pub(super) const MPTCP: u16 = 0xff;
