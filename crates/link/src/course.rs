//! A quantity over time: steps and ramps, once or repeated.
//!
//! ```text
//! steps at offsets 0 = t0 < t1 < .. from `start`: from t_i on the value is v_i, until the next step
//! a ramp step is reached linearly from the step before it, instead of at once
//! with a period the offsets begin again every period; before `start` the value is v0
//! ```
//! Values are whole numbers (bit/s, ns); on a ramp they are rounded down where one is asked for.

use dumbbell_units::{Dur, Time};
use serde::Deserialize;

/// One step of a course.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepPlan {
    /// When, from the start of the course (or of its period), ns.
    pub at_ns: u64,
    /// The value from then on: bit/s, or ns.
    pub value: u64,
    /// Whether the value is reached linearly, from the step before.
    pub ramp: bool,
}

/// A course.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoursePlan {
    /// The steps in their order; the first is at 0 and no ramp.
    pub steps: Vec<StepPlan>,
    /// After this the steps begin again, ns; None: never.
    pub period_ns: Option<u64>,
    /// When the steps begin to count, ns.
    pub start_ns: u64,
}

/// A stretch of time in which a value is constant or changes linearly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its begin.
    pub begin: Time,
    /// Its end (not included).
    pub end: Time,
    /// The value at its begin.
    pub from: u64,
    /// The value that it reaches at its end.
    pub to: u64,
}

impl Piece {
    /// The value at `t`, which lies in the piece.
    #[must_use]
    pub fn at(&self, t: Time) -> u64 {
        if self.from == self.to {
            return self.from;
        }
        let whole = u128::from(self.end.since(self.begin).0);
        let (done, left) = (u128::from(t.since(self.begin).0), u128::from(self.end.since(t).0));
        // A mean of two u64: it fits.
        ((u128::from(self.from) * left + u128::from(self.to) * done) / whole) as u64
    }
}

/// See the top of this file.
#[derive(Clone, Debug)]
pub struct Course {
    plan: CoursePlan,
}

impl Course {
    /// The course of that plan.
    #[must_use]
    pub fn new(plan: CoursePlan) -> Course {
        Course { plan }
    }

    /// A value that never changes.
    #[must_use]
    pub fn constant(value: u64) -> Course {
        let step = StepPlan { at_ns: 0, value, ramp: false };
        Course { plan: CoursePlan { steps: vec![step], period_ns: None, start_ns: 0 } }
    }

    /// The value at `t`.
    #[must_use]
    pub fn at(&self, t: Time) -> u64 {
        self.piece(t).at(t)
    }

    /// The piece that `t` lies in.
    #[must_use]
    pub fn piece(&self, t: Time) -> Piece {
        let CoursePlan { steps, period_ns, start_ns } = &self.plan;
        let Some(since) = t.0.checked_sub(*start_ns) else {
            return Piece {
                begin: Time::ZERO,
                end: Time(*start_ns),
                from: steps[0].value,
                to: steps[0].value,
            };
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
