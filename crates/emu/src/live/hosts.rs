//! Making hosts: a namespace each, with one interface that is ours to read and write.

use crate::bpf::{self, Loaded};
use crate::error::{EmuError, Step};
use crate::fabric::Site;
use crate::guest::OFFLOADS;
use crate::layout::Space;
use crate::net::{self, Netlink};
use crate::sites::{INTERFACE, QUEUE, Sites};
use crate::sys;
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Ready hosts, by flow.
pub(super) struct Hosts {
    pub(super) sites: Vec<Site>,
    /// The other end of each host's interface.
    pub(super) tunnels: Arc<Vec<[OwnedFd; 2]>>,
    pub(super) mtu: u32,
    /// Variants that the kernel lacks.
    pub(super) _loaded: Vec<Loaded>,
}

/// Builds the hosts; the variants of `in_bpf`, by the kernel's names of them, are loaded.
pub(super) fn build(plan: &Sites, in_bpf: &[String]) -> Result<Hosts, EmuError> {
    let (mut sites, mut tunnels) = (Vec::new(), Vec::new());
    let loaded: Vec<Loaded> =
        in_bpf.iter().enumerate().map(|(n, name)| bpf::load(name, n)).collect::<Result<_, _>>()?;
    for flow in &plan.flows {
        let [(a, tun_a), (b, tun_b)] = {
            let [a, b] = &flow.spaces;
            [host(a, plan.mtu)?, host(b, plan.mtu)?]
        };
        let variant = flow.variant.map(|name| match in_bpf.iter().position(|n| n == name) {
            Some(n) => loaded[n].name.clone(),
            None => name.to_owned(),
        });
        if let Some(variant) = &variant {
            for host in [&a, &b] {
                sys::enter_network(host).step(|| "namespace".into())?;
                // Only programs that don't choose for themselves need it: it is told where those are refused.
                let _ = fs::write("/proc/sys/net/ipv4/tcp_congestion_control", variant);
            }
        }
        sites.push(Site { hosts: [a, b], addresses: flow.addresses, variant });
        tunnels.push([tun_a, tun_b]);
    }
    Ok(Hosts { sites, tunnels: Arc::new(tunnels), mtu: plan.mtu, _loaded: loaded })
}

/// A namespace, and the other end of its interface.
fn host(space: &Space, mtu: u32) -> Result<(OwnedFd, OwnedFd), EmuError> {
    sys::new_network().step(|| format!("namespace {}", space.name))?;
    let namespace = OwnedFd::from(File::open("/proc/thread-self/ns/net").step(|| "namespace".into())?);
    for (name, value) in &space.settings {
        fs::write(format!("/proc/sys/net/ipv4/{name}"), value).step(|| format!("{name} = {value}"))?;
    }
    let tunnel = sys::tunnel(INTERFACE).step(|| "/dev/net/tun".into())?;
    let index = sys::interface_number(INTERFACE).step(|| INTERFACE.into())?;
    let control = sys::socket(libc::AF_INET, libc::SOCK_DGRAM, 0).step(|| "socket".into())?;
    for command in OFFLOADS {
        sys::set_offload(&control, INTERFACE, command, false)
            .step(|| format!("offload {command:#x} of {INTERFACE}"))?;
    }
    let socket = Netlink::new()?;
    net::set_up_tunnel(&socket, 1, 65_536, 1000)?; // the loopback
    net::set_up_tunnel(&socket, index, mtu, QUEUE)?;
    if let Some(address) = space.address {
        net::add_address(&socket, index, address)?;
    }
    for route in &space.routes {
        let route = crate::layout::Route { over: index, ..route.clone() };
        net::add_route(&socket, &route, space.address)?;
    }
    Ok((namespace, tunnel))
}
