//! Captures from taps: what comes to nodes, told in the order of time.

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

/// A packet that has come to a node, from a host or over a link.
#[derive(Debug)]
struct Coming {
    at: u64,
    node: usize,
    /// The link by which it goes on; None: its flow's end is here.
    next: Option<usize>,
    passed: TappedPacket,
}

/// See the top of this file.
#[derive(Debug)]
pub(super) struct Captures {
    all: dumbbell_sim::Captures,
    end: u64,
    /// Handle and ECN field of packets under way, by direction and key.
    under_way: HashMap<(u32, u64), (u32, Ecn)>,
    /// What was seen since the last call of [`Captures::settle`].
    coming: Vec<Coming>,
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
            under_way: HashMap::new(),
            coming: Vec::new(),
            lost: Vec::new(),
            dropped: Vec::new(),
        })
    }

    /// The interfaces by which packets come from the hosts of flows.
    pub(super) fn node_interfaces(flows: &[FlowPlacement]) -> impl Iterator<Item = u32> {
        flows.iter().flat_map(|ends| ends.node_interfaces)
    }

    /// A packet has come to a node and goes on by a link, unless its flow's end is there.
    pub(super) fn came(&mut self, node: usize, next: Option<usize>, passed: &TappedPacket, at: u64) {
        self.coming.push(Coming { at, node, next, passed: passed.clone() });
    }

    /// A packet was lost at a link.
    pub(super) fn lost(&mut self, link: usize, lost: Lost) {
        self.lost.push((link, lost));
    }

    /// All that was seen before some time has been told.
    pub(super) fn settle(&mut self) {
        let mut coming = std::mem::take(&mut self.coming);
        // All that hosts sent is known before any of it is told of, as it may come to the next node in the same moment.
        coming.iter().for_each(|c| self.enter(&c.passed, c.at));
        // What one node saw in the same moment keeps its order: causes before effects.
        coming.sort_by_key(|c| c.at);
        coming.drain(..).for_each(|c| self.tell(&c));
        self.coming = coming;
        for (link, lost) in self.lost.drain(..) {
            let Some((handle, _)) = self.under_way.remove(&(lost.direction, lost.key)) else { continue };
            if lost.on_wire {
                self.all.dropped(link, handle, Some(DropReason::Loss));
            } else {
                self.dropped.push((link, handle));
            }
        }
    }

    /// If a host has sent it, it is under way from now on.
    fn enter(&mut self, passed: &TappedPacket, at: u64) {
        let Some(head) = passed.head.as_deref().filter(|_| at < self.end) else { return };
        let packet = &passed.packet;
        let handle = self.all.sent(packet.direction, head, packet.bytes);
        let ecn = match head.get(1).map_or(0, |b| b & 3) {
            0b01 => Ecn::ECT1,
            0b10 => Ecn::ECT0,
            0b11 => Ecn::CE,
            _ => Ecn::NOT_ECT,
        };
        self.under_way.insert((packet.direction, packet.key), (handle, ecn));
    }

    fn tell(&mut self, c: &Coming) {
        let packet = &c.passed.packet;
        let name = (packet.direction, packet.key);
        let Some((handle, ecn)) = self.under_way.get(&name).copied() else { return };
        let ecn = if packet.ce { Ecn::CE } else { ecn };
        let counts = c.at < self.end;
        if counts {
            self.all.at_node(c.node, handle, ecn, Time(c.at));
        }
        match c.next {
            None => drop(self.under_way.remove(&name)),
            Some(link) if counts => self.all.at_link(link, handle, ecn, Time(c.at)),
            Some(_) => {}
        }
    }

    /// Writes the files. `reason`: why a link's queue drops, where that is known.
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
