//! A packet-delivery trace in place of a rate, as mahimahi's mm-link replays one.
//!
//! ```text
//! each line of the trace is a time in ms, the chance to deliver 1500 wire bytes then; equal lines add up
//! a chance is used by the packets that wait when it comes: by the rest of one, by several small ones
//! what they leave is lost, and so is a chance that finds nothing waiting (a packet that comes at that instant is late)
//! a packet is delivered by the chance that takes its last byte
//! at the end the trace begins again: its last time is the new zero
//! ```
//! Source: mm-link(1) of mahimahi (Netravali et al., "Mahimahi: accurate record-and-replay for HTTP", 2015). Left out:
//! mm-link's `--once`. There a packet has 4 bytes of framing on top and a chance 1504, so that a full packet needs one
//! chance in both.

use crate::outages::Outages;
use crate::service::OPPORTUNITY;
use dumbbell_units::{Dur, Time};
use serde::Deserialize;

const MS: u64 = 1_000_000;

/// A trace.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpportunitiesPlan {
    /// Times, ms, ascending, each with how many opportunities it has.
    pub counts: Vec<(u64, u64)>,
    /// The time of the last line, ms: where the trace begins again. (The lines between the end of the run and this need
    /// not be among `counts`.)
    pub period_ms: u64,
}

/// See the top of this file.
#[derive(Clone, Debug)]
pub struct Opportunities {
    /// Offsets within a round, 0 < offset <= period, with bytes.
    moments: Vec<(Dur, u64)>,
    period: Dur,
    /// The moment in use and what is left of it.
    open: Option<(Time, u64)>,
}

impl Opportunities {
    /// A link that delivers by that trace.
    #[must_use]
    pub fn new(plan: &OpportunitiesPlan) -> Opportunities {
        let moment = |&(ms, count): &(u64, u64)| (Dur(ms * MS), count * OPPORTUNITY);
        let mut moments: Vec<(Dur, u64)> = plan.counts.iter().map(moment).collect();
        let period = Dur(plan.period_ms * MS);
        // The zero of a round is the end of the one before. (Nothing can wait at the zero of the first.)
        if moments.first().is_some_and(|(at, _)| *at == Dur::ZERO) {
            let (_, bytes) = moments.remove(0);
            match moments.last_mut().filter(|(at, _)| *at == period) {
                Some((_, last)) => *last += bytes,
                None => moments.push((period, bytes)),
            }
        }
        Opportunities { moments, period, open: None }
    }

    /// The round that ends at or after `t`, and the offset in it: 0 < offset <= period, but 0 for t = 0.
    fn round(&self, t: Time) -> (Time, Dur) {
        let offset = t.0 % self.period.0;
        if offset == 0 && t > Time::ZERO {
            return (Time(t.0 - self.period.0), self.period);
        }
        (Time(t.0 - offset), Dur(offset))
    }

    /// The first moment after `t`; NEVER if there is none.
    #[must_use]
    pub fn after(&self, t: Time) -> Time {
        let Some((first, _)) = self.moments.first() else { return Time::NEVER };
        let (base, offset) = self.round(t);
        match self.moments.get(self.moments.partition_point(|(at, _)| *at <= offset)) {
            Some((at, _)) => base + *at,
            None => base + self.period + *first,
        }
    }

    /// The bytes of the moment `t`; 0 if it is none.
    fn bytes_at(&self, t: Time) -> u64 {
        let (_, offset) = self.round(t);
        self.moments.binary_search_by_key(&offset, |(at, _)| *at).map_or(0, |i| self.moments[i].1)
    }

    /// Whether bytes that have waited for the moment `now` may go now: it is one, and something is left of it.
    pub fn is_open(&mut self, now: Time) -> bool {
        self.left(now) > 0
    }

    fn left(&mut self, now: Time) -> u64 {
        match self.open {
            Some((at, left)) if at == now => left,
            _ => {
                let bytes = self.bytes_at(now);
                self.open = Some((now, bytes));
                bytes
            }
        }
    }

    /// The first moment after `t` that no outage takes away; what lies behind `horizon` is not looked into.
    #[must_use]
    pub fn usable_after(&self, t: Time, outages: &Outages, horizon: Time) -> Time {
        let mut at = self.after(t);
        while at <= horizon
            && let Some(end) = outages.until(at)
        {
            at = self.after(Time(end.0 - 1)); // the outage's end itself may be a moment
        }
        at
    }

    /// Delivers so many bytes, beginning now, where [`Opportunities::is_open`]; gives when the last is out (or a time
    /// behind `horizon`). `used` hears of the bytes that each moment takes.
    pub fn deliver(
        &mut self,
        now: Time,
        bytes: u64,
        outages: &Outages,
        horizon: Time,
        mut used: impl FnMut(Time, u64),
    ) -> Time {
        let (mut at, mut wanted) = (now, bytes);
        loop {
            let left = self.left(at);
            let taken = left.min(wanted);
            self.open = Some((at, left - taken));
            wanted -= taken;
            used(at, taken);
            if wanted == 0 || at > horizon {
                return at;
            }
            at = self.usable_after(at, outages, horizon);
        }
    }

    /// The bytes of all moments after `from`, up to `end`, that no outage takes away.
    #[must_use]
    pub fn bytes_between(&self, from: Time, end: Time, outages: &Outages) -> u64 {
        let moments = std::iter::successors(Some(self.after(from)), |at| Some(self.after(*at)));
        moments
            .take_while(|at| *at <= end)
            .filter(|at| outages.until(*at).is_none())
            .map(|at| self.bytes_at(at))
            .sum()
    }
}
