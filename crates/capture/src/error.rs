//! Errors of capture files: no frame can be read ([`Error`]), or the frames end early ([`Damage`]). Messages
//! have the offset of the damaged record or block.

use std::fmt;
use std::io;

/// The reason that no frame can be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file can't be opened, or its first bytes can't be read.
    #[error("{file}: {source}")]
    Io {
        /// The file's name, `-` for the standard input.
        file: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// The file has no bytes.
    #[error("{file}: the file is empty; a pcap or pcapng file is needed")]
    Empty {
        /// The file's name.
        file: String,
    },
    /// Neither pcap nor pcapng.
    #[error(
        "{file}: not a capture: it begins with {found}; pcap and pcapng can be read, plain or as gzip, zstd or lz4"
    )]
    Format {
        /// The file's name.
        file: String,
        /// Its first bytes, or the name of their format.
        found: String,
        /// The formats that can be read.
        allowed: &'static str,
    },
}

/// Position and kind of the damage that ends the reading of a file. All frames before it were used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The file's name.
    pub file: String,
    /// Byte offset in the (decompressed) capture of the start of the damaged record or block.
    pub offset: u64,
    /// Frames read before it.
    pub frames: u64,
    /// The file is compressed: `offset` counts decompressed bytes.
    pub decompressed: bool,
    /// The kind of damage.
    pub fault: Fault,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = if self.decompressed { " (decompressed)" } else { "" };
        let Self { file, offset, frames, fault, .. } = self;
        write!(f, "{file}: damaged at byte {offset}{of}, after frame {frames}: {fault}")
    }
}

/// A kind of damage.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The file ends inside a record or block.
    #[error("the file is cut: {have} bytes of {need} are present")]
    Cut {
        /// Bytes of the record that are in the file.
        have: u64,
        /// Bytes that it needs.
        need: u64,
    },
    /// A length outside the possible range.
    #[error("{what} is {value}, but only {least} to {most} is possible")]
    Length {
        /// The field.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The minimum.
        least: u64,
        /// The most that is possible.
        most: u64,
    },
    /// The block's two length fields differ.
    #[error("the block's length is {head} at its start and {tail} at its end")]
    Lengths {
        /// The first.
        head: u32,
        /// The second.
        tail: u32,
    },
    /// A frame of an interface that the section does not describe.
    #[error("a frame of interface {id}, but the section describes {known}")]
    Interface {
        /// The number in the block.
        id: u32,
        /// Number of interfaces in the section.
        known: u32,
    },
    /// A field with an undefined value.
    #[error("{what} is {value}, {allowed}")]
    Value {
        /// The field.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The defined values.
        allowed: &'static str,
    },
    /// The compressed stream is corrupt, or a read failed.
    #[error("reading stopped: {0}")]
    Stream(String),
}
