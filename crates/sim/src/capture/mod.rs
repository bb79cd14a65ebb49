//! Captures of a run: the packets at nodes and links, as a packet sniffer records them, with the ground truth.
//!
//! A node's capture has each packet that the node sends, receives or forwards, once. A link's capture has each packet
//! that arrives at its queue, including those that the queue then drops. Comments have the fate of a packet, such as a
//! later drop, so packets stay in memory until their fate is known: about 150 bytes per packet sent, and 24 per record.
//! Then they can be written while the run is in progress ([`Recorder::drain`]); the others are written after the run.

mod external;
mod part;
mod quic;
mod spurious;
mod write;

use crate::packets::Body;
use dumbbell_cc::Phase;
use dumbbell_plan::Plan;
use dumbbell_qdisc::DropReason;
use dumbbell_quic::Datagram;
use dumbbell_tcp::Segment;
use dumbbell_units::Time;
use dumbbell_wire::{Ecn, TcpFlags};
use part::Begun;
use spurious::Spurious;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use write::{Addressing, Point};

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

/// Part of a run's `heads`; `begin` counts those that were removed.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    begin: u64,
    len: u16,
}

/// A packet recorded at a capture point.
#[derive(Clone, Copy, Debug)]
struct CapturedPacket {
    at: Time,
    /// Number of the packet.
    packet: u64,
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
    fn get(&self, packet: u64) -> Option<&[u8]> {
        let n = *self.of.get(packet as usize)? as usize;
        let begin = n.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.bytes[begin..self.ends[n]])
    }
}

/// Data that all captures of a run share.
#[derive(Debug)]
struct Run {
    /// Packets, without those that no later record has.
    sent: VecDeque<SentPacket>,
    /// Number of the first packet in `sent`.
    first: u64,
    frames: Frames,
    /// Headers of QUIC packets, without those of packets that were removed.
    heads: Vec<u8>,
    /// Number of bytes removed from `heads`.
    heads_first: u64,
    addressing: Addressing,
}

impl Run {
    fn packet(&self, number: u64) -> &SentPacket {
        &self.sent[(number - self.first) as usize]
    }

    fn packet_mut(&mut self, number: u64) -> &mut SentPacket {
        &mut self.sent[(number - self.first) as usize]
    }

    /// Number of the packet that is sent next.
    fn next(&self) -> u64 {
        self.first + self.sent.len() as u64
    }

    fn head(&self, head: Head) -> &[u8] {
        if head.len == 0 {
            return &[];
        }
        &self.heads[(head.begin - self.heads_first) as usize..][..usize::from(head.len)]
    }

    /// Removes the packets before a number.
    fn remove_before(&mut self, number: u64) {
        self.sent.drain(..(number - self.first) as usize);
        self.first = number;
        let end = self.heads_first + self.heads.len() as u64;
        let heads = self.sent.iter().map(|packet| packet.head).filter(|head| head.len > 0);
        let begin = heads.map(|head| head.begin).min().unwrap_or(end);
        self.heads.drain(..(begin - self.heads_first) as usize);
        self.heads_first = begin;
    }
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
    /// Taps per node and per link.
    at_node: Vec<Vec<Tap>>,
    at_link: Vec<Vec<Tap>>,
    captures: Vec<Begun>,
    seen: Vec<Vec<CapturedPacket>>,
    run: Run,
    /// Packets before this number have their comments.
    settled: u64,
    spurious: Spurious,
    /// Frame of the packet that is sent next.
    next_frame: Option<u32>,
    /// Headers of the QUIC packet that is sent next.
    next_head: Head,
    /// Number of the packet and links crossed, per handle.
    handles: Vec<(u64, u8)>,
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
            captures: plan
                .capture
                .points
                .iter()
                .map(|point| Begun::new(Point::new(point, plan.capture.snaplen_bytes)))
                .collect(),
            seen: vec![Vec::new(); plan.capture.points.len()],
            at_node,
            at_link,
            run: Run {
                sent: VecDeque::new(),
                first: 0,
                frames: Frames::default(),
                heads: Vec::new(),
                heads_first: 0,
                addressing: Addressing::new(plan),
            },
            settled: 0,
            spurious: Spurious::default(),
            next_frame: None,
            next_head: Head::default(),
            handles: Vec::new(),
        }))
    }

    /// Sets the contents of the packet that is sent next.
    pub(crate) fn frame(&mut self, bytes: &[u8]) {
        let zeros = bytes.iter().rev().take_while(|b| **b == 0).count();
        let frames = &mut self.run.frames;
        self.next_frame = Some(frames.ends.len() as u32);
        frames.bytes.extend(&bytes[..bytes.len() - zeros]);
        frames.ends.push(frames.bytes.len());
    }

    /// Sets the headers of the packet that is sent next.
    pub(crate) fn quic(&mut self, sender: &QuicSender, datagram: &Datagram) {
        let heads = &mut self.run.heads;
        let before = heads.len();
        sender.write(datagram, heads);
        let begin = self.run.heads_first + before as u64;
        self.next_head = Head { begin, len: (heads.len() - before) as u16 };
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
        self.handles[place] = (self.run.next(), hops);
        self.run.sent.push_back(packet);
        self.run.frames.of.extend(self.next_frame.take());
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
        self.run.packet_mut(packet).lost = Some((link as u32, reason));
    }

    /// Records a duplicate.
    pub(crate) fn copied(&mut self, link: usize, of: u32, handle: u32) {
        let (packet, hops) = self.handles[of as usize];
        self.next_frame = self.run.frames.of.get(packet as usize).copied();
        let copy = SentPacket { lost: None, copied_by: Some(link as u32), ..*self.run.packet(packet) };
        self.add(handle, copy, hops);
    }

    /// Completes the ground truth of the packets before a number.
    fn settle(&mut self, before: u64) {
        for number in self.settled..before {
            self.spurious.mark(self.run.packet_mut(number));
        }
        self.settled = self.settled.max(before);
    }

    /// Number of simulated packets in memory.
    pub(crate) fn kept(&self) -> usize {
        if self.run.frames.of.is_empty() { self.run.sent.len() } else { 0 }
    }

    /// Passes on the parts of capture files that can't change any longer: the name of the capture and the bytes that
    /// follow those before. `in_use`: the handles of packets in the network.
    ///
    /// # Errors
    /// A packet doesn't fit into the format.
    pub(crate) fn drain(
        &mut self,
        in_use: impl Iterator<Item = u32>,
        sink: &mut dyn FnMut(&str, Vec<u8>),
    ) -> io::Result<()> {
        let open = in_use.filter_map(|handle| self.handles.get(handle as usize)).map(|(packet, _)| *packet);
        let first_open = open.min().unwrap_or(self.run.next());
        self.settle(first_open);
        let mut needed = self.settled;
        for (capture, seen) in self.captures.iter_mut().zip(&mut self.seen) {
            let ready = seen.iter().take_while(|row| row.packet < self.settled).count();
            if ready > 0 {
                let mut bytes = Vec::new();
                capture.part(&self.run, seen.drain(..ready), &mut bytes)?;
                sink(capture.name(), bytes);
            }
            needed = seen.iter().map(|row| row.packet).fold(needed, u64::min);
        }
        self.run.remove_before(needed);
        Ok(())
    }

    /// Completes the ground truth and returns the captures.
    pub(crate) fn finish(mut self) -> Vec<Capture> {
        self.settle(self.run.next());
        let shared = Arc::new(self.run);
        let captures = self.captures.into_iter().zip(self.seen);
        captures.map(|(begun, seen)| Capture::new(begun, seen, shared.clone())).collect()
    }
}
