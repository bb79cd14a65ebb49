//! Captures of a run: the packets at nodes and links, as a packet sniffer records them, with the ground truth.
//!
//! A node's capture has each packet that the node sends, receives or forwards, once. A link's capture has each packet
//! that arrives at its queue, including those that the queue then drops. The fate of a packet (a later drop) is known
//! only at the end, so captures stay in memory and are written after the run: about 150 bytes per packet sent, and 24
//! per record.

mod external;
mod quic;
mod spurious;
mod write;

use crate::packets::Body;
use dumbbell_cc::Phase;
use dumbbell_plan::{CapturePlan, Plan};
use dumbbell_qdisc::DropReason;
use dumbbell_quic::Datagram;
use dumbbell_tcp::Segment;
use dumbbell_units::Time;
use dumbbell_wire::{Ecn, TcpFlags};
use std::sync::Arc;
use write::{Addressing, InterfaceOf};

pub use external::Captures;
pub(crate) use quic::QuicSender;
pub use write::Capture;
pub(crate) use write::{FlowAddress, addresses};

/// Reason of a retransmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The sender is in fast recovery.
    Fast,
    /// The retransmission timer has expired.
    Timeout,
    /// Another reason: a tail loss probe, or go-back-N.
    #[default]
    Other,
}

impl Cause {
    /// Derives the reason from the sender's phase.
    pub(crate) fn of(phase: Phase, segment: &Segment) -> Cause {
        match phase {
            _ if segment.flags.contains(TcpFlags::SYN) => Cause::Timeout,
            Phase::Recovery => Cause::Fast,
            Phase::Loss => Cause::Timeout,
            _ => Cause::Other,
        }
    }
}

/// A packet that a host sent or a link duplicated.
#[derive(Clone, Copy, Debug)]
struct SentPacket {
    /// Flow and direction.
    flow: u32,
    connection: u32,
    segment: Segment,
    /// Stream offset of the payload; sequence number of a datagram.
    number: u64,
    bytes: u32,
    cause: Option<Cause>,
    /// The link that dropped it, and the reason if known.
    lost: Option<(u32, Option<DropReason>)>,
    /// The link that made it, for a duplicate.
    copied_by: Option<u32>,
    /// True for a spurious retransmission; known at the end.
    spurious: bool,
    /// The first bytes of its payload, as far as they aren't zeros.
    head: Head,
}

/// Part of a run's `heads`.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    begin: usize,
    len: u16,
}

/// A packet recorded at a capture point.
#[derive(Clone, Copy, Debug)]
struct CapturedPacket {
    at: Time,
    /// Index of the packet.
    packet: u32,
    /// Index of the interface in its capture.
    interface: u16,
    ecn: Ecn,
    /// Number of links crossed.
    hops: u8,
}

/// Contents of real packets, without trailing zeros.
#[derive(Debug, Default)]
struct Frames {
    /// Index in `ends` of each packet's frame.
    of: Vec<u32>,
    /// End of each frame in `bytes`; it begins at the end of the previous one.
    ends: Vec<usize>,
    bytes: Vec<u8>,
}

impl Frames {
    /// Frame of a packet; None for a simulated packet.
    fn get(&self, packet: usize) -> Option<&[u8]> {
        let n = *self.of.get(packet)? as usize;
        let begin = n.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.bytes[begin..self.ends[n]])
    }
}

/// Data that all captures of a run share.
#[derive(Debug)]
struct Run {
    sent: Vec<SentPacket>,
    frames: Frames,
    /// Headers of QUIC.
    heads: Vec<u8>,
    addressing: Addressing,
}

/// A capture's interface at a node or link.
#[derive(Clone, Copy, Debug)]
struct Tap {
    capture: u16,
    interface: u16,
}

/// Records the packets of all capture points of a plan.
#[derive(Debug)]
pub(crate) struct Recorder {
    plan: CapturePlan,
    /// Taps per node and per link.
    at_node: Vec<Vec<Tap>>,
    at_link: Vec<Vec<Tap>>,
    seen: Vec<Vec<CapturedPacket>>,
    sent: Vec<SentPacket>,
    frames: Frames,
    /// Frame of the packet that is sent next.
    next_frame: Option<u32>,
    /// Headers of QUIC, and those of the packet that is sent next.
    heads: Vec<u8>,
    next_head: Head,
    /// Packet index and links crossed, per handle.
    handles: Vec<(u32, u8)>,
    addressing: Addressing,
}

impl Recorder {
    /// The recorder of a plan, if it has capture points.
    pub(crate) fn new(plan: &Plan) -> Option<Box<Recorder>> {
        if plan.capture.points.is_empty() {
            return None;
        }
        let mut at_node = vec![Vec::new(); plan.nodes.len()];
        let mut at_link = vec![Vec::new(); plan.links.len()];
        for (c, point) in plan.capture.points.iter().enumerate() {
            let tap = |interface: usize| Tap { capture: c as u16, interface: interface as u16 };
            for (i, &node) in point.nodes.iter().enumerate() {
                at_node[node].push(tap(i));
            }
            for (i, &link) in point.links.iter().enumerate() {
                at_link[link].push(tap(point.nodes.len() + i));
            }
        }
        Some(Box::new(Recorder {
            seen: vec![Vec::new(); plan.capture.points.len()],
            plan: plan.capture.clone(),
            at_node,
            at_link,
            sent: Vec::new(),
            frames: Frames::default(),
            next_frame: None,
            heads: Vec::new(),
            next_head: Head::default(),
            handles: Vec::new(),
            addressing: Addressing::new(plan),
        }))
    }

    /// Sets the contents of the packet that is sent next.
    pub(crate) fn frame(&mut self, bytes: &[u8]) {
        let zeros = bytes.iter().rev().take_while(|b| **b == 0).count();
        self.next_frame = Some(self.frames.ends.len() as u32);
        self.frames.bytes.extend(&bytes[..bytes.len() - zeros]);
        self.frames.ends.push(self.frames.bytes.len());
    }

    /// Sets the headers of the packet that is sent next.
    pub(crate) fn quic(&mut self, sender: &QuicSender, datagram: &Datagram) {
        let begin = self.heads.len();
        sender.write(datagram, &mut self.heads);
        self.next_head = Head { begin, len: (self.heads.len() - begin) as u16 };
    }

    /// Records a packet that is sent.
    pub(crate) fn sent(&mut self, flow: u32, handle: u32, body: &Body, bytes: u32) {
        let packet = SentPacket {
            flow,
            connection: body.connection,
            segment: body.segment,
            number: body.number,
            bytes,
            // A real stack's reason is unknown.
            cause: (body.retransmission && self.next_frame.is_none()).then_some(body.cause),
            lost: None,
            copied_by: None,
            spurious: false,
            head: std::mem::take(&mut self.next_head),
        };
        self.add(handle, packet, 0);
    }

    fn add(&mut self, handle: u32, packet: SentPacket, hops: u8) {
        let place = handle as usize;
        if self.handles.len() <= place {
            self.handles.resize(place + 1, (0, 0));
        }
        self.handles[place] = (self.sent.len() as u32, hops);
        self.sent.push(packet);
        self.frames.of.extend(self.next_frame.take());
    }

    /// Records a packet at a node that sends, receives or forwards it.
    pub(crate) fn at_node(&mut self, node: usize, handle: u32, ecn: Ecn, at: Time) {
        let (packet, hops) = self.handles[handle as usize];
        for tap in &self.at_node[node] {
            let seen = CapturedPacket { at, packet, interface: tap.interface, ecn, hops };
            self.seen[usize::from(tap.capture)].push(seen);
        }
    }

    /// Records a packet on arrival at a link's queue.
    pub(crate) fn at_link(&mut self, link: usize, handle: u32, ecn: Ecn, at: Time) {
        let (packet, hops) = &mut self.handles[handle as usize];
        for tap in &self.at_link[link] {
            let seen = CapturedPacket { at, packet: *packet, interface: tap.interface, ecn, hops: *hops };
            self.seen[usize::from(tap.capture)].push(seen);
        }
        *hops = hops.saturating_add(1);
    }

    /// Records a drop.
    pub(crate) fn dropped(&mut self, link: usize, handle: u32, reason: DropReason) {
        self.lost(link, handle, Some(reason));
    }

    fn lost(&mut self, link: usize, handle: u32, reason: Option<DropReason>) {
        let (packet, _) = self.handles[handle as usize];
        self.sent[packet as usize].lost = Some((link as u32, reason));
    }

    /// Records a duplicate.
    pub(crate) fn copied(&mut self, link: usize, of: u32, handle: u32) {
        let (packet, hops) = self.handles[of as usize];
        self.next_frame = self.frames.of.get(packet as usize).copied();
        let copy = SentPacket { lost: None, copied_by: Some(link as u32), ..self.sent[packet as usize] };
        self.add(handle, copy, hops);
    }

    /// Completes the ground truth and returns the captures.
    pub(crate) fn finish(mut self) -> Vec<Capture> {
        spurious::mark_spurious(&mut self.sent);
        let Recorder { plan, seen, sent, frames, heads, addressing, .. } = self;
        let shared = Arc::new(Run { sent, frames, heads, addressing });
        let captures = plan.points.into_iter().zip(seen).map(|(point, seen)| {
            let interfaces = point.nodes.iter().map(|&n| InterfaceOf::Node(n));
            let interfaces = interfaces.chain(point.links.iter().map(|&l| InterfaceOf::Link(l)));
            Capture::new(point.name, interfaces.collect(), seen, plan.snaplen_bytes, shared.clone())
        });
        captures.collect()
    }
}
