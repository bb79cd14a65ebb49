//! Decompression that loses nothing before damage: all bytes that a decoder can give are returned before its error, and
//! the error has the place in the file. Of gzip that is every byte before the damage; of Zstandard and LZ4 every block
//! before the damaged one.

use std::io::{self, Read};

use flate2::{Decompress, FlushDecompress, Status};

/// Bytes of the file that are read at once.
const CHUNK: usize = 64 * 1024;

/// Compressed bytes.
pub(super) struct Packed<R> {
    source: R,
    buffer: Vec<u8>,
    at: usize,
    end: usize,
    /// Bytes that the decoder has taken.
    taken: u64,
    format: &'static str,
}

impl<R: Read> Packed<R> {
    pub(super) fn new(source: R, format: &'static str) -> Self {
        Self { source, buffer: vec![0; CHUNK], at: 0, end: 0, taken: 0, format }
    }

    /// The next bytes; none at the end of the file.
    pub(super) fn bytes(&mut self) -> io::Result<&[u8]> {
        if self.at == self.end {
            self.end = self.source.read(&mut self.buffer)?;
            self.at = 0;
        }
        Ok(&self.buffer[self.at..self.end])
    }

    pub(super) fn take(&mut self, n: usize) {
        self.at += n;
        self.taken += n as u64;
    }

    pub(super) fn damaged(&self, why: &str) -> io::Error {
        let Self { taken, format, .. } = self;
        let text = format!("the {format} data is damaged at or before byte {taken} of the file: {why}");
        io::Error::new(io::ErrorKind::InvalidData, text)
    }

    pub(super) fn cut(&self) -> io::Error {
        let Self { taken, format, .. } = self;
        let text = format!("the {format} data is cut after byte {taken} of the file");
        io::Error::new(io::ErrorKind::UnexpectedEof, text)
    }
}

/// The members of a gzip file [RFC 1952].
pub(super) struct Gzip<R> {
    packed: Packed<R>,
    decoder: Decompress,
    /// A member has begun and not ended.
    inside: bool,
    error: Option<io::Error>,
}

impl<R: Read> Gzip<R> {
    pub(super) fn new(source: R) -> Self {
        Self { packed: Packed::new(source, "gzip"), decoder: member(), inside: false, error: None }
    }
}

/// A decoder for one member, with the largest window (2^15 bytes).
fn member() -> Decompress {
    Decompress::new_gzip(15)
}

impl<R: Read> Read for Gzip<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if to.is_empty() {
            return Ok(0);
        }
        loop {
            if let Some(error) = self.error.take() {
                return Err(error);
            }
            let input = self.packed.bytes()?;
            let at_end = input.is_empty();
            if !self.inside {
                if at_end {
                    return Ok(0);
                }
                self.decoder = member();
                self.inside = true;
            }
            let before = (self.decoder.total_in(), self.decoder.total_out());
            let flush = if at_end { FlushDecompress::Finish } else { FlushDecompress::None };
            let status = self.decoder.decompress(input, to, flush);
            // Both are counted before an error, too.
            let given = (self.decoder.total_out() - before.1) as usize;
            self.packed.take((self.decoder.total_in() - before.0) as usize);
            match status {
                Ok(Status::StreamEnd) => self.inside = false,
                Ok(_) if at_end && given == 0 => return Err(self.packed.cut()),
                Ok(_) => {}
                Err(error) => self.error = Some(self.packed.damaged(error.message().unwrap_or("no reason"))),
            }
            if given > 0 {
                return Ok(given);
            }
        }
    }
}

/// The frames of an LZ4 file. The decoder reads exactly the bytes that it decodes, so their number is the place of
/// damage.
pub(super) struct Lz4<R: Read> {
    decoder: lz4_flex::frame::FrameDecoder<Counted<R>>,
    /// A frame has begun and not ended.
    inside: bool,
}

/// Bytes of a magic number, and of the size of a block, which is 0 at the end of a frame [LZ4 frame format, "General
/// Structure of LZ4 Frame format"].
const LZ4_WORD: u64 = 4;

/// A source that counts its bytes. It fills each buffer, so that a header is never read in parts.
pub(super) struct Counted<R> {
    pub(super) packed: Packed<R>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let mut given = 0;
        while given < to.len() {
            let bytes = self.packed.bytes()?;
            if bytes.is_empty() {
                break;
            }
            let n = bytes.len().min(to.len() - given);
            to[given..given + n].copy_from_slice(&bytes[..n]);
            self.packed.take(n);
            given += n;
        }
        Ok(given)
    }
}

impl<R: Read> Lz4<R> {
    pub(super) fn new(source: R) -> Self {
        let source = Counted { packed: Packed::new(source, "lz4") };
        Self { decoder: lz4_flex::frame::FrameDecoder::new(source), inside: false }
    }

    fn taken(&self) -> u64 {
        self.decoder.get_ref().packed.taken
    }
}

impl<R: Read> Read for Lz4<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if to.is_empty() {
            return Ok(0);
        }
        loop {
            let before = self.taken();
            let result = self.decoder.read(to);
            let packed = &self.decoder.get_ref().packed;
            match (result, packed.taken - before) {
                (Ok(0), 0) if !self.inside => return Ok(0),
                // The decoder takes these for the end of a frame: a file that ends before the size of a block or inside
                // it, and one that ends after a magic number.
                (Ok(0), n) if n < LZ4_WORD || n == LZ4_WORD && !self.inside => return Err(packed.cut()),
                // The next read continues with the next frame.
                (Ok(0), _) => self.inside = false,
                (Ok(n), _) => {
                    self.inside = true;
                    return Ok(n);
                }
                (Err(error), _) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(packed.cut()),
                (Err(error), _) => return Err(packed.damaged(&error.to_string())),
            }
        }
    }
}
