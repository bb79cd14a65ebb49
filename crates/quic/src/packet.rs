//! Datagrams, and the packets in them [RFC 9000 §12, §17].

use crate::frame::Frame;
use dumbbell_units::Dur;

/// Bytes of the UDP header [RFC 768].
pub const UDP_HEADER: u32 = 8;
/// Bytes of a connection ID; quinn, aioquic and Chromium's servers choose 8.
const CONNECTION_ID: u32 = 8;
/// Bytes of the authentication tag [RFC 9001 §5.3].
const TAG: u32 = 16;

/// A packet number space [RFC 9000 §12.3].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
    /// Initial packets.
    Initial,
    /// Handshake packets.
    Handshake,
    /// 0-RTT and 1-RTT packets.
    Application,
}

impl Space {
    pub(crate) const ALL: [Space; 3] = [Space::Initial, Space::Handshake, Space::Application];
}

/// The type of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Long header, Initial.
    Initial,
    /// Long header, 0-RTT.
    ZeroRtt,
    /// Long header, Handshake.
    Handshake,
    /// Short header, 1-RTT.
    OneRtt,
}

impl Form {
    /// The space of its packet number.
    #[must_use]
    pub fn space(self) -> Space {
        match self {
            Form::Initial => Space::Initial,
            Form::Handshake => Space::Handshake,
            Form::ZeroRtt | Form::OneRtt => Space::Application,
        }
    }

    /// Bytes of its header and tag [RFC 9000 §17.2, §17.3]. `token`: bytes of the address token in an Initial packet.
    pub(crate) fn overhead(self, number_bytes: u32, token: u32) -> u32 {
        // First byte, version, two lengths of connection IDs, the IDs, length (two bytes).
        let long = 1 + 4 + 2 + 2 * CONNECTION_ID + 2;
        TAG + number_bytes
            + match self {
                Form::Initial => long + 1 + token,
                Form::ZeroRtt | Form::Handshake => long,
                Form::OneRtt => 1 + CONNECTION_ID,
            }
    }
}

/// Bytes of an encoded packet number [RFC 9000 §17.1, appendix A.2].
pub(crate) fn number_bytes(number: u64, largest_acked: Option<u64>) -> u32 {
    let unacked = largest_acked.map_or(number + 1, |acked| number - acked);
    // Twice the range must fit.
    match 2 * unacked {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xff_ffff => 3,
        _ => 4,
    }
}

/// A packet; its frames are in its datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its type.
    pub form: Form,
    /// Its number.
    pub number: u64,
    /// The spin bit of a 1-RTT packet [RFC 9000 §17.4].
    pub spin: bool,
    /// Its bytes, without those that fill up the datagram.
    pub bytes: u32,
    /// Index after its last frame.
    frames_end: u32,
}

/// A UDP datagram without the bytes of its data. It is reused, so that sending allocates nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Datagram {
    packets: Vec<Packet>,
    frames: Vec<Frame>,
    /// The ranges of all ACK frames.
    pub(crate) ranges: Vec<(u64, u64)>,
    /// Bytes of the UDP payload.
    pub bytes: u32,
}

impl Datagram {
    /// A 1-RTT packet with an ACK of one range of packet numbers (half-open), and nothing else.
    #[must_use]
    pub fn with_ack(number: u64, range: (u64, u64)) -> Datagram {
        let mut datagram = Datagram { ranges: vec![range], ..Datagram::default() };
        datagram.push_frame(Frame::Ack { first: 0, count: 1, delay: Dur::ZERO, ecn: None });
        let bytes = Form::OneRtt.overhead(4, 0) + datagram.frames[0].bytes(&datagram.ranges);
        datagram.end_packet(Form::OneRtt, number, false, bytes);
        datagram
    }

    /// Makes it empty.
    pub fn clear(&mut self) {
        self.packets.clear();
        self.frames.clear();
        self.ranges.clear();
        self.bytes = 0;
    }

    /// Copies the contents of another one.
    pub fn copy_from(&mut self, other: &Datagram) {
        self.packets.clone_from(&other.packets);
        self.frames.clone_from(&other.frames);
        self.ranges.clone_from(&other.ranges);
        self.bytes = other.bytes;
    }

    pub(crate) fn push_frame(&mut self, frame: Frame) {
        self.frames.push(frame);
    }

    /// Ends a packet of `bytes` that has all frames since the previous one.
    pub(crate) fn end_packet(&mut self, form: Form, number: u64, spin: bool, bytes: u32) {
        let frames_end = self.frames.len() as u32;
        self.packets.push(Packet { form, number, spin, bytes, frames_end });
        self.bytes += bytes;
    }

    /// Number of frames so far.
    pub(crate) fn frame_count(&self) -> usize {
        self.frames.len()
    }

    /// The frames from an index on.
    pub(crate) fn frames_from(&self, index: usize) -> &[Frame] {
        &self.frames[index..]
    }

    /// Its packets, each with its frames.
    pub fn packets(&self) -> impl Iterator<Item = (&Packet, &[Frame])> {
        self.packets.iter().scan(0usize, |start, packet| {
            let frames = &self.frames[*start..packet.frames_end as usize];
            *start = packet.frames_end as usize;
            Some((packet, frames))
        })
    }

    /// Bytes of a frame on the wire.
    #[must_use]
    pub fn bytes_of(&self, frame: &Frame) -> u32 {
        frame.bytes(&self.ranges)
    }

    /// The ranges of an ACK frame, half-open and descending.
    #[must_use]
    pub fn ranges_of(&self, frame: &Frame) -> &[(u64, u64)] {
        match *frame {
            Frame::Ack { first, count, .. } => &self.ranges[first as usize..(first + count) as usize],
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_have_their_sizes() {
        // 1 + 4 + (1 + 8) + (1 + 8) + 1 (no token) + 2 + 1 (number) + 16 (tag).
        assert_eq!(Form::Initial.overhead(1, 0), 43);
        assert_eq!(Form::Handshake.overhead(1, 0), 42);
        assert_eq!(Form::OneRtt.overhead(2, 0), 1 + 8 + 2 + 16);
    }

    #[test]
    fn packet_numbers_cover_twice_the_packets_in_flight() {
        // RFC 9000 appendix A.2: 0xac5c02 with 0xabe8b3 acknowledged takes 16 bits, 0xace8fe takes 18.
        assert_eq!(number_bytes(0xac_5c02, Some(0xab_e8b3)), 2);
        assert_eq!(number_bytes(0xac_e8fe, Some(0xab_e8b3)), 3);
        assert_eq!([number_bytes(0, None), number_bytes(126, None), number_bytes(127, None)], [1, 1, 2]);
    }
}
