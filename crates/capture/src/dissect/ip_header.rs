//! IP headers in a frame: IPv4 [RFC 791], IPv6 with its extension headers [RFC 8200 §4], jumbograms [RFC 2675].
//!
//! A datagram and the quote in an ICMP error have the same headers; [`ip`](super::ip) and
//! [`transport`](super::transport) use this file for them.

use std::net::Ipv6Addr;

use dumbbell_wire::{Ipv4Header, Ipv6Header, protocol};

use super::slice::Slice;
use super::{Addresses, Ip, Unread};

/// A parsed IPv4 header.
pub(super) struct V4<'a> {
    pub(super) ip: Ip,
    pub(super) protocol: u8,
    pub(super) body: Slice<'a>,
    /// Offset of a fragment and its more-fragments flag.
    pub(super) fragment: Option<(u32, bool)>,
    /// All bytes up to the length field, or up to the frame's length if the field is 0, were captured.
    pub(super) complete: bool,
}

#[inline]
pub(super) fn read_v4<'a>(at: Slice<'a>) -> Result<V4<'a>, Unread> {
    let header = Ipv4Header::new(at.data).ok_or(Unread::Cut)?;
    let header_len = header.header_len();
    let total_len = usize::from(header.total_len());
    if header.version() != 4 || header_len < Ipv4Header::LEN || (total_len != 0 && total_len < header_len) {
        return Err(Unread::Malformed);
    }
    // Length 0: a super-packet; the kernel would have filled it in for each of its segments.
    let whole = if total_len == 0 { at } else { at.cut(total_len) };
    let ip = Ip {
        addresses: Addresses::V4 { src: header.src(), dst: header.dst() },
        ecn: header.ecn(),
        dscp: header.dscp(),
        ttl: header.ttl(),
        id: Some(header.id().into()),
        len: whole.len as u32,
        no_length: total_len == 0,
        reassembled: false,
    };
    let fragment = header.is_fragment().then(|| (header.fragment_offset(), header.more_fragments()));
    let complete = at.data.len() >= if total_len == 0 { whole.len } else { total_len };
    Ok(V4 { ip, protocol: header.protocol(), body: whole.after(header_len), fragment, complete })
}

/// The IPv4 header that an ICMP error quotes. A fragment that is quoted in full is not read: it would need reassembly.
pub(super) fn quoted_v4(at: Slice<'_>) -> Option<(Ip, u8, Slice<'_>)> {
    let V4 { ip, protocol, body, fragment, complete } = read_v4(at).ok()?;
    fragment.is_none_or(|(offset, _)| offset == 0 && !complete).then_some((ip, protocol, body))
}

/// A parsed IPv6 header with its extension headers.
pub(super) struct V6<'a> {
    pub(super) ip: Ip,
    pub(super) protocol: u8,
    pub(super) body: Slice<'a>,
    /// Fragment header: offset and more-fragments flag.
    pub(super) fragment: Option<(u32, bool)>,
    pub(super) complete: bool,
}

pub(super) fn read_v6<'a>(at: Slice<'a>) -> Result<V6<'a>, (Option<Ip>, Unread)> {
    let header = Ipv6Header::new(at.data).ok_or((None, Unread::Cut))?;
    if header.version() != 6 {
        return Err((None, Unread::Malformed));
    }
    let payload_len = usize::from(header.payload_len());
    // Length 0: more than 64 KiB. A jumbogram has its length in an option; a super-packet has none, its length is that
    // of the frame.
    // DIVERGES [Wireshark 4.0]: it takes such a packet without the option for an empty one.
    let whole = match (payload_len, jumbo_len(header.next_header(), at.after(40))) {
        (0, Some(len)) => at.cut(len.saturating_add(40)),
        (0, None) if at.len > 40 + 0xffff => at,
        _ => at.cut(40 + payload_len),
    };
    let mut ip = Ip {
        addresses: Addresses::V6 { src: header.src(), dst: header.dst() },
        ecn: header.ecn(),
        dscp: header.dscp(),
        ttl: header.hop_limit(),
        id: None,
        len: whole.len as u32,
        no_length: payload_len == 0,
        reassembled: false,
    };
    let complete = at.data.len() >= if payload_len == 0 { whole.len } else { 40 + payload_len };
    let (mut protocol, mut body) = (header.next_header(), whole.after(40));
    let mut fragment = None;
    // Each iteration consumes 8 bytes or more, so the datagram's length bounds the loop.
    while let Some(len) = extension_len(protocol, body) {
        let len = len.map_err(|why| (Some(ip), why))?;
        if protocol == protocol::FRAGMENT {
            let Some(&[_, _, high, low, a, b, c, d]) = body.head::<8>() else {
                return Err((Some(ip), Unread::Cut));
            };
            let bits = u16::from_be_bytes([high, low]);
            ip.id = Some(u32::from_be_bytes([a, b, c, d]));
            let found = (u32::from(bits & 0xfff8), bits & 1 == 1);
            // An atomic fragment is a whole datagram [RFC 6946].
            if found != (0, false) {
                protocol = body.data[0];
                fragment = Some(found);
                body = body.after(len);
                break;
            }
        }
        if protocol == protocol::ROUTING
            && let Some(last) = final_destination(body)
            && let Addresses::V6 { dst, .. } = &mut ip.addresses
        {
            *dst = last;
        }
        protocol = body.data[0];
        body = body.after(len);
    }
    Ok(V6 { ip, protocol, body, fragment, complete })
}

/// The final destination in a routing header with segments left: of types 0 and 2 the last address [RFC 2460 §4.4, RFC
/// 6275 §6.4], of segment routing the first [RFC 8754 §2]. Both directions of a connection then have the same
/// addresses.
fn final_destination(at: Slice<'_>) -> Option<Ipv6Addr> {
    let &[_, words, kind, left, ..] = at.head::<8>()?;
    let place = match kind {
        _ if left == 0 => return None,
        0 | 2 => 8 + 16 * (usize::from(words) / 2).checked_sub(1)?,
        4 => 8,
        _ => return None,
    };
    at.data.get(place..)?.first_chunk::<16>().map(|bytes| Ipv6Addr::from(*bytes))
}

/// The length in the Jumbo Payload option of a hop-by-hop header [RFC 2675 §2].
fn jumbo_len(protocol: u8, at: Slice<'_>) -> Option<usize> {
    if protocol != protocol::HOP_BY_HOP {
        return None;
    }
    let len = 8 + usize::from(at.u8(1)?) * 8;
    let mut options = at.data.get(2..len.min(at.data.len()))?;
    loop {
        match *options {
            [0xc2, 4, a, b, c, d, ..] => {
                let len_field = u32::from_be_bytes([a, b, c, d]) as usize;
                return (len_field > 0xffff).then_some(len_field);
            }
            // A single byte of padding.
            [0, ..] => options = &options[1..],
            [_, len, ..] => options = options.get(2 + usize::from(len)..)?,
            _ => return None,
        }
    }
}

/// Length of the extension header `protocol`; `None` if it is none.
pub(super) fn extension_len(protocol: u8, at: Slice<'_>) -> Option<Result<usize, Unread>> {
    let unit = match protocol {
        protocol::HOP_BY_HOP | protocol::ROUTING | protocol::DESTINATION | protocol::SHIM6 => 8,
        protocol::FRAGMENT => 0,
        protocol::AUTHENTICATION => 4,
        _ => return None,
    };
    let Some(&[_, count]) = at.head::<2>() else { return Some(Err(Unread::Cut)) };
    let base = 8;
    Some(Ok(base + usize::from(count) * unit))
}

/// See [`quoted_v4`].
pub(super) fn quoted_v6(at: Slice<'_>) -> Option<(Ip, u8, Slice<'_>)> {
    let V6 { ip, protocol, body, fragment, complete } = read_v6(at).ok()?;
    fragment.is_none_or(|(offset, _)| offset == 0 && !complete).then_some((ip, protocol, body))
}
