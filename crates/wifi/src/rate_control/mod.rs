//! Rate control: the rate of each transmission.
//!
//! | name | rate |
//! |---|---|
//! | `ideal` | the one with the largest product of bit rate and success, from the true SNR |
//! | `fixed` | a given one |
//! | `minstrel_ht` | the one with the highest measured throughput, by samples [Linux net/mac80211/rc80211_minstrel_ht.c minstrel_ht_update_stats, minstrel_ht_get_rate] |

pub mod minstrel_ht;

use crate::phy::channel::Channel;
use crate::phy::mode::Modes;
use dumbbell_units::Time;
use minstrel_ht::MinstrelHt;
use schemars::JsonSchema;
use serde::Deserialize;

/// A rate control and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "snake_case", deny_unknown_fields)]
pub enum RateControlPlan {
    /// From the true SNR.
    Ideal {},
    /// A given rate.
    Fixed {
        /// Bit rate, bit/s.
        rate_bps: u64,
    },
    /// Rates are sampled and the best is used [Linux net/mac80211/rc80211_minstrel_ht.c minstrel_ht_update_stats].
    MinstrelHt {},
}

/// The rate control of one sender for one receiver.
#[derive(Debug)]
pub(crate) enum RateControl {
    Ideal,
    Fixed(usize),
    MinstrelHt(Box<MinstrelHt>),
}

impl RateControl {
    pub(crate) fn new(plan: RateControlPlan, modes: &Modes, stream: impl FnOnce() -> MinstrelHt) -> RateControl {
        match plan {
            RateControlPlan::Ideal {} => RateControl::Ideal,
            RateControlPlan::Fixed { rate_bps } => RateControl::Fixed(modes.find(rate_bps).unwrap_or(0)),
            RateControlPlan::MinstrelHt {} => RateControl::MinstrelHt(Box::new(stream())),
        }
    }

    /// The rate of a transmission whose first frame has failed `failures` times before, and true if it is a probe.
    pub(crate) fn choose(
        &mut self,
        now: Time,
        failures: u32,
        (channel, direction): (&mut Channel, usize),
        modes: &Modes,
    ) -> (usize, bool) {
        match self {
            RateControl::Ideal => (channel.best(direction, modes), false),
            RateControl::Fixed(mode) => (*mode, false),
            RateControl::MinstrelHt(minstrel) => minstrel.choose(now, failures),
        }
    }

    /// Reports a transmission: `frames` sent, `acked` of them acknowledged.
    pub(crate) fn report(&mut self, now: Time, mode: usize, frames: u32, acked: u32) {
        if let RateControl::MinstrelHt(minstrel) = self {
            minstrel.report(now, mode, frames, acked);
        }
    }
}
