//! A packet as a queue sees it.

use dumbbell_units::Time;
use dumbbell_wire::Ecn;

/// A packet on its way: what links and queues need, and a handle to the rest. Owned, never cloned.
///
/// The layout is fixed so that the only field written at each hop, `enqueued`, stays out of the 16 bytes that are
/// moved as one: reading a wide word just after writing a part of it stalls the processor.
#[derive(Debug)]
#[repr(C)]
pub struct Packet {
    /// Wire bytes, the link's framing included.
    pub bytes: u32,
    /// The flow it belongs to; both directions of a flow differ in the lowest bit.
    pub flow: u32,
    /// Its handle: what it carries is known to the owner of the links only.
    pub body: u32,
    /// The class it was put into by the scenario (0 by default).
    pub class: u16,
    /// The ECN field.
    pub ecn: Ecn,
    /// When it entered the current queue.
    pub enqueued: Time,
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum DropReason {
    /// The queue was full.
    Full,
    /// An AQM dropped it early.
    Early,
    /// An AQM drops every packet at this load.
    Forced,
    /// Random loss of the link.
    Loss,
    /// The scenario said so.
    Scripted,
    /// A policer's bucket was empty.
    Policed,
    /// It was damaged on the wire.
    Corrupted,
    /// The link was down.
    Outage,
}

impl DropReason {
    /// Every reason, in the order of its number.
    pub const ALL: [DropReason; 8] = [
        DropReason::Full,
        DropReason::Early,
        DropReason::Forced,
        DropReason::Loss,
        DropReason::Scripted,
        DropReason::Policed,
        DropReason::Corrupted,
        DropReason::Outage,
    ];
    /// Those of the wire: such a packet had left the queue.
    pub const WIRE: [DropReason; 3] = [DropReason::Loss, DropReason::Corrupted, DropReason::Outage];

    /// The word that traces and tables use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            DropReason::Full => "full",
            DropReason::Early => "early",
            DropReason::Forced => "forced",
            DropReason::Loss => "loss",
            DropReason::Scripted => "scripted",
            DropReason::Policed => "policed",
            DropReason::Corrupted => "corrupted",
            DropReason::Outage => "outage",
        }
    }
}
