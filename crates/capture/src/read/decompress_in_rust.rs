//! Decompression of Zstandard in Rust, for WebAssembly.

use std::io::{self, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::decompress::{Counted, Packed};

/// The frames of a Zstandard file [RFC 8878]. Before damage, the blocks that are still in the decoder's window are
/// lost: the reference decoder gives them.
pub(super) struct Zstd<R> {
    source: Counted<R>,
    decoder: FrameDecoder,
    /// A frame has begun and not ended.
    inside: bool,
}

impl<R: Read> Zstd<R> {
    pub(super) fn new(source: R) -> io::Result<Self> {
        let source = Counted { packed: Packed::new(source, "zstd") };
        Ok(Self { source, decoder: FrameDecoder::new(), inside: false })
    }

    /// The error of a decoder: a cut file if all bytes are read.
    fn failed(&mut self, error: &FrameDecoderError) -> io::Error {
        match self.source.packed.bytes() {
            Err(error) => error,
            Ok([]) => self.source.packed.cut(),
            Ok(_) => self.source.packed.damaged(&error.to_string()),
        }
    }

    /// Begins the next frame, or passes over one that has no data [RFC 8878 §3.1.2].
    fn begin(&mut self) -> io::Result<()> {
        match self.decoder.reset(&mut self.source) {
            Ok(()) => self.inside = true,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                io::copy(&mut self.source.by_ref().take(length.into()), &mut io::sink())?;
            }
            Err(error) => return Err(self.failed(&error)),
        }
        Ok(())
    }
}

impl<R: Read> Read for Zstd<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if to.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.inside {
                if self.source.packed.bytes()?.is_empty() {
                    return Ok(0);
                }
                self.begin()?;
                continue;
            }
            let given = self.decoder.read(to)?;
            if given > 0 {
                return Ok(given);
            }
            if self.decoder.is_finished() {
                self.inside = false;
            } else if let Err(error) =
                self.decoder.decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
            {
                return Err(self.failed(&error));
            }
        }
    }
}
