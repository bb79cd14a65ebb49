//! Namespaces of a plan, and the hosts of its flows with their addresses, sysctls and routes: shared by the veth and
//! the TUN topology. Sysctls [Linux sysctl_net_ipv4.c ipv4_net_table]; route metrics [ip-route(8), Linux rtnetlink.h
//! RTAX_INITCWND].

use crate::error::KernelError;
use crate::plan::congestion_control::kernel_variant;
use crate::plan::sysctl::{KernelStack, kernel_stack, segment};
use dumbbell_plan::{AppPlan, FlowPlan, Plan, TransportPlan};
use dumbbell_wire::{IpVersion, TcpHeader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// MTU where no flow sends larger packets, bytes.
const MTU: u32 = 1500;
/// Largest ICMP error, bytes [RFC 1812 §4.3.2.3].
const ICMP_ERROR: u32 = 576;
/// Largest number of flows: a machine of moderate memory runs as many.
pub(crate) const MAX_FLOWS: usize = 500;

/// A network namespace.
#[derive(Clone, Debug, PartialEq)]
pub struct Namespace {
    /// Its name, unique.
    pub name: String,
    /// The address of a host; None for nodes and links.
    pub address: Option<IpAddr>,
    /// Sysctls under `net.ipv4`, with `/` between their parts.
    pub sysctls: Vec<(&'static str, String)>,
    /// Its routing table.
    pub routes: Vec<Route>,
}

/// A route.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// The destination; None: the default route.
    pub to: Option<IpAddr>,
    /// Index of the outgoing interface.
    pub oif: u32,
    /// Metric `initcwnd`: initial window of connections, segments (None: the kernel's default) [Linux tcp_input.c
    /// tcp_init_cwnd].
    pub initcwnd: Option<u32>,
    /// Metric `advmss`: MSS that peers are offered, bytes (None: from the MTU) [Linux tcp_output.c tcp_advertise_mss].
    pub advmss: Option<u32>,
    /// Metric `window`: largest receive window of connections, bytes [Linux tcp_minisocks.c tcp_openreq_init_rwin].
    pub window: Option<u32>,
    /// Metric `congctl`: congestion control of connections that choose none (None: the namespace's default) [Linux
    /// tcp_output.c tcp_ca_dst_init].
    pub congctl: Option<&'static str>,
}

impl Route {
    /// A route without metrics.
    pub(crate) fn without_metrics(to: Option<IpAddr>, oif: u32) -> Route {
        Route { to, oif, initcwnd: None, advmss: None, window: None, congctl: None }
    }
}

/// The hosts of a flow.
pub(crate) struct HostPair {
    /// Their interface has no index yet: their routes have oif 0.
    pub(crate) namespaces: [Namespace; 2],
    pub(crate) addresses: [IpAddr; 2],
    /// The kernel's name of the congestion control.
    pub(crate) variant: Option<&'static str>,
    /// Largest receive window, bytes.
    pub(crate) window: Option<u32>,
}

/// Returns the source address of a direction: sender 10.1.N, receiver 10.2.N with the flow's number N in the last two
/// bytes; in IPv6, 2001:db8:1::M and 2001:db8:2::M [RFC 3849] with M = N + 1, because 0 is the routers' [RFC 4291
/// §2.6.1].
pub(crate) fn address_of(ip: IpVersion, direction: u32) -> IpAddr {
    let (flow, side) = ((direction / 2) as u16, 1 + (direction % 2) as u8);
    match ip {
        IpVersion::V4 => {
            let [high, low] = flow.to_be_bytes();
            IpAddr::V4(Ipv4Addr::new(10, side, high, low))
        }
        IpVersion::V6 => IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, side.into(), 0, 0, 0, 0, flow + 1)),
    }
}

/// Returns the direction of a source address; None if it is none of a flow's host.
pub(crate) fn direction_of(address: IpAddr) -> Option<u32> {
    let (flow, side) = match address {
        IpAddr::V4(address) => match address.octets() {
            [10, side @ (1 | 2), high, low] => (u16::from_be_bytes([high, low]), u32::from(side)),
            _ => return None,
        },
        IpAddr::V6(address) => match address.segments() {
            [0x2001, 0xdb8, side @ (1 | 2), 0, 0, 0, 0, number] => (number.checked_sub(1)?, u32::from(side)),
            _ => return None,
        },
    };
    Some(2 * u32::from(flow) + side - 1)
}

/// Returns the hosts of a flow.
pub(crate) fn flow_hosts(plan: &Plan, number: usize) -> Result<HostPair, KernelError> {
    let flow = &plan.flows[number];
    if let AppPlan::Video(_) | AppPlan::Objects(_) = flow.application {
        let message = format!("the kernel has no model of a {}: back end 'sim' runs it", flow.application.kind());
        return Err(KernelError::refused(&format!("flows.{}.application", flow.name), message));
    }
    let (variant, stack) = match &flow.transport {
        TransportPlan::Udp {} => (None, KernelStack::default()),
        // The programs have QUIC.
        TransportPlan::Quic { .. } if matches!(flow.application, AppPlan::Program { .. }) => {
            (None, KernelStack::default())
        }
        TransportPlan::Quic { .. } => {
            let place = format!("flows.{}.transport", flow.name);
            return Err(KernelError::refused(&place, "the kernel has no QUIC: back end 'sim' runs it"));
        }
        TransportPlan::Tcp { tls: Some(_), .. } => {
            let place = format!("flows.{}.tls", flow.name);
            return Err(KernelError::refused(&place, "the kernel's flows have no TLS: back end 'sim' runs it"));
        }
        TransportPlan::Tcp { variant, stack, tls: None } => {
            let name = kernel_variant(&flow.name, variant)?.name;
            (Some(name), kernel_stack(&flow.name, &variant.name, stack)?)
        }
    };
    let addresses = [0, 1].map(|side| address_of(flow.ip, 2 * number as u32 + side));
    let KernelStack { initcwnd, advmss, window, sysctls } = stack;
    let of_sockets = [("window", window.is_some()), ("nagle", flow.sets_nodelay())];
    if let (Some((key, _)), AppPlan::Program { .. }) = (of_sockets.iter().find(|(_, given)| *given), &flow.application)
    {
        let place = format!("flows.{}.stack.{key}", flow.name);
        return Err(KernelError::refused(
            &place,
            "the kernel has no setting for it that holds for a program's sockets",
        ));
    }
    // Only for programs: our endpoints set TCP_CONGESTION. A route may have any congestion control, a namespace's
    // default only those that are not restricted [Linux tcp_cong.c tcp_set_default_congestion_control].
    let congctl = variant.filter(|_| matches!(flow.application, AppPlan::Program { .. }));
    let namespace = |side: usize| Namespace {
        name: format!("{}.{}", flow.name, ["from", "to"][side]),
        address: Some(addresses[side]),
        sysctls: host_sysctls(&sysctls),
        routes: vec![Route { initcwnd, advmss, window, congctl, ..Route::without_metrics(None, 0) }],
    };
    Ok(HostPair { namespaces: [namespace(0), namespace(1)], addresses, variant, window })
}

/// Refuses parameters of congestion control: a host's kernel has one set of them for all its users.
pub(crate) fn refuse_module_parameters(plan: &Plan) -> Result<(), KernelError> {
    for flow in &plan.flows {
        let TransportPlan::Tcp { variant, .. } = &flow.transport else { continue };
        if let Some((key, _)) = variant.params.iter().next() {
            kernel_variant(&flow.name, variant)?;
            let message = "a host's kernel has one set of parameters for all its users: back end 'uml' can set them";
            return Err(KernelError::refused(&format!("flows.{}.variant.{key}", flow.name), message));
        }
    }
    Ok(())
}

/// Returns the sysctls of every host, followed by the flow's `own`, which take precedence.
fn host_sysctls(own: &[(&'static str, String)]) -> Vec<(&'static str, String)> {
    let common = [
        // A connection starts without the metrics of an earlier one [Linux tcp_metrics.c tcp_update_metrics].
        ("tcp_no_metrics_save", "1"),
    ];
    common.into_iter().map(|(k, v)| (k, v.to_owned())).chain(own.iter().cloned()).collect()
}

/// Returns the MTU: the largest datagram that a flow sends, and the largest segment that one asks for with its headers;
/// 1500 at least.
pub(crate) fn mtu(plan: &Plan) -> u32 {
    plan.flows.iter().filter_map(packet).fold(MTU, u32::max)
}

/// Returns the largest packet that the flows send, bytes; at least that of an ICMP error [RFC 1812 §4.3.2.3].
pub(crate) fn largest_packet(plan: &Plan) -> u32 {
    let of = |flow: &FlowPlan| match flow.application {
        AppPlan::Program { .. } => mtu(plan), // it may send anything
        _ => packet(flow).unwrap_or(MTU),
    };
    plan.flows.iter().map(of).fold(ICMP_ERROR, u32::max)
}

/// Returns the size of a flow's datagrams, or of its segments with their headers if it asks for a size.
fn packet(flow: &FlowPlan) -> Option<u32> {
    match (&flow.application, &flow.transport) {
        (
            AppPlan::Cbr { packet_bytes, .. }
            | AppPlan::Onoff { packet_bytes, .. }
            | AppPlan::Ping { packet_bytes, .. },
            TransportPlan::Udp {},
        ) => Some(*packet_bytes),
        (AppPlan::Voice(voice), TransportPlan::Udp {}) => Some(voice.packet_bytes(flow.ip.header_bytes())),
        // An MTU is an MSS with the headers [RFC 9293 §3.7.1].
        (_, TransportPlan::Tcp { stack, .. }) => {
            segment(stack).map(|bytes| bytes + flow.ip.header_bytes() + TcpHeader::LEN as u32)
        }
        _ => None,
    }
}
