//! The simulator: one plan with its seed in, metrics, series and captures out.
//!
//! Time is virtual, in nanoseconds. The order of events at one instant is a rule (`events`). Each component draws
//! from its own random stream. Nothing depends on threads, addresses or hash order: a plan gives the same bytes on
//! every machine.
//!
//! ```text
//! plan -> check -> network (links, routes, packet pool) + flows (endpoints, sources) -> event loop -> output
//!
//! run      one run                     network  links, routes, packets, the clock
//! events   the event queue             link     one direction of a link: queue, transmitter, wire
//! flows    TCP, UDP, ping              live     the same network for packets of a real stack, on its clock
//! meter    running statistics          record   columns of the series
//! capture  pcapng files of the run            qlog     qlog files of QUIC connections
//! air      Wi-Fi media in place of links          simulation  the event loop, in steps
//! ```
//! Not modeled: processing delay in nodes and routers, buffers other than the links' queues, single bit errors inside a
//! packet (a corrupted packet is lost as a whole), changes of routes.

mod air;
mod capture;
mod error;
mod events;
mod fifo_queue;
mod flows;
mod impairments;
mod inbox;
mod link;
mod link_meter;
mod live;
pub mod meter;
mod network;
mod output;
mod packets;
mod qlog;
mod queue_result;
mod record;
mod reorder;
mod ring;
mod run;
mod simulation;
mod tcp_meter;

pub use capture::{Capture, Captures};
pub use error::SimError;
pub use flows::source::Source;
pub use live::{Event, ExternalPacket, Live, LiveOutput, ecn_of, set_ecn};
pub use network::Disciplines;
pub use output::Output;
pub use qlog::Qlog;
pub use run::{Externals, run, run_one_by_one};
pub use simulation::{Part, Simulation};
