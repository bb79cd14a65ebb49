//! The network that flows send into: links, routes, the packets under way, the clock.

use crate::error::SimError;
use crate::events::EventQueue;
use crate::flows::{Common, TIMERS};
use crate::impair::Impairments;
use crate::link::Link;
use crate::packets::{Body, Pool};
use crate::plan::Plan;
use crate::record::{PacketEvent, PacketRecorder, PacketRow, QueueRecorder};
use crate::result::{QueueResult, Transfer};
use crate::route::{HERE, Routes};
use dumbbell_qdisc::{DropReason, Ecn, LinkFacts, Packet};
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
    packets: Option<PacketRecorder>,
    pub(crate) trace: Trace,
    pub(crate) transfers: Vec<Transfer>,
}

impl Network {
    pub(crate) fn new(plan: &Plan) -> Result<Network, SimError> {
        let end = Time(plan.duration_ns);
        let mut links = Vec::with_capacity(plan.links.len());
        for (i, l) in plan.links.iter().enumerate() {
            let facts = LinkFacts {
                rate: Rate(l.rate_bps),
                base_rtt: Dur(l.base_rtt_ns),
                seed: plan.seed,
                path: format!("link/{}/queue", l.name),
            };
            let param = |source| SimError::Param { place: format!("links.{}.queue", l.name), source };
            let queue = dumbbell_qdisc::build(&l.queue.name, &l.queue.given(), &facts).map_err(param)?;
            let columns = dumbbell_qdisc::find(&l.queue.name).map_err(param)?.columns;
            let recorder =
                plan.trace.series.then(|| QueueRecorder::new(&l.name, Dur(plan.trace.interval_ns), columns));
            let impairments = Impairments::new(l, plan.seed);
            links.push(Link::new(l, queue, impairments, 2 * i, end, recorder));
        }
        Ok(Network {
            now: Time::ZERO,
            end,
            measure_from: Time(plan.measure_from_ns),
            events: EventQueue::new(2 * links.len() + TIMERS * plan.flows.len() + 1),
            links,
            disciplines: plan.links.iter().map(|l| l.queue.name.clone()).collect(),
            routes: Routes::new(plan)?,
            pool: Pool::default(),
            dropped: vec![0; 2 * plan.flows.len()],
            packets: plan.trace.packets.then(PacketRecorder::default),
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

    /// A flow sends a packet of `ip_bytes`, from its data sender if `forward`.
    pub(crate) fn send(&mut self, flow: &Common, forward: bool, ip_bytes: u32, body: Body, ecn: bool) {
        let (node, direction) =
            if forward { (flow.from, 2 * flow.index) } else { (flow.to, 2 * flow.index + 1) };
        let data = body.data;
        let packet = Packet {
            bytes: ip_bytes,
            flow: direction as u32,
            class: flow.class,
            ecn: if ecn { Ecn::Capable } else { Ecn::NotCapable },
            body: self.pool.put(body),
            enqueued: self.now,
        };
        self.note(PacketEvent::Sent, &packet);
        let link = self.routes.next(node, packet.flow);
        self.enter(link as usize, packet, data);
    }

    fn enter(&mut self, link: usize, packet: Packet, data: bool) {
        self.links[link].enter(packet, data, self.now, &mut self.events);
        self.collect_dropped(link);
    }

    fn collect_dropped(&mut self, link: usize) {
        while let Some((packet, _)) = self.links[link].take_dropped(self.now) {
            self.note(PacketEvent::Dropped, &packet);
            if self.pool.take(packet.body).data {
                self.dropped[packet.flow as usize] += 1;
            }
        }
    }

    /// A link's event. Gives the packet that has reached its destination, if one has.
    pub(crate) fn on_link_event(&mut self, slot: usize) -> Option<(Packet, Body)> {
        let link = slot / 2;
        if slot % 2 == 1 {
            self.links[link].on_transmitter_free(self.now, &mut self.events);
            self.collect_dropped(link);
            return None;
        }
        let packet = self.links[link].arrive(&mut self.events)?;
        let next = self.routes.next(self.links[link].to, packet.flow);
        if next == HERE {
            self.note(PacketEvent::Received, &packet);
            let body = *self.pool.take(packet.body);
            return Some((packet, body));
        }
        let data = self.pool.get(packet.body).data;
        self.enter(next as usize, packet, data);
        None
    }

    fn note(&mut self, event: PacketEvent, packet: &Packet) {
        let Some(recorder) = &mut self.packets else { return };
        let body = self.pool.get(packet.body);
        let row = PacketRow {
            flow: packet.flow,
            connection: body.connection,
            number: body.number,
            payload: body.segment.payload,
            bytes: packet.bytes,
            retransmission: body.retransmission,
        };
        recorder.row(self.now, event, row);
    }

    /// Packets with payload that were dropped in the forward direction of a flow, since measurement began.
    pub(crate) fn dropped(&self, flow: usize) -> u64 {
        self.dropped[2 * flow]
    }

    pub(crate) fn restart_meters(&mut self) {
        self.dropped.fill(0);
        self.links.iter_mut().for_each(|l| l.restart_meter(self.now));
    }

    /// The figures of the links; their series go to the trace.
    pub(crate) fn finish(&mut self) -> Vec<QueueResult> {
        let seconds = self.end.since(self.measure_from).as_secs();
        let mut tables = Vec::new();
        let mut results = Vec::with_capacity(self.links.len());
        for (link, discipline) in self.links.iter_mut().zip(&self.disciplines) {
            if let Some(recorder) = link.recorder.take() {
                tables.extend(recorder.finish());
            }
            results.push(queue_result(link, discipline, seconds, self.end));
        }
        self.trace.tables.extend(tables);
        self.trace.tables.extend(self.packets.take().map(PacketRecorder::finish));
        results
    }
}

fn queue_result(link: &mut Link, discipline: &str, seconds: f64, end: Time) -> QueueResult {
    let waiting = link.backlog().packets;
    let m = &mut link.meter;
    let of = |reason: DropReason| m.drops[reason as usize];
    let wire_losses = of(DropReason::Loss);
    let drops = m.drops.iter().sum::<u64>() - wire_losses;
    debug_assert_eq!(m.waiting_at_start + m.arrivals, m.departures + drops + waiting, "{}", link.name);
    QueueResult {
        name: link.name.clone(),
        discipline: discipline.to_owned(),
        arrivals: m.arrivals,
        departures: m.departures,
        waiting_at_start: m.waiting_at_start,
        waiting_at_end: waiting,
        drops,
        drops_full: of(DropReason::Full),
        drops_early: of(DropReason::Early),
        drops_forced: of(DropReason::Forced),
        drops_scripted: of(DropReason::Scripted),
        wire_losses,
        marks: m.marks,
        mean_backlog_packets: m.packets.mean(end),
        mean_backlog_bytes: m.bytes.mean(end),
        mean_sojourn_ms: m.sojourn.mean_ms(),
        p50_sojourn_ms: m.sojourn.percentile_ms(0.5),
        p95_sojourn_ms: m.sojourn.percentile_ms(0.95),
        p99_sojourn_ms: m.sojourn.percentile_ms(0.99),
        max_sojourn_ms: m.sojourn.max_ms(),
        utilisation: m.busy.as_secs() / seconds,
        throughput_bps: (m.departed_bytes * 8) as f64 / seconds,
    }
}
