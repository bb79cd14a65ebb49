//! What can be wrong with a plan.

use dumbbell_plan::PlanError;
use dumbbell_units::Time;
use dumbbell_units::param::ParamError;
use thiserror::Error;

/// Why a run could not be made. Each names the place in the plan.
#[derive(Debug, Error)]
pub enum SimError {
    /// A variant, discipline or stack parameter.
    #[error("{place}.{source}")]
    Param {
        /// Where.
        place: String,
        /// What.
        source: ParamError,
    },
    /// The plan itself.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A law that is not the registry's and can't go on.
    #[error("flows.{flow}.variant: {message} (at {at} of simulated time)")]
    Law {
        /// The flow.
        flow: String,
        /// When.
        at: Time,
        /// Where in the law, and what.
        message: String,
    },
}

impl SimError {
    /// An index or amount of the plan that can't be.
    pub(crate) fn invalid(place: String, message: String) -> SimError {
        PlanError::Invalid { place, message }.into()
    }
}
