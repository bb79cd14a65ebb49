//! The network that flows send into: links, routes, the packets under way, the clock.
//!
//! **Running ahead.** A link that gets all its packets over one other link, in their order, can take each of them in as
//! soon as the other link has sent it: nothing that happens elsewhere in between can change what it does. Such a link
//! is told the time of the arrival instead of waiting for an event. Along an uncongested path a packet then costs one
//! event, whatever the number of hops, and the outcome is the same.

use crate::capture::{Capture, Cause, Recorder};
use crate::error::SimError;
use crate::events::EventQueue;
use crate::extras::Extras;
use crate::flows::{Common, TIMERS};
use crate::link::Link;
use crate::link_meter::LinkMeter;
use crate::packets::{Body, Pool};
use crate::record::{PacketEvent, PacketRecorder, PacketRow, QueueRecorder};
use dumbbell_plan::Plan;
use dumbbell_plan::{HERE, Routes};
use dumbbell_plan::{QueueResult, Transfer};
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
    /// Packets with payload dropped since measurement began, for each direction of each flow.
    dropped: Vec<u64>,
    /// Likewise packets with payload copied on the way.
    duplicated: Vec<u64>,
    packets: Option<PacketRecorder>,
    captures: Option<Box<Recorder>>,
    /// What becomes of packets, where their contents are kept outside.
    pub(crate) fates: Option<Vec<Fate>>,
    pub(crate) trace: Trace,
    pub(crate) transfers: Vec<Transfer>,
}

/// A packet that has reached its destination: what is left of it there. Small enough for registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    /// Flow and direction.
    pub(crate) flow: u32,
    pub(crate) bytes: u32,
    /// Its handle.
    pub(crate) body: u32,
    /// "Congestion experienced".
    pub(crate) ecn: Ecn,
}

/// A packet from outside.
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

/// What has become of a packet on its way, by handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It was copied.
    Copied { of: u32, to: u32 },
    /// It was dropped: the handle is free.
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
            let extras = Extras::new(l, plan.seed, (measure_from, end));
            links.push(Link::new(l, queue, extras, 2 * i, LinkMeter::new(measure_from, end), recorder));
        }
        let routes = Routes::new(plan)?;
        check_classes(plan, &links, &routes)?;
        let captures = Recorder::new(plan);
        for l in 0..links.len() {
            // Where packets are captured nothing runs ahead: they are seen in the order of the clock.
            links[l].runs_ahead =
                captures.is_none() && routes.only_feeder(l).is_some_and(|feeder| links[feeder].keeps_order());
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

    /// A flow sends a datagram of `ip_bytes`, from its data sender if `forward`.
    pub(crate) fn send_datagram(
        &mut self,
        flow: &Common,
        forward: bool,
        ip_bytes: u32,
        number: u64,
        sent_at: Time,
    ) {
        let (handle, body) = self.pool.allocate();
        *body = Body { data: true, number, sent_at, ..Body::default() };
        self.launch(flow, forward, handle, ip_bytes, Ecn::NOT_ECT);
    }

    /// A flow sends what `endpoint` wants to send now, from its data sender if `forward`.
    pub(crate) fn send_segments(
        &mut self,
        flow: &Common,
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

    fn launch(&mut self, flow: &Common, forward: bool, handle: u32, bytes: u32, ecn: Ecn) {
        let (node, direction) =
            if forward { (flow.from, 2 * flow.index) } else { (flow.to, 2 * flow.index + 1) };
        let direction = direction as u32;
        self.note(PacketEvent::Sent, direction, handle, bytes, self.now);
        if let Some(captures) = &mut self.captures {
            captures.sent(direction, handle, self.pool.get(handle), bytes);
            captures.at_node(node, handle, ecn, self.now);
        }
        let link = self.routes.next(node, direction);
        // Made where it is handed on: a struct that is filled and then copied stalls the processor.
        let packet =
            Packet { bytes, flow: direction, body: handle, class: flow.class, ecn, enqueued: self.now };
        self.carry(link as usize, packet, self.now);
    }

    /// A packet whose contents are kept outside is sent now. `frame`: what a capture shows of it.
    pub(crate) fn inject(&mut self, flow: &Common, from: &Injected<'_>) -> u32 {
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

    /// What a packet carries.
    #[inline]
    pub(crate) fn body(&self, handle: u32) -> &Body {
        self.pool.get(handle)
    }

    /// A packet has been delivered.
    #[inline]
    pub(crate) fn free(&mut self, handle: u32) {
        self.pool.free(handle);
    }

    /// A packet comes to a link's entrance at `at`: now, or later where the link runs ahead. It goes on over as many
    /// links as do.
    fn carry(&mut self, mut link: usize, mut packet: Packet, mut at: Time) {
        loop {
            // A transmission that ends at this instant is over: what arrives finds its place in the queue free.
            while let Some(due) = self.links[link].asks_by(at) {
                self.ask_queue(link, due);
            }
            if let Some(captures) = &mut self.captures {
                captures.at_link(link, packet.body, packet.ecn, at);
            }
            let first = &mut self.links[link];
            if first.is_open(at) {
                at = first.pass(packet.bytes, at);
            } else {
                match self.enter(link, packet, at) {
                    Some(leaves) => (at, packet) = leaves,
                    None => return,
                }
            }
            let Some(next) = self.next_ahead(link, packet.flow, at) else {
                self.links[link].put_on_wire(at, packet, &mut self.events);
                return;
            };
            link = next;
        }
    }

    /// The link that takes a packet in ahead of the clock when it comes off this one at `arrival`, if there is one.
    #[inline]
    fn next_ahead(&self, link: usize, direction: u32, arrival: Time) -> Option<usize> {
        let next = self.routes.next(self.links[link].to, direction);
        let ahead = next != HERE && self.links[next as usize].runs_ahead && arrival <= self.end;
        ahead.then_some(next as usize)
    }

    fn enter(&mut self, link: usize, packet: Packet, at: Time) -> Option<(Time, Packet)> {
        let has_data = |packet: &Packet| self.pool.get(packet.body).data;
        let leaves = self.links[link].enter(packet, at, &mut self.events, has_data);
        self.hear(link, at);
        leaves
    }

    fn ask_queue(&mut self, link: usize, at: Time) {
        let leaves = self.links[link].ask_queue(at, &mut self.events);
        self.hear(link, at);
        let Some((arrival, packet)) = leaves else { return };
        match self.next_ahead(link, packet.flow, arrival) {
            Some(next) => self.carry(next, packet, arrival),
            None => self.links[link].put_on_wire(arrival, packet, &mut self.events),
        }
    }

    /// What a link has dropped is freed, what it has copied goes onto its wire.
    #[inline(always)] // nearly always nothing
    fn hear(&mut self, link: usize, at: Time) {
        if self.links[link].has_news() {
            self.handle_news(link, at);
        }
    }

    #[inline(never)]
    fn handle_news(&mut self, link: usize, at: Time) {
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
                fates.push(Fate::Copied { of: original, to: copy.body });
            }
            self.links[link].put_on_wire(arrival, copy, &mut self.events);
        }
        while let Some((packet, reason)) = self.links[link].take_dropped(at) {
            if let Some(captures) = &mut self.captures {
                captures.dropped(link, packet.body, reason);
            }
            self.note(PacketEvent::Dropped, packet.flow, packet.body, packet.bytes, at);
            if at >= self.measure_from {
                self.dropped[packet.flow as usize] += u64::from(self.body(packet.body).data);
            }
            if let Some(fates) = &mut self.fates {
                fates.push(Fate::Dropped(packet.body));
            }
            self.free(packet.body);
        }
    }

    /// A link's event. Gives the packet that has reached its destination, if one has; it is to be freed.
    #[inline]
    pub(crate) fn on_link_event(&mut self, slot: usize) -> Option<Arrived> {
        let link = slot / 2;
        if slot % 2 == 1 {
            // An event that the link has run ahead of is void.
            if self.links[link].asks_by(self.now).is_some() {
                self.ask_queue(link, self.now);
            }
            return None;
        }
        let link = &mut self.links[link];
        let packet = link.arrive(&mut self.events)?;
        if !link.keeps_order() {
            link.note_order(packet.body, self.now);
        }
        if let Some(captures) = &mut self.captures {
            captures.at_node(link.to, packet.body, packet.ecn, self.now);
        }
        let next = self.routes.next(link.to, packet.flow);
        if next == HERE {
            let Packet { bytes, flow, body, ecn, .. } = packet;
            self.note(PacketEvent::Received, flow, body, bytes, self.now);
            return Some(Arrived { flow, bytes, body, ecn });
        }
        self.carry(next as usize, packet, self.now);
        None
    }

    #[inline]
    fn note(&mut self, event: PacketEvent, direction: u32, body: u32, bytes: u32, at: Time) {
        if self.packets.is_some() {
            self.record(event, direction, body, bytes, at);
        }
    }

    #[cold]
    fn record(&mut self, event: PacketEvent, direction: u32, body: u32, bytes: u32, at: Time) {
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

    /// Packets with payload that were dropped in the forward direction of a flow, since measurement began.
    pub(crate) fn dropped(&self, flow: usize) -> u64 {
        self.dropped[2 * flow]
    }

    /// Packets with payload that were copied in the forward direction of a flow, since measurement began.
    pub(crate) fn duplicated(&self, flow: usize) -> u64 {
        self.duplicated[2 * flow]
    }

    /// What was captured.
    pub(crate) fn captures(&mut self) -> Vec<Capture> {
        self.captures.take().map_or_else(Vec::new, |captures| captures.finish())
    }

    /// The figures of the links; their series go to the trace.
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

/// Refuses a flow whose class a queue on its way doesn't have.
fn check_classes(plan: &Plan, links: &[Link], routes: &Routes) -> Result<(), SimError> {
    for (i, flow) in plan.flows.iter().enumerate() {
        for (direction, mut node) in [(2 * i, flow.from), (2 * i + 1, flow.to)] {
            loop {
                let link = routes.next(node, direction as u32);
                if link == HERE {
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
    let (waiting_at_end, on_wire_at_end) = (link.backlog().packets, link.under_way());
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
