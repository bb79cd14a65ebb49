//! Errors of a plan.

use thiserror::Error;

/// Why a plan is refused. Each names the place in the plan.
#[derive(Debug, Error)]
pub enum PlanError {
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
    /// An index or amount out of range.
    #[error("{place}: {message}")]
    Invalid {
        /// Where.
        place: String,
        /// Why.
        message: String,
    },
}
