//! Results of one direction of a link, from the taps at its two nodes.
//!
//! Taps observe a packet when it reaches the node (arrival), when its transmission begins (departure) and when it
//! reaches the other node (landing). Packets of one direction of one flow keep their order in every queue and on the
//! link, so a packet that a later one has passed is lost. Where a discipline separates the connections of a flow, this
//! holds for each connection. A time average is the sum of the contributions of packets, each of which waits in
//! [arrival, departure).

use super::Window;
use super::link_series::LinkSeries;
use crate::meter::packet::Packet;
use dumbbell_plan::{QueueResult, SeriesPlan};
use dumbbell_sim::meter::DurationStats;
use dumbbell_trace::Table;
use dumbbell_units::Dur;
use std::collections::{BTreeMap, VecDeque};

/// A packet in the queue or on the link.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// Identifies it among the packets of its direction.
    key: u64,
    /// Its arrival at the queue, or its departure from it, ns.
    since: u64,
    /// Its length with the link's framing.
    bytes: u32,
    /// True if it has payload.
    payload: bool,
    /// True if it was marked CE when it arrived.
    ce: bool,
}

/// A packet that was lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost {
    pub(crate) direction: u32,
    /// Identifies it among the packets of its direction.
    pub(crate) key: u64,
    /// True if it has payload.
    pub(crate) payload: bool,
    /// True if it was lost behind the queue.
    pub(crate) on_wire: bool,
}

impl Lost {
    fn new(direction: u32, w: &Waiting, on_wire: bool) -> Lost {
        Lost { direction, key: w.key, payload: w.payload, on_wire }
    }
}

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct LinkMeter {
    window: Window,
    rate_bps: u64,
    overhead: u32,
    /// True if the queue separates the connections of a flow.
    by_connection: bool,
    /// Packets in the queue, by direction and connection (0: all of them).
    queue: BTreeMap<(u32, u16), VecDeque<Waiting>>,
    /// Packets on the link, by direction.
    wire: BTreeMap<u32, VecDeque<Waiting>>,
    arrivals: u64,
    departures: u64,
    departed_bytes: u64,
    waiting_at_start: u64,
    drops: u64,
    on_wire_at_start: u64,
    delivered: u64,
    wire_losses: u64,
    marks: u64,
    /// Sums of waiting time, and of waiting time x bytes, for the time averages.
    packet_ns: u128,
    byte_ns: u128,
    /// Transmission time of the packets that departed.
    busy_ns: u64,
    sojourn: DurationStats,
    /// Departures without an observed arrival.
    pub(crate) strays: u64,
    series: LinkSeries,
}

impl LinkMeter {
    /// Counts within `window` on a link of that rate and framing; keeps `series`, with at most one row of the backlog
    /// in so many ns.
    pub(crate) fn new(
        window: Window,
        rate_bps: u64,
        overhead: u32,
        (series, interval): (SeriesPlan, u64),
    ) -> LinkMeter {
        LinkMeter {
            window,
            rate_bps,
            overhead,
            by_connection: false,
            queue: BTreeMap::new(),
            wire: BTreeMap::new(),
            arrivals: 0,
            departures: 0,
            departed_bytes: 0,
            waiting_at_start: 0,
            drops: 0,
            on_wire_at_start: 0,
            delivered: 0,
            wire_losses: 0,
            marks: 0,
            packet_ns: 0,
            byte_ns: 0,
            busy_ns: 0,
            sojourn: DurationStats::new(),
            strays: 0,
            series: LinkSeries::new(series, interval),
        }
    }

    /// The queue separates the connections of a flow.
    pub(crate) fn separate_connections(&mut self) {
        self.by_connection = true;
    }

    /// Returns the part of the queue in which a packet keeps its place.
    fn part(&self, packet: &Packet) -> (u32, u16) {
        let connection = packet.tcp.filter(|_| self.by_connection).map_or(0, |tcp| tcp.connection);
        (packet.direction, connection)
    }

    /// A packet has arrived at the link's queue.
    pub(crate) fn arrived(&mut self, packet: &Packet, now: u64) {
        self.arrivals += u64::from(self.window.holds(now));
        let bytes = packet.bytes + self.overhead;
        let waiting = Waiting { key: packet.key, since: now, bytes, payload: packet.payload > 0, ce: packet.ce };
        self.queue.entry(self.part(packet)).or_default().push_back(waiting);
    }

    /// The transmission of a packet begins. `lost` is called with every packet that was dropped before it.
    pub(crate) fn departed(&mut self, packet: &Packet, now: u64, mut lost: impl FnMut(Lost)) {
        let part = self.part(packet);
        let queue = self.queue.entry(part).or_default();
        let Some(at) = queue.iter().position(|w| w.key == packet.key) else {
            self.strays += 1;
            return;
        };
        let mut gone: Vec<Waiting> = queue.drain(..=at).collect();
        if self.by_connection && queue.is_empty() {
            self.queue.remove(&part);
        }
        let Some(w) = gone.pop() else { return };
        for dropped in gone {
            self.dropped(packet.direction, &dropped, &mut lost);
        }
        if self.window.holds(now) {
            self.departures += 1;
            self.departed_bytes += u64::from(w.bytes);
            self.sojourn.record(Dur(now - w.since));
            self.marks += u64::from(packet.ce && !w.ce);
        }
        self.waiting_at_start += u64::from(w.since < self.window.from && now >= self.window.from);
        let waited = u128::from(self.window.overlap(w.since, now));
        self.packet_ns += waited;
        self.byte_ns += waited * u128::from(w.bytes);
        let out = now + (u128::from(w.bytes) * 8_000_000_000 / u128::from(self.rate_bps.max(1))) as u64;
        self.busy_ns += self.window.overlap(now, out);
        if now < self.window.to {
            self.series.departed([w.since, now, out], packet.direction, w.bytes, packet.ce && !w.ce);
        }
        let on_wire = Waiting { since: now, ..w };
        self.wire.entry(packet.direction).or_default().push_back(on_wire);
    }

    fn dropped(&mut self, direction: u32, w: &Waiting, lost: &mut impl FnMut(Lost)) {
        self.drops += u64::from(self.window.holds(w.since));
        lost(Lost::new(direction, w, false));
        if w.since < self.window.to {
            self.series.dropped(w.since, direction, w.bytes);
        }
    }

    /// A packet has reached the other node. `lost` is called with every packet that was lost on the link before it.
    pub(crate) fn landed(&mut self, packet: &Packet, now: u64, mut lost: impl FnMut(Lost)) {
        let wire = self.wire.entry(packet.direction).or_default();
        let Some(at) = wire.iter().position(|w| w.key == packet.key) else {
            self.strays += 1;
            return;
        };
        self.on_wire_at_start += u64::from(wire[at].since < self.window.from && now >= self.window.from);
        self.delivered += u64::from(self.window.holds(now));
        for w in wire.drain(..=at).take(at) {
            self.wire_losses += u64::from(self.window.holds(w.since));
            lost(Lost::new(packet.direction, &w, true));
        }
    }

    /// Returns the number of packets that arrived before the end and have neither departed nor been dropped.
    pub(crate) fn undecided(&self) -> usize {
        self.queue.values().flatten().filter(|w| w.since < self.window.to).count()
    }

    /// The run is over: of the remaining packets, the first `waiting` are in the queue, the others were dropped.
    pub(crate) fn close(&mut self, waiting: usize, mut lost: impl FnMut(Lost)) {
        let mut left: Vec<(u32, Waiting)> =
            self.queue.iter().flat_map(|((d, _), q)| q.iter().map(|w| (*d, *w))).collect();
        left.sort_by_key(|(_, w)| w.since);
        for (direction, w) in left.split_off(waiting.min(left.len())) {
            self.dropped(direction, &w, &mut lost);
        }
        for (_, w) in left {
            let waited = u128::from(self.window.overlap(w.since, self.window.to));
            self.packet_ns += waited;
            self.byte_ns += waited * u128::from(w.bytes);
            self.waiting_at_start += u64::from(w.since < self.window.from);
        }
    }

    /// Returns the results; `full` and `policed`: packets that the queue dropped because it was full, and that the
    /// policer dropped, by their own counters.
    pub(crate) fn finish(&self, name: &str, discipline: &str, full: u64, policed: u64) -> QueueResult {
        let span = self.window.to.saturating_sub(self.window.from) as f64;
        let mean = |sum: u128| (span > 0.0).then(|| sum as f64 / span);
        let share = |part: f64| if span > 0.0 { part / span } else { 0.0 };
        QueueResult {
            name: name.to_owned(),
            discipline: discipline.to_owned().into(),
            arrivals: self.arrivals,
            departures: self.departures,
            delivered: self.delivered,
            waiting_at_start: self.waiting_at_start,
            waiting_at_end: (self.waiting_at_start + self.arrivals).saturating_sub(self.departures + self.drops),
            on_wire_at_start: self.on_wire_at_start,
            on_wire_at_end: (self.on_wire_at_start + self.departures).saturating_sub(self.delivered + self.wire_losses),
            drops: self.drops,
            drops_full: self.drops.min(full),
            drops_early: self.drops.saturating_sub(full + policed),
            drops_forced: 0,
            drops_scripted: 0,
            drops_policed: self.drops.saturating_sub(full).min(policed),
            wire_losses: self.wire_losses,
            losses_random: self.wire_losses,
            losses_corrupted: 0,
            losses_outage: 0,
            losses_retries: 0,
            duplicated: 0,
            reordered: 0,
            largest_reordering_extent: 0,
            marks: self.marks,
            mean_backlog_packets: mean(self.packet_ns).into(),
            mean_backlog_bytes: mean(self.byte_ns).into(),
            mean_sojourn_ms: self.sojourn.mean_ms().into(),
            p50_sojourn_ms: self.sojourn.percentile_ms(0.5).into(),
            p95_sojourn_ms: self.sojourn.percentile_ms(0.95).into(),
            p99_sojourn_ms: self.sojourn.percentile_ms(0.99).into(),
            max_sojourn_ms: self.sojourn.max_ms().into(),
            utilization: share(self.busy_ns as f64),
            throughput_bps: share(self.departed_bytes as f64 * 8e9),
            capacity_bps: self.rate_bps as f64,
        }
    }

    /// Passes on the rows so far of each series that has at least so many bytes. All observations before `complete`
    /// were made.
    pub(crate) fn drain(&mut self, name: &str, least: usize, complete: u64, sink: &mut dyn FnMut(Table)) {
        if self.series.is_due(least) {
            // A packet in the queue may depart or be dropped: then its arrival is a row.
            let first = self.queue.values().filter_map(|part| part.front()).map(|w| w.since).min();
            self.series.drain(name, least, first.map_or(complete, |first| complete.min(first)), sink);
        }
    }

    /// Returns the series, without the rows that were passed on.
    pub(crate) fn tables(&mut self, name: &str) -> Vec<Table> {
        self.series.tables(name)
    }
}
