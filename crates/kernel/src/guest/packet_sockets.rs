//! The hosts of link emulation in virtual time: a namespace each, with one end of a veth pair. The other ends are in a
//! namespace that all share; a packet socket at each reads and writes the packets of its host [packet(7), veth(4)].
//!
//! Hosts compute checksums themselves (transmit offloads are off), so that each packet is complete when it is read.

use crate::error::{KernelError, Step};
use crate::host::link_thread::Tunnels;
use crate::meter::packet::Packet;
use crate::netlink::{self, Netlink, head};
use crate::plan::hosts::{Namespace, Route};
use crate::plan::memory::PACKET_BUFFER;
use crate::plan::tun::TunTopology;
use crate::plan::veth::VethPair;
use crate::run::network::FlowHosts;
use crate::run::veth_network::{OFFLOADS, set_sysctl, wait_until_running};
use crate::sys;
use dumbbell_wire::IpVersion;
use std::fs::File;
use std::io::{IoSlice, Result as IoResult};
use std::os::fd::OwnedFd;

/// `ETHTOOL_STXCSUM` [Linux include/uapi/linux/ethtool.h].
const TRANSMIT_CHECKSUM: u32 = 0x17;
/// `SO_RCVBUFFORCE`: the kernel doubles the value for its own accounting [socket(7)].
const BUFFER: i32 = (PACKET_BUFFER / 2) as i32;
const PACKET_STATISTICS: i32 = 6;
/// Length of an Ethernet header, bytes.
const ETHERNET: usize = 14;
/// Length of `virtio_net_hdr`, which the link thread expects before each packet, bytes.
const VIRTIO: usize = 10;
/// Address that hosts send to. It is none of an interface's, so the kernel passes such a packet to the packet socket
/// only [Linux net/ipv4/ip_input.c ip_rcv_core PACKET_OTHERHOST].
const GATEWAY: [u8; 6] = [0x02, 0xdb, 0xff, 0xff, 0xff, 0xff];

/// The packet sockets of all hosts; see the top of this file.
pub(super) struct PacketSockets {
    sockets: Vec<[OwnedFd; 2]>,
    /// The Ethernet headers of packets to each host.
    headers: Vec<[[u8; ETHERNET]; 2]>,
}

/// Makes the hosts of a plan and their packet sockets.
pub(super) fn build(topology: &TunTopology) -> Result<(Vec<FlowHosts>, PacketSockets), KernelError> {
    sys::new_net_namespace().step(|| "namespace of the links".into())?;
    let links = this_namespace()?;
    let (mut flow_hosts, mut all) = (Vec::new(), PacketSockets { sockets: Vec::new(), headers: Vec::new() });
    for (number, flow) in topology.flows.iter().enumerate() {
        let [a, b] = [0, 1].map(|side| {
            let wire = TunTopology::pair(number, side);
            let namespace = host(&flow.namespaces[side], &wire, topology.mtu, &links)?;
            sys::enter_net_namespace(&links).step(|| "namespace".into())?;
            Ok::<_, KernelError>((namespace, socket(&wire)?, header(&wire)))
        });
        let ((first, to_first, header_first), (second, to_second, header_second)) = (a?, b?);
        flow_hosts.push(FlowHosts {
            namespaces: [first, second],
            addresses: flow.addresses,
            variant: flow.variant.map(str::to_owned),
            window: flow.window,
        });
        all.sockets.push([to_first, to_second]);
        all.headers.push([header_first, header_second]);
    }
    Ok((flow_hosts, all))
}

fn this_namespace() -> Result<OwnedFd, KernelError> {
    Ok(OwnedFd::from(File::open("/proc/thread-self/ns/net").step(|| "namespace".into())?))
}

/// Makes the namespace of a host, with the veth pair to the namespace of the links.
fn host(plan: &Namespace, wire: &VethPair, mtu: u32, links: &OwnedFd) -> Result<OwnedFd, KernelError> {
    sys::new_net_namespace().step(|| format!("namespace {}", plan.name))?;
    let namespace = this_namespace()?;
    let net = Netlink::new()?;
    for (name, value) in &plan.sysctls {
        set_sysctl(name, value)?;
    }
    netlink::add_veth(&net, wire, mtu, links)?;
    let [end, ours] = &wire.ends;
    let control = sys::socket(libc::AF_INET, libc::SOCK_DGRAM, 0).step(|| "socket".into())?;
    for command in OFFLOADS.into_iter().chain([TRANSMIT_CHECKSUM]) {
        sys::set_offload(&control, &end.name(), command, false)
            .step(|| format!("offload {command:#x} of {}", end.name()))?;
    }
    netlink::set_up(&net, end)?;
    sys::enter_net_namespace(links).step(|| "namespace".into())?;
    netlink::set_up(&Netlink::new()?, ours)?;
    wait_until_running(&ours.name())?;
    sys::enter_net_namespace(&namespace).step(|| "namespace".into())?;
    wait_until_running(&end.name())?;
    netlink::add_neighbor(&net, IpVersion::V4, end.index, GATEWAY)?;
    if let Some(address) = plan.address {
        netlink::add_address(&net, end.index, address)?;
    }
    for route in &plan.routes {
        let route = Route { oif: end.index, ..route.clone() };
        netlink::add_route(&net, &route, plan.address, route.congctl)?;
    }
    Ok(namespace)
}

/// Makes the packet socket at our end of a veth pair, in whose namespace this thread is.
fn socket(wire: &VethPair) -> Result<OwnedFd, KernelError> {
    let [_, ours] = &wire.ends;
    let socket = sys::socket(libc::AF_PACKET, libc::SOCK_RAW, 0).step(|| "packet socket".into())?;
    sys::set_option(&socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, BUFFER)
        .and_then(|()| sys::bind_to_interface(&socket, libc::ETH_P_IP as u16, ours.index))
        .step(|| format!("packet socket of {}", ours.name()))?;
    Ok(socket)
}

/// Returns the Ethernet header of packets to a host.
fn header(wire: &VethPair) -> [u8; ETHERNET] {
    let [host, ours] = &wire.ends;
    let mut header = [0; ETHERNET];
    header[..6].copy_from_slice(&host.mac());
    header[6..12].copy_from_slice(&ours.mac());
    header[12..].copy_from_slice(&(libc::ETH_P_IP as u16).to_be_bytes());
    header
}

impl PacketSockets {
    /// Returns the number of packets that hosts sent and that a full buffer has lost (`tp_drops`).
    pub(super) fn missed(&self) -> Result<u64, KernelError> {
        let mut missed = 0;
        for socket in self.sockets.iter().flatten() {
            let mut counts = [0; 8];
            sys::option(socket, libc::SOL_PACKET, PACKET_STATISTICS, &mut counts)
                .step(|| "packet statistics".into())?;
            missed += u64::from(u32::from_ne_bytes(head(&counts[4..])));
        }
        Ok(missed)
    }
}

impl Tunnels for PacketSockets {
    fn all(&self) -> Vec<(u64, &OwnedFd)> {
        self.sockets.all()
    }

    fn of(&self, token: u64) -> &OwnedFd {
        self.sockets.of(token)
    }

    fn packet(&self, token: u64, bytes: &[u8]) -> Option<Packet> {
        self.sockets.packet(token, bytes)
    }

    fn delivers(&self, direction: u32) -> &OwnedFd {
        self.sockets.delivers(direction)
    }

    fn read(&self, token: u64, into: &mut [u8]) -> IoResult<Option<usize>> {
        let (virtio, packet) = into.split_at_mut(VIRTIO);
        virtio.fill(0);
        let read = sys::read_parts(self.of(token), &mut [0; ETHERNET], packet)?;
        Ok(read.map(|n| VIRTIO + n.saturating_sub(ETHERNET)))
    }

    fn write(&self, direction: u32, parts: &[IoSlice<'_>]) -> IoResult<()> {
        let header = &self.headers[direction as usize / 2][1 - direction as usize % 2];
        let mut frame = vec![IoSlice::new(header)];
        frame.extend(parts.iter().skip(1).map(|part| IoSlice::new(part))); // without `virtio_net_hdr`
        sys::write(self.delivers(direction), &frame)
    }
}
