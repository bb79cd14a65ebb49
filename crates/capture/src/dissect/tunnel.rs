//! Tunnels over IP and UDP. Those without encryption are decapsulated unless the option forbids it; the others are
//! named.
//!
//! GRE has a [file](super::gre) of its own, as do the headers of [tunnels over UDP](super::overlay). IP-in-IP [RFC
//! 2003, RFC 4213], EtherIP [RFC 3378], MPLS in IP [RFC 4023], L2TP version 3 [RFC 3931], ESP [RFC 4303, RFC 3948],
//! WireGuard.

use dumbbell_wire::UdpHeader;

use super::slice::Slice;
use super::{Dissected, Ip, Outer, Path, Transport, Tunnel, Unread, ethertype, ip, overlay, udp};

/// The tunnel of a UDP datagram, by the ports that Wireshark knows.
fn by_port(port: u16) -> Option<Tunnel> {
    Some(match port {
        1701 => Tunnel::L2tp,
        2152 => Tunnel::GtpU,
        3544 => Tunnel::Teredo,
        4341 => Tunnel::Lisp,
        4500 => Tunnel::Esp,
        4754 => Tunnel::Gre,
        4789 => Tunnel::Vxlan,
        4790 => Tunnel::VxlanGpe,
        5247 => Tunnel::Capwap,
        6081 => Tunnel::Geneve,
        6635 => Tunnel::MplsInUdp,
        37_008 => Tunnel::Tzsp,
        51_820 => Tunnel::WireGuard,
        _ => return None,
    })
}

/// A UDP datagram, or a tunnel on a well-known UDP port. Of two such ports the lower one counts, as in Wireshark.
pub(super) fn udp_datagram<'a>(path: Path<'a>, ip: Ip, view: udp::UdpView<'a>, at: Slice<'a>) -> Dissected<'a> {
    let (low, high) = (view.src_port.min(view.dst_port), view.src_port.max(view.dst_port));
    let plain = |path: &Path<'a>, tunnel: Option<Tunnel>| Dissected {
        ip: Some(ip),
        tunnel: path.tunnel.or(tunnel),
        outer: path.outer_udp,
        unentered: tunnel,
        transport: Transport::Udp(view),
    };
    let Some(tunnel) = by_port(low).or_else(|| by_port(high)) else { return plain(&path, None) };
    let Some(len) = view.len else { return plain(&path, Some(tunnel)) };
    if matches!(tunnel, Tunnel::Esp | Tunnel::WireGuard | Tunnel::Capwap) {
        return plain(&path, Some(tunnel));
    }
    let outer = Outer { ip, src_port: view.src_port, dst_port: view.dst_port, len };
    let outer_udp = path.outer_udp.or(Some(outer));
    if !path.may_enter() {
        return plain(&path, Some(tunnel));
    }
    let inner = Path { outer: Some(ip), outer_udp, ..path.inside(tunnel) };
    let body = at.after(UdpHeader::LEN).cut(len as usize);
    let found = match tunnel {
        Tunnel::Gre => super::gre::payload(inner, body),
        _ => overlay::inner(inner, tunnel, body),
    };
    // Without an inner datagram (signaling, keep-alives) it is an ordinary datagram.
    match found.transport {
        Transport::None(Unread::Tunnel) => Dissected {
            ip: Some(ip),
            tunnel: found.tunnel,
            outer: None,
            unentered: Some(tunnel),
            transport: Transport::Udp(view),
        },
        _ => found,
    }
}

/// A tunnel that is not decapsulated.
pub(super) fn opaque<'a>(path: Path<'a>, ip: Ip, tunnel: Tunnel) -> Dissected<'a> {
    let unentered = Some(tunnel);
    Dissected { ip: Some(ip), tunnel: path.tunnel.or(unentered), unentered, ..path.none(Unread::Tunnel) }
}

/// A tunnel directly over IP.
pub(super) fn over_ip<'a>(
    path: Path<'a>,
    ip: Ip,
    tunnel: Tunnel,
    enter: impl FnOnce(Path<'a>) -> Dissected<'a>,
) -> Dissected<'a> {
    if path.may_enter() { enter(Path { outer: Some(ip), ..path.inside(tunnel) }) } else { opaque(path, ip, tunnel) }
}

/// A GRE packet.
pub(super) fn gre<'a>(path: Path<'a>, ip: Ip, at: Slice<'a>) -> Dissected<'a> {
    over_ip(path, ip, Tunnel::Gre, |inner| super::gre::payload(inner, at))
}

/// An IPv4 or IPv6 packet in IP.
pub(super) fn ip_in_ip<'a>(path: Path<'a>, ip: Ip, at: Slice<'a>) -> Dissected<'a> {
    over_ip(path, ip, Tunnel::IpInIp, |inner| ip::any(inner, at))
}

/// An Ethernet frame in IP: after two bytes in EtherIP (97), at once in protocol 143 [RFC 8986 §4.9].
pub(super) fn ethernet_in_ip<'a>(path: Path<'a>, ip: Ip, at: Slice<'a>, header: usize) -> Dissected<'a> {
    over_ip(path, ip, Tunnel::EtherIp, |inner| ethertype::ethernet(inner, at.after(header)))
}

/// MPLS labels in IP.
pub(super) fn mpls_in_ip<'a>(path: Path<'a>, ip: Ip, at: Slice<'a>) -> Dissected<'a> {
    over_ip(path, ip, Tunnel::MplsInIp, |inner| ethertype::mpls(inner, at))
}
