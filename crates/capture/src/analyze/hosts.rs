//! IP conversations (pairs of addresses) and endpoints (single addresses), over all protocols. A frame counts for the
//! innermost datagram that was read.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use crate::Frame;
use crate::dissect::Ip;
use crate::table::{Table, column};
use crate::tcp::track::{Folding, Key};

/// A pair of addresses; side 0 sent the first datagram.
#[derive(Clone, Debug)]
struct Pair {
    key: Key,
    low_first: bool,
    packets: [u64; 2],
    bytes: [u64; 2],
    first: i64,
    last: i64,
}

/// The pairs, up to a limit.
pub(crate) struct Hosts {
    map: HashMap<Key, u32, Folding>,
    all: Vec<Pair>,
    /// The pair of the frame before.
    latest: usize,
    limit: usize,
    pub(super) unlisted: u64,
}

impl Hosts {
    pub(crate) fn new(limit: usize) -> Self {
        Self { map: HashMap::default(), all: Vec::new(), latest: 0, limit, unlisted: 0 }
    }

    /// Counts a datagram.
    #[inline]
    pub(super) fn add(&mut self, frame: &Frame<'_>, ip: &Ip) {
        let (key, from_low) = Key::new(&ip.addresses, 0, 0);
        if self.all.get(self.latest).is_none_or(|pair| pair.key != key) {
            let Some(n) = self.find(key, from_low, frame.time.unwrap_or(0)) else { return };
            self.latest = n;
        }
        let pair = &mut self.all[self.latest];
        let d = usize::from(pair.low_first != from_low);
        let now = frame.time.unwrap_or(0);
        pair.packets[d] += 1;
        pair.bytes[d] += u64::from(frame.len);
        pair.first = pair.first.min(now);
        pair.last = pair.last.max(now);
    }

    fn find(&mut self, key: Key, low_first: bool, now: i64) -> Option<usize> {
        if let Some(&n) = self.map.get(&key) {
            return Some(n as usize);
        }
        if self.all.len() >= self.limit {
            self.unlisted += 1;
            return None;
        }
        let n = self.all.len();
        self.all.push(Pair { key, low_first, packets: [0; 2], bytes: [0; 2], first: now, last: now });
        self.map.insert(key, n as u32);
        Some(n)
    }

    /// `ip`: one row for each pair, the one with the most bytes first.
    pub(super) fn pairs(&self, origin: i64) -> Table {
        let mut rows: Vec<&Pair> = self.all.iter().collect();
        rows.sort_by_key(|r| std::cmp::Reverse(r.bytes[0] + r.bytes[1]));
        let address = |r: &&Pair, d: usize| r.key.endpoints(r.low_first)[d].0.to_string();
        Table::default()
            .with("a", column(&rows, |r| address(r, 0)))
            .with("b", column(&rows, |r| address(r, 1)))
            .with("packets", column(&rows, |r| r.packets[0] + r.packets[1]))
            .with("bytes", column(&rows, |r| r.bytes[0] + r.bytes[1]))
            .with("packets_a_b", column(&rows, |r| r.packets[0]))
            .with("bytes_a_b", column(&rows, |r| r.bytes[0]))
            .with("packets_b_a", column(&rows, |r| r.packets[1]))
            .with("bytes_b_a", column(&rows, |r| r.bytes[1]))
            .with("start_ns", column(&rows, |r| r.first.wrapping_sub(origin)))
            .with("end_ns", column(&rows, |r| r.last.wrapping_sub(origin)))
    }

    /// `endpoints`: one row for each address, the one with the most bytes first.
    pub(super) fn endpoints(&self) -> Table {
        // Sent and received packets, sent and received bytes.
        let mut sums: BTreeMap<IpAddr, [u64; 4]> = BTreeMap::new();
        for pair in &self.all {
            for (d, (address, _)) in pair.key.endpoints(pair.low_first).into_iter().enumerate() {
                let sum = sums.entry(address).or_default();
                for (total, more) in
                    sum.iter_mut().zip([pair.packets[d], pair.packets[1 - d], pair.bytes[d], pair.bytes[1 - d]])
                {
                    *total += more;
                }
            }
        }
        let mut rows: Vec<(IpAddr, [u64; 4])> = sums.into_iter().collect();
        rows.sort_by_key(|(address, sum)| (std::cmp::Reverse(sum[2] + sum[3]), *address));
        Table::default()
            .with("address", column(&rows, |r| r.0.to_string()))
            .with("packets", column(&rows, |r| r.1[0] + r.1[1]))
            .with("bytes", column(&rows, |r| r.1[2] + r.1[3]))
            .with("sent_packets", column(&rows, |r| r.1[0]))
            .with("sent_bytes", column(&rows, |r| r.1[2]))
            .with("received_packets", column(&rows, |r| r.1[1]))
            .with("received_bytes", column(&rows, |r| r.1[3]))
    }
}
