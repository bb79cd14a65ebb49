//! Both captures in order of time, and the fingerprint by which a packet is found in the other capture: a
//! hash of the fields that do not change on the path ([`packets`](super::packets)).

use std::hash::BuildHasher;
use std::path::Path;

use super::packets::{Packet, Packets};
use crate::Error;
use crate::tcp::track::{Folding, Key};

/// Most packets that wait for their counterpart.
pub(super) const MOST_WAITING: usize = 1_000_000;

/// One capture, with its next packet.
pub(super) struct Capture {
    pub(super) packets: Packets,
    next: Option<Packet>,
}

impl Capture {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let mut packets = Packets::open(path)?;
        let next = packets.next();
        Ok(Self { packets, next })
    }

    fn take(&mut self) -> Option<Packet> {
        let next = self.packets.next();
        std::mem::replace(&mut self.next, next)
    }
}

/// Hash of the connection, hash of the packet, direction.
pub(super) type Fingerprint = (u64, u64, bool);

pub(super) fn fingerprint(key_hash: u64, s: &Packet) -> Fingerprint {
    (key_hash, s.fingerprint, s.from_low)
}

pub(super) fn hash(hasher: &Folding, key: &Key) -> u64 {
    hasher.hash_one(key)
}

/// The next packet of both captures in order of time.
pub(super) fn next(a: &mut Capture, b: &mut Capture, rough: i64) -> Option<(Packet, bool)> {
    let from_a = match (&a.next, &b.next) {
        (Some(x), Some(y)) => x.time + rough <= y.time,
        (Some(_), None) => true,
        (None, Some(_)) => false,
        (None, None) => return None,
    };
    let s = if from_a { a.take() } else { b.take() };
    s.map(|s| (s, from_a))
}
