//! The real kernel: a plan laid out as network namespaces, veth pairs and queue disciplines, with our own traffic
//! endpoints and a measurement that gives the simulator's figures.
//!
//! ```text
//! plan -> layout (pure: everything is decided or refused here)
//!      -> guest: namespaces, netlink -> traffic, TCP_INFO samples, taps at every node and host -> figures, series
//! ```
//! `dumbbell-guest` is the only process of the virtual machine: a User-mode Linux kernel in virtual time.

mod error;
mod layout;
mod packet;
mod queue;
mod stack;
mod steps;
mod variant;

#[cfg(target_os = "linux")]
pub mod guest;
#[cfg(target_os = "linux")]
mod info;
#[cfg(target_os = "linux")]
mod meter;
#[cfg(target_os = "linux")]
mod net;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod tap;
#[cfg(target_os = "linux")]
mod traffic;

pub use error::EmuError;
pub use layout::{End, Ends, Layout, LinkEnds, Route, Space, Wire};
pub use queue::Qdisc;
pub use variant::VARIANTS;
