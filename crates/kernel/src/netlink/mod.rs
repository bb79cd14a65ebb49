//! Netlink: rtnetlink messages for veth pairs, addresses, routes, neighbors, queue disciplines and their statistics,
//! and sock_diag for TCP sockets. One socket per namespace [rtnetlink(7), sock_diag(7)].

mod filter;
mod link;
mod message;
mod qdisc;
mod rule;
mod sock_diag;
mod traffic_control;

pub(crate) use filter::{add_policer, policed};
pub(crate) use link::{TRIED, add_address, add_neighbor, add_route, add_veth, set_up, set_up_with_mtu, try_veth};
pub(crate) use message::{Netlink, head};
pub(crate) use qdisc::{add_qdisc, statistics, try_qdisc};
pub(crate) use rule::{add_default_route, add_rules, remove_rules};
pub(crate) use sock_diag::Connections;
