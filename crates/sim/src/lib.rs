//! The simulator: one plan with its seed in, metrics, series and captures out.
//!
//! Time is virtual, in nanoseconds. Events are ordered by (time, insertion number). Each component draws from its own
//! random stream. Nothing depends on threads, addresses or hash order: a plan gives the same bytes on every machine.
//!
//! ```text
//! plan -> check -> network (links, routes, packet pool) + flows (endpoints, sources) -> event loop -> output
//!
//! run      one run                     network  links, routes, packets, the clock
//! events   the event queue             link     one direction of a link: queue, transmitter, wire
//! flows    TCP, UDP, ping              live     the same network for packets of a real stack, on its clock
//! meter    running statistics          record   columns of the series
//! capture  pcapng files of the run
//! ```
//! Not modeled: processing delay in nodes and routers, buffers other than the links' queues, single bit errors inside a
//! packet (a corrupted packet is lost as a whole), changes of routes.

mod capture;
mod error;
mod events;
mod flows;
mod impairments;
mod link;
mod link_meter;
mod live;
pub mod meter;
mod network;
mod output;
mod packets;
mod record;
mod reorder;
mod run;
mod tcp_meter;

pub use capture::{Capture, Captures};
pub use error::SimError;
pub use flows::source::Source;
pub use live::{Event, ExternalPacket, Live, LiveOutput, set_ecn};
pub use output::Output;
pub use run::{ExternalVariants, run, run_with};
