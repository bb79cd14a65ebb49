//! Which packets are followed by a copy of themselves.
//!
//! ```text
//! each packet that the wire does not lose is copied with probability share; the copy arrives `delay` later
//! ```
//! A copy takes no transmission time (it is made on the wire), is never lost or copied again on this link, and draws no
//! jitter of its own.

use dumbbell_units::Dur;
use dumbbell_units::random::Stream;
use serde::Deserialize;

/// How packets are copied.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DuplicationPlan {
    /// Probability that a packet is copied.
    pub share: f64,
    /// How much later than its original the copy arrives, ns.
    pub delay_ns: u64,
}

/// See the top of this file.
#[derive(Clone, Debug)]
pub struct Duplication {
    plan: DuplicationPlan,
    random: Stream,
}

impl Duplication {
    /// A wire that copies as `plan` says.
    #[must_use]
    pub fn new(plan: DuplicationPlan, random: Stream) -> Duplication {
        Duplication { plan, random }
    }

    /// How much later than the next packet its copy arrives, if it has one.
    pub fn copies(&mut self) -> Option<Dur> {
        (self.random.uniform() < self.plan.share).then_some(Dur(self.plan.delay_ns))
    }
}
