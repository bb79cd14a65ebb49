//! Corruption of packets by bit errors. A corrupted packet uses the link like any other and is discarded at the other
//! end because of a wrong checksum. Not modeled: errors that the checksum does not detect.
//!
//! ```text
//! per packet: each packet is corrupted with this probability
//! per bit:    each bit is inverted with probability b, independently: a packet of n bytes is corrupted with
//!             probability 1 - (1 - b)^(8 n)
//! ```

use dumbbell_units::random::Stream;
use schemars::JsonSchema;
use serde::Deserialize;

/// The parameters of corruption.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CorruptionPlan {
    /// Probability per packet of any size.
    Packets(#[schemars(range(min = 0, max = 1))] f64),
    /// Probability per bit.
    Bits(#[schemars(range(min = 0, max = 1))] f64),
}

/// A corruption model with its random stream.
#[derive(Clone, Debug)]
pub struct Corruption {
    plan: CorruptionPlan,
    random: Stream,
}

impl Corruption {
    /// Returns the model of this plan.
    #[must_use]
    pub fn new(plan: CorruptionPlan, random: Stream) -> Corruption {
        Corruption { plan, random }
    }

    /// Returns true if the next packet, of this size on the wire, is corrupted.
    pub fn corrupts(&mut self, bytes: u32) -> bool {
        self.random.uniform() < self.plan.probability(bytes)
    }
}

impl CorruptionPlan {
    /// Returns the probability that a packet of this size on the wire is corrupted.
    #[must_use]
    pub fn probability(&self, bytes: u32) -> f64 {
        match *self {
            CorruptionPlan::Packets(probability) => probability,
            // 1 - (1 - b)^n without the rounding of 1 - b for small b.
            CorruptionPlan::Bits(b) => -libm::expm1(8.0 * f64::from(bytes) * libm::log1p(-b)),
        }
    }
}
