//! The network: links, routes, packets in the network, the clock.
//!
//! **Lookahead.** A link whose packets all arrive over one other link, in order, can process each of them as soon as the
//! other link has sent it: no other event before the arrival can change its state. Such a link is called with the time
//! of the arrival instead of waiting for an event. A packet then costs one event on an uncongested path of any number of
//! hops, and the results are the same.

use crate::capture::{Capture, Cause, Recorder};
use crate::error::SimError;
use crate::events::EventQueue;
use crate::flows::{FlowInfo, TIMERS};
use crate::impairments::Impairments;
use crate::link::Link;
use crate::link_meter::LinkMeter;
use crate::packets::{Body, Pool};
use crate::record::{PacketEvent, PacketRecorder, PacketRow, QueueRecorder};
use dumbbell_plan::{LOCAL, Plan, QueueResult, Routes, Transfer};
use dumbbell_qdisc::{DropReason, Ecn, LinkInfo, Packet};
use dumbbell_tcp::Endpoint;
use dumbbell_trace::Trace;
use dumbbell_units::{Dur, Rate, Time};

/// See the top of this file.
pub(crate) struct Network {
    pub(crate) now: Time,
    /// The end of the run.
    pub(crate) end: Time,
    measure_from: Time,
    pub(crate) events: EventQueue,
    links: Vec<Link>,
    disciplines: Vec<String>,
    routes: Routes,
    pool: Pool,
    /// Packets with payload dropped since the measurement began, per flow and direction.
    dropped: Vec<u64>,
    /// Packets with payload duplicated on the path since the measurement began, per flow and direction.
    duplicated: Vec<u64>,
    packets: Option<PacketRecorder>,
    captures: Option<Box<Recorder>>,
    /// Drops and duplications of packets whose contents are stored outside.
    pub(crate) fates: Option<Vec<PacketFate>>,
    pub(crate) trace: Trace,
    pub(crate) transfers: Vec<Transfer>,
}

/// A packet that has reached its destination. Small enough for registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    /// Flow and direction.
    pub(crate) flow: u32,
    pub(crate) bytes: u32,
    /// Its handle in the packet pool.
    pub(crate) body: u32,
    /// ECN field on arrival.
    pub(crate) ecn: Ecn,
}

/// A packet of a real stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Injected<'a> {
    pub(crate) direction: u32,
    pub(crate) bytes: u32,
    pub(crate) payload: u32,
    pub(crate) ecn: Ecn,
    pub(crate) connection: u32,
    pub(crate) number: u64,
    pub(crate) retransmission: bool,
    pub(crate) frame: &'a [u8],
}

/// An event of a packet on its path, with handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketFate {
    /// A link duplicated it.
    Copied { of: u32, to: u32 },
    /// It was dropped; the handle is free.
    Dropped(u32),
}

impl Network {
    pub(crate) fn new(plan: &Plan) -> Result<Network, SimError> {
        let (measure_from, end) = (Time(plan.measure_from_ns), Time(plan.duration_ns));
        let mut links = Vec::with_capacity(plan.links.len());
        for (i, l) in plan.links.iter().enumerate() {
            let facts = LinkInfo {
                rate: Rate(l.rate_bps),
                base_rtt: Dur(l.base_rtt_ns),
                seed: plan.seed,
                path: format!("link/{}/queue", l.name),
            };
            let param = |source| SimError::Param { place: format!("links.{}.queue", l.name), source };
            let queue = dumbbell_qdisc::build(&l.queue.name, &l.queue.given(), &facts).map_err(param)?;
            let columns = dumbbell_qdisc::find(&l.queue.name).map_err(param)?.columns;
            let trace = &plan.trace;
            let recorder = trace.of_link(&l.name).then(|| {
                Box::new(QueueRecorder::new(&l.name, trace.series, Dur(trace.interval_ns), columns))
            });
            let impairments = Impairments::new(l, plan.seed, (measure_from, end));
            links.push(Link::new(l, queue, impairments, 2 * i, LinkMeter::new(measure_from, end), recorder));
        }
        let routes = Routes::new(plan)?;
        check_classes(plan, &links, &routes)?;
        let captures = Recorder::new(plan);
        for l in 0..links.len() {
            // A capture lists packets in the order of the clock, which excludes lookahead.
            links[l].has_lookahead =
                captures.is_none() && routes.only_feeder(l).is_some_and(|feeder| links[feeder].is_fifo());
        }
        Ok(Network {
            now: Time::ZERO,
            end,
            measure_from,
            events: EventQueue::new(2 * links.len() + TIMERS * plan.flows.len() + 1),
            links,
            disciplines: plan.links.iter().map(|l| l.queue.name.clone()).collect(),
            routes,
            pool: Pool::default(),
            dropped: vec![0; 2 * plan.flows.len()],
            duplicated: vec![0; 2 * plan.flows.len()],
            packets: plan.trace.packets.then(PacketRecorder::default),
            captures,
            fates: None,
            trace: Trace::default(),
            transfers: Vec::new(),
        })
    }

    pub(crate) fn links(&self) -> usize {
        self.links.len()
    }

    /// Sets a timer of a flow.
    pub(crate) fn set_timer(&mut self, flow: usize, timer: usize, at: Time) {
        self.events.schedule(2 * self.links.len() + TIMERS * flow + timer, at);
    }

    /// Sends a flow's datagram of `ip_bytes`, from the data sender if `forward`.
    pub(crate) fn send_datagram(
        &mut self,
        flow: &FlowInfo,
        forward: bool,
        ip_bytes: u32,
        number: u64,
        sent_at: Time,
    ) {
        let (handle, body) = self.pool.allocate();
        *body = Body { data: true, number, sent_at, ..Body::default() };
        self.launch(flow, forward, handle, ip_bytes, Ecn::NOT_ECT);
    }

    /// Sends all segments that `endpoint` has ready now, from the data sender if `forward`.
    pub(crate) fn send_segments(
        &mut self,
        flow: &FlowInfo,
        forward: bool,
        endpoint: &mut Endpoint,
        connection: u32,
    ) {
        loop {
            let (handle, body) = self.pool.allocate();
            let Some(how) = endpoint.poll(self.now, &mut body.segment) else {
                self.pool.free(handle);
                return;
            };
            body.connection = connection;
            body.data = body.segment.payload > 0;
            body.retransmission = how.retransmission;
            body.number = how.payload_offset;
            if how.retransmission && self.captures.is_some() {
                body.cause = Cause::of(endpoint.snapshot().phase, &body.segment);
            }
            let bytes = endpoint.packet_bytes(&body.segment);
            self.launch(flow, forward, handle, bytes, how.ecn);
        }
    }

    fn launch(&mut self, flow: &FlowInfo, forward: bool, handle: u32, bytes: u32, ecn: Ecn) {
        let (node, direction) =
            if forward { (flow.from, 2 * flow.index) } else { (flow.to, 2 * flow.index + 1) };
        let direction = direction as u32;
        self.record_packet(PacketEvent::Sent, direction, handle, bytes, self.now);
        if let Some(captures) = &mut self.captures {
            captures.sent(direction, handle, self.pool.get(handle), bytes);
            captures.at_node(node, handle, ecn, self.now);
        }
        let link = self.routes.next(node, direction);
        // Built in place: copying a struct that was just filled stalls the processor (store forwarding).
        let packet =
            Packet { bytes, flow: direction, body: handle, class: flow.class, ecn, enqueued: self.now };
        self.carry(link as usize, packet, self.now);
    }

    /// Sends a packet whose contents are stored outside. `frame`: its bytes for captures.
    pub(crate) fn inject(&mut self, flow: &FlowInfo, from: &Injected<'_>) -> u32 {
        let (handle, body) = self.pool.allocate();
        *body = Body {
            connection: from.connection,
            data: from.payload > 0,
            retransmission: from.retransmission,
            number: from.number,
            sent_at: self.now,
            ..Body::default()
        };
        body.segment.payload = from.payload;
        if let Some(captures) = &mut self.captures {
            captures.frame(from.frame);
        }
        self.launch(flow, from.direction.is_multiple_of(2), handle, from.bytes, from.ecn);
        handle
    }

    /// Contents of a packet.
    #[inline]
    pub(crate) fn body(&self, handle: u32) -> &Body {
        self.pool.get(handle)
    }

    /// Frees the slot of a delivered packet.
    #[inline]
    pub(crate) fn free(&mut self, handle: u32) {
        self.pool.free(handle);
    }

    /// A packet arrives at a link at `at`, which is now, or later on a link with lookahead. Continues over all following
    /// links that have lookahead.
    fn carry(&mut self, mut link: usize, mut packet: Packet, mut at: Time) {
        loop {
            // A transmission that ends at this instant ends first: the arriving packet finds its place in the queue free.
            while let Some(due) = self.links[link].dequeue_due_by(at) {
                self.dequeue_next(link, due);
            }
            if let Some(captures) = &mut self.captures {
                captures.at_link(link, packet.body, packet.ecn, at);
            }
            let first = &mut self.links[link];
            if first.can_cut_through(at) {
                at = first.cut_through(packet.bytes, at);
            } else {
                match self.enter(link, packet, at) {
                    Some(leaves) => (at, packet) = leaves,
                    None => return,
                }
            }
            let Some(next) = self.next_with_lookahead(link, packet.flow, at) else {
                self.links[link].put_on_wire(at, packet, &mut self.events);
                return;
            };
            link = next;
        }
    }

    /// Returns the next link of a packet that leaves this one at `arrival`, if that link has lookahead.
    #[inline]
    fn next_with_lookahead(&self, link: usize, direction: u32, arrival: Time) -> Option<usize> {
        let next = self.routes.next(self.links[link].to, direction);
        let ahead = next != LOCAL && self.links[next as usize].has_lookahead && arrival <= self.end;
        ahead.then_some(next as usize)
    }

    fn enter(&mut self, link: usize, packet: Packet, at: Time) -> Option<(Time, Packet)> {
        let has_data = |packet: &Packet| self.pool.get(packet.body).data;
        let leaves = self.links[link].enter(packet, at, &mut self.events, has_data);
        self.collect_losses_and_copies(link, at);
        leaves
    }

    fn dequeue_next(&mut self, link: usize, at: Time) {
        let leaves = self.links[link].dequeue_next(at, &mut self.events);
        self.collect_losses_and_copies(link, at);
        let Some((arrival, packet)) = leaves else { return };
        match self.next_with_lookahead(link, packet.flow, arrival) {
            Some(next) => self.carry(next, packet, arrival),
            None => self.links[link].put_on_wire(arrival, packet, &mut self.events),
        }
    }

    /// Frees the packets that a link has dropped, and puts its duplicates on the wire.
    #[inline(always)] // nearly always the link has none
    fn collect_losses_and_copies(&mut self, link: usize, at: Time) {
        if self.links[link].has_losses_or_copies() {
            self.handle_losses_and_copies(link, at);
        }
    }

    #[inline(never)]
    fn handle_losses_and_copies(&mut self, link: usize, at: Time) {
        for (arrival, mut copy) in self.links[link].take_copies() {
            if at >= self.measure_from {
                self.duplicated[copy.flow as usize] += u64::from(self.body(copy.body).data);
            }
            let original = copy.body;
            copy.body = self.pool.copy(original);
            if let Some(captures) = &mut self.captures {
                captures.copied(link, original, copy.body);
            }
            if let Some(fates) = &mut self.fates {
                fates.push(PacketFate::Copied { of: original, to: copy.body });
            }
            self.links[link].put_on_wire(arrival, copy, &mut self.events);
        }
        while let Some((packet, reason)) = self.links[link].take_dropped(at) {
            if let Some(captures) = &mut self.captures {
                captures.dropped(link, packet.body, reason);
            }
            self.record_packet(PacketEvent::Dropped, packet.flow, packet.body, packet.bytes, at);
            if at >= self.measure_from {
                self.dropped[packet.flow as usize] += u64::from(self.body(packet.body).data);
            }
            if let Some(fates) = &mut self.fates {
                fates.push(PacketFate::Dropped(packet.body));
            }
            self.free(packet.body);
        }
    }

    /// Processes a link's event. Returns the packet that has reached its destination, if any; the caller frees it.
    #[inline]
    pub(crate) fn on_link_event(&mut self, slot: usize) -> Option<Arrived> {
        let link = slot / 2;
        if slot % 2 == 1 {
            // Lookahead may have processed this event already.
            if self.links[link].dequeue_due_by(self.now).is_some() {
                self.dequeue_next(link, self.now);
            }
            return None;
        }
        let link = &mut self.links[link];
        let packet = link.arrive(&mut self.events)?;
        if !link.is_fifo() {
            link.record_reordering(packet.body, self.now);
        }
        if let Some(captures) = &mut self.captures {
            captures.at_node(link.to, packet.body, packet.ecn, self.now);
        }
        let next = self.routes.next(link.to, packet.flow);
        if next == LOCAL {
            let Packet { bytes, flow, body, ecn, .. } = packet;
            self.record_packet(PacketEvent::Received, flow, body, bytes, self.now);
            return Some(Arrived { flow, bytes, body, ecn });
        }
        self.carry(next as usize, packet, self.now);
        None
    }

    #[inline]
    fn record_packet(&mut self, event: PacketEvent, direction: u32, body: u32, bytes: u32, at: Time) {
        if self.packets.is_some() {
            self.push_packet_row(event, direction, body, bytes, at);
        }
    }

    #[cold]
    fn push_packet_row(&mut self, event: PacketEvent, direction: u32, body: u32, bytes: u32, at: Time) {
        let Some(recorder) = &mut self.packets else { return };
        let body = self.pool.get(body);
        let row = PacketRow {
            flow: direction,
            connection: body.connection,
            number: body.number,
            payload: body.segment.payload,
            bytes,
            retransmission: body.retransmission,
        };
        recorder.row(at, event, row);
    }

    /// Packets with payload dropped in a flow's forward direction since the measurement began.
    pub(crate) fn dropped(&self, flow: usize) -> u64 {
        self.dropped[2 * flow]
    }

    /// Packets with payload duplicated in a flow's forward direction since the measurement began.
    pub(crate) fn duplicated(&self, flow: usize) -> u64 {
        self.duplicated[2 * flow]
    }

    /// Takes the captures.
    pub(crate) fn captures(&mut self) -> Vec<Capture> {
        self.captures.take().map_or_else(Vec::new, |captures| captures.finish())
    }

    /// Returns the results of all links and moves their series to the trace.
    pub(crate) fn finish(&mut self) -> Vec<QueueResult> {
        let span = (self.measure_from, self.end);
        let mut tables = Vec::new();
        let mut results = Vec::with_capacity(self.links.len());
        for (link, discipline) in self.links.iter_mut().zip(&self.disciplines) {
            if let Some(recorder) = link.recorder.take() {
                tables.extend(recorder.finish());
            }
            results.push(queue_result(link, discipline, span));
        }
        self.trace.tables.extend(tables);
        self.trace.tables.extend(self.packets.take().map(PacketRecorder::finish));
        results
    }
}

/// Refuses a flow whose class does not exist in a queue on its path.
fn check_classes(plan: &Plan, links: &[Link], routes: &Routes) -> Result<(), SimError> {
    for (i, flow) in plan.flows.iter().enumerate() {
        for (direction, mut node) in [(2 * i, flow.from), (2 * i + 1, flow.to)] {
            loop {
                let link = routes.next(node, direction as u32);
                if link == LOCAL {
                    break;
                }
                let link = &links[link as usize];
                if let Some(classes) = link.classes().filter(|&n| flow.class >= n) {
                    let last = classes - 1;
                    return Err(SimError::invalid(
                        format!("flows.{}.class", flow.name),
                        format!("{} given: {} has classes 0 to {last}", flow.class, link.name),
                    ));
                }
                node = link.to;
            }
        }
    }
    Ok(())
}

fn queue_result(link: &mut Link, discipline: &str, span: (Time, Time)) -> QueueResult {
    let (from, end) = span;
    let seconds = end.since(from).as_secs();
    let (waiting_at_end, on_wire_at_end) = (link.backlog().packets, link.packets_on_wire());
    let means = link.meter.backlog.means(end);
    let varying = link.use_of_capacity();
    let m = &link.meter;
    let counts = m.measured();
    let of = |reason: DropReason| counts.drops[reason as usize];
    let (drops, waiting_at_start) = (counts.queue_drops(), m.waiting_at_start());
    debug_assert_eq!(
        waiting_at_start + counts.arrivals,
        counts.departures + drops + waiting_at_end,
        "{}",
        link.name
    );
    let crossed = m.on_wire_at_start + counts.departures + counts.duplicated;
    QueueResult {
        name: link.name.clone(),
        discipline: discipline.to_owned(),
        arrivals: counts.arrivals,
        departures: counts.departures,
        delivered: crossed - counts.wire_losses() - on_wire_at_end,
        waiting_at_start,
        waiting_at_end,
        on_wire_at_start: m.on_wire_at_start,
        on_wire_at_end,
        drops,
        drops_full: of(DropReason::Full),
        drops_early: of(DropReason::Early),
        drops_forced: of(DropReason::Forced),
        drops_scripted: of(DropReason::Scripted),
        drops_policed: of(DropReason::Policed),
        wire_losses: counts.wire_losses(),
        losses_random: of(DropReason::Loss),
        losses_corrupted: of(DropReason::Corrupted),
        losses_outage: of(DropReason::Outage),
        duplicated: counts.duplicated,
        reordered: counts.reordered,
        largest_reordering_extent: m.largest_extent,
        marks: counts.marks,
        mean_backlog_packets: means.map(|(packets, _)| packets),
        mean_backlog_bytes: means.map(|(_, bytes)| bytes),
        mean_sojourn_ms: m.sojourn.mean_ms(),
        p50_sojourn_ms: m.sojourn.percentile_ms(0.5),
        p95_sojourn_ms: m.sojourn.percentile_ms(0.95),
        p99_sojourn_ms: m.sojourn.percentile_ms(0.99),
        max_sojourn_ms: m.sojourn.max_ms(),
        utilization: match varying {
            None => m.busy.as_secs() / seconds,
            Some((sent, capacity)) if capacity > 0.0 => sent / capacity,
            Some(_) => 0.0,
        },
        throughput_bps: (counts.departed_bytes * 8) as f64 / seconds,
        capacity_bps: varying.map_or(link.rate().0 as f64, |(_, capacity)| capacity / seconds),
    }
}
