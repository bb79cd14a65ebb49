//! How much longer than its propagation delay a packet is under way: a draw for each packet, independent of the others.
//!
//! ```text
//! uniform:     between 0 and max
//! normal:      mean and standard deviation sd; a negative draw counts as 0
//! exponential: mean
//! pareto:      density ~ (1 + x / scale)^-(shape + 1) for x >= 0 (Lomax), with scale = mean (shape - 1)
//! ```
//! Pareto's tail is a power law: P(x > t) = (1 + t / scale)^-shape. Its variance exists for shape > 2 only.
//! Left out: correlation between packets. Where packets keep their order, a late one holds up those behind it, which
//! correlates their delays as a queue does.

use dumbbell_units::Dur;
use dumbbell_units::random::Stream;
use serde::Deserialize;

/// A distribution of extra delays, ns.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(tag = "distribution", rename_all = "lowercase", deny_unknown_fields)]
pub enum JitterPlan {
    /// Between nothing and `max_ns`.
    Uniform {
        /// Largest, ns.
        max_ns: u64,
    },
    /// Normal, cut off at zero.
    Normal {
        /// Mean before the cut, ns.
        mean_ns: u64,
        /// Standard deviation before the cut, ns.
        sd_ns: u64,
    },
    /// Exponential.
    Exponential {
        /// Mean, ns.
        mean_ns: u64,
    },
    /// Pareto's distribution, moved to begin at zero (Lomax).
    Pareto {
        /// Mean, ns.
        mean_ns: u64,
        /// Exponent of the tail, above 1.
        shape: f64,
    },
}

/// See the top of this file.
#[derive(Clone, Debug)]
pub struct Jitter {
    plan: JitterPlan,
    random: Stream,
}

impl Jitter {
    /// A wire with these extra delays.
    #[must_use]
    pub fn new(plan: JitterPlan, random: Stream) -> Jitter {
        Jitter { plan, random }
    }

    /// What the next packet takes longer.
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
                // The tail's inverse, from a uniform number in 0 < u <= 1; expm1 keeps small draws exact.
                let log = -libm::log(1.0 - self.random.uniform()) / shape;
                Dur((scale * libm::expm1(log)).round() as u64)
            }
        }
    }
}
