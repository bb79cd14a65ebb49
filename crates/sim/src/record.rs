//! Recorders: they fill the tables of [`dumbbell_trace::tables`] during a run. A recorder exists only if the scenario
//! requests its table.

mod packets;

pub(crate) use packets::{PacketEvent, PacketRecorder, PacketRow};

use crate::meter::RttSeries;
use crate::tcp_meter::Delivered;
use dumbbell_plan::SeriesPlan;
use dumbbell_qdisc::{Backlog, DropReason, Qdisc};
use dumbbell_tcp::{DeliveredSegment, Snapshot};
use dumbbell_trace::tables::{DepartureTable, DropTable, FlowTable, QueueTable};
use dumbbell_trace::{ColumnSlice, Table, TableSlice};
use dumbbell_units::flow_number::direction_of;
use dumbbell_units::{Dur, Time};

/// Accepts at most one row per interval; with an interval of 0 all rows.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    interval: Dur,
    next: Time,
}

impl Gate {
    pub(crate) fn new(interval: Dur) -> Gate {
        Gate { interval, next: Time::ZERO }
    }

    pub(crate) fn passes(&mut self, now: Time) -> bool {
        if now < self.next {
            return false;
        }
        if self.interval > Dur::ZERO {
            self.next = Time((now.0 / self.interval.0 + 1) * self.interval.0);
        }
        true
    }
}

/// Records the state of a TCP flow, a row at each change, and its RTT samples.
#[derive(Debug)]
pub(crate) struct FlowRecorder {
    name: String,
    gate: Gate,
    variant_columns: &'static [&'static str],
    last: Option<(Snapshot, Delivered)>,
    table: FlowTable,
    private: Vec<Vec<f64>>,
    row: Vec<f64>,
    rtt: RttSeries,
}

impl FlowRecorder {
    pub(crate) fn new(name: &str, interval: Dur, variant_columns: &'static [&'static str]) -> FlowRecorder {
        FlowRecorder {
            name: name.to_owned(),
            gate: Gate::new(interval),
            variant_columns,
            last: None,
            table: FlowTable::default(),
            private: vec![Vec::new(); variant_columns.len()],
            row: Vec::new(),
            rtt: RttSeries::new(interval),
        }
    }

    /// Records the packets that an ACK reported.
    pub(crate) fn acknowledged(&mut self, packets: &[DeliveredSegment], now: Time) {
        self.rtt.add(packets, now);
    }

    pub(crate) fn state(&mut self, now: Time, s: &Snapshot, delivered: Delivered, observe: impl FnOnce(&mut Vec<f64>)) {
        if self.last.as_ref() == Some(&(*s, delivered)) || !self.gate.passes(now) {
            return;
        }
        self.last = Some((*s, delivered));
        let table = &mut self.table;
        table.t_ns.push(now.0);
        table.cwnd.push(s.cwnd);
        table.ssthresh.push(s.ssthresh);
        table.srtt_ns.push(s.srtt.map_or(f64::NAN, |d| d.0 as f64));
        table.rto_ns.push(s.rto.0 as f64);
        table.inflight.push(s.inflight);
        table.snd_una.push(s.snd_una);
        table.snd_nxt.push(s.snd_nxt);
        table.delivered.push(delivered.bytes);
        table.delivered_in_order.push(delivered.in_order);
        table.phase.push(s.phase as u8);
        table.timeouts.push(s.timeouts);
        self.row.clear();
        observe(&mut self.row);
        self.private.iter_mut().zip(&self.row).for_each(|(c, v)| c.push(*v));
    }

    /// The rows so far, of the tables that [`FlowRecorder::finish`] returns.
    pub(crate) fn so_far(&self) -> impl Iterator<Item = TableSlice<'_>> {
        let state = with_private(self.table.as_slice(&self.name), self.variant_columns, &self.private);
        std::iter::once(state).chain(self.rtt.so_far(&self.name))
    }

    /// Passes on the rows so far of each table that has at least so many.
    pub(crate) fn drain(&mut self, least: usize, sink: &mut dyn FnMut(Table)) {
        if self.table.rows() >= least {
            let private = emptied(&mut self.private);
            let table = std::mem::take(&mut self.table).into_table(&self.name);
            sink(table.with_private(self.variant_columns, private));
        }
        self.rtt.drain(least, &self.name, sink);
    }

    pub(crate) fn finish(self) -> impl Iterator<Item = Table> {
        let state = self.table.into_table(&self.name).with_private(self.variant_columns, self.private);
        std::iter::once(state).chain(self.rtt.into_table(&self.name))
    }
}

/// Records the backlog of a queue at each change, and a row for each departure and drop.
#[derive(Debug)]
pub(crate) struct QueueRecorder {
    name: String,
    series: SeriesPlan,
    gate: Gate,
    columns: &'static [&'static str],
    last: Option<Backlog>,
    marks: u64,
    queue: QueueTable,
    private: Vec<Vec<f64>>,
    row: Vec<f64>,
    departures: DepartureTable,
    drops: DropTable,
}

impl QueueRecorder {
    pub(crate) fn new(
        name: &str,
        series: SeriesPlan,
        interval: Dur,
        columns: &'static [&'static str],
    ) -> QueueRecorder {
        QueueRecorder {
            name: name.to_owned(),
            series,
            gate: Gate::new(interval),
            columns,
            last: None,
            marks: 0,
            queue: QueueTable::default(),
            private: vec![Vec::new(); columns.len()],
            row: Vec::new(),
            departures: DepartureTable::default(),
            drops: DropTable::default(),
        }
    }

    /// Without a `queue` the private columns are NaN: several queues have no common state.
    pub(crate) fn backlog(&mut self, now: Time, b: Backlog, marks: u64, queue: Option<&dyn Qdisc>) {
        self.marks += marks;
        if !self.series.queues || (self.last == Some(b) && marks == 0) || !self.gate.passes(now) {
            return;
        }
        self.last = Some(b);
        self.queue.t_ns.push(now.0);
        self.queue.packets.push(b.packets);
        self.queue.bytes.push(b.bytes);
        self.queue.marks.push(self.marks);
        self.row.clear();
        match queue {
            Some(queue) => queue.observe(&mut self.row),
            None => self.row.resize(self.columns.len(), f64::NAN),
        }
        self.private.iter_mut().zip(&self.row).for_each(|(c, v)| c.push(*v));
    }

    pub(crate) fn departure(&mut self, now: Time, flow: u32, bytes: u32, sojourn: Dur, end: Time) {
        if !self.series.departures {
            return;
        }
        self.departures.t_ns.push(now.0);
        self.departures.flow.push(direction_of(flow));
        self.departures.bytes.push(bytes);
        self.departures.sojourn_ns.push(sojourn.0);
        self.departures.end_ns.push(end.0);
    }

    pub(crate) fn dropped(&mut self, now: Time, flow: u32, bytes: u32, reason: DropReason) {
        if !self.series.drops {
            return;
        }
        self.drops.t_ns.push(now.0);
        self.drops.flow.push(direction_of(flow));
        self.drops.bytes.push(bytes);
        self.drops.reason.push(reason as u8);
    }

    /// The rows so far, of the tables that [`QueueRecorder::finish`] returns.
    pub(crate) fn so_far(&self) -> impl Iterator<Item = TableSlice<'_>> {
        let recorded = [self.series.queues, self.series.departures, self.series.drops];
        let tables = [
            with_private(self.queue.as_slice(&self.name), self.columns, &self.private),
            self.departures.as_slice(&self.name),
            self.drops.as_slice(&self.name),
        ];
        tables.into_iter().zip(recorded).filter_map(|(table, recorded)| recorded.then_some(table))
    }

    /// Passes on the rows so far of each table that has at least so many.
    pub(crate) fn drain(&mut self, least: usize, sink: &mut dyn FnMut(Table)) {
        if self.series.queues && self.queue.rows() >= least {
            let private = emptied(&mut self.private);
            let table = std::mem::take(&mut self.queue).into_table(&self.name);
            sink(table.with_private(self.columns, private));
        }
        if self.series.departures && self.departures.rows() >= least {
            sink(std::mem::take(&mut self.departures).into_table(&self.name));
        }
        if self.series.drops && self.drops.rows() >= least {
            sink(std::mem::take(&mut self.drops).into_table(&self.name));
        }
    }

    pub(crate) fn finish(self) -> impl Iterator<Item = Table> {
        let recorded = [self.series.queues, self.series.departures, self.series.drops];
        let tables = [
            self.queue.into_table(&self.name).with_private(self.columns, self.private),
            self.departures.into_table(&self.name),
            self.drops.into_table(&self.name),
        ];
        tables.into_iter().zip(recorded).filter_map(|(table, recorded)| recorded.then_some(table))
    }
}

/// Takes the values out of columns.
fn emptied(columns: &mut [Vec<f64>]) -> Vec<Vec<f64>> {
    columns.iter_mut().map(std::mem::take).collect()
}

/// Adds the private columns of a variant or a queue discipline.
fn with_private<'a>(
    mut table: TableSlice<'a>,
    names: &'static [&'static str],
    columns: &'a [Vec<f64>],
) -> TableSlice<'a> {
    let private = names.iter().zip(columns).map(|(name, values)| (*name, ColumnSlice::F64(values)));
    table.columns.extend(private);
    table
}
