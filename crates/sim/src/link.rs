//! One direction of a link: a queue discipline, a transmitter, a wire.
//!
//! ```text
//! enter -> [scripted drop, policer] -> queue -> transmitter (rate) -> [outage, loss, damage] -> wire (delay, jitter,
//!          reordering, copies) -> arrival
//! ```
//! Packets on the wire are a FIFO of known arrival times, so a link has one pending arrival at most. A transmission's
//! end is an event only while another packet waits for it: an uncongested link costs one event a packet, or none where
//! the network runs it ahead.

use crate::events::EventQueue;
use crate::extras::{Extras, Passage};
use crate::link_meter::LinkMeter;
use crate::record::QueueRecorder;
use dumbbell_plan::LinkPlan;
use dumbbell_qdisc::{Backlog, DropReason, Packet, Qdisc, QdiscContext};
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
    /// A packet that finds link and queue idle goes through, and nobody needs to hear of it: no discipline, no extras,
    /// no recorder.
    plain: bool,
    /// Whether packets may leave its wire in another order than they came, or more often.
    disorderly: bool,
    /// Whether it takes packets in ahead of the clock (see [`crate::network`]).
    pub(crate) runs_ahead: bool,
    cx: QdiscContext,
    /// When the packet in transmission is out.
    busy_until: Time,
    /// When the queue is asked for its next packet; NEVER if nothing waits.
    ask_at: Time,
    wire: VecDeque<(Time, Packet)>,
    /// Transmission times of the last two sizes seen: nearly all packets have one of two.
    times: [(u32, Dur); 2],
    pub(crate) meter: LinkMeter,
    /// What most links don't have. Out of the way, as is the recorder: a link should take few cache lines.
    extras: Option<Box<Extras>>,
    pub(crate) recorder: Option<Box<QueueRecorder>>,
}

impl Link {
    pub(crate) fn new(
        plan: &LinkPlan,
        queue: Box<dyn Qdisc>,
        extras: Option<Box<Extras>>,
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
            plain: queue.can_bypass() && extras.is_none() && recorder.is_none(),
            disorderly: plan.wire_is_disorderly(),
            runs_ahead: false,
            queue,
            cx: QdiscContext::default(),
            busy_until: Time::ZERO,
            ask_at: Time::NEVER,
            wire: VecDeque::new(),
            times: [(0, Dur::ZERO); 2],
            meter,
            extras,
            recorder,
        }
    }

    pub(crate) fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    /// How many classes its discipline has, see [`Qdisc::classes`].
    pub(crate) fn classes(&self) -> Option<u16> {
        self.queue.classes()
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
        let arrival = self.busy_until + self.delay;
        self.meter.passes(now, self.busy_until, bytes, arrival);
        arrival
    }

    /// A packet comes to the link's entrance; `has_data` tells whether it carries payload. Gives the packet that leaves
    /// onto the wire at once, if one does, without the link's framing, and when it arrives at the other end. (A packet
    /// on a wire without order is there already.)
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
        self.cx.now = now;
        let mut opens = now;
        if let Some(extras) = &mut self.extras {
            if let Some(reason) = extras.refuses(&mut packet, &mut self.cx, has_data) {
                self.cx.drop_packet(packet, reason);
                return None;
            }
            opens = extras.opens(now);
        }
        let busy = self.ask_at != Time::NEVER || self.busy_until > now;
        self.cx.link_busy = busy;
        self.queue.enqueue(packet, &mut self.cx);
        if !busy && opens == now {
            return self.send_next(now, events);
        }
        let backlog = self.queue.backlog();
        if self.ask_at == Time::NEVER && backlog.packets > 0 {
            self.ask(self.busy_until.max(opens), events);
        }
        self.note(backlog, now);
        None
    }

    /// The queue's next packet may go. Gives what [`Link::enter`] gives.
    pub(crate) fn ask_queue(&mut self, now: Time, events: &mut EventQueue) -> Option<(Time, Packet)> {
        self.ask_at = Time::NEVER;
        if let Some(extras) = &mut self.extras {
            let at = extras.next(now);
            if at > now {
                self.ask(at, events);
                return None;
            }
        }
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
        let leaves = next.and_then(|packet| self.transmit(packet, now, events));
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

    #[inline]
    fn transmit(&mut self, packet: Packet, now: Time, events: &mut EventQueue) -> Option<(Time, Packet)> {
        if self.extras.is_some() {
            return self.transmit_specially(packet, now, events);
        }
        let until = now + self.transmission_time(packet.bytes);
        let at = until + self.delay;
        self.departs(&packet, now, until, at);
        Some((at, self.unframed(packet)))
    }

    /// A packet's transmission begins; it is out at `until` and arrives at `arrival`.
    #[inline(always)] // of the two callers one matters
    fn departs(&mut self, packet: &Packet, now: Time, until: Time, arrival: Time) {
        self.busy_until = until;
        let sojourn = now.since(packet.enqueued);
        self.meter.departure(now, until, packet.bytes, sojourn, arrival);
        if let Some(r) = &mut self.recorder {
            r.departure(now, packet.flow, packet.bytes, sojourn, until);
        }
    }

    #[inline]
    fn unframed(&self, mut packet: Packet) -> Packet {
        if self.overhead > 0 {
            packet.bytes -= self.overhead;
        }
        packet
    }

    /// What [`Link::transmit`] does on a link with extras.
    #[inline(never)]
    fn transmit_specially(
        &mut self,
        packet: Packet,
        now: Time,
        events: &mut EventQueue,
    ) -> Option<(Time, Packet)> {
        let usual = now + self.transmission_time(packet.bytes);
        let extras = self.extras.as_mut()?;
        let until = extras.finish(now, packet.bytes).unwrap_or(usual);
        if let Some(reason) = extras.loses(now, until, packet.bytes) {
            self.departs(&packet, now, until, Time::ZERO); // it arrives nowhere
            self.cx.drop_packet(packet, reason);
            return None;
        }
        let passage = extras.passage(until, self.delay);
        self.departs(&packet, now, until, passage.at);
        let packet = self.unframed(packet);
        if self.keeps_order() {
            return Some((passage.at, packet));
        }
        self.put_in_disorder(passage, packet, now, events);
        None
    }

    /// A packet goes onto a wire that does not keep order, and may let others go that have waited to be passed.
    fn put_in_disorder(&mut self, passage: Passage, packet: Packet, now: Time, events: &mut EventQueue) {
        let Some(disorder) = self.extras.as_mut().and_then(|x| x.disorder.as_mut()) else { return };
        disorder.sends(packet.body);
        let mut free = Vec::new();
        match passage.extent {
            Some(extent) => disorder.holds(packet.body, extent, passage.regular),
            None if passage.picked => {}
            None => free = disorder.passes(passage.at),
        }
        if let Some(at) = passage.copy {
            let Packet { bytes, flow, body, class, ecn, enqueued } = packet;
            disorder.copies.push((at, Packet { bytes, flow, body, class, ecn, enqueued }));
            self.meter.copied(now, at);
        }
        self.put_on_wire(passage.at, packet, events);
        for (body, at) in free {
            self.let_go(body, at, now, events);
        }
    }

    /// A packet that has waited on the wire arrives at `at`, unless it does before.
    fn let_go(&mut self, body: u32, at: Time, now: Time, events: &mut EventQueue) {
        let waits = |(until, packet): &(Time, Packet)| packet.body == body && *until > at;
        let place = self.wire.iter().position(waits);
        if let Some((until, packet)) = place.and_then(|i| self.wire.remove(i)) {
            self.meter.arrives_earlier(now, until, at);
            self.put_on_wire(at, packet, events);
        }
    }

    /// Whether packets leave its wire in the order in which they came, each once.
    pub(crate) fn keeps_order(&self) -> bool {
        !self.disorderly
    }

    /// Copies of packets that were just sent: they need contents of their own before they go onto the wire.
    pub(crate) fn take_copies(&mut self) -> Vec<(Time, Packet)> {
        let disorder = self.extras.as_mut().and_then(|x| x.disorder.as_mut());
        disorder.map(|d| std::mem::take(&mut d.copies)).unwrap_or_default()
    }

    /// Wire bits sent in the measurement and those that could have been, where the rate is not constant.
    pub(crate) fn use_of_capacity(&self) -> Option<(f64, f64)> {
        self.extras.as_ref().and_then(|x| x.use_of_capacity())
    }

    /// Its rate, where that is constant.
    pub(crate) fn rate(&self) -> Rate {
        self.rate
    }

    /// Packets in transmission or on the wire.
    pub(crate) fn under_way(&self) -> u64 {
        self.wire.len() as u64
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

    /// On a wire without order: a packet has arrived.
    #[inline(never)]
    pub(crate) fn note_order(&mut self, body: u32, now: Time) {
        let disorder = self.extras.as_mut().and_then(|x| x.disorder.as_mut());
        if let Some(extent) = disorder.and_then(|d| d.arrives(body)) {
            self.meter.reordered(now, extent);
        }
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

    /// Whether [`Link::take_dropped`] or [`Link::take_copies`] may have something to give.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        self.cx.has_dropped() | self.disorderly
    }

    /// A packet dropped since the last call, and why.
    pub(crate) fn take_dropped(&mut self, now: Time) -> Option<(Packet, DropReason)> {
        let (packet, reason) = self.cx.take_dropped()?;
        self.meter.counts(now).drops[reason as usize] += 1;
        if let Some(r) = &mut self.recorder {
            r.dropped(now, packet.flow, packet.bytes, reason);
        }
        Some((packet, reason))
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
