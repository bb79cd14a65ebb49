//! The simulator: one plan and one seed in, figures and series out.
//!
//! Virtual time in nanoseconds; events ordered by (time, insertion); each component draws from its own random stream;
//! nothing depends on threads, addresses or hash order, so a plan gives the same bytes on every machine.
//!
//! ```text
//! plan -> check -> network (links, routes, pool) + flows (endpoints, sources) -> event loop -> output
//! ```
//! Left out: routers forward in no time, nodes have no processing delay and no buffers besides the links' queues,
//! bit errors are whole lost packets, routes don't change.

mod capture;
mod disorder;
mod error;
mod events;
mod extras;
mod flows;
mod link;
mod link_meter;
mod live;
pub mod meter;
mod network;
mod output;
mod packets;
mod record;
mod run;
mod tcp_meter;

pub use capture::{Capture, Captures};
pub use error::SimError;
pub use flows::source::Source;
pub use live::{Entering, Event, Live, LiveOutput, set_ecn};
pub use output::Output;
pub use run::{Laws, run, run_with};
