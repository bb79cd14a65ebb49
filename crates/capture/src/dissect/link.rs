//! Link layers by link type: the headers from the start of the frame to the EtherType or IP header. Formats are those of
//! the LINKTYPE_ registry [draft-ietf-opsawg-pcaplinktype].

use super::slice::Slice;
use super::{Dissected, Path, Unread, ip, wireless};
use crate::LinkType;

const VLAN: u16 = 0x8100;
/// Service tag (QinQ), and its number before IEEE 802.1ad.
const SERVICE_VLAN: [u16; 2] = [0x88a8, 0x9100];
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const MPLS: [u16; 2] = [0x8847, 0x8848];
const PPPOE_SESSION: u16 = 0x8864;
/// A bridged Ethernet frame (transparent Ethernet bridging).
const BRIDGED: u16 = 0x6558;
/// Least EtherType; below it, the field is a length (IEEE 802.3).
const LEAST_ETHERTYPE: u16 = 0x0600;

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
            (Some(len), Some(inner)) if inner != u32::from(LinkType::PPI.0) => {
                let inner = u16::try_from(inner).map_or(LinkType(u16::MAX), LinkType);
                dissect(path, inner, at.after(len.into()))
            }
            (Some(_), Some(_)) => path.none(Unread::Malformed),
            _ => path.none(Unread::Cut),
        },
        LinkType::PPP | LinkType::PPP_HDLC | LinkType::PPP_WITH_DIR => ppp(path, at),
        LinkType::PPP_ETHER => pppoe(path, at),
        LinkType::CISCO_HDLC => match at.u16(2) {
            Some(kind) => ethertype(path, kind, at.after(4)),
            None => path.none(Unread::Cut),
        },
        link if LinkType::RAW_OLD.contains(&link) => ip::any(path, at),
        _ => path.none(Unread::LinkType),
    }
}

/// An Ethernet frame.
#[inline]
pub(super) fn ethernet<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    match at.u16(12) {
        Some(IPV4) => ip::any(path, at.after(14)),
        Some(kind) => ethertype(path, kind, at.after(14)),
        None => path.none(Unread::Cut),
    }
}

/// Dissects the payload of an EtherType (or of an 802.3 length).
pub(super) fn ethertype<'a>(mut path: Path<'a>, kind: u16, at: Slice<'a>) -> Dissected<'a> {
    let (mut kind, mut at) = (kind, at);
    // Each iteration consumes 4 bytes, so the frame's length bounds the loop.
    while kind == VLAN || SERVICE_VLAN.contains(&kind) {
        let (Some(tag), Some(next)) = (at.u16(0), at.u16(2)) else { return path.none(Unread::Cut) };
        path.vlan = tag & 0x0fff;
        kind = next;
        at = at.after(4);
    }
    match kind {
        IPV4 => ip::any(path, at),
        IPV6 => ip::v6(path, at),
        PPPOE_SESSION => pppoe(path, at),
        BRIDGED => ethernet(path, at),
        kind if MPLS.contains(&kind) => mpls(path, at),
        kind if kind < LEAST_ETHERTYPE => llc(path, at.cut(kind.into())),
        _ => path.none(Unread::NotIp),
    }
}

/// IEEE 802.2, with or without SNAP.
pub(super) fn llc<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    match at.head::<8>() {
        // The second organization code is that of 802.1H, for bridged frames.
        Some(&[0xaa, 0xaa, 0x03, 0, 0, 0 | 0xf8, high, low]) => {
            ethertype(path, u16::from_be_bytes([high, low]), at.after(8))
        }
        Some([0x06, 0x06, 0x03, ..]) => ip::any(path, at.after(3)),
        Some(_) => path.none(Unread::NotIp),
        None => path.none(Unread::Cut),
    }
}

/// MPLS labels. The first bits after the last label distinguish IPv4 and IPv6 [RFC 4928 §2].
fn mpls<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    let mut at = at;
    loop {
        let Some(label) = at.head::<4>() else { return path.none(Unread::Cut) };
        at = at.after(4);
        if label[2] & 1 == 1 {
            break;
        }
    }
    match at.u8(0).map(|b| b >> 4) {
        Some(4 | 6) => ip::any(path, at),
        Some(_) => path.none(Unread::NotIp),
        None => path.none(Unread::Cut),
    }
}

/// The header of a PPPoE session [RFC 2516 §4]. Discovery has another EtherType.
fn pppoe<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    let Some(header) = at.head::<6>() else { return path.none(Unread::Cut) };
    let len = u16::from_be_bytes([header[4], header[5]]);
    ppp(path, at.after(6).cut(len.into()))
}

/// PPP [RFC 1661, RFC 1662], with or without address and control field, with a protocol field of one or two bytes.
pub(super) fn ppp<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    // The all-stations address; the control byte 3 follows.
    let at = if at.u8(0) == Some(0xff) { at.after(2) } else { at };
    let (protocol, at) = match (at.u8(0), at.u16(0)) {
        // The last byte of a protocol number is odd, the first one of two is even.
        (Some(short), _) if short & 1 == 1 => (u16::from(short), at.after(1)),
        (_, Some(long)) => (long, at.after(2)),
        _ => return path.none(Unread::Cut),
    };
    match protocol {
        0x0021 => ip::any(path, at),
        0x0057 => ip::v6(path, at),
        0x0281 | 0x0283 => mpls(path, at),
        _ => path.none(Unread::NotIp),
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
        _ => return path.none(Unread::NotIp),
    };
    let at = at.after(4);
    match family {
        // Address families are below 256: this is a 16-bit one in the other byte order.
        short if short < LEAST_ETHERTYPE && short & 0xff == 0 => loopback(path, (short >> 8).into(), at),
        short if short < LEAST_ETHERTYPE => loopback(path, short.into(), at),
        kind => ethertype(path, kind, at),
    }
}

/// Dissects the payload of an address family. IPv6 has different numbers in NetBSD and OpenBSD, FreeBSD, macOS.
fn loopback<'a>(path: Path<'a>, family: u32, at: Slice<'a>) -> Dissected<'a> {
    match family {
        2 => ip::any(path, at),
        24 | 28 | 30 => ip::v6(path, at),
        _ => path.none(Unread::NotIp),
    }
}

fn ethertype_only<'a>(path: Path<'a>, kind: u16, at: Slice<'a>) -> Dissected<'a> {
    if kind < LEAST_ETHERTYPE { path.none(Unread::NotIp) } else { ethertype(path, kind, at) }
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
        (824, _) => path.none(Unread::NotIp),
        (801, _) => wireless::frame(path, at, false),
        (803, _) => wireless::radiotap(path, at),
        (_, 4) => llc(path, at),
        (_, kind) => ethertype_only(path, kind, at),
    }
}
