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
    /// Decapsulate tunnels, as Wireshark does.
    pub enter_tunnels: bool,
    /// Analyze only frames at or after this time, ns since 1970.
    pub from: Option<i64>,
    /// Analyze only frames before this time, ns since 1970.
    pub to: Option<i64>,
    /// Most connections whose state is kept, those that have ended included (a late segment belongs to them); further
    /// ones evict idle ones. A state takes less than 1 KiB unless [`Self::max_ready`] or its series need more.
    pub max_open: usize,
    /// Most connections whose state is ready for use (about 8 KiB each); the others are packed.
    pub max_ready: usize,
    /// Most connections that are listed; beyond it, those with the fewest bytes are only counted.
    pub max_flows: usize,
    /// Most rows of all series together beyond one for each direction; beyond it, the intervals double.
    pub max_rows: usize,
    /// Threads: 1, or 2 (one reads and dissects, one analyzes).
    pub threads: usize,
    /// The chunks have the connection log instead of packets.
    pub log: bool,
    /// The chunks have the flows of each second instead of packets.
    pub live: bool,
    /// Rows in a chunk of the packet table.
    pub chunk: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rules: Rules::default(),
            interval: None,
            enter_tunnels: true,
            from: None,
            to: None,
            max_open: 2_000_000,
            max_ready: 8_192,
            max_flows: 2_000_000,
            max_rows: 500_000,
            threads: 2,
            log: false,
            live: false,
            chunk: 65_536,
        }
    }
}
