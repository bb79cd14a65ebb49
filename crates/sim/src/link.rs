//! One direction of a link: a queue discipline, a transmitter, a wire.
//!
//! ```text
//! enter -> [scripted drop] -> queue -> transmitter (rate) -> [random loss] -> wire (delay, jitter) -> arrival
//! ```
//! Packets on the wire are a FIFO of known arrival times, so a link has one pending arrival at most. A transmission's
//! end is an event only while another packet waits for it: an uncongested link costs one event a packet, or none where
//! the network runs it ahead.

use crate::events::EventQueue;
use crate::impair::Impairments;
use crate::link_meter::LinkMeter;
use crate::plan::LinkPlan;
use crate::record::QueueRecorder;
use dumbbell_qdisc::{Backlog, Cx, DropReason, Packet, Qdisc};
use dumbbell_units::{Bytes, Dur, Rate, Time};
use std::collections::VecDeque;

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) name: String,
    /// The node that it enters.
    pub(crate) to: usize,
    slot: usize,
    rate: Rate,
    delay: Dur,
    overhead: u32,
    queue: Box<dyn Qdisc>,
    /// A packet that finds link and queue idle goes through, and nobody needs to hear of it: no script, discipline,
    /// impairment or recorder.
    plain: bool,
    /// Whether it takes packets in ahead of the clock (see [`crate::network`]).
    pub(crate) runs_ahead: bool,
    cx: Cx,
    /// When the packet in transmission is out.
    busy_until: Time,
    /// When the queue is asked for its next packet; NEVER if nothing waits.
    ask_at: Time,
    wire: VecDeque<(Time, Packet)>,
    last_arrival: Time,
    /// Transmission times of the last two sizes seen: nearly all packets have one of two.
    times: [(u32, Dur); 2],
    impairments: Impairments,
    pub(crate) meter: LinkMeter,
    /// Out of the way: a link should take few cache lines.
    pub(crate) recorder: Option<Box<QueueRecorder>>,
}

impl Link {
    pub(crate) fn new(
        plan: &LinkPlan,
        queue: Box<dyn Qdisc>,
        impairments: Impairments,
        slot: usize,
        meter: LinkMeter,
        recorder: Option<Box<QueueRecorder>>,
    ) -> Link {
        Link {
            name: plan.name.clone(),
            to: plan.to,
            slot,
            rate: Rate(plan.rate_bps),
            delay: Dur(plan.delay_ns),
            overhead: plan.overhead_bytes,
            plain: queue.open_when_idle() && impairments.none() && recorder.is_none(),
            runs_ahead: false,
            queue,
            cx: Cx::default(),
            busy_until: Time::ZERO,
            ask_at: Time::NEVER,
            wire: VecDeque::new(),
            last_arrival: Time::ZERO,
            times: [(0, Dur::ZERO); 2],
            impairments,
            meter,
            recorder,
        }
    }

    pub(crate) fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    /// When the queue is asked for its next packet, if that is at `time` or before.
    #[inline]
    pub(crate) fn asks_by(&self, time: Time) -> Option<Time> {
        (self.ask_at <= time).then_some(self.ask_at)
    }

    /// Whether a packet that comes to the entrance now goes through as [`Link::pass`] has it.
    #[inline]
    pub(crate) fn is_open(&self, now: Time) -> bool {
        self.plain && self.ask_at == Time::NEVER && self.busy_until <= now
    }

    /// What [`Link::enter`] does where [`Link::is_open`], in the way of most packets: gives when the packet of so many
    /// IP bytes, which stays where it is, arrives at the other end.
    #[inline]
    pub(crate) fn pass(&mut self, bytes: u32, now: Time) -> Time {
        let bytes = bytes + self.overhead;
        self.busy_until = now + self.transmission_time(bytes);
        self.meter.passes(now, self.busy_until, bytes);
        self.busy_until + self.delay
    }

    /// A packet comes to the link's entrance; `has_data` tells whether it carries payload. Gives the packet that leaves
    /// onto the wire at once, if one does, without the link's framing, and when it arrives at the other end.
    pub(crate) fn enter(
        &mut self,
        mut packet: Packet,
        now: Time,
        events: &mut EventQueue,
        has_data: impl FnOnce(&Packet) -> bool,
    ) -> Option<(Time, Packet)> {
        if self.overhead > 0 {
            packet.bytes += self.overhead;
        }
        packet.enqueued = now;
        self.meter.counts(now).arrivals += 1;
        if self.impairments.has_scripts()
            && self.impairments.scripted_drop(packet.flow, has_data(&packet), now)
        {
            self.cx.drop_packet(packet, DropReason::Scripted);
            return None;
        }
        let busy = self.ask_at != Time::NEVER || self.busy_until > now;
        self.cx.link_busy = busy;
        self.cx.now = now;
        self.queue.enqueue(packet, &mut self.cx);
        if !busy {
            return self.send_next(now, events);
        }
        let backlog = self.queue.backlog();
        if self.ask_at == Time::NEVER && backlog.packets > 0 {
            self.ask(self.busy_until, events);
        }
        self.note(backlog, now);
        None
    }

    /// The queue's next packet may go. Gives what [`Link::enter`] gives.
    pub(crate) fn ask_queue(&mut self, now: Time, events: &mut EventQueue) -> Option<(Time, Packet)> {
        self.ask_at = Time::NEVER;
        self.cx.link_busy = false;
        self.cx.now = now;
        self.send_next(now, events)
    }

    fn ask(&mut self, at: Time, events: &mut EventQueue) {
        self.ask_at = at;
        events.schedule(self.slot + 1, at);
    }

    #[inline]
    fn send_next(&mut self, now: Time, events: &mut EventQueue) -> Option<(Time, Packet)> {
        let next = self.queue.dequeue(&mut self.cx);
        let sends = next.is_some();
        let leaves = next.and_then(|packet| self.transmit(packet, now));
        let backlog = self.queue.backlog();
        if backlog.packets > 0 {
            // Packets wait, but none may go yet: shapers.
            let ready = if sends { Some(self.busy_until) } else { self.queue.next_ready() };
            if let Some(at) = ready {
                self.ask(at.max(now), events);
            }
        }
        self.note(backlog, now);
        leaves
    }

    fn transmit(&mut self, mut packet: Packet, now: Time) -> Option<(Time, Packet)> {
        self.busy_until = now + self.transmission_time(packet.bytes);
        let sojourn = now.since(packet.enqueued);
        self.meter.departure(now, self.busy_until, packet.bytes, sojourn);
        if let Some(r) = &mut self.recorder {
            r.departure(now, packet.flow, packet.bytes, sojourn);
        }
        if self.impairments.loses() {
            self.cx.drop_packet(packet, DropReason::Loss);
            return None;
        }
        let mut at = self.busy_until + self.delay + self.impairments.jitter();
        if !self.impairments.jitter_reorders {
            at = at.max(self.last_arrival);
            self.last_arrival = at;
        }
        if self.overhead > 0 {
            packet.bytes -= self.overhead;
        }
        Some((at, packet))
    }

    /// A packet is on the wire, to arrive at `at`.
    #[inline]
    pub(crate) fn put_on_wire(&mut self, at: Time, packet: Packet, events: &mut EventQueue) {
        if self.wire.back().is_some_and(|(last, _)| *last <= at) {
            self.wire.push_back((at, packet));
        } else {
            self.put_ahead(at, packet, events);
        }
    }

    /// The wire is empty, or the packet overtakes others.
    #[cold]
    fn put_ahead(&mut self, at: Time, packet: Packet, events: &mut EventQueue) {
        let place = self.wire.partition_point(|(t, _)| *t <= at);
        if place == 0 {
            events.schedule(self.slot, at);
        }
        self.wire.insert(place, (at, packet));
    }

    /// The first packet on the wire arrives.
    #[inline]
    pub(crate) fn arrive(&mut self, events: &mut EventQueue) -> Option<Packet> {
        let (_, packet) = self.wire.pop_front()?;
        if let Some((at, _)) = self.wire.front() {
            events.schedule(self.slot, *at);
        }
        Some(packet)
    }

    #[inline]
    fn transmission_time(&mut self, bytes: u32) -> Dur {
        if self.times[0].0 != bytes {
            self.times.swap(0, 1);
            if self.times[0].0 != bytes {
                self.times[0] = (bytes, self.rate.time_for(Bytes(u64::from(bytes))));
            }
        }
        self.times[0].1
    }

    /// Whether [`Link::take_dropped`] has something to give.
    #[inline]
    pub(crate) fn has_dropped(&self) -> bool {
        self.cx.has_dropped()
    }

    /// A packet dropped since the last call.
    pub(crate) fn take_dropped(&mut self, now: Time) -> Option<Packet> {
        let (packet, reason) = self.cx.take_dropped()?;
        self.meter.counts(now).drops[reason as usize] += 1;
        if let Some(r) = &mut self.recorder {
            r.dropped(now, packet.flow, packet.bytes, reason);
        }
        Some(packet)
    }

    fn note(&mut self, backlog: Backlog, now: Time) {
        let marks = self.cx.take_marked();
        if marks > 0 {
            self.meter.counts(now).marks += marks;
        }
        self.meter.waiting(backlog, now);
        if let Some(r) = &mut self.recorder {
            r.backlog(now, backlog, marks, self.queue.as_ref());
        }
    }
}
