//! Finds the stream of each segment, with Wireshark's stream numbers (`tcp.stream`).
//!
//! A stream is a pair of (address, port) endpoints; streams are numbered in the order of their first frames. A SYN on
//! the ports of an earlier connection begins a new stream by the rules of Wireshark 4.0 or 4.4 [Wireshark packet-tcp.c
//! `dissect_tcp`]. Memory is bounded: beyond the limit of [`Tracker::new`] a new connection evicts an idle one, chosen
//! by the second-chance (clock) algorithm; a later segment of the evicted connection begins a new stream.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::IpAddr;

use super::index::Index;
use crate::dissect::Addresses;
use dumbbell_wire::TcpFlags;

/// A pair of endpoints, the same for both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    low: u128,
    high: u128,
    /// Ports of `low` and `high`, and whether the addresses are IPv6.
    rest: u64,
}

impl Key {
    /// Returns the pair, and true if the source is its lower endpoint.
    #[inline]
    pub(crate) fn new(addresses: &Addresses, src_port: u16, dst_port: u16) -> (Self, bool) {
        let (src, dst, v6) = match addresses {
            Addresses::V4 { src, dst } => (u128::from(u32::from(*src)), u128::from(u32::from(*dst)), 0),
            Addresses::V6 { src, dst } => (u128::from(*src), u128::from(*dst), 1),
        };
        let rest = |low: u16, high: u16| u64::from(low) << 32 | u64::from(high) << 16 | v6;
        if (src, src_port) <= (dst, dst_port) {
            (Self { low: src, high: dst, rest: rest(src_port, dst_port) }, true)
        } else {
            (Self { low: dst, high: src, rest: rest(dst_port, src_port) }, false)
        }
    }

    /// The endpoints; `low_first`: the lower one first.
    pub(crate) fn endpoints(&self, low_first: bool) -> [(IpAddr, u16); 2] {
        let address = |a: u128| -> IpAddr {
            if self.rest & 1 == 1 { IpAddr::V6(a.into()) } else { IpAddr::V4((a as u32).into()) }
        };
        let low = (address(self.low), (self.rest >> 32) as u16);
        let high = (address(self.high), (self.rest >> 16) as u16);
        if low_first { [low, high] } else { [high, low] }
    }
}

impl std::hash::Hash for Key {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        if self.rest & 1 == 1 {
            state.write_u64((self.low >> 64) as u64);
            state.write_u64((self.high >> 64) as u64);
        }
        state.write_u64((self.low as u64) ^ (self.high as u64).rotate_left(32));
        state.write_u64(self.rest);
    }
}

/// A multiply-and-fold hash with a random key, so that a capture cannot be made to collide on purpose.
#[derive(Clone, Copy)]
pub(crate) struct Fold(u64);

impl Hasher for Fold {
    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.write_u64(u64::from(b));
        }
    }

    #[inline]
    fn write_u64(&mut self, n: u64) {
        let wide = u128::from(self.0 ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        self.0 = (wide >> 64) as u64 ^ wide as u64;
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

/// Builds hashers with one key.
#[derive(Clone)]
pub(crate) struct Folding(u64);

impl Default for Folding {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0_u8))
    }
}

impl BuildHasher for Folding {
    type Hasher = Fold;

    #[inline]
    fn build_hasher(&self) -> Fold {
        Fold(self.0)
    }
}

/// The stream of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    /// Index of the connection's state.
    pub(crate) slot: u32,
    /// Number of the stream.
    pub(crate) stream: u64,
    /// 0: from the endpoint that sent the first segment of the stream.
    pub(crate) direction: u8,
    /// True for the first segment of a stream; an earlier stream in `slot` has ended.
    pub(crate) fresh: bool,
    /// True if the ports belonged to an earlier stream.
    pub(crate) reused: bool,
    /// True for a SYN with the sequence number of the earlier SYN.
    pub(crate) syn_again: bool,
    /// The sender's initial sequence number, as known so far.
    pub(crate) base_seq: u32,
    /// The other side's initial sequence number, if it is known.
    pub(crate) base_ack: Option<u32>,
    /// True if the earlier connection in `slot` was evicted before it ended.
    pub(crate) evicted: bool,
}

/// State of a stream, as needed to assign the next segment.
#[derive(Clone, Debug)]
struct Slot {
    key: Key,
    stream: u64,
    base: [Option<u32>; 2],
    /// True if the lower endpoint of the key sent the first segment.
    low_first: bool,
    /// True after a FIN or RST.
    ending: bool,
    /// True if used since the clock hand last passed.
    used: bool,
}

/// The fields of a segment that determine its stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    pub(crate) flags: TcpFlags,
    /// True if it has a length; otherwise its sequence numbers are ignored.
    pub(crate) analyzed: bool,
}

/// The streams in memory.
pub(crate) struct Tracker {
    slots: Vec<Slot>,
    index: Index,
    hashing: Folding,
    limit: usize,
    hand: usize,
    streams: u64,
    last: Option<u32>,
    /// Number of connections evicted before they ended.
    pub(crate) evictions: u64,
    /// True: streams begin as in Wireshark 4.4.
    v44: bool,
}

impl Tracker {
    /// Tracks at most `limit` connections at a time.
    pub(crate) fn new(limit: usize, v44: bool) -> Self {
        Self {
            slots: Vec::new(),
            index: Index::new(),
            hashing: Folding::default(),
            limit: limit.clamp(1, u32::MAX as usize),
            hand: 0,
            streams: 0,
            last: None,
            evictions: 0,
            v44,
        }
    }

    /// The endpoints of the connection at `slot`, the sender of its first segment first.
    pub(crate) fn endpoints(&self, slot: u32) -> [(IpAddr, u16); 2] {
        let slot = &self.slots[slot as usize];
        slot.key.endpoints(slot.low_first)
    }

    /// Finds or begins the stream of a segment.
    #[inline]
    pub(crate) fn place(&mut self, key: Key, from_low: bool, h: Header) -> Placed {
        let (n, mut fresh, mut evicted) = match self.last {
            Some(n) if self.slots[n as usize].key == key => (n, false, false),
            _ => {
                let hash = self.hash(&key);
                match self.index.find(hash, |n| self.slots[n as usize].key == key) {
                    Some(n) => (n, false, false),
                    None => {
                        let (n, evicted) = self.begin(key, hash, from_low);
                        (n, true, evicted)
                    }
                }
            }
        };
        self.last = Some(n);
        let v44 = self.v44;
        let slot = &mut self.slots[n as usize];
        slot.used = true;
        let mut direction = usize::from(slot.low_first != from_low);
        let (mut reused, mut syn_again) = (false, false);
        if h.flags.contains(TcpFlags::SYN)
            && let Some(base) = slot.base[direction]
        {
            let other = h.seq != base;
            if !h.flags.contains(TcpFlags::ACK) {
                reused = other || v44 && slot.ending;
                syn_again = !reused;
                fresh |= reused;
            } else if other || v44 && slot.ending {
                reused = true;
                if v44 {
                    fresh = true;
                } else {
                    slot.base[direction] = Some(h.seq);
                }
            }
            if reused && fresh {
                // The earlier connection has ended; the new one reuses its slot.
                evicted = false;
                direction = 0;
                *slot =
                    Slot { key, stream: self.streams, base: [None; 2], low_first: from_low, ending: false, used: true };
                self.streams += 1;
            }
        }
        if h.analyzed {
            let syn = h.flags.contains(TcpFlags::SYN);
            slot.base[direction].get_or_insert(if syn { h.seq } else { h.seq.wrapping_sub(1) });
            if h.flags.contains(TcpFlags::ACK) {
                slot.base[1 - direction].get_or_insert(h.ack.wrapping_sub(1));
            }
        }
        slot.ending |= h.flags.intersects(TcpFlags::FIN | TcpFlags::RST);
        Placed {
            slot: n,
            stream: slot.stream,
            direction: direction as u8,
            fresh,
            reused,
            syn_again,
            base_seq: slot.base[direction].unwrap_or(h.seq),
            base_ack: slot.base[1 - direction],
            evicted,
        }
    }

    #[inline]
    fn hash(&self, key: &Key) -> u32 {
        (self.hashing.hash_one(key) >> 32) as u32
    }

    /// Begins a stream in a free slot, or evicts one.
    #[cold]
    fn begin(&mut self, key: Key, hash: u32, from_low: bool) -> (u32, bool) {
        let slot = Slot { key, stream: self.streams, base: [None; 2], low_first: from_low, ending: false, used: true };
        self.streams += 1;
        if self.slots.len() < self.limit {
            let n = self.slots.len() as u32;
            self.slots.push(slot);
            self.index.insert(hash, n);
            return (n, false);
        }
        // Ends after two rounds at the latest: the first round clears all `used` flags.
        loop {
            self.hand = (self.hand + 1) % self.slots.len();
            let old = &mut self.slots[self.hand];
            if old.used {
                old.used = false;
                continue;
            }
            break;
        }
        let n = self.hand as u32;
        let old = std::mem::replace(&mut self.slots[self.hand], slot);
        let ended = old.ending;
        self.index.remove(self.hash(&old.key), n);
        self.index.insert(hash, n);
        self.evictions += u64::from(!ended);
        (n, !ended)
    }
}
