//! Read-only views of protocol headers over captured bytes.
//!
//! A view exists if the bytes of its fields are available; it does not check them against each other. Each reader has
//! its own rules for lengths that contradict each other, for a snap length, and for super-packets with a length of 0.
//! Layouts: RFC 791 and 8200 (IP), 9293 (TCP), 768 (UDP), 792 and 4443 (ICMP).

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::{Ecn, Seq, TcpFlags};

/// Protocol numbers of the IP header.
pub mod protocol {
    /// IPv6 Hop-by-Hop Options.
    pub const HOP_BY_HOP: u8 = 0;
    /// ICMP.
    pub const ICMP: u8 = 1;
    /// IPv4 in IP.
    pub const IPV4: u8 = 4;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// IPv6 in IP.
    pub const IPV6: u8 = 41;
    /// Routing header of IPv6.
    pub const ROUTING: u8 = 43;
    /// Fragment header of IPv6.
    pub const FRAGMENT: u8 = 44;
    /// GRE.
    pub const GRE: u8 = 47;
    /// IPsec Encapsulating Security Payload.
    pub const ESP: u8 = 50;
    /// IPsec Authentication Header.
    pub const AUTHENTICATION: u8 = 51;
    /// ICMPv6.
    pub const ICMPV6: u8 = 58;
    /// Destination options of IPv6.
    pub const DESTINATION: u8 = 60;
    /// L2TP.
    pub const L2TP: u8 = 115;
    /// Shim6.
    pub const SHIM6: u8 = 140;
}

#[inline]
fn be16<const N: usize>(bytes: &[u8; N], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

#[inline]
fn be32<const N: usize>(bytes: &[u8; N], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Defines the view of a header whose fields are in its first bytes, `b`: its length and the fields.
macro_rules! header {
    (
        $(#[$doc:meta])* $name:ident($b:ident: [u8; $bytes:literal])
        $(#[$len_doc:meta])* LEN = $len:literal;
        $($(#[$field_doc:meta])* $field:ident: $type:ty = $value:expr;)+
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<'a>(&'a [u8; $bytes]);

        impl<'a> $name<'a> {
            $(#[$len_doc])*
            pub const LEN: usize = $len;

            #[doc = concat!("A view of the first ", $bytes, " bytes; None if there are fewer.")]
            #[must_use]
            #[inline]
            pub fn new(bytes: &'a [u8]) -> Option<Self> {
                bytes.first_chunk().map(Self)
            }

            $($(#[$field_doc])*
            #[must_use]
            #[inline]
            pub fn $field(self) -> $type {
                let $b = self.0;
                $value
            })+
        }
    };
}

header! {
    /// The fixed part of an IPv4 header [RFC 791 §3.1].
    Ipv4Header(b: [u8; 20])
    /// Bytes without options.
    LEN = 20;
    /// The version field: 4 in a valid header.
    version: u8 = b[0] >> 4;
    /// Header length in bytes, options included: 0 to 60, at least 20 in a valid header.
    header_len: usize = usize::from(b[0] & 0x0f) * 4;
    /// The six bits of the differentiated services code point [RFC 2474 §3].
    dscp: u8 = b[1] >> 2;
    /// The ECN field.
    ecn: Ecn = Ecn::from_bits(b[1]);
    /// Length of the datagram in bytes, header included; 0 in a super-packet (TSO).
    total_len: u16 = be16(b, 2);
    /// Identification.
    id: u16 = be16(b, 4);
    /// Offset of the fragment in bytes.
    fragment_offset: u32 = u32::from(be16(b, 6) & 0x1fff) * 8;
    /// The more-fragments flag.
    more_fragments: bool = b[6] & 0x20 != 0;
    /// True for a part of a datagram.
    is_fragment: bool = be16(b, 6) & 0x3fff != 0;
    /// Time to live.
    ttl: u8 = b[8];
    /// Protocol number of the payload.
    protocol: u8 = b[9];
    /// Source address.
    src: Ipv4Addr = Ipv4Addr::from_bits(be32(b, 12));
    /// Destination address.
    dst: Ipv4Addr = Ipv4Addr::from_bits(be32(b, 16));
}

#[inline]
fn traffic_class(ip: &[u8; 40]) -> u8 {
    (ip[0] << 4) | (ip[1] >> 4)
}

#[inline]
fn address(ip: &[u8; 40], from: usize) -> Ipv6Addr {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&ip[from..from + 16]);
    Ipv6Addr::from(bytes)
}

header! {
    /// The fixed header of IPv6 [RFC 8200 §3].
    Ipv6Header(b: [u8; 40])
    /// Bytes of the fixed header.
    LEN = 40;
    /// The version field: 6 in a valid header.
    version: u8 = b[0] >> 4;
    /// The six bits of the differentiated services code point [RFC 2474 §3].
    dscp: u8 = traffic_class(b) >> 2;
    /// The ECN field.
    ecn: Ecn = Ecn::from_bits(traffic_class(b));
    /// Bytes after the fixed header, extension headers included; 0 in a jumbogram [RFC 2675 §3].
    payload_len: u16 = be16(b, 4);
    /// Protocol number of the next header.
    next_header: u8 = b[6];
    /// Hop limit.
    hop_limit: u8 = b[7];
    /// Source address.
    src: Ipv6Addr = address(b, 8);
    /// Destination address.
    dst: Ipv6Addr = address(b, 24);
}

header! {
    /// The first 16 bytes of a TCP header [RFC 9293 §3.1]. They hold all fields but checksum and urgent pointer, and
    /// Wireshark needs no more to assign a segment to its stream.
    TcpHeader(b: [u8; 16])
    /// Bytes of a header without options.
    LEN = 20;
    /// Source port.
    src_port: u16 = be16(b, 0);
    /// Destination port.
    dst_port: u16 = be16(b, 2);
    /// Sequence number.
    seq: Seq = Seq(be32(b, 4));
    /// Acknowledgment number; any value if the ACK flag is not set.
    ack: Seq = Seq(be32(b, 8));
    /// Header length in bytes, from the data offset: 0 to 60, at least 20 in a valid header.
    header_len: usize = usize::from(b[12] >> 4) * 4;
    /// The control bits.
    flags: TcpFlags = TcpFlags::from_bits(be16(b, 12));
    /// The window field, without window scaling.
    window: u16 = be16(b, 14);
}

header! {
    /// A UDP header [RFC 768].
    UdpHeader(b: [u8; 8])
    /// Bytes of the header.
    LEN = 8;
    /// Source port.
    src_port: u16 = be16(b, 0);
    /// Destination port.
    dst_port: u16 = be16(b, 2);
    /// Bytes of header and payload; 0 in a jumbogram [RFC 2675 §4].
    len_field: u16 = be16(b, 4);
}

header! {
    /// Type and code of an ICMP or ICMPv6 message [RFC 792, RFC 4443 §2.1].
    IcmpHeader(b: [u8; 2])
    /// Bytes before the datagram that an error message quotes.
    LEN = 8;
    /// Type of the message.
    kind: u8 = b[0];
    /// Code within the type.
    code: u8 = b[1];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_an_ipv4_header() {
        // Version 4, 6 words; DSCP 46 (EF), CE; 1500 bytes; id 0x1234; more fragments, offset 0x00b9 = 185 words of 8;
        // TTL 63; TCP; 10.1.0.5 to 192.0.2.7.
        let bytes =
            [0x46, 0xbb, 0x05, 0xdc, 0x12, 0x34, 0x20, 0xb9, 63, 6, 0, 0, 10, 1, 0, 5, 192, 0, 2, 7, 9, 9, 9, 9];
        let ip = Ipv4Header::new(&bytes).unwrap();
        assert_eq!((ip.version(), ip.header_len(), ip.dscp(), ip.ecn()), (4, 24, 46, Ecn::CE));
        assert_eq!((ip.total_len(), ip.id(), ip.ttl(), ip.protocol()), (1500, 0x1234, 63, protocol::TCP));
        assert_eq!((ip.is_fragment(), ip.more_fragments(), ip.fragment_offset()), (true, true, 1480));
        assert_eq!((ip.src(), ip.dst()), (Ipv4Addr::new(10, 1, 0, 5), Ipv4Addr::new(192, 0, 2, 7)));
        let mut whole = bytes;
        whole[6..8].copy_from_slice(&[0x40, 0]); // don't fragment
        assert!(!Ipv4Header::new(&whole).unwrap().is_fragment());
        assert!(Ipv4Header::new(&bytes[..19]).is_none());
    }

    #[test]
    fn fields_of_an_ipv6_header() {
        // Version 6, traffic class 0xb9 (DSCP 46, ECT(1)), flow label 0x12345; payload 0x0102; UDP; hop limit 64.
        let mut bytes = [0; 40];
        bytes[..8].copy_from_slice(&[0x6b, 0x91, 0x23, 0x45, 0x01, 0x02, 17, 64]);
        bytes[8] = 0xfd;
        bytes[23] = 1;
        bytes[24] = 0xfd;
        bytes[39] = 2;
        let ip = Ipv6Header::new(&bytes).unwrap();
        assert_eq!((ip.version(), ip.dscp(), ip.ecn()), (6, 46, Ecn::ECT1));
        assert_eq!((ip.payload_len(), ip.next_header(), ip.hop_limit()), (258, protocol::UDP, 64));
        assert_eq!((ip.src().to_string(), ip.dst().to_string()), ("fd00::1".into(), "fd00::2".into()));
        assert!(Ipv6Header::new(&bytes[..39]).is_none());
    }

    #[test]
    fn fields_of_tcp_udp_and_icmp_headers() {
        // Ports 5001 and 40000; seq 0x01020304, ack 0x05060708; 8 words, AE, CWR and ACK; window 500.
        let bytes = [0x13, 0x89, 0x9c, 0x40, 1, 2, 3, 4, 5, 6, 7, 8, 0x81, 0x90, 0x01, 0xf4];
        let tcp = TcpHeader::new(&bytes).unwrap();
        assert_eq!((tcp.src_port(), tcp.dst_port()), (5001, 40_000));
        assert_eq!((tcp.seq(), tcp.ack()), (Seq(0x0102_0304), Seq(0x0506_0708)));
        assert_eq!((tcp.header_len(), tcp.window()), (32, 500));
        assert_eq!(tcp.flags(), TcpFlags::AE | TcpFlags::CWR | TcpFlags::ACK);
        assert!(TcpHeader::new(&bytes[..15]).is_none());

        let udp = UdpHeader::new(&[0, 53, 0x9c, 0x40, 0, 20, 0, 0]).unwrap();
        assert_eq!((udp.src_port(), udp.dst_port(), udp.len_field()), (53, 40_000, 20));
        assert!(UdpHeader::new(&[0; 7]).is_none());

        let icmp = IcmpHeader::new(&[3, 4]).unwrap(); // fragmentation needed
        assert_eq!((icmp.kind(), icmp.code()), (3, 4));
        assert!(IcmpHeader::new(&[3]).is_none());
    }
}
