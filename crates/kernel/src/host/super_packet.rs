//! Super-packets between a host and the link: TCP segments of up to 64 KiB that a host's kernel leaves to its interface
//! to split, and packets that arrive together, joined into one as a receiving interface does (TSO and GRO).
//!
//! ```text
//! host -- super-packet --> split -- packets as on the wire --> [ queues, links ] -- packets --> join
//!                                                                                    join -- super-packet --> host
//! ```
//! The packets of a super-packet share its payload. Splitting follows [Linux net/ipv4/tcp_offload.c tcp_gso_segment,
//! net/ipv4/af_inet.c inet_gso_segment], joining [tcp_offload.c tcp_gro_receive]. The header before each packet is
//! `virtio_net_hdr` [virtio 1.2 §5.1.6, Linux include/uapi/linux/virtio_net.h], in the order of bytes of the machine.

use dumbbell_wire::protocol::TCP;
use dumbbell_wire::{Checksum, IpVersion, Ipv4Header, Ipv6Header, TcpFlags, TcpHeader};
use std::io::IoSlice;
use std::ops::Range;
use std::rc::Rc;

/// Length of `virtio_net_hdr`, bytes.
pub(super) const VIRTIO: usize = 10;
/// Largest IP packet, bytes [RFC 791 §3.1].
const LARGEST: usize = 65_535;
/// `VIRTIO_NET_HDR_F_NEEDS_CSUM`: the checksum field has the sum of the pseudo-header only.
const NEEDS_CSUM: u8 = 1;
/// `VIRTIO_NET_HDR_GSO_TCPV4` and `_TCPV6`; `_ECN` says that CWR may be set.
const GSO_TCPV4: u8 = 1;
const GSO_TCPV6: u8 = 4;
const GSO_ECN: u8 = 0x80;

/// The fields of `virtio_net_hdr`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Virtio {
    flags: u8,
    gso_type: u8,
    hdr_len: u16,
    gso_size: u16,
    csum_start: u16,
    csum_offset: u16,
}

impl Virtio {
    fn read(bytes: &[u8; VIRTIO]) -> Virtio {
        let word = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        Virtio {
            flags: bytes[0],
            gso_type: bytes[1],
            hdr_len: word(2),
            gso_size: word(4),
            csum_start: word(6),
            csum_offset: word(8),
        }
    }

    fn bytes(self) -> [u8; VIRTIO] {
        let mut bytes = [0; VIRTIO];
        (bytes[0], bytes[1]) = (self.flags, self.gso_type);
        let words = [self.hdr_len, self.gso_size, self.csum_start, self.csum_offset];
        for (to, word) in bytes[2..].chunks_exact_mut(2).zip(words) {
            to.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }
}

/// A part of a payload that several packets share.
#[derive(Clone, Debug)]
struct Part {
    of: Rc<[u8]>,
    range: Range<usize>,
}

/// A packet as on the wire.
#[derive(Clone, Debug, Default)]
pub(super) struct Unit {
    /// Its headers, with the payload if `payload` is None.
    pub(super) head: Vec<u8>,
    payload: Option<Part>,
    /// Where its checksum is still to be computed: `csum_start`, `csum_offset`.
    partial: Option<[u16; 2]>,
}

impl Unit {
    /// Returns its length, bytes.
    pub(super) fn len(&self) -> usize {
        self.head.len() + self.payload.as_ref().map_or(0, |part| part.range.len())
    }

    /// Writes the whole packet, with its checksum.
    pub(super) fn whole(&self, into: &mut Vec<u8>) {
        into.clear();
        into.extend_from_slice(&self.head);
        into.extend(self.payload.iter().flat_map(|part| &part.of[part.range.clone()]));
        let Some([start, offset]) = self.partial.map(|p| p.map(usize::from)) else { return };
        if start + offset + 2 > into.len() {
            return;
        }
        // The field has the sum of the pseudo-header: the sum over all includes it [virtio 1.2 §5.1.6.2].
        let mut sum = Checksum::default();
        sum.add(&into[start..]);
        let is_udp = offset == 6;
        let sum = if is_udp { sum.finish_udp() } else { sum.finish() };
        into[start + offset..start + offset + 2].copy_from_slice(&sum.to_be_bytes());
    }
}

/// The headers of a TCP segment.
#[derive(Clone, Copy)]
struct Headers {
    version: IpVersion,
    /// Where the TCP header begins, and where it ends, bytes.
    tcp: usize,
    end: usize,
}

impl Headers {
    /// Reads them; None if the packet isn't a TCP segment or its headers are incomplete.
    fn of(packet: &[u8]) -> Option<Headers> {
        let version = IpVersion::of_packet(packet)?;
        let (protocol, tcp) = match version {
            IpVersion::V4 => {
                let ip = Ipv4Header::new(packet)?;
                (ip.protocol(), ip.header_len())
            }
            IpVersion::V6 => (Ipv6Header::new(packet)?.next_header(), Ipv6Header::LEN),
        };
        let end = tcp + TcpHeader::new(packet.get(tcp..)?)?.header_len();
        let complete = tcp >= version.header_bytes() as usize && end >= tcp + TcpHeader::LEN;
        (protocol == TCP && complete && end <= packet.len()).then_some(Headers { version, tcp, end })
    }

    /// Writes the lengths for this payload, and the sums of the IP header and of the pseudo-header.
    fn fit(self, head: &mut [u8], payload: usize) {
        let segment = self.end - self.tcp + payload;
        let (addresses, length) = match self.version {
            IpVersion::V4 => (12..20, 2..4),
            IpVersion::V6 => (8..40, 4..6),
        };
        let counted = if self.version == IpVersion::V4 { self.tcp + segment } else { segment };
        head[length].copy_from_slice(&(counted as u16).to_be_bytes());
        if self.version == IpVersion::V4 {
            head[10..12].fill(0);
            let mut sum = Checksum::default();
            sum.add(&head[..self.tcp]);
            head[10..12].copy_from_slice(&sum.finish().to_be_bytes());
        }
        let mut sum = Checksum::default();
        sum.add(&head[addresses]);
        sum.add_protocol(TCP, segment as u32);
        head[self.tcp + 16..self.tcp + 18].copy_from_slice(&(!sum.finish()).to_be_bytes());
    }

    /// True if two packets differ only in lengths, sums, identification, sequence number, FIN and PSH.
    fn are_alike(self, first: &[u8], next: &[u8]) -> bool {
        let same = |range: Range<usize>| first[range.clone()] == next[range];
        let ip = match self.version {
            IpVersion::V4 => same(0..2) && same(6..10) && same(12..self.tcp),
            IpVersion::V6 => same(0..4) && same(6..self.tcp),
        };
        let ends = TcpFlags::FIN.bits() as u8 | TcpFlags::PSH.bits() as u8;
        let flags = |head: &[u8]| head[self.tcp + 13] & !ends;
        let tcp = self.tcp;
        ip && same(tcp..tcp + 4)
            && same(tcp + 8..tcp + 13)
            && flags(first) == flags(next)
            && same(tcp + 14..tcp + 16)
            && same(tcp + 18..self.end)
    }

    fn id(self, head: &[u8]) -> Option<u16> {
        (self.version == IpVersion::V4).then(|| u16::from_be_bytes([head[4], head[5]]))
    }

    fn seq(self, head: &[u8]) -> u32 {
        let at = self.tcp + 4;
        u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]])
    }

    fn set_seq(self, head: &mut [u8], seq: u32) {
        head[self.tcp + 4..self.tcp + 8].copy_from_slice(&seq.to_be_bytes());
    }

    fn flags(self, head: &[u8]) -> TcpFlags {
        TcpFlags::from_bits(u16::from_be_bytes([head[self.tcp + 12], head[self.tcp + 13]]))
    }

    /// Clears flags.
    fn clear(self, head: &mut [u8], flags: TcpFlags) {
        head[self.tcp + 13] &= !(flags.bits() as u8);
    }
}

/// Splits what was read from a host's device, `virtio_net_hdr` and packet, into packets as on the wire. Without
/// `shares`, a packet that needs no splitting keeps its payload with its headers.
pub(super) fn split(read: &[u8], shares: bool, into: &mut Vec<Unit>) {
    into.clear();
    let Some((virtio, packet)) = read.split_first_chunk::<VIRTIO>() else { return };
    let virtio = Virtio::read(virtio);
    let partial = (virtio.flags & NEEDS_CSUM != 0).then_some([virtio.csum_start, virtio.csum_offset]);
    let headers = if shares { Headers::of(packet).filter(|h| h.end < packet.len()) } else { None };
    let Some(headers) = headers else {
        into.push(Unit { head: packet.to_vec(), payload: None, partial });
        return;
    };
    let (head, payload) = packet.split_at(headers.end);
    let payload: Rc<[u8]> = payload.into();
    if virtio.gso_type & !GSO_ECN == 0 {
        let range = 0..payload.len();
        into.push(Unit { head: head.to_vec(), payload: Some(Part { of: payload, range }), partial });
        return;
    }
    let size = usize::from(virtio.gso_size).max(1);
    let (seq, id) = (headers.seq(head), headers.id(head));
    for (n, from) in (0..payload.len()).step_by(size).enumerate() {
        let range = from..(from + size).min(payload.len());
        let mut head = head.to_vec();
        headers.set_seq(&mut head, seq.wrapping_add(from as u32));
        if let Some(id) = id {
            head[4..6].copy_from_slice(&id.wrapping_add(n as u16).to_be_bytes());
        }
        if range.end < payload.len() {
            headers.clear(&mut head, TcpFlags::FIN);
            headers.clear(&mut head, TcpFlags::PSH);
        }
        if n > 0 {
            headers.clear(&mut head, TcpFlags::CWR);
        }
        headers.fit(&mut head, range.len());
        into.push(Unit { head, payload: Some(Part { of: payload.clone(), range }), partial });
    }
}

/// A packet for a host's device: several that arrived together, or one.
pub(super) struct Joined {
    head: Vec<u8>,
    parts: Vec<Part>,
    partial: Option<[u16; 2]>,
    /// Headers of a segment that others can be joined to.
    headers: Option<Headers>,
    /// Payload of the first packet, and of all, bytes.
    size: usize,
    payload: usize,
    packets: u16,
}

impl Joined {
    pub(super) fn new(unit: Unit) -> Joined {
        let Unit { head, payload, partial } = unit;
        let size = payload.as_ref().map_or(0, |part| part.range.len());
        let headers = Headers::of(&head).filter(|h| {
            payload.is_some() && partial.is_some() && h.flags(&head).without(TcpFlags::ACK) == TcpFlags::default()
        });
        Joined { head, parts: payload.into_iter().collect(), partial, headers, size, payload: size, packets: 1 }
    }

    /// Joins a packet that continues it; else returns it.
    pub(super) fn join(&mut self, unit: Unit) -> Result<(), Unit> {
        let (Some(h), Some(part)) = (self.headers, &unit.payload) else { return Err(unit) };
        let (first, next) = (&self.head, &unit.head);
        let length = part.range.len();
        let continues = next.len() == h.end
            && unit.partial == self.partial
            && length <= self.size
            && h.end + self.payload + length <= LARGEST
            && h.seq(next) == h.seq(first).wrapping_add(self.payload as u32)
            && h.id(next) == h.id(first).map(|id| id.wrapping_add(self.packets))
            && h.are_alike(first, next);
        if !continues {
            return Err(unit);
        }
        let last = [TcpFlags::FIN, TcpFlags::PSH].map(|flag| h.flags(next).contains(flag));
        self.head[h.tcp + 13] |= next[h.tcp + 13];
        (self.payload, self.packets) = (self.payload + length, self.packets + 1);
        match (self.parts.last_mut(), unit.payload) {
            (Some(before), Some(part)) if Rc::ptr_eq(&before.of, &part.of) && before.range.end == part.range.start => {
                before.range.end = part.range.end;
            }
            (_, part) => self.parts.extend(part),
        }
        h.fit(&mut self.head, self.payload);
        if length < self.size || last.contains(&true) {
            self.headers = None;
        }
        Ok(())
    }

    /// Passes what is written: `virtio_net_hdr`, headers, payload.
    pub(super) fn write<T>(&self, write: impl FnOnce(&[IoSlice<'_>]) -> T) -> T {
        let mut virtio = Virtio::default();
        if let Some([start, offset]) = self.partial {
            (virtio.flags, virtio.csum_start, virtio.csum_offset) = (NEEDS_CSUM, start, offset);
        }
        if self.packets > 1 {
            let is_v6 = IpVersion::of_packet(&self.head) == Some(IpVersion::V6);
            virtio.gso_type = if is_v6 { GSO_TCPV6 } else { GSO_TCPV4 };
            (virtio.hdr_len, virtio.gso_size) = (self.head.len() as u16, self.size as u16);
        }
        let virtio = virtio.bytes();
        let mut all = Vec::with_capacity(2 + self.parts.len());
        all.extend([IoSlice::new(&virtio), IoSlice::new(&self.head)]);
        all.extend(self.parts.iter().map(|part| IoSlice::new(&part.of[part.range.clone()])));
        write(&all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A TCP segment from 10.1.0.0 to 10.2.0.0 with timestamps, this identification, sequence number, flags and
    /// payload.
    fn segment(id: u16, seq: u32, flags: TcpFlags, payload: &[u8]) -> Vec<u8> {
        let mut b = vec![0x45, 2, 0, 0, 0, 0, 0x40, 0, 64, TCP, 0, 0, 10, 1, 0, 0, 10, 2, 0, 0];
        b[2..4].copy_from_slice(&(52 + payload.len() as u16).to_be_bytes());
        b[4..6].copy_from_slice(&id.to_be_bytes());
        b.extend([0x4e, 0x20, 0x13, 0x89]); // ports 20000 and 5001
        b.extend(seq.to_be_bytes());
        b.extend([0, 0, 0, 9]); // acknowledgment
        b.extend([0x80, flags.bits() as u8, 1, 2, 0, 0, 0, 0]);
        b.extend([1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 6]);
        let mut sum = Checksum::default();
        sum.add(&b[..20]);
        b[10..12].copy_from_slice(&sum.finish().to_be_bytes());
        b.extend(payload);
        b
    }

    fn read(virtio: Virtio, packet: &[u8]) -> Vec<u8> {
        [&virtio.bytes()[..], packet].concat()
    }

    fn super_packet(payload: &[u8], size: u16, flags: TcpFlags) -> Vec<u8> {
        let virtio = Virtio {
            flags: NEEDS_CSUM,
            gso_type: GSO_TCPV4,
            hdr_len: 52,
            gso_size: size,
            csum_start: 20,
            csum_offset: 16,
        };
        read(virtio, &segment(7, u32::MAX - 999, flags, payload))
    }

    fn units(read: &[u8]) -> Vec<Unit> {
        let mut found = Vec::new();
        split(read, true, &mut found);
        found
    }

    /// The sum of a header, and of a segment with its pseudo-header, which are 0 if the checksums are right.
    fn sums(packet: &[u8]) -> (u16, u16) {
        let (mut ip, mut tcp) = (Checksum::default(), Checksum::default());
        ip.add(&packet[..20]);
        tcp.add(&packet[12..20]);
        tcp.add_protocol(TCP, packet.len() as u32 - 20);
        tcp.add(&packet[20..]);
        (ip.finish(), tcp.finish())
    }

    fn written(joined: &Joined) -> Vec<u8> {
        joined.write(|parts| parts.iter().flat_map(|part| part.iter().copied()).collect())
    }

    #[test]
    fn a_super_packet_becomes_packets_as_on_the_wire() {
        let payload: Vec<u8> = (0..2500u32).map(|n| n as u8).collect();
        let all = TcpFlags::ACK.bits() | TcpFlags::PSH.bits() | TcpFlags::FIN.bits() | TcpFlags::CWR.bits();
        let units = units(&super_packet(&payload, 1000, TcpFlags::from_bits(all)));
        let expected = [
            // CWR is of the first, PSH and FIN are of the last; the sequence number wraps.
            (0..1000, 7u16, u32::MAX - 999, TcpFlags::ACK.bits() | TcpFlags::CWR.bits()),
            (1000..2000, 8, 0, TcpFlags::ACK.bits()),
            (2000..2500, 9, 1000, TcpFlags::ACK.bits() | TcpFlags::PSH.bits() | TcpFlags::FIN.bits()),
        ];
        assert_eq!(units.len(), expected.len());
        let mut whole = Vec::new();
        for (unit, (range, id, seq, flags)) in units.iter().zip(expected) {
            unit.whole(&mut whole);
            assert_eq!((unit.len(), whole.len()), (52 + range.len(), 52 + range.len()));
            let mut plain = segment(id, seq, TcpFlags::from_bits(flags), &payload[range]);
            plain[36..38].copy_from_slice(&whole[36..38]);
            assert_eq!(whole, plain);
            assert_eq!(sums(&whole), (0, 0));
        }
    }

    #[test]
    fn packets_that_continue_each_other_are_joined() {
        let payload: Vec<u8> = (0..2500u32).map(|n| n as u8).collect();
        let given = super_packet(&payload, 1000, TcpFlags::from_bits(TcpFlags::ACK.bits() | TcpFlags::PSH.bits()));
        let mut units = units(&given).into_iter();
        let mut joined = Joined::new(units.next().unwrap_or_default());
        for unit in units {
            assert!(joined.join(unit).is_ok());
        }
        assert_eq!(joined.parts.len(), 1, "parts of one payload that follow each other are one");
        let mut found = written(&joined);
        // The sum of the pseudo-header is written, which the segment of this test lacks.
        found[VIRTIO + 36..VIRTIO + 38].fill(0);
        assert_eq!(found, given);
        // The last packet had PSH, and was short.
        let next = segment(10, 1500, TcpFlags::ACK, &[0; 500]);
        let next = units_of_one(&next);
        assert!(joined.join(next).is_err());
    }

    fn units_of_one(packet: &[u8]) -> Unit {
        let virtio = Virtio { flags: NEEDS_CSUM, csum_start: 20, csum_offset: 16, ..Virtio::default() };
        units(&read(virtio, packet)).remove(0)
    }

    #[test]
    fn other_packets_are_not_joined() {
        let first = segment(1, 1000, TcpFlags::ACK, &[1; 500]);
        let next = segment(2, 1500, TcpFlags::ACK, &[2; 500]);
        let joins = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut next = next.clone();
            change(&mut next);
            Joined::new(units_of_one(&first)).join(units_of_one(&next)).is_ok()
        };
        assert!(joins(&|_| {}));
        assert!(!joins(&|p| p[1] = 3), "marked CE");
        assert!(!joins(&|p| p[8] = 63), "another TTL");
        assert!(!joins(&|p| p[5] = 3), "another packet was between them");
        assert!(!joins(&|p| p[20] ^= 1), "another connection");
        assert!(!joins(&|p| p[27] ^= 1), "a hole");
        assert!(!joins(&|p| p[31] ^= 1), "another acknowledgment");
        assert!(!joins(&|p| p[35] ^= 1), "another window");
        assert!(!joins(&|p| p[51] ^= 1), "another timestamp");
        assert!(!joins(&|p| p.extend([0; 8])), "longer than the first");
        let pure = segment(2, 1500, TcpFlags::ACK, &[]);
        assert!(Joined::new(units_of_one(&first)).join(units_of_one(&pure)).is_err(), "no payload");
        let end = segment(1, 1000, TcpFlags::from_bits(TcpFlags::ACK.bits() | TcpFlags::PSH.bits()), &[1; 500]);
        assert!(Joined::new(units_of_one(&end)).join(units_of_one(&next)).is_err(), "PSH ends it");
    }

    #[test]
    fn no_more_than_the_largest_packet_is_joined() {
        let payload = vec![0; 1448];
        let mut joined = Joined::new(units_of_one(&segment(0, 0, TcpFlags::ACK, &payload)));
        let fits = (1..100).take_while(|n| {
            let next = segment(*n, u32::from(*n) * 1448, TcpFlags::ACK, &payload);
            joined.join(units_of_one(&next)).is_ok()
        });
        // 52 + 45 x 1448 = 65212; with one more it is over 65535.
        assert_eq!(fits.count(), 44);
        assert_eq!(written(&joined).len(), VIRTIO + 65_212);
    }

    #[test]
    fn single_packets_keep_their_content() {
        let packet = segment(1, 1000, TcpFlags::ACK, &[1, 2, 3]);
        let mut found = Vec::new();
        for shares in [false, true] {
            split(&read(Virtio::default(), &packet), shares, &mut found);
            assert_eq!(found.len(), 1);
            let joined = Joined::new(found.remove(0));
            assert_eq!(written(&joined), read(Virtio::default(), &packet), "shares: {shares}");
        }
        split(&[0; 5], true, &mut found);
        assert!(found.is_empty(), "shorter than the header before each packet");
    }

    #[test]
    fn the_checksum_of_a_datagram_is_completed() {
        // 4 bytes of payload; the field has the sum of the pseudo-header: 0x0a01 + 0x0a02 + 17 + 12 = 0x1420.
        let mut packet = vec![0x45, 0, 0, 32, 0, 0, 0, 0, 64, 17, 0, 0, 10, 1, 0, 0, 10, 2, 0, 0];
        packet.extend([0, 1, 0, 2, 0, 12, 0x14, 0x20, 1, 2, 3, 4]);
        let virtio = Virtio { flags: NEEDS_CSUM, csum_start: 20, csum_offset: 6, ..Virtio::default() };
        let mut whole = Vec::new();
        units(&read(virtio, &packet))[0].whole(&mut whole);
        // 0x1420 + 1 + 2 + 12 + 0x0102 + 0x0304 = 0x1835; its complement.
        assert_eq!(whole[26..28], (!0x1835u16).to_be_bytes());
    }

    #[test]
    fn super_packets_of_ipv6_are_split_and_joined() {
        let mut packet = vec![0; 40];
        (packet[0], packet[6], packet[7]) = (0x60, TCP, 64);
        packet[23] = 1;
        packet[39] = 2;
        packet.extend(&segment(0, 5, TcpFlags::ACK, &[7; 300])[20..]);
        packet[4..6].copy_from_slice(&332u16.to_be_bytes());
        let virtio = Virtio {
            flags: NEEDS_CSUM,
            gso_type: GSO_TCPV6 | GSO_ECN,
            hdr_len: 72,
            gso_size: 200,
            csum_start: 40,
            csum_offset: 16,
        };
        let given = read(virtio, &packet);
        let mut units = units(&given);
        assert_eq!(units.iter().map(|u| u16::from_be_bytes([u.head[4], u.head[5]])).collect::<Vec<_>>(), [232, 132]);
        let second = units.remove(1);
        let mut joined = Joined::new(units.remove(0));
        assert!(joined.join(second).is_ok());
        let mut found = written(&joined);
        found[VIRTIO + 56..VIRTIO + 58].fill(0);
        assert_eq!(found[VIRTIO..], given[VIRTIO..]);
        assert_eq!(found[1], GSO_TCPV6);
    }
}
