//! One direction of a link: a queue discipline, a transmitter, a wire.
//!
//! ```text
//! enter -> [scripted drop, policer] -> queue -> transmitter (rate) -> [outage, loss, corruption]
//!       -> wire (delay, jitter, reordering, duplication) -> arrival
//! ```
//! The wire is a FIFO of known arrival times, so a link has at most one pending arrival. The end of a transmission is
//! an event only while another packet waits, and only if the discipline is not a plain FIFO. See [`crate::network`] for
//! links with lookahead and links that run late.

mod sizes;
mod wire;

use crate::air::Side;
use crate::events::{EventQueue, Kind};
use crate::fifo_queue::FifoQueue;
use crate::impairments::Impairments;
use crate::inbox::{Inbox, Incoming};
use crate::link_meter::LinkMeter;
use crate::network::Onward;
use crate::record::QueueRecorder;
use dumbbell_plan::LinkPlan;
use dumbbell_qdisc::{Backlog, DropReason, Packet, Qdisc, QdiscContext};
use dumbbell_units::{Dur, Rate, Time};
use sizes::Sizes;
use std::collections::VecDeque;

/// Longest delay, ns: longer than any run, and sums of times don't overflow.
const LONGEST_DELAY: u64 = 1 << 62;

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) name: Box<str>,
    /// The step after it.
    pub(crate) onward: Onward,
    /// The node at its end.
    to: u32,
    /// Its slot for arrivals, and the one for other events if it has some (see [`crate::network::slots`]).
    arrival_slot: u32,
    pub(crate) wake_slot: u32,
    rate: Rate,
    pub(crate) delay: Dur,
    overhead: u32,
    /// True if a packet that finds link and queue idle can bypass the queue: the discipline keeps no state of it, and
    /// the link has no impairments and no recorder.
    transparent: bool,
    /// True if the wire may reorder or duplicate packets.
    may_reorder: bool,
    /// True if each transmission takes time: a delivery trace may send a packet at once.
    has_constant_rate: bool,
    has_constant_delay: bool,
    /// True if it accepts packets ahead of the clock (see [`crate::network`]).
    pub(crate) has_lookahead: bool,
    /// How far it may run late (see [`crate::network`]).
    pub(crate) lag: Dur,
    /// If packets come to it instead of an event.
    pub(crate) inbox: Option<Box<Inbox>>,
    /// Time of its pending event other than an arrival; NEVER without one.
    wake_at: Time,
    /// Boxed, like impairments and recorder, because most links have none: a link should occupy few cache lines.
    discipline: Option<Box<Discipline>>,
    /// In place of the discipline, if that is a plain FIFO.
    pub(crate) fifo: Option<FifoQueue>,
    /// Packets on their path to a link with an inbox, at the end of the run.
    pub(crate) in_inboxes: u32,
    /// End of the transmission in progress, with a plain FIFO; NEVER for others.
    fifo_busy_until: Time,
    /// Time of the next dequeue; NEVER if no packet waits.
    dequeue_at: Time,
    /// Arrival times and packets; on the wire `enqueued` is the begin of the transmission.
    wire: VecDeque<(Time, Packet)>,
    sizes: Sizes,
    pub(crate) meter: LinkMeter,
    pub(crate) impairments: Option<Box<Impairments>>,
    pub(crate) recorder: Option<Box<QueueRecorder>>,
    /// In place of queue and transmitter, if it is one direction of a Wi-Fi medium.
    pub(crate) air: Option<Box<Side>>,
}

/// A queue discipline and the state that a transmitter needs with one.
#[derive(Debug)]
struct Discipline {
    queue: Box<dyn Qdisc>,
    cx: QdiscContext,
    /// End of the transmission in progress.
    busy_until: Time,
}

impl Link {
    pub(crate) fn new(
        plan: &LinkPlan,
        queue: Box<dyn Qdisc>,
        impairments: Option<Box<Impairments>>,
        number: usize,
        meter: LinkMeter,
        recorder: Option<Box<QueueRecorder>>,
    ) -> Link {
        Link {
            name: plan.name.as_str().into(),
            onward: Onward::NONE,
            to: plan.to as u32,
            arrival_slot: number as u32,
            wake_slot: 0,
            rate: Rate(plan.rate_bps),
            delay: Dur(plan.delay_ns.min(LONGEST_DELAY)),
            overhead: plan.overhead_bytes,
            transparent: queue.can_bypass() && impairments.is_none() && recorder.is_none(),
            may_reorder: plan.wire_may_reorder(),
            has_constant_rate: plan.rate_course.is_none() && plan.opportunities.is_none(),
            has_constant_delay: plan.delay_course.is_none(),
            has_lookahead: false,
            lag: Dur::ZERO,
            inbox: None,
            wake_at: Time::NEVER,
            discipline: Some(Box::new(Discipline { queue, cx: QdiscContext::default(), busy_until: Time::ZERO })),
            fifo: None,
            in_inboxes: 0,
            fifo_busy_until: Time::NEVER,
            dequeue_at: Time::NEVER,
            wire: VecDeque::new(),
            sizes: Sizes::default(),
            meter,
            impairments,
            recorder,
            air: None,
        }
    }

    /// Makes it one direction of a Wi-Fi medium. It has no shortcuts, and its packets may overtake each other.
    pub(crate) fn joins(&mut self, side: Side) {
        (self.transparent, self.may_reorder) = (false, true);
        self.air = Some(Box::new(side));
    }

    /// Uses no shortcuts: each packet goes through the discipline.
    pub(crate) fn never_cuts_through(&mut self) {
        self.transparent = false;
    }

    /// The node at its end.
    pub(crate) fn to(&self) -> usize {
        self.to as usize
    }

    /// True if it has events other than arrivals.
    pub(crate) fn wakes(&self) -> bool {
        self.discipline.is_some() || self.inbox.is_some()
    }

    /// Leaves the discipline out, if it is a plain FIFO without impairments and series.
    pub(crate) fn use_fifo(&mut self) {
        let rule = self.discipline.as_ref().and_then(|d| d.queue.plain_fifo());
        if let Some(rule) = rule.filter(|_| self.transparent) {
            self.fifo = Some(FifoQueue::new(rule));
            self.fifo_busy_until = Time::ZERO;
            self.discipline = None;
        }
    }

    /// Smallest time from the begin of a transmission to the arrival, less the transmission; zero if that is not known
    /// or the wire may reorder.
    pub(crate) fn least_delay(&self) -> Dur {
        if self.has_constant_delay && self.is_fifo() { self.delay } else { Dur::ZERO }
    }

    /// The backlog at `now`, the end of the run.
    pub(crate) fn backlog(&mut self, now: Time) -> Backlog {
        if let Some(air) = &self.air {
            return air.backlog;
        }
        match (&mut self.fifo, &self.discipline) {
            (Some(fifo), _) => fifo.backlog(now),
            (None, Some(discipline)) => discipline.queue.backlog(),
            (None, None) => Backlog::default(),
        }
    }

    /// True if a packet that arrives now at a link with a plain FIFO does not wait.
    #[inline]
    pub(crate) fn is_idle_fifo(&self, now: Time) -> bool {
        self.fifo_busy_until <= now
    }

    /// A packet arrives at a link with a plain FIFO that is busy. Returns its arrival time at the other end, unless it
    /// is dropped; NEVER if its transmission begins after `end`.
    #[inline(never)]
    pub(crate) fn enter_busy_fifo(&mut self, packet: &mut Packet, now: Time, end: Time) -> Option<Time> {
        let bytes = packet.bytes + self.overhead;
        let begin = self.fifo_busy_until;
        if !self.fifo.as_mut()?.enqueue(bytes, now, begin) {
            self.meter.counts(now).arrivals += 1;
            return None;
        }
        let size = self.sizes.get(bytes, self.rate, &mut self.meter);
        self.fifo_busy_until = begin.after(size.time);
        let arrival = self.fifo_busy_until.after(self.delay);
        if self.meter.contains(now, self.fifo_busy_until) {
            let span = begin.since(now);
            size.waits(span, &mut self.meter);
            self.meter.waited(span);
        } else {
            self.meter.counts(now).arrivals += 1;
            self.meter.waits_from(bytes, now, begin.min(end));
            if begin > end {
                return Some(Time::NEVER);
            }
            self.meter.departure(begin, self.fifo_busy_until, bytes, begin.since(now), arrival);
        }
        packet.enqueued = begin;
        Some(arrival)
    }

    /// Counts a packet that a plain FIFO does not admit, and returns it as it is on the wire.
    #[cold]
    pub(crate) fn drop_from_fifo(&mut self, mut packet: Packet, now: Time) -> Packet {
        packet.bytes += self.overhead;
        self.count_drop(&packet, DropReason::Full, now);
        packet
    }

    /// Frees the memory of its buffers, if no packet is in them.
    pub(crate) fn free_buffers(&mut self, now: Time) {
        if self.wire.is_empty() {
            self.wire = VecDeque::new();
        }
        if let Some(fifo) = &mut self.fifo {
            fifo.free_buffer(now);
        }
        if let Some(inbox) = &mut self.inbox {
            inbox.free_buffers();
        }
    }

    /// Puts a packet that arrives over another link into the inbox.
    #[inline]
    pub(crate) fn receive(&mut self, incoming: Incoming, events: &mut EventQueue) {
        let at = incoming.at;
        if let Some(inbox) = &mut self.inbox {
            inbox.push(incoming);
            self.wake(at, events);
        }
    }

    /// Takes the first packet from the inbox, if it arrives by `until`.
    #[inline]
    pub(crate) fn next_incoming(&mut self, until: Time) -> Option<Incoming> {
        self.inbox.as_mut()?.pop(until)
    }

    /// Schedules the link's event for an arrival or a dequeue at `due`, unless one is pending before.
    #[inline]
    fn wake(&mut self, due: Time, events: &mut EventQueue) {
        let at = due.after(self.lag);
        if at < self.wake_at {
            self.wake_at = at;
            events.schedule(self.wake_slot as usize, at, Kind::Departure);
        }
    }

    /// The link's event has been processed: schedules the next one.
    #[inline]
    pub(crate) fn wake_again(&mut self, events: &mut EventQueue) {
        self.wake_at = Time::NEVER;
        let due = self.dequeue_at.min(self.inbox.as_ref().map_or(Time::NEVER, |inbox| inbox.first()));
        if due != Time::NEVER {
            self.wake(due, events);
        }
    }

    /// The run has ended, see [`Qdisc::close`].
    pub(crate) fn close_queue(&mut self, end: Time) {
        if let Some(discipline) = &mut self.discipline {
            discipline.queue.close(end);
        }
    }

    /// Number of classes of its discipline, see [`Qdisc::classes`].
    pub(crate) fn classes(&self) -> Option<u32> {
        self.discipline.as_ref().and_then(|d| d.queue.classes())
    }

    /// Time of the next dequeue, if it is not after `time`.
    #[inline]
    pub(crate) fn dequeue_due_by(&self, time: Time) -> Option<Time> {
        (self.dequeue_at <= time).then_some(self.dequeue_at)
    }

    /// True if a packet that arrives now can take [`Link::cut_through`].
    #[inline]
    pub(crate) fn can_cut_through(&self, now: Time) -> bool {
        let is_idle = |d: &Discipline| d.busy_until <= now;
        self.transparent && self.dequeue_at == Time::NEVER && self.discipline.as_deref().is_some_and(is_idle)
    }

    /// Fast path of [`Link::enter`] for an idle link without impairments. Returns the arrival time at the other end of
    /// a packet of `bytes` IP bytes; the caller keeps the packet.
    pub(crate) fn cut_through(&mut self, bytes: u32, now: Time) -> Time {
        let until = self.pass_idle(bytes, now);
        if let Some(discipline) = &mut self.discipline {
            discipline.busy_until = until;
        }
        until + self.delay
    }

    /// The same for a link with a plain FIFO.
    #[inline(always)] // for each link on the path
    pub(crate) fn cut_through_fifo(&mut self, bytes: u32, now: Time) -> Time {
        self.fifo_busy_until = self.pass_idle(bytes, now);
        self.fifo_busy_until.after(self.delay)
    }

    /// A packet passes an idle link. Returns the end of its transmission.
    #[inline(always)]
    fn pass_idle(&mut self, bytes: u32, now: Time) -> Time {
        let bytes = bytes + self.overhead;
        let size = self.sizes.get(bytes, self.rate, &mut self.meter);
        let until = now.after(size.time);
        if size.is_measured(now, &self.meter) {
            size.passed += 1;
        } else {
            self.meter.passes(now, until, bytes, until + self.delay);
        }
        until
    }

    /// Completes the counts of the meter.
    pub(crate) fn settle(&mut self) {
        self.sizes.report(&mut self.meter);
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
        let packet = self.admit(packet, now, has_data)?;
        let Discipline { queue, cx, busy_until } = self.discipline.as_deref_mut()?;
        let mut opens = now;
        if let Some(impairments) = &mut self.impairments {
            opens = impairments.opens(now);
        }
        let busy = self.dequeue_at != Time::NEVER || *busy_until > now;
        cx.now = now;
        cx.link_busy = busy;
        queue.enqueue(packet, cx);
        if !busy && opens == now {
            return self.send_next(now, events);
        }
        let backlog = queue.backlog();
        if self.dequeue_at == Time::NEVER && backlog.packets > 0 {
            let at = (*busy_until).max(opens);
            self.schedule_dequeue(at, events);
        }
        self.record_backlog(backlog, now);
        None
    }

    /// Counts a packet that arrives, and returns it unless an impairment before the queue drops it.
    #[inline]
    pub(crate) fn admit(
        &mut self,
        mut packet: Packet,
        now: Time,
        has_data: impl FnOnce(&Packet) -> bool,
    ) -> Option<Packet> {
        self.meter.counts(now).arrivals += 1;
        let Some(impairments) = &mut self.impairments else { return Some(packet) };
        let cx = &mut self.discipline.as_deref_mut()?.cx;
        cx.now = now;
        let Some(reason) = impairments.refuses(&mut packet, cx, has_data) else { return Some(packet) };
        cx.drop_packet(packet, reason);
        None
    }

    /// Drops a packet: [`Link::take_dropped`] returns it.
    pub(crate) fn drop_packet(&mut self, packet: Packet, reason: DropReason) {
        if let Some(discipline) = &mut self.discipline {
            discipline.cx.drop_packet(packet, reason);
        }
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
        let cx = &mut self.discipline.as_mut()?.cx;
        cx.link_busy = false;
        cx.now = now;
        self.send_next(now, events)
    }

    fn schedule_dequeue(&mut self, at: Time, events: &mut EventQueue) {
        self.dequeue_at = at;
        self.wake(at, events);
    }

    #[inline]
    fn send_next(&mut self, now: Time, events: &mut EventQueue) -> Option<(Time, Packet)> {
        let Discipline { queue, cx, .. } = self.discipline.as_deref_mut()?;
        let next = queue.dequeue(cx);
        let sends = next.is_some();
        let leaves = next.and_then(|packet| self.transmit(packet, now, events));
        let Discipline { queue, busy_until, .. } = self.discipline.as_deref()?;
        let backlog = queue.backlog();
        if backlog.packets > 0 {
            // A shaper may hold packets back.
            let ready = if sends { Some(*busy_until) } else { queue.next_ready() };
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
        Some((at, self.on_the_wire(packet, now)))
    }

    /// Records the start of a transmission that ends at `until`; the packet arrives at `arrival`.
    #[inline(always)] // one of the two callers is on the fast path
    fn departs(&mut self, packet: &Packet, now: Time, until: Time, arrival: Time) {
        if let Some(discipline) = &mut self.discipline {
            discipline.busy_until = until;
        }
        let sojourn = now.since(packet.enqueued);
        self.meter.departure(now, until, packet.bytes, sojourn, arrival);
        if let Some(r) = &mut self.recorder {
            r.departure(now, packet.flow, packet.bytes, sojourn, until);
        }
    }

    /// Returns a packet as it is on the wire: without the link's framing, with the begin of its transmission.
    #[inline]
    fn on_the_wire(&self, mut packet: Packet, begin: Time) -> Packet {
        if self.overhead > 0 {
            packet.bytes -= self.overhead;
        }
        packet.enqueued = begin;
        packet
    }

    /// [`Link::transmit`] for a link with impairments.
    #[inline(never)]
    fn transmit_impaired(&mut self, packet: Packet, now: Time, events: &mut EventQueue) -> Option<(Time, Packet)> {
        let usual = now + self.transmission_time(packet.bytes);
        let impairments = self.impairments.as_mut()?;
        let until = impairments.finish(now, packet.bytes).unwrap_or(usual);
        if let Some(reason) = impairments.loses(now, until, packet.bytes) {
            self.departs(&packet, now, until, Time::ZERO); // it never arrives
            self.drop_packet(packet, reason);
            return None;
        }
        let transit = impairments.transit(until, self.delay);
        self.departs(&packet, now, until, transit.at);
        let packet = self.on_the_wire(packet, now);
        if self.is_fifo() {
            return Some((transit.at, packet));
        }
        self.put_on_reordering_wire(transit, packet, now, events);
        None
    }

    /// True if a packet never arrives at the other end at the instant at which it arrives here.
    pub(crate) fn takes_time(&self) -> bool {
        self.has_constant_rate || self.least_delay() > Dur::ZERO
    }

    /// True if packets leave one after another and arrive in this order.
    pub(crate) fn keeps_distance(&self) -> bool {
        self.has_constant_rate && self.is_fifo()
    }

    /// True if the wire delivers packets in their sending order, each once.
    pub(crate) fn is_fifo(&self) -> bool {
        !self.may_reorder
    }

    /// Wire bits sent and wire bits of capacity during the measurement, where the rate is not constant.
    pub(crate) fn use_of_capacity(&self) -> Option<(f64, f64)> {
        self.impairments.as_ref().and_then(|x| x.use_of_capacity())
    }

    /// The constant rate; the first one of a rate that changes.
    pub(crate) fn rate(&self) -> Rate {
        self.rate
    }

    #[inline]
    fn transmission_time(&mut self, bytes: u32) -> Dur {
        self.sizes.get(bytes, self.rate, &mut self.meter).time
    }

    /// True if [`Link::take_dropped`] or [`Link::take_copies`] may return a packet.
    #[inline]
    pub(crate) fn has_losses_or_copies(&self) -> bool {
        self.may_reorder || self.discipline.as_deref().is_some_and(|d| d.cx.has_dropped())
    }

    /// Takes a packet dropped since the last call, with the reason.
    pub(crate) fn take_dropped(&mut self, now: Time) -> Option<(Packet, DropReason)> {
        let (packet, reason) = self.discipline.as_mut()?.cx.take_dropped()?;
        self.count_drop(&packet, reason, now);
        Some((packet, reason))
    }

    fn count_drop(&mut self, packet: &Packet, reason: DropReason, now: Time) {
        self.meter.counts(now).rare_mut().drops[reason as usize] += 1;
        if let Some(r) = &mut self.recorder {
            r.dropped(now, packet.flow, packet.bytes, reason);
        }
    }

    #[inline(always)] // for each packet of a discipline twice
    fn record_backlog(&mut self, backlog: Backlog, now: Time) {
        let Some(Discipline { queue, cx, .. }) = self.discipline.as_deref_mut() else { return };
        let marks = cx.take_marked();
        if marks > 0 {
            self.meter.marked(marks, now);
        }
        self.meter.waiting(backlog, now);
        if let Some(r) = &mut self.recorder {
            r.backlog(now, backlog, marks, Some(queue.as_ref()));
        }
    }
}
