//! The plan of a run and the shape of its results, the same for every back end.
//!
//! ```text
//! plan.json -> Plan -> check (indices, ranges) -> Routes (shortest paths) -> a back end -> FlowResult, QueueResult...
//! ```
//! The Python package writes the plan; a back end (simulator, kernel) reads it and fills the results.
//! [`schema`] derives the JSON Schema of plans from its types. Tests of both sides, in Rust and in Python, check it.

mod check;
pub mod column;
mod error;
mod link_plan;
mod medium;
mod named;
mod optional;
mod plan;
mod result;
mod route;
mod schema;
mod workload;

pub use check::check;
pub use error::PlanError;
pub use link_plan::{DropPlan, LinkPlan, LinkSettings};
pub use medium::MediumPlan;
pub use named::Named;
pub use optional::Optional;
pub use plan::{
    AppPlan, CapturePlan, CapturePoint, FORMAT, FlowPlan, Plan, ProgramKind, ProgramPlan, QlogVersion, SeriesPlan,
    TracePlan, TransportPlan,
};
pub use result::{FRAMES, FlowResult, Name, QueueResult, Transfer};
pub use route::{LOCAL, Routes};
pub use schema::schema;
pub use workload::{Arrival, ArrivalsPlan, ConnectionsPlan, MOST_AT_ONCE, Schedule, SizesPlan, WorkloadPlan};
