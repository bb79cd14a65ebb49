//! A TCP connection: state and statistics of both directions, rounds and phases, the probable congestion control. The
//! files cite the sources of their rules.

pub mod classify;
mod connection;
mod handshake;
pub mod rounds;
pub mod side;
pub mod sketch;

pub(crate) use connection::{Connection, Ending, SegmentAnalysis};
