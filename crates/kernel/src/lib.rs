//! The real kernel: a plan laid out as network namespaces, veth pairs and queue disciplines, with our own traffic
//! endpoints and a measurement that gives the simulator's figures.
//!
//! ```text
//! plan -> layout (pure: everything is decided or refused here)
//!      -> guest: namespaces, netlink -> traffic, TCP_INFO samples, taps at every node and host -> figures, series
//! plan -> sites  (pure: likewise)
//!      -> live: a namespace and a TUN device for each host; the simulator's links on the real clock between them
//!         -> the same traffic, samples, figures, series
//! ```
//! `dumbbell-guest` is the only process of the virtual machine, a User-mode Linux kernel in virtual time; on a host it
//! runs what is `live`.

#[cfg(target_os = "linux")]
pub mod bpf;
mod buffers;
mod error;
mod ground;
mod layout;
mod packet;
mod queue;
mod room;
mod sites;
mod stack;
mod stages;
mod steps;
mod variant;
mod words;

#[cfg(target_os = "linux")]
mod fabric;
#[cfg(target_os = "linux")]
pub mod guest;
#[cfg(target_os = "linux")]
mod info;
#[cfg(target_os = "linux")]
mod law;
#[cfg(target_os = "linux")]
pub mod live;
#[cfg(target_os = "linux")]
mod machine;
#[cfg(target_os = "linux")]
mod meter;
#[cfg(target_os = "linux")]
mod net;
#[cfg(target_os = "linux")]
mod output;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod tap;
#[cfg(target_os = "linux")]
mod traffic;

pub use error::KernelError;
pub use ground::{Ground, Owner};
pub use layout::{End, Ends, Layout, LinkEnds, Route, Space, Wire};
pub use queue::Qdisc;
pub use sites::Sites;
pub use variant::VARIANTS;
