//! IPv4 and IPv6.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::fragments::{Fragment, Key};
use super::slice::Slice;
use super::{Addresses, Dissected, Ip, Path, Unread, transport};

/// Protocol numbers that are stepped over: headers that have the next number in their first byte.
pub(super) mod next {
    pub(crate) const HOP_BY_HOP: u8 = 0;
    pub(crate) const ROUTING: u8 = 43;
    pub(crate) const FRAGMENT: u8 = 44;
    pub(crate) const AUTHENTICATION: u8 = 51;
    pub(crate) const DESTINATION: u8 = 60;
    pub(crate) const SHIM6: u8 = 140;
}

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

/// What an IPv4 header says.
struct V4<'a> {
    ip: Ip,
    protocol: u8,
    body: Slice<'a>,
    /// More-fragments flag and offset, 0 for a whole datagram.
    fragment: u16,
    /// All the bytes that the length field promises, or the frame if it is 0, were captured.
    complete: bool,
}

#[inline]
fn read_v4<'a>(at: Slice<'a>) -> Result<V4<'a>, Unread> {
    let header = at.head::<20>().ok_or(Unread::Cut)?;
    let header_len = usize::from(header[0] & 0x0f) * 4;
    let said = usize::from(u16::from_be_bytes([header[2], header[3]]));
    if header[0] >> 4 != 4 || header_len < 20 || (said != 0 && said < header_len) {
        return Err(Unread::Malformed);
    }
    // Length 0: the kernel was to fill it in for each segment of a super-packet.
    let whole = if said == 0 { at } else { at.cut(said) };
    let &[_, tos, _, _, id0, id1, off0, off1, ttl, protocol, _, _, s0, s1, s2, s3, d0, d1, d2, d3] = header;
    let ip = Ip {
        addresses: Addresses::V4 { src: Ipv4Addr::new(s0, s1, s2, s3), dst: Ipv4Addr::new(d0, d1, d2, d3) },
        ecn: tos & 3,
        dscp: tos >> 2,
        ttl,
        id: Some(u16::from_be_bytes([id0, id1]).into()),
        len: whole.len as u32,
        no_length: said == 0,
        reassembled: false,
    };
    // The bit between the offset and more-fragments forbids fragments, the one above is reserved.
    let fragment = u16::from_be_bytes([off0, off1]) & 0x3fff;
    let complete = at.data.len() >= if said == 0 { whole.len } else { said };
    Ok(V4 { ip, protocol, body: whole.after(header_len), fragment, complete })
}

/// An IPv4 datagram.
#[inline]
pub(super) fn v4<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    let V4 { ip, protocol, body, fragment, complete } = match read_v4(at) {
        Ok(read) => read,
        Err(why) => return path.none(why),
    };
    if fragment == 0 {
        return transport::dissect(path, ip, protocol, body, true);
    }
    let piece = Fragment {
        key: path.key(&ip, protocol),
        offset: u32::from(fragment & 0x1fff) * 8,
        more: fragment & 0x2000 != 0,
        protocol,
    };
    piece_of(path, ip, piece, body, complete)
}

/// The headers that an ICMP message quotes. A fragment that is quoted in full would have to be put together: it isn't.
pub(super) fn quoted_v4(at: Slice<'_>) -> Option<(Ip, u8, Slice<'_>)> {
    let V4 { ip, protocol, body, fragment, complete } = read_v4(at).ok()?;
    let begin = fragment == 0 || (fragment & 0x1fff == 0 && !complete);
    begin.then_some((ip, protocol, body))
}

/// What an IPv6 header and its extensions say.
struct V6<'a> {
    ip: Ip,
    protocol: u8,
    body: Slice<'a>,
    /// Of the fragment header: offset and more-fragments flag.
    fragment: Option<(u32, bool)>,
    complete: bool,
}

fn read_v6<'a>(at: Slice<'a>) -> Result<V6<'a>, (Option<Ip>, Unread)> {
    let header = at.head::<40>().ok_or((None, Unread::Cut))?;
    if header[0] >> 4 != 6 {
        return Err((None, Unread::Malformed));
    }
    let said = usize::from(u16::from_be_bytes([header[4], header[5]]));
    // Length 0: more than 64 KiB. An option says how much; a super-packet needs none, its frame says it.
    // DIVERGES [Wireshark 4.0]: it takes such a packet without the option for an empty one.
    let whole = match (said, jumbo_len(header[6], at.after(40))) {
        (0, Some(len)) => at.cut(len.saturating_add(40)),
        (0, None) if at.len > 40 + 0xffff => at,
        _ => at.cut(40 + said),
    };
    let class = (header[0] << 4) | (header[1] >> 4);
    let address = |from: usize| {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&header[from..from + 16]);
        Ipv6Addr::from(bytes)
    };
    let mut ip = Ip {
        addresses: Addresses::V6 { src: address(8), dst: address(24) },
        ecn: class & 3,
        dscp: class >> 2,
        ttl: header[7],
        id: None,
        len: whole.len as u32,
        no_length: said == 0,
        reassembled: false,
    };
    let complete = at.data.len() >= if said == 0 { whole.len } else { 40 + said };
    let (mut protocol, mut body) = (header[6], whole.after(40));
    let mut fragment = None;
    // Each turn takes 8 bytes or more, so the datagram's length bounds them.
    while let Some(len) = extension_len(protocol, body) {
        let len = len.map_err(|why| (Some(ip), why))?;
        if protocol == next::FRAGMENT {
            let Some(&[_, _, high, low, a, b, c, d]) = body.head::<8>() else {
                return Err((Some(ip), Unread::Cut));
            };
            let bits = u16::from_be_bytes([high, low]);
            ip.id = Some(u32::from_be_bytes([a, b, c, d]));
            let found = (u32::from(bits & 0xfff8), bits & 1 == 1);
            // One that is a whole datagram is no fragment.
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

/// The payload length in the jumbo option of a hop-by-hop header.
fn jumbo_len(protocol: u8, at: Slice<'_>) -> Option<usize> {
    if protocol != next::HOP_BY_HOP {
        return None;
    }
    let len = 8 + usize::from(at.u8(1)?) * 8;
    let mut options = at.data.get(2..len.min(at.data.len()))?;
    loop {
        match *options {
            [0xc2, 4, a, b, c, d, ..] => {
                let said = u32::from_be_bytes([a, b, c, d]) as usize;
                return (said > 0xffff).then_some(said);
            }
            // A single byte of padding.
            [0, ..] => options = &options[1..],
            [_, len, ..] => options = options.get(2 + usize::from(len)..)?,
            _ => return None,
        }
    }
}

/// Length of the extension header `protocol`, whose first two bytes are looked at; `None` if it isn't one.
fn extension_len(protocol: u8, at: Slice<'_>) -> Option<Result<usize, Unread>> {
    let unit = match protocol {
        next::HOP_BY_HOP | next::ROUTING | next::DESTINATION | next::SHIM6 => 8,
        next::FRAGMENT => 0,
        next::AUTHENTICATION => 4,
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

/// A fragment: the datagram if this one completes it. One that was cut can't be put together; then its header is told if
/// it has one, without a length.
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
    // The datagram lies in the fragments' memory now, so no further fragments can be put together in it.
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
    /// What the fragments of one datagram have in common.
    fn key(&self, ip: &Ip, protocol: u8) -> Key {
        // Private addresses may be in use on each VLAN.
        let local = match ip.addresses {
            Addresses::V4 { src, dst } => [src, dst].iter().any(|a| a.is_private() || a.is_link_local()),
            Addresses::V6 { .. } => false,
        };
        let vlan = if local { self.vlan } else { 0 };
        Key { addresses: ip.addresses, id: ip.id.unwrap_or(0), protocol, vlan }
    }
}
