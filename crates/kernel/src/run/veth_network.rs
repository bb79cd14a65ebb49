//! Makes the veth topology in the kernel: namespaces, interfaces, queue disciplines, routes, taps
//! [network_namespaces(7), veth(4)].

use crate::bpf::LoadedVariants;
use crate::error::{KernelError, Step};
use crate::meter::tap::Tap;
use crate::netlink::{self, Netlink};
use crate::plan::memory::frames;
use crate::plan::target::{Kernel, Target};
use crate::plan::veth::VethTopology;
use crate::run::facts;
use crate::run::network::FlowHosts;
use crate::sys;
use dumbbell_plan::Plan;
use serde_json::Value;
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// `ETHTOOL_STSO`, `ETHTOOL_SGSO`, `ETHTOOL_SGRO` [Linux ethtool.h].
pub(crate) const OFFLOADS: [u32; 3] = [0x1f, 0x24, 0x2c];

/// The network, ready for a run.
pub(crate) struct VethNetwork {
    pub(crate) layout: VethTopology,
    /// A namespace for each of the layout's.
    pub(crate) namespaces: Vec<OwnedFd>,
    pub(crate) sockets: Vec<Netlink>,
    /// The layout's number of a namespace, and its tap.
    pub(super) taps: Vec<(usize, Tap)>,
}

impl VethNetwork {
    /// Returns the hosts of each flow.
    pub(crate) fn flow_hosts(&self, variants: &LoadedVariants) -> Result<Vec<FlowHosts>, KernelError> {
        let flow_hosts = |ends: &crate::plan::veth::FlowPlacement| {
            let [a, b] = ends.hosts.map(|h| self.namespaces[h].try_clone().step(|| "namespace".into()));
            let variant = ends.variant.map(|name| variants.name(name).to_owned());
            Ok(FlowHosts { namespaces: [a?, b?], addresses: ends.addresses, variant, window: ends.window })
        };
        self.layout.flows.iter().map(flow_hosts).collect()
    }

    /// The kernel's version and settings, for the results.
    pub(crate) fn facts(&self, flow_hosts: &[FlowHosts]) -> Result<Value, KernelError> {
        let layout = &self.layout;
        let interface = layout.flows.first().map(|ends| layout.host_interface(ends.hosts[0])).unwrap_or_default();
        let mut facts = facts::kernel(flow_hosts, &interface, layout.mtu)?;
        facts["disciplines"] = layout.qdisc_descriptions().collect::<Vec<_>>().into();
        Ok(facts)
    }
}

/// Builds the network of a plan.
pub(crate) fn build(plan: &Plan, target: Target, variants: &LoadedVariants) -> Result<VethNetwork, KernelError> {
    let layout = VethTopology::new(plan, target)?;
    let (mut namespaces, mut sockets) = (Vec::new(), Vec::new());
    for namespace in &layout.namespaces {
        sys::new_net_namespace().step(|| format!("namespace {}", namespace.name))?;
        namespaces.push(OwnedFd::from(File::open("/proc/thread-self/ns/net").step(|| "namespace".into())?));
        sockets.push(Netlink::new()?);
        if target.kernel == Kernel::Host {
            for (name, value) in layout.ipv6_settings(namespace) {
                let written = set_ipv6(name, value);
                if layout.ipv6 {
                    written?;
                } // else IPv6 may be missing: there is nothing to switch off
            }
            // In a namespace without any address the local table may be missing, and routes are refused.
            netlink::set_up_with_mtu(&sockets[sockets.len() - 1], 1, 65_536, 1000)?;
        }
        for (name, value) in &namespace.sysctls {
            set_sysctl(name, value)?;
        }
    }
    for wire in &layout.pairs {
        let [a, b] = &wire.ends;
        netlink::add_veth(&sockets[a.namespace], wire, layout.mtu, &namespaces[b.namespace])?;
        for (end, peer) in [(a, b), (b, a)] {
            let socket = &sockets[end.namespace];
            sys::enter_net_namespace(&namespaces[end.namespace]).step(|| "namespace".into())?;
            let control = sys::socket(libc::AF_INET, libc::SOCK_DGRAM, 0).step(|| "socket".into())?;
            for command in OFFLOADS {
                sys::set_offload(&control, &end.name(), command, target.offloads)
                    .step(|| format!("offload {command:#x} of {}", end.name()))?;
            }
            netlink::set_up(socket, end)?;
            for ip in layout.versions() {
                netlink::add_neighbor(socket, ip, end.index, peer.mac())?;
            }
            if let Some(qdisc) = &end.qdisc {
                netlink::add_qdisc(socket, end, qdisc)?;
            }
            if let Some(address) = layout.namespaces[end.namespace].address {
                netlink::add_address(socket, end.index, address)?;
            }
        }
    }
    for policer in &layout.policers {
        netlink::add_policer(&sockets[policer.namespace], policer)?;
    }
    for (namespace, socket) in layout.namespaces.iter().zip(&sockets) {
        for route in &namespace.routes {
            netlink::add_route(socket, route, namespace.address, route.congctl.map(|name| variants.name(name)))?;
        }
    }
    wait_for_links(&layout, &namespaces)?;
    let taps = taps(plan, &layout, &namespaces)?;
    Ok(VethNetwork { layout, namespaces, sockets, taps })
}

/// Waits until all interfaces are running.
fn wait_for_links(layout: &VethTopology, namespaces: &[OwnedFd]) -> Result<(), KernelError> {
    for end in layout.pairs.iter().flat_map(|wire| &wire.ends) {
        sys::enter_net_namespace(&namespaces[end.namespace]).step(|| "namespace".into())?;
        wait_until_running(&end.name())?;
    }
    Ok(())
}

/// Waits until an interface of the namespace that this thread is in is running.
pub(crate) fn wait_until_running(interface: &str) -> Result<(), KernelError> {
    const PATIENCE: Duration = Duration::from_secs(60);
    let began = Instant::now();
    let control = sys::socket(libc::AF_INET, libc::SOCK_DGRAM, 0).step(|| "socket".into())?;
    while !sys::is_running(&control, interface).step(|| interface.to_owned())? {
        if began.elapsed() > PATIENCE {
            return Err(KernelError::Invalid(format!("interface {interface} isn't running after 60 s")));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// Makes the taps of all nodes and hosts, each with a ring for the packets between two drains.
fn taps(plan: &Plan, layout: &VethTopology, namespaces: &[OwnedFd]) -> Result<Vec<(usize, Tap)>, KernelError> {
    let mut taps = Vec::new();
    for (n, namespace) in namespaces.iter().enumerate() {
        if let Some(frames) = frames(plan, layout, n) {
            sys::enter_net_namespace(namespace).step(|| "namespace".into())?;
            taps.push((n, Tap::new(frames)?));
        }
    }
    Ok(taps)
}

/// Sets a sysctl under `net.ipv6` of the namespace that this thread is in.
pub(crate) fn set_ipv6(name: &str, value: &str) -> Result<(), KernelError> {
    fs::write(format!("/proc/sys/net/ipv6/{name}"), value).step(|| format!("IPv6: {name} = {value}"))
}

/// Sets a sysctl under `net.ipv4` of the namespace that this thread is in.
pub(crate) fn set_sysctl(name: &str, value: &str) -> Result<(), KernelError> {
    fs::write(format!("/proc/sys/net/ipv4/{name}"), value).step(|| format!("{name} = {value}"))
}
