//! The fields of a packet that links and queue disciplines use, and the reasons for a drop.

use dumbbell_units::{Time, named};
use dumbbell_wire::Ecn;

/// A packet in the network: the fields that links and queues need, and a handle to the rest. Owned, never cloned.
///
/// The layout is fixed so that `enqueued`, the only field written at each hop, is outside the 16 bytes that are copied
/// as one word: reading a wide word just after writing a part of it stalls the processor.
#[derive(Debug)]
#[repr(C)]
pub struct Packet {
    /// Bytes on the wire, including the framing of the link.
    pub bytes: u32,
    /// The flow and the direction: the lowest bit is the direction.
    pub flow: u32,
    /// Handle to the contents, which only the owner of the links can resolve.
    pub body: u32,
    /// The class of the flow in the scenario (default 0).
    pub class: u16,
    /// The ECN field.
    pub ecn: Ecn,
    /// Time of arrival at the current queue.
    pub enqueued: Time,
}

named! {
    /// The reason for a drop, with its name in traces and tables.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[repr(u8)]
    pub enum DropReason {
        /// The queue was full.
        Full = "full",
        /// An AQM dropped the packet before the queue was full.
        Early = "early",
        /// An AQM drops every packet at this load (a forced drop in ns-2).
        Forced = "forced",
        /// Random loss of the link.
        Loss = "loss",
        /// A drop listed in the scenario.
        Scripted = "scripted",
        /// The bucket of a policer was empty.
        Policed = "policed",
        /// The packet was corrupted on the wire.
        Corrupted = "corrupted",
        /// The link was down.
        Outage = "outage",
        /// Wi-Fi gave up after the last retry.
        Retries = "retries",
    }
}

impl DropReason {
    /// The reasons on the wire: the packet had left the queue.
    pub const WIRE: [DropReason; 4] =
        [DropReason::Loss, DropReason::Corrupted, DropReason::Outage, DropReason::Retries];
}
