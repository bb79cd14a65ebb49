//! The history of one direction's data: retransmissions, reordering, spurious retransmissions. The rule set `dumbbell`.
//!
//! ```text
//!            una                                            high
//!   acked     |  sent, not acknowledged                      |
//! ------------+------[====]---[==S==]-----[====]-------------+
//!                      |        |     hole: not captured (yet)
//!                      |        SACKed
//!                      captured: with time, timestamp option, IP identification, number of transmissions
//! ```
//!
//! A segment below `high` is
//! - a **retransmission** if its bytes were captured before, unless timestamp and IP identification show a copy made by
//!   the network, or the original that arrives after its own retransmission;
//! - a retransmission if it fills a hole and was sent after the segment that opened the hole: its timestamp (otherwise
//!   its IP identification) is later. Without both, time decides: a sender cannot retransmit a segment sooner than one
//!   round-trip time after the hole became visible;
//! - near the receiver, a retransmission if it is the first data beyond `high` after a timeout, as far as earlier ACKs
//!   had released such data: the original was lost before the capture point;
//! - **reordered** if it fills a hole and was sent before the segment that opened it.
//!
//! A retransmission is **spurious** if the receiver had the data: it was acknowledged or SACKed before, a D-SACK
//! reports it [RFC 2883], or the echoed timestamp is older than the retransmission (Eifel detection [RFC 3522]). This
//! works at any capture point on the path.
//!
//! Memory: at most [`SENT_LIMIT`] segments, [`HOLE_LIMIT`] holes and [`RETRANSMITTED_LIMIT`] retransmissions per
//! direction.

mod acks;
mod clock;
mod data;
mod ranges;

pub(crate) use acks::{Ack, Acked};
pub(crate) use clock::Clock;
pub(crate) use data::{Arrival, Cause, Data};

use std::collections::VecDeque;

use crate::pack::fields;
use dumbbell_wire::SackBlock;

/// Most segments stored for a direction; the oldest is dropped first.
pub(crate) const SENT_LIMIT: usize = 16_384;
/// Most holes.
pub(crate) const HOLE_LIMIT: usize = 1_024;
/// Most retransmissions that may still prove to be spurious.
pub(crate) const RETRANSMITTED_LIMIT: usize = 64;
/// Acknowledged segments that stay stored, to detect copies and late originals.
const KEPT: usize = 32;

/// Fields that order segments by the time of sending: timestamp, IP identification.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OrderHints {
    pub(crate) tsval: Option<u32>,
    pub(crate) ip_id: u16,
}

/// A range of captured data.
#[derive(Clone, Copy, Debug)]
struct Sent {
    start: u32,
    end: u32,
    /// Time of its last capture, ns.
    time: i64,
    hints: OrderHints,
    /// True if it was sent more than once.
    repeated: bool,
    sacked: bool,
}

/// A range of sequence numbers that is not captured.
#[derive(Clone, Copy, Debug)]
struct Hole {
    start: u32,
    end: u32,
    /// Time of the first segment beyond it, and its order hints.
    time: i64,
    hints: OrderHints,
    /// Number of data segments before it opened.
    count: u64,
}

/// A retransmission that may prove to be spurious.
#[derive(Clone, Copy, Debug)]
struct Retransmitted {
    start: u32,
    end: u32,
    frame: u64,
    tsval: Option<u32>,
    spurious: bool,
}

/// A loss recovery episode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Episode {
    pub(crate) cause: Cause,
    /// The episode ends when this sequence number is acknowledged (RFC 6582 `recover`).
    pub(crate) recover: u32,
}

/// The history of one direction's data.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    started: bool,
    /// End of the highest data captured or acknowledged.
    pub(crate) high: u32,
    /// SND.UNA as the capture shows it; `None` before the first ACK.
    pub(crate) una: Option<u32>,
    /// Sorted, disjoint; the first `acked` of them end at or below `una`.
    sent: VecDeque<Sent>,
    acked: usize,
    holes: VecDeque<Hole>,
    retransmitted: VecDeque<Retransmitted>,
    /// SACKed bytes above `una`, and the end of the highest SACK block.
    pub(crate) sacked: u32,
    sacked_high: u32,
    /// The SACK blocks of the last ACK, which are processed already.
    last_blocks: [SackBlock; 4],
    /// Duplicate ACKs since `una` last advanced.
    pub(crate) dupacks: u32,
    pub(crate) episode: Option<Episode>,
    last_sent: i64,
    last_advance: i64,
    last_ack: i64,
    /// Number of data segments.
    count: u64,
    /// Confidence that the IP identification increases from segment to segment.
    id_trust: i8,
    last_id: u16,
    /// After a timeout: the end of the data presumed lost before the capture point, and the time of the timeout.
    presumed_lost: Option<(u32, i64)>,
    /// Acknowledged bytes that were not captured.
    pub(crate) missed: u64,
    /// Segments dropped because of the limit.
    pub(crate) forgotten: u64,
}

impl History {
    /// Bytes sent and neither acknowledged nor SACKed.
    #[inline]
    pub(crate) fn flight(&self) -> u32 {
        match self.una {
            Some(una) if self.started => self.high.wrapping_sub(una).saturating_sub(self.sacked),
            _ => 0,
        }
    }

    /// True after the first segment or ACK.
    pub(crate) fn is_started(&self) -> bool {
        self.started
    }

    /// True while data is outstanding.
    pub(crate) fn is_outstanding(&self) -> bool {
        self.started && self.una.is_some_and(|una| una != self.high)
    }

    /// Restarts the history after a jump to unrelated sequence numbers.
    fn restart(&mut self, at: u32) {
        self.started = true;
        self.high = at;
        self.una = None;
        self.sent.clear();
        self.acked = 0;
        self.holes.clear();
        self.retransmitted.clear();
        self.sacked = 0;
        self.last_blocks = Default::default();
        self.dupacks = 0;
        self.episode = None;
        self.presumed_lost = None;
    }

    /// True if the IP identifications of this direction increase.
    fn ids_count(&self) -> bool {
        self.id_trust >= 8
    }
}

fields!(OrderHints { tsval, ip_id });
fields!(Sent { start, end, time, hints, repeated, sacked });
fields!(Hole { start, end, time, hints, count });
fields!(Retransmitted { start, end, frame, tsval, spurious });
fields!(Episode { cause, recover });
fields!(History {
    started,
    high,
    una,
    sent,
    acked,
    last_sent,
    last_advance,
    last_ack,
    count,
    id_trust,
    last_id;
    holes,
    retransmitted,
    sacked,
    sacked_high,
    last_blocks,
    dupacks,
    episode,
    presumed_lost,
    missed,
    forgotten,
});
