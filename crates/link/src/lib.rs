//! What a link does to packets besides queueing them.
//!
//! Each part is a small state machine without a clock or I/O: it is told what happens and answers. Random parts draw
//! from a stream that they are given, so that one part's draws never shift another's. The simulator's links are built
//! from them; an emulated link can be too.
//!
//! | part | answers |
//! |---|---|
//! | [`Loss`] | is this packet lost? independent losses, Gilbert and Gilbert-Elliott bursts |
//! | [`Corruption`] | is it damaged? by packet, or by bit and so by size |
//! | [`Jitter`] | how much later does it arrive? |
//! | [`Reordering`] | is it held back? for a time, or until others have passed |
//! | [`Duplication`] | does a copy follow, and when? |
//! | [`Course`] | a rate or delay over time: steps, ramps, repeated |
//! | [`Outages`] | is the link down? |
//! | [`Opportunities`] | a packet-delivery trace in place of a rate |
//! | [`Policer`] | does the packet conform to a token bucket? |
//!
//! Each has a `...Plan` beside it: its parameters, with every value in base units. The plans are checked by whoever
//! writes them; [`check`] is the last line.

pub mod check;
mod corruption;
mod course;
mod duplication;
mod jitter;
mod loss;
mod opportunities;
mod outages;
mod policer;
mod reordering;
mod service;

pub use corruption::{Corruption, CorruptionPlan};
pub use course::{Course, CoursePlan, Piece, StepPlan};
pub use duplication::{Duplication, DuplicationPlan};
pub use jitter::{Jitter, JitterPlan};
pub use loss::{Loss, LossPlan};
pub use opportunities::{Opportunities, OpportunitiesPlan};
pub use outages::{OutagePlan, Outages};
pub use policer::{Policer, PolicerPlan};
pub use reordering::{Reordering, ReorderingPlan};
pub use service::{OPPORTUNITY, Service, nanobits};
