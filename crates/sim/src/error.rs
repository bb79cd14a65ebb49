//! What can be wrong with a plan.

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
    /// An index or amount that can't be.
    #[error("{place}: {message}")]
    Invalid {
        /// Where.
        place: String,
        /// What.
        message: String,
    },
}
