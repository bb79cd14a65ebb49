//! Making what the layout says.

use crate::error::{KernelError, Step};
use crate::fabric::Site;
use crate::ground::{Ground, Owner};
use crate::layout::Layout;
use crate::live::Variants;
use crate::net::{self, Netlink};
use crate::room::frames;
use crate::sys;
use crate::tap::Tap;
use dumbbell_plan::Plan;
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// `ETHTOOL_S...`: segmentation by the interface, segmentation late, merging.
pub(crate) const OFFLOADS: [u32; 3] = [0x1f, 0x24, 0x2c];

/// The network, ready to run.
pub(crate) struct Network {
    pub(crate) layout: Layout,
    /// A namespace for each of the layout's.
    pub(crate) spaces: Vec<OwnedFd>,
    pub(crate) sockets: Vec<Netlink>,
    /// The layout's number of a namespace, and its tap.
    pub(super) taps: Vec<(usize, Tap)>,
}

impl Network {
    /// Where each flow stands.
    pub(crate) fn sites(&self, variants: &Variants) -> Result<Vec<Site>, KernelError> {
        let site = |ends: &crate::layout::Ends| {
            let [a, b] = ends.hosts.map(|h| self.spaces[h].try_clone().step(|| "namespace".into()));
            let variant = ends.variant.map(|name| variants.name(name).to_owned());
            Ok(Site { hosts: [a?, b?], addresses: ends.addresses, variant })
        };
        self.layout.flows.iter().map(site).collect()
    }
}

/// Builds the network of a plan.
pub(crate) fn build(plan: &Plan, ground: Ground, variants: &Variants) -> Result<Network, KernelError> {
    let layout = Layout::new(plan, ground)?;
    let (mut spaces, mut sockets) = (Vec::new(), Vec::new());
    for space in &layout.spaces {
        sys::new_network().step(|| format!("namespace {}", space.name))?;
        spaces.push(OwnedFd::from(File::open("/proc/thread-self/ns/net").step(|| "namespace".into())?));
        sockets.push(Netlink::new()?);
        if ground.owner == Owner::Host {
            // IPv6 would send packets of its own.
            let _ = fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
            // Without any address of its own, a namespace may have no table of them, and routes are refused.
            net::set_up_tunnel(&sockets[sockets.len() - 1], 1, 65_536, 1000)?;
        }
        for (name, value) in &space.settings {
            setting(name, value)?;
        }
    }
    for wire in &layout.wires {
        let [a, b] = &wire.ends;
        net::add_wire(&sockets[a.space], wire, layout.mtu, &spaces[b.space])?;
        for (end, peer) in [(a, b), (b, a)] {
            let socket = &sockets[end.space];
            sys::enter_network(&spaces[end.space]).step(|| "namespace".into())?;
            let control = sys::socket(libc::AF_INET, libc::SOCK_DGRAM, 0).step(|| "socket".into())?;
            for command in OFFLOADS {
                sys::set_offload(&control, &end.name(), command, ground.offloads)
                    .step(|| format!("offload {command:#x} of {}", end.name()))?;
            }
            net::set_up(socket, end)?;
            net::add_neighbour(socket, end.index, peer.mac())?;
            if let Some(qdisc) = &end.qdisc {
                net::add_qdisc(socket, end, qdisc)?;
            }
            if let Some(address) = layout.spaces[end.space].address {
                net::add_address(socket, end.index, address)?;
            }
        }
    }
    for (space, socket) in layout.spaces.iter().zip(&sockets) {
        for route in &space.routes {
            net::add_route(socket, route, space.address, route.variant.map(|name| variants.name(name)))?;
        }
    }
    wait_for_links(&layout, &spaces)?;
    let taps = taps(plan, &layout, &spaces)?;
    Ok(Network { layout, spaces, sockets, taps })
}

/// Until all interfaces send.
fn wait_for_links(layout: &Layout, spaces: &[OwnedFd]) -> Result<(), KernelError> {
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
fn taps(plan: &Plan, layout: &Layout, spaces: &[OwnedFd]) -> Result<Vec<(usize, Tap)>, KernelError> {
    let mut taps = Vec::new();
    for (n, space) in spaces.iter().enumerate() {
        if let Some(frames) = frames(plan, layout, n) {
            sys::enter_network(space).step(|| "namespace".into())?;
            taps.push((n, Tap::new(frames)?));
        }
    }
    Ok(taps)
}

/// TCP may have most of the memory: it decides by itself what to do when that runs short, and nothing else needs it. And
/// there may be as many namespaces as that holds.
pub(super) fn limits() -> Result<(), KernelError> {
    let namespaces = "/proc/sys/user/max_net_namespaces";
    fs::write(namespaces, "1000000").step(|| namespaces.into())?;
    let text = fs::read_to_string("/proc/meminfo").step(|| "meminfo".into())?;
    let total = text.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0);
    let pages = total / 4;
    setting("tcp_mem", &format!("{0} {0} {0}", pages * 3 / 4))
}

fn setting(name: &str, value: &str) -> Result<(), KernelError> {
    fs::write(format!("/proc/sys/net/ipv4/{name}"), value).step(|| format!("{name} = {value}"))
}
