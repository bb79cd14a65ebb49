//! Interfaces, addresses, routes, neighbors as rtnetlink messages [rtnetlink(7); Linux if_link.h, veth.h, rtnetlink.h,
//! neighbour.h].

use super::message::{Message, Netlink};
use crate::error::{KernelError, Step};
use crate::plan::hosts::Route;
use crate::plan::veth::{Interface, VethPair, peer};
use crate::sys;
use dumbbell_wire::IpVersion;
use std::fs::File;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};

const NEW: i32 = libc::NLM_F_REQUEST | libc::NLM_F_ACK | libc::NLM_F_CREATE | libc::NLM_F_EXCL;
/// The address is usable at once, without a search for duplicates [Linux if_addr.h].
const IFA_F_NODAD: u8 = 2;
const VETH_INFO_PEER: u16 = 1;
const RTNH_F_ONLINK: u32 = 4;
const RTAX_WINDOW: u16 = 3;
const RTAX_ADVMSS: u16 = 8;
const RTAX_INITCWND: u16 = 11;
const RTAX_CC_ALGO: u16 = 16;

/// Returns an `ifinfomsg`.
fn ifinfomsg(index: u32, up: bool) -> Vec<u8> {
    let up = u32::from(up).to_ne_bytes();
    [&[0; 4], &index.to_ne_bytes()[..], &up, &up].concat()
}

fn named(message: Message, end: &Interface, mtu: u32) -> Message {
    message.text(libc::IFLA_IFNAME, &end.name()).attribute(libc::IFLA_ADDRESS, &end.mac()).number(libc::IFLA_MTU, mtu)
}

/// Makes a veth pair: the first interface in this socket's namespace, the second in `peer_namespace`.
pub(crate) fn add_veth(net: &Netlink, wire: &VethPair, mtu: u32, peer_namespace: &OwnedFd) -> Result<(), KernelError> {
    let [a, b] = &wire.ends;
    let message = Message::new(libc::RTM_NEWLINK, NEW, &ifinfomsg(a.index, false));
    let message = named(message, a, mtu).nested(libc::IFLA_LINKINFO, |m| {
        m.text(libc::IFLA_INFO_KIND, "veth").nested(libc::IFLA_INFO_DATA, |m| {
            m.nested(VETH_INFO_PEER, |m| {
                named(m.raw(&ifinfomsg(b.index, false)), b, mtu)
                    .number(libc::IFLA_NET_NS_FD, peer_namespace.as_raw_fd() as u32)
            })
        })
    });
    net.request(message, || format!("veth pair {} - {}", a.name(), b.name()))
}

/// Name of one interface of the pair that [`try_veth`] makes.
pub(crate) const TRIED: &str = "v2000";

/// Tries to make a veth pair in the current namespace.
pub(crate) fn try_veth() -> Result<(), KernelError> {
    let end = |index| Interface { namespace: 0, index, qdisc: None };
    let here = OwnedFd::from(File::open("/proc/thread-self/ns/net").step(|| "namespace".into())?);
    add_veth(&Netlink::new()?, &VethPair { ends: [end(2000), end(2001)] }, 1500, &here)
}

/// Sets an interface up.
pub(crate) fn set_up(net: &Netlink, end: &Interface) -> Result<(), KernelError> {
    let flags = libc::NLM_F_REQUEST | libc::NLM_F_ACK;
    let message = Message::new(libc::RTM_NEWLINK, flags, &ifinfomsg(end.index, true));
    net.request(message, || format!("{} up", end.name()))
}

/// Sets an interface up, with its MTU and the length of its transmit queue.
pub(crate) fn set_up_with_mtu(net: &Netlink, index: u32, mtu: u32, queue: u32) -> Result<(), KernelError> {
    let flags = libc::NLM_F_REQUEST | libc::NLM_F_ACK;
    let message = Message::new(libc::RTM_NEWLINK, flags, &ifinfomsg(index, true))
        .number(libc::IFLA_MTU, mtu)
        .number(libc::IFLA_TXQLEN, queue);
    net.request(message, || format!("interface {index} up"))
}

/// Returns the address family and the bytes of an address.
fn family_and_bytes(address: IpAddr) -> (u8, Vec<u8>) {
    let bytes = match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    (sys::family_of(address) as u8, bytes)
}

fn version_of(address: IpAddr) -> IpVersion {
    if address.is_ipv6() { IpVersion::V6 } else { IpVersion::V4 }
}

/// Adds the address of an interface.
pub(crate) fn add_address(net: &Netlink, index: u32, address: IpAddr) -> Result<(), KernelError> {
    let (family, bytes) = family_and_bytes(address);
    let flags = if address.is_ipv6() { IFA_F_NODAD } else { 0 };
    let fixed = [&[family, bytes.len() as u8 * 8, flags, 0], &index.to_ne_bytes()[..]].concat();
    let message = Message::new(libc::RTM_NEWADDR, NEW, &fixed)
        .attribute(libc::IFA_LOCAL, &bytes)
        .attribute(libc::IFA_ADDRESS, &bytes);
    net.request(message, || format!("address {address}"))
}

/// Adds the permanent neighbor entry of the other end of a veth pair.
pub(crate) fn add_neighbor(net: &Netlink, ip: IpVersion, index: u32, mac: [u8; 6]) -> Result<(), KernelError> {
    let state = libc::NUD_PERMANENT.to_ne_bytes();
    let (family, bytes) = family_and_bytes(peer(ip));
    let fixed = [&[family, 0, 0, 0], &index.to_ne_bytes()[..], &state, &[0, 0]].concat();
    let message = Message::new(libc::RTM_NEWNEIGH, NEW, &fixed)
        .attribute(libc::NDA_DST, &bytes)
        .attribute(libc::NDA_LLADDR, &mac);
    net.request(message, || format!("neighbor of interface {index}"))
}

/// Adds a route. `source` is the source address of packets from here, `congctl` the congestion control of connections
/// that choose none; it may be restricted, unlike the default of a namespace.
pub(crate) fn add_route(
    net: &Netlink,
    route: &Route,
    source: Option<IpAddr>,
    congctl: Option<&str>,
) -> Result<(), KernelError> {
    let ip = route.to.or(source).map_or(IpVersion::V4, version_of);
    let (family, gateway) = family_and_bytes(peer(ip));
    let bits = if route.to.is_some() { gateway.len() as u8 * 8 } else { 0 };
    let fixed = [
        &[family, bits, 0, 0, libc::RT_TABLE_MAIN, libc::RTPROT_STATIC, libc::RT_SCOPE_UNIVERSE, libc::RTN_UNICAST],
        &RTNH_F_ONLINK.to_ne_bytes()[..],
    ]
    .concat();
    let mut message = Message::new(libc::RTM_NEWROUTE, NEW, &fixed)
        .attribute(libc::RTA_GATEWAY, &gateway)
        .number(libc::RTA_OIF, route.oif);
    if let Some(to) = route.to {
        message = message.attribute(libc::RTA_DST, &family_and_bytes(to).1);
    }
    if let Some(source) = source {
        message = message.attribute(libc::RTA_PREFSRC, &family_and_bytes(source).1);
    }
    let metrics = [(RTAX_WINDOW, route.window), (RTAX_ADVMSS, route.advmss), (RTAX_INITCWND, route.initcwnd)];
    if congctl.is_some() || metrics.iter().any(|(_, value)| value.is_some()) {
        message = message.nested(libc::RTA_METRICS, |m| {
            let m = metrics.iter().fold(m, |m, (kind, value)| match value {
                Some(value) => m.number(*kind, *value),
                None => m,
            });
            match congctl {
                Some(name) => m.text(RTAX_CC_ALGO, name),
                None => m,
            }
        });
    }
    net.request(message, || format!("route to {:?} over interface {}", route.to, route.oif))
}
