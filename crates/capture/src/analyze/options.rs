//! What an analysis is asked for.

use crate::tcp::label::Rules;

/// Options of an analysis.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whose rules label the segments.
    pub rules: Rules,
    /// Length of the intervals of the series, ns; `None`: chosen, so that there are at most 2,000.
    pub interval: Option<u64>,
    /// Enter GRE, IP-in-IP and VXLAN tunnels.
    pub enter_tunnels: bool,
    /// Only frames of this time on, ns since 1970.
    pub from: Option<i64>,
    /// Only frames before this time, ns since 1970.
    pub to: Option<i64>,
    /// Most connections at a time; further ones push silent ones out.
    pub max_open: usize,
    /// Most connections that are records one by one; the smallest ones beyond are only counted.
    pub max_flows: usize,
    /// Most rows of all series together; beyond, the intervals double.
    pub max_rows: usize,
    /// Threads: 1, or 2 (one reads, one analyses).
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
