//! Options of an analysis, with their defaults.

use crate::tcp::label::Rules;
use dumbbell_units::Dur;

/// Options of an analysis.
#[derive(Clone, Debug)]
pub struct Options {
    /// Rule set for the labels.
    pub rules: Rules,
    /// Length of the intervals of the series; `None`: chosen so that the capture has at most 2,000 of them.
    pub interval: Option<Dur>,
    /// Decapsulate GRE, IP-in-IP and VXLAN.
    pub enter_tunnels: bool,
    /// Analyze only frames at or after this time, ns since 1970.
    pub from: Option<i64>,
    /// Analyze only frames before this time, ns since 1970.
    pub to: Option<i64>,
    /// Most connections in memory at a time; further ones evict idle ones.
    pub max_open: usize,
    /// Most connections that are listed; beyond it, those with the fewest bytes are only counted.
    pub max_flows: usize,
    /// Most rows of all series together; beyond it, the intervals double.
    pub max_rows: usize,
    /// Threads: 1, or 2 (one reads and dissects, one analyzes).
    pub threads: usize,
    /// Rows in a chunk of the packet table.
    pub chunk: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rules: Rules::default(),
            interval: None,
            enter_tunnels: false,
            from: None,
            to: None,
            max_open: 65_536,
            max_flows: 100_000,
            max_rows: 500_000,
            threads: 2,
            chunk: 65_536,
        }
    }
}
