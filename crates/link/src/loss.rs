//! Packet loss on the wire: independent, or in bursts (Gilbert, Gilbert-Elliott).
//!
//! ```text
//! state good: a packet is lost with probability loss_good; then the state becomes bad with probability p
//! state bad:  a packet is lost with probability loss_bad;  then the state becomes good with probability r
//! share of packets in the bad state: p / (p + r)        mean duration of the bad state: 1 / r packets
//! loss rate: (p loss_bad + r loss_good) / (p + r)
//! ```
//! The state changes with each packet, not with time. The simple Gilbert model has loss_bad = 1 and loss_good = 0, so
//! that each time in the bad state is a loss burst. `gemodel p r 1-h 1-k` of netem has the same four parameters in this
//! order (loss_bad is 1-h, loss_good is 1-k).
//!
//! Sources: Gilbert, "Capacity of a burst-noise channel", 1960; Elliott, "Estimates of error rates for codes on
//! burst-noise channels", 1963; tc-netem(8); [Linux sch_netem.c loss_gilb_ell].

use dumbbell_units::random::Stream;
use schemars::JsonSchema;
use serde::Deserialize;

/// The parameters of a loss model: one probability, or the four of Gilbert and Elliott.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum LossPlan {
    /// Each packet is lost with this probability, independently.
    Independent(#[schemars(range(min = 0, max = 1))] f64),
    /// Losses in bursts.
    GilbertElliott {
        /// Probability of a change to the bad state after a packet in the good state.
        #[schemars(range(min = 0, max = 1))]
        p: f64,
        /// Probability of a change to the good state after a packet in the bad state.
        #[schemars(range(min = 0, max = 1))]
        r: f64,
        /// Probability of loss in the bad state.
        #[schemars(range(min = 0, max = 1))]
        loss_bad: f64,
        /// Probability of loss in the good state.
        #[schemars(range(min = 0, max = 1))]
        loss_good: f64,
    },
}

impl Default for LossPlan {
    fn default() -> LossPlan {
        LossPlan::Independent(0.0)
    }
}

impl LossPlan {
    /// True if no packet is ever lost.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == LossPlan::default()
    }

    /// Returns the share of lost packets in the long term.
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

    /// Returns the share of packets in the bad state in the long term.
    fn bad(&self) -> f64 {
        match *self {
            LossPlan::GilbertElliott { p, r, .. } if p > 0.0 => p / (p + r),
            _ => 0.0,
        }
    }
}

/// A loss model with its state and random stream.
#[derive(Clone, Debug)]
pub struct Loss {
    plan: LossPlan,
    bad: bool,
    random: Stream,
}

impl Loss {
    /// Returns the model of this plan.
    #[must_use]
    pub fn new(plan: LossPlan, mut random: Stream) -> Loss {
        // DIVERGES [Linux sch_netem.c loss_gilb_ell]: netem starts in the good state. Here the initial state is drawn
        // from the long-term distribution, so that the loss rate holds from the first packet on and repetitions differ.
        let bad = match plan {
            LossPlan::Independent(_) => false,
            LossPlan::GilbertElliott { .. } => random.uniform() < plan.bad(),
        };
        Loss { plan, bad, random }
    }

    /// Returns true if the next packet is lost.
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
