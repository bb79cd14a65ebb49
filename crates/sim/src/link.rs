//! One direction of a link: a queue discipline, a transmitter, a wire.
//!
//! ```text
//! enter -> [scripted drop] -> queue -> transmitter (rate) -> [random loss] -> wire (delay, jitter) -> arrival
//! ```
//! Packets on the wire are a FIFO of known arrival times, so a link has one pending arrival at most. A transmission's
//! end is an event only while another packet waits for it: an uncongested link costs one event a packet.

use crate::events::EventQueue;
use crate::impair::Impairments;
use crate::meter::{Spans, TimeMean};
use crate::plan::LinkPlan;
use crate::record::QueueRecorder;
use dumbbell_qdisc::{Backlog, Cx, DropReason, Packet, Qdisc};
use dumbbell_units::{Bytes, Dur, Rate, Time};
use std::collections::VecDeque;

/// Counts since the start of measurement.
#[derive(Clone, Debug)]
pub(crate) struct LinkMeter {
    pub(crate) arrivals: u64,
    pub(crate) departures: u64,
    pub(crate) departed_bytes: u64,
    pub(crate) drops: [u64; DropReason::ALL.len()],
    pub(crate) marks: u64,
    pub(crate) waiting_at_start: u64,
    pub(crate) busy: Dur,
    pub(crate) packets: TimeMean,
    pub(crate) bytes: TimeMean,
    pub(crate) sojourn: Spans,
}

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
    cx: Cx,
    /// When the packet in transmission is out.
    busy_until: Time,
    /// A transmission event is pending.
    awaits: bool,
    wire: VecDeque<(Time, Packet)>,
    /// Transmission times of the last two sizes seen: nearly all packets have one of two.
    times: [(u32, Dur); 2],
    impairments: Impairments,
    end: Time,
    pub(crate) meter: LinkMeter,
    pub(crate) recorder: Option<QueueRecorder>,
}

impl Link {
    pub(crate) fn new(
        plan: &LinkPlan,
        queue: Box<dyn Qdisc>,
        impairments: Impairments,
        slot: usize,
        end: Time,
        recorder: Option<QueueRecorder>,
    ) -> Link {
        Link {
            name: plan.name.clone(),
            to: plan.to,
            slot,
            rate: Rate(plan.rate_bps),
            delay: Dur(plan.delay_ns),
            overhead: plan.overhead_bytes,
            queue,
            cx: Cx::default(),
            busy_until: Time::ZERO,
            awaits: false,
            wire: VecDeque::new(),
            times: [(0, Dur::ZERO); 2],
            impairments,
            end,
            meter: LinkMeter {
                arrivals: 0,
                departures: 0,
                departed_bytes: 0,
                drops: [0; DropReason::ALL.len()],
                marks: 0,
                waiting_at_start: 0,
                busy: Dur::ZERO,
                packets: TimeMean::default(),
                bytes: TimeMean::default(),
                sojourn: Spans::new(),
            },
            recorder,
        }
    }

    pub(crate) fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    /// Measurement starts now.
    pub(crate) fn restart_meter(&mut self, now: Time) {
        let waiting = self.queue.backlog();
        let m = &mut self.meter;
        (m.arrivals, m.departures, m.departed_bytes, m.marks) = (0, 0, 0, 0);
        m.drops = [0; DropReason::ALL.len()];
        m.waiting_at_start = waiting.packets;
        // A packet in transmission is busy time from now on.
        m.busy = self.busy_until.min(self.end).since(now);
        m.packets.restart(now);
        m.bytes.restart(now);
        m.sojourn.clear();
    }

    /// A packet arrives at the link's entrance.
    pub(crate) fn enter(&mut self, mut packet: Packet, data: bool, now: Time, events: &mut EventQueue) {
        packet.bytes += self.overhead;
        packet.enqueued = now;
        self.meter.arrivals += 1;
        self.cx.now = now;
        if self.impairments.scripted_drop(packet.flow, data, now) {
            self.cx.drop_packet(packet, DropReason::Scripted);
            return;
        }
        self.cx.link_busy = self.awaits || self.busy_until > now;
        self.queue.enqueue(packet, &mut self.cx);
        if !self.cx.link_busy {
            self.transmit(now, events);
        } else if !self.awaits && self.queue.backlog().packets > 0 {
            self.awaits = true;
            events.schedule(self.slot + 1, self.busy_until);
        }
        self.note(now);
    }

    /// The transmitter is free.
    pub(crate) fn on_transmitter_free(&mut self, now: Time, events: &mut EventQueue) {
        self.awaits = false;
        self.cx.now = now;
        self.cx.link_busy = false;
        self.transmit(now, events);
        self.note(now);
    }

    fn transmit(&mut self, now: Time, events: &mut EventQueue) {
        let next = self.queue.dequeue(&mut self.cx);
        let waiting = self.queue.backlog().packets > 0;
        let Some(packet) = next else {
            if waiting && let Some(at) = self.queue.next_ready() {
                self.awaits = true;
                events.schedule(self.slot + 1, at.max(now));
            }
            return;
        };
        let time = self.transmission_time(packet.bytes);
        self.busy_until = now + time;
        self.meter.departures += 1;
        self.meter.departed_bytes += u64::from(packet.bytes);
        self.meter.busy += self.busy_until.min(self.end).since(now);
        self.meter.sojourn.record(now.since(packet.enqueued));
        if let Some(r) = &mut self.recorder {
            r.departure(now, packet.flow, packet.bytes, now.since(packet.enqueued));
        }
        if waiting {
            self.awaits = true;
            events.schedule(self.slot + 1, self.busy_until);
        }
        if self.impairments.loses() {
            self.cx.drop_packet(packet, DropReason::Loss);
            return;
        }
        self.put_on_wire(packet, events);
    }

    fn put_on_wire(&mut self, packet: Packet, events: &mut EventQueue) {
        let mut at = self.busy_until + self.delay + self.impairments.jitter();
        let last = self.wire.back().map_or(Time::ZERO, |(t, _)| *t);
        if at < last && !self.impairments.jitter_reorders {
            at = last;
        }
        let place = if at >= last { self.wire.len() } else { self.wire.partition_point(|(t, _)| *t <= at) };
        if place == 0 {
            events.schedule(self.slot, at);
        }
        if place == self.wire.len() {
            self.wire.push_back((at, packet));
        } else {
            self.wire.insert(place, (at, packet));
        }
    }

    fn transmission_time(&mut self, bytes: u32) -> Dur {
        if self.times[0].0 == bytes {
            return self.times[0].1;
        }
        self.times.swap(0, 1);
        if self.times[0].0 != bytes {
            self.times[0] = (bytes, self.rate.time_for(Bytes(u64::from(bytes))));
        }
        self.times[0].1
    }

    /// The first packet on the wire arrives.
    pub(crate) fn arrive(&mut self, events: &mut EventQueue) -> Option<Packet> {
        let (_, mut packet) = self.wire.pop_front()?;
        if let Some((at, _)) = self.wire.front() {
            events.schedule(self.slot, *at);
        }
        packet.bytes -= self.overhead;
        Some(packet)
    }

    /// A packet dropped since the last call.
    pub(crate) fn take_dropped(&mut self, now: Time) -> Option<(Packet, DropReason)> {
        let (packet, reason) = self.cx.take_dropped()?;
        self.meter.drops[reason as usize] += 1;
        if let Some(r) = &mut self.recorder {
            r.drop(now, packet.flow, packet.bytes, reason);
        }
        Some((packet, reason))
    }

    fn note(&mut self, now: Time) {
        let marks = self.cx.take_marked();
        self.meter.marks += marks;
        let backlog = self.queue.backlog();
        self.meter.packets.set(backlog.packets as f64, now);
        self.meter.bytes.set(backlog.bytes as f64, now);
        if let Some(r) = &mut self.recorder {
            r.backlog(now, backlog, marks, self.queue.as_ref());
        }
    }
}
