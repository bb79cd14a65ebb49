//! The Wi-Fi media of a plan: each takes the place of the transmitters of a pair of links.

use crate::plan::{FlowPlan, Plan};
use dumbbell_wifi::WifiPlan;
use schemars::JsonSchema;
use serde::Deserialize;

/// A medium that an access point and stations share.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MediumPlan {
    /// Index of the link from the access point to the stations.
    pub down: usize,
    /// Index of the link from the stations to the access point.
    pub up: usize,
    /// By station: index of the node at the end of its flows. Packets over the links belong to the station of their flow's end.
    pub nodes: Vec<usize>,
    /// The medium.
    pub wifi: WifiPlan,
}

impl MediumPlan {
    /// The station of a flow's packets, if an end of the flow is one: the receiver's, or else the sender's.
    #[must_use]
    pub fn station(&self, flow: &FlowPlan) -> Option<usize> {
        let of = |node| self.nodes.iter().position(|n| *n == node);
        of(flow.to).or_else(|| of(flow.from))
    }

    /// Checks the medium. The error is the field and the reason.
    pub(crate) fn check(&self, plan: &Plan) -> Result<(), (&'static str, String)> {
        let refuse = |field, why: &str| Err((field, why.to_owned()));
        let (Some(down), Some(up)) = (plan.links.get(self.down), plan.links.get(self.up)) else {
            return refuse("down", "must be links of the plan");
        };
        if (down.from, down.to) != (up.to, up.from) {
            return refuse("up", "must lead back from the end of 'down' to its start");
        }
        if self.nodes.len() != self.wifi.stations.len() || self.nodes.iter().any(|n| *n >= plan.nodes.len()) {
            return refuse("nodes", "must have a node for each station");
        }
        for link in [down, up] {
            if let Some(field) = link.beyond_queue_and_delay() {
                return refuse(
                    field,
                    "a link with Wi-Fi has a queue, a constant delay and scripted drops only",
                );
            }
        }
        self.wifi.check()
    }
}
