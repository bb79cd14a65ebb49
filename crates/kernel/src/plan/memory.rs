//! Sizes of the taps' rings [packet(7), Linux Documentation/networking/packet_mmap.rst], and the memory that the
//! virtual machine needs for a topology.

use crate::plan::target::Kernel;
use crate::plan::tun::TunTopology;
use crate::plan::veth::VethTopology;
use dumbbell_plan::{AppPlan, Plan};

/// Interval of draining the taps, ns.
pub(crate) const DRAIN: u64 = 10_000_000;
/// Frame of a tap's ring, bytes: the kernel's headers (80, [Linux if_packet.h TPACKET2_HDRLEN] with padding), then up
/// to 60 + 60 bytes of IP and TCP headers.
pub(crate) const FRAME: usize = 256;
/// Memory of a namespace and of a veth pair with its queue disciplines, bytes: measured with 1200 of each, rounded up.
const NAMESPACE: u64 = 300_000;
const VETH_PAIR: u64 = 100_000;
/// Largest receive buffer of a packet socket of link emulation in virtual time, bytes: more than a host sends at one
/// instant.
pub(crate) const PACKET_BUFFER: u64 = 32 << 20;
/// Memory for the packets in emulated queues, bytes.
const PACKETS: u64 = 64 << 20;
/// Most connections of a workload at a time: each has two sockets, and a process may have 65,536 files.
pub(crate) const MOST_CONNECTIONS: usize = 10_000;
/// Memory of a connection of a workload beside its data, bytes: two sockets with their files, its meters.
const CONNECTION: u64 = 16_000;

/// Returns the number of packets that a tap in this namespace may hold between two drains; None for a link's namespace,
/// which has no tap.
pub(crate) fn frames(plan: &Plan, layout: &VethTopology, namespace: usize) -> Option<usize> {
    // In real time a drain may be late.
    let late = if layout.target.kernel == Kernel::Host { 20 } else { 1 };
    const SMALL: u64 = 100; // bytes; below the mean of full packets and their ACKs
    if layout.links.iter().any(|l| l.namespace == namespace) {
        return None;
    }
    let node = layout.flows.iter().zip(&plan.flows).find_map(|(ends, flow)| {
        let side = ends.hosts.iter().position(|h| *h == namespace)?;
        Some([flow.from, flow.to][side])
    });
    let node = node.unwrap_or(namespace);
    let rate: u64 = plan.links.iter().filter(|l| l.from == node || l.to == node).map(|l| l.rate_bps).sum();
    let packets = u128::from(rate) * u128::from(DRAIN * late) / (8_000_000_000 * u128::from(SMALL));
    Some((packets as usize).clamp(1 << 9, 1 << 16))
}

impl VethTopology {
    /// Returns the memory for namespaces, interfaces, taps and send buffers, bytes.
    #[must_use]
    pub fn memory(&self, plan: &Plan) -> u64 {
        let rings: usize = (0..self.namespaces.len()).filter_map(|namespace| frames(plan, self, namespace)).sum();
        let network = self.namespaces.len() as u64 * NAMESPACE + self.pairs.len() as u64 * VETH_PAIR;
        self.send_buffers + network + connections(plan) + (rings * FRAME) as u64
    }
}

impl TunTopology {
    /// Returns the memory of the virtual machine for namespaces, interfaces, emulated queues and buffers, bytes.
    #[must_use]
    pub fn memory(&self, plan: &Plan) -> u64 {
        let hosts = 2 * self.flows.len() as u64;
        let network = (hosts + 1) * NAMESPACE + hosts * VETH_PAIR;
        self.send_buffers(plan) + network + connections(plan) + PACKETS + PACKET_BUFFER
    }
}

/// Returns the memory of the connections of workloads, bytes.
fn connections(plan: &Plan) -> u64 {
    let works = plan.flows.iter().any(|flow| matches!(flow.application, AppPlan::Workload(_)));
    if works { MOST_CONNECTIONS as u64 * CONNECTION } else { 0 }
}
