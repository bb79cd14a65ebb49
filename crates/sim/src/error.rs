//! Errors of a simulation: an invalid plan or parameter, or external code that fails.

use dumbbell_plan::PlanError;
use dumbbell_units::Time;
use dumbbell_units::param::ParamError;
use thiserror::Error;

/// The reason why a run could not be made or finished, with the place in the plan.
#[derive(Debug, Error)]
pub enum SimError {
    /// A variant, discipline or stack parameter.
    #[error("{place}.{source}")]
    Param {
        /// Place in the plan.
        place: String,
        /// The error.
        source: ParamError,
    },
    /// The plan is invalid.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// An external variant, rule or discipline failed during the run.
    #[error("{place}: {message} (at {at} of simulated time)")]
    External {
        /// The part of the plan.
        place: String,
        /// The time of the failure.
        at: Time,
        /// The place in the code, and the reason.
        message: String,
    },
}

impl SimError {
    /// An invalid index or amount in the plan.
    pub(crate) fn invalid(place: String, message: String) -> SimError {
        PlanError::Invalid { place, message }.into()
    }
}
