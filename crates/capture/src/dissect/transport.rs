//! Transport headers by the protocol number of IP: TCP [RFC 9293], UDP [RFC 768], errors of ICMP [RFC 792] and ICMPv6
//! [RFC 4443] with the headers that they quote.

use dumbbell_wire::IcmpHeader;
use dumbbell_wire::protocol::{AUTHENTICATION, ESP, GRE, ICMP, ICMPV6, IPV4, IPV6, L2TP, TCP, UDP};

use super::slice::Slice;
use super::{Dissected, Ip, Path, Quoted, QuotedTransport, Transport, Tunnel, Unread, ip_header, tcp, tunnel, udp};

/// Ethernet in IP [RFC 3378].
const ETHERIP: u8 = 97;
/// IP payload compression [RFC 3173].
const IPCOMP: u8 = 108;
/// MPLS in IP [RFC 4023].
const MPLS: u8 = 137;
/// Ethernet [RFC 8986 §10.1].
const ETHERNET: u8 = 143;

/// Dissects the payload of a datagram. `whole`: it is not a fragment, so its length is known.
#[inline]
pub(super) fn dissect<'a>(path: Path<'a>, ip: Ip, protocol: u8, at: Slice<'a>, whole: bool) -> Dissected<'a> {
    if protocol == TCP {
        let transport = tcp::parse(at, whole).map_or(Transport::None(Unread::Cut), Transport::Tcp);
        return Dissected { ip: Some(ip), tunnel: path.tunnel, outer: path.outer_udp, unentered: None, transport };
    }
    other(path, ip, protocol, at, whole)
}

fn other<'a>(path: Path<'a>, ip: Ip, protocol: u8, at: Slice<'a>, whole: bool) -> Dissected<'a> {
    let (tunnel, outer) = (path.tunnel, path.outer_udp);
    let found = |transport| Dissected { ip: Some(ip), tunnel, outer, unentered: None, transport };
    match protocol {
        UDP => match udp::parse(at, whole) {
            Some(view) => tunnel::udp_datagram(path, ip, view, at),
            None => found(Transport::None(Unread::Cut)),
        },
        ICMP => found(icmp(at, is_error_v4, ip_header::quoted_v4)),
        ICMPV6 => found(icmp(at, is_error_v6, ip_header::quoted_v6)),
        IPV4 | IPV6 => tunnel::ip_in_ip(path, ip, at),
        GRE => tunnel::gre(path, ip, at),
        ESP => tunnel::opaque(path, ip, Tunnel::Esp),
        L2TP => tunnel::opaque(path, ip, Tunnel::L2tp),
        IPCOMP => tunnel::opaque(path, ip, Tunnel::IpComp),
        ETHERIP => tunnel::ethernet_in_ip(path, ip, at, 2),
        ETHERNET => tunnel::ethernet_in_ip(path, ip, at, 0),
        MPLS => tunnel::mpls_in_ip(path, ip, at),
        AUTHENTICATION => authenticated(path, ip, at, whole),
        other => found(Transport::Other(other)),
    }
}

/// The authentication header of IPv4 [RFC 4302 §2]; the authenticated header follows it. In IPv6 it is an extension
/// header.
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
    let header_complete = at.data.len() >= IcmpHeader::LEN;
    let Some((ip, protocol, body)) = read(quote) else {
        return Transport::Icmp { kind, code, quoted: None, quote_cut: header_complete && ends_before(quote, 40) };
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
