//! The pcapng format: blocks, in sections, of interfaces.

use super::bytes::Order;
use super::describe::{Interface, Resolution, Section};
use super::options::{COMMENT, Options};
use super::window::Window;
use super::{FORMATS, Format, Record, Starting, limits};
use crate::{Error, Fault, LinkType};

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 2;
const SIMPLE: u32 = 3;
const STATISTICS: u32 = 5;
const ENHANCED: u32 = 6;
/// Blocks that Wireshark counts as frames of their own.
const NUMBERED: [u32; 3] = [9, 0x0bad, 0x4000_0bad];

const BYTE_ORDER: u32 = 0x1a2b_3c4d;

/// Block type and the length at its begin.
const HEAD: usize = 8;
/// The length again, at its end.
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
    /// Index of the section's first interface.
    base: usize,
    /// Bytes of texts kept so far.
    texts: usize,
    /// Numbers that blocks which aren't frames have taken since the last frame.
    numbered: u64,
    /// Offset of the current block.
    block: u64,
}

/// A block's fixed fields lie where the block ends too early.
fn short(what: &'static str, value: u32, least: usize) -> Fault {
    Fault::Length { what, value: value.into(), least: least as u64, most: limits::BLOCK.into() }
}

/// Whether a file begins with a section header.
pub(super) fn magic(bytes: &[u8]) -> bool {
    Order::Little.u32(bytes, 0) == SECTION
}

/// Makes sure that the file begins with a section header that can be read.
pub(super) fn open(name: &str, window: &mut Window) -> Result<Starting, Error> {
    let whole = window.fill(28);
    let bytes = window.bytes();
    let known = Order::Little.u32(bytes, 8) == BYTE_ORDER || Order::Big.u32(bytes, 8) == BYTE_ORDER;
    if !whole || !known {
        let found = "a pcapng section header that is cut or has an unknown byte order".to_owned();
        return Err(Error::Format { file: name.to_owned(), found, allowed: FORMATS });
    }
    Ok(Starting { format: Format::Pcapng(Pcapng::default()), interfaces: Vec::new(), snaplen: None })
}

impl Pcapng {
    pub(super) fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Offset in the stream of the block that was read last, or failed.
    pub(super) fn block(&self) -> u64 {
        self.block
    }

    /// Steps over blocks up to the next frame and over that.
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
            let said = self.order.u32(window.bytes(), 4);
            match kind {
                ENHANCED => {
                    self.whole(window, said, 32)?;
                    return self.enhanced(window, said, interfaces).map(Some);
                }
                PACKET => {
                    self.whole(window, said, 32)?;
                    return self.packet(window, said, interfaces).map(Some);
                }
                SIMPLE => {
                    self.whole(window, said, 16)?;
                    return self.simple(window, said, interfaces).map(Some);
                }
                INTERFACE => {
                    self.whole(window, said, 20)?;
                    self.interface(window, said, interfaces)?;
                }
                STATISTICS => {
                    self.whole(window, said, 24)?;
                    self.statistics(window, said, interfaces);
                }
                _ => {
                    self.numbered += u64::from(NUMBERED.contains(&kind));
                    self.skip(window, said)?;
                }
            }
        }
    }

    /// Has the block as a whole in the window and checks its lengths; `least` is the shortest that has all fixed fields.
    #[inline]
    fn whole(&self, window: &mut Window, said: u32, least: usize) -> Result<(), Fault> {
        if (said as usize) < least || said > limits::BLOCK {
            return Err(short("the length of a block", said, least));
        }
        let len = padded(said);
        if !window.fill(len) {
            return Err(Fault::Cut { have: window.bytes().len() as u64, need: len as u64 });
        }
        self.same(said, self.order.u32(window.bytes(), len - TAIL))
    }

    /// Some writers give lengths without the padding: rounded up they must be the same.
    #[inline]
    fn same(&self, head: u32, tail: u32) -> Result<(), Fault> {
        if head == tail || padded(head) == padded(tail) {
            return Ok(());
        }
        Err(Fault::Lengths { head, tail })
    }

    /// Steps over a block that is of no interest, however long.
    fn skip(&self, window: &mut Window, said: u32) -> Result<(), Fault> {
        if (said as usize) < HEAD + TAIL {
            return Err(short("the length of a block", said, HEAD + TAIL));
        }
        let len = padded(said) as u64;
        let stepped = window.skip(len - TAIL as u64);
        let have = stepped + window.bytes().len() as u64;
        if !window.fill(TAIL) {
            return Err(Fault::Cut { have: have.min(len), need: len });
        }
        let tail = self.order.u32(window.bytes(), 0);
        window.advance(TAIL);
        self.same(said, tail)
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
        let said = self.order.u32(bytes, 4);
        self.whole(window, said, 28)?;
        let bytes = window.bytes();
        let major = self.order.u16(bytes, 12);
        if major != 1 {
            return Err(Fault::Value {
                what: "the major version of a section",
                value: major.into(),
                allowed: "1 is known",
            });
        }
        let len = padded(said);
        let options = Options { bytes: &bytes[24..len - TAIL], order: self.order };
        let mut section =
            Section { first_interface: interfaces.min(u32::MAX as usize) as u32, ..Section::default() };
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

    fn interface(
        &mut self,
        window: &mut Window,
        said: u32,
        interfaces: &mut Vec<Interface>,
    ) -> Result<(), Fault> {
        if interfaces.len() >= limits::INTERFACES {
            return Err(Fault::Value {
                what: "the number of interfaces",
                value: interfaces.len() as u64 + 1,
                allowed: "65536 are read",
            });
        }
        let len = padded(said);
        let bytes = &window.bytes()[..len];
        let options = Options { bytes: &bytes[16..len - TAIL], order: self.order };
        let find = |code| options.iter().find(|&(c, _)| c == code).map(|(_, value)| value);
        let mut new = Interface::new(LinkType(self.order.u16(bytes, 8)), Resolution::MICRO);
        new.snaplen = self.order.u32(bytes, 12);
        if let Some(&[value]) = find(IF_TSRESOL) {
            new.tsresol = Some(value);
            new.resolution = Resolution::from_option(value);
        }
        // The value is signed; the bits are the same.
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

    /// Statistics of an interface that isn't described are passed over, as Wireshark does.
    fn statistics(&mut self, window: &mut Window, said: u32, interfaces: &mut [Interface]) {
        let len = padded(said);
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
    fn enhanced(
        &mut self,
        window: &mut Window,
        said: u32,
        interfaces: &[Interface],
    ) -> Result<Record, Fault> {
        let id = self.order.u32(window.bytes(), 8);
        self.timed(window, said, interfaces, id)
    }

    /// The obsolete block: as the enhanced one, but with 16 bits of interface and 16 bits of drops.
    fn packet(&mut self, window: &mut Window, said: u32, interfaces: &[Interface]) -> Result<Record, Fault> {
        let id = u32::from(self.order.u16(window.bytes(), 8));
        self.timed(window, said, interfaces, id)
    }

    #[inline]
    fn timed(
        &mut self,
        window: &mut Window,
        said: u32,
        interfaces: &[Interface],
        id: u32,
    ) -> Result<Record, Fault> {
        let bytes = window.bytes();
        let (index, interface) = self.find(interfaces, id)?;
        let units = u64::from(self.order.u32(bytes, 12)) << 32 | u64::from(self.order.u32(bytes, 16));
        let captured = self.order.u32(bytes, 20);
        let len = self.order.u32(bytes, 24);
        let total = padded(said);
        let room = total - 28 - TAIL;
        check_captured(captured, interface.link, room)?;
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
            options: 28 + padded(captured).min(room)..total - TAIL,
            order: self.order,
            skipped: std::mem::take(&mut self.numbered),
        };
        window.advance(total);
        Ok(record)
    }

    fn simple(&mut self, window: &mut Window, said: u32, interfaces: &[Interface]) -> Result<Record, Fault> {
        let (index, interface) = self.find(interfaces, 0)?;
        let len = self.order.u32(window.bytes(), 8);
        let total = padded(said);
        let room = total - 12 - TAIL;
        // What was captured isn't said: all of the frame that the snap length lets through.
        let captured = if interface.snaplen > 0 { len.min(interface.snaplen) } else { len };
        check_captured(captured, interface.link, room)?;
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
fn check_captured(captured: u32, link: LinkType, room: usize) -> Result<(), Fault> {
    let most = (room as u64).min(limits::captured(link).into());
    if u64::from(captured) <= most {
        return Ok(());
    }
    Err(Fault::Length { what: "the captured length of a frame", value: captured.into(), least: 0, most })
}

/// Keeps texts as long as there is room for them.
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
