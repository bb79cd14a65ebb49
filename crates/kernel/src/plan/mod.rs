//! A plan translated for the kernel: namespaces, interfaces, queue disciplines, sysctls, routes, and the commands that
//! would make the same. Pure: nothing here makes a system call, so its tests run everywhere.
//!
//! ```text
//! veth  nodes and hosts are namespaces, links are veth pairs with tbf and netem     (tc, uml)
//! tun   hosts are namespaces with one TUN device each; a program emulates the links (link emulation)
//! ```
//! Everything that the kernel can't do is refused here, with its place in the scenario, before anything is made.

pub(crate) mod commands;
pub(crate) mod congestion_control;
pub(crate) mod describe;
pub(crate) mod hosts;
pub(crate) mod ipv6;
pub(crate) mod link;
pub(crate) mod memory;
pub(crate) mod policer;
pub(crate) mod qdisc;
pub(crate) mod sndbuf;
pub(crate) mod sysctl;
pub(crate) mod target;
pub(crate) mod tun;
pub(crate) mod veth;
