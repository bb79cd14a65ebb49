//! A policer: a token bucket that tests packets and never holds one.
//!
//! ```text
//! the bucket fills at `rate` up to `burst` bytes and is full at first
//! a packet conforms if it finds tokens for all its bytes, and takes them; otherwise it takes none and is dropped
//! (with `marks`: marked if it can be, and passed)
//! ```
//! Exact: tokens are counted in bit x ns x bit/s / 10^9 ("nanobits"), so that no fraction is ever lost.
//! A packet larger than `burst` never conforms. Left out: a peak rate, colours, a packet of credit below zero.

use crate::service::nanobits;
use dumbbell_units::Time;
use serde::Deserialize;

/// A token bucket.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicerPlan {
    /// Rate of the tokens, bit/s.
    pub rate_bps: u64,
    /// Size of the bucket, wire bytes.
    pub burst_bytes: u64,
    /// Whether ECN-capable packets that do not conform are marked and passed.
    pub marks: bool,
}

/// See the top of this file.
#[derive(Clone, Debug)]
pub struct Policer {
    plan: PolicerPlan,
    tokens: u128,
    since: Time,
}

impl Policer {
    /// A full bucket.
    #[must_use]
    pub fn new(plan: PolicerPlan) -> Policer {
        Policer { plan, tokens: nanobits(plan.burst_bytes), since: Time::ZERO }
    }

    /// Whether a packet of so many wire bytes conforms at `now`; if so it takes its tokens.
    pub fn conforms(&mut self, bytes: u32, now: Time) -> bool {
        let filled = u128::from(self.plan.rate_bps) * u128::from(now.since(self.since).0);
        self.tokens = (self.tokens + filled).min(nanobits(self.plan.burst_bytes));
        self.since = now;
        let needed = nanobits(u64::from(bytes));
        let conforms = needed <= self.tokens;
        if conforms {
            self.tokens -= needed;
        }
        conforms
    }

    /// Whether packets that do not conform are marked rather than dropped, where they can be.
    #[must_use]
    pub fn marks(&self) -> bool {
        self.plan.marks
    }
}
