//! The part of a file that is in memory.
//!
//! Files are read into a buffer, not mapped. A mapping saves the copy of payload that nothing reads, but a page of a
//! file that another program truncates raises SIGBUS, which ends a process unless it has a handler, and a Python
//! extension must not replace handlers of its process. The copy costs less than the page faults of a mapping in most
//! cases (`docs/reference/capture-files.md` has the figures).

use std::io::{self, Read};

/// Bytes read at once. Small enough that they are still in the second-level cache when they are dissected.
const CHUNK: usize = 256 * 1024;

/// A window on a stream of bytes that moves forward only.
///
/// It grows beyond [`CHUNK`] only for a record that needs it, and only as its bytes arrive: a false length in a file
/// costs no memory.
pub(crate) struct Window {
    source: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Offset of `start` in the stream.
    offset: u64,
    finished: bool,
    error: Option<io::Error>,
}

impl Window {
    pub(crate) fn new(source: Box<dyn Read + Send>) -> Self {
        Self { source, buffer: vec![0; CHUNK], start: 0, end: 0, offset: 0, finished: false, error: None }
    }

    /// Offset in the stream of the first byte of [`bytes`](Self::bytes).
    #[inline]
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The bytes in memory from the current position on.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Reads until at least `need` bytes are in memory. Returns false if the stream ends or fails before.
    #[inline]
    pub(crate) fn fill(&mut self, need: usize) -> bool {
        self.end - self.start >= need || self.refill(need)
    }

    /// Moves forward by `n` bytes, which must be in memory.
    #[inline]
    pub(crate) fn advance(&mut self, n: usize) {
        debug_assert!(n <= self.end - self.start);
        self.start += n;
        self.offset += n as u64;
    }

    /// The `n` bytes before the current position; the window must have passed them since the last
    /// [`fill`](Self::fill).
    #[inline]
    pub(crate) fn before(&self, n: usize) -> &[u8] {
        &self.buffer[self.start - n..self.start]
    }

    /// The error that ended the reading, if the stream did not just end; returned once.
    pub(crate) fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    #[cold]
    fn refill(&mut self, need: usize) -> bool {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while self.end < need && !self.finished {
            if self.end == self.buffer.len() {
                self.buffer.resize((2 * self.end).min(need.max(CHUNK)), 0);
            }
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.finished = true,
                Ok(n) => self.end += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    self.finished = true;
                    self.error = Some(e);
                }
            }
        }
        self.end >= need
    }

    /// Skips `n` bytes, which need not be in memory. Returns how many the stream had.
    pub(crate) fn skip(&mut self, n: u64) -> u64 {
        let mut left = n;
        while left > 0 && self.fill(1) {
            let step = left.min((self.end - self.start) as u64);
            self.advance(step as usize);
            left -= step;
        }
        n - left
    }
}
