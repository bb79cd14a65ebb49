//! One direction of a link: a queue discipline, a transmitter, a wire.
//!
//! ```text
//! enter -> [scripted drop, policer] -> queue -> transmitter (rate) -> [outage, loss, corruption]
//!       -> wire (delay, jitter, reordering, duplication) -> arrival
//! ```
//! The wire is a FIFO of known arrival times, so a link has at most one pending arrival. The end of a transmission is an
//! event only while another packet waits: an uncongested link costs one event per packet, or none with lookahead (see
//! [`crate::network`]).

use crate::events::EventQueue;
use crate::impairments::{Impairments, Transit};
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
    /// The node at its end.
    pub(crate) to: usize,
    slot: usize,
    rate: Rate,
    delay: Dur,
    overhead: u32,
    queue: Box<dyn Qdisc>,
    /// True if a packet that finds link and queue idle can bypass the queue: the discipline keeps no state of it, and
    /// the link has no impairments and no recorder.
    transparent: bool,
    /// True if the wire may reorder or duplicate packets.
    may_reorder: bool,
    /// True if it accepts packets ahead of the clock (see [`crate::network`]).
    pub(crate) has_lookahead: bool,
    cx: QdiscContext,
    /// End of the transmission in progress.
    busy_until: Time,
    /// Time of the next dequeue; NEVER if no packet waits.
    dequeue_at: Time,
    wire: VecDeque<(Time, Packet)>,
    /// Transmission times of the last two packet sizes: nearly all packets have one of two sizes.
    times: [(u32, Dur); 2],
    pub(crate) meter: LinkMeter,
    /// Boxed, like the recorder, because most links have none: a link should occupy few cache lines.
    impairments: Option<Box<Impairments>>,
    pub(crate) recorder: Option<Box<QueueRecorder>>,
}

impl Link {
    pub(crate) fn new(
        plan: &LinkPlan,
        queue: Box<dyn Qdisc>,
        impairments: Option<Box<Impairments>>,
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
            transparent: queue.can_bypass() && impairments.is_none() && recorder.is_none(),
            may_reorder: plan.wire_may_reorder(),
            has_lookahead: false,
            queue,
            cx: QdiscContext::default(),
            busy_until: Time::ZERO,
            dequeue_at: Time::NEVER,
            wire: VecDeque::new(),
            times: [(0, Dur::ZERO); 2],
            meter,
            impairments,
            recorder,
        }
    }

    pub(crate) fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    /// Number of classes of its discipline, see [`Qdisc::classes`].
    pub(crate) fn classes(&self) -> Option<u16> {
        self.queue.classes()
    }

    /// Time of the next dequeue, if it is not after `time`.
    #[inline]
    pub(crate) fn dequeue_due_by(&self, time: Time) -> Option<Time> {
        (self.dequeue_at <= time).then_some(self.dequeue_at)
    }

    /// True if a packet that arrives now can take [`Link::cut_through`].
    #[inline]
    pub(crate) fn can_cut_through(&self, now: Time) -> bool {
        self.transparent && self.dequeue_at == Time::NEVER && self.busy_until <= now
    }

    /// Fast path of [`Link::enter`] for an idle link without impairments. Returns the arrival time at the other end of a
    /// packet of `bytes` IP bytes; the caller keeps the packet.
    #[inline]
    pub(crate) fn cut_through(&mut self, bytes: u32, now: Time) -> Time {
        let bytes = bytes + self.overhead;
        self.busy_until = now + self.transmission_time(bytes);
        let arrival = self.busy_until + self.delay;
        self.meter.passes(now, self.busy_until, bytes, arrival);
        arrival
    }

    /// A packet arrives at the link; `has_data` returns whether it has payload. Returns the packet whose transmission
    /// begins at once, if any, without the link's framing, and its arrival time at the other end. (A wire that may
    /// reorder takes the packet itself.)
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
        if let Some(impairments) = &mut self.impairments {
            if let Some(reason) = impairments.refuses(&mut packet, &mut self.cx, has_data) {
                self.cx.drop_packet(packet, reason);
                return None;
            }
            opens = impairments.opens(now);
        }
        let busy = self.dequeue_at != Time::NEVER || self.busy_until > now;
        self.cx.link_busy = busy;
        self.queue.enqueue(packet, &mut self.cx);
        if !busy && opens == now {
            return self.send_next(now, events);
        }
        let backlog = self.queue.backlog();
        if self.dequeue_at == Time::NEVER && backlog.packets > 0 {
            self.schedule_dequeue(self.busy_until.max(opens), events);
        }
        self.record_backlog(backlog, now);
        None
    }

    /// Dequeues the next packet, if the transmitter can send now. Returns the same as [`Link::enter`].
    pub(crate) fn dequeue_next(&mut self, now: Time, events: &mut EventQueue) -> Option<(Time, Packet)> {
        self.dequeue_at = Time::NEVER;
        if let Some(impairments) = &mut self.impairments {
            let at = impairments.next(now);
            if at > now {
                self.schedule_dequeue(at, events);
                return None;
            }
        }
        self.cx.link_busy = false;
        self.cx.now = now;
        self.send_next(now, events)
    }

    fn schedule_dequeue(&mut self, at: Time, events: &mut EventQueue) {
        self.dequeue_at = at;
        events.schedule(self.slot + 1, at);
    }

    #[inline]
    fn send_next(&mut self, now: Time, events: &mut EventQueue) -> Option<(Time, Packet)> {
        let next = self.queue.dequeue(&mut self.cx);
        let sends = next.is_some();
        let leaves = next.and_then(|packet| self.transmit(packet, now, events));
        let backlog = self.queue.backlog();
        if backlog.packets > 0 {
            // A shaper may hold packets back.
            let ready = if sends { Some(self.busy_until) } else { self.queue.next_ready() };
            if let Some(at) = ready {
                self.schedule_dequeue(at.max(now), events);
            }
        }
        self.record_backlog(backlog, now);
        leaves
    }

    #[inline]
    fn transmit(&mut self, packet: Packet, now: Time, events: &mut EventQueue) -> Option<(Time, Packet)> {
        if self.impairments.is_some() {
            return self.transmit_impaired(packet, now, events);
        }
        let until = now + self.transmission_time(packet.bytes);
        let at = until + self.delay;
        self.departs(&packet, now, until, at);
        Some((at, self.unframed(packet)))
    }

    /// Records the begin of a transmission that ends at `until`; the packet arrives at `arrival`.
    #[inline(always)] // one of the two callers is on the fast path
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

    /// [`Link::transmit`] for a link with impairments.
    #[inline(never)]
    fn transmit_impaired(
        &mut self,
        packet: Packet,
        now: Time,
        events: &mut EventQueue,
    ) -> Option<(Time, Packet)> {
        let usual = now + self.transmission_time(packet.bytes);
        let impairments = self.impairments.as_mut()?;
        let until = impairments.finish(now, packet.bytes).unwrap_or(usual);
        if let Some(reason) = impairments.loses(now, until, packet.bytes) {
            self.departs(&packet, now, until, Time::ZERO); // it never arrives
            self.cx.drop_packet(packet, reason);
            return None;
        }
        let transit = impairments.transit(until, self.delay);
        self.departs(&packet, now, until, transit.at);
        let packet = self.unframed(packet);
        if self.is_fifo() {
            return Some((transit.at, packet));
        }
        self.put_on_reordering_wire(transit, packet, now, events);
        None
    }

    /// Puts a packet onto a wire that may reorder, and releases held packets that enough others have overtaken.
    fn put_on_reordering_wire(
        &mut self,
        transit: Transit,
        packet: Packet,
        now: Time,
        events: &mut EventQueue,
    ) {
        let Some(reorder) = self.impairments.as_mut().and_then(|x| x.reorder.as_mut()) else { return };
        reorder.on_sent(packet.body);
        let mut released = Vec::new();
        match transit.extent {
            Some(extent) => reorder.hold(packet.body, extent, transit.regular),
            None if transit.selected => {}
            None => released = reorder.on_passed(transit.at),
        }
        if let Some(at) = transit.copy {
            let Packet { bytes, flow, body, class, ecn, enqueued } = packet;
            reorder.copies.push((at, Packet { bytes, flow, body, class, ecn, enqueued }));
            self.meter.copied(now, at);
        }
        self.put_on_wire(transit.at, packet, events);
        for (body, at) in released {
            self.release_held(body, at, now, events);
        }
    }

    /// Moves the arrival of a held packet forward to `at`, unless it arrives earlier.
    fn release_held(&mut self, body: u32, at: Time, now: Time, events: &mut EventQueue) {
        let waits = |(until, packet): &(Time, Packet)| packet.body == body && *until > at;
        let place = self.wire.iter().position(waits);
        if let Some((until, packet)) = place.and_then(|i| self.wire.remove(i)) {
            self.meter.arrives_earlier(now, until, at);
            self.put_on_wire(at, packet, events);
        }
    }

    /// True if the wire delivers packets in their sending order, each once.
    pub(crate) fn is_fifo(&self) -> bool {
        !self.may_reorder
    }

    /// Takes the duplicates of packets just sent. Each needs its own slot in the packet pool before it is put on the wire.
    pub(crate) fn take_copies(&mut self) -> Vec<(Time, Packet)> {
        let reorder = self.impairments.as_mut().and_then(|x| x.reorder.as_mut());
        reorder.map(|d| std::mem::take(&mut d.copies)).unwrap_or_default()
    }

    /// Wire bits sent and wire bits of capacity during the measurement, where the rate is not constant.
    pub(crate) fn use_of_capacity(&self) -> Option<(f64, f64)> {
        self.impairments.as_ref().and_then(|x| x.use_of_capacity())
    }

    /// The constant rate; the first one of a rate that changes.
    pub(crate) fn rate(&self) -> Rate {
        self.rate
    }

    /// Number of packets in transmission or on the wire.
    pub(crate) fn packets_on_wire(&self) -> u64 {
        self.wire.len() as u64
    }

    /// Puts a packet on the wire, to arrive at `at`.
    #[inline]
    pub(crate) fn put_on_wire(&mut self, at: Time, packet: Packet, events: &mut EventQueue) {
        if self.wire.back().is_some_and(|(last, _)| *last <= at) {
            self.wire.push_back((at, packet));
        } else {
            self.insert_on_wire(at, packet, events);
        }
    }

    /// Slow path of [`Link::put_on_wire`]: the wire is empty, or the packet overtakes others.
    #[cold]
    fn insert_on_wire(&mut self, at: Time, packet: Packet, events: &mut EventQueue) {
        let place = self.wire.partition_point(|(t, _)| *t <= at);
        if place == 0 {
            events.schedule(self.slot, at);
        }
        self.wire.insert(place, (at, packet));
    }

    /// Takes the first packet off the wire and schedules the next arrival.
    #[inline]
    pub(crate) fn arrive(&mut self, events: &mut EventQueue) -> Option<Packet> {
        let (_, packet) = self.wire.pop_front()?;
        if let Some((at, _)) = self.wire.front() {
            events.schedule(self.slot, *at);
        }
        Some(packet)
    }

    /// Records the reordering extent of a packet that has arrived.
    #[inline(never)]
    pub(crate) fn record_reordering(&mut self, body: u32, now: Time) {
        let reorder = self.impairments.as_mut().and_then(|x| x.reorder.as_mut());
        if let Some(extent) = reorder.and_then(|d| d.on_arrival(body)) {
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

    /// True if [`Link::take_dropped`] or [`Link::take_copies`] may return a packet.
    #[inline]
    pub(crate) fn has_losses_or_copies(&self) -> bool {
        self.cx.has_dropped() | self.may_reorder
    }

    /// Takes a packet dropped since the last call, with the reason.
    pub(crate) fn take_dropped(&mut self, now: Time) -> Option<(Packet, DropReason)> {
        let (packet, reason) = self.cx.take_dropped()?;
        self.meter.counts(now).drops[reason as usize] += 1;
        if let Some(r) = &mut self.recorder {
            r.dropped(now, packet.flow, packet.bytes, reason);
        }
        Some((packet, reason))
    }

    fn record_backlog(&mut self, backlog: Backlog, now: Time) {
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
