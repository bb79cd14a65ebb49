//! Frames, without their data bytes, and their sizes on the wire [RFC 9000 §19, §16].

use dumbbell_units::Dur;

/// Unit of the ACK Delay field: 2^3 microseconds, the default ack_delay_exponent [RFC 9000 §18.2].
pub(crate) const ACK_DELAY_UNIT: Dur = Dur::micros(8);

/// Bytes of a variable-length integer [RFC 9000 §16].
pub(crate) const fn varint(value: u64) -> u32 {
    match value {
        0..0x40 => 1,
        0x40..0x4000 => 2,
        0x4000..0x4000_0000 => 4,
        _ => 8,
    }
}

/// Packets received with each ECN codepoint [RFC 9000 §19.3.2].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnCounts {
    /// With ECT(0).
    pub ect0: u64,
    /// With ECT(1).
    pub ect1: u64,
    /// With CE.
    pub ce: u64,
}

/// Data of a stream: the content of a STREAM frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Number of the stream, from 0; its identifier on the wire is four times that [RFC 9000 §2.1].
    pub stream: u32,
    /// Offset of the first byte.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
    /// True if the stream ends after them.
    pub fin: bool,
}

/// A frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// PING.
    Ping,
    /// ACK: `count` ranges of the datagram's list from `first`, in descending order.
    Ack {
        /// Index of the first range.
        first: u32,
        /// Number of ranges.
        count: u32,
        /// The time that the receiver held the largest packet.
        delay: Dur,
        /// Counts of ECN codepoints.
        ecn: Option<EcnCounts>,
    },
    /// CRYPTO.
    Crypto {
        /// Offset of the first byte.
        offset: u64,
        /// Bytes.
        len: u32,
    },
    /// STREAM.
    Stream(Chunk),
    /// MAX_DATA.
    MaxData(u64),
    /// MAX_STREAM_DATA.
    MaxStreamData {
        /// Number of the stream.
        stream: u32,
        /// Offset below which data is allowed.
        max: u64,
    },
    /// ACK_FREQUENCY [draft-ietf-quic-ack-frequency §4].
    AckFrequency {
        /// Ack-eliciting packets that may be received without an ACK.
        threshold: u64,
        /// Longest delay of an ACK.
        max_ack_delay: Dur,
    },
    /// IMMEDIATE_ACK [draft-ietf-quic-ack-frequency §5].
    ImmediateAck,
    /// HANDSHAKE_DONE.
    HandshakeDone,
    /// CONNECTION_CLOSE.
    ConnectionClose,
}

impl Frame {
    /// True if it obliges the receiver to send an ACK [RFC 9002 §2].
    #[must_use]
    pub fn is_ack_eliciting(&self) -> bool {
        !matches!(self, Frame::Ack { .. } | Frame::ConnectionClose)
    }

    /// Bytes on the wire; `ranges` are those of an ACK.
    #[must_use]
    pub fn bytes(&self, ranges: &[(u64, u64)]) -> u32 {
        match *self {
            Frame::Ping | Frame::HandshakeDone => 1,
            Frame::Ack { first, count, delay, ecn } => {
                let own = &ranges[first as usize..(first + count) as usize];
                ack_bytes(own, delay, ecn)
            }
            Frame::Crypto { offset, len } => crypto_header(offset, len) + len,
            Frame::Stream(chunk) => stream_header(&chunk) + chunk.len,
            Frame::MaxData(max) => 1 + varint(max),
            Frame::MaxStreamData { stream, max } => 1 + varint(4 * u64::from(stream)) + varint(max),
            // Type 0xaf takes two bytes; then sequence number, threshold, delay in microseconds, reordering threshold.
            Frame::AckFrequency { threshold, max_ack_delay } => {
                2 + 1 + varint(threshold) + varint(max_ack_delay.0 / 1000) + 1
            }
            Frame::ImmediateAck => 1,
            // Type, error code, frame type, length of an empty reason.
            Frame::ConnectionClose => 4,
        }
    }
}

/// Bytes of an ACK frame [RFC 9000 §19.3]; the ranges are half-open and descending.
fn ack_bytes(ranges: &[(u64, u64)], delay: Dur, ecn: Option<EcnCounts>) -> u32 {
    let Some(&(start, end)) = ranges.first() else { return 0 };
    let mut bytes = 1 + varint(end - 1) + varint(delay.0 / ACK_DELAY_UNIT.0);
    bytes += varint(ranges.len() as u64 - 1) + varint(end - 1 - start);
    for pair in ranges.windows(2) {
        let ((later, _), (start, end)) = (pair[0], pair[1]);
        bytes += varint(later - end - 1) + varint(end - 1 - start);
    }
    bytes + ecn.map_or(0, |c| varint(c.ect0) + varint(c.ect1) + varint(c.ce))
}

/// Bytes before the data of a CRYPTO frame.
pub(crate) const fn crypto_header(offset: u64, len: u32) -> u32 {
    1 + varint(offset) + varint(len as u64)
}

/// Bytes before the data of a STREAM frame, which always has its length field.
pub(crate) const fn stream_header(chunk: &Chunk) -> u32 {
    let offset = if chunk.offset == 0 { 0 } else { varint(chunk.offset) };
    1 + varint(4 * chunk.stream as u64) + offset + varint(chunk.len as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_rfc_9000() {
        // Type 1, largest 99 takes 2, delay 25 ms / 8 us = 3125 takes 2, one further range 1, first range 98..=99: 1;
        // gap to 90..=95: 98 - 96 - 1 = 1 takes 1, length 5 takes 1.
        let ranges = [(98, 100), (90, 96)];
        let ack = Frame::Ack { first: 0, count: 2, delay: Dur::millis(25), ecn: None };
        assert_eq!(ack.bytes(&ranges), 1 + 2 + 2 + 1 + 1 + 1 + 1);
        // Type 1, id 4 takes 1, offset 20,000 takes 4, length 1000 takes 2.
        let chunk = Chunk { stream: 1, offset: 20_000, len: 1000, fin: false };
        assert_eq!(Frame::Stream(chunk).bytes(&[]), 8 + 1000);
        assert_eq!([varint(63), varint(64), varint(16_383), varint(16_384), varint(1 << 30)], [1, 2, 2, 4, 8]);
    }
}
