//! Which packets the wire loses: independently, or in bursts after Gilbert and Elliott.
//!
//! ```text
//! state good: a packet is lost with probability loss_good; then the state turns bad with probability p
//! state bad:  a packet is lost with probability loss_bad;  then the state turns good with probability r
//! share of packets in the bad state: p / (p + r)        mean stay in the bad state: 1 / r packets
//! loss rate: (p loss_bad + r loss_good) / (p + r)
//! ```
//! The state advances with each packet, not with time. Gilbert's simple form has loss_bad = 1 and loss_good = 0, so
//! that stays in the bad state are the loss bursts. netem's `gemodel p r 1-h 1-k` has the same four numbers in this
//! order (loss_bad is its 1-h, loss_good its 1-k).
//!
//! Sources: Gilbert, "Capacity of a burst-noise channel", 1960; Elliott, "Estimates of error rates for codes on
//! burst-noise channels", 1963; tc-netem(8).

use dumbbell_units::random::Stream;
use serde::Deserialize;

/// A loss model: a bare probability, or the four of Gilbert and Elliott.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum LossPlan {
    /// Each packet is lost with this probability, whatever became of the others.
    Independent(f64),
    /// Losses in bursts.
    GilbertElliott {
        /// Probability of turning bad after a packet in the good state.
        p: f64,
        /// Probability of turning good after a packet in the bad state.
        r: f64,
        /// Probability of loss in the bad state.
        loss_bad: f64,
        /// Probability of loss in the good state.
        loss_good: f64,
    },
}

impl Default for LossPlan {
    fn default() -> LossPlan {
        LossPlan::Independent(0.0)
    }
}

impl LossPlan {
    /// Whether nothing is ever lost.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == LossPlan::default()
    }

    /// The share of packets lost in the long run.
    #[must_use]
    pub fn rate(&self) -> f64 {
        match *self {
            LossPlan::Independent(probability) => probability,
            LossPlan::GilbertElliott { loss_bad, loss_good, .. } => {
                let bad = self.bad();
                bad * loss_bad + (1.0 - bad) * loss_good
            }
        }
    }

    /// The share of packets that meet the bad state in the long run.
    fn bad(&self) -> f64 {
        match *self {
            LossPlan::GilbertElliott { p, r, .. } if p > 0.0 => p / (p + r),
            _ => 0.0,
        }
    }
}

/// See the top of this file.
#[derive(Clone, Debug)]
pub struct Loss {
    plan: LossPlan,
    bad: bool,
    random: Stream,
}

impl Loss {
    /// A wire that loses packets as `plan` says.
    #[must_use]
    pub fn new(plan: LossPlan, mut random: Stream) -> Loss {
        // DIVERGES [tc-netem(8)]: netem starts in the good state. Drawn from the long run instead, the loss rate holds
        // from the first packet on, and repetitions differ.
        let bad = match plan {
            LossPlan::Independent(_) => false,
            LossPlan::GilbertElliott { .. } => random.uniform() < plan.bad(),
        };
        Loss { plan, bad, random }
    }

    /// Whether the next packet is lost.
    pub fn loses(&mut self) -> bool {
        match self.plan {
            LossPlan::Independent(probability) => self.random.uniform() < probability,
            LossPlan::GilbertElliott { p, r, loss_bad, loss_good } => {
                let (loss, turn) = if self.bad { (loss_bad, r) } else { (loss_good, p) };
                let lost = self.random.uniform() < loss;
                self.bad ^= self.random.uniform() < turn;
                lost
            }
        }
    }
}
