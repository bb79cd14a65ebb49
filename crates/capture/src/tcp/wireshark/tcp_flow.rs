//! The state of a stream: Wireshark's `tcp_flow_t` for each direction, and the fields of its `tcp_analysis`.
//! [Wireshark packet-tcp.h]

use super::super::label::Labels;
use super::unacked::Unacked;
use crate::pack::{fields, plain};
use dumbbell_wire::SackBlocks;

/// The window scale of a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// The capture has no SYN of this direction.
    Unknown,
    /// The SYN has no window scale option, so scaling is not used.
    Unused,
    /// Shift count.
    Shift(u8),
}

/// One direction of a stream. A sequence number of 0 means "unset", as in Wireshark.
#[derive(Clone, Debug)]
pub(crate) struct TcpFlow {
    pub(crate) base_seq: u32,
    /// Highest end of a segment so far.
    pub(crate) nextseq: u32,
    pub(super) nextseqtime: i64,
    /// True if the segment that last raised `nextseq` had no payload.
    pub(super) nextseq_by_empty: bool,
    /// Highest contiguous end of the captured segments.
    pub(super) maxseqtobeacked: u32,
    /// Acknowledgment field of the last segment, with or without the ACK flag.
    pub(super) lastack: u32,
    pub(super) lastacktime: i64,
    /// Window field of the last segment; all ones before the first.
    pub(super) window: u32,
    pub(crate) scale: Scale,
    /// True from a SYN to the first ACK after it: such windows are not scaled.
    pub(super) is_first_ack: bool,
    /// Number of duplicate ACKs; `u32::MAX` after an ACK of an unseen segment (4.0), which exceeds any threshold.
    pub(super) dupacknum: u32,
    /// Labels of the last segment.
    pub(super) lastsegmentflags: Labels,
    /// True while no segment is missing, so that bytes in flight can be computed.
    pub(super) valid_bif: bool,
    pub(super) unacked: Unacked,
    /// SACK blocks of the last segment.
    pub(super) sack: SackBlocks,
    /// MPTCP option subtypes of the stream, as of the last packet of this direction.
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
    /// Window shift count for segments of this direction without SYN.
    pub(crate) fn shift(&self) -> u8 {
        match self.scale {
            Scale::Shift(n) if !self.is_first_ack => n,
            _ => 0,
        }
    }
}

/// The state of a stream: both directions and their common fields.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stream {
    pub(crate) flows: [TcpFlow; 2],
    /// Time of the last SYN without ACK.
    pub(super) syn_time: Option<i64>,
    /// Initial RTT, ns; 0: unknown.
    pub(crate) initial_rtt: i64,
    /// MPTCP option subtypes so far in either direction: bits of [`MPTCP`].
    pub(super) mptcp: u8,
}

/// The MPTCP subtypes that are tracked, one bit each: MP_CAPABLE to MP_FASTCLOSE.
pub(super) const MPTCP: u16 = 0xff;

plain!(
    Scale,
    1,
    Self::Unknown,
    |scale| *scale == Self::Unknown,
    |scale, to| {
        let code: u8 = match scale {
            Self::Unknown => 0,
            Self::Unused => 1,
            Self::Shift(n) => n.saturating_add(2),
        };
        code.pack(to)
    },
    |from| match from.get() as u8 {
        0 => Self::Unknown,
        1 => Self::Unused,
        n => Self::Shift(n - 2),
    }
);
plain!(Labels, 1, Self::NONE, |labels| labels.is_empty(), |labels, to| labels.0.pack(to), |from| Self(
    from.get() as u16
));
fields!(TcpFlow {
    base_seq,
    nextseq,
    nextseqtime,
    nextseq_by_empty,
    maxseqtobeacked,
    lastack,
    lastacktime,
    window,
    scale,
    is_first_ack,
    valid_bif,
    unacked;
    dupacknum,
    lastsegmentflags,
    sack,
    mptcp,
});
fields!(Stream { flows, syn_time, initial_rtt, mptcp });
