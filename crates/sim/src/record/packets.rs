//! The packet table: a row for each packet that is sent, received or dropped, in the order of time. At one instant
//! packets are received, then sent, then dropped, by flow.
//!
//! Hosts and links run ahead of the clock, and links run late (see [`crate::network`]), so that rows come in another
//! order. A row waits until the clock shows that none can come before it. Rows are sorted and written to the columns in
//! batches that fit into the processor's cache: sorting the whole table at the end costs several times as much.

use dumbbell_trace::Table;
use dumbbell_trace::tables::PacketTable;
use dumbbell_units::flow_number::direction_of;
use dumbbell_units::{Dur, Time};

/// Rows after which the first batch is written.
const BATCH: usize = 4096;
/// In a key: bits of the row's index, below the flow.
const INDEX_BITS: u32 = 30;
/// The columns grow at most by this factor at a time.
const GROWTH: usize = 8;

/// The event of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum PacketEvent {
    Sent = 0,
    Received = 1,
    Dropped = 2,
}

/// The values of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketRow {
    pub(crate) at: Time,
    pub(crate) event: PacketEvent,
    pub(crate) flow: u32,
    pub(crate) connection: u32,
    pub(crate) number: u64,
    pub(crate) payload: u32,
    pub(crate) bytes: u32,
    pub(crate) retransmission: bool,
}

impl PacketRow {
    /// Returns the row's place in the table, with its index among the waiting rows in the lowest bits.
    fn key(&self, index: usize) -> u128 {
        let place = match self.event {
            PacketEvent::Received => 0,
            PacketEvent::Sent => 1,
            PacketEvent::Dropped => 2,
        };
        let flow = u128::from(direction_of(self.flow)) << INDEX_BITS;
        u128::from(self.at.0) << 64 | place << 62 | flow | index as u128
    }
}

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct PacketRecorder {
    table: PacketTable,
    /// The time from which on the table has rows, and the end of the run.
    since: Time,
    end: Time,
    waiting: Vec<PacketRow>,
    /// The keys of the waiting rows: those that have waited for the last batch in order, then the others.
    keys: Vec<u128>,
    /// The memory for the rows that wait for the next batch.
    kept: Vec<PacketRow>,
    /// True if a waiting row is a drop.
    has_drops: bool,
    /// Number of waiting rows after which a batch is written.
    batch: usize,
    /// How far links may be behind the clock.
    lag: Dur,
}

impl PacketRecorder {
    pub(crate) fn new(lag: Dur, end: Time) -> PacketRecorder {
        PacketRecorder {
            table: PacketTable::default(),
            since: Time::ZERO,
            end,
            waiting: Vec::new(),
            keys: Vec::new(),
            kept: Vec::new(),
            has_drops: false,
            batch: BATCH,
            lag,
        }
    }

    /// Adds a row; `clock` is the time of the event in progress.
    pub(crate) fn row(&mut self, row: PacketRow, clock: Time) {
        if self.waiting.len() >= self.batch {
            self.write_before(Time(clock.0.saturating_sub(self.lag.0)));
            self.batch = BATCH.max(2 * self.waiting.len());
        }
        self.keys.push(row.key(self.waiting.len()));
        self.has_drops |= row.event == PacketEvent::Dropped;
        self.waiting.push(row);
    }

    /// Writes the waiting rows before `end` to the columns.
    fn write_before(&mut self, end: Time) {
        self.keys.sort(); // the stable sort uses the ascending runs, of which a batch has many
        let due = self.keys.partition_point(|key| *key < u128::from(end.0) << 64);
        if self.has_drops {
            self.order_drops(due);
        }
        self.make_room(due, end);
        self.write(due);
        self.keep_from(due);
    }

    /// Keeps the waiting rows from the key number `due` on, in their order.
    fn keep_from(&mut self, due: usize) {
        self.keys.drain(..due);
        self.kept.clear();
        self.kept.extend(self.keys.iter().map(|key| self.waiting[index_of(*key)]));
        std::mem::swap(&mut self.waiting, &mut self.kept);
        self.has_drops = self.waiting.iter().any(|row| row.event == PacketEvent::Dropped);
        for (index, key) in (0..).zip(&mut self.keys) {
            *key = *key >> INDEX_BITS << INDEX_BITS | index;
        }
    }

    /// Makes room for `due` rows, those before `now`, and for those that are expected after them: growth may copy the
    /// columns, and memory that is not used yet costs nothing.
    fn make_room(&mut self, due: usize, now: Time) {
        let rows = self.table.rows() + due;
        if rows > self.table.t_ns.capacity() {
            let share = self.end.since(now).0 as f64 / now.since(self.since).0 as f64;
            let expected = (rows as f64 * share) as usize;
            self.table.reserve(due + expected.min((GROWTH - 1) * rows));
        }
    }

    /// Writes the rows of the first `due` keys. One loop for all columns costs half as much as one for each.
    fn write(&mut self, due: usize) {
        let (first, table) = (self.table.rows(), &mut self.table);
        table.resize(first + due);
        let columns = table.t_ns[first..]
            .iter_mut()
            .zip(&mut table.event[first..])
            .zip(&mut table.flow[first..])
            .zip(&mut table.connection[first..])
            .zip(&mut table.number[first..])
            .zip(&mut table.payload[first..])
            .zip(&mut table.bytes[first..])
            .zip(&mut table.retransmission[first..]);
        for (key, columns) in self.keys.iter().zip(columns) {
            let (((((((t_ns, event), flow), connection), number), payload), bytes), retransmission) = columns;
            let row = &self.waiting[index_of(*key)];
            *t_ns = row.at.0;
            *event = row.event as u8;
            *flow = direction_of(row.flow);
            *connection = row.connection;
            *number = row.number;
            *payload = row.payload;
            *bytes = row.bytes;
            *retransmission = u8::from(row.retransmission);
        }
    }

    /// Puts the drops of a flow at one instant, among the first `due` rows, in an order that doesn't depend on when the
    /// links processed them.
    fn order_drops(&mut self, due: usize) {
        let row = |key: &u128| &self.waiting[index_of(*key)];
        for drops in self.keys[..due].chunk_by_mut(|a, b| a >> INDEX_BITS == b >> INDEX_BITS) {
            if drops.len() > 1 && row(&drops[0]).event == PacketEvent::Dropped {
                drops.sort_by_key(|key| {
                    let row = row(key);
                    (row.connection, row.number, row.retransmission)
                });
            }
        }
    }

    /// Passes on the rows that have been written, if they are at least so many.
    pub(crate) fn drain(&mut self, least: usize, sink: &mut dyn FnMut(Table)) {
        if self.table.rows() >= least {
            self.since = self.table.t_ns.last().map_or(Time::ZERO, |t| Time(*t));
            sink(named(std::mem::take(&mut self.table)));
        }
    }

    /// Returns the table.
    pub(crate) fn finish(mut self) -> Table {
        self.write_before(Time::NEVER);
        named(self.table)
    }
}

/// The index of a key's row among the waiting ones.
fn index_of(key: u128) -> usize {
    key as usize & ((1 << INDEX_BITS) - 1)
}

fn named(table: PacketTable) -> Table {
    table.append_to(Table::new("packets"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_trace::ColumnData;
    use dumbbell_units::random::Stream;

    /// Rows up to 500 ns around the clock: those of the table are in the order of time, place and flow, and equal ones
    /// in the order in which they were added.
    #[test]
    fn batches_give_the_same_table_as_one_sort() {
        let mut random = Stream::new(4, "packets");
        let mut recorder = PacketRecorder::new(Dur(500), Time(10_000));
        let mut all = Vec::new();
        for number in 0..30_000 {
            let clock = number / 3;
            let event = [PacketEvent::Sent, PacketEvent::Received, PacketEvent::Dropped];
            let row = PacketRow {
                at: Time((clock + random.next_u64() % 1000).saturating_sub(500)),
                event: event[(random.next_u64() % 3) as usize],
                flow: (random.next_u64() % 4) as u32,
                connection: (random.next_u64() % 2) as u32,
                number: if number % 2 == 0 { number } else { random.next_u64() % 9 },
                payload: 0,
                bytes: 0,
                retransmission: false,
            };
            recorder.row(row, Time(clock));
            all.push(row);
        }
        assert!(recorder.table.t_ns.len() > 20_000, "batches are written while rows come");
        let of_drop = |row: &PacketRow| (row.event == PacketEvent::Dropped).then_some((row.connection, row.number));
        let place = |row: &PacketRow| [1, 0, 2][row.event as usize];
        all.sort_by_key(|row| (row.at, place(row), row.flow, of_drop(row)));
        let table = recorder.finish();
        let numbers = ColumnData::U64(all.iter().map(|row| row.number).collect());
        assert_eq!(table.column("number"), Some(&numbers));
        assert_eq!(table.column("t_ns"), Some(&ColumnData::U64(all.iter().map(|row| row.at.0).collect())));
    }
}
