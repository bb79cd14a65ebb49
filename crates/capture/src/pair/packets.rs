//! The packets of one capture, with the fields that identify them in another capture of the same path: those that
//! routers don't change [RFC 791, RFC 8200; RFC 9293, RFC 768].

use std::path::Path;

use crate::dissect::Transport;
use crate::tcp::track::Key;
use crate::{Dissector, Error, Reader};
use dumbbell_wire::TcpFlags;

/// A packet and the fields that identify it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) frame: u64,
    pub(super) time: i64,
    pub(super) key: Key,
    pub(super) from_low: bool,
    pub(super) tcp: bool,
    /// TCP: sequence number; UDP: IP identification.
    pub(super) seq: u32,
    /// Payload bytes.
    pub(super) len: u32,
    pub(super) bytes: u32,
    pub(super) tsval: Option<u32>,
    /// Hash of all fields that do not change on the path.
    pub(super) fingerprint: u64,
}

/// Reads the packets of a capture.
pub(super) struct Packets {
    reader: Reader,
    dissector: Dissector,
    pub(super) read: u64,
}

fn mix(fingerprint: u64, value: u64) -> u64 {
    (fingerprint ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

impl Packets {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        Ok(Self { reader: Reader::open(path)?, dissector: Dissector::default(), read: 0 })
    }

    pub(super) fn consumed(&self) -> u64 {
        self.reader.consumed()
    }

    pub(super) fn damage(&self) -> Option<crate::Damage> {
        self.reader.damage().cloned()
    }

    /// The next TCP segment or UDP datagram.
    pub(super) fn next(&mut self) -> Option<Packet> {
        loop {
            let frame = self.reader.next_frame()?;
            self.read += 1;
            let found = self.dissector.dissect(&frame);
            let Some(ip) = &found.ip else { continue };
            let (frame_number, time, bytes) = (frame.number, frame.time.unwrap_or(0), frame.len);
            let seen = match &found.transport {
                Transport::Tcp(t) => {
                    let Some(len) = t.len else { continue };
                    let (key, from_low) = Key::new(&ip.addresses, t.src_port, t.dst_port);
                    // A router may change the ECN flags and the MSS option; other options than these rarely differ.
                    let flags = t.flags.without(TcpFlags::ECE | TcpFlags::CWR).bits();
                    let (tsval, tsecr) = t.options.timestamps.unwrap_or_default();
                    let mut fingerprint = 0;
                    for v in [t.seq, t.ack, len, u32::from(flags), tsval, tsecr, u32::from(t.window)] {
                        fingerprint = mix(fingerprint, v.into());
                    }
                    for b in t.options.sack.as_slice() {
                        fingerprint = mix(mix(fingerprint, b.left.0.into()), b.right.0.into());
                    }
                    let tsval = t.options.timestamps.map(|t| t.0);
                    Packet {
                        frame: frame_number,
                        time,
                        key,
                        from_low,
                        tcp: true,
                        seq: t.seq,
                        len,
                        bytes,
                        tsval,
                        fingerprint,
                    }
                }
                Transport::Udp(u) => {
                    let Some(len) = u.len else { continue };
                    let (key, from_low) = Key::new(&ip.addresses, u.src_port, u.dst_port);
                    let id = ip.id.unwrap_or(0);
                    let head = &u.payload[..u.payload.len().min(24)];
                    let fingerprint = head.iter().fold(mix(id.into(), len.into()), |p, &b| mix(p, b.into()));
                    Packet {
                        frame: frame_number,
                        time,
                        key,
                        from_low,
                        tcp: false,
                        seq: id,
                        len,
                        bytes,
                        tsval: None,
                        fingerprint,
                    }
                }
                _ => continue,
            };
            return Some(seen);
        }
    }
}
