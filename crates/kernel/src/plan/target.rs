//! The kernel that a plan is translated for (the virtual machine's or the host's), and the settings that depend on it.

use dumbbell_link::LossPlan;
use dumbbell_plan::LinkPlan;
use serde::Deserialize;

/// A kernel that runs plans.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Kernel {
    /// User-mode Linux: nothing else runs on it, and its time is virtual.
    #[default]
    Guest,
    /// The host's own kernel: shared with all other processes of the host, in real time.
    Host,
}

/// The kernel that a plan is translated for, and how its interfaces are set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The kernel.
    pub kernel: Kernel,
    /// True if interfaces may segment and merge (TSO, GSO, GRO): hosts then send super-packets.
    pub offloads: bool,
}

impl Target {
    /// Longest delay of the shaper's timer, µs. The bucket holds the tokens of this time, so
    /// that a late timer doesn't reduce the rate [Linux sch_tbf.c tbf_dequeue].
    pub(crate) fn late_us(self) -> u64 {
        match self.kernel {
            Kernel::Guest => 4,
            Kernel::Host => 1000,
        }
    }

    /// True if netem applies the link's rate behind the shaper. It doesn't with offloads: tbf and netem count the
    /// headers of super-packets differently, and the slower of the two would hold a second queue.
    pub(crate) fn netem_has_rate(self, link: &LinkPlan) -> bool {
        self.has_netem(link) && !self.offloads
    }

    /// True if a link has a netem behind its queue. The host's kernel may lack netem, so it is used there only for
    /// delay, jitter or loss.
    pub(crate) fn has_netem(self, link: &LinkPlan) -> bool {
        self.kernel == Kernel::Guest || link.delay_ns > 0 || link.jitter.is_some() || link.loss != LossPlan::default()
    }

    /// Sysctls under `net.ipv4` of every namespace, set before it has interfaces.
    pub(crate) fn sysctls(self) -> Vec<(&'static str, String)> {
        match self.kernel {
            Kernel::Guest => Vec::new(),
            // A new namespace may inherit the host's setting, and forward and reverse paths may differ here
            // [Linux devinet.c devinet_init_net].
            Kernel::Host => ["conf/all/rp_filter", "conf/default/rp_filter"].map(|name| (name, "0".into())).into(),
        }
    }
}
