//! Statistics of one direction of a connection, and what limits its sender over time.
//!
//! The idea of classes of limits is that of Zhang et al. ("On the characteristics and origins of Internet flow rates",
//! SIGCOMM 2002). The five classes and their conditions are our own: see [`Limit`].

use super::sketch::Sketch;
use crate::pack::{fields, variants};
use crate::tcp::label::LABELS;
use dumbbell_units::named;
use dumbbell_wire::seq;

named! {
    /// The reason that the sender does not send more at a time.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[repr(u8)]
    pub enum Limit {
        /// No sent data is unacknowledged.
        #[default]
        Idle = "idle",
        /// Sent data is unacknowledged, but the last segment was not full: the application has no more data.
        Application = "application",
        /// Less than one full segment fits into the rest of the receive window.
        Window = "window",
        /// Loss recovery is in progress.
        Recovery = "recovery",
        /// None of these: the congestion window, or pacing.
        Network = "network",
    }
}

/// Number of [`Limit`]s.
pub const LIMITS: usize = Limit::ALL.len();

/// Statistics of one direction. Bytes are payload bytes unless the field states otherwise.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// Segments.
    pub packets: u64,
    /// Their lengths on the wire, link layer included.
    pub bytes: u64,
    /// Payload bytes, retransmissions included.
    pub payload_bytes: u64,
    /// Payload bytes that were sent for the first time.
    pub new_bytes: u64,
    /// Segments with payload.
    pub data_packets: u64,
    /// Pure ACKs.
    pub pure_acks: u64,
    /// Longest payload.
    pub payload_max: u32,
    /// The least time of a segment, ns.
    pub first: i64,
    /// The greatest time of a segment, ns.
    pub last: i64,
    /// Time of the first new payload, ns.
    pub first_data: Option<i64>,
    /// Time of the last new payload, ns.
    pub last_data: i64,
    /// SYN segments.
    pub syns: u32,
    /// FIN segments.
    pub fins: u32,
    /// RST segments.
    pub resets: u32,
    /// Segments with PSH.
    pub pushes: u64,
    /// Segments with each label.
    pub labels: [u32; LABELS],
    /// Segments with each ECN code point: not-ECT, ECT(1), ECT(0), CE.
    pub ecn: [u64; 4],
    /// Segments with each differentiated services code point other than 0, in the order of their first segments.
    pub dscp: Vec<(u8, u32)>,
    /// Segments with ECE that aren't SYNs.
    pub ece: u64,
    /// Segments with CWR that aren't SYNs.
    pub cwr: u64,
    /// MSS option.
    pub mss: Option<u16>,
    /// Window scale option.
    pub wscale: Option<u8>,
    /// SACK permitted.
    pub sack_permitted: bool,
    /// Segments with timestamps.
    pub timestamps: u64,
    /// ECN flags of the SYN (ECE and CWR).
    pub syn_ecn: bool,
    /// Least announced window, scaled if the scale is known.
    pub window_min: Option<u64>,
    /// Greatest announced window, scaled likewise.
    pub window_max: u64,
    /// Retransmitted segments.
    pub retransmitted_packets: u64,
    /// Retransmitted payload bytes.
    pub retransmitted_bytes: u64,
    /// Retransmissions after duplicate ACKs or SACK.
    pub fast: u64,
    /// Retransmissions from a timeout to the end of the recovery that it starts.
    pub timeout: u64,
    /// Tail loss probes.
    pub tail: u64,
    /// Spurious retransmissions.
    pub spurious: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Duration of the retransmission timer at each timeout.
    pub rto: Sketch,
    /// Fast recovery episodes.
    pub recoveries: u64,
    /// Copies made by the network or by the capture.
    pub copies: u64,
    /// Reordered segments.
    pub reordered: u64,
    /// Greatest reordering extent, data segments.
    pub reordering_packets: u64,
    /// Greatest reordering extent, bytes.
    pub reordering_bytes: u32,
    /// Greatest reordering extent, ns.
    pub reordering_time: i64,
    /// Number of holes that opened.
    pub gaps: u64,
    /// Acknowledged bytes that are not in the capture.
    pub missed_bytes: u64,
    /// Segments with SACK blocks.
    pub sacks: u64,
    /// SACK blocks.
    pub sack_blocks: u64,
    /// Segments with a D-SACK.
    pub dsacks: u64,
    /// Greatest `bytes_in_flight`.
    pub flight_max: u32,
    /// Sum of `bytes_in_flight`, for the mean.
    pub flight_sum: u64,
    /// Number of values in the sum.
    pub flight_count: u64,
    /// Time from data to its ACK at the capture point.
    pub rtt_ack: Sketch,
    /// Time from a timestamp on data to its echo.
    pub rtt_timestamp: Sketch,
    /// Time spent under each [`Limit`], ns.
    pub limited: [i64; LIMITS],
    /// The current limit.
    pub limit: Limit,
    /// Time from which on it holds, ns.
    pub limit_since: i64,
    /// True if the last new segment was not full.
    pub short: bool,
    /// Segments longer than any MSS: offload.
    pub super_packets: u64,
    /// Segments cut by the snap length inside the header.
    pub cut_headers: u64,
    /// Highest end of data: its 64-bit offset and its sequence number.
    high: Option<(i64, u32)>,
}

impl Side {
    /// The highest end of data is now `number`; `base` is the first number.
    #[inline]
    pub(crate) fn set_high(&mut self, number: u32, base: u32) {
        self.high = Some((self.unwrap(number, base), number));
    }

    /// The 64-bit offset of `number` from the first number.
    #[inline]
    pub(crate) fn unwrap(&self, number: u32, base: u32) -> i64 {
        match self.high {
            Some((far, at)) => far + i64::from(seq::distance(at, number)),
            None => i64::from(number.wrapping_sub(base)),
        }
    }

    /// Changes the limit.
    #[inline]
    pub fn set_limit(&mut self, limit: Limit, now: i64) {
        if limit != self.limit {
            self.close_limit(now);
            self.limit = limit;
        }
    }

    /// Adds the time up to `now` to the current limit.
    pub fn close_limit(&mut self, now: i64) {
        self.limited[self.limit as usize] += (now - self.limit_since).max(0);
        self.limit_since = now;
    }
}

variants!(Limit { Idle, Application, Window, Recovery, Network });
fields!(Side {
    packets,
    bytes,
    payload_bytes,
    new_bytes,
    data_packets,
    pure_acks,
    payload_max,
    first,
    last,
    first_data,
    last_data,
    syns,
    fins,
    pushes,
    ecn,
    mss,
    wscale,
    sack_permitted,
    timestamps,
    window_min,
    window_max,
    flight_max,
    flight_sum,
    flight_count,
    rtt_ack,
    rtt_timestamp,
    limited,
    limit,
    limit_since,
    short,
    high;
    labels,
    resets;
    retransmitted_packets,
    retransmitted_bytes,
    fast,
    timeout,
    tail,
    spurious,
    timeouts,
    rto,
    recoveries;
    copies,
    reordered,
    reordering_packets,
    reordering_bytes,
    reordering_time,
    gaps,
    missed_bytes,
    sacks,
    sack_blocks,
    dsacks;
    dscp,
    ece,
    cwr,
    syn_ecn,
    super_packets,
    cut_headers,
});
