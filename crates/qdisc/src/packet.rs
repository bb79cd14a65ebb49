//! A packet as a queue sees it.

use dumbbell_units::Time;

/// The ECN field of the IP header, by the values it has there [RFC 3168]. A plain byte: an enumeration would lend its
/// unused values to `Option<Packet>`, which then is copied in odd pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ecn(u8);

impl Ecn {
    /// Not ECN-capable: congestion can only be told by a drop.
    pub const NOT_ECT: Ecn = Ecn(0b00);
    /// ECN-capable, and the sender takes marks for L4S's: many of them, each a small thing [RFC 9331].
    pub const ECT1: Ecn = Ecn(0b01);
    /// ECN-capable, and the sender takes a mark for what a drop would be.
    pub const ECT0: Ecn = Ecn(0b10);
    /// Congestion experienced: marked.
    pub const CE: Ecn = Ecn(0b11);

    /// The two bits as the IP header holds them [RFC 3168].
    #[must_use]
    pub fn bits(self) -> u8 {
        self.0
    }

    /// Whether congestion can be told by a mark: ECT(0), ECT(1), or CE already.
    #[must_use]
    pub fn is_capable(self) -> bool {
        self != Ecn::NOT_ECT
    }
}

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
