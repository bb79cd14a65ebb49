//! A TCP segment without its payload bytes [RFC 9293 §3.1].

use dumbbell_wire::{AccEcn, IpVersion, SackBlocks, Seq, TcpFlags};

/// Bytes of a TCP header without options.
pub const TCP_HEADER: u32 = 20;
/// Bytes of the timestamps option in every segment, padding included [RFC 7323 §3.2].
pub const TIMESTAMPS_OPTION: u32 = 12;

/// Bytes of the longest TCP header.
pub(crate) const MAX_HEADER: u32 = 60;
/// Bytes of the longest option of accurate ECN, padded.
pub(crate) const MAX_ACCECN: u32 = 12;

/// A segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first byte (or of the SYN).
    pub seq: Seq,
    /// Next byte expected from the other side.
    pub ack: Seq,
    /// Control bits.
    pub flags: TcpFlags,
    /// Receive window field: scaled except in a SYN.
    pub window: u16,
    /// Payload bytes.
    pub payload: u32,
    /// Maximum segment size option.
    pub mss: Option<u16>,
    /// Window scale option.
    pub window_scale: Option<u8>,
    /// SACK-permitted option.
    pub sack_permitted: bool,
    /// Timestamps option: value and echo, in ticks of each side's clock.
    pub timestamps: Option<(u32, u32)>,
    /// SACK option.
    pub sack: SackBlocks,
    /// True if the SACK option starts at a 32-bit word of its own, false if directly after the timestamps.
    pub aligned: bool,
    /// Option of accurate ECN.
    pub accecn: Option<AccEcn>,
}

impl Segment {
    /// Header bytes, options padded to words.
    #[must_use]
    pub fn header_bytes(&self) -> u32 {
        let mut options: u32 = 0;
        if self.mss.is_some() {
            options += 4;
        }
        if self.window_scale.is_some() {
            options += 3;
        }
        if self.sack_permitted {
            options += 2;
        }
        if self.timestamps.is_some() {
            options += 10;
        }
        let blocks = self.sack.as_slice().len() as u32;
        if blocks > 0 {
            if self.aligned {
                options = options.next_multiple_of(4);
            }
            options += 2 + 8 * blocks;
        }
        if let Some(accecn) = &self.accecn {
            options += accecn.bytes();
        }
        TCP_HEADER + options.next_multiple_of(4)
    }

    /// Bytes of the IP packet that carries it.
    #[must_use]
    pub fn packet_bytes(&self, ip: IpVersion) -> u32 {
        ip.header_bytes() + self.header_bytes() + self.payload
    }

    /// Length in the sequence space: payload, SYN and FIN.
    #[must_use]
    pub fn sequence_length(&self) -> u64 {
        u64::from(self.payload)
            + u64::from(self.flags.contains(TcpFlags::SYN))
            + u64::from(self.flags.contains(TcpFlags::FIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_sizes_include_options_and_padding() {
        let mut s = Segment { payload: 1448, timestamps: Some((1, 2)), ..Segment::default() };
        assert_eq!(s.packet_bytes(IpVersion::V4), 1500); // 20 IP + 20 TCP + 12 timestamps + 1448
        assert_eq!(s.packet_bytes(IpVersion::V6), 1520);
        s.payload = 0;
        s.sack.push(Seq(1), Seq(2));
        assert_eq!(s.header_bytes(), 40); // 10 + 10 = 20 bytes of options
        s.aligned = true;
        assert_eq!(s.header_bytes(), 44); // 12 + 12
        let syn = Segment {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some((1, 0)),
            ..Segment::default()
        };
        assert_eq!(syn.header_bytes(), 40); // 4 + 3 + 2 + 10 = 19, padded to 20
    }
}
