//! The ranges of a direction's data: captured segments, and the holes between them, in sequence numbers with modular
//! order [RFC 9293 §3.4].

use super::data::Arrival;
use super::{History, Hole, SENT_LIMIT, Sent};
use dumbbell_wire::seq::{le, lt, max, min};

impl History {
    /// Number of bytes of the segment that were not captured before.
    pub(super) fn new_bytes(&self, a: &Arrival) -> u32 {
        let mut bytes = if lt(self.high, a.end) { a.end.wrapping_sub(self.high) } else { 0 };
        for h in &self.holes {
            let (from, to) = (max(h.start, a.start), min(h.end, a.end));
            if lt(from, to) {
                bytes += to.wrapping_sub(from);
            }
        }
        bytes
    }

    /// Stores the segment's bytes as captured.
    pub(super) fn fill(&mut self, a: &Arrival, repeated: bool) {
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
        // Shrink, split or close the holes that it fills.
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

    pub(super) fn insert(&mut self, start: u32, end: u32, a: &Arrival, repeated: bool) {
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
}
