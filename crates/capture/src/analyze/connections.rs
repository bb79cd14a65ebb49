//! The second stage of the analysis: the state of each connection, its labels and statistics, and the series.
//!
//! Memory is bounded by three limits of the options. Open connections: the tracker evicts one (see
//! [`track`](crate::tcp::track)). Listed connections: those with the fewest bytes are only counted. Rows of series: the
//! intervals double.

use std::net::IpAddr;

use super::options::Options;
use super::packets::{Chunk, Packets};
use crate::flow::classify::{Guess, classify};
use crate::flow::rounds::{Phase, Round};
use crate::flow::side::Side;
use crate::flow::{Connection, Ending, SegmentAnalysis};
use crate::series::{Interval, Series, Ticks};
use crate::tcp::history::Data;
use crate::tcp::label::Rules;
use crate::tcp::segment::Segment;
use crate::tcp::track::Placed;

/// A frame, as the dispatcher passes it on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A segment, or one that an ICMP error quotes. `ends` has the endpoints if the segment begins a connection.
    Tcp { placed: Placed, segment: Segment, ends: Option<[(IpAddr, u16); 2]> },
    /// Any other frame.
    Other { time: i64, len: u32 },
}

/// The result of a connection that has ended, or was open at the end of the capture.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionRecord {
    pub(crate) number: u64,
    pub(crate) first_frame: u64,
    pub(crate) ends: [(IpAddr, u16); 2],
    pub(crate) ending: Ending,
    pub(crate) sides: [Box<Side>; 2],
    pub(crate) series: [Vec<Interval>; 2],
    pub(crate) doublings: u8,
    pub(crate) opener: Option<u8>,
    pub(crate) handshake: Option<i64>,
    pub(crate) syn_rtt: Option<i64>,
    pub(crate) ack_rtt: Option<i64>,
    pub(crate) initial_rtt: i64,
    pub(crate) round_trip: Option<i64>,
    pub(crate) vantage: [Option<f64>; 2],
    pub(crate) phases: [Vec<Phase>; 2],
    /// The probable congestion control of each direction that has enough rounds.
    pub(crate) guesses: [Option<Guess>; 2],
    /// The rounds on which the guesses are based.
    pub(crate) rounds: [Vec<Round>; 2],
}

impl ConnectionRecord {
    pub(crate) fn bytes(&self) -> u64 {
        self.sides.iter().map(|s| s.bytes).sum()
    }
}

/// Totals of the connections beyond the limit of listed ones.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unlisted {
    pub(crate) connections: u64,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

struct Open {
    connection: Connection,
    ends: [(IpAddr, u16); 2],
    series: [Series; 2],
}

/// Fewest rounds of a transfer that is classified.
const FEW_ROUNDS: usize = 20;
/// Longest payload that can be an MSS; longer ones are super-packets.
const MOST_MSS: u32 = 9_000;

/// Most rounds kept of all connections together. Later rounds only contribute to phases.
const MOST_ROUNDS: usize = 500_000;

/// The state of all connections, and the results so far.
pub(crate) struct Connections {
    rules: Rules,
    open: Vec<Option<Box<Open>>>,
    pub(crate) records: Vec<ConnectionRecord>,
    pub(crate) unlisted: Unlisted,
    pub(crate) ticks: Ticks,
    pub(crate) total: Series,
    rows: usize,
    /// Number of rounds that are kept.
    rounds: usize,
    max_rows: usize,
    max_flows: usize,
    /// The intervals were doubled to limit memory.
    pub(crate) doubled: bool,
    packets: Option<Packets>,
}

impl Connections {
    pub(crate) fn new(options: &Options, packets: Option<Packets>) -> Self {
        Self {
            rules: options.rules,
            open: Vec::new(),
            records: Vec::new(),
            unlisted: Unlisted::default(),
            ticks: Ticks::new(options.interval),
            total: Series::default(),
            rows: 0,
            rounds: 0,
            max_rows: options.max_rows.max(1000),
            max_flows: options.max_flows.max(1),
            doubled: false,
            packets,
        }
    }

    /// Processes the next frame.
    #[inline]
    pub(crate) fn event(&mut self, event: &Event) {
        match event {
            Event::Other { time, len } => {
                self.count(*time, *len);
            }
            Event::Tcp { placed, segment, ends } => {
                let at = self.count(segment.time, segment.frame_len);
                self.segment(placed, segment, *ends, at);
            }
        }
    }

    #[inline]
    fn count(&mut self, time: i64, len: u32) -> u64 {
        self.ticks.start(time);
        let at = self.ticks.at(time);
        let row = self.total.at(at, self.ticks.doublings).0;
        row.packets += 1;
        row.bytes += u64::from(len);
        at
    }

    #[inline]
    fn segment(&mut self, placed: &Placed, s: &Segment, ends: Option<[(IpAddr, u16); 2]>, at: u64) {
        let slot = placed.slot as usize;
        if placed.fresh
            && let Some(ends) = ends
        {
            self.begin(placed, s, ends);
        }
        let Some(Some(open)) = self.open.get_mut(slot) else { return };
        let c = &mut open.connection;
        c.keep_rounds = self.rounds < MOST_ROUNDS;
        let rounds = c.rounds[0].rounds.len() + c.rounds[1].rounds.len();
        let seen = c.segment(placed, s, self.rules);
        self.rounds += c.rounds[0].rounds.len() + c.rounds[1].rounds.len() - rounds;
        if !s.quoted {
            let d = usize::from(placed.direction);
            let added = open.record(d, s, &seen, at, self.ticks.doublings);
            self.rows += added;
            if self.rows > self.max_rows {
                self.double_intervals();
            }
        }
        if let Some(packets) = &mut self.packets {
            let bases = if let Some(Some(open)) = self.open.get(slot) {
                open.connection.wire.flows.each_ref().map(|side| side.base_seq)
            } else {
                [0; 2]
            };
            packets.add(placed, s, &seen, bases, self.ticks.origin());
        }
    }

    #[cold]
    fn begin(&mut self, placed: &Placed, s: &Segment, ends: [(IpAddr, u16); 2]) {
        let slot = placed.slot as usize;
        if slot >= self.open.len() {
            self.open.resize_with(slot + 1, || None);
        }
        let open =
            Open { connection: Connection::new(placed.stream, s.number), ends, series: Default::default() };
        if let Some(old) = self.open[slot].replace(Box::new(open)) {
            let ending = if placed.evicted {
                Ending::Evicted
            } else {
                match old.connection.ending() {
                    Ending::Open | Ending::HalfClosed if placed.reused => Ending::Replaced,
                    ending => ending,
                }
            };
            self.finish_connection(*old, ending);
        }
    }

    fn finish_connection(&mut self, open: Open, ending: Ending) {
        let Open { connection: mut c, ends, series } = open;
        for d in 0..2 {
            let last = c.sides[0].last.max(c.sides[1].last);
            c.sides[d].close_limit(last);
            let keep = c.keep_rounds;
            c.rounds[d].finish(last, &mut c.sides[d], keep);
            if c.rounds[d].rounds.len() < FEW_ROUNDS {
                self.rounds = self.rounds.saturating_sub(c.rounds[d].rounds.len());
                c.rounds[d].rounds = Vec::new();
            }
        }
        let rows = series.iter().map(Series::len).sum::<usize>();
        let doublings = self.ticks.doublings;
        let series = series.map(|s| s.finish(doublings));
        self.rows = (self.rows + series.iter().map(Vec::len).sum::<usize>()).saturating_sub(rows);
        self.records.push(ConnectionRecord {
            number: c.number,
            first_frame: c.first_frame,
            ends,
            ending,
            series,
            doublings,
            opener: c.opener,
            handshake: c.syn.zip(c.handshake_end).map(|(a, b)| b - a),
            syn_rtt: c.syn.zip(c.syn_ack).map(|(a, b)| b - a),
            ack_rtt: c.syn_ack.zip(c.handshake_end).map(|(a, b)| b - a),
            initial_rtt: c.wire.initial_rtt,
            round_trip: c.round_trip(),
            vantage: [c.vantage(0), c.vantage(1)],
            guesses: [0, 1].map(|d| {
                let rounds = &c.rounds[d].rounds;
                let at_sender = c.vantage(d).is_none_or(|v| v < 0.5);
                (rounds.len() >= FEW_ROUNDS)
                    .then(|| classify(rounds, c.sides[d].payload_max.min(MOST_MSS), at_sender))
            }),
            rounds: c.rounds.each_mut().map(|r| std::mem::take(&mut r.rounds)),
            phases: c.rounds.map(|r| r.phases),
            sides: c.sides,
        });
        if self.records.len() >= 2 * self.max_flows {
            self.fold();
        }
    }

    /// Keeps the connections with the most bytes and counts the others.
    #[cold]
    fn fold(&mut self) {
        if self.records.len() <= self.max_flows {
            return;
        }
        self.records.sort_by_key(|t| (std::cmp::Reverse(t.bytes()), t.number));
        for t in self.records.drain(self.max_flows..) {
            self.unlisted.connections += 1;
            self.unlisted.packets += t.sides.iter().map(|s| s.packets).sum::<u64>();
            self.unlisted.bytes += t.bytes();
            self.rounds = self.rounds.saturating_sub(t.rounds.iter().map(Vec::len).sum());
            self.rows = self.rows.saturating_sub(t.series.iter().map(Vec::len).sum());
        }
    }

    /// Doubles the intervals until the rows are within half of their limit.
    #[cold]
    fn double_intervals(&mut self) {
        while self.rows > self.max_rows / 2 && self.ticks.doublings < 40 {
            self.doubled = true;
            self.ticks.double();
            let doublings = self.ticks.doublings;
            self.rows = 0;
            for open in self.open.iter_mut().flatten() {
                for series in &mut open.series {
                    series.coarsen(doublings);
                    self.rows += series.len();
                }
            }
            for records in &mut self.records {
                records.coarsen(doublings);
                self.rows += records.series.iter().map(Vec::len).sum::<usize>();
            }
            if self.rows > self.max_rows && self.rows <= 2 * (self.open.len() + self.records.len()) {
                break; // one row for each direction: longer intervals save nothing
            }
        }
    }

    /// Ends all connections. Returns the last chunk of packet rows.
    pub(crate) fn finish(&mut self) -> Option<Chunk> {
        for open in std::mem::take(&mut self.open).into_iter().flatten() {
            let ending = open.connection.ending();
            self.finish_connection(*open, ending);
        }
        self.fold();
        self.records.sort_by_key(|t| t.number);
        let doublings = self.ticks.doublings;
        for records in &mut self.records {
            records.coarsen(doublings);
        }
        self.packets.as_mut().map(Packets::finish)
    }

    /// Returns a chunk of packet rows if one is full.
    #[inline]
    pub(crate) fn full_chunk(&mut self) -> Option<Chunk> {
        self.packets.as_mut().and_then(Packets::full)
    }
}

impl ConnectionRecord {
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

impl Open {
    /// Counts a segment in the series. Returns the number of new rows.
    #[inline]
    fn record(&mut self, d: usize, s: &Segment, seen: &SegmentAnalysis, at: u64, doublings: u8) -> usize {
        let history = &self.connection.history;
        let bases = self.connection.wire.flows.each_ref().map(|side| side.base_seq);
        let (row, added) = self.series[d].at(at, doublings);
        let len = s.len.unwrap_or(0);
        row.packets += 1;
        row.bytes += u64::from(s.frame_len);
        row.label(seen.verdict.labels);
        row.window = Some(seen.window);
        if len > 0 {
            row.data_packets += 1;
            row.payload_bytes += u64::from(len);
            row.new_bytes += u64::from(seen.new_bytes);
            row.retransmitted += u32::from(matches!(seen.data, Some(Data::Retransmission { .. })));
            row.seq_high = self.connection.sides[d].unwrap(history[d].high, bases[d]).max(0) as u64;
            if seen.verdict.bytes_in_flight > 0 {
                row.flight(seen.verdict.bytes_in_flight);
            }
        }
        let records = &seen.acked;
        if records.bytes > 0 || seen.rtt.is_some() || !s.options.sack.as_slice().is_empty() {
            let (other, new) = self.series[1 - d].at(at, doublings);
            other.acked_bytes += u64::from(records.bytes);
            if let Some(una) = history[1 - d].una {
                let una = self.connection.sides[1 - d].unwrap(una, bases[1 - d]);
                other.ack_high = other.ack_high.max(una.max(0) as u64);
            }
            if let Some(rtt) = seen.rtt {
                other.rtt(rtt as u64);
            }
            for b in s.options.sack.as_slice() {
                let right = self.connection.sides[1 - d].unwrap(b.right.0, bases[1 - d]);
                other.sack_high = other.sack_high.max(right.max(0) as u64);
            }
            return usize::from(added) + usize::from(new);
        }
        usize::from(added)
    }
}
