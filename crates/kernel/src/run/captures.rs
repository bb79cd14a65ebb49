//! Captures made from taps: packets that reach nodes, recorded in the order of time; the simulator writes them as
//! pcapng.

use crate::error::{KernelError, Step};
use crate::meter::Lost;
use crate::meter::tap::TappedPacket;
use crate::plan::veth::FlowPlacement;
use dumbbell_plan::Plan;
use dumbbell_qdisc::DropReason;
use dumbbell_units::Time;
use dumbbell_wire::Ecn;
use std::collections::HashMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// A packet that has reached a node, from a host or over a link.
#[derive(Debug)]
struct NodeArrival {
    at: u64,
    node: usize,
    /// Its next link; None: its flow ends here.
    next: Option<usize>,
    passed: TappedPacket,
}

/// See the top of this file.
#[derive(Debug)]
pub(super) struct Captures {
    all: dumbbell_sim::Captures,
    end: u64,
    /// Handle and ECN field of packets in the network, by direction and key.
    in_network: HashMap<(u32, u64), (u32, Ecn)>,
    /// Packets since the last call of [`Captures::settle`].
    arrivals: Vec<NodeArrival>,
    lost: Vec<(usize, Lost)>,
    /// Packets that queues have dropped: link and handle.
    dropped: Vec<(usize, u32)>,
}

impl Captures {
    pub(super) fn new(plan: &Plan) -> Option<Captures> {
        let all = dumbbell_sim::Captures::new(plan)?;
        Some(Captures {
            all,
            end: plan.duration_ns,
            in_network: HashMap::new(),
            arrivals: Vec::new(),
            lost: Vec::new(),
            dropped: Vec::new(),
        })
    }

    /// Returns the interfaces of nodes towards the hosts of flows.
    pub(super) fn node_interfaces(flows: &[FlowPlacement]) -> impl Iterator<Item = u32> {
        flows.iter().flat_map(|ends| ends.node_interfaces)
    }

    /// A packet has reached a node; `next` is its next link, None where its flow ends.
    pub(super) fn arrived(&mut self, node: usize, next: Option<usize>, passed: &TappedPacket, at: u64) {
        self.arrivals.push(NodeArrival { at, node, next, passed: passed.clone() });
    }

    /// A packet was lost at a link.
    pub(super) fn lost(&mut self, link: usize, lost: Lost) {
        self.lost.push((link, lost));
    }

    /// Records the packets so far: all observations before some time are complete.
    pub(super) fn settle(&mut self) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        // Packets of hosts are entered first: they may reach the next node at the same instant.
        arrivals.iter().for_each(|c| self.enter(&c.passed, c.at));
        // A stable sort: packets of one node at the same instant keep their order, causes before effects.
        arrivals.sort_by_key(|c| c.at);
        arrivals.drain(..).for_each(|c| self.record(&c));
        self.arrivals = arrivals;
        for (link, lost) in self.lost.drain(..) {
            let Some((handle, _)) = self.in_network.remove(&(lost.direction, lost.key)) else { continue };
            if lost.on_wire {
                self.all.dropped(link, handle, Some(DropReason::Loss));
            } else {
                self.dropped.push((link, handle));
            }
        }
    }

    /// Enters a packet that a host has sent.
    fn enter(&mut self, passed: &TappedPacket, at: u64) {
        let Some(head) = passed.head.as_deref().filter(|_| at < self.end) else { return };
        let packet = &passed.packet;
        let handle = self.all.sent(packet.direction, head, packet.bytes);
        let ecn = dumbbell_sim::ecn_of(head);
        self.in_network.insert((packet.direction, packet.key), (handle, ecn));
    }

    fn record(&mut self, c: &NodeArrival) {
        let packet = &c.passed.packet;
        let name = (packet.direction, packet.key);
        let Some((handle, ecn)) = self.in_network.get(&name).copied() else { return };
        let ecn = if packet.ce { Ecn::CE } else { ecn };
        let counts = c.at < self.end;
        if counts {
            self.all.at_node(c.node, handle, ecn, Time(c.at));
        }
        match c.next {
            None => drop(self.in_network.remove(&name)),
            Some(link) if counts => self.all.at_link(link, handle, ecn, Time(c.at)),
            Some(_) => {}
        }
    }

    /// Writes the files. `reason` returns why a link's queue drops packets, if that is known.
    pub(super) fn write(
        mut self,
        place: &Path,
        reason: impl Fn(usize) -> Option<DropReason>,
    ) -> Result<(), KernelError> {
        for (link, handle) in std::mem::take(&mut self.dropped) {
            self.all.dropped(link, handle, reason(link));
        }
        for (n, capture) in self.all.finish().iter().enumerate() {
            let path = place.join(format!("capture-{n}.pcapng"));
            let file = File::create(&path).step(|| path.display().to_string())?;
            capture.write(BufWriter::new(file)).step(|| path.display().to_string())?;
        }
        Ok(())
    }
}
