//! A segment with data arrives.

use super::{Episode, HOLE_LIMIT, History, Hole, KEPT, OrderHints, REPEAT_LIMIT, Repeat, SENT_LIMIT, Sent};
use dumbbell_wire::seq::{gt, le, lt, max, min};

/// Numbers further apart than this have nothing to do with each other.
const FAR: u32 = 1 << 30;
/// No timer of a sender is shorter, ns: Linux' least RTO.
const LEAST_RTO: i64 = 200_000_000;
/// Reordering is shorter than this where the round trip isn't known, ns; as Wireshark assumes.
const REORDERING: i64 = 3_000_000;

/// Why data was sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Duplicate ACKs or SACK blocks.
    Fast,
    /// The retransmission timer; for the first repeat the time that it ran, ns.
    Timeout,
    /// A probe of the tail.
    Tail,
}

/// The coarsest ticks of timestamps that are common, ns.
const TICK: i64 = 4_000_000;
/// A copy that the network makes follows within this time, ns.
const COPYING: i64 = 1_000_000;
/// How long after a timeout data counts as sent before it, ns.
const PRESUMED_LOST_AGE: i64 = 3_000_000_000;

/// What the segment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Data {
    /// New data.
    New,
    /// Sent again.
    Repeat {
        cause: Cause,
        /// The receiver is known to have it.
        spurious: bool,
        /// It begins an episode: the time that the timer ran, if it was the timer, ns.
        timer: Option<i64>,
        first: bool,
    },
    /// Overtaken on its way: by how many segments and bytes, and by how much time.
    Reordered { segments: u64, bytes: u32, delay: i64 },
    /// A copy that the network (or the capture) made.
    Copy,
    /// Keep-alive or window probe.
    Probe,
}

/// A segment with data, SYN or FIN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) frame: u64,
    pub(crate) time: i64,
    pub(crate) start: u32,
    /// SYN and FIN count for a byte.
    pub(crate) end: u32,
    pub(crate) hints: OrderHints,
    /// Neither SYN nor FIN.
    pub(crate) plain: bool,
    /// The receiver's window is closed.
    pub(crate) closed: bool,
    /// The shortest round trip of the whole path, ns, where it is known.
    pub(crate) rtt: Option<i64>,
    /// Captured at the receiver, or near it: how many acknowledgments no data has answered; else 0.
    pub(crate) unanswered: u32,
}

/// What a segment is and how much of it was never seen before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataOutcome {
    pub(crate) what: Data,
    pub(crate) new_bytes: u32,
    /// An earlier repeat that this one proves needless.
    pub(crate) needless: Option<u64>,
    /// It jumps over data that wasn't seen.
    pub(crate) opens_hole: bool,
}

impl History {
    /// Takes a segment into the history and says what it is.
    #[inline]
    pub(crate) fn data(&mut self, a: &Arrival) -> DataOutcome {
        self.count += 1;
        let mut outcome = DataOutcome {
            what: Data::New,
            new_bytes: a.end.wrapping_sub(a.start),
            needless: None,
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
            self.old(a, &mut outcome);
        }
        self.last_sent = a.time;
        outcome
    }

    #[inline]
    fn note_id(&mut self, id: u16) {
        let step = id.wrapping_sub(self.last_id);
        // A super-packet stands for up to 45 segments, each with a number of its own.
        self.id_trust = if (1..=64).contains(&step) {
            self.id_trust.saturating_add(1).min(64)
        } else {
            (self.id_trust - 4).max(-16)
        };
        self.last_id = id;
    }

    #[inline]
    fn append(&mut self, a: &Arrival) {
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
    fn forget(&mut self) {
        if let Some(old) = self.sent.pop_front() {
            self.forgotten += u64::from(self.acked == 0);
            self.acked = self.acked.saturating_sub(1);
            if old.sacked {
                self.sacked = self.sacked.saturating_sub(old.end.wrapping_sub(old.start));
            }
        }
    }

    /// A segment that begins below the highest data.
    #[cold]
    fn old(&mut self, a: &Arrival, outcome: &mut DataOutcome) {
        let len = a.end.wrapping_sub(a.start);
        if a.plain && len <= 1 && (a.start == self.high.wrapping_sub(1) || a.closed) {
            outcome.what = Data::Probe;
            outcome.new_bytes = 0;
            return;
        }
        let from = self.sent.partition_point(|s| le(s.end, a.start));
        let seen: Option<Sent> = self.sent.get(from).copied().filter(|s| lt(s.start, a.end));
        let hole = self.holes.iter().position(|h| lt(h.start, a.end) && lt(a.start, h.end));
        outcome.new_bytes = self.unseen(a);
        outcome.what = match (seen, hole) {
            (None, Some(hole)) => self.fills(a, hole),
            (Some(seen), _) => self.seen_before(a, &seen, outcome),
            (None, None) => self.forgotten_data(a, outcome),
        };
        if matches!(outcome.what, Data::Repeat { .. }) {
            self.note_repeat(a, matches!(outcome.what, Data::Repeat { spurious: true, .. }));
        }
        self.fill(a, matches!(outcome.what, Data::Repeat { .. }));
    }

    /// It fills a hole: overtaken, or sent again?
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
                // The same timestamp as the segment that opened the hole: sent together with it.
                (Some(rtt), Some(_)) if rtt > 2 * TICK => false,
                (Some(rtt), _) => waited >= rtt - rtt / 8,
                (None, _) => self.dupacks >= 3 || waited >= REORDERING,
            },
        };
        if again {
            self.repeat(a, false)
        } else {
            Data::Reordered {
                segments: self.count - h.count,
                bytes: self.high.wrapping_sub(a.start),
                delay: waited,
            }
        }
    }

    /// Its bytes were seen before.
    fn seen_before(&mut self, a: &Arrival, seen: &Sent, outcome: &mut DataOutcome) -> Data {
        let order = match (a.hints.tsval, seen.hints.tsval) {
            (Some(x), Some(y)) => Some(x.wrapping_sub(y) as i32),
            _ => None,
        };
        let id_order =
            self.ids_count().then(|| i32::from(a.hints.ip_id.wrapping_sub(seen.hints.ip_id) as i16));
        let order = match (order, id_order) {
            (None | Some(0), Some(by_id)) => Some(by_id),
            (order, _) => order,
        };
        let since = a.time.wrapping_sub(seen.time);
        // Sent before what was seen of it: the original, overtaken by its own repeat.
        if order.is_some_and(|o| o < 0) && seen.repeated {
            outcome.needless = self.prove(a.start, a.end, a.hints.tsval);
            return Data::Reordered {
                segments: 1,
                bytes: self.high.wrapping_sub(a.start),
                delay: since.max(0),
            };
        }
        let same_stretch = a.start == seen.start && a.end == seen.end;
        let copy = same_stretch
            && match (order, id_order) {
                (Some(o), Some(_)) => o == 0,
                (Some(0) | None, None) => since < a.rtt.map_or(COPYING, |rtt| COPYING.min(rtt / 2)),
                _ => false,
            };
        if copy {
            return Data::Copy;
        }
        let had = self.una.is_some_and(|una| le(a.end, una)) || self.is_sacked(a.start, a.end);
        self.repeat(a, had)
    }

    /// Below all that is remembered.
    fn forgotten_data(&mut self, a: &Arrival, outcome: &mut DataOutcome) -> Data {
        let had = self.una.is_some_and(|una| le(a.end, una));
        outcome.new_bytes = 0;
        self.repeat(a, had)
    }

    /// Whether SACK blocks cover `start..end`.
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

    /// A repeat: what caused it?
    fn repeat(&mut self, a: &Arrival, spurious: bool) -> Data {
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
            // Near the receiver: each acknowledgment has released a segment at least. Those that didn't come were
            // lost, and are sent again after the timeout.
            let lost = a.unanswered.min(64) * a.end.wrapping_sub(a.start);
            self.presumed_lost = (lost > 0).then(|| (self.high.wrapping_add(lost), a.time));
        }
        let timer = (first && cause == Cause::Timeout).then(|| {
            let from = self.sent.iter().find(|s| lt(a.start, s.end)).map_or(self.last_sent, |s| s.time);
            a.time.wrapping_sub(from.max(self.last_advance))
        });
        Data::Repeat { cause, spurious, timer: timer.filter(|&t| t > 0), first }
    }

    /// New data after a timeout: it may have been sent, and lost, before.
    #[cold]
    fn data_after_timeout(&mut self, a: &Arrival, outcome: &mut DataOutcome) {
        let Some((end, since)) = self.presumed_lost else { return };
        if !lt(a.start, end) || a.time.wrapping_sub(since) > PRESUMED_LOST_AGE || !a.plain {
            self.presumed_lost = None;
            return;
        }
        outcome.what = Data::Repeat { cause: Cause::Timeout, spurious: false, timer: None, first: false };
    }

    fn note_repeat(&mut self, a: &Arrival, spurious: bool) {
        if self.repeats.len() == REPEAT_LIMIT {
            self.repeats.pop_front();
        }
        self.repeats.push_back(Repeat {
            start: a.start,
            end: a.end,
            frame: a.frame,
            tsval: a.hints.tsval,
            spurious,
        });
    }

    /// The newest repeat of `start..end` that isn't known to be needless yet (and was sent after `than`): now it is.
    pub(super) fn prove(&mut self, start: u32, end: u32, than: Option<u32>) -> Option<u64> {
        let repeat = self.repeats.iter_mut().rev().find(|r| {
            let later = match (than, r.tsval) {
                (Some(t), Some(mine)) => (mine.wrapping_sub(t) as i32) > 0,
                _ => true,
            };
            !r.spurious && later && lt(r.start, end) && lt(start, r.end)
        })?;
        repeat.spurious = true;
        Some(repeat.frame)
    }

    /// Bytes of the segment that were never seen.
    fn unseen(&self, a: &Arrival) -> u32 {
        let mut bytes = if lt(self.high, a.end) { a.end.wrapping_sub(self.high) } else { 0 };
        for h in &self.holes {
            let (from, to) = (max(h.start, a.start), min(h.end, a.end));
            if lt(from, to) {
                bytes += to.wrapping_sub(from);
            }
        }
        bytes
    }

    /// OrderHints the segment's bytes as seen.
    fn fill(&mut self, a: &Arrival, repeated: bool) {
        let repeat_of = |s: &mut Sent| {
            if repeated {
                s.repeated = true;
                s.time = a.time;
                s.hints = a.hints;
            }
        };
        let from = self.sent.partition_point(|s| le(s.end, a.start));
        for s in self.sent.iter_mut().skip(from).take_while(|s| lt(s.start, a.end)) {
            repeat_of(s);
        }
        // What lies in holes: shrink, split or close them.
        let mut at = 0;
        while at < self.holes.len() {
            let h = self.holes[at];
            let (from, to) = (max(h.start, a.start), min(h.end, a.end));
            if !lt(from, to) {
                at += 1;
                continue;
            }
            self.holes.remove(at);
            if lt(to, h.end) {
                self.holes.insert(at, Hole { start: to, ..h });
            }
            if lt(h.start, from) {
                self.holes.insert(at, Hole { end: from, ..h });
                at += 1;
            }
            if lt(to, h.end) {
                at += 1;
            }
            self.insert(from, to, a, repeated);
        }
        if lt(self.high, a.end) {
            let start = self.high;
            self.append(&Arrival { start, ..*a });
        }
    }

    fn insert(&mut self, start: u32, end: u32, a: &Arrival, repeated: bool) {
        if self.sent.len() >= SENT_LIMIT {
            self.forget();
        }
        let at = self.sent.partition_point(|s| le(s.end, start));
        let below_una = self.una.is_some_and(|una| le(end, una));
        self.sent.insert(at, Sent { start, end, time: a.time, hints: a.hints, repeated, sacked: false });
        if at < self.acked || below_una && at == self.acked {
            self.acked += 1;
        }
    }

    /// Forgets what was acknowledged long ago.
    #[inline]
    pub(super) fn trim(&mut self) {
        while self.acked > KEPT {
            self.sent.pop_front();
            self.acked -= 1;
        }
    }

    /// Whether `a` lies above `b`.
    #[inline]
    pub(super) fn above(a: u32, b: u32) -> bool {
        gt(a, b)
    }
}
