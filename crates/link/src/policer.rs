//! A policer: a token bucket that drops or marks packets and never delays them [Linux act_police.c tcf_police_act].
//!
//! ```text
//! tokens accumulate at `rate` up to `burst` bytes; the bucket is full initially
//! a packet conforms if the tokens cover all its bytes, and consumes them; otherwise it consumes none and is dropped
//! (with `marks`: marked if it is ECN-capable, and forwarded)
//! ```
//! Tokens are counted exactly, in bit x 10^9, so that no fraction is lost. A packet larger than `burst` never conforms.
//! Not modeled: a peak rate, colors (RFC 2697, RFC 2698), negative tokens.

use crate::transmitter::nanobits;
use dumbbell_units::Time;
use schemars::JsonSchema;
use serde::Deserialize;

/// The parameters of a policer.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicerPlan {
    /// Rate of the tokens, bit/s.
    pub rate_bps: u64,
    /// Size of the bucket, wire bytes.
    pub burst_bytes: u64,
    /// True if ECN-capable packets that do not conform are marked and forwarded.
    pub marks: bool,
}

/// A policer with its state.
#[derive(Clone, Debug)]
pub struct Policer {
    plan: PolicerPlan,
    tokens: u128,
    since: Time,
}

impl Policer {
    /// Returns a policer with a full bucket.
    #[must_use]
    pub fn new(plan: PolicerPlan) -> Policer {
        Policer { plan, tokens: nanobits(plan.burst_bytes), since: Time::ZERO }
    }

    /// Returns true and consumes the tokens if a packet conforms at `now`.
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

    /// True if ECN-capable packets that do not conform are marked instead of dropped.
    #[must_use]
    pub fn marks(&self) -> bool {
        self.plan.marks
    }
}
