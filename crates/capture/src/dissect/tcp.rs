//! The TCP header and its options.

use super::slice::Slice;

/// The twelve flag bits of the TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flags(pub u16);

impl Flags {
    /// No more data from the sender.
    pub const FIN: u16 = 0x001;
    /// Synchronize sequence numbers.
    pub const SYN: u16 = 0x002;
    /// Reset.
    pub const RST: u16 = 0x004;
    /// Push.
    pub const PSH: u16 = 0x008;
    /// The acknowledgement field counts.
    pub const ACK: u16 = 0x010;
    /// The urgent pointer counts.
    pub const URG: u16 = 0x020;
    /// ECN echo (in AccECN's handshake and ACE counter: its lowest bit).
    pub const ECE: u16 = 0x040;
    /// Congestion window reduced (ACE's middle bit).
    pub const CWR: u16 = 0x080;
    /// AccECN (ACE's highest bit), once the nonce sum.
    pub const AE: u16 = 0x100;

    /// Whether all bits of `mask` are set.
    #[inline]
    pub fn has(self, mask: u16) -> bool {
        self.0 & mask == mask
    }

    /// Whether any bit of `mask` is set.
    #[inline]
    pub fn any(self, mask: u16) -> bool {
        self.0 & mask != 0
    }
}

/// One SACK block, raw sequence numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SackBlock {
    /// First sequence number of the block.
    pub left: u32,
    /// The number after its last.
    pub right: u32,
}

/// The options that are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// Maximum segment size.
    pub mss: Option<u16>,
    /// Window scale as it stands in the option (may be above 14).
    pub wscale: Option<u8>,
    /// SACK permitted.
    pub sack_permitted: bool,
    /// The captured blocks of the SACK option, the first [`sack_count`](Self::sack_count) of them.
    pub sack: [SackBlock; 4],
    /// Number of blocks in `sack`.
    pub sack_count: u8,
    /// The SACK option is there but the capture ends inside of it.
    pub sack_cut: bool,
    /// The SACK option is too short for a block: Wireshark's dissection mostly ends there.
    pub sack_empty: bool,
    /// Timestamp value and echo reply.
    pub timestamps: Option<(u32, u32)>,
    /// Subtypes of the MPTCP options, a bit each: bit 0 for MP_CAPABLE to bit 15.
    pub mptcp: u16,
}

impl TcpOptions {
    /// The SACK blocks, in the order of the option.
    #[inline]
    pub fn sack_blocks(&self) -> &[SackBlock] {
        &self.sack[..usize::from(self.sack_count).min(4)]
    }
}

/// A TCP segment; its addresses are in [`Dissected::ip`](super::Dissected::ip).
#[derive(Clone, Copy, Debug)]
pub struct TcpView<'a> {
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// Sequence number, raw.
    pub seq: u32,
    /// Acknowledgement number, raw; whatever stands there if ACK is not set.
    pub ack: u32,
    /// Window, unscaled.
    pub window: u16,
    /// Flags.
    pub flags: Flags,
    /// Header length in bytes as the header says: 0 to 60; below 20 it is wrong.
    pub header_len: u8,
    /// Segment length: payload of the IP datagram minus `header_len`. `None`: an IP fragment that wasn't reassembled,
    /// a header quoted by ICMP, or an IP payload shorter than the TCP header. Then there is nothing to analyse.
    pub len: Option<u32>,
    /// The capture ends inside the header or its options.
    pub header_cut: bool,
    /// The options, as far as they were captured.
    pub options: TcpOptions,
    /// The captured part of the payload.
    pub payload: &'a [u8],
}

/// What must be captured of the header for a stream to be told.
const NEEDED: usize = 16;

/// Reads the header at the begin of an IP payload; `None` if fewer than 16 bytes were captured. `whole`: the payload
/// isn't a lone fragment and isn't quoted.
#[inline]
pub(super) fn parse(at: Slice<'_>, whole: bool) -> Option<TcpView<'_>> {
    let h = at.data.first_chunk::<NEEDED>()?;
    let header_len = usize::from(h[12] >> 4) * 4;
    let options_end = header_len.max(20);
    let options = at.data.get(20..at.data.len().min(options_end)).unwrap_or_default();
    let (options, options_cut) = parse_options(options, options_end - 20);
    Some(TcpView {
        src_port: u16::from_be_bytes([h[0], h[1]]),
        dst_port: u16::from_be_bytes([h[2], h[3]]),
        seq: u32::from_be_bytes([h[4], h[5], h[6], h[7]]),
        ack: u32::from_be_bytes([h[8], h[9], h[10], h[11]]),
        window: u16::from_be_bytes([h[14], h[15]]),
        flags: Flags(u16::from_be_bytes([h[12] & 0x0f, h[13]])),
        header_len: header_len as u8,
        len: if whole { at.len.checked_sub(header_len).map(|n| n as u32) } else { None },
        header_cut: at.data.len() < 20 || options_cut,
        options,
        payload: at.data.get(header_len..).unwrap_or_default(),
    })
}

/// Reads the options, and says whether the capture ends before they do. `room`: the bytes that they have in the header.
#[inline]
fn parse_options(bytes: &[u8], room: usize) -> (TcpOptions, bool) {
    let be32 = |b: &[u8]| u32::from_be_bytes([b[0], b[1], b[2], b[3]]);
    let mut found = TcpOptions::default();
    // What nearly every segment carries: two fillers and timestamps.
    if let [1, 1, 8, 10, value @ ..] = bytes
        && value.len() == 8
        && room == 12
    {
        found.timestamps = Some((be32(value), be32(&value[4..])));
        return (found, false);
    }
    let (mut rest, mut room) = (bytes, room);
    while room > 0 {
        match rest.first() {
            None => return (found, true),
            // The padding behind it is looked at too.
            Some(0) => return (found, rest.len() < room),
            Some(1) => {
                rest = &rest[1..];
                room -= 1;
                continue;
            }
            Some(_) if room < 2 => return (found, rest.len() < room),
            Some(_) => {}
        }
        let Some(&[kind, len]) = rest.first_chunk::<2>() else { return (found, true) };
        let len = usize::from(len);
        // One without a length isn't read, nor is one that would go past the end of the header: of that one, what is left
        // of the header is looked at.
        if len < 2 || len > room {
            return (found, len > room && rest.len() < room - 2);
        }
        let whole = rest.len() >= len;
        let value = &rest[2..rest.len().min(len)];
        match (kind, len) {
            (2, 4) if whole => found.mss = Some(u16::from_be_bytes([value[0], value[1]])),
            (3, 3) if whole => found.wscale = Some(value[0]),
            (4, 2) => found.sack_permitted = true,
            (5, ..10) if whole => {
                found.sack_empty = true;
                return (found, false);
            }
            (5, _) => {
                for (block, raw) in found.sack.iter_mut().zip(value.chunks_exact(8)) {
                    *block = SackBlock { left: be32(raw), right: be32(&raw[4..]) };
                    found.sack_count += 1;
                }
                found.sack_cut = !whole;
            }
            (8, 10) if whole => found.timestamps = Some((be32(value), be32(&value[4..]))),
            (30, 3..) if whole => found.mptcp |= 1 << (value[0] >> 4),
            _ => {}
        }
        if !whole {
            return (found, true);
        }
        rest = &rest[len..];
        room -= len;
    }
    (found, false)
}
