//! The figures of one direction of a link, from the taps at its two nodes.
//!
//! A packet is seen when it reaches the node (arrival), when its transmission begins (departure) and when it reaches
//! the other node (landing). Packets of one direction of one flow keep their order in every queue and on the wire, so
//! a packet that a later one has passed is lost. A mean over time is the sum of what each packet contributes: it
//! waits in [arrival, departure).

use super::Window;
use crate::packet::Packet;
use dumbbell_sim::QueueResult;
use dumbbell_sim::meter::Spans;
use dumbbell_trace::{ColumnData, Table};
use dumbbell_units::Dur;
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Copy, Debug)]
struct Waiting {
    key: u64,
    since: u64,
    bytes: u32,
    payload: bool,
    ce: bool,
}

#[derive(Debug, Default)]
struct Columns {
    arrivals: Vec<(u64, u32)>,
    departures: Vec<(u64, u32, u32, u64)>,
    drops: Vec<(u64, u32, u32)>,
    marks: Vec<u64>,
}

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct LinkMeter {
    window: Window,
    rate_bps: u64,
    overhead: u32,
    queue: BTreeMap<u32, VecDeque<Waiting>>,
    wire: BTreeMap<u32, VecDeque<Waiting>>,
    arrivals: u64,
    departures: u64,
    departed_bytes: u64,
    waiting_at_start: u64,
    drops: u64,
    wire_losses: u64,
    marks: u64,
    packet_ns: u128,
    byte_ns: u128,
    busy_ns: u64,
    sojourn: Spans,
    /// Departures whose arrival nobody saw.
    pub(crate) strays: u64,
    columns: Option<Columns>,
}

impl LinkMeter {
    /// Counts within `window` on a link of that rate and framing; keeps series if `series`.
    pub(crate) fn new(window: Window, rate_bps: u64, overhead: u32, series: bool) -> LinkMeter {
        LinkMeter {
            window,
            rate_bps,
            overhead,
            queue: BTreeMap::new(),
            wire: BTreeMap::new(),
            arrivals: 0,
            departures: 0,
            departed_bytes: 0,
            waiting_at_start: 0,
            drops: 0,
            wire_losses: 0,
            marks: 0,
            packet_ns: 0,
            byte_ns: 0,
            busy_ns: 0,
            sojourn: Spans::new(),
            strays: 0,
            columns: series.then(Columns::default),
        }
    }

    /// A packet has come to the link's entrance.
    pub(crate) fn arrived(&mut self, packet: &Packet, now: u64) {
        self.arrivals += u64::from(self.window.holds(now));
        let bytes = packet.bytes + self.overhead;
        let waiting =
            Waiting { key: packet.key, since: now, bytes, payload: packet.payload > 0, ce: packet.ce };
        self.queue.entry(packet.direction).or_default().push_back(waiting);
    }

    /// Its transmission begins. `lost` is told of every packet with payload that was dropped: direction and time.
    pub(crate) fn departed(&mut self, packet: &Packet, now: u64, mut lost: impl FnMut(u32, u64)) {
        let queue = self.queue.entry(packet.direction).or_default();
        let Some(at) = queue.iter().position(|w| w.key == packet.key) else {
            self.strays += 1;
            return;
        };
        let mut gone: Vec<Waiting> = queue.drain(..=at).collect();
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
        if now < self.window.to
            && let Some(c) = &mut self.columns
        {
            c.arrivals.push((w.since, w.bytes));
            c.departures.push((now, packet.direction, w.bytes, now - w.since));
            if packet.ce && !w.ce {
                c.marks.push(now);
            }
        }
        self.wire.entry(packet.direction).or_default().push_back(w);
    }

    fn dropped(&mut self, direction: u32, w: &Waiting, lost: &mut impl FnMut(u32, u64)) {
        self.drops += u64::from(self.window.holds(w.since));
        if w.payload {
            lost(direction, w.since);
        }
        if w.since < self.window.to
            && let Some(c) = &mut self.columns
        {
            c.drops.push((w.since, direction, w.bytes));
        }
    }

    /// It has reached the other end.
    pub(crate) fn landed(&mut self, packet: &Packet, mut lost: impl FnMut(u32, u64)) {
        let wire = self.wire.entry(packet.direction).or_default();
        let Some(at) = wire.iter().position(|w| w.key == packet.key) else {
            self.strays += 1;
            return;
        };
        for w in wire.drain(..=at).take(at) {
            self.wire_losses += u64::from(self.window.holds(w.since));
            if w.payload {
                lost(packet.direction, w.since);
            }
        }
    }

    /// Packets whose fate isn't known yet and that came before the end.
    pub(crate) fn undecided(&self) -> usize {
        self.queue.values().flatten().filter(|w| w.since < self.window.to).count()
    }

    /// Nothing comes any more: of what is left, so many wait, and the others were dropped (the latest).
    pub(crate) fn close(&mut self, waiting: usize, mut lost: impl FnMut(u32, u64)) {
        let mut left: Vec<(u32, Waiting)> =
            self.queue.iter().flat_map(|(d, q)| q.iter().map(|w| (*d, *w))).collect();
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

    /// The figures.
    pub(crate) fn finish(&self, name: &str, discipline: &str) -> QueueResult {
        let span = self.window.to.saturating_sub(self.window.from) as f64;
        let mean = |sum: u128| (span > 0.0).then(|| sum as f64 / span);
        let share = |part: f64| if span > 0.0 { part / span } else { 0.0 };
        QueueResult {
            name: name.to_owned(),
            discipline: discipline.to_owned(),
            arrivals: self.arrivals,
            departures: self.departures,
            waiting_at_start: self.waiting_at_start,
            waiting_at_end: (self.waiting_at_start + self.arrivals)
                .saturating_sub(self.departures + self.drops),
            drops: self.drops,
            drops_full: self.drops,
            drops_early: 0,
            drops_forced: 0,
            drops_scripted: 0,
            wire_losses: self.wire_losses,
            marks: self.marks,
            mean_backlog_packets: mean(self.packet_ns),
            mean_backlog_bytes: mean(self.byte_ns),
            mean_sojourn_ms: self.sojourn.mean_ms(),
            p50_sojourn_ms: self.sojourn.percentile_ms(0.5),
            p95_sojourn_ms: self.sojourn.percentile_ms(0.95),
            p99_sojourn_ms: self.sojourn.percentile_ms(0.99),
            max_sojourn_ms: self.sojourn.max_ms(),
            utilisation: share(self.busy_ns as f64),
            throughput_bps: share(self.departed_bytes as f64 * 8e9),
        }
    }

    /// The series, if they were kept.
    pub(crate) fn tables(&mut self, name: &str, interval_ns: u64) -> Vec<Table> {
        let Some(mut c) = self.columns.take() else { return Vec::new() };
        c.arrivals.sort_unstable();
        c.drops.sort_unstable();
        let mut backlog = Table::new(format!("queue/{name}"));
        let (mut t, mut packets, mut bytes, mut marks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut came, mut marked, mut next) = (0, 0, 0);
        let (mut p, mut b) = (0u64, 0u64);
        for (now, _, size, _) in &c.departures {
            while let Some((at, size)) = c.arrivals.get(came).filter(|(at, _)| at <= now) {
                (p, b, came) = (p + 1, b + u64::from(*size), came + 1);
                if *at >= next {
                    next = if interval_ns > 0 { (at / interval_ns + 1) * interval_ns } else { 0 };
                    t.push(*at);
                    packets.push(p);
                    bytes.push(b);
                    marks.push(marked);
                }
            }
            (p, b) = (p - 1, b - u64::from(*size));
            marked += u64::from(c.marks.get(marked as usize).is_some_and(|m| m <= now));
            if *now >= next {
                next = if interval_ns > 0 { (now / interval_ns + 1) * interval_ns } else { 0 };
                t.push(*now);
                packets.push(p);
                bytes.push(b);
                marks.push(marked);
            }
        }
        backlog = backlog
            .with("t_ns", ColumnData::U64(t))
            .with("packets", ColumnData::U64(packets))
            .with("bytes", ColumnData::U64(bytes))
            .with("marks", ColumnData::U64(marks));
        let departures = Table::new(format!("departures/{name}"))
            .with("t_ns", ColumnData::U64(c.departures.iter().map(|d| d.0).collect()))
            .with("flow", ColumnData::U32(c.departures.iter().map(|d| d.1).collect()))
            .with("bytes", ColumnData::U32(c.departures.iter().map(|d| d.2).collect()))
            .with("sojourn_ns", ColumnData::U64(c.departures.iter().map(|d| d.3).collect()));
        let drops = Table::new(format!("drops/{name}"))
            .with("t_ns", ColumnData::U64(c.drops.iter().map(|d| d.0).collect()))
            .with("flow", ColumnData::U32(c.drops.iter().map(|d| d.1).collect()))
            .with("bytes", ColumnData::U32(c.drops.iter().map(|d| d.2).collect()))
            .with("reason", ColumnData::U8(vec![0; c.drops.len()]));
        vec![backlog, departures, drops]
    }
}
