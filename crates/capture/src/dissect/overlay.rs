//! Headers of tunnels over UDP, and of NSH, up to the inner frame or datagram: VXLAN [RFC 7348], VXLAN-GPE
//! [draft-ietf-nvo3-vxlan-gpe], Geneve [RFC 8926], GTP-U [3GPP TS 29.281], L2TP [RFC 2661], LISP [RFC 9300], Teredo
//! [RFC 4380], TZSP, NSH [RFC 8300].

use super::slice::Slice;
use super::{Dissected, Path, Tunnel, Unread, ethertype, ip, wireless};

/// The inner packet of a tunnel over UDP; `at` is the UDP payload.
pub(super) fn inner<'a>(path: Path<'a>, tunnel: Tunnel, at: Slice<'a>) -> Dissected<'a> {
    match tunnel {
        Tunnel::Vxlan => ethertype::ethernet(path, at.after(8)),
        Tunnel::VxlanGpe => match at.u8(3) {
            Some(next) => next_protocol(path, next, at.after(8)),
            None => path.none(Unread::Cut),
        },
        Tunnel::Geneve => geneve(path, at),
        Tunnel::GtpU => gtp(path, at),
        Tunnel::L2tp => l2tp(path, at),
        Tunnel::Lisp => ip::any(path, at.after(8)),
        Tunnel::MplsInUdp => ethertype::mpls(path, at),
        Tunnel::Teredo => teredo(path, at),
        Tunnel::Tzsp => tzsp(path, at),
        _ => path.none(Unread::Tunnel),
    }
}

/// Protocols in VXLAN-GPE and NSH [RFC 8300 §2.2].
fn next_protocol<'a>(path: Path<'a>, next: u8, at: Slice<'a>) -> Dissected<'a> {
    match next {
        1 => ip::v4(path, at),
        2 => ip::v6(path, at),
        3 => ethertype::ethernet(path, at),
        4 => nsh(path, at),
        5 => ethertype::mpls(path, at),
        _ => path.none(Unread::Tunnel),
    }
}

/// A Network Service Header: its length is counted in words of four bytes.
pub(super) fn nsh<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    let (Some(base), Some(next)) = (at.u16(0), at.u8(3)) else { return path.none(Unread::Cut) };
    let len = usize::from(base & 0x3f) * 4;
    if !path.may_enter() {
        let unentered = Some(Tunnel::Nsh);
        return Dissected { tunnel: path.tunnel.or(unentered), unentered, ..path.none(Unread::Tunnel) };
    }
    if len < 8 {
        return path.none(Unread::Malformed);
    }
    next_protocol(path.inside(Tunnel::Nsh), next, at.after(len))
}

fn geneve<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    let (Some(first), Some(kind)) = (at.u8(0), at.u16(2)) else { return path.none(Unread::Cut) };
    ethertype::payload_of_type(path, kind, at.after(8 + usize::from(first & 0x3f) * 4))
}

/// G-PDUs of version 1; other messages are signaling.
fn gtp<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    let Some(&[flags, kind, ..]) = at.head::<8>() else { return path.none(Unread::Cut) };
    if flags & 0xf0 != 0x30 || kind != 255 {
        return path.none(Unread::Tunnel);
    }
    let mut body = at.after(8);
    if flags & 7 != 0 {
        let Some(mut next) = body.u8(3) else { return path.none(Unread::Cut) };
        body = body.after(4);
        // Each extension header has at least 4 bytes, so the datagram's length bounds the loop.
        while flags & 4 != 0 && next != 0 {
            let Some(len) = body.u8(0).filter(|&len| len > 0) else { return path.none(Unread::Malformed) };
            let len = usize::from(len) * 4;
            let Some(after) = body.u8(len - 1) else { return path.none(Unread::Cut) };
            next = after;
            body = body.after(len);
        }
    }
    match body.u8(0) {
        Some(0x45..=0x4e) => ip::v4(path, body),
        Some(0x60..=0x6f) => ip::v6(path, body),
        Some(_) => ethertype::ppp(path, body),
        None => path.none(Unread::Cut),
    }
}

/// Data messages of version 2. Version 3 needs the cookie length, which only the control connection has.
fn l2tp<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    let Some(flags) = at.u16(0) else { return path.none(Unread::Cut) };
    if flags & 0x8000 != 0 || flags & 0xf != 2 {
        return path.none(Unread::Tunnel);
    }
    let has = |bit: u16| usize::from(flags & bit != 0);
    let mut len = 2 + 2 * has(0x4000) + 4 + 4 * has(0x0800);
    if flags & 0x0200 != 0 {
        let Some(pad) = at.u16(len) else { return path.none(Unread::Cut) };
        len += 2 + usize::from(pad);
    }
    ethertype::ppp(path, at.after(len))
}

/// An authentication header and an origin indication may come first [RFC 4380 §5.1.1].
fn teredo<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    let mut at = at;
    if at.u16(0) == Some(1) {
        let (Some(id), Some(auth)) = (at.u8(2), at.u8(3)) else { return path.none(Unread::Cut) };
        at = at.after(4 + usize::from(id) + usize::from(auth) + 9);
    }
    if at.u16(0) == Some(0) {
        at = at.after(8);
    }
    match at.u8(0).map(|b| b >> 4) {
        Some(6) => ip::v6(path, at),
        Some(_) => path.none(Unread::Tunnel),
        None => path.none(Unread::Cut),
    }
}

/// Tagged fields come before the frame, whose link type is a number of its own.
fn tzsp<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    let (Some(kind), Some(link)) = (at.u8(1), at.u16(2)) else { return path.none(Unread::Cut) };
    if kind > 1 {
        return path.none(Unread::Tunnel);
    }
    let mut at = at.after(4);
    loop {
        match at.u8(0) {
            Some(0) => at = at.after(1),
            Some(1) => break,
            Some(_) => match at.u8(1) {
                Some(len) => at = at.after(2 + usize::from(len)),
                None => return path.none(Unread::Cut),
            },
            None => return path.none(Unread::Cut),
        }
    }
    match link {
        1 => ethertype::ethernet(path, at.after(1)),
        18 => wireless::frame(path, at.after(1), false),
        _ => path.none(Unread::Tunnel),
    }
}
