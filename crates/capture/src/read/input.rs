//! From a file, the standard input or any stream to the bytes of the capture: decompressed if it is compressed.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::read_ahead::ReadAhead;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compression {
    /// gzip, also several members one after another.
    Gzip,
    /// Zstandard.
    Zstd,
    /// LZ4 in its frame format.
    Lz4,
}

impl Compression {
    /// Its name as Wireshark writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Lz4 => "lz4",
        }
    }
}

/// A stream that tells how many bytes of the file were read: what a progress bar needs.
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

/// A stream with its compression taken off.
pub(super) struct Input {
    pub(super) stream: Box<dyn Read + Send>,
    pub(super) compression: Option<Compression>,
    /// Bytes of the file read so far.
    pub(super) consumed: Arc<AtomicU64>,
}

/// How a stream that begins with `head` (four bytes, if it has so many) is compressed.
pub(super) fn compression(head: &[u8]) -> Option<Compression> {
    match *head {
        [0x1f, 0x8b, ..] => Some(Compression::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd] => Some(Compression::Zstd),
        // Skippable frames, with which a file of either format may begin; zstd's tools write them.
        [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Some(Compression::Zstd),
        [0x04, 0x22, 0x4d, 0x18] => Some(Compression::Lz4),
        _ => None,
    }
}

/// Looks at the first bytes of `source` and puts a decompressor before it if they ask for one.
pub(super) fn open(source: Box<dyn Read + Send>) -> io::Result<Input> {
    let consumed = Arc::new(AtomicU64::new(0));
    let mut source = Counted { source, count: consumed.clone() };
    let mut head = Vec::with_capacity(4);
    source.by_ref().take(4).read_to_end(&mut head)?;
    let compression = compression(&head);
    let whole = io::Cursor::new(head).chain(source);
    let stream: Box<dyn Read + Send> = match compression {
        None => Box::new(whole),
        Some(Compression::Gzip) => Box::new(ReadAhead::new(flate2::read::MultiGzDecoder::new(whole))),
        Some(Compression::Zstd) => Box::new(ReadAhead::new(zstd::Decoder::new(whole)?)),
        Some(Compression::Lz4) => Box::new(ReadAhead::new(Lz4::new(whole))),
    };
    Ok(Input { stream, compression, consumed })
}

/// LZ4 frames one after another, as a concatenation of files has them.
struct Lz4<R: Read> {
    decoder: lz4_flex::frame::FrameDecoder<R>,
    /// The current frame has given bytes.
    begun: bool,
}

impl<R: Read> Lz4<R> {
    fn new(source: R) -> Self {
        Self { decoder: lz4_flex::frame::FrameDecoder::new(source), begun: false }
    }
}

impl<R: Read> Read for Lz4<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.decoder.read(to)?;
            if n > 0 || to.is_empty() {
                self.begun = true;
                return Ok(n);
            }
            // The decoder says 0 at the end of each frame and goes on with the next.
            if !std::mem::take(&mut self.begun) {
                return Ok(0);
            }
        }
    }
}
