//! Transport headers by the protocol number of IP: TCP, UDP, ICMP errors with the headers that they quote.

use dumbbell_wire::protocol::{AUTHENTICATION, ESP, GRE, ICMP, ICMPV6, IPV4, IPV6, L2TP, TCP, UDP};
use dumbbell_wire::{IcmpHeader, UdpHeader};

use super::slice::Slice;
use super::{Dissected, Ip, Path, Quoted, QuotedTransport, Transport, Tunnel, Unread, ip, link, tcp, udp};

const VXLAN_PORT: u16 = 4789;

/// Dissects the payload of a datagram. `whole`: it is not a fragment, so its length is known.
#[inline]
pub(super) fn dissect<'a>(path: Path<'a>, ip: Ip, protocol: u8, at: Slice<'a>, whole: bool) -> Dissected<'a> {
    if protocol == TCP {
        let transport = tcp::parse(at, whole).map_or(Transport::None(Unread::Cut), Transport::Tcp);
        return Dissected { ip: Some(ip), tunnel: path.tunnel, transport };
    }
    other(path, ip, protocol, at, whole)
}

fn other<'a>(path: Path<'a>, ip: Ip, protocol: u8, at: Slice<'a>, whole: bool) -> Dissected<'a> {
    let found = |transport| Dissected { ip: Some(ip), tunnel: path.tunnel, transport };
    match protocol {
        UDP => match udp::parse(at, whole) {
            Some(view) => datagram(path, ip, view, at),
            None => found(Transport::None(Unread::Cut)),
        },
        ICMP => found(icmp(at, is_error_v4, ip::quoted_v4)),
        ICMPV6 => found(icmp(at, is_error_v6, ip::quoted_v6)),
        IPV4 | IPV6 => tunnel(path, ip, Tunnel::IpInIp, |inner| ip::any(inner, at)),
        GRE => tunnel(path, ip, Tunnel::Gre, |inner| gre(inner, at)),
        ESP => opaque(path, ip, Tunnel::Esp),
        L2TP => opaque(path, ip, Tunnel::L2tp),
        AUTHENTICATION => authenticated(path, ip, at, whole),
        other => found(Transport::Other(other)),
    }
}

/// The authentication header of IPv4 [RFC 4302 §2]; the authenticated header follows it. In IPv6 it is an extension header.
fn authenticated<'a>(path: Path<'a>, ip: Ip, at: Slice<'a>, whole: bool) -> Dissected<'a> {
    match at.head::<2>() {
        // The depth bounds a chain of such headers.
        Some(&[next, count]) if path.depth > 0 => {
            let len = 8 + usize::from(count) * 4;
            dissect(Path { depth: path.depth - 1, ..path }, ip, next, at.after(len), whole)
        }
        Some(_) => Dissected { ip: Some(ip), ..path.none(Unread::Malformed) },
        None => Dissected { ip: Some(ip), ..path.none(Unread::Cut) },
    }
}

/// A tunnel that is not decapsulated.
fn opaque<'a>(path: Path<'a>, ip: Ip, tunnel: Tunnel) -> Dissected<'a> {
    let tunnel = path.tunnel.or(Some(tunnel));
    Dissected { ip: Some(ip), tunnel, transport: Transport::None(Unread::Tunnel) }
}

/// A tunnel that is decapsulated if the option is set.
fn tunnel<'a>(
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
fn datagram<'a>(path: Path<'a>, ip: Ip, view: udp::UdpView<'a>, at: Slice<'a>) -> Dissected<'a> {
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
        return link::ethernet(inner, at.after(UdpHeader::LEN).cut(len as usize).after(8));
    }
    Dissected { ip: Some(ip), tunnel: outermost, transport: Transport::Udp(view) }
}

/// GRE [RFC 2784, RFC 2890], PPTP [RFC 2637 §4.1], ERSPAN: flags and EtherType, then up to four optional fields.
fn gre<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
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
        (1, 0x880b) => link::ppp(path, body),
        (0, 0x88be) => link::ethernet(path, body.after(8 * has(0x1000))),
        // ERSPAN type III; its last flag means that 8 more bytes follow.
        (0, 0x22eb) => match body.u8(11) {
            Some(flags) => link::ethernet(path, body.after(12 + 8 * usize::from(flags & 1))),
            None => path.none(Unread::Cut),
        },
        (0, kind) if kind >= 0x0600 => link::ethertype(path, kind, body),
        _ => path.none(Unread::NotIp),
    }
}

/// True for error messages of ICMP: unreachable, source quench, time exceeded, parameter problem. (Wireshark reads only
/// eight bytes of the datagram that a redirect quotes: too few.)
fn is_error_v4(kind: u8) -> bool {
    matches!(kind, 3 | 4 | 11 | 12)
}

/// True for error messages of ICMPv6 whose quote follows their header: unreachable, too big, time exceeded, parameter
/// problem.
fn is_error_v6(kind: u8) -> bool {
    matches!(kind, 1..=4)
}

fn icmp<'a>(
    at: Slice<'a>,
    is_error: fn(u8) -> bool,
    read: fn(Slice<'a>) -> Option<(Ip, u8, Slice<'a>)>,
) -> Transport<'a> {
    let Some(header) = IcmpHeader::new(at.data) else { return Transport::None(Unread::Cut) };
    let (kind, code) = (header.kind(), header.code());
    if !is_error(kind) {
        return Transport::Icmp { kind, code, quoted: None, quote_cut: false };
    }
    let quote = at.after(IcmpHeader::LEN);
    let begun = at.data.len() >= IcmpHeader::LEN;
    let Some((ip, protocol, body)) = read(quote) else {
        return Transport::Icmp { kind, code, quoted: None, quote_cut: begun && ends_before(quote, 40) };
    };
    let header = match protocol {
        TCP => body.u8(12).map_or(20, |b| usize::from(b >> 4) * 4),
        UDP | ICMP | ICMPV6 => 8,
        _ => 0,
    };
    let quoted = Some(Quoted { ip, transport: quoted_transport(protocol, body) });
    Transport::Icmp { kind, code, quoted, quote_cut: ends_before(body, header) }
}

/// True if the snap length cuts it within the first `header` bytes.
fn ends_before(at: Slice<'_>, header: usize) -> bool {
    at.data.len() < at.len.min(header)
}

fn quoted_transport(protocol: u8, at: Slice<'_>) -> QuotedTransport<'_> {
    let view = match protocol {
        TCP => tcp::parse(at, false).map(QuotedTransport::Tcp),
        UDP => match (at.u16(0), at.u16(2)) {
            (Some(src_port), Some(dst_port)) => Some(QuotedTransport::Udp { src_port, dst_port }),
            _ => None,
        },
        _ => None,
    };
    view.unwrap_or(QuotedTransport::Other)
}
