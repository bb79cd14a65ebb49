//! Units in types, so that a gain never meets a byte count and a millisecond never meets a second.
//!
//! | type | meaning | representation |
//! |---|---|---|
//! | [`Time`], [`Dur`] | instant since the start of the run, span | u64 nanoseconds |
//! | [`Rate`] | bit rate | u64 bit/s |
//! | [`Bytes`], [`Packets`] | amounts | u64 |
//! | [`Prob`] | probability | f64 in 0..=1 |
//!
//! Also here, because every other crate needs them: parameters declared once ([`param`]), the text
//! form of quantities ([`parse`]) and named random streams ([`random`]).

pub mod param;
pub mod parse;
mod prob;
pub mod random;
mod rate;
mod size;
mod time;

pub use prob::Prob;
pub use rate::Rate;
pub use size::{Bytes, Packets};
pub use time::{Dur, Time};
