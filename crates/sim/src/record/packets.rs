//! The packet table: a row for each packet that is sent, received or dropped, in the order of time. At one instant packets are
//! received, then sent, then dropped, by flow.
//!
//! Hosts and links run ahead of the clock, and links run late (see [`crate::network`]), so that rows come in another order. A row
//! waits until the clock shows that none can come before it. Rows are sorted and written to the columns in batches that
//! fit into the processor's cache: sorting the whole table at the end costs several times as much. Until then the rows of
//! each event and direction wait in a list of their own. Most of these lists are in order, and merging a few is faster than
//! sorting.

use dumbbell_trace::Table;
use dumbbell_trace::tables::PacketTable;
use dumbbell_units::flow_number::direction_of;
use dumbbell_units::{Dur, Time};

/// Rows after which the first batch is written.
const BATCH: usize = 4096;
/// Lists of waiting rows: one for each event and direction.
const LISTS: usize = 6;
/// In a key: bits of the row's place in its list, below the number of the list.
const PLACE_BITS: u32 = 27;
/// In a key: bits of the row's list and place, below the flow.
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
    /// The number of its list.
    fn list(&self) -> usize {
        2 * self.event as usize + self.flow as usize % 2
    }

    /// Returns the row's place in the table, with its list and its place there in the lowest bits.
    fn key(&self, list: usize, place: usize) -> u128 {
        let event = match self.event {
            PacketEvent::Received => 0,
            PacketEvent::Sent => 1,
            PacketEvent::Dropped => 2,
        };
        let flow = u64::from(direction_of(self.flow)) << INDEX_BITS;
        let rest = event << 62 | flow | (list << PLACE_BITS | place) as u64;
        u128::from(self.at.0) << 64 | u128::from(rest)
    }
}

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct PacketRecorder {
    table: PacketTable,
    /// The time from which on the table has rows, and the end of the run.
    since: Time,
    end: Time,
    lists: [Vec<PacketRow>; LISTS],
    waiting: usize,
    /// Number of waiting rows after which a batch is written.
    batch: usize,
    /// How far links may be behind the clock.
    lag: Dur,
    keys: Vec<u128>,
    /// The rows of a batch in the order of the table: each column is then one pass over them.
    sorted: Vec<PacketRow>,
}

impl PacketRecorder {
    pub(crate) fn new(lag: Dur, end: Time) -> PacketRecorder {
        PacketRecorder {
            table: PacketTable::default(),
            since: Time::ZERO,
            end,
            lists: Default::default(),
            waiting: 0,
            batch: BATCH,
            lag,
            keys: Vec::new(),
            sorted: Vec::new(),
        }
    }

    /// Adds a row; `clock` is the time of the event in progress.
    pub(crate) fn row(&mut self, row: PacketRow, clock: Time) {
        if self.waiting >= self.batch {
            self.write_before(Time(clock.0.saturating_sub(self.lag.0)));
            self.batch = BATCH.max(2 * self.waiting);
        }
        self.waiting += 1;
        self.lists[row.list()].push(row);
    }

    /// Writes the waiting rows before `end` to the columns.
    fn write_before(&mut self, end: Time) {
        self.keys.clear();
        for (list, rows) in self.lists.iter().enumerate() {
            let due = rows.iter().enumerate().filter(|(_, row)| row.at < end);
            self.keys.extend(due.map(|(place, row)| row.key(list, place)));
        }
        self.keys.sort(); // the stable sort merges ascending runs, such as most lists
        self.order_drops();
        self.sorted.clear();
        self.sorted.extend(self.keys.iter().map(|key| *row_of(&self.lists, *key)));
        self.make_room(end);
        let (rows, table) = (self.sorted.iter(), &mut self.table);
        table.t_ns.extend(rows.clone().map(|row| row.at.0));
        table.event.extend(rows.clone().map(|row| row.event as u8));
        table.flow.extend(rows.clone().map(|row| direction_of(row.flow)));
        table.connection.extend(rows.clone().map(|row| row.connection));
        table.number.extend(rows.clone().map(|row| row.number));
        table.payload.extend(rows.clone().map(|row| row.payload));
        table.bytes.extend(rows.clone().map(|row| row.bytes));
        table.retransmission.extend(rows.map(|row| u8::from(row.retransmission)));
        self.lists.iter_mut().for_each(|rows| rows.retain(|row| row.at >= end));
        self.waiting = self.lists.iter().map(Vec::len).sum();
    }

    /// Makes room for the rows before `now`, and for those that are expected after them: growth may copy the columns, and
    /// memory that is not used yet costs nothing.
    fn make_room(&mut self, now: Time) {
        let rows = self.table.rows() + self.sorted.len();
        if rows > self.table.t_ns.capacity() {
            let share = self.end.since(now).0 as f64 / now.since(self.since).0 as f64;
            let expected = (rows as f64 * share) as usize;
            self.table.reserve(self.sorted.len() + expected.min((GROWTH - 1) * rows));
        }
    }

    /// Puts the drops of a flow at one instant in an order that doesn't depend on when the links processed them.
    fn order_drops(&mut self) {
        if self.lists[2 * PacketEvent::Dropped as usize..].iter().all(Vec::is_empty) {
            return;
        }
        for drops in self.keys.chunk_by_mut(|a, b| a >> INDEX_BITS == b >> INDEX_BITS) {
            if drops.len() > 1 && row_of(&self.lists, drops[0]).event == PacketEvent::Dropped {
                drops.sort_by_key(|key| {
                    let row = row_of(&self.lists, *key);
                    (row.connection, row.number, row.retransmission)
                });
            }
        }
    }

    /// Passes on the rows that have been written, if they are at least so many.
    pub(crate) fn drain(&mut self, least: usize, sink: &mut dyn FnMut(Table)) {
        if self.table.rows() >= least {
            self.since = Time(self.table.t_ns.last().map_or(0, |t| *t));
            sink(named(std::mem::take(&mut self.table)));
        }
    }

    /// Returns the table.
    pub(crate) fn finish(mut self) -> Table {
        self.write_before(Time::NEVER);
        named(self.table)
    }
}

/// The waiting row with this key.
fn row_of(lists: &[Vec<PacketRow>; LISTS], key: u128) -> &PacketRow {
    let index = key as usize & ((1 << INDEX_BITS) - 1);
    &lists[index >> PLACE_BITS][index & ((1 << PLACE_BITS) - 1)]
}

fn named(table: PacketTable) -> Table {
    table.append_to(Table::new("packets"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_trace::ColumnData;
    use dumbbell_units::random::Stream;

    /// Rows up to 500 ns around the clock: those of the table are in the order of time, place and flow, and equal ones in
    /// the order in which they were added.
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
        let of_drop =
            |row: &PacketRow| (row.event == PacketEvent::Dropped).then_some((row.connection, row.number));
        let place = |row: &PacketRow| [1, 0, 2][row.event as usize];
        all.sort_by_key(|row| (row.at, place(row), row.flow, of_drop(row)));
        let table = recorder.finish();
        let numbers = ColumnData::U64(all.iter().map(|row| row.number).collect());
        assert_eq!(table.column("number"), Some(&numbers));
        assert_eq!(table.column("t_ns"), Some(&ColumnData::U64(all.iter().map(|row| row.at.0).collect())));
    }
}
