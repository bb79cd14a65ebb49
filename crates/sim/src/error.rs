//! What can be wrong with a plan.

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
    /// A flow whose ends aren't connected.
    #[error("flows.{flow}: no path from '{from}' to '{to}'")]
    NoPath {
        /// The flow.
        flow: String,
        /// Its sending node.
        from: String,
        /// Its receiving node.
        to: String,
    },
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
    /// An index or amount that can't be.
    #[error("{place}: {message}")]
    Invalid {
        /// Where.
        place: String,
        /// What.
        message: String,
    },
}
