//! The network: links, routes, packets in the network, the clock.
//!
//! **Lookahead.** A link whose packets all arrive over one other link, in order, can process each of them as soon as
//! the other link has sent it: no other event before the arrival can change its state. Such a link is called with the
//! time of the arrival instead of waiting for an event. A packet then costs one event on an uncongested path of any
//! number of hops, and the results are the same.
//!
//! **Late links.** A packet that a link begins to send at t arrives later than t + delay. So a link with a constant
//! delay may process its arrivals and dequeues that much late, many in one event, in the order of their times. A link
//! whose packets all come over other links has an inbox for them; a packet that a host sends now finds the earlier
//! dequeues done first.
//!
//! **Endpoints ahead.** The arrival of a packet at its destination is known when it is put on the last wire. If nothing
//! can happen to the endpoint before, and nobody but this endpoint sends over its first link back, the endpoint
//! processes the packet at once, with the clock at the arrival.

mod carry;
mod feeders;
mod onward;
pub(crate) mod queues;
mod send;
mod slots;

use crate::air::Air;
use crate::capture::{Capture, Recorder};
use crate::error::SimError;
use crate::events::{EventQueue, Kind};
use crate::flows::TIMERS;
use crate::impairments::Impairments;
use crate::inbox::Incoming;
use crate::link::Link;
use crate::link_meter::LinkMeter;
use crate::packets::{Body, Copies, Pool};
use crate::qlog::Qlog;
use crate::queue_result::queue_result;
use crate::record::{PacketEvent, PacketRecorder, PacketRow, QueueRecorder};
use dumbbell_cc::Failure;
use dumbbell_plan::{AppPlan, LOCAL, Name, Plan, QueueResult, Routes, Transfer};
use dumbbell_qdisc::Ecn;
use dumbbell_trace::{Table, Trace};
use dumbbell_units::{Dur, Time};
use feeders::Feeders;
use onward::OnwardTable;
pub(crate) use onward::{Onward, Step};
pub use queues::Disciplines;
use slots::Slots;
use std::io;

/// Links whose memory is freed together, while the results are made.
const FREED_TOGETHER: usize = 4096;

/// See the top of this file.
pub(crate) struct Network {
    pub(crate) now: Time,
    /// The time of the event in progress; `now` is later while an endpoint is ahead.
    pub(crate) clock: Time,
    /// The end of the run.
    pub(crate) end: Time,
    pub(crate) measure_from: Time,
    pub(crate) events: EventQueue,
    pub(crate) slots: Slots,
    pub(crate) links: Vec<Link>,
    /// Wi-Fi media.
    pub(crate) air: Vec<Air>,
    /// The names of their disciplines, each with the number of links in sequence that have it.
    disciplines: Vec<(Name, usize)>,
    routes: Routes,
    onward: OnwardTable,
    /// For each flow and direction.
    paths: Vec<Path>,
    pub(crate) pool: Pool,
    copies: Copies,
    /// Packets sent in the measured time of each flow of which every copy was dropped, per flow and direction.
    dropped: Vec<u64>,
    /// Duplicates of packets sent in the measured time of each flow, per flow and direction.
    duplicated: Vec<u64>,
    /// True if packets are recorded, or captured.
    watched: bool,
    packets: Option<PacketRecorder>,
    captures: Option<Box<Recorder>>,
    /// Drops and duplications of packets whose contents are stored outside.
    pub(crate) fates: Option<Vec<PacketFate>>,
    /// Packets that their destinations may process ahead of the clock.
    pub(crate) ahead: Vec<Incoming>,
    pub(crate) trace: Trace,
    pub(crate) transfers: Vec<Transfer>,
    pub(crate) qlogs: Vec<Qlog>,
}

/// The path of a flow's packets in one direction.
#[derive(Clone, Copy, Debug)]
struct Path {
    first_link: u32,
    /// Packets that were sent and not dropped, copies included, modulo 2^32.
    packets: u32,
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
    /// True unless another copy of the packet has arrived before.
    pub(crate) is_first: bool,
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

/// The order in which a network processes what happens on its links. The results are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Links may be late: nothing but the simulated hosts depends on them.
    Late,
    /// Each drop is reported when it happens.
    Live,
    /// Each arrival at a link is an event.
    OneByOne,
}

/// An event of a packet on its path, with handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketFate {
    /// A link duplicated it.
    Copied { of: u32, to: u32 },
    /// It was dropped; the handle is free. `lost`: no other copy of it has arrived or is on its path.
    Dropped { handle: u32, lost: bool },
}

impl Network {
    /// The network of a plan. `holds_senders`: data senders process packets in the order of the clock.
    pub(crate) fn new(
        plan: &Plan,
        pace: Pace,
        holds_senders: bool,
        external: &Disciplines,
        failure: &Failure,
    ) -> Result<Network, SimError> {
        let (measure_from, end) = (Time(plan.measure_from_ns), Time(plan.duration_ns));
        let captures = Recorder::new(plan);
        // A capture lists packets in the order of the clock.
        let pace = if captures.is_some() && pace == Pace::Late { Pace::Live } else { pace };
        let on_air = |link: usize| plan.media.iter().any(|medium| medium.down == link || medium.up == link);
        let mut links = Vec::with_capacity(plan.links.len());
        for (i, l) in plan.links.iter().enumerate() {
            let (queue, columns) = queues::build(plan, l, "", external, failure)?;
            let trace = &plan.trace;
            let recorder = trace
                .of_link(&l.name)
                .then(|| Box::new(QueueRecorder::new(&l.name, trace.series, Dur(trace.interval_ns), columns)));
            let impairments = Impairments::new(l, plan.seed, (measure_from, end));
            let meter = LinkMeter::new(measure_from, end);
            let mut link = Link::new(l, queue, impairments, i, meter, recorder);
            match pace {
                Pace::OneByOne => link.never_cuts_through(),
                Pace::Late if on_air(i) => {}
                Pace::Late => link.use_fifo(),
                Pace::Live => {}
            }
            links.push(link);
        }
        let air = Air::of_plan(plan, &mut links, external, failure)?;
        let routes = Routes::new(plan)?;
        check_classes(plan, &links, &routes)?;
        let has_lookahead = pace != Pace::OneByOne && captures.is_none();
        for l in 0..links.len() {
            let in_order = |feeder: usize| links[feeder].is_fifo() && links[feeder].takes_time();
            let plain = links[l].air.is_none();
            links[l].has_lookahead = has_lookahead && plain && routes.only_feeder(l).is_some_and(in_order);
            if pace == Pace::Late {
                links[l].lag = links[l].least_delay();
            }
        }
        // For each flow and direction: true if the endpoint at its end may be ahead of the clock.
        let mut runs_ahead = vec![false; 2 * plan.flows.len()];
        if pace == Pace::Late {
            let feeders = Feeders::of_links(plan, &links, &routes);
            for (link, feeders) in links.iter_mut().zip(&feeders) {
                let late = !link.has_lookahead && link.lag > Dur::ZERO;
                link.inbox = (late && feeders.hosts == 0 && feeders.keep_distance).then(Box::default);
            }
            let back = plan.flows.iter().flat_map(|flow| [flow.to, flow.from]);
            for ((direction, ahead), node) in (0..).zip(&mut runs_ahead).zip(back) {
                let back = routes.next(node, direction ^ 1) as usize;
                // Several connections of a workload share the link back.
                let single = !matches!(plan.flows[direction as usize / 2].application, AppPlan::Workload(_));
                let held = holds_senders && direction % 2 == 1;
                *ahead =
                    single && !held && feeders[back].hosts == 1 && feeders[back].links == 0 && links[back].is_fifo();
            }
        }
        let slots = Slots::new(&mut links, plan.flows.len());
        let onward = OnwardTable::new(plan, &mut links, &routes, &runs_ahead);
        let most_lag = links.iter().map(|link| link.lag).max().unwrap_or(Dur::ZERO);
        let directions = plan.flows.iter().flat_map(|flow| [flow.from, flow.to]);
        Ok(Network {
            now: Time::ZERO,
            clock: Time::ZERO,
            end,
            measure_from,
            events: EventQueue::new(slots.count()),
            slots,
            links,
            air,
            disciplines: queues::names(&plan.links),
            paths: (0..)
                .zip(directions)
                .map(|(direction, node)| Path { first_link: routes.next(node, direction), packets: 0 })
                .collect(),
            routes,
            onward,
            pool: Pool::default(),
            copies: Copies::default(),
            dropped: vec![0; 2 * plan.flows.len()],
            duplicated: vec![0; 2 * plan.flows.len()],
            watched: plan.trace.packets || captures.is_some(),
            packets: plan.trace.packets.then(|| PacketRecorder::new(most_lag, end)),
            captures,
            fates: None,
            ahead: Vec::new(),
            trace: Trace::default(),
            transfers: Vec::new(),
            qlogs: Vec::new(),
        })
    }

    /// Sets a timer of a flow.
    pub(crate) fn set_timer(&mut self, flow: usize, timer: usize, at: Time) {
        self.events.schedule(self.slots.first_timer() + TIMERS * flow + timer, at, Kind::Timer);
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

    /// Packets of a flow that have arrived or will arrive, modulo 2^32: those sent and not dropped, and copies.
    pub(crate) fn arrivals(&self, flow: usize) -> u32 {
        self.paths[2 * flow].packets.wrapping_add(self.paths[2 * flow + 1].packets)
    }

    /// Frees the memory that the links of a flow alone keep for its packets. The flow has none in the network.
    pub(crate) fn free_buffers(&mut self, flow: usize) {
        for direction in [2 * flow, 2 * flow + 1] {
            let mut next = self.paths[direction].first_link;
            while let Some(link) = self.links.get_mut(next as usize) {
                if link.onward.step != Step::Various {
                    link.free_buffers(self.now);
                }
                next = self.routes.next(link.to(), direction as u32);
            }
        }
    }

    #[inline]
    fn record_packet(&mut self, event: PacketEvent, direction: u32, body: u32, bytes: u32, at: Time) {
        if self.watched {
            self.push_packet_row(event, direction, body, bytes, at);
        }
    }

    #[cold]
    fn push_packet_row(&mut self, event: PacketEvent, direction: u32, body: u32, bytes: u32, at: Time) {
        let Some(recorder) = &mut self.packets else { return };
        let body = self.pool.get(body);
        let row = PacketRow {
            at,
            event,
            flow: direction,
            connection: body.connection,
            number: body.number,
            payload: body.segment.payload,
            bytes,
            retransmission: body.retransmission,
        };
        recorder.row(row, self.clock);
    }

    /// Packets with payload that a flow's data sender sent in its measured time and of which every copy was dropped.
    pub(crate) fn dropped(&self, flow: usize) -> u64 {
        self.dropped[2 * flow]
    }

    /// Duplicates of packets with payload that a flow's data sender sent in its measured time.
    pub(crate) fn duplicated(&self, flow: usize) -> u64 {
        self.duplicated[2 * flow]
    }

    /// Takes the captures.
    pub(crate) fn captures(&mut self) -> Vec<Capture> {
        self.captures.take().map_or_else(Vec::new, |captures| captures.finish())
    }

    /// Passes on the rows so far of tables that have at least `least`: see [`crate::Simulation::drain`].
    pub(crate) fn drain(&mut self, least: usize, sink: &mut dyn FnMut(Table)) {
        for recorder in self.links.iter_mut().filter_map(|link| link.recorder.as_mut()) {
            recorder.drain(least, sink);
        }
        if let Some(packets) = &mut self.packets {
            packets.drain(least, sink);
        }
    }

    /// Passes on the parts of captures that are complete, if at least `least` packets are in memory: see
    /// [`crate::Simulation::drain_captures`].
    pub(crate) fn drain_captures(&mut self, least: usize, sink: &mut dyn FnMut(&str, Vec<u8>)) -> io::Result<()> {
        match &mut self.captures {
            Some(captures) if captures.kept() >= least.max(1) => captures.drain(self.pool.in_use(), sink),
            _ => Ok(()),
        }
    }

    /// Frees what only events need, because results need memory too.
    fn free_engine(&mut self) {
        self.events = EventQueue::new(0);
        (self.routes, self.onward, self.paths) = (Routes::default(), OnwardTable::default(), Vec::new());
    }

    /// Returns the results and the series of all links.
    pub(crate) fn finish(&mut self) -> (Vec<QueueResult>, Vec<Table>) {
        self.free_engine();
        let span = (self.measure_from, self.end);
        let mut tables = self.finish_air();
        let recorders = self.links.iter_mut().filter_map(|link| link.recorder.take());
        tables.extend(recorders.flat_map(|recorder| recorder.finish()));
        tables.extend(self.packets.take().map(PacketRecorder::finish));
        let mut results = Vec::with_capacity(self.links.len());
        // The memory of the links is freed, from the last one on, while that of the results grows.
        let disciplines = std::mem::take(&mut self.disciplines).into_iter().rev();
        let disciplines = disciplines.flat_map(|(name, links)| std::iter::repeat_n(name, links));
        let mut links = std::mem::take(&mut self.links);
        for discipline in disciplines {
            let Some(mut link) = links.pop() else { break };
            results.push(queue_result(&mut link, discipline, span));
            link.close_queue(self.end);
            if links.len().is_multiple_of(FREED_TOGETHER) {
                links.shrink_to_fit();
            }
        }
        results.reverse();
        (results, tables)
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
                if let Some(classes) = link.classes().filter(|&n| u32::from(flow.class) >= n) {
                    let last = classes - 1;
                    return Err(SimError::invalid(
                        format!("flows.{}.class", flow.name),
                        format!("{} given: {} has classes 0 to {last}", flow.class, link.name),
                    ));
                }
                node = link.to();
            }
        }
    }
    Ok(())
}
