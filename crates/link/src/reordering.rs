//! Which packets are held back so that others pass them.
//!
//! ```text
//! after a packet is picked, the next gap - 1 are not; any other is picked with probability share
//! correlation c: the probability is share + c (1 - share) after a picked packet, share (1 - c) after one that was not
//! picked: arrives `delay` later than it would have
//!         with extent n: right behind the n-th packet sent after it, `delay` later at the latest
//! ```
//! With gap 1 the share of picked packets is `share` whatever the correlation, and c is the correlation of neighbours.
//!
//! DIVERGES [tc-netem(8)]: netem's `reorder` sends the picked packets at once and delays all others, so that the picked
//! ones jump the queue by the whole link delay; here picked packets fall back. In both `gap N` spares N - 1 packets.
//! netem's correlation changes the share.

use dumbbell_units::Dur;
use dumbbell_units::random::Stream;
use serde::Deserialize;

/// How packets are reordered.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReorderingPlan {
    /// Probability that a packet is picked.
    pub share: f64,
    /// Distance between picked packets, at least; 1: any may be picked.
    pub gap: u64,
    /// Correlation of one packet's being picked with the next one's.
    pub correlation: f64,
    /// How much later a picked packet arrives (with `extent`: at most), ns.
    pub delay_ns: u64,
    /// After how many passing packets it is let go; None: after the delay.
    pub extent: Option<u64>,
}

/// See the top of this file.
#[derive(Clone, Debug)]
pub struct Reordering {
    plan: ReorderingPlan,
    /// Packets since the last one picked.
    since: u64,
    picked: bool,
    random: Stream,
}

impl Reordering {
    /// A wire that reorders as `plan` says.
    #[must_use]
    pub fn new(plan: ReorderingPlan, random: Stream) -> Reordering {
        Reordering { plan, since: 0, picked: false, random }
    }

    /// Whether the next packet is held back.
    pub fn picks(&mut self) -> bool {
        self.since += 1;
        if self.since < self.plan.gap {
            return false;
        }
        let ReorderingPlan { share, correlation, .. } = self.plan;
        let towards = if self.picked { 1.0 } else { 0.0 };
        let probability = share + correlation * (towards - share);
        self.picked = self.random.uniform() < probability;
        if self.picked {
            self.since = 0;
        }
        self.picked
    }

    /// How much later a picked packet arrives, or at most.
    #[must_use]
    pub fn delay(&self) -> Dur {
        Dur(self.plan.delay_ns)
    }

    /// After how many passing packets it is let go.
    #[must_use]
    pub fn extent(&self) -> Option<u64> {
        self.plan.extent
    }
}
