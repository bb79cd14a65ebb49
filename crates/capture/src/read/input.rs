//! Opens a stream: detects gzip, Zstandard and LZ4 by their magic numbers (RFC 1952, RFC 8878, LZ4 frame format) and
//! decompresses them in a second thread (on the calling thread in WebAssembly, which has one).

use dumbbell_units::named;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::decompress::{Gzip, Lz4};
#[cfg(target_family = "wasm")]
use super::decompress_in_rust::Zstd;
#[cfg(not(target_family = "wasm"))]
use super::decompress_zstd::Zstd;
#[cfg(not(target_family = "wasm"))]
use super::read_ahead::ReadAhead;

named! {
    /// A compression format, with its name in Wireshark.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Compression {
        /// gzip, also with several members.
        Gzip = "gzip",
        /// Zstandard.
        Zstd = "zstd",
        /// LZ4 in its frame format.
        Lz4 = "lz4",
    }
}

/// A stream that counts the bytes read from it, for a progress bar.
struct Counted<R> {
    source: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read(to)?;
        self.count.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// A decompressed stream.
pub(super) struct Input {
    pub(super) stream: Box<dyn Read + Send>,
    pub(super) compression: Option<Compression>,
    /// Bytes of the file read so far.
    pub(super) consumed: Arc<AtomicU64>,
}

/// The compression of a stream with these first four bytes (or fewer).
pub(super) fn compression(head: &[u8]) -> Option<Compression> {
    match *head {
        [0x1f, 0x8b, ..] => Some(Compression::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd] => Some(Compression::Zstd),
        // Skippable frames; a file of either format may begin with one, and the tools of zstd write them.
        [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Some(Compression::Zstd),
        [0x04, 0x22, 0x4d, 0x18] => Some(Compression::Lz4),
        _ => None,
    }
}

/// Reads the first bytes of `source` and adds a decompressor if the stream is compressed.
pub(super) fn open(source: Box<dyn Read + Send>) -> io::Result<Input> {
    let consumed = Arc::new(AtomicU64::new(0));
    let mut source = Counted { source, count: consumed.clone() };
    let mut head = Vec::with_capacity(4);
    source.by_ref().take(4).read_to_end(&mut head)?;
    let compression = compression(&head);
    let whole = io::Cursor::new(head).chain(source);
    let stream: Box<dyn Read + Send> = match compression {
        None => Box::new(whole),
        Some(Compression::Gzip) => ahead(Gzip::new(whole)),
        Some(Compression::Zstd) => ahead(Zstd::new(whole)?),
        Some(Compression::Lz4) => ahead(Lz4::new(whole)),
    };
    Ok(Input { stream, compression, consumed })
}

/// Decompresses in a second thread.
#[cfg(not(target_family = "wasm"))]
fn ahead(stream: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    Box::new(ReadAhead::new(stream))
}

#[cfg(target_family = "wasm")]
fn ahead(stream: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    Box::new(stream)
}
