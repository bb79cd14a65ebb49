//! Finds the spurious retransmissions of a run, for the comments in captures.
//!
//! A retransmission is spurious if each of its bytes was in an earlier packet that was not dropped: that packet has
//! arrived, or will arrive.

use super::SentPacket;
use dumbbell_wire::TcpFlags;
use std::collections::{BTreeMap, HashMap};

/// Sent parts of a connection's sequence space: begin -> (end, true if a packet that carried it was not dropped).
type Parts = BTreeMap<u64, (u64, bool)>;

/// The sequence numbers of a packet, counted from the SYN: SYN, payload, FIN.
fn span(packet: &SentPacket) -> (u64, u64) {
    let segment = &packet.segment;
    if segment.flags.contains(TcpFlags::SYN) {
        return (0, 1);
    }
    let begin = packet.number + 1;
    (begin, begin + u64::from(segment.payload) + u64::from(segment.flags.contains(TcpFlags::FIN)))
}

/// Finds the spurious retransmissions among packets whose fate is known, in the order in which they were sent.
#[derive(Debug, Default)]
pub(super) struct Spurious {
    connections: HashMap<(u32, u32), Parts>,
}

impl Spurious {
    pub(super) fn mark(&mut self, packet: &mut SentPacket) {
        let (begin, end) = span(packet);
        if begin == end {
            return;
        }
        let parts = self.connections.entry((packet.flow, packet.connection)).or_default();
        if packet.cause.is_some() && packet.copied_by.is_none() {
            packet.spurious = all_survived(parts, begin, end);
        }
        record(parts, begin, end, packet.lost.is_none());
        join(parts, begin, end);
    }
}

/// True if each byte of `begin..end` was in a packet that was not dropped.
fn all_survived(parts: &Parts, begin: u64, end: u64) -> bool {
    let from = parts.range(..=begin).next_back().map_or(begin, |(&b, _)| b);
    let mut reached = begin;
    for (&b, &(e, survived)) in parts.range(from..end) {
        if e <= reached {
            continue;
        }
        if b > reached || !survived {
            return false;
        }
        reached = e;
    }
    reached >= end
}

/// Records that `begin..end` was sent. Splits the parts that overlap its edges.
fn record(parts: &mut Parts, begin: u64, end: u64, survived: bool) {
    for edge in [begin, end] {
        if let Some((&b, &(e, s))) = parts.range(..edge).next_back()
            && e > edge
        {
            parts.insert(b, (edge, s));
            parts.insert(edge, (e, s));
        }
    }
    let mut reached = begin;
    let mut gaps = Vec::new();
    for (&b, part) in parts.range_mut(begin..end) {
        if b > reached {
            gaps.push((reached, b));
        }
        part.1 |= survived;
        reached = part.0;
    }
    if reached < end {
        gaps.push((reached, end));
    }
    parts.extend(gaps.into_iter().map(|(b, e)| (b, (e, survived))));
}

/// Joins the parts of the same fate that touch each other in `begin..=end`, so that their number doesn't grow with the
/// run.
fn join(parts: &mut Parts, begin: u64, end: u64) {
    let mut at = parts.range(..begin).next_back().map_or(begin, |(&b, _)| b);
    while let Some(&(e, survived)) = parts.get(&at) {
        match parts.get(&e) {
            Some(&(next_end, next_survived)) if next_survived == survived => {
                parts.remove(&e);
                parts.insert(at, (next_end, survived));
            }
            _ if e > end => return,
            _ => match parts.range(e..=end).next() {
                Some((&b, _)) => at = b,
                None => return,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_units::random::Stream;

    #[test]
    fn joined_parts_have_the_same_fates() {
        let mut random = Stream::new(9, "parts");
        let (mut plain, mut joined) = (Parts::new(), Parts::new());
        for _ in 0..3000 {
            let begin = 1 + random.next_u64() % 300;
            let (end, survived) = (begin + 1 + random.next_u64() % 20, random.next_u64() % 3 < 2);
            assert_eq!(all_survived(&plain, begin, end), all_survived(&joined, begin, end));
            record(&mut plain, begin, end, survived);
            record(&mut joined, begin, end, survived);
            join(&mut joined, begin, end);
        }
        assert!(plain.len() > 50 && joined.len() < 3, "{} {}", plain.len(), joined.len());
    }

    #[test]
    fn the_parts_of_a_long_transfer_are_few() {
        let mut parts = Parts::new();
        for n in 0..10_000 {
            let (begin, end) = (n * 100, n * 100 + 100);
            record(&mut parts, begin, end, n % 100 != 7);
            join(&mut parts, begin, end);
            if n % 100 == 50 {
                let hole = (n - 43) * 100;
                record(&mut parts, hole, hole + 100, true);
                join(&mut parts, hole, hole + 100);
            }
            assert!(parts.len() <= 3, "{parts:?}");
        }
        assert!(all_survived(&parts, 0, 990_000));
    }

    #[test]
    fn a_range_survived_if_each_of_its_bytes_did() {
        let mut parts = Parts::new();
        record(&mut parts, 1, 11, true); // bytes 1 to 10 survive
        record(&mut parts, 11, 21, false); // 11 to 20 are lost
        record(&mut parts, 31, 41, true); // 31 to 40 survive, 21 to 30 are unknown
        assert!(all_survived(&parts, 1, 11));
        assert!(all_survived(&parts, 3, 8));
        assert!(!all_survived(&parts, 11, 21));
        assert!(!all_survived(&parts, 6, 16)); // half of it is lost
        assert!(!all_survived(&parts, 35, 45)); // the end was never sent
        assert!(!all_survived(&parts, 21, 31));
        // A retransmission of the lost half's first five bytes survives: 1 to 15 have survived.
        record(&mut parts, 11, 16, true);
        assert!(all_survived(&parts, 6, 16));
        assert!(!all_survived(&parts, 6, 17));
        // One that spans a gap fills it.
        record(&mut parts, 16, 41, true);
        assert!(all_survived(&parts, 1, 41));
    }
}
