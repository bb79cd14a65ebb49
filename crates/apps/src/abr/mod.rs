//! Adaptive bit rates: rules that choose the bit rate of each segment.
//!
//! ```text
//! fixed     always the same                                       rate     two averages of the throughput, as hls.js
//! bola      by buffer level                                       dynamic  throughput at first, then BOLA, as dash.js
//! ```
//! A rule sees the buffer when a segment can be requested, and each download when it is complete. Left out: giving up
//! a download that has begun (hls.js and dash.js can), limits by the size of the window and by dropped frames.

mod bola;
mod dynamic;
mod external;
mod rate;

pub use bola::Bola;
pub use dynamic::Dynamic;
pub use external::{ExternalAbr, Fail};
pub use rate::Rate;

use crate::plan::{AbrPlan, VideoPlan};
use crate::playback::State;
use dumbbell_units::{Dur, Time};
use std::fmt::Debug;

/// The player as a rule sees it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Now.
    pub now: Time,
    /// Media buffered ahead of the playback position.
    pub buffer: Dur,
    /// The bit rates, ascending, bit/s.
    pub ladder: &'a [u64],
    /// Length of a segment.
    pub segment: Dur,
    /// Number of the segment to request, from 0.
    pub number: u64,
    /// Level of the segment before; None for the first.
    pub last: Option<usize>,
    /// The state of playback.
    pub state: State,
}

/// A segment that has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Download {
    /// Arrival of its last byte.
    pub at: Time,
    /// Number of the segment, from 0.
    pub number: u64,
    /// Its level.
    pub level: usize,
    /// Bytes of its content.
    pub bytes: u64,
    /// Time from its request to its last byte.
    pub took: Dur,
    /// Time from its request to its first byte.
    pub first_byte: Dur,
}

impl Download {
    /// Throughput from the request to the last byte, bit/s.
    #[must_use]
    pub fn throughput(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.took.as_secs().max(1e-9)
    }
}

/// The decision of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Request the segment with this level of the ladder.
    Level(usize),
    /// Ask again after this time.
    Wait(Dur),
}

/// A rule.
pub trait Abr: Send + Debug {
    /// Chooses the next segment's level.
    fn choose(&mut self, view: &View<'_>) -> Choice;

    /// A segment has arrived.
    fn on_download(&mut self, _download: &Download) {}

    /// True if the rule itself limits the buffer; otherwise the player does.
    fn limits_buffer(&self) -> bool {
        false
    }
}

/// The same level for each segment.
#[derive(Debug)]
pub struct Fixed(pub usize);

impl Abr for Fixed {
    fn choose(&mut self, _view: &View<'_>) -> Choice {
        Choice::Level(self.0)
    }
}

/// Makes the rule of a video; None for a rule of the user.
#[must_use]
pub fn build(video: &VideoPlan) -> Option<Box<dyn Abr>> {
    let bola = |minimum_ns| Bola::new(&video.ladder_bps, Dur(minimum_ns), Dur(video.buffer_ns));
    Some(match video.abr {
        AbrPlan::Fixed { level } => Box::new(Fixed(level)),
        AbrPlan::Rate { estimate_bps, half_lives_ns, factor, up_factor } => {
            Box::new(Rate::new(estimate_bps as f64, half_lives_ns.map(Dur), factor, up_factor))
        }
        AbrPlan::Bola { minimum_ns } => Box::new(bola(minimum_ns)),
        AbrPlan::Dynamic { minimum_ns, switch_ns, factor, segments } => {
            Box::new(Dynamic::new(bola(minimum_ns), Dur(switch_ns), factor, segments))
        }
        AbrPlan::External { .. } => return None,
    })
}

/// The highest level whose bit rate is at most `bps`; the lowest if there is none.
#[must_use]
pub fn highest_below(ladder: &[u64], bps: f64) -> usize {
    ladder.iter().rposition(|rate| *rate as f64 <= bps).unwrap_or(0)
}
