//! Errors of a plan, each with its place: no path for a flow, or an invalid value.

use thiserror::Error;

/// The reason for refusing a plan, with the place in the plan.
#[derive(Debug, Error)]
pub enum PlanError {
    /// No path connects the two ends of a flow.
    #[error("flows.{flow}: no path from '{from}' to '{to}'")]
    NoPath {
        /// Name of the flow.
        flow: String,
        /// The sending node.
        from: String,
        /// The receiving node.
        to: String,
    },
    /// An index or amount out of range.
    #[error("{place}: {message}")]
    Invalid {
        /// Place in the plan.
        place: String,
        /// The fault.
        message: String,
    },
}
