//! Finds the TCP, UDP or ICMP header in a frame.
//!
//! ```text
//! link (by link type) ──> ethertype ──> ip ──> transport ──> TCP, UDP, ICMP
//!        wireless ───────────^          ^         |
//!                                       +─ tunnel <+   (gre, overlay; tags in ethertype)
//! ```
//! Lengths follow Wireshark: the length in the IP header counts, bounded by the frame's length on the wire. Link-layer
//! padding and trailers are removed. A snap length shortens the available bytes and changes no length.

mod ethertype;
mod fragments;
mod gre;
mod ip;
mod ip_header;
mod link;
mod link_headers;
mod names;
mod overlay;
mod slice;
mod tcp;
mod transport;
mod tunnel;
mod udp;
mod wireless;

pub use fragments::Fragments;
pub use names::{Named, ip_protocol};
pub use tcp::TcpView;
pub use udp::UdpView;

use dumbbell_units::named;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use dumbbell_wire::Ecn;

use crate::Frame;
use slice::Slice;

/// Source and destination address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Addresses {
    /// IPv4.
    V4 {
        /// Source.
        src: Ipv4Addr,
        /// Destination.
        dst: Ipv4Addr,
    },
    /// IPv6.
    V6 {
        /// Source.
        src: Ipv6Addr,
        /// Destination.
        dst: Ipv6Addr,
    },
}

impl Addresses {
    /// The source.
    pub fn src(&self) -> IpAddr {
        match *self {
            Self::V4 { src, .. } => IpAddr::V4(src),
            Self::V6 { src, .. } => IpAddr::V6(src),
        }
    }

    /// The destination.
    pub fn dst(&self) -> IpAddr {
        match *self {
            Self::V4 { dst, .. } => IpAddr::V4(dst),
            Self::V6 { dst, .. } => IpAddr::V6(dst),
        }
    }
}

/// Fields of the IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip {
    /// Source and destination.
    pub addresses: Addresses,
    /// ECN field.
    pub ecn: Ecn,
    /// Differentiated services code point.
    pub dscp: u8,
    /// Time to live, hop limit.
    pub ttl: u8,
    /// Identification: of IPv4 always, of IPv6 only in a fragment.
    pub id: Option<u32>,
    /// The datagram's length, header included, bounded by the frame's length on the wire. For a reassembled
    /// datagram it is the length of the whole.
    pub len: u32,
    /// The length field is 0: a super-packet (TSO, GRO, BIG TCP) whose length is that of the frame.
    pub no_length: bool,
    /// Reassembled from fragments; the fragment in this frame completed it.
    pub reassembled: bool,
}

named! {
    /// A tunnel protocol.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Tunnel {
        /// GRE (IP protocol 47, UDP port 4754).
        Gre = "GRE",
        /// IPv4 or IPv6 in IP (IP protocols 4 and 41).
        IpInIp = "IP in IP",
        /// Ethernet in IP (IP protocols 97 and 143).
        EtherIp = "EtherIP",
        /// MPLS in IP (IP protocol 137).
        MplsInIp = "MPLS in IP",
        /// MPLS in UDP (port 6635).
        MplsInUdp = "MPLS in UDP",
        /// VXLAN (UDP port 4789).
        Vxlan = "VXLAN",
        /// VXLAN-GPE (UDP port 4790).
        VxlanGpe = "VXLAN-GPE",
        /// Geneve (UDP port 6081).
        Geneve = "Geneve",
        /// GTP-U (UDP port 2152).
        GtpU = "GTP-U",
        /// L2TP (UDP port 1701, IP protocol 115); version 3 is not decapsulated.
        L2tp = "L2TP",
        /// LISP (UDP port 4341).
        Lisp = "LISP",
        /// Teredo (UDP port 3544).
        Teredo = "Teredo",
        /// TZSP (UDP port 37008).
        Tzsp = "TZSP",
        /// Network Service Header (EtherType 0x894f, and in other tunnels).
        Nsh = "NSH",
        /// CAPWAP data (UDP port 5247); not decapsulated.
        Capwap = "CAPWAP",
        /// IPsec's encrypted payload (IP protocol 50, UDP port 4500); not decapsulated.
        Esp = "ESP",
        /// IP payload compression (IP protocol 108); not decapsulated.
        IpComp = "IPComp",
        /// WireGuard (UDP port 51820); not decapsulated.
        WireGuard = "WireGuard",
        /// MACsec (EtherType 0x88e5); not decapsulated if the frame is encrypted.
        Macsec = "MACsec",
    }
}

impl Tunnel {
    /// True if it can be decapsulated.
    pub fn is_readable(self) -> bool {
        !matches!(self, Self::Capwap | Self::Esp | Self::IpComp | Self::WireGuard | Self::Macsec)
    }
}

/// The UDP datagram that carries a tunnel, without its payload.
#[derive(Clone, Copy, Debug)]
pub struct Outer {
    /// Its IP header.
    pub ip: Ip,
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// Payload bytes.
    pub len: u32,
}

/// Headers of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Dissected<'a> {
    /// The IP header that carries `transport`, or the last one reached.
    pub ip: Option<Ip>,
    /// The outermost tunnel, decapsulated or not.
    pub tunnel: Option<Tunnel>,
    /// The UDP datagram around a decapsulated tunnel, the outermost if there are several.
    pub outer: Option<Outer>,
    /// The tunnel in this datagram or frame that was not decapsulated.
    pub unentered: Option<Tunnel>,
    /// The transport header.
    pub transport: Transport<'a>,
}

impl Dissected<'_> {
    /// True if Wireshark's statistics count the frame. They leave out a frame whose dissection ends inside the headers
    /// that an ICMP error quotes.
    #[inline]
    pub fn is_counted(&self) -> bool {
        !matches!(self.transport, Transport::Icmp { quote_cut: true, .. })
    }
}

/// The transport header of a datagram.
#[derive(Clone, Copy, Debug)]
pub enum Transport<'a> {
    /// A TCP segment with at least the first 16 bytes of its header.
    Tcp(TcpView<'a>),
    /// A UDP datagram.
    Udp(UdpView<'a>),
    /// ICMP or ICMPv6, with the headers that an error message quotes.
    Icmp {
        /// Type.
        kind: u8,
        /// Code.
        code: u8,
        /// The quoted headers.
        quoted: Option<Quoted<'a>>,
        /// The snap length cuts the quoted headers.
        quote_cut: bool,
    },
    /// Another protocol, by its number.
    Other(u8),
    /// No readable transport header.
    None(Unread),
}

/// The headers in an ICMP error message. A quoted TCP header has no [`TcpView::len`]; by Wireshark's rules it finds or
/// creates a stream and is not analyzed.
#[derive(Clone, Copy, Debug)]
pub struct Quoted<'a> {
    /// The quoted IP header.
    pub ip: Ip,
    /// The quoted transport header.
    pub transport: QuotedTransport<'a>,
}

/// The transport header of a quoted datagram.
#[derive(Clone, Copy, Debug)]
pub enum QuotedTransport<'a> {
    /// TCP, at least 16 bytes of its header.
    Tcp(TcpView<'a>),
    /// UDP: its ports.
    Udp {
        /// Source port.
        src_port: u16,
        /// Destination port.
        dst_port: u16,
    },
    /// Anything else, or too few bytes.
    Other,
}

/// The reason that a frame has no readable transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unread {
    /// An unknown link type.
    LinkType,
    /// Not IP: ARP, LLDP, a management frame and so on.
    NotIp(Named),
    /// An encrypted 802.11 frame.
    Encrypted,
    /// A fragment of a datagram that is not complete.
    Fragment,
    /// A tunnel directly over IP that is not decapsulated. A tunnel over UDP is [`Transport::Udp`].
    Tunnel,
    /// The snap length cuts the headers.
    Cut,
    /// A header with inconsistent fields.
    Malformed,
}

/// Finds the transport header of each frame, and keeps the fragments of incomplete datagrams.
#[derive(Debug)]
pub struct Dissector {
    /// Decapsulate tunnels: the innermost datagram is returned.
    pub enter_tunnels: bool,
    fragments: Fragments,
}

impl Default for Dissector {
    /// Decapsulates tunnels, as Wireshark does.
    fn default() -> Self {
        Self::new(true)
    }
}

/// Most nested tunnels that are decapsulated.
const DEPTH: u8 = 8;

/// The layers that have been dissected so far.
struct Path<'a> {
    /// `None` within a reassembled datagram.
    fragments: Option<&'a mut Fragments>,
    enter_tunnels: bool,
    /// Tunnels that may still be decapsulated.
    depth: u8,
    /// The outermost tunnel.
    tunnel: Option<Tunnel>,
    /// The header around the current tunnel.
    outer: Option<Ip>,
    outer_udp: Option<Outer>,
    /// The innermost VLAN tag.
    vlan: u16,
}

impl Path<'_> {
    /// The result without a transport header.
    #[cold]
    fn none<'a>(&self, why: Unread) -> Dissected<'a> {
        Dissected {
            ip: self.outer,
            tunnel: self.tunnel,
            outer: self.outer_udp,
            unentered: None,
            transport: Transport::None(why),
        }
    }

    /// The result for a protocol that is not IP.
    #[cold]
    fn not_ip<'a>(&self, name: &'static str, number: u32) -> Dissected<'a> {
        self.none(Unread::NotIp(Named { name, number }))
    }

    /// True if a tunnel may be decapsulated.
    fn may_enter(&self) -> bool {
        self.enter_tunnels && self.depth > 0
    }

    /// The layers inside a tunnel.
    fn inside(self, tunnel: Tunnel) -> Self {
        Self { depth: self.depth.saturating_sub(1), tunnel: self.tunnel.or(Some(tunnel)), ..self }
    }
}

impl Dissector {
    /// Creates a dissector with this [`enter_tunnels`](Self::enter_tunnels).
    pub fn new(enter_tunnels: bool) -> Self {
        Self { enter_tunnels, fragments: Fragments::default() }
    }

    /// The fragments of incomplete datagrams.
    pub fn fragments(&self) -> &Fragments {
        &self.fragments
    }

    /// Finds the IP and the transport header of `frame`.
    #[inline]
    pub fn dissect<'a>(&'a mut self, frame: &Frame<'a>) -> Dissected<'a> {
        let path = Path {
            fragments: Some(&mut self.fragments),
            enter_tunnels: self.enter_tunnels,
            depth: DEPTH,
            tunnel: None,
            outer: None,
            outer_udp: None,
            vlan: 0,
        };
        let whole = Slice::new(frame.data, frame.len as usize);
        link::dissect(path, frame.link, whole.cut(whole.len.saturating_sub(frame.fcs_len.into())))
    }
}
