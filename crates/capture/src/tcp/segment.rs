//! A segment without its payload: what the analysis needs of it.

use crate::Frame;
use crate::dissect::{Ip, TcpView};
use dumbbell_wire::{Ecn, TcpFlags, TcpOptions};

/// What is kept of a segment between dissection and analysis.
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
    /// Payload bytes; `None`: not to be analyzed ([`TcpView::len`]).
    pub len: Option<u32>,
    /// Window, unscaled.
    pub window: u16,
    /// Flags.
    pub flags: TcpFlags,
    /// Identification of the IPv4 header; 0 where there is none.
    pub ip_id: u16,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// Time to live.
    pub ttl: u8,
    /// Header length as the header says.
    pub header_len: u8,
    /// The capture ends inside the header.
    pub header_cut: bool,
    /// Quoted by an ICMP error, not a segment on its way.
    pub quoted: bool,
    /// The options.
    pub options: TcpOptions,
}

impl Segment {
    /// From the headers found in a frame.
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
            ttl: ip.ttl,
            header_len: tcp.header_len,
            header_cut: tcp.header_cut,
            quoted: false,
            options: tcp.options,
        }
    }

    /// None of SYN, FIN and RST is set.
    #[inline]
    pub fn is_plain(&self) -> bool {
        !self.flags.intersects(TcpFlags::SYN | TcpFlags::FIN | TcpFlags::RST)
    }

    /// A SYN that isn't an answer.
    #[inline]
    pub fn is_first_syn(&self) -> bool {
        self.flags.contains(TcpFlags::SYN) && !self.flags.contains(TcpFlags::ACK)
    }
}
