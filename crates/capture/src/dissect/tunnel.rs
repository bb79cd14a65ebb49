//! Tunnels over IP and UDP: GRE, IP-in-IP and VXLAN are decapsulated on request, all others are reported.
//!
//! GRE [RFC 2784, RFC 2890] with PPTP [RFC 2637 §4.1] and ERSPAN (draft-foschiano-erspan), IP-in-IP [RFC 2003, RFC 4213],
//! VXLAN [RFC 7348], Geneve [RFC 8926], GTP-U, L2TP [RFC 2661, RFC 3931], Teredo [RFC 4380], ESP [RFC 4303].

use dumbbell_wire::UdpHeader;

use super::slice::Slice;
use super::{Dissected, Ip, Path, Transport, Tunnel, Unread, ethertype, ip, udp};

const VXLAN_PORT: u16 = 4789;

/// A tunnel that is not decapsulated.
pub(super) fn opaque<'a>(path: Path<'a>, ip: Ip, tunnel: Tunnel) -> Dissected<'a> {
    let tunnel = path.tunnel.or(Some(tunnel));
    Dissected { ip: Some(ip), tunnel, transport: Transport::None(Unread::Tunnel) }
}

/// A tunnel that is decapsulated if the option is set.
fn decapsulate<'a>(
    path: Path<'a>,
    ip: Ip,
    tunnel: Tunnel,
    enter: impl FnOnce(Path<'a>) -> Dissected<'a>,
) -> Dissected<'a> {
    if !path.enter_tunnels || path.depth == 0 {
        return opaque(path, ip, tunnel);
    }
    enter(Path { depth: path.depth - 1, tunnel: path.tunnel.or(Some(tunnel)), outer: Some(ip), ..path })
}

/// A UDP datagram, or a tunnel on a well-known UDP port.
pub(super) fn udp_datagram<'a>(
    path: Path<'a>,
    ip: Ip,
    view: udp::UdpView<'a>,
    at: Slice<'a>,
) -> Dissected<'a> {
    let either = |port| view.dst_port == port || view.src_port == port;
    let tunnel = match () {
        () if either(VXLAN_PORT) => Tunnel::Vxlan,
        () if either(6081) => Tunnel::Geneve,
        () if either(2152) => Tunnel::GtpU,
        () if either(1701) => Tunnel::L2tp,
        () if either(3544) => Tunnel::Teredo,
        () => return Dissected { ip: Some(ip), tunnel: path.tunnel, transport: Transport::Udp(view) },
    };
    let outermost = path.tunnel.or(Some(tunnel));
    if let (Tunnel::Vxlan, true, Some(len)) = (tunnel, path.enter_tunnels && path.depth > 0, view.len) {
        let inner = Path { depth: path.depth - 1, tunnel: outermost, outer: Some(ip), ..path };
        return ethertype::ethernet(inner, at.after(UdpHeader::LEN).cut(len as usize).after(8));
    }
    Dissected { ip: Some(ip), tunnel: outermost, transport: Transport::Udp(view) }
}

/// A GRE packet.
pub(super) fn gre<'a>(path: Path<'a>, ip: Ip, at: Slice<'a>) -> Dissected<'a> {
    decapsulate(path, ip, Tunnel::Gre, |inner| gre_payload(inner, at))
}

/// An IPv4 or IPv6 packet in IP.
pub(super) fn ip_in_ip<'a>(path: Path<'a>, ip: Ip, at: Slice<'a>) -> Dissected<'a> {
    decapsulate(path, ip, Tunnel::IpInIp, |inner| ip::any(inner, at))
}

/// The payload of GRE: after flags and EtherType there are up to four optional fields.
fn gre_payload<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    let (Some(flags), Some(kind)) = (at.u16(0), at.u16(2)) else { return path.none(Unread::Cut) };
    let has = |bit: u16| usize::from(flags & bit != 0);
    // Checksum and offset are both present if either bit (checksum, routing) is set; then key and sequence number, and in
    // PPTP (version 1) an acknowledgment number.
    let version = flags & 7;
    let len = 4
        + 4 * (has(0x8000 | 0x4000) + has(0x2000) + has(0x1000))
        + if version == 1 { 4 * has(0x0080) } else { 0 };
    let body = at.after(len);
    match (version, kind) {
        (1, 0x880b) => ethertype::ppp(path, body),
        (0, 0x88be) => ethertype::ethernet(path, body.after(8 * has(0x1000))),
        // ERSPAN type III; its last flag means that 8 more bytes follow.
        (0, 0x22eb) => match body.u8(11) {
            Some(flags) => ethertype::ethernet(path, body.after(12 + 8 * usize::from(flags & 1))),
            None => path.none(Unread::Cut),
        },
        (0, kind) if kind >= 0x0600 => ethertype::payload(path, kind, body),
        _ => path.none(Unread::NotIp),
    }
}
