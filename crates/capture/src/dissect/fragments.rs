//! Reassembly of IP fragments [RFC 791 §3.2, RFC 8200 §4.5], with Wireshark's rules for overlaps
//! [Wireshark reassemble.c].

use std::collections::{HashMap, VecDeque};

use super::Addresses;

/// Most bytes of fragments; beyond it, the oldest incomplete datagram is discarded.
const MAX_BYTES: usize = 16 << 20;
/// Most incomplete datagrams.
const MAX_WAITING: usize = 4096;
/// Memory of a fragment besides its data, bytes.
const PIECE: usize = 32;
/// Longest datagram.
const MAX_DATAGRAM: usize = 65_535;

/// The key that all fragments of one datagram share [RFC 791 §3.2, RFC 8200 §4.5].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) addresses: Addresses,
    pub(super) id: u32,
    /// 0 in IPv6, where it is not part of the key.
    pub(super) protocol: u8,
    pub(super) vlan: u16,
}

/// One fragment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fragment {
    pub(super) key: Key,
    /// Offset in the datagram, bytes.
    pub(super) offset: u32,
    /// The more-fragments flag.
    pub(super) more: bool,
    pub(super) protocol: u8,
}

/// An incomplete datagram.
#[derive(Debug)]
struct Waiting {
    /// Number in order of arrival, to find the oldest.
    ticket: u64,
    /// The fragments in order of arrival, and the start of each in the datagram and in `bytes`.
    bytes: Vec<u8>,
    pieces: Vec<(usize, usize)>,
    /// The received parts: sorted, disjoint, not adjacent.
    parts: Vec<(usize, usize)>,
    /// Length of the datagram, after its last fragment has arrived.
    total: Option<usize>,
    /// Protocol: that of the first fragment, if it has arrived.
    protocol: u8,
}

impl Waiting {
    /// Its approximate memory.
    fn size(&self) -> usize {
        self.bytes.len() + PIECE * self.pieces.len()
    }

    /// Assembles the datagram. Of overlapping fragments the one with the lower offset counts; at equal offsets, the one
    /// that arrived first: as in Wireshark [Wireshark reassemble.c].
    fn assemble(&self, whole: &mut Vec<u8>) {
        whole.clear();
        let ends = self.pieces.iter().skip(1).map(|&(_, at)| at).chain([self.bytes.len()]);
        let mut order: Vec<(usize, &[u8])> =
            self.pieces.iter().zip(ends).map(|(&(begin, at), end)| (begin, &self.bytes[at..end])).collect();
        order.sort_by_key(|&(begin, _)| begin);
        for (begin, data) in order {
            // There are no gaps: the start of the fragment may be present already.
            let new = whole.len().saturating_sub(begin);
            whole.extend_from_slice(data.get(new..).unwrap_or_default());
        }
    }
}

/// The fragments of incomplete datagrams: at most 16 MiB in 4096 datagrams.
#[derive(Debug, Default)]
pub struct Fragments {
    waiting: HashMap<Key, Waiting>,
    /// Tickets, oldest first. Those of complete datagrams are skipped.
    order: VecDeque<(u64, Key)>,
    bytes: usize,
    tickets: u64,
    discarded: u64,
    done: Vec<u8>,
}

impl Fragments {
    /// Number of discarded datagrams.
    pub fn discarded(&self) -> u64 {
        self.discarded
    }

    /// Adds a fragment. Returns protocol and bytes of the datagram if it is complete now.
    pub(super) fn add(&mut self, piece: &Fragment, data: &[u8]) -> Option<(u8, &[u8])> {
        let begin = piece.offset as usize;
        let end = begin + data.len();
        if data.is_empty() || end > MAX_DATAGRAM {
            return None;
        }
        if !self.waiting.contains_key(&piece.key) {
            self.begin(piece);
        }
        let datagram = self.waiting.get_mut(&piece.key)?;
        if piece.offset == 0 {
            datagram.protocol = piece.protocol;
        }
        if !piece.more {
            datagram.total.get_or_insert(end);
        }
        datagram.pieces.push((begin, datagram.bytes.len()));
        datagram.bytes.extend_from_slice(data);
        self.bytes += data.len() + PIECE;
        join(&mut datagram.parts, (begin, end));
        let complete = match (datagram.total, datagram.parts.as_slice()) {
            (Some(total), &[(0, end), ..]) => end >= total,
            _ => false,
        };
        if !complete {
            self.discard_oldest();
            return None;
        }
        let datagram = self.waiting.remove(&piece.key)?;
        self.bytes -= datagram.size();
        datagram.assemble(&mut self.done);
        self.done.truncate(datagram.total?);
        Some((datagram.protocol, &self.done))
    }

    fn begin(&mut self, piece: &Fragment) {
        self.tickets += 1;
        let new = Waiting {
            ticket: self.tickets,
            bytes: Vec::new(),
            pieces: Vec::new(),
            parts: Vec::new(),
            total: None,
            protocol: piece.protocol,
        };
        self.waiting.insert(piece.key, new);
        self.order.push_back((self.tickets, piece.key));
    }

    /// Discards the oldest datagrams until both limits hold.
    fn discard_oldest(&mut self) {
        while self.bytes > MAX_BYTES || self.waiting.len() > MAX_WAITING {
            let Some((ticket, key)) = self.order.pop_front() else { return };
            if self.waiting.get(&key).is_some_and(|datagram| datagram.ticket == ticket) {
                self.discarded += 1;
                self.bytes -= self.waiting.remove(&key).map_or(0, |datagram| datagram.size());
            }
        }
        // Tickets of complete datagrams accumulate while none is discarded.
        if self.order.len() > 2 * MAX_WAITING {
            let waiting = &self.waiting;
            self.order.retain(|(ticket, key)| waiting.get(key).is_some_and(|d| d.ticket == *ticket));
        }
    }
}

/// Adds a part to sorted disjoint parts and merges those that it touches.
fn join(parts: &mut Vec<(usize, usize)>, new: (usize, usize)) {
    let (mut begin, mut end) = new;
    let first = parts.partition_point(|part| part.1 < begin);
    let after = parts.partition_point(|part| part.0 <= end);
    if first < after {
        begin = begin.min(parts[first].0);
        end = end.max(parts[after - 1].1);
    }
    parts.splice(first..after, [(begin, end)]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn piece(id: u32, offset: u32, more: bool) -> Fragment {
        let (src, dst) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
        let key = Key { addresses: Addresses::V4 { src, dst }, id, protocol: 17, vlan: 0 };
        Fragment { key, offset, more, protocol: 17 }
    }

    #[test]
    fn received_parts_are_merged() {
        let mut parts = Vec::new();
        for new in [(8, 16), (24, 32), (0, 8), (40, 48), (30, 41)] {
            join(&mut parts, new);
        }
        assert_eq!(parts, [(0, 16), (24, 48)]);
        join(&mut parts, (16, 24));
        assert_eq!(parts, [(0, 48)]);
    }

    #[test]
    fn a_datagram_is_complete_in_any_order_and_with_duplicates() {
        let mut all = Fragments::default();
        assert_eq!(all.add(&piece(1, 16, false), b"end"), None);
        assert_eq!(all.add(&piece(1, 8, true), b"22222222"), None);
        assert_eq!(all.add(&piece(1, 8, true), b"22222222"), None);
        // Another datagram between them.
        assert_eq!(all.add(&piece(2, 0, true), b"xxxxxxxx"), None);
        assert_eq!(all.add(&piece(1, 0, true), b"11111111"), Some((17, &b"1111111122222222end"[..])));
        assert_eq!(all.add(&piece(1, 16, false), b"end"), None);
    }

    #[test]
    fn of_overlapping_fragments_the_one_that_begins_first_counts() {
        let mut all = Fragments::default();
        assert_eq!(all.add(&piece(1, 8, true), b"22222222"), None);
        assert_eq!(all.add(&piece(1, 16, false), b"end"), None);
        // It arrived last, but has the lowest offset: its last four bytes are those of the datagram.
        let whole = b"1111111111112222end";
        assert_eq!(all.add(&piece(1, 0, true), b"111111111111"), Some((17, &whole[..])));
        // Of two at one offset the first counts; a longer one adds the bytes beyond.
        assert_eq!(all.add(&piece(2, 0, true), b"aaaaaaaa"), None);
        assert_eq!(all.add(&piece(2, 0, true), b"bbbbbbbbbbbbbbbb"), None);
        assert_eq!(all.add(&piece(2, 16, false), b"c"), Some((17, &b"aaaaaaaabbbbbbbbc"[..])));
    }

    #[test]
    fn duplicate_fragments_stay_within_the_memory_bound() {
        let mut all = Fragments::default();
        for _ in 0..1_000_000 {
            assert_eq!(all.add(&piece(1, 8, true), b"22222222"), None);
            assert!(all.bytes <= MAX_BYTES);
        }
        assert!(all.discarded() > 0);
    }

    #[test]
    fn memory_is_bounded() {
        let mut all = Fragments::default();
        let data = [0; 1480];
        // Each lacks its first fragment, and the last byte of the longest lies at 65,480 + 1,480 > 65,535: rejected.
        for id in 0..100_000 {
            assert_eq!(all.add(&piece(id, 64_000, true), &data), None);
        }
        assert!(all.bytes <= MAX_BYTES);
        assert!(all.waiting.len() <= MAX_WAITING);
        assert!(all.order.len() <= 2 * MAX_WAITING + 1);
        assert_eq!(all.discarded(), 100_000 - 4096);
        assert_eq!(all.add(&piece(7, 65_480, false), &data), None);
    }
}
