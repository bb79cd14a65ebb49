//! An acknowledgment as the sender reads it, and the data that it newly reports: what [`crate::sender`] passes to
//! [`crate::recovery`].

use crate::ecn::MarkReport;
use crate::scoreboard::SentSegment;
use dumbbell_units::{Dur, Time};
use dumbbell_wire::{AccEcn, TcpFlags};

/// An acknowledgment, with offsets and times in place of wire values.
pub(crate) struct IncomingAck<'a> {
    pub(crate) ack: u64,
    /// Offset up to which the receiver allows data.
    pub(crate) wnd_end: u64,
    /// True if it can be a duplicate ACK: no payload, no SYN or FIN [RFC 5681 §2 (b), (c)].
    pub(crate) may_be_duplicate: bool,
    pub(crate) sack: &'a [(u64, u64)],
    /// A segment that arrived twice [RFC 2883].
    pub(crate) dsack: Option<(u64, u64)>,
    /// When the segment was sent whose timestamp it echoes.
    pub(crate) echo: Option<Time>,
    /// Its own timestamp, by the receiver's clock.
    pub(crate) tsval: Option<u32>,
    pub(crate) flags: TcpFlags,
    pub(crate) accecn: Option<&'a AccEcn>,
}

/// The data that an ACK newly reports.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckSummary {
    /// Bytes acknowledged cumulatively.
    pub(crate) acked: u64,
    /// True if a SACK block reports a further segment.
    pub(crate) sacked: bool,
    /// Bytes delivered, as they count in the window.
    pub(crate) delivered: u64,
    /// When the newest of the segments was sent that were sent once.
    pub(crate) newest_sent: Option<Time>,
    /// Of the acknowledged segments that were sent once: when the lowest and the highest were sent.
    pub(crate) acked_span: Option<(Time, Time)>,
    /// The same of the SACKed segments.
    pub(crate) sacked_span: Option<(Time, Time)>,
    /// True if a retransmitted segment was acknowledged, so that round trips are ambiguous [RFC 6298 §3].
    pub(crate) ambiguous: bool,
    /// Time since the echoed timestamp, at least one tick; only of an ACK that moves snd_una.
    pub(crate) echo_age: Option<Dur>,
    /// True if a segment was delivered that was sent once, before the last recovery or timeout started.
    pub(crate) original_delivered: bool,
    /// True if it is a duplicate ACK that reports nothing new.
    pub(crate) duplicate: bool,
    /// Congestion marks.
    pub(crate) marks: MarkReport,
}

impl AckSummary {
    /// True if a SACKed segment was sent before the oldest outstanding one was last sent. SACKs of later segments don't
    /// restart the timer: they could postpone it throughout a recovery.
    pub(crate) fn precedes(&self, head: Option<&SentSegment>) -> bool {
        let head_sent = head.map(|s| s.xmit_ts);
        self.sacked_span.zip(head_sent).is_some_and(|((first, _), head_sent)| first < head_sent)
    }
}
