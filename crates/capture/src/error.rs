//! What can be wrong with a capture.

use std::fmt;
use std::io;

/// Why nothing at all could be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file can't be opened, or its first bytes can't be read.
    #[error("{file}: {source}")]
    Io {
        /// The file's name, `-` for the standard input.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// Nothing in it.
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
        /// Its first bytes, told in words where they are known.
        found: String,
        /// What can be read.
        allowed: &'static str,
    },
}

/// Where a file stops being readable, and why. All frames before it were used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The file's name.
    pub file: String,
    /// Byte offset in the (decompressed) capture at which the damaged record or block begins.
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
    #[error("the file is cut: {have} bytes of {need} are there")]
    Cut {
        /// Bytes of the record that are in the file.
        have: u64,
        /// Bytes that it needs.
        need: u64,
    },
    /// A length that can't be true.
    #[error("{what} is {value}, but only {least} to {most} is possible")]
    Length {
        /// The field.
        what: &'static str,
        /// What stands there.
        value: u64,
        /// The least that is possible.
        least: u64,
        /// The most that is possible.
        most: u64,
    },
    /// The block's two length fields differ.
    #[error("the block's length is {head} at its begin and {tail} at its end")]
    Lengths {
        /// The first.
        head: u32,
        /// The second.
        tail: u32,
    },
    /// A frame of an interface that was never described.
    #[error("a frame of interface {id}, but the section describes {known}")]
    Interface {
        /// The number in the block.
        id: u32,
        /// Number of interfaces in the section.
        known: u32,
    },
    /// A field with a value that is not defined.
    #[error("{what} is {value}, {allowed}")]
    Value {
        /// The field.
        what: &'static str,
        /// What stands there.
        value: u64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// The compressed stream is broken, or reading failed.
    #[error("reading stopped: {0}")]
    Stream(String),
}
