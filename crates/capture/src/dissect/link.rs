//! Link layers by link type: the headers from the start of the frame to the EtherType or IP header. Formats are those
//! of the LINKTYPE_ registry [draft-ietf-opsawg-pcaplinktype].

use super::ethertype::{self, LEAST_ETHERTYPE, ethernet, llc, ppp, pppoe};
use super::slice::Slice;
use super::{Dissected, Path, Unread, ip, link_headers, wireless};
use crate::LinkType;

/// Dissects a frame of `link`.
#[inline]
pub(super) fn dissect<'a>(path: Path<'a>, link: LinkType, at: Slice<'a>) -> Dissected<'a> {
    match link {
        LinkType::ETHERNET => ethernet(path, at),
        _ => other(path, link, at),
    }
}

fn other<'a>(path: Path<'a>, link: LinkType, at: Slice<'a>) -> Dissected<'a> {
    match link {
        LinkType::RAW | LinkType::IPV4 => ip::any(path, at),
        LinkType::IPV6 => ip::v6(path, at),
        LinkType::NULL => null(path, at),
        LinkType::LOOP => match at.head::<4>() {
            Some(&family) => loopback(path, u32::from_be_bytes(family), at.after(4)),
            None => path.none(Unread::Cut),
        },
        LinkType::LINUX_SLL => cooked(path, at, at.u16(2), at.u16(14), 16),
        LinkType::LINUX_SLL2 => cooked(path, at, at.u16(8), at.u16(0), 20),
        LinkType::IEEE802_11 => wireless::frame(path, at, false),
        LinkType::IEEE802_11_RADIOTAP => wireless::radiotap(path, at),
        LinkType::PPI => match (at.u16_le(2), at.u32_le(4)) {
            // A header before a frame of another link type; PPI inside PPI is invalid.
            (Some(len), Some(inner)) => inside(path, inner, at.after(len.into())),
            _ => path.none(Unread::Cut),
        },
        LinkType::PPP | LinkType::PPP_HDLC | LinkType::PPP_WITH_DIR => ppp(path, at),
        LinkType::PPP_ETHER => pppoe(path, at),
        LinkType::CISCO_HDLC => match at.u16(2) {
            Some(kind) => ethertype::payload(path, kind, at.after(4)),
            None => path.none(Unread::Cut),
        },
        link if LinkType::RAW_OLD.contains(&link) => ip::any(path, at),
        link => link_headers::dissect(path, link, at),
    }
}

/// A frame of another link type behind a header.
pub(super) fn inside<'a>(path: Path<'a>, link: u32, at: Slice<'a>) -> Dissected<'a> {
    let link = u16::try_from(link).map_or(LinkType(u16::MAX), LinkType);
    match path.depth {
        0 => path.none(Unread::Malformed),
        depth => dissect(Path { depth: depth - 1, ..path }, link, at),
    }
}

/// BSD loopback: an address family in the byte order of the writer, which is unknown. Some writers use 16 bits, an
/// EtherType, or PPP instead [Wireshark packet-null.c].
fn null<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    let Some(&header) = at.head::<4>() else { return path.none(Unread::Cut) };
    if header.starts_with(&[0xff, 0x03]) {
        return ppp(path, at);
    }
    let family = match header {
        [low, high, 0, 0] => u16::from_le_bytes([low, high]),
        [0, 0, high, low] => u16::from_be_bytes([high, low]),
        _ => return path.not_ip("loopback header", u32::from_be_bytes(header)),
    };
    let at = at.after(4);
    match family {
        // Address families are below 256: this is a 16-bit one in the other byte order.
        short if short < LEAST_ETHERTYPE && short & 0xff == 0 => loopback(path, (short >> 8).into(), at),
        short if short < LEAST_ETHERTYPE => loopback(path, short.into(), at),
        kind => ethertype::payload(path, kind, at),
    }
}

/// Dissects the payload of an address family. IPv6 has different numbers in NetBSD and OpenBSD, FreeBSD, macOS.
fn loopback<'a>(path: Path<'a>, family: u32, at: Slice<'a>) -> Dissected<'a> {
    match family {
        2 => ip::any(path, at),
        24 | 28 | 30 => ip::v6(path, at),
        family => path.not_ip("address family", family),
    }
}

/// The Linux cooked header: hardware type, protocol, header length.
fn cooked<'a>(
    path: Path<'a>,
    at: Slice<'a>,
    hardware: Option<u16>,
    protocol: Option<u16>,
    len: usize,
) -> Dissected<'a> {
    let (Some(hardware), Some(protocol)) = (hardware, protocol) else { return path.none(Unread::Cut) };
    let at = at.after(len);
    match (hardware, protocol) {
        // Netlink messages; the protocol is a netlink family.
        (824, _) => path.not_ip("netlink", 0),
        (801, _) => wireless::frame(path, at, false),
        (803, _) => wireless::radiotap(path, at),
        (_, 4) => llc(path, at),
        (_, kind) => ethertype::payload_of_type(path, kind, at),
    }
}
