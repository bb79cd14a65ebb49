//! The fields of a packet that the meters use, read from its headers [RFC 791 §3.1, RFC 8200 §3, RFC 9293 §3.1, RFC
//! 2018 §3, RFC 768]. The flow and the direction follow from the addresses of the hosts (`plan/hosts.rs`).

use crate::plan::hosts::direction_of;
use dumbbell_sim::ecn_of;
use dumbbell_wire::protocol::{ICMP, ICMPV6, TCP, UDP};
use dumbbell_wire::{
    Checksum, Ecn, IcmpHeader, IpVersion, Ipv4Header, Ipv6Header, SackBlocks, Seq, TcpFlags, TcpHeader, TcpOptions,
};
use std::net::IpAddr;

/// The least type of an ICMPv6 message of the kernel itself: groups and neighbors [RFC 4443 §2.1, RFC 4861 §4].
const OWN_ICMPV6: u8 = 130;

/// The fields of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Twice its flow's number; plus 1 from the data receiver to the data sender.
    pub direction: u32,
    /// Length of the IP packet, bytes.
    pub bytes: u32,
    /// Payload, bytes (datagrams: the whole packet).
    pub payload: u32,
    /// True if it is marked CE.
    pub ce: bool,
    /// Identifies it among the packets of its direction.
    pub key: u64,
    /// Fields of its TCP header.
    pub tcp: Option<Tcp>,
}

/// Fields of a TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcp {
    /// Sequence number.
    pub seq: Seq,
    /// Acknowledgment number.
    pub ack: Seq,
    /// True if SYN is set.
    pub syn: bool,
    /// True if ACK is set.
    pub acks: bool,
    /// Its SACK blocks.
    pub sack: SackBlocks,
    /// The larger of its two ports, which identifies the connection of the flow: the other one is always the same.
    pub connection: u16,
}

/// The fields of an IP header.
struct Ip {
    source: IpAddr,
    destination: IpAddr,
    protocol: u8,
    header: usize,
    total: u32,
    /// Identification; IPv6 has none.
    id: Option<u16>,
}

impl Ip {
    /// Reads a header; None if it is incomplete or of an unknown version.
    fn read(bytes: &[u8]) -> Option<Ip> {
        Some(match IpVersion::of_packet(bytes)? {
            IpVersion::V4 => {
                let ip = Ipv4Header::new(bytes)?;
                Ip {
                    source: ip.src().into(),
                    destination: ip.dst().into(),
                    protocol: ip.protocol(),
                    header: ip.header_len(),
                    total: u32::from(ip.total_len()),
                    id: Some(ip.id()),
                }
            }
            IpVersion::V6 => {
                let ip = Ipv6Header::new(bytes)?;
                Ip {
                    source: ip.src().into(),
                    destination: ip.dst().into(),
                    protocol: ip.next_header(),
                    header: IpVersion::V6.header_bytes() as usize,
                    total: IpVersion::V6.header_bytes() + u32::from(ip.payload_len()),
                    id: None,
                }
            }
        })
    }
}

impl Packet {
    /// Returns the direction that a packet's destination address belongs to.
    #[must_use]
    pub fn direction_to(bytes: &[u8]) -> Option<u32> {
        direction_of(Ip::read(bytes)?.destination).map(|of_host| of_host ^ 1)
    }

    /// Reads an IP header and the transport header; None if the packet belongs to no flow.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Packet> {
        Packet::read_as(direction_of(Ip::read(bytes)?.source)?, bytes)
    }

    /// Reads the headers of a packet of a known direction; None if it is neither TCP nor UDP nor ICMP. Without an
    /// identification (IPv6), packets with the same headers have the same key: they keep their order in queues, so that
    /// each is taken for the first of them.
    #[must_use]
    pub fn read_as(direction: u32, bytes: &[u8]) -> Option<Packet> {
        let ip = Ip::read(bytes)?;
        let mut packet = Packet {
            direction,
            bytes: ip.total,
            payload: ip.total,
            ce: ecn_of(bytes) == Ecn::CE,
            key: ip.id.map_or(0, u64::from),
            tcp: None,
        };
        let content = bytes.get(ip.header..)?;
        match ip.protocol {
            UDP | ICMP => Some(packet),
            ICMPV6 => {
                let header = IcmpHeader::new(content)?;
                // Echoes have a sequence number.
                packet.key = content.get(4..8).map_or(0, |b| u64::from(u32::from_be_bytes([b[0], b[1], b[2], b[3]])));
                (header.kind() < OWN_ICMPV6).then_some(packet)
            }
            TCP => {
                let header = TcpHeader::new(content)?;
                let options = content.get(20..header.header_len().min(content.len())).unwrap_or(&[]);
                let tcp = Tcp {
                    seq: header.seq(),
                    ack: header.ack(),
                    syn: header.flags().contains(TcpFlags::SYN),
                    acks: header.flags().contains(TcpFlags::ACK),
                    sack: TcpOptions::parse(options, options.len()).0.sack,
                    connection: header.src_port().max(header.dst_port()),
                };
                packet.payload = ip.total.checked_sub((ip.header + header.header_len()) as u32)?;
                // IPv4's identification counts up with each packet of a connection; connections differ in port.
                let id = ip.id.unwrap_or_else(|| digest(content, options));
                packet.key = u64::from(id) | (u64::from(tcp.connection) << 16) | (u64::from(tcp.seq.0) << 32);
                packet.tcp = Some(tcp);
                Some(packet)
            }
            _ => None,
        }
    }
}

/// Returns a sum over the fields of a TCP header that distinguish packets with the same sequence number:
/// acknowledgment, flags, window, options.
fn digest(header: &[u8], options: &[u8]) -> u16 {
    let mut sum = Checksum::default();
    sum.add(header.get(8..16).unwrap_or(&[]));
    sum.add(options);
    sum.finish()
}

/// Fills in the checksum of the TCP segment or UDP datagram in an IP packet of which this is the head, the rest being
/// zeros [RFC 1071, RFC 8200 §8.1].
pub(crate) fn fill_checksum(head: &mut [u8]) {
    let Some(ip) = Ip::read(head) else { return };
    let place = match ip.protocol {
        TCP => ip.header + 16,
        UDP => ip.header + 6,
        _ => return,
    };
    let least = if ip.id.is_some() { 20 } else { 40 };
    let Some(length) = ip.total.checked_sub(ip.header as u32).filter(|_| ip.header >= least) else { return };
    if head.len() < place + 2 {
        return;
    }
    head[place..place + 2].fill(0);
    let addresses = if least == 20 { 12..20 } else { 8..40 };
    let mut sum = Checksum::default();
    sum.add(&head[addresses]);
    sum.add_protocol(ip.protocol, length);
    sum.add(&head[ip.header..]);
    let sum = if ip.protocol == UDP { sum.finish_udp() } else { sum.finish() };
    head[place..place + 2].copy_from_slice(&sum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_wire::SackBlock;

    #[test]
    fn flow_direction_and_fields_of_a_data_segment_are_read() {
        let mut b = vec![0; 60];
        b[0] = 0x45; // version 4, header of 20 bytes
        b[1] = 3; // congestion experienced
        b[2..4].copy_from_slice(&1500u16.to_be_bytes());
        b[4..6].copy_from_slice(&77u16.to_be_bytes());
        b[9] = TCP;
        b[12..16].copy_from_slice(&[10, 1, 0, 5]);
        b[20..22].copy_from_slice(&20_000u16.to_be_bytes());
        b[22..24].copy_from_slice(&5001u16.to_be_bytes());
        b[24..28].copy_from_slice(&1_000_000u32.to_be_bytes());
        b[32] = 8 << 4; // header of 32 bytes: timestamps
        b[33] = TcpFlags::ACK.bits() as u8;
        let p = Packet::read(&b).unwrap();
        // 1500 - 20 - 32 = 1448; flow 5 forward: direction 10.
        assert_eq!((p.direction, p.bytes, p.payload, p.ce), (10, 1500, 1448, true));
        let tcp = p.tcp.unwrap();
        assert_eq!((tcp.seq, tcp.connection, tcp.syn, tcp.acks), (Seq(1_000_000), 20_000, false, true));
        assert!(tcp.sack.is_empty());
        b[15] = 6;
        b[13] = 2; // now from flow 6's receiver
        let p = Packet::read(&b).unwrap();
        assert_eq!((p.direction, p.tcp.unwrap().connection), (13, 20_000));
        assert_eq!(Packet::direction_to(&b), None);
        b[16..20].copy_from_slice(&[10, 1, 0, 6]); // to flow 6's sender
        assert_eq!(Packet::direction_to(&b), Some(13));
    }

    #[test]
    fn sack_blocks_are_read() {
        let mut b = vec![0; 64];
        b[0] = 0x45;
        b[2..4].copy_from_slice(&64u16.to_be_bytes());
        b[9] = TCP;
        b[12..16].copy_from_slice(&[10, 2, 0, 5]);
        b[32] = 11 << 4; // header of 44 bytes: 12 of timestamps, 12 of SACK
        b[33] = TcpFlags::ACK.bits() as u8;
        b[40..44].copy_from_slice(&[1, 1, 8, 10]);
        b[52..56].copy_from_slice(&[1, 1, 5, 10]); // kind 5, length 2 + 8
        b[56..60].copy_from_slice(&u32::MAX.to_be_bytes());
        b[60..64].copy_from_slice(&1447u32.to_be_bytes());
        let p = Packet::read(&b).unwrap();
        let block = SackBlock { left: Seq(u32::MAX), right: Seq(1447) };
        assert_eq!((p.payload, p.tcp.unwrap().sack.as_slice()), (0, &[block][..]));
        b.truncate(58); // the capture ends within the block
        assert!(Packet::read(&b).unwrap().tcp.unwrap().sack.is_empty());
    }

    #[test]
    fn checksums_are_those_of_the_whole_packet() {
        // A datagram of 4 bytes of payload: 45 00 00 20 .. 11 .., 10.1.0.0 -> 10.2.0.0, ports 1 and 2, length 12.
        let mut b = vec![0x45, 0, 0, 32, 0, 0, 0, 0, 64, UDP, 0, 0, 10, 1, 0, 0, 10, 2, 0, 0];
        b.extend([0, 1, 0, 2, 0, 12, 0xab, 0xcd]); // the old content of the checksum field is ignored
        fill_checksum(&mut b); // the payload, zeros, was cut off
        // 0x0a01 + 0x0a02 + 17 + 12 + 1 + 2 + 12 = 0x1403 + 44 = 0x142f; its complement.
        assert_eq!(b[26..28], (!0x142fu16).to_be_bytes());
        let mut short = vec![0x45; 12];
        fill_checksum(&mut short);
        assert_eq!(short, [0x45; 12]);
    }

    /// A data segment of IPv6 from the second flow's sender: 40 + 32 + 1428 bytes.
    fn segment_of_ipv6() -> Vec<u8> {
        let mut b = vec![0; 72];
        (b[0], b[1]) = (0x60, 0x30); // version 6, congestion experienced
        b[4..6].copy_from_slice(&1460u16.to_be_bytes());
        b[6] = TCP;
        b[8..24].copy_from_slice(&[0x20, 0x01, 0x0d, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
        b[24..40].copy_from_slice(&[0x20, 0x01, 0x0d, 0xb8, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
        b[40..42].copy_from_slice(&20_000u16.to_be_bytes());
        b[42..44].copy_from_slice(&5001u16.to_be_bytes());
        b[44..48].copy_from_slice(&1_000_000u32.to_be_bytes());
        b[52] = 8 << 4;
        b[53] = TcpFlags::ACK.bits() as u8;
        b
    }

    #[test]
    fn packets_of_ipv6_are_read() {
        let mut b = segment_of_ipv6();
        let p = Packet::read(&b).unwrap();
        assert_eq!((p.direction, p.bytes, p.payload, p.ce), (2, 1500, 1428, true));
        assert_eq!(Packet::direction_to(&b), Some(2));
        assert_eq!(p.tcp.unwrap().seq, Seq(1_000_000));
        b[51] = 1; // another acknowledgment: another packet
        assert_ne!(Packet::read(&b).unwrap().key, p.key);
        (b[6], b[40]) = (ICMPV6, 128); // an echo request
        b[47] = 7;
        assert_eq!(Packet::read(&b).unwrap().payload, 1500);
        b[40] = 135; // a neighbor solicitation: the kernel's own
        assert_eq!(Packet::read(&b), None);
        b[23] = 0; // the address of the routers
        assert_eq!(Packet::read(&b), None);
        assert_eq!(Packet::read(&b[..30]), None);
    }

    #[test]
    fn checksums_of_ipv6_cover_the_addresses() {
        let mut b = segment_of_ipv6();
        fill_checksum(&mut b);
        let mut sum = Checksum::default();
        sum.add(&b[8..40]);
        sum.add_protocol(TCP, 1460);
        sum.add(&b[40..]);
        assert_eq!(sum.finish(), 0, "the sum with its checksum is zero [RFC 1071 §1]");
    }

    #[test]
    fn short_and_foreign_packets_are_none() {
        assert_eq!(Packet::read(&[0x45; 12]), None);
        let mut b = vec![0; 40];
        b[0] = 0x45;
        b[12..16].copy_from_slice(&[192, 0, 2, 1]);
        assert_eq!(Packet::read(&b), None);
    }
}
