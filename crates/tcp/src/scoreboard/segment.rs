//! A segment that was sent, and its outcome: acknowledged, SACKed [RFC 6675 §3], lost, retransmitted [RFC 8985 §5.2].

use crate::delivery_rate::TxState;
use dumbbell_units::Time;

/// One segment of the scoreboard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentSegment {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) first_sent: Time,
    /// When it was last sent (Segment.xmit_ts) [RFC 8985 §5.2].
    pub(crate) xmit_ts: Time,
    pub(crate) transmissions: u32,
    /// Distance to the next segment that may not be SACKed, if this one is.
    pub(super) skip: u32,
    /// True if it follows the previous segment in the same burst: both are retransmitted together.
    pub(super) follows_in_burst: bool,
    /// True if its last offset is a FIN.
    pub(crate) fin: bool,
    /// True if it carries PSH.
    pub(crate) psh: bool,
    pub(super) sacked: bool,
    /// Segment.lost [RFC 8985 §5.2].
    pub(super) lost: bool,
    /// True if it was retransmitted since it was last marked as lost.
    pub(super) retransmitted: bool,
}

impl SentSegment {
    pub(crate) fn len(&self) -> u64 {
        self.end - self.start
    }

    pub(crate) fn payload(&self) -> u32 {
        (self.len() - u64::from(self.fin)) as u32
    }

    /// Bytes that it counts as when it is delivered or lost: its payload, or `unit` unless that is 0.
    pub(crate) fn counted(&self, unit: u64) -> u32 {
        if unit > 0 { unit as u32 } else { self.payload() }
    }

    /// Bytes that it takes of the window: its length, or `unit` unless that is 0.
    pub(super) fn weight(&self, unit: u64) -> u64 {
        if unit > 0 { unit } else { self.len() }
    }

    pub(crate) fn delivered(&self, fate: SegmentFate) -> DeliveredSegment {
        DeliveredSegment { fate, first_at: self.first_sent, transmissions: self.transmissions, payload: self.payload() }
    }

    /// Bytes that it adds to pipe [RFC 6675 §4 SetPipe]; see [`SentSegment::weight`].
    pub(super) fn in_pipe(&self, unit: u64) -> u64 {
        if self.sacked {
            return 0;
        }
        self.weight(unit) * (u64::from(!self.lost) + u64::from(self.retransmitted))
    }

    /// True if it is lost and was not retransmitted since.
    pub(super) fn needs_retransmission(&self) -> bool {
        self.lost && !self.retransmitted && !self.sacked
    }
}

/// How an ACK reports a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentFate {
    /// Acknowledged cumulatively, and not SACKed before.
    Acknowledged,
    /// SACKed for the first time.
    Sacked,
    /// Acknowledged cumulatively after it had been SACKed.
    AcknowledgedAfterSack,
}

/// A segment that has just been acknowledged or SACKed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveredSegment {
    /// How the ACK reported it.
    pub fate: SegmentFate,
    /// When it was first sent.
    pub first_at: Time,
    /// Number of its transmissions.
    pub transmissions: u32,
    /// Its payload bytes.
    pub payload: u32,
}

/// A transmission that has just been marked as lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LostTransmission {
    pub(crate) start: u64,
    /// Bytes that it counts as.
    pub(crate) bytes: u32,
    pub(crate) tx: TxState,
}
