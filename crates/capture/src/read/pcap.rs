//! The pcap format: a header of 24 bytes, then records.

use super::Interface;
use super::window::Window;
use crate::{Error, Fault, LinkType};

/// Longest record that is believed.
const MAX_CAPTURED: u32 = 16 << 20;

/// State of a pcap file.
#[derive(Debug)]
pub(super) struct Pcap {
    big_endian: bool,
    /// Nanoseconds in a unit of the time stamp's second field.
    unit: i64,
}

/// A record; its bytes are the last that the window stepped over.
pub(super) struct Record {
    pub(super) time: Option<i64>,
    pub(super) len: u32,
    pub(super) captured: usize,
}

fn u32_at(bytes: &[u8], at: usize, big_endian: bool) -> u32 {
    let raw = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
    if big_endian { u32::from_be_bytes(raw) } else { u32::from_le_bytes(raw) }
}

pub(super) fn open(name: &str, window: &mut Window) -> Result<(Pcap, Interface), Error> {
    if !window.fill(24) {
        return Err(Error::Empty { file: name.to_owned() });
    }
    let bytes = window.bytes();
    let (big_endian, unit) = match [bytes[0], bytes[1], bytes[2], bytes[3]] {
        [0xd4, 0xc3, 0xb2, 0xa1] => (false, 1000),
        [0xa1, 0xb2, 0xc3, 0xd4] => (true, 1000),
        [0x4d, 0x3c, 0xb2, 0xa1] => (false, 1),
        [0xa1, 0xb2, 0x3c, 0x4d] => (true, 1),
        other => return Err(Error::Format { file: name.to_owned(), found: format!("{other:02x?}") }),
    };
    let interface = Interface {
        link: LinkType(u32_at(bytes, 20, big_endian) as u16),
        snaplen: u32_at(bytes, 16, big_endian),
        name: None,
        description: None,
        filter: None,
        os: None,
        hardware: None,
        speed: None,
        units_per_second: (1_000_000_000 / unit) as u64,
        frames: 0,
        dropped: None,
    };
    window.advance(24);
    Ok((Pcap { big_endian, unit }, interface))
}

impl Pcap {
    #[inline]
    pub(super) fn next(&mut self, window: &mut Window) -> Result<Option<Record>, Fault> {
        if !window.fill(16) {
            return match window.bytes().len() as u64 {
                0 => Ok(None),
                have => Err(Fault::Cut { have, need: 16 }),
            };
        }
        let bytes = window.bytes();
        let seconds = i64::from(u32_at(bytes, 0, self.big_endian));
        let fraction = i64::from(u32_at(bytes, 4, self.big_endian));
        let captured = u32_at(bytes, 8, self.big_endian);
        let len = u32_at(bytes, 12, self.big_endian);
        if captured > MAX_CAPTURED {
            return Err(Fault::Length {
                what: "the record's captured length",
                value: captured.into(),
                allowed: "at most 16777216 is believed",
            });
        }
        let captured = captured as usize;
        if !window.fill(16 + captured) {
            return Err(Fault::Cut { have: window.bytes().len() as u64, need: 16 + captured as u64 });
        }
        window.advance(16 + captured);
        Ok(Some(Record { time: Some(seconds * 1_000_000_000 + fraction * self.unit), len, captured }))
    }
}
