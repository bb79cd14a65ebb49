//! Captures of packets that a real kernel's network carries: the same kind of files.

use super::{Capture, Recorder};
use crate::packets::Body;
use dumbbell_plan::Plan;
use dumbbell_qdisc::DropReason;
use dumbbell_units::Time;
use dumbbell_wire::Ecn;

/// Records packets of a real kernel. Calls are in the order of time.
#[derive(Debug)]
pub struct Captures {
    recorder: Box<Recorder>,
    packets: u32,
}

impl Captures {
    /// The captures of a plan, if it has any.
    #[must_use]
    pub fn new(plan: &Plan) -> Option<Captures> {
        Recorder::new(plan).map(|recorder| Captures { recorder, packets: 0 })
    }

    /// Records a packet that is sent and returns its handle. `direction`: twice the flow's index, plus 1 if the data
    /// receiver sends it; `head`: its first bytes, all others being zero; `bytes`: its length.
    pub fn sent(&mut self, direction: u32, head: &[u8], bytes: u32) -> u32 {
        let handle = self.packets;
        self.packets += 1;
        self.recorder.frame(head);
        self.recorder.sent(direction, handle, &Body::default(), bytes);
        handle
    }

    /// Records the packet at a node that sends or receives it.
    pub fn at_node(&mut self, node: usize, handle: u32, ecn: Ecn, at: Time) {
        self.recorder.at_node(node, handle, ecn, at);
    }

    /// Records the packet on arrival at a link's queue.
    pub fn at_link(&mut self, link: usize, handle: u32, ecn: Ecn, at: Time) {
        self.recorder.at_link(link, handle, ecn, at);
    }

    /// Records that a link dropped the packet; None: for an unknown reason.
    pub fn dropped(&mut self, link: usize, handle: u32, reason: Option<DropReason>) {
        self.recorder.lost(link, handle, reason);
    }

    /// The captures, in the order of the plan.
    #[must_use]
    pub fn finish(self) -> Vec<Capture> {
        self.recorder.finish()
    }
}
