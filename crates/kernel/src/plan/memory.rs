//! Room for what passes, and the memory that the virtual machine needs for all that a layout makes.

use crate::plan::target::Kernel;
use crate::plan::veth::VethTopology;
use dumbbell_plan::Plan;

/// What was seen is handed on so often at least, ns.
pub(crate) const DRAIN: u64 = 10_000_000;
/// Bytes that a tap keeps of a packet: the kernel's head (80), then up to 60 + 60 bytes of IP and TCP headers.
pub(crate) const FRAME: usize = 256;
/// What a namespace takes, and what a veth pair with its disciplines does, bytes: seen with 1200 of each, generously.
const SPACE: u64 = 300_000;
const WIRE: u64 = 100_000;

/// Packets that a tap in this namespace may have to hold between two drains; None: a link's box, which has none.
pub(crate) fn frames(plan: &Plan, layout: &VethTopology, namespace: usize) -> Option<usize> {
    // On a real clock a drain may be late.
    let late = if layout.target.kernel == Kernel::Host { 20 } else { 1 };
    const SMALL: u64 = 100; // a mix of full packets and ACKs, bytes on average
    if layout.links.iter().any(|l| l.middle == namespace) {
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
    /// Memory for namespaces, interfaces, taps and senders' buffers, bytes.
    #[must_use]
    pub fn memory(&self, plan: &Plan) -> u64 {
        let rings: usize =
            (0..self.namespaces.len()).filter_map(|namespace| frames(plan, self, namespace)).sum();
        let made = self.namespaces.len() as u64 * SPACE + self.pairs.len() as u64 * WIRE;
        self.send_buffers + made + (rings * FRAME) as u64
    }
}
