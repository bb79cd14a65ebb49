//! Jitter: an additional delay of each packet on the wire, drawn independently.
//!
//! ```text
//! uniform:     between 0 and max
//! normal:      mean and standard deviation sd; a negative draw gives 0
//! exponential: mean
//! pareto:      density ~ (1 + x / scale)^-(shape + 1) for x >= 0 (Lomax), with scale = mean (shape - 1)
//! ```
//! The Pareto distribution has a power-law tail: P(x > t) = (1 + t / scale)^-shape. Its variance is finite only for
//! shape > 2. Not modeled: correlation between packets. If packets keep their order, a late packet delays those behind
//! it, which correlates their delays as a queue does.

use dumbbell_units::Dur;
use dumbbell_units::random::Stream;
use schemars::JsonSchema;
use serde::Deserialize;

/// The distribution of the additional delay.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "distribution", rename_all = "lowercase", deny_unknown_fields)]
pub enum JitterPlan {
    /// Uniform between 0 and `max_ns`.
    Uniform {
        /// Maximum, ns.
        max_ns: u64,
    },
    /// Normal, truncated at zero.
    Normal {
        /// Mean before the truncation, ns.
        mean_ns: u64,
        /// Standard deviation before the truncation, ns.
        sd_ns: u64,
    },
    /// Exponential.
    Exponential {
        /// Mean, ns.
        mean_ns: u64,
    },
    /// Pareto distribution shifted to start at zero (Lomax).
    Pareto {
        /// Mean, ns.
        mean_ns: u64,
        /// Exponent of the tail, above 1.
        #[schemars(extend("exclusiveMinimum" = 1))]
        shape: f64,
    },
}

/// A jitter model with its random stream.
#[derive(Clone, Debug)]
pub struct Jitter {
    plan: JitterPlan,
    random: Stream,
}

impl Jitter {
    /// Returns the model of this plan.
    #[must_use]
    pub fn new(plan: JitterPlan, random: Stream) -> Jitter {
        Jitter { plan, random }
    }

    /// Returns the additional delay of the next packet.
    pub fn draw(&mut self) -> Dur {
        match self.plan {
            JitterPlan::Uniform { max_ns } => Dur(max_ns).scale(self.random.uniform()),
            JitterPlan::Normal { mean_ns, sd_ns } => {
                let x = mean_ns as f64 + sd_ns as f64 * self.random.normal();
                Dur(x.round() as u64) // a negative number becomes 0
            }
            JitterPlan::Exponential { mean_ns } => Dur(mean_ns).scale(self.random.exponential()),
            JitterPlan::Pareto { mean_ns, shape } => {
                let scale = mean_ns as f64 * (shape - 1.0);
                // The inverse of the tail at a uniform number in 0 < u <= 1; expm1 keeps small draws exact.
                let log = -libm::log(1.0 - self.random.uniform()) / shape;
                Dur((scale * libm::expm1(log)).round() as u64)
            }
        }
    }
}
