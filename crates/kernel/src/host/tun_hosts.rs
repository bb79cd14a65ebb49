//! Makes the hosts of link emulation: a namespace each, with one TUN device that this process reads and writes
//! [Linux Documentation/networking/tuntap.rst; network_namespaces(7)].

use crate::bpf::{LoadedVariants, make_default};
use crate::error::{KernelError, Step};
use crate::netlink::{self, Netlink};
use crate::plan::hosts::Namespace;
use crate::plan::ipv6;
use crate::plan::tun::{INTERFACE, QUEUE, TunTopology};
use crate::run::network::FlowHosts;
use crate::run::veth_network::{OFFLOADS, set_ipv6};
use crate::sys;
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// A namespace that can be entered: name, address of a host, descriptor.
pub(super) type Place<'a> = (String, Option<String>, &'a OwnedFd);

/// The hosts of all flows.
pub(super) struct TunHosts {
    pub(super) flow_hosts: Vec<FlowHosts>,
    /// The descriptors of the hosts' TUN devices.
    pub(super) tunnels: Arc<Vec<[OwnedFd; 2]>>,
    pub(super) mtu: u32,
    /// True if the hosts send and receive super-packets.
    pub(super) offloads: bool,
    /// Variants loaded as BPF: they are registered as long as the hosts exist.
    pub(super) _loaded: LoadedVariants,
}

impl TunHosts {
    /// Returns the hosts by name.
    pub(super) fn places(&self, topology: &TunTopology) -> Vec<Place<'_>> {
        let flows = topology.flows.iter().zip(&self.flow_hosts);
        let sides = flows.flat_map(|(flow, hosts)| {
            flow.namespaces
                .iter()
                .zip(&hosts.namespaces)
                .map(|(plan, fd)| (plan.name.clone(), plan.address.map(|address| address.to_string()), fd))
        });
        sides.collect()
    }
}

/// Makes the hosts.
pub(super) fn build(plan: &TunTopology, variants: LoadedVariants) -> Result<TunHosts, KernelError> {
    let (mut flow_hosts, mut tunnels) = (Vec::new(), Vec::new());
    for flow in &plan.flows {
        let [(a, tun_a), (b, tun_b)] = {
            let [a, b] = &flow.namespaces;
            [host(a, plan, &variants)?, host(b, plan, &variants)?]
        };
        let hosts = [a, b];
        let variant = flow.variant.map(|name| variants.name(name).to_owned());
        if let Some(variant) = &variant {
            make_default(variant, &hosts)?;
        }
        flow_hosts.push(FlowHosts { namespaces: hosts, addresses: flow.addresses, variant, window: flow.window });
        tunnels.push([tun_a, tun_b]);
    }
    Ok(TunHosts { flow_hosts, tunnels: Arc::new(tunnels), mtu: plan.mtu, offloads: plan.offloads, _loaded: variants })
}

/// Makes a namespace; returns it and the descriptor of its TUN device.
fn host(
    plan: &Namespace,
    topology: &TunTopology,
    variants: &LoadedVariants,
) -> Result<(OwnedFd, OwnedFd), KernelError> {
    sys::new_net_namespace().step(|| format!("namespace {}", plan.name))?;
    let namespace = OwnedFd::from(File::open("/proc/thread-self/ns/net").step(|| "namespace".into())?);
    for (name, value) in &plan.sysctls {
        fs::write(format!("/proc/sys/net/ipv4/{name}"), value).step(|| format!("{name} = {value}"))?;
    }
    if plan.address.is_some_and(|address| address.is_ipv6()) {
        ipv6::SETTINGS.iter().try_for_each(|(name, value)| set_ipv6(name, value))?;
    }
    let tunnel = sys::tunnel(INTERFACE, topology.offloads).step(|| "/dev/net/tun".into())?;
    let index = sys::interface_number(INTERFACE).step(|| INTERFACE.into())?;
    let control = sys::socket(libc::AF_INET, libc::SOCK_DGRAM, 0).step(|| "socket".into())?;
    for command in OFFLOADS {
        sys::set_offload(&control, INTERFACE, command, topology.offloads)
            .step(|| format!("offload {command:#x} of {INTERFACE}"))?;
    }
    let socket = Netlink::new()?;
    netlink::set_up_with_mtu(&socket, 1, 65_536, 1000)?; // the loopback
    netlink::set_up_with_mtu(&socket, index, topology.mtu, QUEUE)?;
    if let Some(address) = plan.address {
        netlink::add_address(&socket, index, address)?;
    }
    for route in &plan.routes {
        let route = crate::plan::hosts::Route { oif: index, ..route.clone() };
        netlink::add_route(&socket, &route, plan.address, route.congctl.map(|name| variants.name(name)))?;
    }
    Ok((namespace, tunnel))
}
