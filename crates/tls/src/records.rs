//! The records of one direction: runs of equal records, from the writer to the reader.

use crate::Flight;
use crate::config::HEADER;
use std::collections::VecDeque;

/// The content of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Application data.
    Data,
    /// Anything else, with the flight that it ends.
    Overhead(Option<Flight>),
}

/// Records of one size, one after another.
#[derive(Clone, Copy, Debug)]
struct Run {
    content: Content,
    count: u64,
    /// Application bytes of each.
    data: u64,
    /// Bytes of each on the wire.
    wire: u64,
}

/// What one end writes and the other reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Direction {
    /// Records that the reader has not read whole.
    unread: VecDeque<Run>,
    /// Bytes of all records so far, and the part that the transport has.
    written: u64,
    taken: u64,
    /// Bytes of the records that were read.
    read: u64,
    /// Application bytes of the records that were read.
    pub(crate) delivered: u64,
}

impl Direction {
    pub(crate) fn push(&mut self, content: Content, count: u64, data: u64, wire: u32) {
        let wire = u64::from(wire);
        self.unread.push_back(Run { content, count, data, wire });
        self.written += count * wire;
    }

    /// Handshake messages of `bytes` in records that are not encrypted.
    pub(crate) fn plain(&mut self, bytes: u32, record: u32, last: Option<Flight>) {
        self.messages(bytes, record, HEADER, last);
    }

    /// Handshake messages of `bytes` in encrypted records.
    pub(crate) fn encrypted(&mut self, bytes: u32, record: u32, overhead: u32, last: Option<Flight>) {
        self.messages(bytes, record, overhead, last);
    }

    fn messages(&mut self, bytes: u32, record: u32, overhead: u32, last: Option<Flight>) {
        let full = (bytes - 1) / record;
        if full > 0 {
            self.push(Content::Overhead(None), full.into(), 0, record + overhead);
        }
        self.push(Content::Overhead(last), 1, 0, bytes - full * record + overhead);
    }

    pub(crate) fn change_cipher_spec(&mut self, last: Option<Flight>) {
        self.push(Content::Overhead(last), 1, 0, HEADER + 1);
    }

    /// Application data in full records and a last one.
    pub(crate) fn data(&mut self, bytes: u64, record: u32, overhead: u32) {
        let (full, rest) = (bytes / u64::from(record), (bytes % u64::from(record)) as u32);
        if full > 0 {
            self.push(Content::Data, full, record.into(), record + overhead);
        }
        if rest > 0 {
            self.push(Content::Data, 1, rest.into(), rest + overhead);
        }
    }

    pub(crate) fn take(&mut self) -> u64 {
        let new = self.written - self.taken;
        self.taken = self.written;
        new
    }

    pub(crate) fn is_taken(&self) -> bool {
        self.taken == self.written
    }

    /// Reads the records that end within the first `bytes`, up to the end of a flight, which it returns.
    pub(crate) fn read(&mut self, bytes: u64) -> Option<Flight> {
        while let Some(run) = self.unread.front_mut() {
            let whole = run.count.min(bytes.saturating_sub(self.read) / run.wire);
            self.read += whole * run.wire;
            self.delivered += whole * run.data;
            run.count -= whole;
            if run.count > 0 {
                return None;
            }
            let content = run.content;
            self.unread.pop_front();
            if let Content::Overhead(Some(flight)) = content {
                return Some(flight);
            }
        }
        None
    }
}
