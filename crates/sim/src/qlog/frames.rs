//! Frames in both versions.

use super::millis;
use super::object::Object;
use dumbbell_plan::QlogVersion;
use dumbbell_quic::{Datagram, Frame};

/// A frame of a datagram.
pub(super) fn frame(frame: &Frame, of: &Datagram, version: QlogVersion) -> Object {
    let mut out = Object::default();
    out.text("frame_type", name(frame));
    match *frame {
        Frame::Ack { delay, ecn, .. } => {
            out.raw("ack_delay", &millis(delay));
            // Ascending, both ends included.
            let ranges = of.ranges_of(frame).iter().rev().map(|(start, end)| match end - start {
                1 => format!("[{start}]"),
                _ => format!("[{start},{}]", end - 1),
            });
            let ranges: Vec<String> = ranges.collect();
            out.raw("acked_ranges", &format!("[{}]", ranges.join(",")));
            if let Some(counts) = ecn {
                out.raw("ect1", &counts.ect1).raw("ect0", &counts.ect0).raw("ce", &counts.ce);
            }
        }
        Frame::Crypto { offset, len } => {
            out.raw("offset", &offset);
            payload(&mut out, len, frame, of, version);
        }
        Frame::Stream(chunk) => {
            out.raw("stream_id", &(4 * u64::from(chunk.stream))).raw("offset", &chunk.offset);
            if chunk.fin {
                out.raw("fin", &true);
            }
            payload(&mut out, chunk.len, frame, of, version);
        }
        Frame::MaxData(max) => {
            out.raw("maximum", &max);
        }
        Frame::MaxStreamData { stream, max } => {
            out.raw("stream_id", &(4 * u64::from(stream))).raw("maximum", &max);
        }
        Frame::AckFrequency { .. } => {
            out.raw(type_field(version), &0xaf);
        }
        Frame::ImmediateAck => {
            out.raw(type_field(version), &0x1f);
        }
        Frame::ConnectionClose => {
            out.text("error_space", "transport").raw("error_code", &0);
        }
        Frame::Ping | Frame::HandshakeDone => {}
    }
    out
}

/// The lengths of a frame with data.
fn payload(out: &mut Object, len: u32, frame: &Frame, of: &Datagram, version: QlogVersion) {
    match version {
        QlogVersion::Draft => {
            let mut raw = Object::default();
            raw.raw("length", &of.bytes_of(frame)).raw("payload_length", &len);
            out.object("raw", &raw);
        }
        QlogVersion::V03 => {
            out.raw("length", &len);
        }
    }
}

fn name(frame: &Frame) -> &'static str {
    match frame {
        Frame::Ping => "ping",
        Frame::Ack { .. } => "ack",
        Frame::Crypto { .. } => "crypto",
        Frame::Stream(_) => "stream",
        Frame::MaxData(_) => "max_data",
        Frame::MaxStreamData { .. } => "max_stream_data",
        // Frames of extensions have no name.
        Frame::AckFrequency { .. } | Frame::ImmediateAck => "unknown",
        Frame::HandshakeDone => "handshake_done",
        Frame::ConnectionClose => "connection_close",
    }
}

fn type_field(version: QlogVersion) -> &'static str {
    if version == QlogVersion::Draft { "frame_type_bytes" } else { "raw_frame_type" }
}
