//! Packets with complete headers, correct checksums and a payload of zeros.
//!
//! Zeros do not change a checksum (only the length in the pseudo-header does), so a packet whose payload is cut by the
//! snap length still has the checksum of the whole packet [RFC 1071].

use std::net::{IpAddr, SocketAddr};

use dumbbell_wire::protocol::{ICMP, ICMPV6, TCP, UDP};
use dumbbell_wire::{Checksum, Ecn, Seq, TcpFlags, TcpOptions};

/// Fields of the IP header other than addresses and lengths.
#[derive(Clone, Copy, Debug)]
pub struct IpFields {
    /// ECN field.
    pub ecn: Ecn,
    /// Differentiated services code point.
    pub dscp: u8,
    /// Time to live, hop limit.
    pub ttl: u8,
    /// Identification (IPv4 only).
    pub id: u16,
}

impl Default for IpFields {
    fn default() -> Self {
        Self { ecn: Ecn::NOT_ECT, dscp: 0, ttl: 64, id: 0 }
    }
}

/// A TCP segment.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// Sender.
    pub from: SocketAddr,
    /// Receiver. With mixed IP versions the packet is IPv6, with IPv4-mapped addresses.
    pub to: SocketAddr,
    /// IP header.
    pub ip: IpFields,
    /// Sequence number.
    pub seq: Seq,
    /// Acknowledgment number.
    pub ack: Seq,
    /// Flags.
    pub flags: TcpFlags,
    /// Window field, unscaled.
    pub window: u16,
    /// Options.
    pub options: TcpOptions,
    /// True if the SACK option begins at a multiple of 4 bytes.
    pub aligned: bool,
    /// Bytes of payload.
    pub payload: u32,
}

/// A UDP datagram.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a> {
    /// Sender.
    pub from: SocketAddr,
    /// Receiver.
    pub to: SocketAddr,
    /// IP header.
    pub ip: IpFields,
    /// The first bytes of the payload; the others are zeros.
    pub head: &'a [u8],
    /// Bytes of payload.
    pub payload: u32,
}

/// An echo request or reply of ICMP or ICMPv6.
#[derive(Clone, Copy, Debug)]
pub struct IcmpEcho {
    /// Sender.
    pub from: IpAddr,
    /// Receiver.
    pub to: IpAddr,
    /// IP header.
    pub ip: IpFields,
    /// A reply, not a request.
    pub reply: bool,
    /// Identifier.
    pub id: u16,
    /// Sequence number.
    pub seq: u16,
    /// Bytes of payload.
    pub payload: u32,
}

impl Segment {
    /// Replaces the content of `buffer` by at most `snaplen` bytes of the packet, from its IP header on. Returns the
    /// length of the packet on the wire.
    pub fn write(&self, buffer: &mut Vec<u8>, snaplen: usize) -> u32 {
        let (ip, mut sum) = ip_header(buffer, self.from.ip(), self.to.ip());
        buffer.extend(self.from.port().to_be_bytes());
        buffer.extend(self.to.port().to_be_bytes());
        buffer.extend(self.seq.0.to_be_bytes());
        buffer.extend(self.ack.0.to_be_bytes());
        buffer.extend([0, 0]); // header length and flags: set after the options are written
        buffer.extend(self.window.to_be_bytes());
        buffer.extend([0; 4]); // checksum and urgent pointer
        self.options.write(buffer, self.aligned);
        let header = buffer.len() - ip;
        let first = (header as u16 / 4) << 12 | self.flags.bits();
        buffer[ip + 12..ip + 14].copy_from_slice(&first.to_be_bytes());
        let len = header as u32 + self.payload;
        sum.add_protocol(TCP, len);
        sum.add(&buffer[ip..]);
        let sum = sum.finish();
        buffer[ip + 16..ip + 18].copy_from_slice(&sum.to_be_bytes());
        finish(buffer, ip, TCP, &self.ip, self.payload, snaplen)
    }
}

impl Datagram<'_> {
    /// As [`Segment::write`].
    pub fn write(&self, buffer: &mut Vec<u8>, snaplen: usize) -> u32 {
        let (ip, mut sum) = ip_header(buffer, self.from.ip(), self.to.ip());
        let len = 8 + self.payload;
        buffer.extend(self.from.port().to_be_bytes());
        buffer.extend(self.to.port().to_be_bytes());
        buffer.extend(u16::try_from(len).unwrap_or(0).to_be_bytes());
        buffer.extend([0, 0]);
        buffer.extend(self.head);
        sum.add_protocol(UDP, len);
        sum.add(&buffer[ip..]);
        let sum = sum.finish_udp();
        buffer[ip + 6..ip + 8].copy_from_slice(&sum.to_be_bytes());
        finish(buffer, ip, UDP, &self.ip, self.payload - self.head.len() as u32, snaplen)
    }
}

impl IcmpEcho {
    /// As [`Segment::write`].
    pub fn write(&self, buffer: &mut Vec<u8>, snaplen: usize) -> u32 {
        let (ip, pseudo) = ip_header(buffer, self.from, self.to);
        let version6 = self.from.is_ipv6();
        let (request, reply, protocol) = if version6 { (128, 129, ICMPV6) } else { (8, 0, ICMP) };
        buffer.extend([if self.reply { reply } else { request }, 0, 0, 0]);
        buffer.extend(self.id.to_be_bytes());
        buffer.extend(self.seq.to_be_bytes());
        // The checksum of ICMPv6 covers the pseudo-header, that of ICMP does not.
        let mut sum = if version6 { pseudo } else { Checksum::default() };
        if version6 {
            sum.add_protocol(ICMPV6, 8 + self.payload);
        }
        sum.add(&buffer[ip..]);
        let sum = sum.finish();
        buffer[ip + 2..ip + 4].copy_from_slice(&sum.to_be_bytes());
        finish(buffer, ip, protocol, &self.ip, self.payload, snaplen)
    }
}

/// Adds an Ethernet header in front of a packet that begins with its IP header.
pub fn ethernet(packet: &mut Vec<u8>, from: [u8; 6], to: [u8; 6]) {
    let kind: u16 = if packet.first().is_some_and(|b| b >> 4 == 6) { 0x86dd } else { 0x0800 };
    let header = to.into_iter().chain(from).chain(kind.to_be_bytes());
    packet.splice(0..0, header);
}

/// Writes the addresses at their place in the IP header; [`finish`] writes the other fields. Returns the header's
/// length and the checksum over the addresses, the start of the pseudo-header.
fn ip_header(buffer: &mut Vec<u8>, from: IpAddr, to: IpAddr) -> (usize, Checksum) {
    buffer.clear();
    match (from, to) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            buffer.resize(12, 0);
            buffer.extend(from.octets());
            buffer.extend(to.octets());
        }
        (from, to) => {
            let wide = |address| match address {
                IpAddr::V4(a) => a.to_ipv6_mapped(),
                IpAddr::V6(a) => a,
            };
            buffer.resize(8, 0);
            buffer.extend(wide(from).octets());
            buffer.extend(wide(to).octets());
        }
    }
    let mut sum = Checksum::default();
    let addresses = if buffer.len() == 20 { 12 } else { 8 };
    sum.add(&buffer[addresses..]);
    (buffer.len(), sum)
}

/// Fills in the IP header and appends the payload. Returns the packet's length on the wire.
fn finish(buffer: &mut Vec<u8>, ip: usize, protocol: u8, fields: &IpFields, payload: u32, snaplen: usize) -> u32 {
    let len = buffer.len() as u32 + payload;
    let class = fields.dscp << 2 | fields.ecn.bits();
    if ip == 20 {
        // A length above 65,535 is written as 0, as in a super-packet.
        let total = u16::try_from(len).unwrap_or(0).to_be_bytes();
        let [id0, id1] = fields.id.to_be_bytes();
        // 0x4000: don't fragment.
        let front = [0x45, class, total[0], total[1], id0, id1, 0x40, 0, fields.ttl, protocol, 0, 0];
        buffer[..12].copy_from_slice(&front);
        let mut sum = Checksum::default();
        sum.add(&buffer[..20]);
        let sum = sum.finish();
        buffer[10..12].copy_from_slice(&sum.to_be_bytes());
    } else {
        let payload_len = u16::try_from(len - 40).unwrap_or(0).to_be_bytes();
        let front = [0x60 | class >> 4, class << 4, 0, 0, payload_len[0], payload_len[1], protocol, fields.ttl];
        buffer[..8].copy_from_slice(&front);
    }
    buffer.resize((len as usize).min(snaplen), 0);
    len
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_over_a_whole_packet_is_zero() {
        let from: SocketAddr = "10.0.0.1:5201".parse().expect("an address");
        let to: SocketAddr = "10.0.0.2:40000".parse().expect("an address");
        let ip = IpFields::default();
        let mut packet = Vec::new();
        let segment = Segment {
            from,
            to,
            ip,
            seq: Seq(0x1234_5678),
            ack: Seq(0x9abc_def0),
            flags: TcpFlags::ACK | TcpFlags::PSH,
            window: 500,
            options: TcpOptions { timestamps: Some((1, 2)), ..TcpOptions::default() },
            aligned: false,
            payload: 1001,
        };
        assert_eq!(segment.write(&mut packet, usize::MAX), 20 + 32 + 1001);
        let mut header = Checksum::default();
        header.add(&packet[..20]);
        assert_eq!(header.finish(), 0);
        let mut whole = Checksum::default();
        whole.add(&packet[12..]);
        whole.add_protocol(TCP, 32 + 1001);
        assert_eq!(whole.finish(), 0);
    }
}
