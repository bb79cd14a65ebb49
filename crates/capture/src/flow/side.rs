//! What is counted of one direction of a connection.

use super::sketch::Sketch;
use crate::tcp::label::LABELS;
use dumbbell_wire::seq;

/// What keeps the sender from sending more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Limit {
    /// Nothing is on its way: there is nothing to send.
    #[default]
    Idle,
    /// Data is on its way, but the last segment wasn't full: there is nothing more to send.
    Application,
    /// The receiver's window has no room for a further segment.
    Window,
    /// A loss is being repaired.
    Recovery,
    /// None of these: the sender's own window (congestion control), or its pace.
    Network,
}

impl Limit {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Application => "application",
            Self::Window => "window",
            Self::Recovery => "recovery",
            Self::Network => "network",
        }
    }
}

/// Number of [`Limit`]s.
pub const LIMITS: usize = 5;

/// Counts of one direction. Bytes are payload bytes where nothing else is said.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// Segments.
    pub packets: u64,
    /// Their lengths on the wire, link layer included.
    pub bytes: u64,
    /// Payload bytes, repeats included.
    pub payload_bytes: u64,
    /// Payload bytes that were sent for the first time.
    pub new_bytes: u64,
    /// Segments with payload.
    pub data_packets: u64,
    /// Segments with nothing but an acknowledgment.
    pub pure_acks: u64,
    /// Longest payload.
    pub payload_max: u32,
    /// Time of the first segment, ns.
    pub first: i64,
    /// Time of the last segment, ns.
    pub last: i64,
    /// Time of the first new payload, ns.
    pub first_data: Option<i64>,
    /// Time of the last new payload, ns.
    pub last_data: i64,
    /// SYN, FIN and RST segments.
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
    /// Least and greatest announced window, scaled where the scale is known.
    pub window_min: Option<u64>,
    /// Greatest window.
    pub window_max: u64,
    /// Segments sent again.
    pub retransmitted_packets: u64,
    /// Payload bytes sent again.
    pub retransmitted_bytes: u64,
    /// Of them because of duplicate ACKs or SACK.
    pub fast: u64,
    /// Of them because the timer ran out, the ones that follow it included.
    pub timeout: u64,
    /// Of them as tail probes.
    pub tail: u64,
    /// Needless ones.
    pub spurious: u64,
    /// Times that the retransmission timer ran out.
    pub timeouts: u64,
    /// How long the timer had run.
    pub rto: Sketch,
    /// Episodes of loss repair that duplicate ACKs or SACK began.
    pub recoveries: u64,
    /// Copies that the network or the capture made.
    pub copies: u64,
    /// Overtaken segments.
    pub reordered: u64,
    /// By how many data segments at most.
    pub reordering_packets: u64,
    /// By how many bytes at most.
    pub reordering_bytes: u32,
    /// By how much time at most, ns.
    pub reordering_time: i64,
    /// Times that data was jumped over.
    pub gaps: u64,
    /// Acknowledged bytes that the capture doesn't have.
    pub missed_bytes: u64,
    /// Segments with SACK blocks.
    pub sacks: u64,
    /// SACK blocks.
    pub sack_blocks: u64,
    /// Segments with a D-SACK.
    pub dsacks: u64,
    /// Most bytes in flight, by the rules of the labels.
    pub flight_max: u32,
    /// Sum and number of the bytes in flight, for their mean.
    pub flight_sum: u64,
    /// Segments with bytes in flight.
    pub flight_count: u64,
    /// Time from data to its acknowledgment at the place of the capture.
    pub rtt_ack: Sketch,
    /// Time from a timestamp on data to its echo.
    pub rtt_timestamp: Sketch,
    /// Time spent under each [`Limit`], ns.
    pub limited: [i64; LIMITS],
    /// The present limit, and since when.
    pub limit: Limit,
    /// Since when.
    pub limit_since: i64,
    /// The last new segment wasn't full.
    pub short: bool,
    /// Segments longer than any MSS that fits on the wire: offload.
    pub super_packets: u64,
    /// Segments cut by the snap length inside the header.
    pub cut_headers: u64,
    /// Highest end of data, counted from the first number without wrapping, and the number it stands for.
    high: Option<(i64, u32)>,
}

impl Side {
    /// The highest end of data is now `number`; `base` is the first number.
    #[inline]
    pub(crate) fn set_high(&mut self, number: u32, base: u32) {
        self.high = Some((self.unwrap(number, base), number));
    }

    /// The distance of `number` from the first one, beyond 32 bits.
    #[inline]
    pub(crate) fn unwrap(&self, number: u32, base: u32) -> i64 {
        match self.high {
            Some((far, at)) => far + i64::from(seq::distance(at, number)),
            None => i64::from(number.wrapping_sub(base)),
        }
    }

    /// Goes over to another limit.
    #[inline]
    pub fn set_limit(&mut self, limit: Limit, now: i64) {
        if limit != self.limit {
            self.close_limit(now);
            self.limit = limit;
        }
    }

    /// Books the time up to `now`.
    pub fn close_limit(&mut self, now: i64) {
        self.limited[self.limit as usize] += (now - self.limit_since).max(0);
        self.limit_since = now;
    }
}
