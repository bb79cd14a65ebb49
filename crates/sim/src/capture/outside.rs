//! Captures of packets that something else carries, such as a real kernel's network: the same files.

use super::{Capture, Recorder};
use crate::packets::Body;
use dumbbell_plan::Plan;
use dumbbell_qdisc::DropReason;
use dumbbell_units::Time;
use dumbbell_wire::Ecn;

/// See the top of this file. It is told what was seen, in the order of time.
#[derive(Debug)]
pub struct Captures {
    recorder: Box<Recorder>,
    packets: u32,
}

impl Captures {
    /// What a plan captures, if anything.
    #[must_use]
    pub fn new(plan: &Plan) -> Option<Captures> {
        Recorder::new(plan).map(|recorder| Captures { recorder, packets: 0 })
    }

    /// A packet is sent, by the end of its flow that `direction` says (the flow's number doubled; odd: the data receiver).
    /// `head`: its first bytes, the others being zeros; `bytes`: its length. Gives its handle.
    pub fn sent(&mut self, direction: u32, head: &[u8], bytes: u32) -> u32 {
        let handle = self.packets;
        self.packets += 1;
        self.recorder.frame(head);
        self.recorder.sent(direction, handle, &Body::default(), bytes);
        handle
    }

    /// It is at a node: sent there, or come over a link.
    pub fn at_node(&mut self, node: usize, handle: u32, ecn: Ecn, at: Time) {
        self.recorder.at_node(node, handle, ecn, at);
    }

    /// It comes to a link's entrance.
    pub fn at_link(&mut self, link: usize, handle: u32, ecn: Ecn, at: Time) {
        self.recorder.at_link(link, handle, ecn, at);
    }

    /// It was dropped at a link; None: nobody knows why.
    pub fn dropped(&mut self, link: usize, handle: u32, reason: Option<DropReason>) {
        self.recorder.lost(link, handle, reason);
    }

    /// The captures, in the order of the plan.
    #[must_use]
    pub fn finish(self) -> Vec<Capture> {
        self.recorder.finish()
    }
}
