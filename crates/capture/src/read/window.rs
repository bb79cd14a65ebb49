//! The part of a file that is in memory.

use std::io::{self, Read};

/// Bytes read at once. Small enough to stay in the second-level cache between reading and dissecting.
const CHUNK: usize = 256 * 1024;

/// A window on a stream of bytes that moves forward only.
///
/// It grows beyond [`CHUNK`] only for a record that needs it, and only as its bytes arrive: a length that lies
/// costs no memory.
pub(crate) struct Window {
    source: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Offset in the stream of `buffer[start]`.
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

    /// The bytes at hand.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Has at least `need` bytes at hand, unless the stream ends (or fails) before; returns whether it has.
    #[inline]
    pub(crate) fn fill(&mut self, need: usize) -> bool {
        self.end - self.start >= need || self.refill(need)
    }

    /// Steps over `n` bytes, which must be at hand.
    #[inline]
    pub(crate) fn advance(&mut self, n: usize) {
        debug_assert!(n <= self.end - self.start);
        self.start += n;
        self.offset += n as u64;
    }

    /// The `n` bytes before the current place; they must have been stepped over since the last [`fill`](Self::fill).
    #[inline]
    pub(crate) fn before(&self, n: usize) -> &[u8] {
        &self.buffer[self.start - n..self.start]
    }

    /// Why reading stopped, if not for the end of the stream; told once.
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

    /// Steps over `n` bytes that need not be at hand; returns how many there were.
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
