//! Routing netlink, as far as a layout needs it: veth pairs, addresses, routes, neighbours, queue disciplines and
//! their statistics. One socket for each namespace.

mod link;
mod message;
mod qdisc;
mod sock_diag;

pub(crate) use link::{
    TRIED, add_address, add_neighbour, add_route, add_veth, set_up, set_up_with_mtu, try_veth,
};
pub(crate) use message::{Netlink, head};
pub(crate) use qdisc::{add_qdisc, statistics, try_qdisc};
pub(crate) use sock_diag::busiest;
