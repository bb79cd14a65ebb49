//! Workloads: transfers that arrive by a process, with sizes from a distribution. The description is a part of the
//! plan; every back end draws the same transfers from it, because times and sizes have random streams of their own.
//!
//! ```text
//! stream flow/OF/arrivals -> times      OF: the flow, or its group, whose members then begin together
//! stream flow/NAME/sizes  -> sizes      by the inverse of the distribution function, rounded to whole bytes
//! ```

use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time};
use schemars::JsonSchema;
use serde::Deserialize;

/// Most transfers of a flow at a time: with more, the load exceeds the capacity, and the memory of a run would grow
/// without end.
pub const MOST_AT_ONCE: usize = 100_000;
/// Largest size that is drawn, bytes.
const LARGEST: f64 = 1e15;

/// The transfers of a flow.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadPlan {
    /// Times.
    pub arrivals: ArrivalsPlan,
    /// Name of the random stream of the times. Flows with the same name begin their transfers at the same times.
    pub arrivals_of: String,
    /// Sizes.
    pub sizes: SizesPlan,
    /// Number of transfers; 0: until the flow stops.
    pub count: u64,
    /// Connections.
    pub connections: ConnectionsPlan,
}

/// The times at which transfers begin.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum ArrivalsPlan {
    /// Intervals are exponentially distributed and independent.
    Poisson {
        /// Transfers per second.
        #[schemars(extend("exclusiveMinimum" = 0))]
        per_s: f64,
    },
    /// Intervals are constant; the first transfer begins at a uniform share of one.
    Constant {
        /// Transfers per second.
        #[schemars(extend("exclusiveMinimum" = 0))]
        per_s: f64,
    },
    /// Listed times.
    Listed {
        /// Times after the flow's start, ascending, ns.
        at_ns: Vec<u64>,
    },
}

/// The sizes of transfers, payload bytes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum SizesPlan {
    /// All the same.
    Fixed {
        /// Payload bytes.
        bytes: u64,
    },
    /// Exponential.
    Exponential {
        /// Mean, bytes.
        #[schemars(extend("exclusiveMinimum" = 0))]
        mean: f64,
    },
    /// Uniform.
    Uniform {
        /// Smallest size, bytes.
        #[schemars(extend("exclusiveMinimum" = 0))]
        least: f64,
        /// Largest size, bytes.
        #[schemars(extend("exclusiveMinimum" = 0))]
        most: f64,
    },
    /// Pareto: P(S > s) = (least / s)^shape; with `most`, conditional on S <= most.
    Pareto {
        /// The exponent.
        #[schemars(extend("exclusiveMinimum" = 0))]
        shape: f64,
        /// Smallest size, bytes.
        #[schemars(extend("exclusiveMinimum" = 0))]
        least: f64,
        /// Largest size, bytes; null: without a bound.
        #[schemars(extend("exclusiveMinimum" = 0))]
        most: Option<f64>,
    },
    /// Lognormal: ln S is normal.
    Lognormal {
        /// Mean of ln(S / 1 byte).
        mu: f64,
        /// Standard deviation of ln S.
        #[schemars(range(min = 0))]
        sigma: f64,
    },
    /// A distribution function by its points, linear between them.
    Empirical {
        /// Sizes, ascending, bytes.
        #[schemars(length(min = 1), extend("items" = {"type": "number", "exclusiveMinimum": 0}))]
        bytes: Vec<f64>,
        /// Share of transfers up to each size, ascending; the last one is 1.
        #[schemars(length(min = 1), inner(range(min = 0, max = 1)))]
        share: Vec<f64>,
    },
    /// One after the other.
    Listed {
        /// Payload bytes.
        #[schemars(length(min = 1), inner(range(min = 1)))]
        bytes: Vec<u64>,
    },
}

/// The connections of transfers.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ConnectionsPlan {
    /// A new one for each.
    New,
    /// The idle one that was used last; a new one only if none is idle.
    Reuse,
}

impl ArrivalsPlan {
    fn check(&self) -> Result<(), &'static str> {
        match self {
            ArrivalsPlan::Poisson { per_s } | ArrivalsPlan::Constant { per_s } => {
                let valid = per_s.is_finite() && *per_s > 0.0 && *per_s <= 1e9;
                if valid { Ok(()) } else { Err("arrivals: 0 to 1e9 per second, zero excluded") }
            }
            ArrivalsPlan::Listed { at_ns } => {
                if at_ns.is_sorted() {
                    Ok(())
                } else {
                    Err("arrivals: times must ascend")
                }
            }
        }
    }
}

impl SizesPlan {
    fn check(&self) -> Result<(), &'static str> {
        let is_size = |bytes: f64| bytes > 0.0 && bytes <= LARGEST;
        let valid = match self {
            SizesPlan::Fixed { bytes } => is_size(*bytes as f64),
            SizesPlan::Exponential { mean } => is_size(*mean),
            SizesPlan::Uniform { least, most } => is_size(*least) && is_size(*most) && least <= most,
            SizesPlan::Pareto { shape, least, most } => {
                let bounded = most.is_none_or(|most| is_size(most) && most > *least);
                shape.is_finite() && *shape > 0.0 && is_size(*least) && bounded
            }
            SizesPlan::Lognormal { mu, sigma } => mu.is_finite() && sigma.is_finite() && *sigma >= 0.0,
            SizesPlan::Empirical { bytes, share } => {
                let ascend = |values: &[f64]| values.windows(2).all(|w| w[0] <= w[1]);
                !bytes.is_empty()
                    && bytes.len() == share.len()
                    && bytes.iter().all(|&b| is_size(b))
                    && share.iter().all(|p| (0.0..=1.0).contains(p))
                    && ascend(bytes)
                    && ascend(share)
                    && share.last() == Some(&1.0)
            }
            SizesPlan::Listed { bytes } => !bytes.is_empty() && bytes.iter().all(|&b| is_size(b as f64)),
        };
        if valid { Ok(()) } else { Err("sizes: invalid parameters") }
    }

    /// Returns the size that exceeds a share `u` of all sizes, 0 <= u < 1, bytes. Powers are from a portable library,
    /// so that draws are identical on all machines.
    fn at_share(&self, u: f64) -> f64 {
        match self {
            SizesPlan::Uniform { least, most } => least + u * (most - least),
            SizesPlan::Pareto { shape, least, most } => {
                let above = most.map_or(0.0, |most| libm::pow(least / most, *shape));
                least * libm::pow(1.0 - u * (1.0 - above), -1.0 / shape)
            }
            SizesPlan::Empirical { bytes, share } => {
                let i = share.partition_point(|&p| p <= u).min(share.len() - 1);
                if i == 0 {
                    return bytes[0];
                }
                let span = share[i] - share[i - 1];
                let part = if span > 0.0 { (u - share[i - 1]) / span } else { 1.0 };
                bytes[i - 1] + part * (bytes[i] - bytes[i - 1])
            }
            SizesPlan::Fixed { .. }
            | SizesPlan::Exponential { .. }
            | SizesPlan::Lognormal { .. }
            | SizesPlan::Listed { .. } => unreachable!("drawn otherwise"),
        }
    }

    /// Returns the size of transfer `number`, from 0, bytes; None after the last one listed.
    fn draw(&self, number: u64, random: &mut Stream) -> Option<u64> {
        let bytes = match self {
            SizesPlan::Fixed { bytes } => return Some(*bytes),
            SizesPlan::Listed { bytes } => return bytes.get(usize::try_from(number).ok()?).copied(),
            SizesPlan::Exponential { mean } => mean * random.exponential(),
            SizesPlan::Lognormal { mu, sigma } => libm::exp(mu + sigma * random.normal()),
            _ => self.at_share(random.uniform()),
        };
        Some(bytes.clamp(1.0, LARGEST).round() as u64)
    }
}

impl WorkloadPlan {
    /// Checks the amounts.
    ///
    /// # Errors
    /// The first invalid part.
    pub fn check(&self) -> Result<(), &'static str> {
        self.arrivals.check()?;
        self.sizes.check()
    }
}

/// A transfer that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its time.
    pub at: Time,
    /// Payload bytes.
    pub bytes: u64,
}

/// The transfers of a flow in the order of their times, drawn one by one.
#[derive(Clone, Debug)]
pub struct Schedule {
    plan: WorkloadPlan,
    start: Time,
    /// Time of the last transfer.
    last: Time,
    drawn: u64,
    times: Stream,
    sizes: Stream,
}

impl Schedule {
    /// The transfers of the flow `name` that starts at `start`.
    #[must_use]
    pub fn new(plan: &WorkloadPlan, name: &str, seed: u64, start: Time) -> Schedule {
        Schedule {
            plan: plan.clone(),
            start,
            last: start,
            drawn: 0,
            times: Stream::new(seed, &format!("flow/{}/arrivals", plan.arrivals_of)),
            sizes: Stream::new(seed, &format!("flow/{name}/sizes")),
        }
    }

    fn time(&mut self) -> Option<Time> {
        let interval = |per_s: f64, share: f64| Dur((1e9 / per_s * share).round() as u64);
        match &self.plan.arrivals {
            ArrivalsPlan::Poisson { per_s } => Some(self.last + interval(*per_s, self.times.exponential())),
            ArrivalsPlan::Constant { per_s } => {
                let share = if self.drawn == 0 { self.times.uniform() } else { 1.0 };
                Some(self.last + interval(*per_s, share))
            }
            ArrivalsPlan::Listed { at_ns } => {
                at_ns.get(usize::try_from(self.drawn).ok()?).map(|&ns| self.start + Dur(ns))
            }
        }
    }
}

impl Iterator for Schedule {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        if self.plan.count > 0 && self.drawn == self.plan.count {
            return None;
        }
        let at = self.time()?;
        let bytes = self.plan.sizes.draw(self.drawn, &mut self.sizes)?;
        self.last = at;
        self.drawn += 1;
        Some(Arrival { at, bytes })
    }
}

#[cfg(test)]
mod tests;
