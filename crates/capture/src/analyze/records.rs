//! The results of the connections that have ended, or were open at the end of the capture: packed, in the order of
//! their numbers. Tables are made from them page by page.

use std::net::IpAddr;

use crate::flow::Ending;
use crate::flow::classify::Guess;
use crate::flow::rounds::{Phase, Round};
use crate::flow::side::Side;
use crate::pack::{Packer, fields, unpack};
use crate::series::{Interval, Series};

/// The result of a connection without its series and phases.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionRecord {
    pub(crate) number: u64,
    pub(crate) first_frame: u64,
    pub(crate) ends: [(IpAddr, u16); 2],
    pub(crate) ending: Ending,
    pub(crate) sides: [Box<Side>; 2],
    pub(crate) opener: Option<u8>,
    pub(crate) handshake: Option<i64>,
    pub(crate) syn_rtt: Option<i64>,
    pub(crate) ack_rtt: Option<i64>,
    pub(crate) initial_rtt: i64,
    pub(crate) round_trip: Option<i64>,
    pub(crate) vantage: [Option<f64>; 2],
}

fields!(ConnectionRecord {
    number,
    first_frame,
    ends,
    ending,
    sides,
    opener,
    handshake,
    syn_rtt,
    ack_rtt,
    initial_rtt,
    round_trip,
    vantage,
});

impl ConnectionRecord {
    pub(crate) fn bytes(&self) -> u64 {
        self.sides.iter().map(|s| s.bytes).sum()
    }
}

/// The course of a connection over time.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    pub(crate) number: u64,
    pub(crate) series: [Vec<Interval>; 2],
    pub(crate) doublings: u8,
    pub(crate) phases: [Vec<Phase>; 2],
    /// The probable congestion control of each direction that has enough rounds.
    pub(crate) guesses: [Option<Guess>; 2],
    /// The rounds on which the guesses are based.
    pub(crate) rounds: [Vec<Round>; 2],
}

fields!(Course { number, series, doublings, phases, guesses, rounds });

impl Course {
    pub(super) fn excess(&self) -> usize {
        self.series.iter().map(|rows| rows.len().saturating_sub(1)).sum()
    }

    fn coarsen(&mut self, doublings: u8) {
        if self.doublings == doublings {
            return;
        }
        let by = doublings - self.doublings;
        self.doublings = doublings;
        for series in &mut self.series {
            *series = Series::from_rows(std::mem::take(series)).finish(by);
        }
    }
}

/// A packed record and what chooses among records.
struct Packed {
    number: u64,
    bytes: u64,
    /// Payload of the direction that has more.
    payload: u64,
    packets: u64,
    excess: u32,
    rounds: u32,
    classified: bool,
    /// The record, and behind it the course.
    both: Box<[u8]>,
    /// Length of the record.
    len: u32,
}

impl Packed {
    fn record(&self) -> ConnectionRecord {
        unpack(&self.both[..self.len as usize])
    }

    fn course(&self) -> Course {
        unpack(&self.both[self.len as usize..])
    }
}

/// Totals of connections.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unlisted {
    pub(crate) connections: u64,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    /// Rows of series and rounds, which are no longer in memory.
    pub(super) excess: usize,
    pub(super) rounds: usize,
}

/// All records.
#[derive(Default)]
pub(crate) struct Records {
    all: Vec<Packed>,
    packer: Packer,
    doublings: u8,
}

impl Records {
    pub(super) fn push(&mut self, record: &ConnectionRecord, course: &Course) {
        let (both, len) = self.packer.pack_both(record, course);
        self.all.push(Packed {
            number: record.number,
            bytes: record.bytes(),
            payload: record.sides.iter().map(|s| s.payload_bytes).max().unwrap_or(0),
            packets: record.sides.iter().map(|s| s.packets).sum(),
            excess: course.excess() as u32,
            rounds: course.rounds.iter().map(Vec::len).sum::<usize>() as u32,
            classified: course.guesses.iter().any(Option::is_some),
            both,
            len,
        });
    }

    /// Makes room for so many more records.
    pub(super) fn reserve(&mut self, more: usize) {
        self.all.reserve_exact(more);
    }

    /// Number of connections.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Keeps the `most` connections with the most bytes. Returns totals of the others.
    #[cold]
    pub(super) fn fold(&mut self, most: usize) -> Unlisted {
        let mut gone = Unlisted::default();
        if self.all.len() <= most {
            return gone;
        }
        self.all.sort_by_key(|t| (std::cmp::Reverse(t.bytes), t.number));
        for t in self.all.drain(most..) {
            gone.connections += 1;
            gone.packets += t.packets;
            gone.bytes += t.bytes;
            gone.excess += t.excess as usize;
            gone.rounds += t.rounds as usize;
        }
        gone
    }

    /// Lengthens the intervals of all series. Returns the rows beyond one for each direction.
    pub(super) fn coarsen(&mut self, doublings: u8) -> usize {
        let mut excess = 0;
        for packed in self.all.iter_mut().filter(|packed| packed.excess > 0) {
            let mut course = packed.course();
            course.coarsen(doublings);
            packed.excess = course.excess() as u32;
            (packed.both, packed.len) = self.packer.pack_both(&packed.record(), &course);
            excess += packed.excess as usize;
        }
        excess
    }

    /// The series of each `every`-th connection with more than one row for a direction.
    pub(super) fn sample(&self, every: usize) -> impl Iterator<Item = [Series; 2]> {
        self.all.iter().step_by(every).filter(|packed| packed.excess > 0).map(|packed| {
            let course = packed.course();
            course.series.map(|rows| Series::from_rows_at(rows, course.doublings))
        })
    }

    /// Sorts by number; the intervals have doubled this many times.
    pub(super) fn finish(&mut self, doublings: u8) {
        self.all.sort_by_key(|t| t.number);
        self.all.shrink_to_fit();
        self.doublings = doublings;
    }

    /// The numbers of all connections, in order.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.all.iter().map(|t| t.number).collect()
    }

    /// The numbers of the connections with a guess of their congestion control.
    pub(crate) fn classified(&self) -> Vec<u64> {
        self.all.iter().filter(|t| t.classified).map(|t| t.number).collect()
    }

    fn of<'a>(&'a self, numbers: &[u64]) -> impl Iterator<Item = &'a Packed> {
        numbers.iter().filter_map(|n| Some(&self.all[self.all.binary_search_by_key(n, |t| t.number).ok()?]))
    }

    /// The records of these connections; unknown ones are left out.
    pub(crate) fn records(&self, numbers: &[u64]) -> Vec<ConnectionRecord> {
        self.of(numbers).map(Packed::record).collect()
    }

    /// Likewise their courses.
    pub(crate) fn courses(&self, numbers: &[u64]) -> Vec<Course> {
        self.of(numbers).map(|packed| self.course(packed)).collect()
    }

    /// Likewise the courses of those with a guess of their congestion control.
    pub(crate) fn classified_courses(&self, numbers: &[u64]) -> Vec<Course> {
        self.of(numbers).filter(|packed| packed.classified).map(|packed| self.course(packed)).collect()
    }

    fn course(&self, packed: &Packed) -> Course {
        let mut course = packed.course();
        course.coarsen(self.doublings);
        course
    }

    /// Numbers of the connections whose larger direction carried the most payload, the largest first.
    pub(crate) fn largest(&self, most: usize) -> Vec<u64> {
        let mut with: Vec<&Packed> = self.all.iter().filter(|t| t.payload > 0).collect();
        let key = |t: &&Packed| (std::cmp::Reverse(t.payload), t.number);
        if most > 0 && most < with.len() {
            with.select_nth_unstable_by_key(most - 1, key);
        }
        with.truncate(most);
        with.sort_unstable_by_key(key);
        with.iter().map(|t| t.number).collect()
    }
}
