//! A TCP segment without its payload [RFC 9293 §3.1], as the analysis uses it.

use crate::Frame;
use crate::dissect::{Ip, TcpView};
use dumbbell_wire::{Ecn, TcpFlags, TcpOptions};

/// The fields of a segment and its frame that the analysis uses.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// The frame's number.
    pub number: u64,
    /// The frame's time, ns since 1970; 0 if it has none.
    pub time: i64,
    /// The frame's length on the wire.
    pub frame_len: u32,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// Payload bytes; `None`: not analyzed ([`TcpView::len`]).
    pub len: Option<u32>,
    /// Window, unscaled.
    pub window: u16,
    /// Flags.
    pub flags: TcpFlags,
    /// Identification of the IPv4 header, or 0.
    pub ip_id: u16,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// Differentiated services code point.
    pub dscp: u8,
    /// Time to live.
    pub ttl: u8,
    /// Header length from the data offset, bytes.
    pub header_len: u8,
    /// The capture ends inside the header.
    pub header_cut: bool,
    /// True for a segment that an ICMP error quotes.
    pub quoted: bool,
    /// The options.
    pub options: TcpOptions,
}

impl Segment {
    /// Creates a segment from the headers of a frame.
    #[inline]
    pub fn new(frame: &Frame<'_>, ip: &Ip, tcp: &TcpView<'_>) -> Self {
        Self {
            number: frame.number,
            time: frame.time.unwrap_or(0),
            frame_len: frame.len,
            seq: tcp.seq,
            ack: tcp.ack,
            len: tcp.len,
            window: tcp.window,
            flags: tcp.flags,
            ip_id: ip.id.unwrap_or(0) as u16,
            ecn: ip.ecn,
            dscp: ip.dscp,
            ttl: ip.ttl,
            header_len: tcp.header_len,
            header_cut: tcp.header_cut,
            quoted: false,
            options: tcp.options,
        }
    }

    /// True if none of SYN, FIN and RST is set.
    #[inline]
    pub fn is_plain(&self) -> bool {
        !self.flags.intersects(TcpFlags::SYN | TcpFlags::FIN | TcpFlags::RST)
    }

    /// True for a SYN without ACK.
    #[inline]
    pub fn is_first_syn(&self) -> bool {
        self.flags.contains(TcpFlags::SYN) && !self.flags.contains(TcpFlags::ACK)
    }
}
