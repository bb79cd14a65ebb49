//! Reordering: some packets are held back so that others overtake them.
//!
//! ```text
//! after a selected packet the next gap - 1 are not selected; any other is selected with probability share
//! correlation c: the probability is share + c (1 - share) after a selected packet, share (1 - c) after another one
//! selected: arrives `delay` later
//!           with extent n: directly after the n-th packet sent after it, at most `delay` later
//! ```
//! With gap 1 the share of selected packets is `share` whatever the correlation, and c is the correlation of
//! consecutive packets.
//!
//! DIVERGES [Linux sch_netem.c netem_enqueue]: `reorder` of netem sends the selected packets at once and delays all
//! others, so that the selected ones arrive early by the whole delay of the link; here they arrive late. In both, `gap
//! N` excludes N - 1 packets. The correlation of netem changes the share.

use dumbbell_units::Dur;
use dumbbell_units::random::Stream;
use schemars::JsonSchema;
use serde::Deserialize;

/// The parameters of reordering.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReorderingPlan {
    /// Probability that a packet is selected.
    #[schemars(range(min = 0, max = 1))]
    pub share: f64,
    /// Minimum distance between selected packets; 1: no restriction.
    #[schemars(range(min = 1))]
    pub gap: u64,
    /// Correlation of the selection of consecutive packets.
    #[schemars(range(min = 0, max = 1))]
    pub correlation: f64,
    /// Additional delay of a selected packet (with `extent`: its maximum), ns.
    pub delay_ns: u64,
    /// Number of overtaking packets after which it is released; null: after the delay.
    #[schemars(range(min = 1))]
    pub extent: Option<u64>,
}

/// A reordering model with its random stream.
#[derive(Clone, Debug)]
pub struct Reordering {
    plan: ReorderingPlan,
    /// Packets since the last selected one.
    since: u64,
    selected: bool,
    random: Stream,
}

impl Reordering {
    /// Returns the model of this plan.
    #[must_use]
    pub fn new(plan: ReorderingPlan, random: Stream) -> Reordering {
        Reordering { plan, since: 0, selected: false, random }
    }

    /// Returns true if the next packet is held back.
    pub fn selects(&mut self) -> bool {
        self.since += 1;
        if self.since < self.plan.gap {
            return false;
        }
        let ReorderingPlan { share, correlation, .. } = self.plan;
        let towards = if self.selected { 1.0 } else { 0.0 };
        let probability = share + correlation * (towards - share);
        self.selected = self.random.uniform() < probability;
        if self.selected {
            self.since = 0;
        }
        self.selected
    }

    /// Returns the additional delay of a selected packet, or its maximum.
    #[must_use]
    pub fn delay(&self) -> Dur {
        Dur(self.plan.delay_ns)
    }

    /// Returns the number of overtaking packets after which a selected packet is released.
    #[must_use]
    pub fn extent(&self) -> Option<u64> {
        self.plan.extent
    }
}
