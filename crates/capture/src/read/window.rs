//! The part of a file that is in memory.

use std::io::{self, Read};

#[cfg(target_os = "linux")]
use super::map::Mapped;

/// Bytes read at once. Small enough to stay in the second-level cache between reading and dissecting.
const CHUNK: usize = 256 * 1024;

/// A window on a stream of bytes that moves forward only.
///
/// It grows beyond [`CHUNK`] only for a record that needs it, and only as its bytes arrive: a length that lies
/// costs no memory.
pub(crate) struct Window {
    hold: Hold,
    start: usize,
    end: usize,
    /// Offset in the stream of `start`.
    offset: u64,
    finished: bool,
    error: Option<io::Error>,
}

/// Where the bytes come from.
enum Hold {
    /// A stream, whose bytes are copied.
    Stream { source: Box<dyn Read + Send>, buffer: Vec<u8> },
    /// A file.
    #[cfg(target_os = "linux")]
    Mapped(Mapped),
}

impl Window {
    pub(crate) fn new(source: Box<dyn Read + Send>) -> Self {
        Self::on(Hold::Stream { source, buffer: vec![0; CHUNK] })
    }

    /// On a file that isn't copied.
    #[cfg(target_os = "linux")]
    pub(crate) fn mapped(file: Mapped) -> Self {
        Self::on(Hold::Mapped(file))
    }

    fn on(hold: Hold) -> Self {
        Self { hold, start: 0, end: 0, offset: 0, finished: false, error: None }
    }

    /// All that is held.
    #[inline]
    fn held(&self) -> &[u8] {
        match &self.hold {
            Hold::Stream { buffer, .. } => buffer,
            #[cfg(target_os = "linux")]
            Hold::Mapped(mapped) => mapped.bytes(),
        }
    }

    /// Offset in the stream of the first byte of [`bytes`](Self::bytes).
    #[inline]
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The bytes at hand.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.held()[self.start..self.end]
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
        &self.held()[self.start - n..self.start]
    }

    /// Says that the bytes `n` from the current place on will be asked for soon.
    #[inline]
    pub(crate) fn expect(&self, n: usize) {
        #[cfg(target_os = "linux")]
        if let Hold::Mapped(mapped) = &self.hold {
            mapped.fetch(self.start + n);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = n;
    }

    /// Some of the bytes that were given weren't in the file any more; an error says so.
    #[inline]
    pub(crate) fn broken(&self) -> bool {
        match &self.hold {
            Hold::Stream { .. } => false,
            #[cfg(target_os = "linux")]
            Hold::Mapped(mapped) => mapped.broken(),
        }
    }

    /// The file has become shorter than it was: bytes at hand may be zeros that were never in it.
    #[cold]
    pub(crate) fn shrunk(&self) -> bool {
        match &self.hold {
            Hold::Stream { .. } => false,
            #[cfg(target_os = "linux")]
            Hold::Mapped(mapped) => mapped.shrunk(self.offset + self.bytes().len() as u64),
        }
    }

    /// Why reading stopped, if not for the end of the stream; told once.
    pub(crate) fn take_error(&mut self) -> Option<io::Error> {
        if !self.finished && (self.broken() || self.shrunk()) {
            self.finished = true;
            return Some(io::Error::other("the file was cut while it was read, or its disk fails"));
        }
        self.error.take()
    }

    #[cold]
    fn refill(&mut self, need: usize) -> bool {
        let (source, buffer) = match &mut self.hold {
            Hold::Stream { source, buffer } => (source, buffer),
            #[cfg(target_os = "linux")]
            Hold::Mapped(mapped) => {
                match mapped.turn(self.offset, need) {
                    Ok(start) => self.start = start,
                    Err(error) => (self.start, self.error) = (0, Some(error)),
                }
                self.end = mapped.bytes().len();
                return self.end - self.start >= need;
            }
        };
        buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while self.end < need && !self.finished {
            if self.end == buffer.len() {
                buffer.resize((2 * self.end).min(need.max(CHUNK)), 0);
            }
            match source.read(&mut buffer[self.end..]) {
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
