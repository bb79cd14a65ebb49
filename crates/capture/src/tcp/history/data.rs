//! Data segments: new data, retransmissions and their causes [RFC 5681 §3.2, RFC 6298, RFC 8985 §7], reordering,
//! copies. The rules are listed in [`history`](super).

use super::{
    Episode, HOLE_LIMIT, History, Hole, KEPT, OrderHints, RETRANSMITTED_LIMIT, Retransmitted, SENT_LIMIT, Sent,
};
use dumbbell_wire::seq::{gt, le, lt};

/// Sequence numbers further apart than this are unrelated.
const FAR: u32 = 1 << 30;
/// Least RTO, ns [Linux include/net/tcp.h TCP_RTO_MIN].
const LEAST_RTO: i64 = 200_000_000;
/// Longest time of reordering if the round-trip time is unknown, ns; as in Wireshark.
const REORDERING: i64 = 3_000_000;

/// The cause of a retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Duplicate ACKs or SACK blocks.
    Fast,
    /// The retransmission timer.
    Timeout,
    /// A tail loss probe [RFC 8985 §7].
    Tail,
}

/// The coarsest common granularity of timestamps, ns.
const TICK: i64 = 4_000_000;
/// Longest time between a segment and a copy made by the network, ns.
const COPYING: i64 = 1_000_000;
/// Longest time after a timeout in which new data is presumed to be a retransmission, ns.
const PRESUMED_LOST_AGE: i64 = 3_000_000_000;

/// The type of a data segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Data {
    /// New data.
    New,
    /// A retransmission.
    Retransmission {
        cause: Cause,
        /// True if the receiver is known to have the data.
        spurious: bool,
        /// Time that the retransmission timer ran, ns, if it caused the episode that begins here.
        timer: Option<i64>,
        /// True if it begins a recovery episode.
        first: bool,
    },
    /// Reordered: the number of segments and bytes, and the time, by which others were earlier.
    Reordered { segments: u64, bytes: u32, delay: i64 },
    /// A copy made by the network or by the capture.
    Copy,
    /// Keep-alive or window probe.
    Probe,
}

impl Data {
    /// True for the first retransmission after an expiry of the retransmission timer.
    pub(crate) fn begins_timeout(self) -> bool {
        matches!(self, Data::Retransmission { cause: Cause::Timeout, first: true, .. })
    }
}

/// A segment with data, SYN or FIN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) frame: u64,
    pub(crate) time: i64,
    pub(crate) start: u32,
    /// SYN and FIN count as one byte.
    pub(crate) end: u32,
    pub(crate) hints: OrderHints,
    /// True without SYN and FIN.
    pub(crate) plain: bool,
    /// True while the receive window is 0.
    pub(crate) closed: bool,
    /// The shortest round-trip time of the whole path, ns, if known.
    pub(crate) rtt: Option<i64>,
    /// For captures near the receiver: number of ACKs that no data has answered; otherwise 0.
    pub(crate) unanswered: u32,
}

/// The type of a segment and its new data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataOutcome {
    pub(crate) what: Data,
    pub(crate) new_bytes: u32,
    /// Frame of an earlier retransmission that this segment proves to be spurious.
    pub(crate) spurious_frame: Option<u64>,
    /// True if it opens a hole.
    pub(crate) opens_hole: bool,
}

impl History {
    /// Processes a data segment and determines its type.
    #[inline]
    pub(crate) fn data(&mut self, a: &Arrival) -> DataOutcome {
        self.count += 1;
        let mut outcome = DataOutcome {
            what: Data::New,
            new_bytes: a.end.wrapping_sub(a.start),
            spurious_frame: None,
            opens_hole: false,
        };
        let ahead = a.start.wrapping_sub(self.high);
        if !self.started || (ahead as i32).unsigned_abs() > FAR || outcome.new_bytes > FAR {
            self.restart(a.start);
        }
        if ahead == 0 || a.start == self.high {
            self.note_id(a.hints.ip_id);
            if self.presumed_lost.is_some() {
                self.data_after_timeout(a, &mut outcome);
            }
            self.append(a);
        } else if lt(self.high, a.start) {
            self.last_id = a.hints.ip_id;
            outcome.opens_hole = true;
            self.presumed_lost = None;
            if self.holes.len() == HOLE_LIMIT {
                self.holes.pop_front();
            }
            self.holes.push_back(Hole {
                start: self.high,
                end: a.start,
                time: a.time,
                hints: a.hints,
                count: self.count,
            });
            self.append(a);
        } else {
            self.old_data(a, &mut outcome);
        }
        self.last_sent = a.time;
        outcome
    }

    #[inline]
    fn note_id(&mut self, id: u16) {
        let step = id.wrapping_sub(self.last_id);
        // A super-packet has up to 45 segments, each with an identification of its own.
        self.id_trust = if (1..=64).contains(&step) {
            self.id_trust.saturating_add(1).min(64)
        } else {
            (self.id_trust - 4).max(-16)
        };
        self.last_id = id;
    }

    #[inline]
    pub(super) fn append(&mut self, a: &Arrival) {
        if self.sent.len() >= SENT_LIMIT {
            self.forget();
        }
        self.sent.push_back(Sent {
            start: a.start,
            end: a.end,
            time: a.time,
            hints: a.hints,
            repeated: false,
            sacked: false,
        });
        self.high = a.end;
    }

    #[cold]
    pub(super) fn forget(&mut self) {
        if let Some(old) = self.sent.pop_front() {
            self.forgotten += u64::from(self.acked == 0);
            self.acked = self.acked.saturating_sub(1);
            if old.sacked {
                self.sacked = self.sacked.saturating_sub(old.end.wrapping_sub(old.start));
            }
        }
    }

    /// Processes a segment that begins below `high`.
    #[cold]
    fn old_data(&mut self, a: &Arrival, outcome: &mut DataOutcome) {
        let len = a.end.wrapping_sub(a.start);
        if a.plain && len <= 1 && (a.start == self.high.wrapping_sub(1) || a.closed) {
            outcome.what = Data::Probe;
            outcome.new_bytes = 0;
            return;
        }
        let from = self.sent.partition_point(|s| le(s.end, a.start));
        let stored: Option<Sent> = self.sent.get(from).copied().filter(|s| lt(s.start, a.end));
        let hole = self.holes.iter().position(|h| lt(h.start, a.end) && lt(a.start, h.end));
        outcome.new_bytes = self.new_bytes(a);
        outcome.what = match (stored, hole) {
            (None, Some(hole)) => self.fills(a, hole),
            (Some(stored), _) => self.captured_before(a, &stored, outcome),
            (None, None) => self.data_below_history(a, outcome),
        };
        if matches!(outcome.what, Data::Retransmission { .. }) {
            self.note_retransmission(a, matches!(outcome.what, Data::Retransmission { spurious: true, .. }));
        }
        self.fill(a, matches!(outcome.what, Data::Retransmission { .. }));
    }

    /// Distinguishes a reordered from a retransmitted segment that fills a hole.
    fn fills(&mut self, a: &Arrival, hole: usize) -> Data {
        let h = self.holes[hole];
        let waited = a.time.wrapping_sub(h.time);
        let order = match (a.hints.tsval, h.hints.tsval) {
            (Some(x), Some(y)) => x.wrapping_sub(y) as i32,
            _ => 0,
        };
        let order = if order == 0 && self.ids_count() {
            i32::from(a.hints.ip_id.wrapping_sub(h.hints.ip_id) as i16)
        } else {
            order
        };
        let again = match order {
            1.. => true,
            ..=-1 => false,
            0 => match (a.rtt, a.hints.tsval) {
                // With the timestamp of the segment that opened the hole, it was sent together with that one.
                (Some(rtt), Some(_)) if rtt > 2 * TICK => false,
                (Some(rtt), _) => waited >= rtt - rtt / 8,
                (None, _) => self.dupacks >= 3 || waited >= REORDERING,
            },
        };
        if again {
            self.retransmission(a, false)
        } else {
            Data::Reordered { segments: self.count - h.count, bytes: self.high.wrapping_sub(a.start), delay: waited }
        }
    }

    /// Determines the type of a segment whose bytes were captured before.
    fn captured_before(&mut self, a: &Arrival, stored: &Sent, outcome: &mut DataOutcome) -> Data {
        let order = match (a.hints.tsval, stored.hints.tsval) {
            (Some(x), Some(y)) => Some(x.wrapping_sub(y) as i32),
            _ => None,
        };
        let id_order = self.ids_count().then(|| i32::from(a.hints.ip_id.wrapping_sub(stored.hints.ip_id) as i16));
        let order = match (order, id_order) {
            (None | Some(0), Some(by_id)) => Some(by_id),
            (order, _) => order,
        };
        let since = a.time.wrapping_sub(stored.time);
        // Sent before the captured data: the original, which arrives after its retransmission.
        if order.is_some_and(|o| o < 0) && stored.repeated {
            outcome.spurious_frame = self.prove(a.start, a.end, a.hints.tsval);
            return Data::Reordered { segments: 1, bytes: self.high.wrapping_sub(a.start), delay: since.max(0) };
        }
        let same_range = a.start == stored.start && a.end == stored.end;
        let copy = same_range
            && match (order, id_order) {
                (Some(o), Some(_)) => o == 0,
                (Some(0) | None, None) => since < a.rtt.map_or(COPYING, |rtt| COPYING.min(rtt / 2)),
                _ => false,
            };
        if copy {
            return Data::Copy;
        }
        let received = self.una.is_some_and(|una| le(a.end, una)) || self.is_sacked(a.start, a.end);
        self.retransmission(a, received)
    }

    /// Determines the type of a segment below all stored data.
    fn data_below_history(&mut self, a: &Arrival, outcome: &mut DataOutcome) -> Data {
        let received = self.una.is_some_and(|una| le(a.end, una));
        outcome.new_bytes = 0;
        self.retransmission(a, received)
    }

    /// True if SACK blocks cover `start..end`.
    fn is_sacked(&self, start: u32, end: u32) -> bool {
        let mut from = self.sent.partition_point(|s| le(s.end, start));
        let mut at = start;
        while lt(at, end) {
            match self.sent.get(from) {
                Some(s) if s.sacked && le(s.start, at) => at = s.end,
                _ => return false,
            }
            from += 1;
        }
        true
    }

    /// Determines the cause of a retransmission.
    fn retransmission(&mut self, a: &Arrival, spurious: bool) -> Data {
        let silence = a.time.wrapping_sub(self.last_sent.max(self.last_ack));
        let rtt = a.rtt.unwrap_or(0);
        let long = silence >= LEAST_RTO && silence >= rtt + rtt / 2;
        let known = self.episode.filter(|e| lt(a.start, e.recover));
        let (cause, first) = match known {
            Some(e) if !long || e.cause == Cause::Timeout && self.una != Some(a.start) => (e.cause, false),
            _ => {
                let evidence = self.dupacks >= 3 || self.sacked > 0 && lt(a.end, self.sacked_high);
                let head = self.una.is_none_or(|una| le(a.start, una));
                let cause = match (evidence && !long, head || a.end != self.high) {
                    (true, _) => Cause::Fast,
                    (false, true) => Cause::Timeout,
                    (false, false) => Cause::Tail,
                };
                (cause, true)
            }
        };
        if first && !spurious {
            self.episode = Some(Episode { cause, recover: self.high });
        }
        if first && cause == Cause::Timeout && !spurious {
            // Near the receiver: each ACK has released at least one segment. Segments that did not arrive were lost and
            // are retransmitted after the timeout.
            let lost = a.unanswered.min(64) * a.end.wrapping_sub(a.start);
            self.presumed_lost = (lost > 0).then(|| (self.high.wrapping_add(lost), a.time));
        }
        let timer = (first && cause == Cause::Timeout).then(|| {
            let from = self.sent.iter().find(|s| lt(a.start, s.end)).map_or(self.last_sent, |s| s.time);
            a.time.wrapping_sub(from.max(self.last_advance))
        });
        Data::Retransmission { cause, spurious, timer: timer.filter(|&t| t > 0), first }
    }

    /// New data after a timeout: the original may have been lost before the capture point.
    #[cold]
    fn data_after_timeout(&mut self, a: &Arrival, outcome: &mut DataOutcome) {
        let Some((end, since)) = self.presumed_lost else { return };
        if !lt(a.start, end) || a.time.wrapping_sub(since) > PRESUMED_LOST_AGE || !a.plain {
            self.presumed_lost = None;
            return;
        }
        outcome.what = Data::Retransmission { cause: Cause::Timeout, spurious: false, timer: None, first: false };
    }

    fn note_retransmission(&mut self, a: &Arrival, spurious: bool) {
        if self.retransmitted.len() == RETRANSMITTED_LIMIT {
            self.retransmitted.pop_front();
        }
        self.retransmitted.push_back(Retransmitted {
            start: a.start,
            end: a.end,
            frame: a.frame,
            tsval: a.hints.tsval,
            spurious,
        });
    }

    /// Marks the newest retransmission of `start..end` that was sent after `than` as spurious. Returns its frame.
    pub(super) fn prove(&mut self, start: u32, end: u32, than: Option<u32>) -> Option<u64> {
        let retransmission = self.retransmitted.iter_mut().rev().find(|r| {
            let later = match (than, r.tsval) {
                (Some(t), Some(mine)) => (mine.wrapping_sub(t) as i32) > 0,
                _ => true,
            };
            !r.spurious && later && lt(r.start, end) && lt(start, r.end)
        })?;
        retransmission.spurious = true;
        Some(retransmission.frame)
    }

    /// Drops all but the newest acknowledged segments.
    #[inline]
    pub(super) fn trim(&mut self) {
        while self.acked > KEPT {
            self.sent.pop_front();
            self.acked -= 1;
        }
    }

    /// True if `a` is above `b`.
    #[inline]
    pub(super) fn above(a: u32, b: u32) -> bool {
        gt(a, b)
    }
}

crate::pack::variants!(Cause { Fast, Timeout, Tail });
