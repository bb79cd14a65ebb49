//! Captures: what a packet sniffer would have seen at nodes and links, and the truth that no sniffer knows.
//!
//! A node's capture holds each packet that it sends and each that reaches it (once, also where it only passes on); a
//! link's each packet that comes to its queue, those that the queue then drops included. What happens to a packet
//! later (a drop further on) is known only at the end, so a capture is kept in memory until then and written after
//! the run: about 150 bytes for each packet sent and 24 for each time it is seen.

mod outside;
mod truth;
mod write;

use crate::packets::Body;
use dumbbell_cc::Phase;
use dumbbell_plan::{CapturePlan, Plan};
use dumbbell_qdisc::DropReason;
use dumbbell_tcp::Segment;
use dumbbell_units::Time;
use dumbbell_wire::{Ecn, TcpFlags};
use std::sync::Arc;
use write::{Addressing, InterfaceOf};

pub use outside::Captures;
pub use write::Capture;

/// Why a segment was sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The sender is in fast recovery.
    Fast,
    /// The retransmission timer expired before.
    Timeout,
    /// Neither: a probe, or a shell that goes back and sends again what is out already.
    #[default]
    Other,
}

impl Cause {
    /// From the state in which the sender was.
    pub(crate) fn of(phase: Phase, segment: &Segment) -> Cause {
        match phase {
            _ if segment.flags.contains(TcpFlags::SYN) => Cause::Timeout,
            Phase::Recovery => Cause::Fast,
            Phase::Loss => Cause::Timeout,
            _ => Cause::Other,
        }
    }
}

/// A packet that was sent, or copied on the way.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// Flow and direction.
    flow: u32,
    connection: u32,
    segment: Segment,
    /// Offset of the payload, or number of a datagram.
    number: u64,
    bytes: u32,
    cause: Option<Cause>,
    /// Where it was dropped, and why if that is known.
    lost: Option<(u32, Option<DropReason>)>,
    /// The link that made it, if that copied another packet.
    copied_by: Option<u32>,
    /// Sent again although nothing of it was lost; known at the end.
    spurious: bool,
}

/// A packet seen at a point.
#[derive(Clone, Copy, Debug)]
struct Seen {
    at: Time,
    /// Index of the packet.
    packet: u32,
    /// Index of the interface in its capture.
    interface: u16,
    ecn: Ecn,
    /// Links that it has crossed.
    hops: u8,
}

/// Contents of real packets.
#[derive(Debug, Default)]
struct Frames {
    /// For each packet its frame's place in `ends`.
    of: Vec<u32>,
    /// Where each frame ends in `bytes`; it begins where the one before ends.
    ends: Vec<usize>,
    bytes: Vec<u8>,
}

impl Frames {
    /// The frame of a packet, without zeros at its end; None if it is only modelled.
    fn get(&self, packet: usize) -> Option<&[u8]> {
        let n = *self.of.get(packet)? as usize;
        let begin = n.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.bytes[begin..self.ends[n]])
    }
}

/// What all captures of a run share.
#[derive(Debug)]
struct Run {
    sent: Vec<Sent>,
    frames: Frames,
    addressing: Addressing,
}

/// Where something is captured.
#[derive(Clone, Copy, Debug)]
struct Tap {
    capture: u16,
    interface: u16,
}

/// Records what is to be captured.
#[derive(Debug)]
pub(crate) struct Recorder {
    plan: CapturePlan,
    /// Taps of each node and each link.
    at_node: Vec<Vec<Tap>>,
    at_link: Vec<Vec<Tap>>,
    seen: Vec<Vec<Seen>>,
    sent: Vec<Sent>,
    /// What real packets hold, without zeros at their end; none of packets that are only modelled.
    frames: Frames,
    /// The frame of the packet that is sent next.
    next_frame: Option<u32>,
    /// The packet and the links crossed, of each handle.
    handles: Vec<(u32, u8)>,
    addressing: Addressing,
}

impl Recorder {
    /// The recorder of a plan, if that captures anything.
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
            handles: Vec::new(),
            addressing: Addressing::new(plan),
        }))
    }

    /// What the packet holds that is sent next.
    pub(crate) fn frame(&mut self, bytes: &[u8]) {
        let zeros = bytes.iter().rev().take_while(|b| **b == 0).count();
        self.next_frame = Some(self.frames.ends.len() as u32);
        self.frames.bytes.extend(&bytes[..bytes.len() - zeros]);
        self.frames.ends.push(self.frames.bytes.len());
    }

    /// A packet is sent.
    pub(crate) fn sent(&mut self, flow: u32, handle: u32, body: &Body, bytes: u32) {
        let packet = Sent {
            flow,
            connection: body.connection,
            segment: body.segment,
            number: body.number,
            bytes,
            // Nobody knows why a real stack sends again.
            cause: (body.retransmission && self.next_frame.is_none()).then_some(body.cause),
            lost: None,
            copied_by: None,
            spurious: false,
        };
        self.add(handle, packet, 0);
    }

    fn add(&mut self, handle: u32, packet: Sent, hops: u8) {
        let place = handle as usize;
        if self.handles.len() <= place {
            self.handles.resize(place + 1, (0, 0));
        }
        self.handles[place] = (self.sent.len() as u32, hops);
        self.sent.push(packet);
        self.frames.of.extend(self.next_frame.take());
    }

    /// A packet is at a node: sent there, or come over a link.
    pub(crate) fn at_node(&mut self, node: usize, handle: u32, ecn: Ecn, at: Time) {
        let (packet, hops) = self.handles[handle as usize];
        for tap in &self.at_node[node] {
            let seen = Seen { at, packet, interface: tap.interface, ecn, hops };
            self.seen[usize::from(tap.capture)].push(seen);
        }
    }

    /// A packet comes to a link's entrance.
    pub(crate) fn at_link(&mut self, link: usize, handle: u32, ecn: Ecn, at: Time) {
        let (packet, hops) = &mut self.handles[handle as usize];
        for tap in &self.at_link[link] {
            let seen = Seen { at, packet: *packet, interface: tap.interface, ecn, hops: *hops };
            self.seen[usize::from(tap.capture)].push(seen);
        }
        *hops = hops.saturating_add(1);
    }

    /// A packet is dropped.
    pub(crate) fn dropped(&mut self, link: usize, handle: u32, reason: DropReason) {
        self.lost(link, handle, Some(reason));
    }

    fn lost(&mut self, link: usize, handle: u32, reason: Option<DropReason>) {
        let (packet, _) = self.handles[handle as usize];
        self.sent[packet as usize].lost = Some((link as u32, reason));
    }

    /// A link has copied a packet.
    pub(crate) fn copied(&mut self, link: usize, of: u32, handle: u32) {
        let (packet, hops) = self.handles[of as usize];
        self.next_frame = self.frames.of.get(packet as usize).copied();
        let copy = Sent { lost: None, copied_by: Some(link as u32), ..self.sent[packet as usize] };
        self.add(handle, copy, hops);
    }

    /// The captures, with what only the end tells.
    pub(crate) fn finish(mut self) -> Vec<Capture> {
        truth::mark_spurious(&mut self.sent);
        let Recorder { plan, seen, sent, frames, addressing, .. } = self;
        let shared = Arc::new(Run { sent, frames, addressing });
        let captures = plan.points.into_iter().zip(seen).map(|(point, seen)| {
            let interfaces = point.nodes.iter().map(|&n| InterfaceOf::Node(n));
            let interfaces = interfaces.chain(point.links.iter().map(|&l| InterfaceOf::Link(l)));
            Capture::new(point.name, interfaces.collect(), seen, plan.snaplen_bytes, shared.clone())
        });
        captures.collect()
    }
}
