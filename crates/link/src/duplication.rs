//! Duplication of packets on the wire.
//!
//! ```text
//! each packet that is not lost on the wire is duplicated with probability share; the copy arrives `delay` later
//! ```
//! A copy has no transmission time, because it is made on the wire. It is not lost or duplicated on this link and has
//! no jitter of its own.

use dumbbell_units::Dur;
use dumbbell_units::random::Stream;
use schemars::JsonSchema;
use serde::Deserialize;

/// The parameters of duplication.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DuplicationPlan {
    /// Probability that a packet is duplicated.
    #[schemars(range(min = 0, max = 1))]
    pub share: f64,
    /// Delay of the copy behind the original, ns.
    pub delay_ns: u64,
}

/// A duplication model with its random stream.
#[derive(Clone, Debug)]
pub struct Duplication {
    plan: DuplicationPlan,
    random: Stream,
}

impl Duplication {
    /// Returns the model of this plan.
    #[must_use]
    pub fn new(plan: DuplicationPlan, random: Stream) -> Duplication {
        Duplication { plan, random }
    }

    /// Returns the delay of the copy of the next packet, if it is duplicated.
    pub fn copies(&mut self) -> Option<Dur> {
        (self.random.uniform() < self.plan.share).then_some(Dur(self.plan.delay_ns))
    }
}
