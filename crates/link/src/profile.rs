//! A rate or delay over time: steps and ramps, once or periodic.
//!
//! ```text
//! steps at offsets 0 = t0 < t1 < .. from `start`: from t_i on the value is v_i, until the next step
//! the value of a ramp step is reached linearly from the previous step, instead of at once
//! with a period the steps repeat every period; before `start` the value is v0
//! ```
//! Values are integers (bit/s, ns); a value on a ramp is rounded down.

use dumbbell_units::{Dur, Time};
use schemars::JsonSchema;
use serde::Deserialize;

/// One step of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepPlan {
    /// Offset from the start of the profile (or of its period), ns.
    pub at_ns: u64,
    /// The value from then on: bit/s, or ns.
    pub value: u64,
    /// True if the value is reached linearly from the previous step.
    pub ramp: bool,
}

/// The parameters of a profile.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfilePlan {
    /// The steps in ascending order; the first is at 0 and not a ramp.
    pub steps: Vec<StepPlan>,
    /// Period after which the steps repeat, ns; null: they do not.
    pub period_ns: Option<u64>,
    /// Time to which the offsets refer, ns.
    pub start_ns: u64,
}

/// A time interval in which the value is constant or changes linearly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Start of the interval.
    pub begin: Time,
    /// End of the interval (not included).
    pub end: Time,
    /// Value at the start.
    pub from: u64,
    /// Value reached at the end.
    pub to: u64,
}

impl Piece {
    /// Returns the value at `t`, a time within the piece.
    #[must_use]
    pub fn at(&self, t: Time) -> u64 {
        if self.from == self.to {
            return self.from;
        }
        let whole = u128::from(self.end.since(self.begin).0);
        let (done, left) = (u128::from(t.since(self.begin).0), u128::from(self.end.since(t).0));
        // A weighted mean of two u64 fits in a u64.
        ((u128::from(self.from) * left + u128::from(self.to) * done) / whole) as u64
    }
}

/// A profile over time.
#[derive(Clone, Debug)]
pub struct Profile {
    plan: ProfilePlan,
}

impl Profile {
    /// Returns the profile of this plan.
    #[must_use]
    pub fn new(plan: ProfilePlan) -> Profile {
        Profile { plan }
    }

    /// Returns a profile with a constant value.
    #[must_use]
    pub fn constant(value: u64) -> Profile {
        let step = StepPlan { at_ns: 0, value, ramp: false };
        Profile { plan: ProfilePlan { steps: vec![step], period_ns: None, start_ns: 0 } }
    }

    /// Returns the value at `t`.
    #[must_use]
    pub fn at(&self, t: Time) -> u64 {
        self.piece(t).at(t)
    }

    /// Returns the piece that contains `t`.
    #[must_use]
    pub fn piece(&self, t: Time) -> Piece {
        let ProfilePlan { steps, period_ns, start_ns } = &self.plan;
        let Some(since) = t.0.checked_sub(*start_ns) else {
            return Piece { begin: Time::ZERO, end: Time(*start_ns), from: steps[0].value, to: steps[0].value };
        };
        let offset = period_ns.map_or(since, |p| since % p);
        let base = Time(t.0 - offset);
        let i = steps.partition_point(|s| s.at_ns <= offset) - 1;
        let (step, next) = (steps[i], steps.get(i + 1));
        let end = next.map_or(*period_ns, |n| Some(n.at_ns)).map_or(Time::NEVER, |at| base + Dur(at));
        let to = next.filter(|n| n.ramp).map_or(step.value, |n| n.value);
        Piece { begin: base + Dur(step.at_ns), end, from: step.value, to }
    }
}
