//! The fields of a packet that the meters use, read from its headers [RFC 791 §3.1, RFC 9293 §3.1, RFC 2018 §3, RFC 768]. The
//! flow and the direction follow from the addresses of the hosts (`plan/hosts.rs`).

use dumbbell_wire::protocol::{ICMP, TCP, UDP};
use dumbbell_wire::{Checksum, Ecn, Ipv4Header, SackBlocks, Seq, TcpFlags, TcpHeader, TcpOptions};

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

impl Packet {
    /// Returns the direction that a packet's destination address belongs to.
    #[must_use]
    pub fn direction_to(bytes: &[u8]) -> Option<u32> {
        match Ipv4Header::new(bytes)?.dst().octets() {
            [10, side @ (1 | 2), high, low] => {
                Some(2 * u32::from(u16::from_be_bytes([high, low])) + u32::from(side == 1))
            }
            _ => None,
        }
    }

    /// Reads an IPv4 header and the transport header; None if the packet belongs to no flow.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Packet> {
        let ip = Ipv4Header::new(bytes)?;
        let (flow, reverse) = match ip.src().octets() {
            [10, side @ (1 | 2), high, low] => {
                (u32::from(u16::from_be_bytes([high, low])), u32::from(side == 2))
            }
            _ => return None,
        };
        Packet::read_as(2 * flow + reverse, bytes)
    }

    /// Reads the headers of a packet of a known direction; None if it is neither TCP nor UDP nor ICMP over IPv4.
    #[must_use]
    pub fn read_as(direction: u32, bytes: &[u8]) -> Option<Packet> {
        let ip = Ipv4Header::new(bytes).filter(|ip| ip.version() == 4)?;
        let total = u32::from(ip.total_len());
        let mut packet = Packet {
            direction,
            bytes: total,
            payload: total,
            ce: ip.ecn() == Ecn::CE,
            key: u64::from(ip.id()),
            tcp: None,
        };
        match ip.protocol() {
            UDP | ICMP => Some(packet),
            TCP => {
                let segment = bytes.get(ip.header_len()..)?;
                let header = TcpHeader::new(segment)?;
                let options = segment.get(20..header.header_len().min(segment.len())).unwrap_or(&[]);
                let tcp = Tcp {
                    seq: header.seq(),
                    ack: header.ack(),
                    syn: header.flags().contains(TcpFlags::SYN),
                    acks: header.flags().contains(TcpFlags::ACK),
                    sack: TcpOptions::parse(options, options.len()).0.sack,
                    connection: header.src_port().max(header.dst_port()),
                };
                packet.payload = total - (ip.header_len() + header.header_len()) as u32;
                // The identification counts up with each packet of a connection; connections differ in port.
                packet.key |= (u64::from(tcp.connection) << 16) | (u64::from(tcp.seq.0) << 32);
                packet.tcp = Some(tcp);
                Some(packet)
            }
            _ => None,
        }
    }
}

/// Fills in the checksum of the TCP segment or UDP datagram in an IPv4 packet of which this is the head, the rest being
/// zeros [RFC 1071].
pub(crate) fn fill_checksum(head: &mut [u8]) {
    let header = usize::from(head.first().map_or(0, |b| b & 15)) * 4;
    let place = match head.get(9) {
        Some(&TCP) => header + 16,
        Some(&UDP) => header + 6,
        _ => return,
    };
    if header < 20 || head.len() < place + 2 {
        return;
    }
    head[place..place + 2].fill(0);
    let protocol = head[9];
    let mut sum = Checksum::default();
    sum.add(&head[12..20]); // addresses
    sum.add_protocol(protocol, u32::from(u16::from_be_bytes([head[2], head[3]])) - header as u32);
    sum.add(&head[header..]);
    let sum = if protocol == UDP { sum.finish_udp() } else { sum.finish() };
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

    #[test]
    fn short_and_foreign_packets_are_none() {
        assert_eq!(Packet::read(&[0x45; 12]), None);
        let mut b = vec![0; 40];
        b[0] = 0x45;
        b[12..16].copy_from_slice(&[192, 0, 2, 1]);
        assert_eq!(Packet::read(&b), None);
    }
}
