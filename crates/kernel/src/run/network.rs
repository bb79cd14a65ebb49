//! The interface of networks between the hosts of flows: the event loop is the same for the kernel's own queue
//! disciplines and for link emulation.

use crate::error::KernelError;
use crate::meter::packet::Packet;
use dumbbell_plan::QueueResult;
use dumbbell_trace::Table;
use serde_json::Value;
use std::net::IpAddr;
use std::os::fd::OwnedFd;

/// The two hosts of a flow.
#[derive(Debug)]
pub(crate) struct FlowHosts {
    /// Namespaces: of the data sender, of the data receiver.
    pub(crate) namespaces: [OwnedFd; 2],
    pub(crate) addresses: [IpAddr; 2],
    /// The kernel's name of its congestion control, where it has one.
    pub(crate) variant: Option<String>,
    /// Largest receive window, bytes.
    pub(crate) window: Option<u32>,
}

/// An observation of a packet; times are ns of the run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Observation {
    /// A packet has left or reached a host; side 0 is the data sender, side 1 the data receiver.
    AtHost { side: u8, out: bool, packet: Packet, at: u64 },
    /// A packet with payload was lost: dropped, with all its duplicates.
    Lost { direction: u32, key: u64 },
}

/// The results of links.
#[derive(Debug)]
pub(crate) struct LinkResults {
    pub(crate) queues: Vec<QueueResult>,
    pub(crate) tables: Vec<Table>,
    /// Duplicates of packets with payload of each flow's forward direction, if the network can make any.
    pub(crate) duplicated: Option<Vec<u64>>,
    /// Lateness and losses of the measurement itself; null in virtual time.
    pub(crate) facts: Value,
}

/// A network between hosts.
pub(crate) trait Network {
    /// The run begins at `zero` of the clock.
    fn begin(&mut self, zero: u64) -> Result<(), KernelError>;
    /// Measurement begins.
    fn restart(&mut self) -> Result<(), KernelError> {
        Ok(())
    }
    /// Reports the observations since the last call, causes before effects.
    fn drain(&mut self, each: &mut dyn FnMut(Observation));
    /// Passes on the rows that can't change any more of each series of the links that has at least so many bytes.
    fn drain_series(&mut self, _least: usize, _sink: &mut dyn FnMut(Table)) {}
    /// Returns the number of packets that entered before the end and may still depart or be dropped. Called after the
    /// end, after each drain.
    fn undecided(&mut self) -> Result<usize, KernelError> {
        Ok(0)
    }
    /// The run is over.
    fn finish(&mut self, each: &mut dyn FnMut(Observation)) -> Result<LinkResults, KernelError>;
}
