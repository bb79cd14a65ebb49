//! UDP conversations (pairs of endpoints, in the order of their first datagrams), and the search for QUIC in them [RFC
//! 9000 §14.1, §17.2].

use std::collections::HashMap;
use std::net::IpAddr;

use crate::Frame;
use crate::dissect::{Ip, Outer, UdpView};
use crate::dscp;
use crate::quic::Quic;
use crate::tcp::track::{Folding, Key};

/// Datagrams of a direction that are tested for QUIC.
const DETECTION: u64 = 4;

/// One direction of a UDP conversation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Side {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) payload_bytes: u64,
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) ecn: [u64; 4],
    pub(crate) dscp: dscp::Counts,
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

impl Conversation {
    /// The server's address and name, if it is QUIC with a name.
    pub(crate) fn server_name(&self) -> Option<(IpAddr, &str)> {
        let quic = self.quic.as_deref()?;
        let ends = self.key.endpoints(self.low_first);
        Some((ends[usize::from(1 - quic.client)].0, quic.sni.as_deref()?))
    }
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

    /// Counts the datagram around a decapsulated tunnel.
    #[cold]
    pub(crate) fn carrier(&mut self, frame: &Frame<'_>, outer: &Outer) {
        self.count(frame, &outer.ip, outer.src_port, outer.dst_port, Some(outer.len));
    }

    /// The conversation of a datagram, and its direction; `None` beyond the limit.
    fn count(
        &mut self,
        frame: &Frame<'_>,
        ip: &Ip,
        src_port: u16,
        dst_port: u16,
        len: Option<u32>,
    ) -> Option<(&mut Conversation, u8)> {
        let (key, from_low) = Key::new(&ip.addresses, src_port, dst_port);
        let n = match self.map.get(&key) {
            Some(&n) => n,
            None if self.all.len() >= self.limit => {
                self.unlisted += 1;
                return None;
            }
            None => {
                let n = self.all.len() as u32;
                self.all.push(Conversation {
                    number: u64::from(n),
                    first_frame: frame.number,
                    key,
                    low_first: from_low,
                    sides: Default::default(),
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
            (side.first, side.last) = (now, now);
        }
        side.first = side.first.min(now);
        side.last = side.last.max(now);
        side.packets += 1;
        side.bytes += u64::from(frame.len);
        side.payload_bytes += u64::from(len.unwrap_or(0));
        side.fragments += u64::from(len.is_none());
        side.ecn[usize::from(ip.ecn.bits())] += 1;
        dscp::count(&mut side.dscp, ip.dscp);
        Some((c, d))
    }

    /// Counts a datagram.
    pub(crate) fn datagram(&mut self, frame: &Frame<'_>, ip: &Ip, udp: &UdpView<'_>) {
        let now = frame.time.unwrap_or(0);
        let Some((c, d)) = self.count(frame, ip, udp.src_port, udp.dst_port, udp.len) else { return };
        let packets = c.sides[usize::from(d)].packets;
        let len = udp.len.unwrap_or(0) as usize;
        if c.quic.is_none() && packets <= DETECTION {
            c.quic = Quic::detect(d, udp.payload, len, now);
        }
        if let Some(quic) = &mut c.quic {
            quic.datagram(d, udp.payload, len, now);
        }
    }
}
