//! The series of one direction of a link: backlog, departures, drops.
//!
//! A packet's arrival is a row of the backlog only once the packet departs, and a drop is observed when a later packet
//! has departed. So the rows of a time are complete once no packet that arrived before it is in the queue.

use dumbbell_plan::SeriesPlan;
use dumbbell_qdisc::DropReason;
use dumbbell_trace::Table;
use dumbbell_trace::tables::{DepartureTable, DropTable, QueueTable};

/// Bytes of a row of departures and of drops, in memory.
const DEPARTURE: usize = 3 * 8 + 2 * 4;
const DROP: usize = size_of::<(u64, u32, u32)>();
/// Bytes of an arrival, and of a departure for the backlog, in memory.
const CHANGE: usize = size_of::<(u64, u32)>();

/// See the top of this file. Times in ns.
#[derive(Debug)]
pub(super) struct LinkSeries {
    series: SeriesPlan,
    /// Minimum time between two rows of the backlog.
    interval: u64,
    /// Arrivals at the queue of packets that have departed: time, bytes.
    arrivals: Vec<(u64, u32)>,
    /// Departures from the queue: time, bytes.
    left: Vec<(u64, u32)>,
    /// Times of marks.
    marks: Vec<u64>,
    backlog: Backlog,
    departures: DepartureTable,
    /// Drops: time of arrival, direction, bytes.
    drops: Vec<(u64, u32, u32)>,
    /// Bytes of incomplete rows, after the last time that complete ones were passed on.
    kept: usize,
}

/// The backlog after the rows that were passed on.
#[derive(Clone, Copy, Debug, Default)]
struct Backlog {
    packets: i64,
    bytes: i64,
    marks: u64,
    /// Earliest time of the next row.
    next: u64,
}

impl LinkSeries {
    pub(super) fn new(series: SeriesPlan, interval: u64) -> LinkSeries {
        LinkSeries {
            series,
            interval,
            arrivals: Vec::new(),
            left: Vec::new(),
            marks: Vec::new(),
            backlog: Backlog::default(),
            departures: DepartureTable::default(),
            drops: Vec::new(),
            kept: 0,
        }
    }

    /// A packet has departed; `times`: its arrival, the beginning and the end of its transmission.
    pub(super) fn departed(&mut self, times: [u64; 3], direction: u32, bytes: u32, marked: bool) {
        let [since, now, out] = times;
        if self.series.queues {
            self.arrivals.push((since, bytes));
            self.left.push((now, bytes));
            if marked {
                self.marks.push(now);
            }
        }
        if self.series.departures {
            self.departures.t_ns.push(now);
            self.departures.flow.push(direction);
            self.departures.bytes.push(bytes);
            self.departures.sojourn_ns.push(now - since);
            self.departures.end_ns.push(out);
        }
    }

    /// A packet that arrived at `since` was dropped.
    pub(super) fn dropped(&mut self, since: u64, direction: u32, bytes: u32) {
        if self.series.drops {
            self.drops.push((since, direction, bytes));
        }
    }

    fn incomplete(&self) -> usize {
        (self.arrivals.len() + self.left.len()) * CHANGE + self.drops.len() * DROP
    }

    /// Returns true if a series has at least so many bytes that may be passed on. Rows that were incomplete the last
    /// time are looked at again when there are twice as many.
    pub(super) fn is_due(&self, least: usize) -> bool {
        self.incomplete() >= least.max(2 * self.kept) || self.departures.rows() * DEPARTURE >= least
    }

    /// Passes on the rows before `complete`.
    pub(super) fn drain(&mut self, name: &str, least: usize, complete: u64, sink: &mut dyn FnMut(Table)) {
        if self.departures.rows() * DEPARTURE >= least {
            sink(std::mem::take(&mut self.departures).into_table(name));
        }
        if self.incomplete() >= least.max(2 * self.kept) {
            let tables = [self.backlog_before(complete, name), self.drops_before(complete, name)];
            tables.into_iter().flatten().filter(|table| table.rows() > 0).for_each(sink);
            self.kept = self.incomplete();
        }
    }

    /// Returns the series, without the rows that were passed on.
    pub(super) fn tables(&mut self, name: &str) -> Vec<Table> {
        let backlog = self.backlog_before(u64::MAX, name);
        let departures = std::mem::take(&mut self.departures);
        let departures = self.series.departures.then(|| departures.into_table(name));
        [backlog, departures, self.drops_before(u64::MAX, name)].into_iter().flatten().collect()
    }

    /// Returns the drops before a time, in the order of time.
    fn drops_before(&mut self, end: u64, name: &str) -> Option<Table> {
        self.drops.sort_unstable();
        let count = self.drops.partition_point(|(t, ..)| *t < end);
        let mut table = DropTable::default();
        for (t, flow, bytes) in self.drops.drain(..count) {
            table.t_ns.push(t);
            table.flow.push(flow);
            table.bytes.push(bytes);
            table.reason.push(DropReason::Full as u8);
        }
        self.series.drops.then(|| table.into_table(name))
    }

    /// Returns the backlog at each change before a time: arrivals and departures in the order of time.
    fn backlog_before(&mut self, end: u64, name: &str) -> Option<Table> {
        self.arrivals.sort_unstable();
        let arrived = self.arrivals.partition_point(|(t, _)| *t < end);
        let left = self.left.partition_point(|(t, _)| *t < end);
        let mut changes: Vec<(u64, i64, u32)> = self.arrivals.drain(..arrived).map(|(t, size)| (t, 1, size)).collect();
        changes.extend(self.left.drain(..left).map(|(t, size)| (t, -1, size)));
        changes.sort_by_key(|(t, ..)| *t); // stable: an arrival precedes its departure at the same instant
        let mut table = QueueTable::default();
        let b = &mut self.backlog;
        for (at, step, amount) in changes {
            (b.packets, b.bytes) = (b.packets + step, b.bytes + step * i64::from(amount));
            if at < b.next {
                continue;
            }
            b.next = at.checked_div(self.interval).map_or(0, |whole| (whole + 1) * self.interval);
            table.t_ns.push(at);
            table.packets.push(b.packets.max(0) as u64);
            table.bytes.push(b.bytes.max(0) as u64);
            table.marks.push(b.marks + self.marks.partition_point(|m| *m <= at) as u64);
        }
        let marked = self.marks.partition_point(|m| *m < end);
        b.marks += marked as u64;
        self.marks.drain(..marked);
        self.series.queues.then(|| table.into_table(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_trace::ColumnData;
    use dumbbell_units::random::Stream;
    use std::collections::{BTreeMap, VecDeque};

    const ALL: SeriesPlan = SeriesPlan { flows: false, queues: true, departures: true, drops: true };

    fn append(all: &mut BTreeMap<String, Table>, table: Table) {
        let Some(before) = all.get_mut(&table.name) else {
            all.insert(table.name.clone(), table);
            return;
        };
        for (to, from) in before.columns.iter_mut().zip(table.columns) {
            match (&mut to.data, from.data) {
                (ColumnData::U64(to), ColumnData::U64(from)) => to.extend(from),
                (ColumnData::U32(to), ColumnData::U32(from)) => to.extend(from),
                (ColumnData::U8(to), ColumnData::U8(from)) => to.extend(from),
                other => panic!("{other:?}"),
            }
        }
    }

    /// A queue of random arrivals, departures, drops and marks, several of them at one instant.
    fn series(interval: u64, least: usize) -> (BTreeMap<String, Table>, usize) {
        let mut random = Stream::new(5, "link series");
        let mut series = LinkSeries::new(ALL, interval);
        let mut queue = VecDeque::new();
        let (mut now, mut all, mut parts) = (0, BTreeMap::new(), 0);
        for _ in 0..20_000 {
            now += random.next_u64() % 3;
            let bytes = 40 + (random.next_u64() % 1400) as u32;
            if random.next_u64() % 100 < 52 {
                queue.push_back((now, bytes));
                continue;
            }
            while let Some((since, bytes)) = queue.pop_front() {
                if !random.next_u64().is_multiple_of(20) {
                    series.departed([since, now, now + 7], 2, bytes, bytes.is_multiple_of(9));
                    break;
                }
                series.dropped(since, 2, bytes);
            }
            let complete = queue.front().map_or(now, |(since, _)| now.min(*since));
            if series.is_due(least) {
                series.drain("l", least, complete, &mut |table| {
                    parts += 1;
                    append(&mut all, table);
                });
            }
        }
        series.tables("l").into_iter().for_each(|table| append(&mut all, table));
        (all, parts)
    }

    #[test]
    fn rows_in_parts_are_those_of_a_table_that_is_made_at_the_end() {
        for interval in [0, 50] {
            let (whole, none) = series(interval, usize::MAX);
            let (parts, many) = series(interval, 10_000);
            assert_eq!((none, whole.len()), (0, 3));
            assert!(many > 30, "{many}");
            assert_eq!(parts, whole);
            assert!(whole["departures/l"].rows() > 8000 && whole["drops/l"].rows() > 300);
        }
    }

    #[test]
    fn a_packet_that_stays_in_the_queue_keeps_later_rows() {
        let mut series = LinkSeries::new(ALL, 0);
        (0..100).for_each(|n| series.departed([n, n + 1, n + 2], 0, 100, false));
        let mut rows = Vec::new();
        series.drain("l", 1000, 40, &mut |table| rows.push((table.name.clone(), table.rows())));
        // Arrivals at 0 to 39, departures at 1 to 39.
        assert_eq!(rows, [("departures/l".to_owned(), 100), ("queue/l".to_owned(), 79)]);
        assert!(!series.is_due(1000), "nothing new");
        (100..300).for_each(|n| series.departed([n, n + 1, n + 2], 0, 100, false));
        assert!(series.is_due(1000));
    }
}
