//! The Wi-Fi media of a plan: each takes the place of the transmitters of a pair of links.

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
    /// By station: index of the node at the end of its flows. Packets over the links belong to the station of their
    /// flow's end.
    pub nodes: Vec<usize>,
    /// The medium.
    pub wifi: WifiPlan,
}

impl MediumPlan {
    /// The station of the packets of a flow between these nodes, if one of them is one: the receiver's, or else the
    /// sender's.
    #[must_use]
    pub fn station(&self, from: usize, to: usize) -> Option<usize> {
        let of = |node| self.nodes.iter().position(|n| *n == node);
        of(to).or_else(|| of(from))
    }
}
