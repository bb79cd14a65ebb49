//! The real kernel as a back end: a plan becomes network namespaces and queue disciplines, our own programs send the
//! traffic, and the results have the simulator's definitions.
//!
//! ```text
//! plan/     pure translation: namespaces, interfaces, qdiscs, sysctls, routes; refusals
//! host/     a run on the host's own kernel, in real time: link emulation over TUN devices, or the kernel's qdiscs
//! guest/    process 1 of the User-mode Linux kernel, in virtual time
//! run/      the event loop of a run, the veth network with its taps, results as files
//! agent/    a process on another machine, started over SSH: the ends of flows there, or the links of a router
//! traffic/  applications: TCP, UDP, ping, programs
//! meter/    packets at taps and TCP_INFO samples -> results and series
//! netlink/  rtnetlink and sock_diag messages
//! bpf/      congestion control that the kernel lacks, as struct_ops
//! sys/      system calls; the only unsafe code
//! ```
//! The binary `dumbbell-guest` is the only process of the virtual machine; on a host it runs the modules of `host`.
//!
//! Sources: `[Linux file identifier]` refers to Linux 6.12. Headers are in include/uapi/linux, `tcp_*.c` and other
//! files of TCP/IP in net/ipv4, `sch_*.c` in net/sched, unless a path is given. Manual pages are cited as
//! `[name(section)]`.
//!
//! Times are `u64` in ns and rates `u64` in bit/s here, with the unit in the name or its comment, instead of
//! `units::Time`, `Dur` and `Rate`: they are copied from the plan's JSON into netlink attributes, `timespec`s and
//! timestamps of the kernel, which are such integers, and a wrapper would be removed at almost every use. The meters
//! use `Time` and `Dur` where they call the simulator's statistics.

mod error;
mod plan;

#[cfg(target_os = "linux")]
pub mod agent;
#[cfg(target_os = "linux")]
pub mod bpf;
#[cfg(target_os = "linux")]
pub mod guest;
#[cfg(target_os = "linux")]
pub mod host;
#[cfg(target_os = "linux")]
mod meter;
#[cfg(target_os = "linux")]
mod netlink;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod traffic;

pub use error::KernelError;
pub use plan::congestion_control::VARIANTS;
pub use plan::hosts::{Namespace, Route};
pub use plan::policer::Policer;
pub use plan::qdisc::{DrrClass, Qdisc};
pub use plan::target::{Kernel, Target};
pub use plan::tun::TunTopology;
pub use plan::veth::{FlowPlacement, Interface, LinkPlacement, VethPair, VethTopology};
