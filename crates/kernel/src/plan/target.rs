//! What a plan is laid out on: whose kernel, and what that changes.

use dumbbell_link::LossPlan;
use dumbbell_plan::LinkPlan;
use serde::Deserialize;

/// Whose kernel a plan is laid out for.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Kernel {
    /// That of the virtual runner, alone with it, in virtual time.
    #[default]
    Guest,
    /// The host's own, which others use too, on the real clock.
    Host,
}

/// What a plan is laid out on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Whose kernel it is.
    pub kernel: Kernel,
    /// Whether interfaces may segment and merge: hosts then send super-packets.
    pub offloads: bool,
}

impl Target {
    /// How late a timer of the shaper may be, µs: it keeps the tokens of so long.
    pub(crate) fn late_us(self) -> u64 {
        match self.kernel {
            Kernel::Guest => 4,
            Kernel::Host => 1000,
        }
    }

    /// Whether a packet takes its transmission time behind the shaper. A super-packet doesn't: shaper and transmitter
    /// count its headers differently, and the slower one would hold a second queue.
    pub(crate) fn netem_has_rate(self, link: &LinkPlan) -> bool {
        self.has_netem(link) && !self.offloads
    }

    /// Whether a link has a transmitter and wire of its own behind the queue. The host's kernel may have none: it is spared
    /// where nothing else asks for it.
    pub(crate) fn has_netem(self, link: &LinkPlan) -> bool {
        self.kernel == Kernel::Guest
            || link.delay_ns > 0
            || link.jitter.is_some()
            || link.loss != LossPlan::default()
    }

    /// What every namespace is set to, before it has interfaces.
    pub(crate) fn settings(self) -> Vec<(&'static str, String)> {
        match self.kernel {
            Kernel::Guest => Vec::new(),
            // A new namespace may have the host's own setting; packets there may come by another way than they go.
            Kernel::Host => {
                ["conf/all/rp_filter", "conf/default/rp_filter"].map(|name| (name, "0".into())).into()
            }
        }
    }
}
