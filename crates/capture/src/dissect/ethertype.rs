//! Protocols by EtherType, and the framings that lead to one: Ethernet, VLAN tags, LLC and SNAP, MPLS, PPPoE, PPP
//! [IEEE 802.3, 802.1Q, 802.2; RFC 1042, 3032, 2516, 1661].

use super::slice::Slice;
use super::{Dissected, Path, Unread, ip};

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
pub(super) const LEAST_ETHERTYPE: u16 = 0x0600;

/// An Ethernet frame.
#[inline]
pub(super) fn ethernet<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    match at.u16(12) {
        Some(IPV4) => ip::any(path, at.after(14)),
        Some(kind) => payload(path, kind, at.after(14)),
        None => path.none(Unread::Cut),
    }
}

/// Dissects the payload of an EtherType (or of an 802.3 length).
pub(super) fn payload<'a>(mut path: Path<'a>, kind: u16, at: Slice<'a>) -> Dissected<'a> {
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
            payload(path, u16::from_be_bytes([high, low]), at.after(8))
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
pub(super) fn pppoe<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
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

/// Dissects the payload of an EtherType; a length in its place is not IP.
pub(super) fn payload_of_type<'a>(path: Path<'a>, kind: u16, at: Slice<'a>) -> Dissected<'a> {
    if kind < LEAST_ETHERTYPE { path.none(Unread::NotIp) } else { payload(path, kind, at) }
}
