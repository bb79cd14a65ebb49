//! What lies between the hosts of flows, and what is seen of it: the same loop runs flows over a kernel's own queues and
//! over our link.

use crate::error::KernelError;
use crate::meter::packet::Packet;
use dumbbell_plan::QueueResult;
use dumbbell_trace::Table;
use serde_json::Value;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;

/// The two hosts of a flow.
#[derive(Debug)]
pub(crate) struct FlowHosts {
    /// Namespaces: of the data sender, of the data receiver.
    pub(crate) namespaces: [OwnedFd; 2],
    pub(crate) addresses: [Ipv4Addr; 2],
    /// The kernel's name of its congestion control, where it has one.
    pub(crate) variant: Option<String>,
}

/// What was seen of a flow; times are ns of the run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Observation {
    /// A packet has left a host or reached it: side 0 sends data, side 1 receives it.
    AtHost { side: u8, out: bool, packet: Packet, at: u64 },
    /// A packet with payload that came to a queue or wire then was lost there.
    Dropped { direction: u32, at: u64 },
}

/// The figures of links.
#[derive(Debug)]
pub(crate) struct LinkResults {
    pub(crate) queues: Vec<QueueResult>,
    pub(crate) tables: Vec<Table>,
    /// Packets with payload dropped in each flow's forward direction, where the links themselves count them.
    pub(crate) dropped: Option<Vec<u64>>,
    /// Likewise copied.
    pub(crate) duplicated: Option<Vec<u64>>,
    /// How well it worked; null: nothing to tell.
    pub(crate) facts: Value,
}

/// See the top of this file.
pub(crate) trait Network {
    /// The run begins at `zero`, by the machine's clock.
    fn begin(&mut self, zero: u64) -> Result<(), KernelError>;
    /// Measurement begins.
    fn restart(&mut self) -> Result<(), KernelError> {
        Ok(())
    }
    /// Tells what was seen since the last call, causes before effects.
    fn drain(&mut self, each: &mut dyn FnMut(Observation));
    /// Packets whose fate isn't known yet and that came before the end.
    fn undecided(&self) -> usize {
        0
    }
    /// The run is over.
    fn finish(&mut self, each: &mut dyn FnMut(Observation)) -> Result<LinkResults, KernelError>;
}
