//! Recorders: they turn what happens into columns. None of them exists unless the scenario asks for it.

use dumbbell_plan::SeriesPlan;
use dumbbell_qdisc::{Backlog, DropReason, Qdisc};
use dumbbell_tcp::Snapshot;
use dumbbell_trace::{ColumnData, Table};
use dumbbell_units::{Dur, Time};

/// Lets at most one row through in each interval; with interval 0, every row.
#[derive(Clone, Debug)]
struct Gate {
    interval: Dur,
    next: Time,
}

impl Gate {
    fn new(interval: Dur) -> Gate {
        Gate { interval, next: Time::ZERO }
    }

    fn passes(&mut self, now: Time) -> bool {
        if now < self.next {
            return false;
        }
        if self.interval > Dur::ZERO {
            self.next = Time((now.0 / self.interval.0 + 1) * self.interval.0);
        }
        true
    }
}

/// The series of a TCP flow: a row at each change.
#[derive(Debug)]
pub(crate) struct FlowRecorder {
    name: String,
    gate: Gate,
    variant_columns: &'static [&'static str],
    last: Option<(Snapshot, u64)>,
    t: Vec<u64>,
    floats: [Vec<f64>; 4],
    counts: [Vec<u64>; 4],
    phase: Vec<u8>,
    law: Vec<Vec<f64>>,
    row: Vec<f64>,
}

impl FlowRecorder {
    pub(crate) fn new(name: &str, interval: Dur, variant_columns: &'static [&'static str]) -> FlowRecorder {
        FlowRecorder {
            name: format!("flow/{name}"),
            gate: Gate::new(interval),
            variant_columns,
            last: None,
            t: Vec::new(),
            floats: Default::default(),
            counts: Default::default(),
            phase: Vec::new(),
            law: vec![Vec::new(); variant_columns.len()],
            row: Vec::new(),
        }
    }

    pub(crate) fn state(
        &mut self,
        now: Time,
        s: &Snapshot,
        delivered: u64,
        observe: impl FnOnce(&mut Vec<f64>),
    ) {
        if self.last.as_ref() == Some(&(*s, delivered)) || !self.gate.passes(now) {
            return;
        }
        self.last = Some((*s, delivered));
        self.t.push(now.0);
        let srtt = s.srtt.map_or(f64::NAN, |d| d.0 as f64);
        let floats = [s.cwnd, s.ssthresh, srtt, s.rto.0 as f64];
        self.floats.iter_mut().zip(floats).for_each(|(c, v)| c.push(v));
        let counts = [s.inflight, s.snd_una, s.snd_nxt, delivered];
        self.counts.iter_mut().zip(counts).for_each(|(c, v)| c.push(v));
        self.phase.push(s.phase as u8);
        self.row.clear();
        observe(&mut self.row);
        self.law.iter_mut().zip(&self.row).for_each(|(c, v)| c.push(*v));
    }

    pub(crate) fn finish(self) -> Table {
        let [cwnd, ssthresh, srtt, rto] = self.floats;
        let [inflight, snd_una, snd_nxt, delivered] = self.counts;
        let table = Table::new(self.name)
            .with("t_ns", ColumnData::U64(self.t))
            .with("cwnd", ColumnData::F64(cwnd))
            .with("ssthresh", ColumnData::F64(ssthresh))
            .with("srtt_ns", ColumnData::F64(srtt))
            .with("rto_ns", ColumnData::F64(rto))
            .with("inflight", ColumnData::U64(inflight))
            .with("snd_una", ColumnData::U64(snd_una))
            .with("snd_nxt", ColumnData::U64(snd_nxt))
            .with("delivered", ColumnData::U64(delivered))
            .with("phase", ColumnData::U8(self.phase));
        self.variant_columns
            .iter()
            .zip(self.law)
            .fold(table, |t, (name, values)| t.with(*name, ColumnData::F64(values)))
    }
}

/// The series of a queue: backlog at each change, and a table row for each departure and drop.
#[derive(Debug)]
pub(crate) struct QueueRecorder {
    name: String,
    keeps: SeriesPlan,
    gate: Gate,
    columns: &'static [&'static str],
    last: Option<Backlog>,
    t: Vec<u64>,
    packets: Vec<u64>,
    bytes: Vec<u64>,
    marks: Vec<u64>,
    marks_so_far: u64,
    private: Vec<Vec<f64>>,
    row: Vec<f64>,
    out_t: Vec<u64>,
    out_flow: Vec<u32>,
    out_bytes: Vec<u32>,
    out_sojourn: Vec<u64>,
    out_end: Vec<u64>,
    drop_t: Vec<u64>,
    drop_flow: Vec<u32>,
    drop_bytes: Vec<u32>,
    drop_reason: Vec<u8>,
}

impl QueueRecorder {
    pub(crate) fn new(
        name: &str,
        keeps: SeriesPlan,
        interval: Dur,
        columns: &'static [&'static str],
    ) -> QueueRecorder {
        QueueRecorder {
            name: name.to_owned(),
            keeps,
            gate: Gate::new(interval),
            columns,
            last: None,
            t: Vec::new(),
            packets: Vec::new(),
            bytes: Vec::new(),
            marks: Vec::new(),
            marks_so_far: 0,
            private: vec![Vec::new(); columns.len()],
            row: Vec::new(),
            out_t: Vec::new(),
            out_flow: Vec::new(),
            out_bytes: Vec::new(),
            out_sojourn: Vec::new(),
            out_end: Vec::new(),
            drop_t: Vec::new(),
            drop_flow: Vec::new(),
            drop_bytes: Vec::new(),
            drop_reason: Vec::new(),
        }
    }

    pub(crate) fn backlog(&mut self, now: Time, b: Backlog, marks: u64, queue: &dyn Qdisc) {
        self.marks_so_far += marks;
        if !self.keeps.queues || (self.last == Some(b) && marks == 0) || !self.gate.passes(now) {
            return;
        }
        self.last = Some(b);
        self.t.push(now.0);
        self.packets.push(b.packets);
        self.bytes.push(b.bytes);
        self.marks.push(self.marks_so_far);
        self.row.clear();
        queue.observe(&mut self.row);
        self.private.iter_mut().zip(&self.row).for_each(|(c, v)| c.push(*v));
    }

    pub(crate) fn departure(&mut self, now: Time, flow: u32, bytes: u32, sojourn: Dur, end: Time) {
        if !self.keeps.departures {
            return;
        }
        self.out_t.push(now.0);
        self.out_flow.push(flow);
        self.out_bytes.push(bytes);
        self.out_sojourn.push(sojourn.0);
        self.out_end.push(end.0);
    }

    pub(crate) fn dropped(&mut self, now: Time, flow: u32, bytes: u32, reason: DropReason) {
        if !self.keeps.drops {
            return;
        }
        self.drop_t.push(now.0);
        self.drop_flow.push(flow);
        self.drop_bytes.push(bytes);
        self.drop_reason.push(reason as u8);
    }

    pub(crate) fn finish(self) -> impl Iterator<Item = Table> {
        let keeps = [self.keeps.queues, self.keeps.departures, self.keeps.drops];
        let queue = Table::new(format!("queue/{}", self.name))
            .with("t_ns", ColumnData::U64(self.t))
            .with("packets", ColumnData::U64(self.packets))
            .with("bytes", ColumnData::U64(self.bytes))
            .with("marks", ColumnData::U64(self.marks));
        let queue = self
            .columns
            .iter()
            .zip(self.private)
            .fold(queue, |t, (name, values)| t.with(*name, ColumnData::F64(values)));
        let departures = Table::new(format!("departures/{}", self.name))
            .with("t_ns", ColumnData::U64(self.out_t))
            .with("flow", ColumnData::U32(self.out_flow))
            .with("bytes", ColumnData::U32(self.out_bytes))
            .with("sojourn_ns", ColumnData::U64(self.out_sojourn))
            .with("end_ns", ColumnData::U64(self.out_end));
        let drops = Table::new(format!("drops/{}", self.name))
            .with("t_ns", ColumnData::U64(self.drop_t))
            .with("flow", ColumnData::U32(self.drop_flow))
            .with("bytes", ColumnData::U32(self.drop_bytes))
            .with("reason", ColumnData::U8(self.drop_reason));
        [queue, departures, drops].into_iter().zip(keeps).filter_map(|(table, kept)| kept.then_some(table))
    }
}

/// What happened to a packet.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(crate) enum PacketEvent {
    Sent = 0,
    Received = 1,
    Dropped = 2,
}

/// A row for each packet sent, received or dropped.
#[derive(Debug, Default)]
pub(crate) struct PacketRecorder {
    t: Vec<u64>,
    event: Vec<u8>,
    flow: Vec<u32>,
    connection: Vec<u32>,
    number: Vec<u64>,
    payload: Vec<u32>,
    bytes: Vec<u32>,
    retransmission: Vec<u8>,
}

/// What a row of the packet table says of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketRow {
    pub(crate) flow: u32,
    pub(crate) connection: u32,
    pub(crate) number: u64,
    pub(crate) payload: u32,
    pub(crate) bytes: u32,
    pub(crate) retransmission: bool,
}

impl PacketRecorder {
    pub(crate) fn row(&mut self, now: Time, event: PacketEvent, p: PacketRow) {
        self.t.push(now.0);
        self.event.push(event as u8);
        self.flow.push(p.flow);
        self.connection.push(p.connection);
        self.number.push(p.number);
        self.payload.push(p.payload);
        self.bytes.push(p.bytes);
        self.retransmission.push(u8::from(p.retransmission));
    }

    /// The table, by time: links that run ahead tell of drops before their time.
    pub(crate) fn finish(self) -> Table {
        let mut order: Vec<usize> = (0..self.t.len()).collect();
        order.sort_by_key(|&i| self.t[i]);
        fn sorted<T: Copy>(values: &[T], order: &[usize]) -> Vec<T> {
            order.iter().map(|&i| values[i]).collect()
        }
        Table::new("packets")
            .with("t_ns", ColumnData::U64(sorted(&self.t, &order)))
            .with("event", ColumnData::U8(sorted(&self.event, &order)))
            .with("flow", ColumnData::U32(sorted(&self.flow, &order)))
            .with("connection", ColumnData::U32(sorted(&self.connection, &order)))
            .with("number", ColumnData::U64(sorted(&self.number, &order)))
            .with("payload", ColumnData::U32(sorted(&self.payload, &order)))
            .with("bytes", ColumnData::U32(sorted(&self.bytes, &order)))
            .with("retransmission", ColumnData::U8(sorted(&self.retransmission, &order)))
    }
}
