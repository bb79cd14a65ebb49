//! Models of a link apart from its queue: rate and delay over time, losses and other impairments.
//!
//! Each model is a small state machine without a clock or I/O. Random models draw from a stream of their own, so that
//! the draws of one never change those of another. The links of the simulator combine them.
//!
//! | model | result |
//! |---|---|
//! | [`Loss`] | losses: independent, or in bursts (Gilbert, Gilbert-Elliott) |
//! | [`Corruption`] | bit errors: per packet, or per bit and thus by size |
//! | [`Jitter`] | additional delay of each packet |
//! | [`Reordering`] | packets held back for a time or until others have overtaken them |
//! | [`Duplication`] | copies of packets |
//! | [`Profile`] | a rate or delay over time: steps and ramps, once or periodic |
//! | [`Outages`] | times in which the link is down |
//! | [`Opportunities`] | a packet-delivery trace instead of a rate |
//! | [`Transmitter`] | transmission times by a profile or a trace, with outages |
//! | [`Policer`] | conformance to a token bucket |
//!
//! Each has a `...Plan`: its parameters, all in base units (ns, bit/s, bytes) because the plan is JSON, where types
//! such as `Rate` do not exist. A scenario is checked before it becomes a plan; [`check`] checks plans from other
//! sources.

pub mod check;
mod corruption;
mod duplication;
mod jitter;
mod loss;
mod opportunities;
mod outages;
mod policer;
mod profile;
mod reordering;
mod transmitter;

pub use corruption::{Corruption, CorruptionPlan};
pub use duplication::{Duplication, DuplicationPlan};
pub use jitter::{Jitter, JitterPlan};
pub use loss::{Loss, LossPlan};
pub use opportunities::{OPPORTUNITY, Opportunities, OpportunitiesPlan};
pub use outages::{OutagePlan, Outages};
pub use policer::{Policer, PolicerPlan};
pub use profile::{Piece, Profile, ProfilePlan, StepPlan};
pub use reordering::{Reordering, ReorderingPlan};
pub use transmitter::{Transmitter, nanobits};
