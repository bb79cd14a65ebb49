//! Reading captures: pcap and pcapng [draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng], plain or compressed, from a
//! file, the standard input or any stream. Frame numbers and limits are those of Wireshark [Wireshark wiretap].

mod bytes;
mod decompress;
#[cfg(target_family = "wasm")]
mod decompress_in_rust;
#[cfg(not(target_family = "wasm"))]
mod decompress_zstd;
mod describe;
mod input;
mod limits;
pub mod options;
mod pcap;
mod pcapng;
#[cfg(not(target_family = "wasm"))]
mod read_ahead;
mod tally;
mod window;

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use describe::{Interface, Resolution, Section};
pub use input::Compression;
pub use tally::Kind;

use crate::{Damage, Error, Fault, Frame, LinkType};
use bytes::Order;
use options::Options;
use tally::Tally;
use window::Window;

/// The readable formats, for messages.
const FORMATS: &str = "pcap and pcapng can be read, plain or compressed by gzip, zstd or lz4";

/// Reads the frames of one file, in file order.
///
/// Its memory is one window of the file: 256 KiB, more only while a longer frame needs it.
pub struct Reader {
    name: String,
    window: Window,
    format: Format,
    interfaces: Vec<Interface>,
    /// The sections of a pcap file, which has none.
    no_sections: [Section; 1],
    /// Number of the last frame.
    number: u64,
    tally: Tally,
    damage: Option<Damage>,
    snaplen: Option<u32>,
    compression: Option<Compression>,
    /// Bytes of the file read so far, still compressed.
    consumed: Arc<AtomicU64>,
    file_size: Option<u64>,
    /// The file itself, to find out at the end whether it was truncated while it was read.
    file: Option<File>,
}

enum Format {
    Pcap(pcap::Pcap),
    Pcapng(pcapng::Pcapng),
}

/// Content of the header of a file.
struct FileStart {
    format: Format,
    interfaces: Vec<Interface>,
    /// Snap length of the file as a whole.
    snaplen: Option<u32>,
}

/// A frame that the window has passed. Positions are counted from the start of its record or block.
struct Record {
    time: Option<i64>,
    len: u32,
    interface: u32,
    /// Bytes of the whole record or block.
    total: usize,
    /// Position of the captured bytes.
    data: usize,
    captured: usize,
    /// Position of the options.
    options: Range<usize>,
    order: Order,
    /// Frame numbers used by other blocks since the frame before.
    skipped: u64,
}

impl Record {
    /// Removes the first `n` bytes of the frame.
    #[cold]
    fn remove_front(&mut self, n: u32) {
        let present = (n as usize).min(self.captured);
        self.data += present;
        self.captured -= present;
        self.len = self.len.saturating_sub(n);
    }
}

impl Reader {
    /// Opens a file; `-` is the standard input.
    ///
    /// # Errors
    ///
    /// If it can't be opened or isn't a capture.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        if name == "-" {
            return Self::from_read("standard input", Box::new(std::io::stdin()));
        }
        let refuse = |source| Error::Io { file: name.clone(), source };
        let file = File::open(path).map_err(refuse)?;
        let about = file.metadata().map_err(refuse)?;
        let handle = file.try_clone().map_err(refuse)?;
        let mut reader = Self::from_read(&name, Box::new(file))?;
        // A pipe has no size.
        if about.is_file() {
            (reader.file_size, reader.file) = (Some(about.len()), Some(handle));
        }
        Ok(reader)
    }

    /// Reads from any stream of bytes; `name` is for messages.
    ///
    /// # Errors
    ///
    /// If it does not begin with the header of a capture.
    pub fn from_read(name: &str, source: Box<dyn Read + Send>) -> Result<Self, Error> {
        let refuse = |source| Error::Io { file: name.to_owned(), source };
        let input = input::open(source).map_err(refuse)?;
        let mut window = Window::new(input.stream);
        if !window.fill(4) {
            if let Some(source) = window.take_error() {
                return Err(refuse(source));
            }
            if window.bytes().is_empty() {
                return Err(Error::Empty { file: name.to_owned() });
            }
        }
        let start = if pcapng::magic(window.bytes()) {
            pcapng::open(name, &mut window)?
        } else if pcap::magic(window.bytes()).is_some() {
            pcap::open(name, &mut window)?
        } else {
            let found = known(window.bytes());
            return Err(Error::Format { file: name.to_owned(), found, allowed: FORMATS });
        };
        Ok(Self {
            name: name.to_owned(),
            window,
            format: start.format,
            interfaces: start.interfaces,
            no_sections: [Section::default()],
            number: 0,
            tally: Tally::default(),
            damage: None,
            snaplen: start.snaplen,
            compression: input.compression,
            consumed: input.consumed,
            file_size: None,
            file: None,
        })
    }

    /// The reader of a stream whose length in bytes is known.
    #[must_use]
    pub fn with_size(self, size: u64) -> Self {
        Self { file_size: Some(size), ..self }
    }

    /// The next frame; `None` at the end of the file or at damage ([`damage`](Self::damage) distinguishes them).
    #[inline]
    pub fn next_frame(&mut self) -> Option<Frame<'_>> {
        if self.damage.is_some() {
            return None;
        }
        let found = match &mut self.format {
            Format::Pcap(pcap) => pcap.next(&mut self.window),
            Format::Pcapng(pcapng) => pcapng.next(&mut self.window, &mut self.interfaces),
        };
        match found {
            Ok(Some(record)) => Some(self.frame(record)),
            Ok(None) => self.stop(None),
            Err(fault) => self.stop(Some(fault)),
        }
    }

    #[inline]
    fn frame(&mut self, record: Record) -> Frame<'_> {
        self.number += 1 + record.skipped;
        let mut record = record;
        let about = self.interfaces.get_mut(record.interface as usize);
        // The format reader has checked that the interface exists.
        let (link, fcs_len) = about.map_or((LinkType(u16::MAX), 0), |interface| {
            interface.frames += 1;
            if interface.pseudo_header > 0 {
                record.remove_front(interface.pseudo_header);
            }
            (interface.link, interface.fcs)
        });
        self.tally.add(record.time, record.len, record.captured as u32, record.interface);
        let bytes = self.window.before(record.total);
        Frame {
            number: self.number,
            time: record.time,
            len: record.len,
            data: &bytes[record.data..record.data + record.captured],
            interface: record.interface,
            link,
            fcs_len,
            offset: self.window.offset() - record.total as u64,
            options: Options { bytes: &bytes[record.options], order: record.order },
        }
    }

    /// Ends the reading: at the end of the file, or at damage.
    #[cold]
    fn stop(&mut self, fault: Option<Fault>) -> Option<Frame<'_>> {
        let fault = match self.window.take_error() {
            Some(error) => Some(Fault::Stream(error.to_string())),
            None if self.is_truncated() => Some(Fault::Stream("the file was truncated while it was read".to_owned())),
            None => fault,
        };
        if let Some(fault) = fault {
            self.damage = Some(Damage {
                file: self.name.clone(),
                offset: match &self.format {
                    Format::Pcap(_) => self.window.offset(),
                    Format::Pcapng(pcapng) => pcapng.block(),
                },
                frames: self.tally.packets,
                decompressed: self.compression.is_some(),
                fault,
            });
        }
        None
    }

    /// True if the file is shorter now than when it was opened.
    fn is_truncated(&self) -> bool {
        let len = self.file.as_ref().and_then(|file| file.metadata().ok()).map(|about| about.len());
        len.zip(self.file_size).is_some_and(|(now, before)| now < before)
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The interfaces described so far, through all sections.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// The sections begun so far; an empty one for a pcap file.
    pub fn sections(&self) -> &[Section] {
        match &self.format {
            Format::Pcap(_) => &self.no_sections,
            Format::Pcapng(pcapng) => pcapng.sections(),
        }
    }

    /// The damage that ended the reading; None so far or at a regular end.
    pub fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    /// Bytes of the (decompressed) capture read so far.
    pub fn offset(&self) -> u64 {
        self.window.offset()
    }

    /// Bytes of the file read so far, compressed if it is, for a progress bar; the whole is
    /// [`file_size`](Self::file_size).
    pub fn consumed(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }

    /// The file's size in bytes; `None` for a stream that has none, or whose end is not known yet.
    pub fn file_size(&self) -> Option<u64> {
        self.file_size
    }

    /// The file format.
    pub fn kind(&self) -> Kind {
        match &self.format {
            Format::Pcap(pcap) if pcap.nanoseconds() => Kind::PcapNanoseconds,
            Format::Pcap(_) => Kind::Pcap,
            Format::Pcapng(_) => Kind::Pcapng,
        }
    }

    /// Counters over the frames read so far.
    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The compression of the file.
    pub fn compression(&self) -> Option<Compression> {
        self.compression
    }

    /// The snap length that the file's header gives for all frames (pcap).
    pub fn snaplen(&self) -> Option<u32> {
        self.snaplen
    }
}

/// A description of the first bytes of an unknown file.
fn known(bytes: &[u8]) -> String {
    let begins = |magic: &[u8]| bytes.starts_with(magic);
    let what = match () {
        () if begins(b"\x7fELF") || begins(b"MZ") => "a program",
        () if begins(b"PK\x03\x04") => "a zip archive",
        () if begins(b"BZh") => "a file compressed by bzip2",
        () if begins(b"\xfd7zX") => "a file compressed by xz",
        () if begins(b"snoo") => "a snoop capture",
        () if begins(b"\x34\xcd\xb2\xa1") || begins(b"\xa1\xb2\xcd\x34") => "a capture by a patched libpcap of 1999",
        () if begins(b"TRSN") || begins(b"GMBU") || begins(b"XCP\0") => "a capture in a vendor's format",
        () if bytes.iter().take(64).all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace()) => "text",
        () => {
            let first: Vec<String> = bytes.iter().take(4).map(|b| format!("{b:02x}")).collect();
            return format!("the bytes {}", first.join(" "));
        }
    };
    what.to_owned()
}
