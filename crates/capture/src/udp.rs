//! UDP conversations (pairs of endpoints, in the order of their first datagrams), and the search for QUIC in them [RFC 9000
//! §14.1, §17.2].

use std::collections::HashMap;

use crate::Frame;
use crate::dissect::{Ip, UdpView};
use crate::quic::Quic;
use crate::tcp::track::{Folding, Key};

/// Datagrams of a direction that are tested for QUIC.
const DETECTION: u64 = 4;

/// One direction of a UDP conversation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Side {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) payload_bytes: u64,
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) ecn: [u64; 4],
    /// First fragments of incomplete datagrams: packets without payload.
    pub(crate) fragments: u64,
}

/// A conversation; side 0 sent the first datagram.
#[derive(Clone, Debug)]
pub(crate) struct Conversation {
    pub(crate) number: u64,
    pub(crate) first_frame: u64,
    pub(crate) key: Key,
    pub(crate) low_first: bool,
    pub(crate) sides: [Side; 2],
    pub(crate) quic: Option<Box<Quic>>,
}

/// Up to `limit` conversations; datagrams of further ones are only counted.
pub(crate) struct Conversations {
    map: HashMap<Key, u32, Folding>,
    pub(crate) all: Vec<Conversation>,
    limit: usize,
    pub(crate) unlisted: u64,
}

impl Conversations {
    pub(crate) fn new(limit: usize) -> Self {
        Self { map: HashMap::default(), all: Vec::new(), limit, unlisted: 0 }
    }

    /// Counts a datagram.
    pub(crate) fn datagram(&mut self, frame: &Frame<'_>, ip: &Ip, udp: &UdpView<'_>) {
        let (key, from_low) = Key::new(&ip.addresses, udp.src_port, udp.dst_port);
        let n = match self.map.get(&key) {
            Some(&n) => n,
            None if self.all.len() >= self.limit => {
                self.unlisted += 1;
                return;
            }
            None => {
                let n = self.all.len() as u32;
                self.all.push(Conversation {
                    number: u64::from(n),
                    first_frame: frame.number,
                    key,
                    low_first: from_low,
                    sides: [Side::default(); 2],
                    quic: None,
                });
                self.map.insert(key, n);
                n
            }
        };
        let c = &mut self.all[n as usize];
        let d = u8::from(c.low_first != from_low);
        let side = &mut c.sides[usize::from(d)];
        let now = frame.time.unwrap_or(0);
        if side.packets == 0 {
            side.first = now;
        }
        side.last = now;
        side.packets += 1;
        side.bytes += u64::from(frame.len);
        side.payload_bytes += u64::from(udp.len.unwrap_or(0));
        side.fragments += u64::from(udp.len.is_none());
        side.ecn[usize::from(ip.ecn.bits())] += 1;
        let len = udp.len.unwrap_or(0) as usize;
        if c.quic.is_none() && side.packets <= DETECTION {
            c.quic = Quic::detect(d, udp.payload, len, now);
        }
        if let Some(quic) = &mut c.quic {
            quic.datagram(d, udp.payload, len, now);
        }
    }
}
