//! When a link is down.
//!
//! ```text
//! an outage begins at `at`, lasts `for`, and comes again every `every`
//! it holds packets:  nothing is sent; what is in transmission goes on afterwards with the bits that it has left
//! it drops packets:  sending goes on, and whatever is in transmission at any moment of the outage is lost
//! ```
//! Packets already on the wire arrive. Several outages may overlap: one that holds comes first.

use dumbbell_units::{Dur, Time};
use serde::Deserialize;

/// An outage, once or repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutagePlan {
    /// Begin of the first, ns.
    pub at_ns: u64,
    /// How long each lasts, ns.
    pub for_ns: u64,
    /// From one begin to the next, ns; None: once.
    pub every_ns: Option<u64>,
    /// Whether packets in transmission are lost; otherwise they are held.
    pub drops: bool,
}

impl OutagePlan {
    /// The end of the outage that `t` lies in, if it lies in one.
    fn end(&self, t: Time) -> Option<Time> {
        let since = t.0.checked_sub(self.at_ns)?;
        let offset = self.every_ns.map_or(since, |every| since % every);
        (offset < self.for_ns).then(|| Time(t.0 - offset) + Dur(self.for_ns))
    }

    /// The begin of the first outage after `t`; NEVER if there is none.
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
    /// Those of the outages that hold packets.
    #[must_use]
    pub fn holding(plans: &[OutagePlan]) -> Outages {
        Outages { plans: plans.iter().filter(|p| !p.drops).copied().collect() }
    }

    /// Those that drop them.
    #[must_use]
    pub fn dropping(plans: &[OutagePlan]) -> Outages {
        Outages { plans: plans.iter().filter(|p| p.drops).copied().collect() }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.plans.is_empty()
    }

    /// The end of the outage that `t` lies in, if it lies in one. Another may begin there.
    #[must_use]
    pub fn until(&self, t: Time) -> Option<Time> {
        self.plans.iter().filter_map(|p| p.end(t)).max()
    }

    /// The next begin after `t`; NEVER if there is none.
    #[must_use]
    pub fn next(&self, t: Time) -> Time {
        self.plans.iter().map(|p| p.next(t)).min().unwrap_or(Time::NEVER)
    }

    /// Whether an outage falls into the time from `begin` to `end` (both included).
    #[must_use]
    pub fn touch(&self, begin: Time, end: Time) -> bool {
        self.plans.iter().any(|p| p.end(begin).is_some() || p.next(begin) <= end)
    }
}
