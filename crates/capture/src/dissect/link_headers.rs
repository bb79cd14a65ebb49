//! Link types with headers of their own before the IP header or before a frame of another kind
//! [draft-ietf-opsawg-pcaplinktype, www.tcpdump.org/linktypes.html].

use super::ethertype::{self, ethernet, llc, ppp};
use super::slice::Slice;
use super::{Dissected, Path, Unread, ip, link, wireless};
use crate::LinkType;

/// Dissects a frame of `link`, which is none of those in [`link`](super::link).
#[cold]
pub(super) fn dissect<'a>(path: Path<'a>, link: LinkType, at: Slice<'a>) -> Dissected<'a> {
    let read = match link.0 {
        6 => return token_ring(path, at),
        10 => return fddi(path, at),
        100 => return llc(path, at),
        107 => return frame_relay(path, at),
        109 => Some(at.after(12)),
        117 => at.u8(0).map(|len| at.after(usize::from(len).next_multiple_of(4))),
        119 | 163 => return prism(path, at),
        178..=181 => return juniper(path, link, at),
        226 => Some(at.after(24)),
        239 => nflog(at),
        242 => return infiniband(path, at),
        252 => return exported(path, at),
        258 => return pktap(path, at),
        _ => return path.none(Unread::LinkType),
    };
    match read {
        Some(at) => ip::any(path, at),
        None => path.none(Unread::Cut),
    }
}

/// IEEE 802.5: access and frame control, addresses, a source route if the first bit of the source address is set, LLC.
fn token_ring<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    match (at.u8(1), at.u8(8), at.u8(14)) {
        (Some(control), Some(source), Some(route)) if control & 0xc0 == 0x40 => {
            llc(path, at.after(14 + if source & 0x80 != 0 { usize::from(route & 0x1f) } else { 0 }))
        }
        (Some(_), Some(_), Some(_)) => path.not_ip("Token Ring MAC", 0),
        _ => path.none(Unread::Cut),
    }
}

/// Frame control, addresses, LLC.
fn fddi<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    match at.u8(0) {
        Some(0x50..=0x5f) => llc(path, at.after(13)),
        Some(_) => path.not_ip("FDDI MAC", 0),
        None => path.none(Unread::Cut),
    }
}

/// The address (its last byte is odd), then NLPID [RFC 2427] or, as Cisco writes it, an EtherType.
pub(super) fn frame_relay<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    let Some(end) = at.data.iter().take(4).position(|b| b & 1 == 1) else { return path.none(Unread::Cut) };
    let at = at.after(end + 1);
    match at.head::<2>() {
        Some([0x03, 0xcc]) => ip::any(path, at.after(2)),
        Some([0x03, 0x8e]) => ip::v6(path, at.after(2)),
        Some([0x03, 0x80]) => snap(path, at.after(2)),
        Some([0x03, 0x00]) if at.u8(2) == Some(0x80) => snap(path, at.after(3)),
        Some([0x03, 0xcf]) => ppp(path, at.after(2)),
        Some(&[0x03, nlpid]) => path.not_ip("NLPID", nlpid.into()),
        Some(&kind) => ethertype::payload_of_type(path, u16::from_be_bytes(kind), at.after(2)),
        None => path.none(Unread::Cut),
    }
}

/// SNAP without the LLC header: organization code and protocol.
fn snap<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    match at.head::<5>() {
        Some(&[0, 0, 0, high, low]) => ethertype::payload_of_type(path, u16::from_be_bytes([high, low]), at.after(5)),
        Some([0, 0x80, 0xc2, 0, 1 | 7]) => ethernet(path, at.after(5)),
        Some(_) => path.not_ip("SNAP", 0),
        None => path.none(Unread::Cut),
    }
}

/// Prism and AVS headers before 802.11; both are written under link type 119.
fn prism<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    let Some(&[a, b, c, d]) = at.after(4).head::<4>() else { return path.none(Unread::Cut) };
    let big = u32::from_be_bytes([a, b, c, d]);
    let avs = at.u16(0) == Some(0x8021);
    let len = if avs || big < 0x1000 { big } else { big.swap_bytes() };
    wireless::frame(path, at.after(len as usize), false)
}

/// "MGC", flags (0x80: extensions follow, 0x02: without link layer), then the frame.
fn juniper<'a>(path: Path<'a>, link: LinkType, at: Slice<'a>) -> Dissected<'a> {
    let Some(&[0x4d, 0x47, 0x43, flags]) = at.head::<4>() else { return path.none(Unread::Malformed) };
    let mut body = at.after(4);
    if flags & 0x80 != 0 {
        let Some(len) = body.u16(0) else { return path.none(Unread::Cut) };
        body = body.after(2 + usize::from(len));
    }
    if flags & 0x02 != 0 {
        return ip::any(path, body.after(4));
    }
    match link.0 {
        178 => ethernet(path, body),
        179 => ppp(path, body),
        180 => frame_relay(path, body),
        _ => link::inside(path, LinkType::CISCO_HDLC.0.into(), body),
    }
}

/// The value of the attribute with the packet [Linux include/uapi/linux/netfilter/nfnetlink_log.h NFULA_PAYLOAD].
fn nflog(at: Slice<'_>) -> Option<Slice<'_>> {
    let mut at = at.after(4);
    loop {
        let (len, kind) = (usize::from(at.u16_le(0)?), at.u16_le(2)?);
        if kind & 0x7fff == 9 {
            return Some(at.cut(len).after(4));
        }
        if len < 4 {
            return None;
        }
        at = at.after(len.next_multiple_of(4));
    }
}

/// IP over InfiniBand [RFC 4391]: global routing header, EtherType, two reserved bytes.
fn infiniband<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    match at.u16(40) {
        Some(kind) => ethertype::payload_of_type(path, kind, at.after(44)),
        None => path.none(Unread::Cut),
    }
}

/// PDUs that Wireshark exports: tags, among them the name of the dissector [Wireshark epan/exported_pdu.h].
fn exported<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    let mut at = at;
    let mut name: &[u8] = b"";
    while let (Some(tag), Some(len)) = (at.u16(0), at.u16(2)) {
        let value = at.after(4).cut(len.into()).data;
        at = at.after(4 + usize::from(len));
        match tag {
            0 => {
                return match name {
                    b"ip" => ip::v4(path, at),
                    b"ipv6" => ip::v6(path, at),
                    b"eth" | b"eth_maybefcs" | b"eth_withoutfcs" => ethernet(path, at),
                    b"eth_withfcs" => ethernet(path, at.cut(at.len.saturating_sub(4))),
                    _ => path.not_ip("exported PDU", 0),
                };
            }
            // Padded with zeros.
            12 => name = value.split(|&b| b == 0).next().unwrap_or_default(),
            _ => {}
        }
    }
    path.none(Unread::Cut)
}

/// Apple's header: its length, a type, the link type of the frame.
fn pktap<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    match (at.u32_le(0), at.u32_le(8)) {
        (Some(len), Some(inner)) => link::inside(path, inner, at.after(len as usize)),
        _ => path.none(Unread::Cut),
    }
}
