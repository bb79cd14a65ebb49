//! What really happened to the data of one direction, told from its history: the rules `dumbbell`.
//!
//! ```text
//!            una                                            high
//!   acked     |  sent, not acknowledged                      |
//! ------------+------[====]---[==S==]-----[====]-------------+
//!                      |        |     hole: not seen (yet)
//!                      |        SACKed
//!                      seen: when, with which timestamp and IP identification, how often
//! ```
//!
//! A segment below `high` is
//! - a **repeat** if its bytes were seen before, unless timestamp and IP identification show a copy made by the
//!   network, or the original that comes after its own repeat;
//! - a repeat as well if it fills a hole and was sent after the segment that opened the hole: its timestamp (else its
//!   IP identification) is the later one. Where both say nothing, time decides: nobody can repeat a segment sooner
//!   than a round trip after the hole became visible;
//! - a repeat too, near the receiver, if it is the first data beyond `high` after a timeout, as far as the
//!   acknowledgments before had released it: it was lost before it was seen;
//! - **reordered** if it fills a hole and was sent before the segment that opened it.
//!
//! A repeat is **spurious** if the receiver had the data: acknowledged or SACKed before, told by a D-SACK
//! ([RFC 2883](https://www.rfc-editor.org/rfc/rfc2883)), or by an echoed timestamp that is older than the repeat
//! ([RFC 3522](https://www.rfc-editor.org/rfc/rfc3522)). This works wherever on the path the capture was made.
//!
//! Bound: at most [`SENT_LIMIT`] segments, [`HOLE_LIMIT`] holes and [`REPEAT_LIMIT`] repeats for a direction.

mod acks;
mod clock;
mod data;

pub(crate) use acks::{Ack, Acked};
pub(crate) use clock::Clock;
pub(crate) use data::{Arrival, Cause, Data};

use std::collections::VecDeque;

use dumbbell_wire::SackBlock;

/// Most segments remembered for a direction; the oldest is forgotten first.
pub(crate) const SENT_LIMIT: usize = 16_384;
/// Most holes.
pub(crate) const HOLE_LIMIT: usize = 1_024;
/// Most repeats that wait for a proof that they were needless.
pub(crate) const REPEAT_LIMIT: usize = 64;
/// Segments remembered after they were acknowledged, to know copies and late originals.
const KEPT: usize = 32;

/// What tells when a segment was sent: timestamp, IP identification.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OrderHints {
    pub(crate) tsval: Option<u32>,
    pub(crate) ip_id: u16,
}

/// A stretch of data that was seen.
#[derive(Clone, Copy, Debug)]
struct Sent {
    start: u32,
    end: u32,
    /// When it was last seen.
    time: i64,
    hints: OrderHints,
    /// Seen (or concluded to have been sent) more than once.
    repeated: bool,
    sacked: bool,
}

/// A stretch of data that was jumped over.
#[derive(Clone, Copy, Debug)]
struct Hole {
    start: u32,
    end: u32,
    /// When the first segment beyond it was seen, and that segment's hints.
    time: i64,
    hints: OrderHints,
    /// Data segments seen before it opened.
    count: u64,
}

/// A repeat that may prove to have been needless.
#[derive(Clone, Copy, Debug)]
struct Repeat {
    start: u32,
    end: u32,
    frame: u64,
    tsval: Option<u32>,
    spurious: bool,
}

/// A time in which losses are being repaired.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Episode {
    pub(crate) cause: Cause,
    /// It ends when all data sent before it began is acknowledged.
    pub(crate) recover: u32,
}

/// The history of one direction's data.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    started: bool,
    /// The end of the highest data seen (or acknowledged).
    pub(crate) high: u32,
    /// Acknowledged up to here; `None` before the first ACK.
    pub(crate) una: Option<u32>,
    /// Sorted, without overlaps; the first `acked` of them end at or below `una`.
    sent: VecDeque<Sent>,
    acked: usize,
    holes: VecDeque<Hole>,
    repeats: VecDeque<Repeat>,
    /// Bytes SACKed above `una`, and the end of the highest.
    pub(crate) sacked: u32,
    sacked_high: u32,
    /// The SACK blocks of the last ACK: what was marked already.
    marked: [SackBlock; 4],
    /// ACKs that repeat `una` since it last moved.
    pub(crate) dupacks: u32,
    pub(crate) episode: Option<Episode>,
    last_sent: i64,
    last_advance: i64,
    last_ack: i64,
    /// Data segments seen.
    count: u64,
    /// How far the IP identification counts up from segment to segment; trusted above a limit.
    id_trust: i8,
    last_id: u16,
    /// Data up to here was lost before it was seen, by what a timeout shows; and when that was.
    presumed_lost: Option<(u32, i64)>,
    /// Bytes acknowledged that were never seen.
    pub(crate) missed: u64,
    /// Segments forgotten because there were too many.
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

    /// Something is known of its numbers.
    pub(crate) fn is_started(&self) -> bool {
        self.started
    }

    /// Something is on its way.
    pub(crate) fn is_outstanding(&self) -> bool {
        self.started && self.una.is_some_and(|una| una != self.high)
    }

    /// Everything seen is forgotten: the numbers have moved to where nothing is comparable.
    fn restart(&mut self, at: u32) {
        self.started = true;
        self.high = at;
        self.una = None;
        self.sent.clear();
        self.acked = 0;
        self.holes.clear();
        self.repeats.clear();
        self.sacked = 0;
        self.marked = Default::default();
        self.dupacks = 0;
        self.episode = None;
        self.presumed_lost = None;
    }

    /// IP identifications of this direction count up.
    fn ids_count(&self) -> bool {
        self.id_trust >= 8
    }
}
