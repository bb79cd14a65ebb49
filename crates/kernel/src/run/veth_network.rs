//! Making what the layout says.

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

/// `ETHTOOL_S...`: segmentation by the interface, segmentation late, merging.
pub(crate) const OFFLOADS: [u32; 3] = [0x1f, 0x24, 0x2c];

/// The network, ready to run.
pub(crate) struct VethNetwork {
    pub(crate) layout: VethTopology,
    /// A namespace for each of the layout's.
    pub(crate) spaces: Vec<OwnedFd>,
    pub(crate) sockets: Vec<Netlink>,
    /// The layout's number of a namespace, and its tap.
    pub(super) taps: Vec<(usize, Tap)>,
}

impl VethNetwork {
    /// Where each flow stands.
    pub(crate) fn sites(&self, variants: &LoadedVariants) -> Result<Vec<FlowHosts>, KernelError> {
        let site = |ends: &crate::plan::veth::FlowPlacement| {
            let [a, b] = ends.hosts.map(|h| self.spaces[h].try_clone().step(|| "namespace".into()));
            let variant = ends.variant.map(|name| variants.name(name).to_owned());
            Ok(FlowHosts { hosts: [a?, b?], addresses: ends.addresses, variant })
        };
        self.layout.flows.iter().map(site).collect()
    }

    /// The kernel's version and settings, for the results.
    pub(crate) fn facts(&self, sites: &[FlowHosts]) -> Result<Value, KernelError> {
        let layout = &self.layout;
        let interface =
            layout.flows.first().map(|ends| layout.interface_at(ends.hosts[0])).unwrap_or_default();
        let mut facts = facts::kernel(sites, &interface, layout.mtu)?;
        facts["disciplines"] = layout.disciplines_in_words().collect::<Vec<_>>().into();
        Ok(facts)
    }
}

/// Builds the network of a plan.
pub(crate) fn build(
    plan: &Plan,
    target: Target,
    variants: &LoadedVariants,
) -> Result<VethNetwork, KernelError> {
    let layout = VethTopology::new(plan, target)?;
    let (mut spaces, mut sockets) = (Vec::new(), Vec::new());
    for space in &layout.spaces {
        sys::new_network().step(|| format!("namespace {}", space.name))?;
        spaces.push(OwnedFd::from(File::open("/proc/thread-self/ns/net").step(|| "namespace".into())?));
        sockets.push(Netlink::new()?);
        if target.kernel == Kernel::Host {
            // IPv6 would send packets of its own.
            let _ = fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
            // Without any address of its own, a namespace may have no table of them, and routes are refused.
            netlink::set_up_tunnel(&sockets[sockets.len() - 1], 1, 65_536, 1000)?;
        }
        for (name, value) in &space.settings {
            set_sysctl(name, value)?;
        }
    }
    for wire in &layout.wires {
        let [a, b] = &wire.ends;
        netlink::add_wire(&sockets[a.space], wire, layout.mtu, &spaces[b.space])?;
        for (end, peer) in [(a, b), (b, a)] {
            let socket = &sockets[end.space];
            sys::enter_network(&spaces[end.space]).step(|| "namespace".into())?;
            let control = sys::socket(libc::AF_INET, libc::SOCK_DGRAM, 0).step(|| "socket".into())?;
            for command in OFFLOADS {
                sys::set_offload(&control, &end.name(), command, target.offloads)
                    .step(|| format!("offload {command:#x} of {}", end.name()))?;
            }
            netlink::set_up(socket, end)?;
            netlink::add_neighbour(socket, end.index, peer.mac())?;
            if let Some(qdisc) = &end.qdisc {
                netlink::add_qdisc(socket, end, qdisc)?;
            }
            if let Some(address) = layout.spaces[end.space].address {
                netlink::add_address(socket, end.index, address)?;
            }
        }
    }
    for (space, socket) in layout.spaces.iter().zip(&sockets) {
        for route in &space.routes {
            netlink::add_route(socket, route, space.address, route.variant.map(|name| variants.name(name)))?;
        }
    }
    wait_for_links(&layout, &spaces)?;
    let taps = taps(plan, &layout, &spaces)?;
    Ok(VethNetwork { layout, spaces, sockets, taps })
}

/// Until all interfaces send.
fn wait_for_links(layout: &VethTopology, spaces: &[OwnedFd]) -> Result<(), KernelError> {
    const PATIENCE: Duration = Duration::from_secs(60);
    let began = Instant::now();
    for end in layout.wires.iter().flat_map(|wire| &wire.ends) {
        sys::enter_network(&spaces[end.space]).step(|| "namespace".into())?;
        let control = sys::socket(libc::AF_INET, libc::SOCK_DGRAM, 0).step(|| "socket".into())?;
        while !sys::is_running(&control, &end.name()).step(|| end.name())? {
            if began.elapsed() > PATIENCE {
                return Err(KernelError::Invalid(format!("interface {} doesn't come up", end.name())));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    Ok(())
}

/// Taps at all nodes and hosts, each with room for what may pass between two drains.
fn taps(plan: &Plan, layout: &VethTopology, spaces: &[OwnedFd]) -> Result<Vec<(usize, Tap)>, KernelError> {
    let mut taps = Vec::new();
    for (n, space) in spaces.iter().enumerate() {
        if let Some(frames) = frames(plan, layout, n) {
            sys::enter_network(space).step(|| "namespace".into())?;
            taps.push((n, Tap::new(frames)?));
        }
    }
    Ok(taps)
}

/// Sets a sysctl under `net.ipv4` of the namespace that this thread is in.
pub(crate) fn set_sysctl(name: &str, value: &str) -> Result<(), KernelError> {
    fs::write(format!("/proc/sys/net/ipv4/{name}"), value).step(|| format!("{name} = {value}"))
}
