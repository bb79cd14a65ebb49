//! IPv4 and IPv6.

use std::net::Ipv4Addr;

use super::link::{Slice, none};
use super::{Addresses, Dissected, Dissector, Ip, Transport, Unread, tcp, udp};

/// An IPv4 datagram.
pub(super) fn v4<'a>(_state: &'a mut Dissector, at: Slice<'a>) -> Dissected<'a> {
    let Some(header) = at.data.first_chunk::<20>() else { return none(Unread::Cut) };
    let header_len = usize::from(header[0] & 0x0f) * 4;
    if header[0] >> 4 != 4 || header_len < 20 {
        return none(Unread::Malformed);
    }
    let total = usize::from(u16::from_be_bytes([header[2], header[3]]));
    let whole = if total == 0 { at } else { at.cut(total) };
    let body = whole.after(header_len);
    let [_, _, _, _, _, _, _, _, _, _, _, _, a, b, c, d, e, f, g, h] = *header;
    let ip = Ip {
        addresses: Addresses::V4 { src: Ipv4Addr::new(a, b, c, d), dst: Ipv4Addr::new(e, f, g, h) },
        ecn: header[1] & 3,
        dscp: header[1] >> 2,
        ttl: header[8],
        id: Some(u32::from(u16::from_be_bytes([header[4], header[5]]))),
        len: whole.len as u32,
        no_length: total == 0,
        reassembled: false,
    };
    let transport = match header[9] {
        6 => tcp::parse(body, true).map_or(Transport::None(Unread::Cut), Transport::Tcp),
        17 => udp::parse(body, true).map_or(Transport::None(Unread::Cut), Transport::Udp),
        other => Transport::Other(other),
    };
    Dissected { ip: Some(ip), tunnel: None, transport }
}
