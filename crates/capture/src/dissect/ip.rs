//! IPv4 [RFC 791] and IPv6 [RFC 8200] datagrams.

use dumbbell_wire::{Ipv4Header, Ipv6Header, protocol};

use super::fragments::{Fragment, Key};
use super::slice::Slice;
use super::{Addresses, Dissected, Ip, Path, Unread, transport};

/// IPv4 or IPv6, by the version field.
#[inline]
pub(super) fn any<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    match at.u8(0).map(|b| b >> 4) {
        Some(4) => v4(path, at),
        Some(6) => v6(path, at),
        Some(_) => path.none(Unread::Malformed),
        None => path.none(Unread::Cut),
    }
}

/// A parsed IPv4 header.
struct V4<'a> {
    ip: Ip,
    protocol: u8,
    body: Slice<'a>,
    /// Offset of a fragment and its more-fragments flag.
    fragment: Option<(u32, bool)>,
    /// All bytes up to the length field, or up to the frame's length if the field is 0, were captured.
    complete: bool,
}

#[inline]
fn read_v4<'a>(at: Slice<'a>) -> Result<V4<'a>, Unread> {
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

/// An IPv4 datagram.
#[inline]
pub(super) fn v4<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    let V4 { ip, protocol, body, fragment, complete } = match read_v4(at) {
        Ok(read) => read,
        Err(why) => return path.none(why),
    };
    let Some((offset, more)) = fragment else { return transport::dissect(path, ip, protocol, body, true) };
    let piece = Fragment { key: path.key(&ip, protocol), offset, more, protocol };
    piece_of(path, ip, piece, body, complete)
}

/// The IPv4 header that an ICMP error quotes. A fragment that is quoted in full is not read: it would need reassembly.
pub(super) fn quoted_v4(at: Slice<'_>) -> Option<(Ip, u8, Slice<'_>)> {
    let V4 { ip, protocol, body, fragment, complete } = read_v4(at).ok()?;
    fragment.is_none_or(|(offset, _)| offset == 0 && !complete).then_some((ip, protocol, body))
}

/// A parsed IPv6 header with its extension headers.
struct V6<'a> {
    ip: Ip,
    protocol: u8,
    body: Slice<'a>,
    /// Fragment header: offset and more-fragments flag.
    fragment: Option<(u32, bool)>,
    complete: bool,
}

fn read_v6<'a>(at: Slice<'a>) -> Result<V6<'a>, (Option<Ip>, Unread)> {
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
        protocol = body.data[0];
        body = body.after(len);
    }
    Ok(V6 { ip, protocol, body, fragment, complete })
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
fn extension_len(protocol: u8, at: Slice<'_>) -> Option<Result<usize, Unread>> {
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

/// An IPv6 datagram.
pub(super) fn v6<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    let V6 { ip, protocol, body, fragment, complete } = match read_v6(at) {
        Ok(read) => read,
        Err((ip, why)) => return Dissected { ip: ip.or(path.outer), ..path.none(why) },
    };
    match fragment {
        None => transport::dissect(path, ip, protocol, body, true),
        Some((offset, more)) => {
            let piece = Fragment { key: path.key(&ip, 0), offset, more, protocol };
            piece_of(path, ip, piece, body, complete)
        }
    }
}

/// See [`quoted_v4`].
pub(super) fn quoted_v6(at: Slice<'_>) -> Option<(Ip, u8, Slice<'_>)> {
    let V6 { ip, protocol, body, fragment, complete } = read_v6(at).ok()?;
    fragment.is_none_or(|(offset, _)| offset == 0 && !complete).then_some((ip, protocol, body))
}

/// A fragment. Dissects the datagram if this fragment completes it. A fragment that the snap length cuts cannot be
/// reassembled; the first one then yields a transport header without a length.
#[cold]
fn piece_of<'a>(path: Path<'a>, ip: Ip, piece: Fragment, body: Slice<'a>, complete: bool) -> Dissected<'a> {
    let waiting = Dissected { ip: Some(ip), ..path.none(Unread::Fragment) };
    if !complete {
        return match piece.offset {
            0 => transport::dissect(path, ip, piece.protocol, body, false),
            _ => waiting,
        };
    }
    let Path { fragments, depth, .. } = path;
    let Some(fragments) = fragments else { return waiting };
    let Some((protocol, datagram)) = fragments.add(&piece, body.data) else { return waiting };
    let header = ip.len.saturating_sub(body.len as u32);
    let ip = Ip { reassembled: true, len: header + datagram.len() as u32, ..ip };
    // The datagram borrows the memory of the fragments, so fragments inside it cannot be reassembled.
    let path = Path { fragments: None, depth, ..path };
    let whole = Slice::new(datagram, datagram.len());
    if matches!(ip.addresses, Addresses::V4 { .. }) {
        return transport::dissect(path, ip, protocol, whole, true);
    }
    let (mut protocol, mut whole) = (protocol, whole);
    while let Some(Ok(len)) = extension_len(protocol, whole) {
        protocol = whole.data[0];
        whole = whole.after(len);
    }
    transport::dissect(path, ip, protocol, whole, true)
}

impl Path<'_> {
    /// The key that the fragments of one datagram share.
    fn key(&self, ip: &Ip, protocol: u8) -> Key {
        // The same private addresses may be in use on several VLANs.
        let local = match ip.addresses {
            Addresses::V4 { src, dst } => [src, dst].iter().any(|a| a.is_private() || a.is_link_local()),
            Addresses::V6 { .. } => false,
        };
        let vlan = if local { self.vlan } else { 0 };
        Key { addresses: ip.addresses, id: ip.id.unwrap_or(0), protocol, vlan }
    }
}
