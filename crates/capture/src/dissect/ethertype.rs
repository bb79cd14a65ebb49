//! Protocols by EtherType, and the framings that lead to one: Ethernet, VLAN tags, LLC and SNAP, MPLS, PPPoE, PPP
//! [IEEE 802.3, 802.1Q, 802.2; RFC 1042, 3032, 2516, 1661].

use super::slice::Slice;
use super::{Dissected, Path, Tunnel, Unread, ip, names, overlay};

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
        kind => tagged(path, kind, at),
    }
}

/// Tags and tunnels of Ethernet.
fn tagged<'a>(path: Path<'a>, kind: u16, at: Slice<'a>) -> Dissected<'a> {
    // Bytes of the tag before the next EtherType.
    let tag = match kind {
        0x8926 => 4,          // VN-tag
        0x892f | 0xf1c1 => 4, // HSR [IEC 62439-3], R-TAG [IEEE 802.1CB]
        0x893f => 6,          // E-tag [IEEE 802.1BR]
        0x8909 => 6,          // Cisco metadata
        0x88e5 => return macsec(path, at),
        // Backbone service instance [IEEE 802.1ah]: addresses follow.
        0x88e7 => return deeper(path, |path| ethernet(path, at.after(4))),
        0x22f3 => return trill(path, at),
        0x4305 => return batman(path, at),
        0x894f => return overlay::nsh(path, at),
        0x8870 => return llc(path, at),
        kind => return path.none(Unread::NotIp(names::ethertype(kind))),
    };
    match at.u16(tag) {
        Some(next) => deeper(path, |path| payload(path, next, at.after(tag + 2))),
        None => path.none(Unread::Cut),
    }
}

/// Limits nested tags.
fn deeper<'a>(path: Path<'a>, enter: impl FnOnce(Path<'a>) -> Dissected<'a>) -> Dissected<'a> {
    match path.depth {
        0 => path.none(Unread::Malformed),
        depth => enter(Path { depth: depth - 1, ..path }),
    }
}

/// TRILL [RFC 6325 §3.2]: two bytes with the length of the options, two nicknames, options, the frame.
fn trill<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    match at.u16(0) {
        Some(bits) => {
            let options = usize::from(bits >> 6 & 0x1f) * 4;
            deeper(path, |path| ethernet(path, at.after(6 + options)))
        }
        None => path.none(Unread::Cut),
    }
}

/// B.A.T.M.A.N. advanced, version 15 [Linux include/uapi/linux/batadv_packet.h]: the packets that carry a frame.
fn batman<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    let header = match at.head::<2>() {
        Some([0x01, 15]) => 14,
        Some([0x40, 15]) => 10,
        Some([0x42, 15]) => 18,
        Some(_) => return path.not_ip("B.A.T.M.A.N. routing", 0),
        None => return path.none(Unread::Cut),
    };
    deeper(path, |path| ethernet(path, at.after(header)))
}

/// MACsec [IEEE 802.1AE §9]: a frame with integrity protection only is readable; 16 bytes of check value end it.
fn macsec<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    let Some(&control) = at.data.first() else { return path.none(Unread::Cut) };
    let len = if control & 0x20 != 0 { 14 } else { 6 };
    if control & 0x0c != 0 {
        let unentered = Some(Tunnel::Macsec);
        let tunnel = path.tunnel.or(unentered);
        return Dissected { tunnel, unentered, ..path.none(Unread::Tunnel) };
    }
    match at.u16(len) {
        Some(next) => {
            let body = at.cut(at.len.saturating_sub(16)).after(len + 2);
            deeper(path, |path| payload(path, next, body))
        }
        None => path.none(Unread::Cut),
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
        // A bridged Ethernet frame, with or without check sequence, after two bytes of padding [RFC 2684 §5.2].
        Some([0xaa, 0xaa, 0x03, 0, 0x80, 0xc2, 0, 1 | 7]) => ethernet(path, at.after(10)),
        Some([0xaa, 0xaa, 0x03, 0, 0, 0x0c, ..]) => path.not_ip("Cisco SNAP", 0),
        Some([0x42, 0x42, ..]) => path.not_ip("STP", 0),
        Some([0xfe, 0xfe, ..]) => path.not_ip("IS-IS", 0),
        Some([0xff, 0xff, ..]) => path.not_ip("IPX", 0),
        Some(&[dsap, ..]) => path.not_ip("LLC", dsap.into()),
        None => path.none(Unread::Cut),
    }
}

/// MPLS labels. The first bits after the last label distinguish IPv4 and IPv6 [RFC 4928 §2].
pub(super) fn mpls<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
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
        // An Ethernet frame with or without a control word before it [RFC 4448 §4.6]: the EtherType distinguishes them.
        Some(_) if at.u16(16).is_some_and(is_common) => ethernet(path, at.after(4)),
        Some(_) if at.u16(12).is_some_and(is_common) => ethernet(path, at),
        Some(_) => path.not_ip("pseudowire", 0),
        None => path.none(Unread::Cut),
    }
}

fn is_common(kind: u16) -> bool {
    kind == IPV4 || kind == IPV6 || kind == VLAN || SERVICE_VLAN.contains(&kind) || MPLS.contains(&kind)
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
        0xc021 => path.not_ip("PPP LCP", 0),
        0x8021 => path.not_ip("PPP IPCP", 0),
        protocol => path.not_ip("PPP protocol", protocol.into()),
    }
}

/// Dissects the payload of an EtherType; a length in its place is not IP.
pub(super) fn payload_of_type<'a>(path: Path<'a>, kind: u16, at: Slice<'a>) -> Dissected<'a> {
    match kind {
        kind if kind < LEAST_ETHERTYPE => path.not_ip("protocol", kind.into()),
        kind => payload(path, kind, at),
    }
}
