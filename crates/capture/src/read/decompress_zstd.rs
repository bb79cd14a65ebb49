//! Decompression of Zstandard by its reference decoder.

use std::io::{self, Read};

use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

use super::decompress::Packed;

/// The frames of a Zstandard file [RFC 8878]. The decoder gives nothing of a call that fails, so each call decodes one
/// block.
pub(super) struct Zstd<R> {
    packed: Packed<R>,
    decoder: Decoder<'static>,
    /// Bytes to the end of the current block and of the header of the next, as the decoder reports them.
    wanted: usize,
    /// A frame has begun and not ended.
    inside: bool,
    /// The decoder may have more bytes of the last block.
    pending: bool,
}

/// Bytes of the header of a block [RFC 8878 §3.1.1.2].
const BLOCK_HEADER: usize = 3;
/// Bytes of a frame that show the length of its header [zstd.h `ZSTD_FRAMEHEADERSIZE_PREFIX`].
const FRAME_START: usize = 5;

impl<R: Read> Zstd<R> {
    pub(super) fn new(source: R) -> io::Result<Self> {
        let packed = Packed::new(source, "zstd");
        Ok(Self { packed, decoder: Decoder::new()?, wanted: FRAME_START, inside: false, pending: false })
    }
}

impl<R: Read> Read for Zstd<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if to.is_empty() {
            return Ok(0);
        }
        loop {
            // Without the header of the next block, whose damage would cost this block.
            let wanted = if self.wanted > BLOCK_HEADER { self.wanted - BLOCK_HEADER } else { self.wanted };
            let input = if self.pending { &[] } else { self.packed.bytes()? };
            if input.is_empty() && !self.pending {
                return if self.inside { Err(self.packed.cut()) } else { Ok(0) };
            }
            let mut input = InBuffer::around(&input[..input.len().min(wanted)]);
            let mut output = OutBuffer::around(to);
            let result = self.decoder.run(&mut input, &mut output);
            let (taken, given) = (input.pos(), output.pos());
            self.packed.take(taken);
            let left = result.map_err(|error| self.packed.damaged(&error.to_string()))?;
            self.inside = left > 0;
            self.wanted = if left > 0 { left } else { FRAME_START };
            self.pending = given == to.len();
            if given > 0 {
                return Ok(given);
            }
        }
    }
}
