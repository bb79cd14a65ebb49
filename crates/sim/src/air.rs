//! Wi-Fi media in the network. A medium takes the place of the queues and transmitters of two links, from the access
//! point to the stations and back; the links keep their meters, wires and delays.
//!
//! The event of a medium is the departure of its first link. A packet is on the wire from the time at which the MAC
//! takes it from its queue.

use crate::error::SimError;
use crate::events::Kind;
use crate::link::Link;
use crate::network::{Disciplines, Network, queues};
use crate::record::Gate;
use dumbbell_cc::Failure;
use dumbbell_plan::{MediumPlan, Plan};
use dumbbell_qdisc::{Backlog, DropReason, Packet, Qdisc};
use dumbbell_trace::Table;
use dumbbell_trace::tables::WifiTable;
use dumbbell_units::{Dur, Time};
use dumbbell_wifi::{Event, Medium, Queues};

/// Interval of the rows, unless the scenario gives one.
const ROWS: Dur = Dur::secs(1);

/// One direction of a medium, as the link knows it.
#[derive(Debug)]
pub(crate) struct Side {
    /// Number of the medium.
    medium: usize,
    /// True from the stations to the access point.
    up: bool,
    pub(crate) backlog: Backlog,
}

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Air {
    medium: Medium,
    down: usize,
    up: usize,
    /// Time of its pending event.
    scheduled: Time,
    rows: Option<(Gate, WifiTable)>,
}

impl Air {
    /// The media of a plan. Their links become sides of them.
    pub(crate) fn of_plan(
        plan: &Plan,
        links: &mut [Link],
        external: &Disciplines,
        failure: &Failure,
    ) -> Result<Vec<Air>, SimError> {
        let mut media = Vec::with_capacity(plan.media.len());
        for (n, m) in plan.media.iter().enumerate() {
            let flows = plan.flows.iter().map(|flow| m.station(flow.from, flow.to).unwrap_or(0));
            let station_of = flows.flat_map(|station| [station, station]).collect();
            let window = (Time(plan.measure_from_ns), Time(plan.duration_ns));
            let name = &plan.links[m.down].name;
            let path = format!("wifi/{name}");
            let medium =
                Medium::new(&m.wifi, media_queues(plan, m, external, failure)?, station_of, (plan.seed, &path), window);
            for (link, up) in [(m.down, false), (m.up, true)] {
                links[link].joins(Side { medium: n, up, backlog: Backlog::default() });
            }
            let interval = if plan.trace.interval_ns > 0 { Dur(plan.trace.interval_ns) } else { ROWS };
            let recorded = plan.trace.series.queues && plan.trace.of_link(name);
            let rows = recorded.then(|| (Gate::new(interval), WifiTable::default()));
            media.push(Air { medium, down: m.down, up: m.up, scheduled: Time::NEVER, rows });
        }
        Ok(media)
    }

    fn record(&mut self, now: Time, last: bool) {
        let Some((gate, table)) = &mut self.rows else { return };
        if !gate.passes(now) && !last {
            return;
        }
        let (results, collided) = self.medium.results();
        for (n, station) in results.iter().enumerate() {
            table.t_ns.push(now.0);
            table.station.push(n as u32);
            table.signal_dbm.push(self.medium.signal(n));
            let (down, up) = (&station.down, &station.up);
            table.down_airtime_ns.push(down.airtime.0);
            table.down_frames.push(down.frames);
            table.down_failed.push(down.failed);
            table.down_lost.push(down.lost);
            table.down_bytes.push(down.delivered_bytes);
            table.down_rate_bps.push(down.rate_sum / down.frames as f64);
            table.up_airtime_ns.push(up.airtime.0);
            table.up_frames.push(up.frames);
            table.up_failed.push(up.failed);
            table.up_lost.push(up.lost);
            table.up_bytes.push(up.delivered_bytes);
            table.up_rate_bps.push(up.rate_sum / up.frames as f64);
            table.collided_ns.push(collided.0);
        }
    }
}

/// The disciplines of a medium. With airtime fairness the access point has the link's discipline for each station; each
/// station has that of the link back.
fn media_queues(plan: &Plan, m: &MediumPlan, external: &Disciplines, failure: &Failure) -> Result<Queues, SimError> {
    let build = |link: usize, of: &str| -> Result<Box<dyn Qdisc>, SimError> {
        Ok(queues::build(plan, &plan.links[link], of, external, failure)?.0)
    };
    let stations = || m.wifi.stations.iter().map(|s| format!("/{}", s.name));
    let down = if m.wifi.airtime_fairness {
        stations().map(|of| build(m.down, &of)).collect::<Result<_, _>>()?
    } else {
        vec![build(m.down, "")?]
    };
    let up = stations().map(|of| build(m.up, &of)).collect::<Result<_, _>>()?;
    Ok(Queues { down, up })
}

impl Network {
    /// A packet arrives at a link that is a side of a medium.
    pub(crate) fn enter_air(&mut self, link: usize, packet: Packet, at: Time) {
        let has_data = self.pool.get(packet.body).data;
        let l = &mut self.links[link];
        let Some(packet) = l.admit(packet, at, |_| has_data) else {
            return self.handle_losses_and_copies(link, at);
        };
        let Some(Side { medium, up, .. }) = l.air.as_deref() else { return };
        let (medium, up) = (*medium, *up);
        self.air[medium].medium.enqueue(up, packet, at);
        self.settle_air(medium, at);
    }

    /// Processes the event of a medium.
    pub(crate) fn run_air(&mut self, link: usize) {
        let Some(medium) = self.links[link].air.as_deref().map(|side| side.medium) else { return };
        let (now, air) = (self.now, &mut self.air[medium]);
        air.scheduled = Time::NEVER;
        if air.medium.next_event() <= now {
            air.medium.process(now);
            air.record(now, false);
        }
        self.settle_air(medium, now);
    }

    /// Passes on the packets that a medium has delivered or dropped, and schedules its next event.
    fn settle_air(&mut self, medium: usize, now: Time) {
        let (down, up) = (self.air[medium].down, self.air[medium].up);
        for event in self.air[medium].medium.take_events() {
            match event {
                Event::Taken { up: is_up, flow, bytes, sojourn } => {
                    let link = &mut self.links[if is_up { up } else { down }];
                    link.meter.departure(now, now, bytes, sojourn, Time::ZERO);
                    if let Some(r) = &mut link.recorder {
                        r.departure(now, flow, bytes, sojourn, now);
                    }
                }
                Event::Delivered { up: is_up, packet, at } => {
                    let link = if is_up { up } else { down };
                    let arrival = at + self.links[link].delay;
                    self.count_at_start(link, packet.enqueued, arrival);
                    self.put_on_wire(link, arrival, packet); // the next link has no lookahead
                }
                Event::Dropped { up: is_up, packet, reason } => {
                    let link = if is_up { up } else { down };
                    if reason == DropReason::Retries {
                        self.count_at_start(link, packet.enqueued, now);
                    }
                    self.links[link].drop_packet(packet, reason);
                    self.handle_losses_and_copies(link, now);
                }
            }
        }
        let air = &mut self.air[medium];
        let marks = air.medium.take_marked();
        for (link, is_up) in [(down, false), (up, true)] {
            let backlog = air.medium.backlog(is_up);
            let l = &mut self.links[link];
            let marked = if is_up { marks.up } else { marks.down };
            if marked > 0 {
                l.meter.marked(marked, now);
            }
            l.meter.waiting(backlog, now);
            if let Some(r) = &mut l.recorder {
                let queue = if is_up { None } else { air.medium.discipline() };
                r.backlog(now, backlog, marked, queue);
            }
            if let Some(side) = &mut l.air {
                side.backlog = backlog;
            }
        }
        let next = air.medium.next_event();
        if next != air.scheduled && next != Time::NEVER {
            air.scheduled = next;
            let slot = self.links[down].wake_slot as usize;
            self.events.schedule(slot, next, Kind::Departure);
        }
    }

    /// Counts a packet that was taken before the measurement and arrives or is lost during it.
    fn count_at_start(&mut self, link: usize, taken: Time, until: Time) {
        let at_start = taken < self.measure_from && until >= self.measure_from;
        if at_start {
            self.links[link].meter.is_on_wire_at_start();
        }
    }

    /// Completes the meters of the links, and returns the tables of the media.
    pub(crate) fn finish_air(&mut self) -> Vec<Table> {
        let mut tables = Vec::new();
        for mut air in std::mem::take(&mut self.air) {
            air.record(self.end, true);
            for (link, up) in [(air.down, false), (air.up, true)] {
                for taken in air.medium.in_mac(up) {
                    self.links[link].in_inboxes += 1;
                    self.count_at_start(link, taken, self.end);
                }
                self.links[link].meter.busy = air.medium.airtime(up);
            }
            let name = &self.links[air.down].name;
            air.medium.close(self.end);
            tables.extend(air.rows.map(|(_, table)| table.into_table(name)));
        }
        tables
    }
}
