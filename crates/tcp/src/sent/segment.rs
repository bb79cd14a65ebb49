//! A segment that has been sent, and what becomes of it.

use crate::rate::Stamp;
use dumbbell_units::Time;

/// One segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) first_at: Time,
    pub(crate) last_at: Time,
    /// Of the last transmission.
    pub(crate) stamp: Stamp,
    pub(crate) transmissions: u32,
    /// How far to go for the next segment that may not be SACKed, if this one is.
    pub(super) skip: u32,
    /// It follows the one before it in one burst: they go again together.
    pub(super) joined: bool,
    /// Whether the last of its offsets is a FIN.
    pub(crate) fin: bool,
    /// It carries PSH.
    pub(crate) psh: bool,
    pub(super) sacked: bool,
    pub(super) lost: bool,
    pub(super) resent: bool,
}

impl Sent {
    pub(crate) fn len(&self) -> u64 {
        self.end - self.start
    }

    pub(crate) fn payload(&self) -> u32 {
        (self.len() - u64::from(self.fin)) as u32
    }

    pub(crate) fn delivered(&self, fate: SegmentFate) -> DeliveredSegment {
        DeliveredSegment {
            fate,
            first_at: self.first_at,
            last_at: self.last_at,
            transmissions: self.transmissions,
            payload: self.payload(),
        }
    }

    pub(super) fn in_pipe(&self) -> u64 {
        if self.sacked {
            return 0;
        }
        self.len() * (u64::from(!self.lost) + u64::from(self.resent))
    }

    /// Lost, and not sent again since.
    pub(super) fn waits(&self) -> bool {
        self.lost && !self.resent && !self.sacked
    }
}

/// How an ACK reports a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentFate {
    /// Acknowledged, and not SACKed before.
    Acknowledged,
    /// SACKed for the first time.
    Sacked,
    /// Acknowledged after it had been SACKed.
    AcknowledgedAfterSack,
}

/// A segment that has just been acknowledged or SACKed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveredSegment {
    /// How the ACK reported it.
    pub fate: SegmentFate,
    /// When it was first sent.
    pub first_at: Time,
    /// When it was last sent.
    pub last_at: Time,
    /// How often it was sent.
    pub transmissions: u32,
    /// Its payload bytes.
    pub payload: u32,
}

/// A transmission that has just been taken for lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost {
    pub(crate) start: u64,
    pub(crate) payload: u32,
    pub(crate) stamp: Stamp,
}
