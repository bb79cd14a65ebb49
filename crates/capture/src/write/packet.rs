//! Packets with headers in full, checksums included, and zeros for payload.
//!
//! A payload of zeros adds nothing to a checksum but its length, so a packet whose payload was cut off has the checksum
//! of the whole.

use std::net::{IpAddr, SocketAddr};

use crate::dissect::{Flags, TcpOptions};

const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMP: u8 = 1;
const ICMPV6: u8 = 58;

/// What the IP header is to say besides addresses and lengths.
#[derive(Clone, Copy, Debug)]
pub struct IpFields {
    /// The two ECN bits: 0 not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn: u8,
    /// Differentiated services code point.
    pub dscp: u8,
    /// Time to live, hop limit.
    pub ttl: u8,
    /// Identification (IPv4 only).
    pub id: u16,
}

impl Default for IpFields {
    fn default() -> Self {
        Self { ecn: 0, dscp: 0, ttl: 64, id: 0 }
    }
}

/// A TCP segment.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// Sender.
    pub from: SocketAddr,
    /// Receiver; of the same IP version, or the sender's version decides what is written.
    pub to: SocketAddr,
    /// IP header.
    pub ip: IpFields,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Flags.
    pub flags: Flags,
    /// Window field, unscaled.
    pub window: u16,
    /// Options.
    pub options: TcpOptions,
    /// Whether a SACK option begins a word of its own, rather than where the options before it end.
    pub aligned: bool,
    /// Bytes of payload.
    pub payload: u32,
}

/// A UDP datagram.
#[derive(Clone, Copy, Debug)]
pub struct Datagram {
    /// Sender.
    pub from: SocketAddr,
    /// Receiver.
    pub to: SocketAddr,
    /// IP header.
    pub ip: IpFields,
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
    /// Writes the packet, from its IP header on, into `buffer` (what was in it is gone), at most `snaplen` bytes; its
    /// length on the wire.
    pub fn write(&self, buffer: &mut Vec<u8>, snaplen: usize) -> u32 {
        let (ip, mut sum) = ip_header(buffer, self.from.ip(), self.to.ip());
        buffer.extend(self.from.port().to_be_bytes());
        buffer.extend(self.to.port().to_be_bytes());
        buffer.extend(self.seq.to_be_bytes());
        buffer.extend(self.ack.to_be_bytes());
        buffer.extend([0, 0]); // header length and flags, once the options are known
        buffer.extend(self.window.to_be_bytes());
        buffer.extend([0; 4]); // checksum and urgent pointer
        options(buffer, &self.options, self.aligned);
        let header = buffer.len() - ip;
        let first = (header as u16 / 4) << 12 | self.flags.0 & 0x0fff;
        buffer[ip + 12..ip + 14].copy_from_slice(&first.to_be_bytes());
        let len = header as u32 + self.payload;
        sum.add_protocol(TCP, len);
        sum.add(&buffer[ip..]);
        let sum = sum.finish();
        buffer[ip + 16..ip + 18].copy_from_slice(&sum.to_be_bytes());
        finish(buffer, ip, TCP, &self.ip, self.payload, snaplen)
    }
}

impl Datagram {
    /// As [`Segment::write`].
    pub fn write(&self, buffer: &mut Vec<u8>, snaplen: usize) -> u32 {
        let (ip, mut sum) = ip_header(buffer, self.from.ip(), self.to.ip());
        let len = 8 + self.payload;
        buffer.extend(self.from.port().to_be_bytes());
        buffer.extend(self.to.port().to_be_bytes());
        buffer.extend(u16::try_from(len).unwrap_or(0).to_be_bytes());
        buffer.extend([0, 0]);
        sum.add_protocol(UDP, len);
        sum.add(&buffer[ip..]);
        // 0 would say that there is no checksum; all ones is the same number.
        let sum = match sum.finish() {
            0 => 0xffff,
            other => other,
        };
        buffer[ip + 6..ip + 8].copy_from_slice(&sum.to_be_bytes());
        finish(buffer, ip, UDP, &self.ip, self.payload, snaplen)
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
        // ICMP's checksum knows nothing of addresses, ICMPv6's does.
        let mut sum = if version6 { pseudo } else { Sum::default() };
        if version6 {
            sum.add_protocol(ICMPV6, 8 + self.payload);
        }
        sum.add(&buffer[ip..]);
        let sum = sum.finish();
        buffer[ip + 2..ip + 4].copy_from_slice(&sum.to_be_bytes());
        finish(buffer, ip, protocol, &self.ip, self.payload, snaplen)
    }
}

/// Puts an Ethernet header before a packet that begins with its IP header.
pub fn ethernet(packet: &mut Vec<u8>, from: [u8; 6], to: [u8; 6]) {
    let kind: u16 = if packet.first().is_some_and(|b| b >> 4 == 6) { 0x86dd } else { 0x0800 };
    let header = to.into_iter().chain(from).chain(kind.to_be_bytes());
    packet.splice(0..0, header);
}

/// The addresses, in the place they have in the header; the rest follows in [`finish`]. Gives the header's length and
/// the sum over the addresses, with which the transport's checksum begins.
fn ip_header(buffer: &mut Vec<u8>, from: IpAddr, to: IpAddr) -> (usize, Sum) {
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
    let mut sum = Sum::default();
    let addresses = if buffer.len() == 20 { 12 } else { 8 };
    sum.add(&buffer[addresses..]);
    (buffer.len(), sum)
}

/// Fills in the IP header in front and the payload behind; the packet's length on the wire.
fn finish(
    buffer: &mut Vec<u8>,
    ip: usize,
    protocol: u8,
    fields: &IpFields,
    payload: u32,
    snaplen: usize,
) -> u32 {
    let len = buffer.len() as u32 + payload;
    let class = fields.dscp << 2 | fields.ecn & 3;
    if ip == 20 {
        // A length that doesn't fit is 0, as that of a super-packet is.
        let total = u16::try_from(len).unwrap_or(0).to_be_bytes();
        let [id0, id1] = fields.id.to_be_bytes();
        // 0x4000: don't fragment.
        let front = [0x45, class, total[0], total[1], id0, id1, 0x40, 0, fields.ttl, protocol, 0, 0];
        buffer[..12].copy_from_slice(&front);
        let mut sum = Sum::default();
        sum.add(&buffer[..20]);
        let sum = sum.finish();
        buffer[10..12].copy_from_slice(&sum.to_be_bytes());
    } else {
        let said = u16::try_from(len - 40).unwrap_or(0).to_be_bytes();
        let front = [0x60 | class >> 4, class << 4, 0, 0, said[0], said[1], protocol, fields.ttl];
        buffer[..8].copy_from_slice(&front);
    }
    buffer.resize((len as usize).min(snaplen), 0);
    len
}

/// Most bytes of options that a header has room for.
const MOST_OPTIONS: usize = 40;

/// The options one after another: MSS, SACK permitted, timestamps, window scale, SACK blocks (as many as there is room
/// for). What fills them up to a multiple of 4 bytes stands before them, so that timestamps alone have the layout that
/// nearly all segments have; where they are aligned, before the SACK blocks and before the rest.
fn options(buffer: &mut Vec<u8>, options: &TcpOptions, aligned: bool) {
    let fixed = 4 * usize::from(options.mss.is_some())
        + 2 * usize::from(options.sack_permitted)
        + 10 * usize::from(options.timestamps.is_some())
        + 3 * usize::from(options.wscale.is_some());
    let room = MOST_OPTIONS.saturating_sub(fixed + 2) / 8;
    let blocks = &options.sack_blocks()[..options.sack_blocks().len().min(room)];
    let sack = if blocks.is_empty() { 0 } else { 2 + 8 * blocks.len() };
    let fill = |buffer: &mut Vec<u8>, len: usize| {
        buffer.extend(std::iter::repeat_n(1, len.next_multiple_of(4) - len));
    };
    fill(buffer, if aligned { fixed } else { fixed + sack });
    if let Some(mss) = options.mss {
        buffer.extend([2, 4]);
        buffer.extend(mss.to_be_bytes());
    }
    if options.sack_permitted {
        buffer.extend([4, 2]);
    }
    if let Some((value, echo)) = options.timestamps {
        buffer.extend([8, 10]);
        buffer.extend(value.to_be_bytes());
        buffer.extend(echo.to_be_bytes());
    }
    if let Some(scale) = options.wscale {
        buffer.extend([3, 3, scale]);
    }
    if !blocks.is_empty() {
        if aligned {
            fill(buffer, sack);
        }
        buffer.extend([5, sack as u8]);
        for block in blocks {
            buffer.extend(block.left.to_be_bytes());
            buffer.extend(block.right.to_be_bytes());
        }
    }
}

/// The Internet checksum [RFC 1071]: the complement of the one's complement sum of 16-bit words.
#[derive(Clone, Copy, Debug, Default)]
struct Sum(u64);

impl Sum {
    /// Adds bytes; only the last part of a packet may have an odd number of them.
    fn add(&mut self, bytes: &[u8]) {
        for pair in bytes.chunks(2) {
            let low = pair.get(1).copied().unwrap_or(0);
            self.0 += u64::from(u16::from_be_bytes([pair[0], low]));
        }
    }

    /// Adds protocol and length, the rest of the pseudo-header. (In IPv6 the length has 32 bits: carries are the same.)
    fn add_protocol(&mut self, protocol: u8, len: u32) {
        self.0 += u64::from(protocol) + u64::from(len >> 16) + u64::from(len & 0xffff);
    }

    fn finish(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xffff {
            sum = (sum >> 16) + (sum & 0xffff);
        }
        !(sum as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An example of RFC 1071: the bytes 00 01 f2 03 f4 f5 f6 f7 have the sum ddf2.
    #[test]
    fn sum_of_the_documents_example() {
        let mut sum = Sum::default();
        sum.add(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(sum.finish(), !0xddf2);
    }

    #[test]
    fn a_whole_packet_sums_to_zero() {
        let from: SocketAddr = "10.0.0.1:5201".parse().expect("an address");
        let to: SocketAddr = "10.0.0.2:40000".parse().expect("an address");
        let ip = IpFields::default();
        let mut packet = Vec::new();
        let segment = Segment {
            from,
            to,
            ip,
            seq: 0x1234_5678,
            ack: 0x9abc_def0,
            flags: Flags(Flags::ACK | Flags::PSH),
            window: 500,
            options: TcpOptions { timestamps: Some((1, 2)), ..TcpOptions::default() },
            aligned: false,
            payload: 1001,
        };
        assert_eq!(segment.write(&mut packet, usize::MAX), 20 + 32 + 1001);
        let mut header = Sum::default();
        header.add(&packet[..20]);
        assert_eq!(header.finish(), 0);
        let mut whole = Sum::default();
        whole.add(&packet[12..]);
        whole.add_protocol(TCP, 32 + 1001);
        assert_eq!(whole.finish(), 0);
    }
}
