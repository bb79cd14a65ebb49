//! The TCP header [RFC 9293 §3.1] and its options in a frame; lengths by the rules of [Wireshark packet-tcp.c
//! `dissect_tcp`].

use dumbbell_wire::{TcpFlags, TcpHeader, TcpOptions};

use super::slice::Slice;

/// A TCP segment; its addresses are in [`Dissected::ip`](super::Dissected::ip).
#[derive(Clone, Copy, Debug)]
pub struct TcpView<'a> {
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// Sequence number, raw.
    pub seq: u32,
    /// Acknowledgment number, raw; any value if the ACK flag is not set.
    pub ack: u32,
    /// Window, unscaled.
    pub window: u16,
    /// Flags.
    pub flags: TcpFlags,
    /// Header length in bytes, from the data offset: 0 to 60; invalid below 20.
    pub header_len: u8,
    /// Segment length: payload of the IP datagram minus `header_len`. `None`: an IP fragment that wasn't reassembled,
    /// a header quoted by ICMP, or an IP payload shorter than the TCP header. Then the segment is not analyzed.
    pub len: Option<u32>,
    /// The capture ends inside the header or its options.
    pub header_cut: bool,
    /// The options, as far as they were captured.
    pub options: TcpOptions,
    /// The captured part of the payload.
    pub payload: &'a [u8],
}

/// Reads the header at the start of an IP payload; `None` if fewer than the 16 bytes were captured that Wireshark needs
/// to find the stream. `whole`: the payload isn't a lone fragment and isn't quoted.
#[inline]
pub(super) fn parse(at: Slice<'_>, whole: bool) -> Option<TcpView<'_>> {
    let header = TcpHeader::new(at.data)?;
    let header_len = header.header_len();
    let options_end = header_len.max(TcpHeader::LEN);
    let options = at.data.get(TcpHeader::LEN..at.data.len().min(options_end)).unwrap_or_default();
    let (options, options_cut) = TcpOptions::parse(options, options_end - TcpHeader::LEN);
    Some(TcpView {
        src_port: header.src_port(),
        dst_port: header.dst_port(),
        seq: header.seq().0,
        ack: header.ack().0,
        window: header.window(),
        flags: header.flags(),
        header_len: header_len as u8,
        len: if whole { at.len.checked_sub(header_len).map(|n| n as u32) } else { None },
        header_cut: at.data.len() < TcpHeader::LEN || options_cut,
        options,
        payload: at.data.get(header_len..).unwrap_or_default(),
    })
}
