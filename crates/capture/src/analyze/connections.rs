//! The second stage of the analysis: the state of each connection, its labels and statistics, and the series.
//!
//! Memory is bounded by the limits of the options. Connections: idle ones are packed (see [`states`](super::states));
//! beyond the limit the tracker evicts one (see [`track`](crate::tcp::track)). Listed connections: those with the
//! fewest bytes are only counted. Rows of series beyond one for each direction: the intervals double.

use std::net::IpAddr;

use super::findings::Findings;
use super::live::Live;
use super::log::Log;
use super::options::Options;
use super::packets::{Chunk, Packets};
use super::records::{ConnectionRecord, Course, Records, Unlisted};
use super::states::{Open, States};
use crate::flow::classify::classify;
use crate::flow::side::Side;
use crate::flow::{Connection, Ending, SegmentAnalysis};
use crate::series::{Series, Ticks};
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

/// Fewest rounds of a transfer that is classified.
const FEW_ROUNDS: usize = 20;
/// Longest payload that can be an MSS; longer ones are super-packets.
const MOST_MSS: u32 = 9_000;

/// Bytes of the timestamp option with its padding, which the MSS option doesn't consider [RFC 6691 §2].
const TIMESTAMPS: u32 = 12;

/// The longest payload of a segment on the wire. `announced`: the receiver's MSS option.
fn mss(side: &Side, announced: Option<u16>) -> u32 {
    let options = if side.timestamps > 0 { TIMESTAMPS } else { 0 };
    let most = announced.map_or(MOST_MSS, |mss| u32::from(mss).saturating_sub(options).max(1));
    side.payload_max.min(most)
}

/// The number of doublings of the intervals is chosen by each 16th connection.
const SAMPLE: usize = 16;

/// Most rounds kept of all connections together. Later rounds only contribute to phases.
const MOST_ROUNDS: usize = 500_000;

/// The state of all connections, and the results so far.
pub(crate) struct Connections {
    rules: Rules,
    states: States,
    pub(crate) records: Records,
    pub(crate) unlisted: Unlisted,
    pub(crate) findings: Findings,
    pub(crate) ticks: Ticks,
    pub(crate) total: Series,
    /// Rows of all series beyond one for each direction.
    excess: usize,
    /// Number of rounds that are kept.
    rounds: usize,
    max_rows: usize,
    max_flows: usize,
    /// The intervals were doubled to limit memory.
    pub(crate) doubled: bool,
    packets: Option<Packets>,
    log: Option<Log>,
    live: Option<Live>,
}

impl Connections {
    pub(crate) fn new(options: &Options, packets: Option<Packets>) -> Self {
        Self {
            rules: options.rules,
            states: States::new(options.max_ready),
            records: Records::default(),
            unlisted: Unlisted::default(),
            findings: Findings::default(),
            ticks: Ticks::new(options.interval),
            total: Series::default(),
            excess: 0,
            rounds: 0,
            max_rows: options.max_rows.max(1000),
            max_flows: options.max_flows.max(1),
            doubled: false,
            packets,
            log: options.log.then(Log::default),
            live: options.live.then(Live::default),
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
        if self.log.is_some() || self.live.is_some() {
            self.follow(time);
        }
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
        let Some(open) = self.states.get(slot) else { return };
        let c = &mut open.connection;
        c.keep_rounds = self.rounds < MOST_ROUNDS;
        let rounds = c.rounds[0].rounds.len() + c.rounds[1].rounds.len();
        let was_closed = c.is_closed();
        let seen = c.segment(placed, s, self.rules);
        if let Some(log) = &mut self.log
            && !was_closed
            && c.is_closed()
        {
            log.closed(s.time, placed.slot, c.number);
        }
        self.rounds += c.rounds[0].rounds.len() + c.rounds[1].rounds.len() - rounds;
        if let Some(packets) = &mut self.packets {
            packets.add(placed, s, &seen, self.ticks.origin());
        }
        if s.quoted {
            return;
        }
        if let Some(live) = &mut self.live {
            live.segment(placed.stream, usize::from(placed.direction), open.ends, s, &seen);
        }
        self.excess += open.record(usize::from(placed.direction), s, &seen, at, self.ticks.doublings);
        if seen.verdict.labels.is_error() {
            self.total.at(at, self.ticks.doublings).0.errors += 1;
        }
        if self.excess > self.max_rows {
            self.double_intervals();
        }
    }

    /// Time passes: writes the connections that closed long enough ago to the log, and completes a second.
    #[cold]
    fn follow(&mut self, time: i64) {
        if let Some(live) = &mut self.live {
            live.time(time);
        }
        if let Some(log) = &mut self.log {
            while let Some((slot, number)) = log.due(time) {
                if let Some(open) = self.states.get(slot as usize)
                    && open.connection.number == number
                    && !std::mem::replace(&mut open.logged, true)
                {
                    log.push(&open.connection, open.ends);
                }
            }
        }
    }

    #[cold]
    fn begin(&mut self, placed: &Placed, s: &Segment, ends: [(IpAddr, u16); 2]) {
        let open = Open::new(Connection::new(placed.stream, s.number), ends);
        if let Some(mut old) = self.states.begin(placed.slot as usize, open) {
            let ending = if placed.evicted {
                Ending::Evicted
            } else {
                match old.connection.ending() {
                    Ending::Open | Ending::HalfClosed if placed.reused => Ending::Replaced,
                    ending => ending,
                }
            };
            self.finish_connection(&mut old, ending);
            self.states.recycle(old);
        }
    }

    fn finish_connection(&mut self, open: &mut Open, ending: Ending) {
        if let Some(log) = &mut self.log
            && !open.logged
        {
            log.push(&open.connection, open.ends);
        }
        let excess = open.excess();
        let (c, ends, series) = (&mut open.connection, open.ends, &mut open.series);
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
        let doublings = self.ticks.doublings;
        let guesses = [0, 1].map(|d| {
            let rounds = &c.rounds[d].rounds;
            let at_sender = c.vantage(d).is_none_or(|v| v < 0.5);
            (rounds.len() >= FEW_ROUNDS).then(|| classify(rounds, mss(&c.sides[d], c.sides[1 - d].mss), at_sender))
        });
        let record = ConnectionRecord {
            number: c.number,
            first_frame: c.first_frame,
            ends,
            ending,
            opener: c.opener,
            handshake: c.syn.zip(c.handshake_end).map(|(a, b)| b - a),
            syn_rtt: c.syn.zip(c.syn_ack).map(|(a, b)| b - a),
            ack_rtt: c.syn_ack.zip(c.handshake_end).map(|(a, b)| b - a),
            initial_rtt: c.wire.initial_rtt,
            round_trip: c.round_trip(),
            vantage: [c.vantage(0), c.vantage(1)],
            sides: std::mem::take(&mut c.sides),
        };
        let course = Course {
            number: c.number,
            series: series.each_mut().map(|s| std::mem::take(s).finish(doublings)),
            doublings,
            guesses,
            rounds: c.rounds.each_mut().map(|r| std::mem::take(&mut r.rounds)),
            phases: c.rounds.each_mut().map(|r| std::mem::take(&mut r.phases)),
        };
        self.excess = (self.excess + course.excess()).saturating_sub(excess);
        self.findings.add(&record);
        self.records.push(&record, &course);
        if self.records.len() >= self.max_flows.saturating_mul(2) {
            self.fold();
        }
    }

    /// Keeps the connections with the most bytes and counts the others.
    #[cold]
    fn fold(&mut self) {
        let gone = self.records.fold(self.max_flows);
        self.unlisted.connections += gone.connections;
        self.unlisted.packets += gone.packets;
        self.unlisted.bytes += gone.bytes;
        self.rounds = self.rounds.saturating_sub(gone.rounds);
        self.excess = self.excess.saturating_sub(gone.excess);
    }

    /// Doubles the intervals until the rows beyond one for each direction are within half of their limit. A sample of
    /// the connections shows how often: changing all series takes long if there are many.
    #[cold]
    fn double_intervals(&mut self) {
        while self.excess > self.max_rows / 2 && self.ticks.doublings < 63 {
            self.doubled = true;
            let mut sample: Vec<[Series; 2]> = self.states.sample(SAMPLE).chain(self.records.sample(SAMPLE)).collect();
            let rows = |sample: &[[Series; 2]]| sample.iter().flatten().map(Series::excess).sum::<usize>();
            let enough = rows(&sample) as u64 * (self.max_rows / 2) as u64 / self.excess as u64;
            loop {
                self.ticks.double();
                sample.iter_mut().flatten().for_each(|series| series.coarsen(self.ticks.doublings));
                if rows(&sample) as u64 <= enough || self.ticks.doublings >= 63 {
                    break;
                }
            }
            let doublings = self.ticks.doublings;
            let mut excess = 0;
            self.states.with_excess(|open| {
                open.series.iter_mut().for_each(|series| series.coarsen(doublings));
                excess += open.excess();
            });
            self.excess = excess + self.records.coarsen(doublings);
        }
    }

    /// Ends all connections. Returns the last chunk of packet rows.
    pub(crate) fn finish(&mut self) -> Option<Chunk> {
        self.records.reserve(self.states.len());
        for slot in 0..self.states.len() {
            if let Some(mut open) = self.states.take(slot) {
                let ending = open.connection.ending();
                self.finish_connection(&mut open, ending);
                self.states.recycle(open);
            }
        }
        self.fold();
        self.records.finish(self.ticks.doublings);
        let mut last = self.packets.as_mut().map(Packets::finish);
        if let Some(log) = self.log.as_mut().and_then(|log| log.take(1)) {
            last.get_or_insert_default().log = log;
        }
        last
    }

    /// Returns a chunk if one is full; of the log, if a connection has ended.
    #[inline]
    pub(crate) fn full_chunk(&mut self) -> Option<Chunk> {
        if let Some(log) = &mut self.log {
            return log.take(1).map(|log| Chunk { log, ..Chunk::default() });
        }
        if let Some(live) = &mut self.live {
            return live.take().map(|live| Chunk { live, ..Chunk::default() });
        }
        self.packets.as_mut().and_then(Packets::full)
    }
}

impl Open {
    /// Counts a segment in the series. Returns the number of new rows beyond the first of a direction.
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
            row.timeouts += u32::from(seen.data.is_some_and(Data::begins_timeout));
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
