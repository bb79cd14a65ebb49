//! The pcap format [draft-ietf-opsawg-pcap]: a header of 24 bytes, then for each frame a record header of 16 bytes and
//! the captured bytes. Versions before 2.4 and the variants of Ixia follow Wireshark [Wireshark libpcap.c].

use super::bytes::Order;
use super::describe::{Interface, Resolution};
use super::window::Window;
use super::{FORMATS, FileStart, Format, Record, limits};
use crate::{Error, Fault, LinkType};

/// Bytes of the file's header.
const HEADER: usize = 24;
/// Bytes of a record's header.
const RECORD: usize = 16;
/// Bytes after the header in Ixia's variant: the length of all records.
const IXIA_EXTRA: usize = 4;

/// State of a pcap file.
#[derive(Debug)]
pub(super) struct Pcap {
    order: Order,
    /// Nanoseconds in a unit of the time stamp's second field.
    unit: i64,
    /// The order of a record's two lengths.
    lengths: Lengths,
    /// Longest captured length that is accepted.
    limit: u32,
}

/// Order of the two lengths of a record. Versions before 2.3 have the length on the wire first. Version 2.3 has either
/// order; the smaller one is then the captured length.
#[derive(Clone, Copy, Debug)]
enum Lengths {
    CapturedFirst,
    WireFirst,
    SmallerIsCaptured,
}

/// Decodes the magic number: byte order, nanoseconds in a unit, additional bytes after the header.
pub(super) fn magic(bytes: &[u8]) -> Option<(Order, i64, usize)> {
    [Order::Little, Order::Big].into_iter().find_map(|order| {
        let (unit, extra) = match order.u32(bytes, 0) {
            0xa1b2_c3d4 => (1000, 0),
            0xa1b2_3c4d => (1, 0),
            0x1c00_01ab => (1000, IXIA_EXTRA),
            0x1c00_01ac => (1, IXIA_EXTRA),
            _ => return None,
        };
        Some((order, unit, extra))
    })
}

/// Reads the file's header; the window holds at least its first four bytes, which [`magic`] knows.
pub(super) fn open(name: &str, window: &mut Window) -> Result<FileStart, Error> {
    let refuse = |found: String| Error::Format { file: name.to_owned(), found, allowed: FORMATS };
    let Some((order, unit, extra)) = magic(window.bytes()) else {
        return Err(refuse("unknown bytes".to_owned()));
    };
    if !window.fill(HEADER + extra) {
        let have = window.bytes().len();
        return Err(refuse(format!("a pcap header that is cut after {have} of {} bytes", HEADER + extra)));
    }
    let bytes = window.bytes();
    let (major, minor) = (order.u16(bytes, 4), order.u16(bytes, 6));
    if major < 2 {
        return Err(refuse(format!("a pcap header of version {major}.{minor} (known: 2.0 and later)")));
    }
    let lengths = match (major, minor) {
        (2, ..3) | (543, _) => Lengths::WireFirst,
        (2, 3) => Lengths::SmallerIsCaptured,
        _ => Lengths::CapturedFirst,
    };
    // The upper half of the field has a flag that the length of the frame check sequence is known, and that length in
    // units of two bytes.
    let network = order.u32(bytes, 20);
    let link = LinkType((network & 0xffff) as u16);
    let fcs = if network & 0x0400_0000 == 0 { 0 } else { (network >> 28) as u8 * 2 };
    let snaplen = order.u32(bytes, 16);
    let resolution = if unit == 1 { Resolution::NANO } else { Resolution::MICRO };
    let limit = limits::captured(link);
    let interface = Interface {
        // A snap length of 0 means no limit but that of the file format.
        snaplen: if snaplen == 0 { limit } else { snaplen },
        fcs,
        tsresol: (unit == 1).then_some(9),
        ..Interface::new(link, resolution)
    };
    window.advance(HEADER + extra);
    Ok(FileStart {
        format: Format::Pcap(Pcap { order, unit, lengths, limit }),
        interfaces: vec![interface],
        snaplen: (snaplen > 0).then_some(snaplen),
    })
}

impl Pcap {
    /// True if time stamps are in nanoseconds.
    pub(super) fn nanoseconds(&self) -> bool {
        self.unit == 1
    }

    #[inline]
    pub(super) fn next(&mut self, window: &mut Window) -> Result<Option<Record>, Fault> {
        if !window.fill(RECORD) {
            return match window.bytes().len() as u64 {
                0 => Ok(None),
                have => Err(Fault::Cut { have, need: RECORD as u64 }),
            };
        }
        let header = window.bytes();
        let seconds = i64::from(self.order.u32(header, 0));
        let fraction = i64::from(self.order.u32(header, 4));
        let (first, second) = (self.order.u32(header, 8), self.order.u32(header, 12));
        let (captured, len) = match self.lengths {
            Lengths::CapturedFirst => (first, second),
            Lengths::WireFirst => (second, first),
            Lengths::SmallerIsCaptured => (first.min(second), first.max(second)),
        };
        if captured > self.limit {
            return Err(Fault::Length {
                what: "the captured length of a record",
                value: captured.into(),
                least: 0,
                most: self.limit.into(),
            });
        }
        let captured = captured as usize;
        let total = RECORD + captured;
        if !window.fill(total) {
            return Err(Fault::Cut { have: window.bytes().len() as u64, need: total as u64 });
        }
        window.advance(total);
        Ok(Some(Record {
            // 2^32 seconds and as many microseconds are less than 2^63 ns.
            time: Some(seconds * 1_000_000_000 + fraction * self.unit),
            len,
            interface: 0,
            total,
            data: RECORD,
            captured,
            options: 0..0,
            order: self.order,
            skipped: 0,
        }))
    }
}
