//! Outages: times in which a link is down.
//!
//! ```text
//! an outage starts at `at`, lasts `for`, and repeats every `every`
//! hold:  nothing is sent; a transmission that was interrupted continues afterwards with its remaining bits
//! drop:  transmission continues, and each packet in transmission at any time of the outage is lost
//! ```
//! Packets already on the wire arrive. If outages overlap, hold has priority over drop.

use dumbbell_units::{Dur, Time};
use schemars::JsonSchema;
use serde::Deserialize;

/// The parameters of an outage, single or repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutagePlan {
    /// Start of the first outage, ns.
    pub at_ns: u64,
    /// Duration of each outage, ns.
    pub for_ns: u64,
    /// Time between two starts, ns; null: a single outage.
    pub every_ns: Option<u64>,
    /// True if packets in transmission are lost; false if they are held.
    pub drops: bool,
}

impl OutagePlan {
    /// Returns the end of the outage that contains `t`.
    fn end(&self, t: Time) -> Option<Time> {
        let since = t.0.checked_sub(self.at_ns)?;
        let offset = self.every_ns.map_or(since, |every| since % every);
        (offset < self.for_ns).then(|| Time(t.0 - offset) + Dur(self.for_ns))
    }

    /// Returns the start of the first outage after `t`; NEVER if none follows.
    fn next(&self, t: Time) -> Time {
        let Some(since) = t.0.checked_sub(self.at_ns) else { return Time(self.at_ns) };
        self.every_ns.map_or(Time::NEVER, |every| t + Dur(every - since % every))
    }
}

/// Outages of one kind.
#[derive(Clone, Debug, Default)]
pub struct Outages {
    plans: Vec<OutagePlan>,
}

impl Outages {
    /// Returns the outages that hold packets.
    #[must_use]
    pub fn holding(plans: &[OutagePlan]) -> Outages {
        Outages { plans: plans.iter().filter(|p| !p.drops).copied().collect() }
    }

    /// Returns the outages that drop packets.
    #[must_use]
    pub fn dropping(plans: &[OutagePlan]) -> Outages {
        Outages { plans: plans.iter().filter(|p| p.drops).copied().collect() }
    }

    /// True without outages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.plans.is_empty()
    }

    /// Returns the end of the outage that contains `t`. Another one may start then.
    #[must_use]
    pub fn until(&self, t: Time) -> Option<Time> {
        self.plans.iter().filter_map(|p| p.end(t)).max()
    }

    /// Returns the next start after `t`; NEVER if none follows.
    #[must_use]
    pub fn next(&self, t: Time) -> Time {
        self.plans.iter().map(|p| p.next(t)).min().unwrap_or(Time::NEVER)
    }

    /// True if an outage overlaps the time from `begin` to `end` (both included).
    #[must_use]
    pub fn overlap(&self, begin: Time, end: Time) -> bool {
        self.plans.iter().any(|p| p.end(begin).is_some() || p.next(begin) <= end)
    }
}
