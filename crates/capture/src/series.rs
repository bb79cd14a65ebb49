//! Time series of a connection's directions and of the whole capture, in intervals.
//!
//! The interval is an option, or it is chosen: it begins at one millisecond and doubles whenever the capture has more
//! than [`AUTO`] intervals. It also doubles if all connections together have too many rows, so that memory is bounded.

use dumbbell_units::Dur;

use crate::pack::fields;
use crate::tcp::label::{LABELS, Labels};

/// Most intervals of a capture without an interval option.
pub const AUTO: u64 = 2_000;

/// One interval of one direction of a connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interval {
    /// Number of the interval.
    pub at: u64,
    /// Segments.
    pub packets: u32,
    /// Segments with payload.
    pub data_packets: u32,
    /// Bytes on the wire.
    pub bytes: u64,
    /// Payload bytes.
    pub payload_bytes: u64,
    /// New payload bytes.
    pub new_bytes: u64,
    /// Payload bytes acknowledged by the other direction.
    pub acked_bytes: u64,
    /// Retransmitted segments.
    pub retransmitted: u32,
    /// Expiries of the retransmission timer.
    pub timeouts: u32,
    /// Segments with a label other than window update.
    pub errors: u32,
    /// Segments with each label.
    pub labels: [u32; LABELS],
    /// Least bytes in flight.
    pub flight_min: u32,
    /// Greatest bytes in flight.
    pub flight_max: u32,
    /// Last bytes in flight.
    pub flight_last: u32,
    /// Number of values of bytes in flight.
    pub flights: u32,
    /// Sum of the RTT samples, ns.
    pub rtt_sum: u64,
    /// Number of RTT samples.
    pub rtts: u32,
    /// Least RTT sample, ns.
    pub rtt_min: u64,
    /// Greatest RTT sample, ns.
    pub rtt_max: u64,
    /// Last window advertised by this direction.
    pub window: Option<u64>,
    /// Highest end of data, as an offset from the first number.
    pub seq_high: u64,
    /// Highest ACK, as an offset.
    pub ack_high: u64,
    /// Highest SACKed number, as an offset.
    pub sack_high: u64,
}

impl Interval {
    /// Merges a later row of the same interval.
    fn join(&mut self, later: &Self) {
        self.packets += later.packets;
        self.data_packets += later.data_packets;
        self.bytes += later.bytes;
        self.payload_bytes += later.payload_bytes;
        self.new_bytes += later.new_bytes;
        self.acked_bytes += later.acked_bytes;
        self.retransmitted += later.retransmitted;
        self.timeouts += later.timeouts;
        self.errors += later.errors;
        for (a, b) in self.labels.iter_mut().zip(later.labels) {
            *a += b;
        }
        if later.flights > 0 {
            self.flight_min = if self.flights > 0 { self.flight_min.min(later.flight_min) } else { later.flight_min };
            self.flight_max = self.flight_max.max(later.flight_max);
            self.flight_last = later.flight_last;
            self.flights += later.flights;
        }
        if later.rtts > 0 {
            self.rtt_min = if self.rtts > 0 { self.rtt_min.min(later.rtt_min) } else { later.rtt_min };
            self.rtt_max = self.rtt_max.max(later.rtt_max);
            self.rtt_sum += later.rtt_sum;
            self.rtts += later.rtts;
        }
        self.window = later.window.or(self.window);
        self.seq_high = self.seq_high.max(later.seq_high);
        self.ack_high = self.ack_high.max(later.ack_high);
        self.sack_high = self.sack_high.max(later.sack_high);
    }

    /// Counts labels.
    #[inline]
    pub(crate) fn label(&mut self, labels: Labels) {
        if !labels.is_empty() {
            self.errors += u32::from(labels.is_error());
            for label in labels.iter() {
                self.labels[label as usize] += 1;
            }
        }
    }

    /// Counts bytes in flight.
    #[inline]
    pub(crate) fn flight(&mut self, flight: u32) {
        self.flight_min = if self.flights > 0 { self.flight_min.min(flight) } else { flight };
        self.flight_max = self.flight_max.max(flight);
        self.flight_last = flight;
        self.flights += 1;
    }

    /// Counts an RTT sample, ns.
    #[inline]
    pub(crate) fn rtt(&mut self, rtt: u64) {
        self.rtt_min = if self.rtts > 0 { self.rtt_min.min(rtt) } else { rtt };
        self.rtt_max = self.rtt_max.max(rtt);
        self.rtt_sum += rtt;
        self.rtts += 1;
    }
}

/// The intervals of one direction, in the order of their first segments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    /// Number of doublings of the intervals.
    doublings: u8,
    rows: Vec<Interval>,
}

impl Series {
    /// The row of the interval `at` at `doublings`, and true if it is new and not the first.
    #[inline]
    pub(crate) fn at(&mut self, at: u64, doublings: u8) -> (&mut Interval, bool) {
        if self.doublings != doublings {
            self.coarsen(doublings);
        }
        let new = self.rows.last().is_none_or(|r| r.at != at);
        if new {
            if self.rows.is_empty() {
                // Most directions have one interval.
                self.rows.reserve_exact(1);
            }
            self.rows.push(Interval { at, ..Interval::default() });
        }
        let last = self.rows.len() - 1;
        (&mut self.rows[last], new && last > 0)
    }

    /// Merges rows for longer intervals.
    pub(crate) fn coarsen(&mut self, doublings: u8) {
        let by = doublings.saturating_sub(self.doublings);
        self.doublings = doublings;
        for r in &mut self.rows {
            r.at >>= by;
        }
        self.rows.dedup_by(|later, row| {
            let same = later.at == row.at;
            if same {
                row.join(later);
            }
            same
        });
    }

    pub(crate) fn from_rows(rows: Vec<Interval>) -> Self {
        Self::from_rows_at(rows, 0)
    }

    /// Rows of intervals that have doubled this many times.
    pub(crate) fn from_rows_at(rows: Vec<Interval>, doublings: u8) -> Self {
        Self { doublings, rows }
    }

    pub(crate) fn rows(&self) -> &[Interval] {
        &self.rows
    }

    /// Rows beyond the first.
    pub(crate) fn excess(&self) -> usize {
        self.rows.len().saturating_sub(1)
    }

    /// The rows in order of time, one for each interval.
    pub(crate) fn finish(mut self, doublings: u8) -> Vec<Interval> {
        self.coarsen(doublings);
        if !self.rows.is_sorted_by_key(|r| r.at) {
            self.rows.sort_by_key(|r| r.at);
        }
        self.coarsen(doublings);
        self.rows.shrink_to_fit();
        self.rows
    }
}

/// Maps times to intervals.
#[derive(Clone, Debug)]
pub(crate) struct Ticks {
    /// Start of the first interval: the time of the first frame.
    origin: Option<i64>,
    /// Length of an interval without doublings, ns.
    base: u64,
    pub(crate) doublings: u8,
    /// Most intervals.
    most: u64,
    /// The current interval: number, start and end (from the origin).
    at: u64,
    begin: u64,
    end: u64,
}

impl Ticks {
    /// Intervals of this length, or of a chosen length.
    pub(crate) fn new(length: Option<Dur>) -> Self {
        Self {
            origin: None,
            base: length.unwrap_or(Dur::millis(1)).0.max(1),
            doublings: 0,
            most: if length.is_some() { u64::MAX } else { AUTO },
            at: 0,
            begin: 0,
            end: 0,
        }
    }

    pub(crate) fn start(&mut self, time: i64) {
        self.origin.get_or_insert(time);
    }

    pub(crate) fn origin(&self) -> i64 {
        self.origin.unwrap_or(0)
    }

    /// The interval of a time. Times before the first frame are in the first interval.
    #[inline]
    pub(crate) fn at(&mut self, time: i64) -> u64 {
        let t = time.wrapping_sub(self.origin()).max(0) as u64;
        if t < self.begin || t >= self.end {
            self.find(t);
        }
        self.at
    }

    #[cold]
    fn find(&mut self, t: u64) {
        while t / self.length().0 >= self.most {
            self.doublings += 1;
        }
        let length = self.length().0;
        self.at = t / length;
        self.begin = self.at * length;
        self.end = self.begin.saturating_add(length);
    }

    /// Length of an interval.
    pub(crate) fn length(&self) -> Dur {
        Dur(self.base.saturating_mul(1 << self.doublings.min(63)))
    }

    /// Doubles the intervals.
    pub(crate) fn double(&mut self) {
        self.doublings += 1;
        self.end = 0;
        self.begin = 1;
    }
}

/// Intervals with a value above a threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spikes {
    /// Runs of adjacent intervals above the threshold.
    pub count: u64,
    /// Intervals above the threshold.
    pub intervals: u64,
    /// The greatest value.
    pub maximum: f64,
}

/// Counts the spikes of `values` (one for each interval) above `threshold`.
pub fn spikes(values: &[f64], threshold: f64) -> Spikes {
    let mut found = Spikes::default();
    let mut above = false;
    for &v in values {
        let now = v > threshold;
        found.intervals += u64::from(now);
        found.count += u64::from(now && !above);
        found.maximum = found.maximum.max(v);
        above = now;
    }
    found
}

fields!(Interval {
    at,
    packets,
    data_packets,
    bytes,
    payload_bytes,
    new_bytes,
    acked_bytes,
    flight_min,
    flight_max,
    flight_last,
    flights,
    rtt_sum,
    rtts,
    rtt_min,
    rtt_max,
    window,
    seq_high,
    ack_high;
    retransmitted,
    timeouts,
    errors,
    labels,
    sack_high,
});
fields!(Series { doublings, rows });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_double_so_that_a_capture_has_few() {
        let mut ticks = Ticks::new(None);
        ticks.start(5_000_000_000);
        assert_eq!(ticks.at(5_000_000_000), 0);
        assert_eq!(ticks.at(5_001_500_000), 1);
        // 3 s are 3000 ms: two doublings (4 ms) are needed for fewer than 2000? 3000 / 2 = 1500: one.
        assert_eq!(ticks.at(8_000_000_000), 1500);
        assert_eq!(ticks.length(), Dur(2_000_000));
        assert_eq!(ticks.at(4_000_000_000), 0); // before the first frame
    }

    #[test]
    fn joined_intervals_keep_sums_and_extremes() {
        let mut series = Series::default();
        for (at, flight, rtt) in [(0, 10, 7), (1, 30, 3), (2, 20, 9), (5, 1, 1)] {
            let row = series.at(at, 0).0;
            row.packets += 1;
            row.flight(flight);
            row.rtt(rtt);
        }
        let rows = series.finish(1);
        // 0 and 1 become 0, 2 becomes 1, 5 becomes 2.
        assert_eq!(rows.iter().map(|r| r.at).collect::<Vec<_>>(), [0, 1, 2]);
        let first = &rows[0];
        assert_eq!((first.packets, first.flight_min, first.flight_max, first.flight_last), (2, 10, 30, 30));
        assert_eq!((first.rtt_min, first.rtt_max, first.rtt_sum, first.rtts), (3, 7, 10, 2));
    }

    #[test]
    fn spikes_are_runs_above_the_threshold() {
        // Above 2: 3 4 | 9: two runs, three intervals.
        let found = spikes(&[1.0, 3.0, 4.0, 2.0, 9.0], 2.0);
        assert_eq!(found, Spikes { count: 2, intervals: 3, maximum: 9.0 });
    }
}
