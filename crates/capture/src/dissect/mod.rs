//! From a frame to the TCP or UDP header in it.
//!
//! Lengths follow Wireshark: what counts is the length that the IP header says, bounded by the frame's length on
//! the wire; link-layer padding and trailers are cut off, a snap length changes nothing but the bytes at hand.

mod fragments;
mod ip;
mod link;
mod slice;
mod tcp;
mod transport;
mod udp;
mod wireless;

pub use fragments::Fragments;
pub use tcp::TcpView;
pub use udp::UdpView;

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

/// What the IP header says.
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
    /// The datagram's length, header included, as the frame's length on the wire bounds it. For a reassembled
    /// datagram that of the whole.
    pub len: u32,
    /// The length field is 0: a super-packet (TSO, GRO, BIG TCP) whose length is that of the frame.
    pub no_length: bool,
    /// Put together from fragments; this frame's fragment completed it.
    pub reassembled: bool,
}

/// A tunnel that was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tunnel {
    /// GRE (IP protocol 47).
    Gre,
    /// IPv4 or IPv6 in IP (IP protocols 4 and 41).
    IpInIp,
    /// VXLAN (UDP port 4789).
    Vxlan,
    /// Geneve (UDP port 6081); never entered.
    Geneve,
    /// GTP-U (UDP port 2152); never entered.
    GtpU,
    /// L2TP (UDP port 1701, IP protocol 115); never entered.
    L2tp,
    /// Teredo (UDP port 3544); never entered.
    Teredo,
    /// IPsec's encrypted payload (IP protocol 50); never entered.
    Esp,
}

/// What was found in a frame.
#[derive(Clone, Copy, Debug)]
pub struct Dissected<'a> {
    /// The IP header that carries `transport`, or the last one reached.
    pub ip: Option<Ip>,
    /// The outermost tunnel met, entered or not.
    pub tunnel: Option<Tunnel>,
    /// What the datagram carries.
    pub transport: Transport<'a>,
}

impl Dissected<'_> {
    /// Whether Wireshark's statistics count the frame: one whose dissection ends inside of what ICMP quotes is taken for
    /// a part of the quote, and left out.
    #[inline]
    pub fn is_counted(&self) -> bool {
        !matches!(self.transport, Transport::Icmp { quote_cut: true, .. })
    }
}

/// What a datagram carries.
#[derive(Clone, Copy, Debug)]
pub enum Transport<'a> {
    /// A TCP segment of which at least the first 16 bytes are there.
    Tcp(TcpView<'a>),
    /// A UDP datagram.
    Udp(UdpView<'a>),
    /// ICMP or ICMPv6, and the headers that an error message quotes.
    Icmp {
        /// Type.
        kind: u8,
        /// Code.
        code: u8,
        /// The quoted headers.
        quoted: Option<Quoted<'a>>,
        /// The snap length cuts the headers that the message quotes.
        quote_cut: bool,
    },
    /// Another protocol, by its number.
    Other(u8),
    /// Nothing that could be read.
    None(Unread),
}

/// The headers in an ICMP error message. A quoted TCP header has no [`TcpView::len`]; by Wireshark's rules it finds or
/// creates a stream and is not analysed.
#[derive(Clone, Copy, Debug)]
pub struct Quoted<'a> {
    /// The quoted IP header.
    pub ip: Ip,
    /// What it carried; never `Udp` or `Icmp` with something quoted again.
    pub transport: QuotedTransport<'a>,
}

/// What a quoted datagram carried.
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
    /// Anything else, or not enough of it.
    Other,
}

/// Why no transport header was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unread {
    /// A link type that isn't known here.
    LinkType,
    /// Not IP: ARP, LLDP, a management frame and so on.
    NotIp,
    /// An encrypted 802.11 frame.
    Encrypted,
    /// A fragment whose datagram isn't complete (yet), or never will be.
    Fragment,
    /// A tunnel below UDP that isn't entered; one in UDP is told as [`Transport::Udp`].
    Tunnel,
    /// The snap length cuts the headers.
    Cut,
    /// A header that contradicts itself.
    Malformed,
}

/// Finds the transport header of each frame. Holds the fragments that wait for their datagram.
#[derive(Debug, Default)]
pub struct Dissector {
    /// Enter GRE, IP-in-IP and VXLAN tunnels: the innermost datagram is the one that is told.
    pub enter_tunnels: bool,
    fragments: Fragments,
}

/// Tunnels within tunnels that are entered at most.
const DEPTH: u8 = 8;

/// How a header was reached.
struct Path<'a> {
    /// `None` within a reassembled datagram.
    fragments: Option<&'a mut Fragments>,
    enter_tunnels: bool,
    /// Tunnels that may still be entered.
    depth: u8,
    /// The outermost tunnel.
    tunnel: Option<Tunnel>,
    /// The header around the current tunnel.
    outer: Option<Ip>,
    /// The innermost VLAN tag.
    vlan: u16,
}

impl Path<'_> {
    /// No transport header.
    #[cold]
    fn none<'a>(&self, why: Unread) -> Dissected<'a> {
        Dissected { ip: self.outer, tunnel: self.tunnel, transport: Transport::None(why) }
    }
}

impl Dissector {
    /// A dissector; `enter_tunnels` as the field of that name.
    pub fn new(enter_tunnels: bool) -> Self {
        Self { enter_tunnels, fragments: Fragments::default() }
    }

    /// The fragments that wait.
    pub fn fragments(&self) -> &Fragments {
        &self.fragments
    }

    /// Finds IP and what it carries in `frame`.
    #[inline]
    pub fn dissect<'a>(&'a mut self, frame: &Frame<'a>) -> Dissected<'a> {
        let path = Path {
            fragments: Some(&mut self.fragments),
            enter_tunnels: self.enter_tunnels,
            depth: DEPTH,
            tunnel: None,
            outer: None,
            vlan: 0,
        };
        let whole = Slice::new(frame.data, frame.len as usize);
        link::dissect(path, frame.link, whole.cut(whole.len.saturating_sub(frame.fcs_len.into())))
    }
}
