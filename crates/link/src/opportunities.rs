//! A packet-delivery trace instead of a rate, as replayed by mm-link of mahimahi.
//!
//! ```text
//! each line of the trace is a time in ms: an opportunity to deliver 1500 wire bytes then; equal lines add up
//! the waiting packets use an opportunity: the rest of one packet, or several small packets
//! unused bytes of an opportunity are lost, also if no packet waits (an arrival at the same instant is too late)
//! a packet is delivered by the opportunity that takes its last byte
//! the trace repeats: its last time is the zero of the next round
//! ```
//! Source: mm-link(1) of mahimahi (Netravali et al., "Mahimahi: accurate record-and-replay for HTTP", 2015). Not
//! modeled: the option `--once`. mahimahi counts 4 bytes of framing per packet and 1504 bytes per opportunity, so that
//! a full packet needs one opportunity in both.

use crate::outages::Outages;
use dumbbell_units::{Dur, Time};
use schemars::JsonSchema;
use serde::Deserialize;

/// Wire bytes of one delivery opportunity.
pub const OPPORTUNITY: u64 = 1500;
const MS: u64 = 1_000_000;

/// The parameters of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpportunitiesPlan {
    /// Ascending times in ms, each with its number of opportunities.
    pub counts: Vec<(u64, u64)>,
    /// Time of the last line, ms, at which the trace repeats. (`counts` may omit lines after the end of the run.)
    pub period_ms: u64,
}

/// A packet-delivery trace with its state.
#[derive(Clone, Debug)]
pub struct Opportunities {
    /// Offsets within a round, 0 < offset <= period, with bytes.
    moments: Vec<(Dur, u64)>,
    period: Dur,
    /// The time of the current opportunities and their unused bytes.
    open: Option<(Time, u64)>,
}

impl Opportunities {
    /// Returns the trace of this plan.
    #[must_use]
    pub fn new(plan: &OpportunitiesPlan) -> Opportunities {
        let moment = |&(ms, count): &(u64, u64)| (Dur(ms * MS), count * OPPORTUNITY);
        let mut moments: Vec<(Dur, u64)> = plan.counts.iter().map(moment).collect();
        let period = Dur(plan.period_ms * MS);
        // The zero of a round is the end of the previous one. (No packet can wait at the zero of the first.)
        if moments.first().is_some_and(|(at, _)| *at == Dur::ZERO) {
            let (_, bytes) = moments.remove(0);
            match moments.last_mut().filter(|(at, _)| *at == period) {
                Some((_, last)) => *last += bytes,
                None => moments.push((period, bytes)),
            }
        }
        Opportunities { moments, period, open: None }
    }

    /// Returns the start of the round that ends at or after `t`, and the offset in it: 0 < offset <= period, or 0 for t
    /// = 0.
    fn round(&self, t: Time) -> (Time, Dur) {
        let offset = t.0 % self.period.0;
        if offset == 0 && t > Time::ZERO {
            return (Time(t.0 - self.period.0), self.period);
        }
        (Time(t.0 - offset), Dur(offset))
    }

    /// Returns the time of the next opportunity after `t`; NEVER if none follows.
    #[must_use]
    pub fn after(&self, t: Time) -> Time {
        let Some((first, _)) = self.moments.first() else { return Time::NEVER };
        let (base, offset) = self.round(t);
        match self.moments.get(self.moments.partition_point(|(at, _)| *at <= offset)) {
            Some((at, _)) => base + *at,
            None => base + self.period + *first,
        }
    }

    /// Returns the bytes of the opportunities at `t`.
    fn bytes_at(&self, t: Time) -> u64 {
        let (_, offset) = self.round(t);
        self.moments.binary_search_by_key(&offset, |(at, _)| *at).map_or(0, |i| self.moments[i].1)
    }

    /// True if waiting bytes can be delivered at `now`: an opportunity has unused bytes.
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

    /// Returns the next opportunity after `t` outside of outages; the search ends at `horizon`.
    #[must_use]
    pub fn usable_after(&self, t: Time, outages: &Outages, horizon: Time) -> Time {
        let mut at = self.after(t);
        while at <= horizon
            && let Some(end) = outages.until(at)
        {
            at = self.after(Time(end.0 - 1)); // the end of the outage itself may be an opportunity
        }
        at
    }

    /// Delivers bytes from `now` on, when [`Opportunities::is_open`]. Returns the time of the last byte (or a time
    /// after `horizon`). `used` is called with the bytes of each opportunity.
    pub fn deliver(
        &mut self,
        now: Time,
        bytes: u64,
        outages: &Outages,
        horizon: Time,
        mut used: impl FnMut(Time, u64),
    ) -> Time {
        let (mut at, mut remaining) = (now, bytes);
        loop {
            let left = self.left(at);
            let taken = left.min(remaining);
            self.open = Some((at, left - taken));
            remaining -= taken;
            used(at, taken);
            if remaining == 0 || at > horizon {
                return at;
            }
            at = self.usable_after(at, outages, horizon);
        }
    }

    /// Returns the bytes of all opportunities after `from`, up to `end`, outside of outages.
    #[must_use]
    pub fn bytes_between(&self, from: Time, end: Time, outages: &Outages) -> u64 {
        let moments = std::iter::successors(Some(self.after(from)), |at| Some(self.after(*at)));
        moments.take_while(|at| *at <= end).filter(|at| outages.until(*at).is_none()).map(|at| self.bytes_at(at)).sum()
    }
}
