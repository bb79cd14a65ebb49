//! TCP options: parsing of captured headers, writing of complete ones.
//!
//! | kind | option | source |
//! | --- | --- | --- |
//! | 0, 1 | end of options, no operation | RFC 9293 §3.2 |
//! | 2 | maximum segment size | RFC 9293 §3.7.1 |
//! | 3 | window scale | RFC 7323 §2.2 |
//! | 4, 5 | SACK permitted, SACK | RFC 2018 §2, §3 |
//! | 8 | timestamps | RFC 7323 §3.2 |
//! | 30 | MPTCP (only its subtypes are read) | RFC 8684 §3 |
//!
//! Parsing stops where Wireshark 4.0 stops [Wireshark packet-tcp.c `dissect_tcpopt_*`]: at an option without a valid
//! length, and at a SACK option that is too short for a block.

use crate::Seq;

/// Most bytes of options in a header: 60 - 20.
pub const MAX_OPTIONS: usize = 40;

/// One SACK block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SackBlock {
    /// First sequence number of the block.
    pub left: Seq,
    /// The number after its last.
    pub right: Seq,
}

/// Up to four SACK blocks in the order of the option, in which the first holds the newest arrival [RFC 2018 §4].
#[derive(Clone, Copy, Debug, Default)]
pub struct SackBlocks {
    count: u8,
    blocks: [SackBlock; 4],
}

impl PartialEq for SackBlocks {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for SackBlocks {}

impl SackBlocks {
    /// Adds a block; a fifth is ignored.
    #[inline]
    pub fn push(&mut self, left: Seq, right: Seq) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.count)) {
            *slot = SackBlock { left, right };
            self.count += 1;
        }
    }

    /// Removes all blocks.
    #[inline]
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Keeps the first `most` blocks.
    #[inline]
    pub fn truncate(&mut self, most: u8) {
        self.count = self.count.min(most);
    }

    /// True without a block.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The blocks.
    #[must_use]
    #[inline]
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// The AccECN option: bytes that arrived with each codepoint, modulo 2^24 [RFC 9768 §3.2.3].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccEcn {
    /// Order of the fields on the wire: ECT(0), CE, ECT(1) (kind 172) if false, the reverse (kind 174) if true.
    pub reversed: bool,
    /// Number of fields that the option has.
    pub count: u8,
    /// Bytes with ECT(0), CE and ECT(1).
    pub fields: [u32; 3],
}

impl AccEcn {
    /// Bytes that arrived with CE. None if the option is too short to hold the field, which is the second in both
    /// orders.
    #[must_use]
    pub fn marked(&self) -> Option<u32> {
        (self.count > 1).then_some(self.fields[1])
    }

    /// Length of the option in bytes.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        2 + 3 * u32::from(self.count)
    }
}

/// The options of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// Maximum segment size.
    pub mss: Option<u16>,
    /// Window scale as the option has it (a value above 14 is possible).
    pub wscale: Option<u8>,
    /// SACK permitted.
    pub sack_permitted: bool,
    /// The captured blocks of the SACK option.
    pub sack: SackBlocks,
    /// The header has a SACK option, but the capture ends inside it.
    pub sack_cut: bool,
    /// The SACK option is too short for a block: Wireshark's dissection usually ends at it.
    pub sack_empty: bool,
    /// Timestamp value and timestamp echo reply.
    pub timestamps: Option<(u32, u32)>,
    /// Subtypes of the MPTCP options, one bit each: bit 0 is MP_CAPABLE.
    pub mptcp: u16,
}

#[inline]
fn be32(b: &[u8]) -> u32 {
    u32::from_be_bytes([b[0], b[1], b[2], b[3]])
}

impl TcpOptions {
    /// Reads the options from `bytes`, the captured part of the `len` bytes that they have in the header. Also returns
    /// true if the capture ends before they do.
    #[must_use]
    #[inline]
    pub fn parse(bytes: &[u8], len: usize) -> (TcpOptions, bool) {
        // Nearly every segment has these 12 bytes: two no-operations and timestamps.
        if let [1, 1, 8, 10, value @ ..] = bytes
            && value.len() == 8
            && len == 12
        {
            let timestamps = Some((be32(value), be32(&value[4..])));
            return (TcpOptions { timestamps, ..TcpOptions::default() }, false);
        }
        Self::parse_any(bytes, len)
    }

    fn parse_any(bytes: &[u8], len: usize) -> (TcpOptions, bool) {
        let mut found = TcpOptions::default();
        // `left`: bytes of the header that are not read yet; `rest`: the captured part of them.
        let (mut rest, mut left) = (bytes, len);
        while left > 0 {
            match rest.first() {
                None => return (found, true),
                // End of options; Wireshark reads the padding after it too.
                Some(0) => return (found, rest.len() < left),
                Some(1) => {
                    rest = &rest[1..];
                    left -= 1;
                    continue;
                }
                Some(_) if left < 2 => return (found, rest.len() < left),
                Some(_) => {}
            }
            let Some(&[kind, len]) = rest.first_chunk::<2>() else { return (found, true) };
            let len = usize::from(len);
            // An option without a valid length is not read. If it would end after the header, Wireshark reads the rest
            // of the header.
            if len < 2 || len > left {
                return (found, len > left && rest.len() < left - 2);
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
                    found.sack.clear(); // a second SACK option replaces the first
                    for raw in value.chunks_exact(8).take(4) {
                        found.sack.push(Seq(be32(raw)), Seq(be32(&raw[4..])));
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
            left -= len;
        }
        (found, false)
    }

    /// Appends the options to `buffer`, padded to a multiple of 4 bytes: MSS, SACK permitted, timestamps, window scale,
    /// and as many SACK blocks as fit.
    ///
    /// The padding is in front, so that timestamps alone have the layout that nearly all segments have. With
    /// `sack_aligned` each group is padded by itself: the SACK option begins at a multiple of 4 bytes.
    pub fn write(&self, buffer: &mut Vec<u8>, sack_aligned: bool) {
        let fixed = 4 * usize::from(self.mss.is_some())
            + 2 * usize::from(self.sack_permitted)
            + 10 * usize::from(self.timestamps.is_some())
            + 3 * usize::from(self.wscale.is_some());
        let most = MAX_OPTIONS.saturating_sub(fixed + 2) / 8;
        let blocks = self.sack.as_slice();
        let blocks = &blocks[..blocks.len().min(most)];
        let sack = if blocks.is_empty() { 0 } else { 2 + 8 * blocks.len() };
        let pad = |buffer: &mut Vec<u8>, len: usize| {
            buffer.extend(std::iter::repeat_n(1, len.next_multiple_of(4) - len));
        };
        pad(buffer, if sack_aligned { fixed } else { fixed + sack });
        if let Some(mss) = self.mss {
            buffer.extend([2, 4]);
            buffer.extend(mss.to_be_bytes());
        }
        if self.sack_permitted {
            buffer.extend([4, 2]);
        }
        if let Some((value, echo)) = self.timestamps {
            buffer.extend([8, 10]);
            buffer.extend(value.to_be_bytes());
            buffer.extend(echo.to_be_bytes());
        }
        if let Some(scale) = self.wscale {
            buffer.extend([3, 3, scale]);
        }
        if !blocks.is_empty() {
            if sack_aligned {
                pad(buffer, sack);
            }
            buffer.extend([5, sack as u8]);
            for block in blocks {
                buffer.extend(block.left.0.to_be_bytes());
                buffer.extend(block.right.0.to_be_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(options: &TcpOptions, sack_aligned: bool) -> Vec<u8> {
        let mut buffer = Vec::new();
        options.write(&mut buffer, sack_aligned);
        buffer
    }

    #[test]
    fn timestamps_alone_have_the_usual_layout() {
        let options = TcpOptions { timestamps: Some((1, 0x0203)), ..TcpOptions::default() };
        let bytes = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 2, 3];
        assert_eq!(written(&options, false), bytes);
        assert_eq!(TcpOptions::parse(&bytes, 12), (options, false));
    }

    #[test]
    fn options_of_a_syn_are_written_and_read() {
        let options = TcpOptions {
            mss: Some(1460),
            wscale: Some(7),
            sack_permitted: true,
            timestamps: Some((1, 2)),
            ..TcpOptions::default()
        };
        // 4 + 2 + 10 + 3 = 19 bytes: one of padding. 1460 = 0x05b4.
        let bytes = [1, 2, 4, 0x05, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 3, 3, 7];
        assert_eq!(written(&options, false), bytes);
        assert_eq!(TcpOptions::parse(&bytes, 20), (options, false));
    }

    #[test]
    fn sack_blocks_that_do_not_fit_are_left_out() {
        let mut options = TcpOptions { timestamps: Some((1, 2)), ..TcpOptions::default() };
        for n in 0..4 {
            options.sack.push(Seq(100 * n), Seq(100 * n + 50));
        }
        options.sack.push(Seq(1), Seq(2)); // a fifth
        assert_eq!(options.sack.as_slice().len(), 4);
        // 10 + 2 + 3 * 8 = 36 bytes with three blocks; a fourth would make 44. Aligned: 12 + (2 + 2 + 24) = 40.
        assert_eq!(written(&options, false).len(), 36);
        let aligned = written(&options, true);
        assert_eq!((aligned.len(), &aligned[12..16]), (40, &[1, 1, 5, 26][..]));
        let (read, cut) = TcpOptions::parse(&aligned, 40);
        assert_eq!((read.sack.as_slice(), cut), (&options.sack.as_slice()[..3], false));
        options.sack.truncate(3);
        assert_eq!(read.sack, options.sack);
    }

    #[test]
    fn a_capture_that_ends_inside_the_options_keeps_whole_blocks() {
        // SACK with two blocks, 18 bytes; the capture has the first block and half of the second.
        let bytes = [5, 18, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3];
        let (read, cut) = TcpOptions::parse(&bytes, 20);
        assert!(cut && read.sack_cut);
        assert_eq!(read.sack.as_slice(), [SackBlock { left: Seq(1), right: Seq(2) }]);
        assert_eq!(TcpOptions::parse(&[], 4), (TcpOptions::default(), true));
    }

    #[test]
    fn options_without_a_valid_length_end_the_parsing() {
        let none = TcpOptions::default();
        assert_eq!(TcpOptions::parse(&[2, 0, 4, 2], 4), (none, false)); // length 0
        assert_eq!(TcpOptions::parse(&[2, 9, 4, 2], 4), (none, false)); // ends after the header
        assert_eq!(TcpOptions::parse(&[0, 0, 4, 2], 4), (none, false)); // after the end of options
        let (read, _) = TcpOptions::parse(&[5, 6, 1, 2, 3, 4, 4, 2], 8); // SACK without a block
        assert!(read.sack_empty && !read.sack_permitted);
    }

    #[test]
    fn subtypes_of_mptcp_are_bits() {
        // MP_CAPABLE (0) and DSS (2), each of 4 bytes: bits 0 and 2.
        assert_eq!(TcpOptions::parse(&[30, 4, 0x01, 0, 30, 4, 0x20, 0], 8).0.mptcp, 0b101);
    }

    #[test]
    fn the_accecn_option_grows_by_three_bytes_a_field() {
        let option = |count| AccEcn { reversed: true, count, fields: [1, 2, 3] };
        assert_eq!([0, 1, 2, 3].map(|n| option(n).bytes()), [2, 5, 8, 11]);
        assert_eq!((option(1).marked(), option(2).marked()), (None, Some(2)));
    }
}
