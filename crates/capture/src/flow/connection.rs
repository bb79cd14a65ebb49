//! The state of a connection and its update by a segment: labels, history, rounds, statistics, limits.
//!
//! The rules are elsewhere: labels in [`wireshark`](crate::tcp::wireshark), retransmissions and reordering in
//! [`history`](crate::tcp::history), rounds and phases in [`rounds`](super::rounds), limits in [`side`](super::side).

use super::rounds::{Rounds, Step};
use super::side::{Limit, Side};
use crate::dscp;
use crate::pack::{fields, variants};
use crate::tcp::history::{Ack, Acked, Arrival, Cause, Clock, Data, History, OrderHints};
use crate::tcp::label::{Label, Labels, Rules};
use crate::tcp::segment::Segment;
use crate::tcp::track::Placed;
use crate::tcp::wireshark::{Scale, Stream, Verdict};
use dumbbell_units::named;
use dumbbell_wire::TcpFlags;

/// Longest payload of a segment on a usual wire: a jumbo frame.
const JUMBO: u32 = 9_000;

named! {
    /// How a connection ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Ending {
        /// The connection was open at the end of the capture.
        Open = "open",
        /// Both sides sent FIN.
        Fin = "fin",
        /// One side sent FIN.
        HalfClosed = "half-closed",
        /// One side sent RST.
        Reset = "reset",
        /// The first answer to the SYN was an RST.
        Refused = "refused",
        /// A SYN on the same ports began another connection.
        Replaced = "replaced",
        /// It was evicted from memory.
        Evicted = "evicted",
    }
}

/// A connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Connection {
    pub(crate) number: u64,
    pub(crate) first_frame: u64,
    pub(crate) wire: Stream,
    pub(crate) history: [History; 2],
    pub(super) clocks: [Clock; 2],
    pub(crate) rounds: [Rounds; 2],
    /// True: rounds are kept, not only phases.
    pub(crate) keep_rounds: bool,
    pub(crate) sides: [Box<Side>; 2],
    /// Times of SYN, SYN+ACK and the ACK that follows, ns.
    pub(crate) syn: Option<i64>,
    pub(crate) syn_ack: Option<i64>,
    pub(crate) handshake_end: Option<i64>,
    /// Which direction sent the SYN.
    pub(crate) opener: Option<u8>,
    windows: [u64; 2],
    pub(crate) fin: [bool; 2],
    pub(crate) reset: Option<u8>,
}

/// Results for one segment, for series and tables.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SegmentAnalysis {
    pub(crate) verdict: Verdict,
    pub(crate) new_bytes: u32,
    pub(crate) data: Option<Data>,
    pub(crate) acked: Acked,
    /// Frame of an earlier retransmission that this segment proves to be spurious.
    pub(crate) spurious_frame: Option<u64>,
    pub(crate) window: u64,
    pub(crate) rtt: Option<i64>,
}

impl Connection {
    pub(crate) fn new(number: u64, first_frame: u64) -> Self {
        Self { number, first_frame, ..Self::default() }
    }

    /// Processes the next segment.
    #[inline]
    pub(crate) fn segment(&mut self, placed: &Placed, s: &Segment, rules: Rules) -> SegmentAnalysis {
        let d = usize::from(placed.direction);
        let verdict = match rules {
            Rules::Wireshark40 => self.wire.segment::<false>(placed, s),
            _ => self.wire.segment::<true>(placed, s),
        };
        let mut seen = SegmentAnalysis { verdict, ..SegmentAnalysis::default() };
        if s.quoted {
            return seen;
        }
        let side = &mut *self.sides[d];
        if side.packets == 0 {
            side.first = s.time;
            side.last = s.time;
            side.limit_since = s.time;
        }
        side.first = side.first.min(s.time);
        side.packets += 1;
        side.bytes += u64::from(s.frame_len);
        side.last = side.last.max(s.time);
        side.ecn[usize::from(s.ecn.bits())] += 1;
        dscp::count(&mut side.dscp, s.dscp);
        side.cut_headers += u64::from(s.header_cut);
        if let Some(len) = s.len {
            self.process(d, s, len, &mut seen);
            if rules == Rules::Dumbbell {
                seen.verdict.labels = history_labels(verdict.labels, &seen);
            }
        }
        self.count_labels(d, &seen.verdict);
        seen
    }

    #[inline]
    fn count_labels(&mut self, d: usize, verdict: &Verdict) {
        let side = &mut *self.sides[d];
        if !verdict.labels.is_empty() {
            for label in verdict.labels.iter() {
                side.labels[label as usize] += 1;
            }
        }
        if verdict.bytes_in_flight > 0 {
            side.flight_max = side.flight_max.max(verdict.bytes_in_flight);
            side.flight_sum += u64::from(verdict.bytes_in_flight);
            side.flight_count += 1;
        }
    }

    #[inline]
    fn process(&mut self, d: usize, s: &Segment, len: u32, seen: &mut SegmentAnalysis) {
        let now = s.time;
        let flags = s.flags;
        if !s.is_plain() || self.handshake_end.is_none() {
            self.handshake(d, s);
        }
        let scale = match self.wire.flows[d].scale {
            Scale::Shift(n) if !flags.contains(TcpFlags::SYN) => n,
            _ => 0,
        };
        let window = u64::from(s.window) << scale;
        seen.window = window;

        let side = &mut *self.sides[d];
        side.window_max = side.window_max.max(window);
        side.window_min = Some(side.window_min.map_or(window, |w| w.min(window)));
        side.pushes += u64::from(flags.contains(TcpFlags::PSH));
        if flags.intersects(TcpFlags::ECE | TcpFlags::CWR) && !flags.contains(TcpFlags::SYN) {
            side.ece += u64::from(flags.contains(TcpFlags::ECE));
            side.cwr += u64::from(flags.contains(TcpFlags::CWR));
        }
        if len > 0 {
            side.data_packets += 1;
            side.payload_bytes += u64::from(len);
            side.payload_max = side.payload_max.max(len);
            side.super_packets += u64::from(len > JUMBO);
        } else {
            side.pure_acks += u64::from(s.is_plain() && flags.contains(TcpFlags::ACK));
        }
        let tsval = s.options.timestamps.map(|t| t.0);
        let virtual_bytes = u32::from(flags.contains(TcpFlags::SYN)) + u32::from(flags.contains(TcpFlags::FIN));
        let carries = len + virtual_bytes > 0;
        let mut unanswered = self.clocks[1 - d].unanswered() as u32;
        if let Some((value, echo)) = s.options.timestamps {
            side.timestamps += 1;
            if flags.contains(TcpFlags::ACK)
                && let Some(rtt) = self.clocks[1 - d].echoed(echo, now)
            {
                self.sides[1 - d].rtt_timestamp.add(rtt);
            }
            self.clocks[d].sent(value, now, carries);
        }

        if carries {
            let old = self.history[d].high != s.seq;
            if old && self.vantage(d).is_some_and(|v| v > 0.5) {
                let h = &self.history[d];
                if h.sacked == 0 || tsval.is_none() {
                    // Limited Transmit [RFC 3042]: each of the first two duplicate ACKs releases a segment. Later ones
                    // may release none while the window shrinks without SACK.
                    unanswered = if h.dupacks <= 2 { h.dupacks } else { 0 };
                }
            } else {
                unanswered = 0;
            }
            let arrival = Arrival {
                frame: s.number,
                time: now,
                start: s.seq,
                end: s.seq.wrapping_add(len).wrapping_add(virtual_bytes),
                hints: OrderHints { tsval, ip_id: s.ip_id },
                plain: s.is_plain(),
                closed: self.windows[1 - d] == 0 && self.sides[1 - d].packets > 0,
                rtt: if old { self.round_trip() } else { None },
                unanswered,
            };
            self.data(d, &arrival, len, seen);
        }
        if flags.contains(TcpFlags::ACK) {
            self.acknowledged(d, s, len, window, seen);
        }
        self.windows[d] = window;
        self.steps(d, s, seen);
        self.update_limit(d, now);
        if flags.contains(TcpFlags::ACK) {
            self.update_limit(1 - d, now);
        }
    }

    #[inline]
    fn data(&mut self, d: usize, a: &Arrival, len: u32, seen: &mut SegmentAnalysis) {
        let outcome = self.history[d].data(a);
        let side = &mut *self.sides[d];
        side.set_high(self.history[d].high, self.wire.flows[d].base_seq);
        let new = outcome.new_bytes.min(len);
        seen.new_bytes = new;
        seen.spurious_frame = outcome.spurious_frame;
        seen.data = Some(outcome.what);
        side.gaps += u64::from(outcome.opens_hole);
        side.spurious += u64::from(outcome.spurious_frame.is_some());
        if new > 0 {
            side.new_bytes += u64::from(new);
            if side.first_data.is_none() {
                side.first_data = Some(a.time);
            }
            side.last_data = a.time;
        }
        match outcome.what {
            Data::New => {
                // A full segment is as long as the longest one. A super-packet is a multiple of the MSS.
                let full = side.mss.map_or(side.payload_max, |m| u32::from(m).min(side.payload_max)).max(1);
                side.short = len < full && len < side.payload_max;
            }
            Data::Retransmission { cause, spurious, timer, first } => {
                side.retransmitted_packets += 1;
                side.retransmitted_bytes += u64::from(len);
                side.spurious += u64::from(spurious);
                match cause {
                    Cause::Fast => side.fast += 1,
                    Cause::Timeout => side.timeout += 1,
                    Cause::Tail => side.tail += 1,
                }
                side.recoveries += u64::from(first && cause == Cause::Fast && !spurious);
                side.timeouts += u64::from(outcome.what.begins_timeout());
                if let Some(timer) = timer {
                    side.rto.add(timer);
                }
            }
            Data::Reordered { segments, bytes, delay } => {
                side.reordered += 1;
                side.reordering_packets = side.reordering_packets.max(segments);
                side.reordering_bytes = side.reordering_bytes.max(bytes);
                side.reordering_time = side.reordering_time.max(delay);
            }
            Data::Copy => side.copies += 1,
            Data::Probe => {}
        }
    }

    /// Processes an ACK by direction `d` of data of the other direction.
    #[inline]
    fn acknowledged(&mut self, d: usize, s: &Segment, len: u32, window: u64, seen: &mut SegmentAnalysis) {
        let sack = s.options.sack.as_slice();
        let ack = Ack {
            time: s.time,
            ack: s.ack,
            pure: len == 0 && s.is_plain() && window == self.windows[d],
            sack,
            tsecr: s.options.timestamps.map(|t| t.1),
        };
        let missed = self.history[1 - d].missed;
        let acked = self.history[1 - d].acknowledge(&ack);
        seen.acked = acked;
        if !sack.is_empty() {
            let side = &mut *self.sides[d];
            side.sacks += 1;
            side.sack_blocks += sack.len() as u64;
            side.dsacks += u64::from(acked.dsack);
        }
        let other = &mut *self.sides[1 - d];
        other.missed_bytes += self.history[1 - d].missed - missed;
        if acked.spurious_frame.is_some() {
            other.spurious += 1;
            seen.spurious_frame = acked.spurious_frame;
        }
        if acked.copied {
            other.copies += 1;
        }
        if let Some(rtt) = acked.rtt {
            seen.rtt = Some(rtt);
            other.rtt_ack.add(rtt);
        }
    }

    /// Passes the changes on to the rounds of both directions.
    #[inline]
    fn steps(&mut self, d: usize, s: &Segment, seen: &SegmentAnalysis) {
        let least = self.round_trip().unwrap_or(0);
        let timestamps = s.options.timestamps;
        if seen.data.is_some() {
            let h = &self.history[d];
            let (mut retransmission, mut fast, mut timeout) = (false, false, false);
            if let Some(Data::Retransmission { cause, first, .. }) = seen.data {
                retransmission = true;
                fast = first && cause == Cause::Fast;
                timeout = first && cause == Cause::Timeout;
            }
            let step = Step {
                time: s.time,
                high: h.high,
                una: h.una,
                flight: h.flight(),
                new_bytes: seen.new_bytes,
                data_tsecr: timestamps.filter(|_| s.flags.contains(TcpFlags::ACK)).map(|t| t.1),
                retransmission,
                fast,
                timeout,
                repairing: h.episode.is_some(),
                least,
                keep: self.keep_rounds,
                ..Step::default()
            };
            self.rounds[d].step(&step, &mut self.sides[d]);
        }
        let h = &self.history[1 - d];
        if s.flags.contains(TcpFlags::ACK) && h.is_started() {
            let step = Step {
                time: s.time,
                high: h.high,
                una: h.una,
                flight: h.flight(),
                acked: seen.acked.bytes,
                rtt: seen.acked.rtt,
                ack_tsval: timestamps.map(|t| t.0),
                repairing: h.episode.is_some(),
                echo: s.flags.contains(TcpFlags::ECE) && !s.flags.contains(TcpFlags::SYN),
                least,
                keep: self.keep_rounds,
                ..Step::default()
            };
            self.rounds[1 - d].step(&step, &mut self.sides[1 - d]);
        }
    }

    #[inline]
    fn update_limit(&mut self, d: usize, now: i64) {
        let h = &self.history[d];
        let side = &self.sides[d];
        let flight = u64::from(h.flight());
        let limit = if !h.is_outstanding() {
            Limit::Idle
        } else if h.episode.is_some() {
            Limit::Recovery
        } else if flight + u64::from(side.payload_max.min(JUMBO)) > self.windows[1 - d] {
            Limit::Window
        } else if side.short {
            Limit::Application
        } else {
            Limit::Network
        };
        self.sides[d].set_limit(limit, now);
    }
}

/// Replaces Wireshark's labels for retransmissions and reordering by those of the rule set `dumbbell`.
#[inline]
fn history_labels(wireshark: Labels, seen: &SegmentAnalysis) -> Labels {
    let mut labels = Labels(wireshark.0 & !Labels::FAMILY.0);
    match seen.data {
        Some(Data::Retransmission { cause, spurious, .. }) => {
            labels.set(Label::Retransmission);
            if cause == Cause::Fast {
                labels.set(Label::FastRetransmission);
            }
            if spurious {
                labels.set(Label::SpuriousRetransmission);
            }
        }
        Some(Data::Reordered { .. }) => labels.set(Label::OutOfOrder),
        _ => {}
    }
    labels
}

variants!(Ending { Open, Fin, HalfClosed, Reset, Refused, Replaced, Evicted });
fields!(Connection {
    number,
    first_frame,
    wire,
    history,
    clocks,
    rounds,
    keep_rounds,
    sides,
    syn,
    syn_ack,
    handshake_end,
    opener,
    windows,
    fin,
    reset,
});
