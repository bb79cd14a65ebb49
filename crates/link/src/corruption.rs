//! Which packets arrive damaged. A damaged packet has used its link like any other and is thrown away at the other end,
//! by the checksum of its link or of its transport; a checksum that misses damage is left out.
//!
//! ```text
//! by packet: each is damaged with this probability
//! by bit:    each bit is flipped with probability b, independently: a packet of n bytes is damaged with 1 - (1 - b)^(8 n)
//! ```

use dumbbell_units::random::Stream;
use serde::Deserialize;

/// How packets are damaged.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CorruptionPlan {
    /// Probability for a packet of any size.
    Packets(f64),
    /// Probability for a bit.
    Bits(f64),
}

/// See the top of this file.
#[derive(Clone, Debug)]
pub struct Corruption {
    plan: CorruptionPlan,
    random: Stream,
}

impl Corruption {
    /// A wire that damages packets as `plan` says.
    #[must_use]
    pub fn new(plan: CorruptionPlan, random: Stream) -> Corruption {
        Corruption { plan, random }
    }

    /// Whether a packet of so many wire bytes is damaged.
    pub fn damages(&mut self, bytes: u32) -> bool {
        self.random.uniform() < self.plan.probability(bytes)
    }
}

impl CorruptionPlan {
    /// The probability that a packet of so many wire bytes is damaged.
    #[must_use]
    pub fn probability(&self, bytes: u32) -> f64 {
        match *self {
            CorruptionPlan::Packets(probability) => probability,
            // 1 - (1 - b)^n without the rounding of 1 - b for small b.
            CorruptionPlan::Bits(b) => -libm::expm1(8.0 * f64::from(bytes) * libm::log1p(-b)),
        }
    }
}
