//! A TCP connection: its two directions, from label to statistics.

pub mod classify;
mod connection;
pub mod rounds;
pub mod side;
pub mod sketch;

pub(crate) use connection::{Connection, Ending, SegmentAnalysis};
