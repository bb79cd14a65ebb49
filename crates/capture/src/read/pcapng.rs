//! The pcapng format [draft-ietf-opsawg-pcapng]: sections of blocks.
//!
//! | block | section of the draft |
//! | --- | --- |
//! | Section Header | 4.1 |
//! | Interface Description | 4.2 |
//! | Enhanced Packet, Simple Packet | 4.3, 4.4 |
//! | Interface Statistics | 4.6 |
//! | Packet (obsolete) | appendix A |
//!
//! Other blocks are skipped. Limits and frame numbers follow Wireshark [Wireshark pcapng.c].

use super::bytes::Order;
use super::describe::{Interface, Resolution, Section};
use super::options::{COMMENT, Options};
use super::window::Window;
use super::{FORMATS, FileStart, Format, Record, limits};
use crate::{Error, Fault, LinkType};

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 2;
const SIMPLE: u32 = 3;
const STATISTICS: u32 = 5;
const ENHANCED: u32 = 6;
/// Blocks that Wireshark numbers as frames: systemd journal, events of sysdig (three versions), custom blocks
/// [Wireshark pcapng.c `pcapng_read_block`].
const NUMBERED: [u32; 6] = [9, 0x204, 0x216, 0x221, 0x0bad, 0x4000_0bad];

const BYTE_ORDER: u32 = 0x1a2b_3c4d;

/// Bytes of block type and length at the start of a block.
const HEAD: usize = 8;
/// Bytes of the length at its end.
const TAIL: usize = 4;

const SHB_HARDWARE: u16 = 2;
const SHB_OS: u16 = 3;
const SHB_APPLICATION: u16 = 4;

const IF_NAME: u16 = 2;
const IF_DESCRIPTION: u16 = 3;
const IF_SPEED: u16 = 8;
const IF_TSRESOL: u16 = 9;
const IF_FILTER: u16 = 11;
const IF_OS: u16 = 12;
const IF_FCSLEN: u16 = 13;
const IF_TSOFFSET: u16 = 14;
const IF_HARDWARE: u16 = 15;

const ISB_RECEIVED: u16 = 4;
const ISB_DROPPED: u16 = 5;
const ISB_OS_DROPPED: u16 = 7;

/// State of a pcapng file.
#[derive(Debug, Default)]
pub(super) struct Pcapng {
    order: Order,
    sections: Vec<Section>,
    /// Index of the section's first interface in the file.
    base: usize,
    /// Bytes of text kept so far.
    texts: usize,
    /// Frame numbers used by other blocks since the last frame.
    numbered: u64,
    /// Offset of the current block.
    block: u64,
}

/// The fault of a block that is too short for its fixed fields.
fn short(what: &'static str, value: u32, least: usize) -> Fault {
    Fault::Length { what, value: value.into(), least: least as u64, most: limits::BLOCK.into() }
}

/// True if a file begins with a section header.
pub(super) fn magic(bytes: &[u8]) -> bool {
    Order::Little.u32(bytes, 0) == SECTION
}

/// Checks that the file begins with a readable section header.
pub(super) fn open(name: &str, window: &mut Window) -> Result<FileStart, Error> {
    let whole = window.fill(28);
    let bytes = window.bytes();
    let known = Order::Little.u32(bytes, 8) == BYTE_ORDER || Order::Big.u32(bytes, 8) == BYTE_ORDER;
    if !whole || !known {
        let found = "a pcapng section header that is cut or has an unknown byte order".to_owned();
        return Err(Error::Format { file: name.to_owned(), found, allowed: FORMATS });
    }
    Ok(FileStart { format: Format::Pcapng(Pcapng::default()), interfaces: Vec::new(), snaplen: None })
}

impl Pcapng {
    pub(super) fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Offset in the stream of the last block, read or damaged.
    pub(super) fn block(&self) -> u64 {
        self.block
    }

    /// Reads blocks up to and including the next frame.
    #[inline]
    pub(super) fn next(
        &mut self,
        window: &mut Window,
        interfaces: &mut Vec<Interface>,
    ) -> Result<Option<Record>, Fault> {
        loop {
            self.block = window.offset();
            if !window.fill(HEAD) {
                return match window.bytes().len() as u64 {
                    0 => Ok(None),
                    have => Err(Fault::Cut { have, need: (HEAD + TAIL) as u64 }),
                };
            }
            let kind = self.order.u32(window.bytes(), 0);
            if kind == SECTION {
                self.section(window, interfaces.len())?;
                continue;
            }
            let len_field = self.order.u32(window.bytes(), 4);
            match kind {
                ENHANCED => {
                    self.whole(window, len_field, 32)?;
                    return self.enhanced(window, len_field, interfaces).map(Some);
                }
                PACKET => {
                    self.whole(window, len_field, 32)?;
                    return self.packet(window, len_field, interfaces).map(Some);
                }
                SIMPLE => {
                    self.whole(window, len_field, 16)?;
                    return self.simple(window, len_field, interfaces).map(Some);
                }
                INTERFACE => {
                    self.whole(window, len_field, 20)?;
                    self.interface(window, len_field, interfaces)?;
                }
                STATISTICS => {
                    self.whole(window, len_field, 24)?;
                    self.statistics(window, len_field, interfaces);
                }
                _ => {
                    self.numbered += u64::from(NUMBERED.contains(&kind));
                    self.skip(window, len_field)?;
                }
            }
        }
    }

    /// Reads the whole block into the window and checks both lengths; `least` is the length with all fixed fields.
    #[inline]
    fn whole(&self, window: &mut Window, len_field: u32, least: usize) -> Result<(), Fault> {
        if (len_field as usize) < least || len_field > limits::BLOCK {
            return Err(short("the length of a block", len_field, least));
        }
        let len = padded(len_field);
        if !window.fill(len) {
            return Err(Fault::Cut { have: window.bytes().len() as u64, need: len as u64 });
        }
        self.same(len_field, self.order.u32(window.bytes(), len - TAIL))
    }

    /// Compares both lengths. Some writers leave out the padding, so they are compared after rounding up.
    #[inline]
    fn same(&self, head: u32, tail: u32) -> Result<(), Fault> {
        if head == tail || padded(head) == padded(tail) {
            return Ok(());
        }
        Err(Fault::Lengths { head, tail })
    }

    /// Skips a block of any length.
    fn skip(&self, window: &mut Window, len_field: u32) -> Result<(), Fault> {
        if (len_field as usize) < HEAD + TAIL {
            return Err(short("the length of a block", len_field, HEAD + TAIL));
        }
        let len = padded(len_field) as u64;
        let stepped = window.skip(len - TAIL as u64);
        let have = stepped + window.bytes().len() as u64;
        if !window.fill(TAIL) {
            return Err(Fault::Cut { have: have.min(len), need: len });
        }
        let tail = self.order.u32(window.bytes(), 0);
        window.advance(TAIL);
        self.same(len_field, tail)
    }

    fn section(&mut self, window: &mut Window, interfaces: usize) -> Result<(), Fault> {
        if !window.fill(28) {
            return Err(Fault::Cut { have: window.bytes().len() as u64, need: 28 });
        }
        let bytes = window.bytes();
        self.order = match (Order::Little.u32(bytes, 8), Order::Big.u32(bytes, 8)) {
            (BYTE_ORDER, _) => Order::Little,
            (_, BYTE_ORDER) => Order::Big,
            (other, _) => {
                return Err(Fault::Value {
                    what: "the byte-order magic of a section",
                    value: other.into(),
                    allowed: "0x1a2b3c4d is known",
                });
            }
        };
        let len_field = self.order.u32(bytes, 4);
        self.whole(window, len_field, 28)?;
        let bytes = window.bytes();
        let major = self.order.u16(bytes, 12);
        if major != 1 {
            return Err(Fault::Value {
                what: "the major version of a section",
                value: major.into(),
                allowed: "1 is known",
            });
        }
        let len = padded(len_field);
        let options = Options { bytes: &bytes[24..len - TAIL], order: self.order };
        let mut section = Section { first_interface: interfaces.min(u32::MAX as usize) as u32, ..Section::default() };
        let mut texts = Texts { used: &mut self.texts };
        section.hardware = texts.keep(options.text(SHB_HARDWARE));
        section.os = texts.keep(options.text(SHB_OS));
        section.application = texts.keep(options.text(SHB_APPLICATION));
        section.comments = texts.comments(options);
        if self.sections.len() < limits::INTERFACES {
            self.sections.push(section);
        }
        self.base = interfaces;
        window.advance(len);
        Ok(())
    }

    fn interface(&mut self, window: &mut Window, len_field: u32, interfaces: &mut Vec<Interface>) -> Result<(), Fault> {
        if interfaces.len() >= limits::INTERFACES {
            return Err(Fault::Value {
                what: "the number of interfaces",
                value: interfaces.len() as u64 + 1,
                allowed: "65536 are read",
            });
        }
        let len = padded(len_field);
        let bytes = &window.bytes()[..len];
        let options = Options { bytes: &bytes[16..len - TAIL], order: self.order };
        let find = |code| options.iter().find(|&(c, _)| c == code).map(|(_, value)| value);
        let mut new = Interface::new(LinkType(self.order.u16(bytes, 8)), Resolution::MICRO);
        new.snaplen = self.order.u32(bytes, 12);
        if let Some(&[value]) = find(IF_TSRESOL) {
            new.tsresol = Some(value);
            new.resolution = Resolution::from_option(value);
        }
        // if_tsoffset is a signed 64-bit number.
        new.time_offset = options.u64(IF_TSOFFSET).unwrap_or(0).cast_signed();
        new.speed = options.u64(IF_SPEED);
        let mut texts = Texts { used: &mut self.texts };
        new.name = texts.keep(options.text(IF_NAME));
        new.description = texts.keep(options.text(IF_DESCRIPTION));
        new.os = texts.keep(options.text(IF_OS));
        new.hardware = texts.keep(options.text(IF_HARDWARE));
        match find(IF_FILTER) {
            Some([0, filter @ ..]) => {
                new.filter = texts.keep(Some(String::from_utf8_lossy(filter).into_owned()));
            }
            Some([1, program @ ..]) => new.filter_program = Some((program.len() / 8) as u32),
            _ => {}
        }
        if let Some(&[len]) = find(IF_FCSLEN) {
            (new.fcs_len, new.fcs) = (Some(len), len);
        }
        new.comments = texts.comments(options);
        interfaces.push(new);
        window.advance(len);
        Ok(())
    }

    /// Reads interface statistics; those of an undescribed interface are ignored, as in Wireshark.
    fn statistics(&mut self, window: &mut Window, len_field: u32, interfaces: &mut [Interface]) {
        let len = padded(len_field);
        let bytes = &window.bytes()[..len];
        let options = Options { bytes: &bytes[20..len - TAIL], order: self.order };
        let at = self.base + self.order.u32(bytes, 8) as usize;
        if let Some(interface) = interfaces.get_mut(at) {
            interface.statistics = interface.statistics.saturating_add(1);
            interface.received = options.u64(ISB_RECEIVED).or(interface.received);
            interface.dropped = options.u64(ISB_DROPPED).or(interface.dropped);
            interface.dropped_by_os = options.u64(ISB_OS_DROPPED).or(interface.dropped_by_os);
        }
        window.advance(len);
    }

    #[inline]
    fn enhanced(&mut self, window: &mut Window, len_field: u32, interfaces: &[Interface]) -> Result<Record, Fault> {
        let id = self.order.u32(window.bytes(), 8);
        self.timed(window, len_field, interfaces, id)
    }

    /// The obsolete Packet Block: as the enhanced one, with 16 bits of interface and 16 bits of drop count.
    fn packet(&mut self, window: &mut Window, len_field: u32, interfaces: &[Interface]) -> Result<Record, Fault> {
        let id = u32::from(self.order.u16(window.bytes(), 8));
        self.timed(window, len_field, interfaces, id)
    }

    #[inline]
    fn timed(
        &mut self,
        window: &mut Window,
        len_field: u32,
        interfaces: &[Interface],
        id: u32,
    ) -> Result<Record, Fault> {
        let bytes = window.bytes();
        let (index, interface) = self.find(interfaces, id)?;
        let units = u64::from(self.order.u32(bytes, 12)) << 32 | u64::from(self.order.u32(bytes, 16));
        let captured = self.order.u32(bytes, 20);
        let len = self.order.u32(bytes, 24);
        let total = padded(len_field);
        let space = total - 28 - TAIL;
        check_captured(captured, interface.link, space)?;
        let time = interface
            .resolution
            .to_nanoseconds(units)
            .and_then(|ns| ns.checked_add(interface.time_offset.checked_mul(1_000_000_000)?));
        let record = Record {
            time,
            len,
            interface: index,
            total,
            data: 28,
            captured: captured as usize,
            options: 28 + padded(captured).min(space)..total - TAIL,
            order: self.order,
            skipped: std::mem::take(&mut self.numbered),
        };
        window.advance(total);
        Ok(record)
    }

    fn simple(&mut self, window: &mut Window, len_field: u32, interfaces: &[Interface]) -> Result<Record, Fault> {
        let (index, interface) = self.find(interfaces, 0)?;
        let len = self.order.u32(window.bytes(), 8);
        let total = padded(len_field);
        let space = total - 12 - TAIL;
        // The block has no captured length: it is the original length, limited by the snap length.
        let captured = if interface.snaplen > 0 { len.min(interface.snaplen) } else { len };
        check_captured(captured, interface.link, space)?;
        window.advance(total);
        Ok(Record {
            time: None,
            len,
            interface: index,
            total,
            data: 12,
            captured: captured as usize,
            options: 0..0,
            order: self.order,
            skipped: std::mem::take(&mut self.numbered),
        })
    }

    /// The interface `id` of the section, and its index in the file.
    #[inline]
    fn find<'i>(&self, interfaces: &'i [Interface], id: u32) -> Result<(u32, &'i Interface), Fault> {
        let index = self.base + id as usize;
        match interfaces.get(index) {
            Some(interface) => Ok((index as u32, interface)),
            None => Err(Fault::Interface { id, known: (interfaces.len() - self.base) as u32 }),
        }
    }
}

#[inline]
fn padded(len: u32) -> usize {
    (len as usize).next_multiple_of(4)
}

#[inline]
fn check_captured(captured: u32, link: LinkType, space: usize) -> Result<(), Fault> {
    let most = (space as u64).min(limits::captured(link).into());
    if u64::from(captured) <= most {
        return Ok(());
    }
    Err(Fault::Length { what: "the captured length of a frame", value: captured.into(), least: 0, most })
}

/// Keeps texts up to a total length.
struct Texts<'a> {
    used: &'a mut usize,
}

impl Texts<'_> {
    fn keep(&mut self, text: Option<String>) -> Option<String> {
        let text = text?;
        if *self.used + text.len() > limits::TEXTS {
            return None;
        }
        *self.used += text.len();
        Some(text)
    }

    fn comments(&mut self, options: Options<'_>) -> Vec<String> {
        let all = options.iter().filter(|&(code, _)| code == COMMENT);
        all.filter_map(|(_, value)| self.keep(Some(String::from_utf8_lossy(value).into_owned()))).collect()
    }
}
