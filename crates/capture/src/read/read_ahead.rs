//! Read-ahead: a separate thread decompresses while the caller processes earlier frames.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Bytes of a chunk.
const CHUNK: usize = 256 * 1024;
/// Most chunks between the two threads.
const WAITING: usize = 4;

/// Reads its source in a thread, which ends at the end of the source or when this value is dropped.
pub(super) struct ReadAhead {
    chunks: Receiver<io::Result<Vec<u8>>>,
    /// Used chunks are returned to the thread, so that it does not allocate again.
    used: SyncSender<Vec<u8>>,
    chunk: Vec<u8>,
    at: usize,
}

impl ReadAhead {
    pub(super) fn new(mut source: impl Read + Send + 'static) -> Self {
        let (send, chunks) = sync_channel(WAITING);
        let (used, back) = sync_channel::<Vec<u8>>(WAITING + 2);
        thread::spawn(move || {
            loop {
                let mut chunk = back.try_recv().unwrap_or_default();
                chunk.resize(CHUNK, 0);
                let (have, error) = fill(&mut source, &mut chunk);
                chunk.truncate(have);
                let last = have < CHUNK;
                if have > 0 && send.send(Ok(chunk)).is_err() {
                    return;
                }
                if let Some(e) = error {
                    let _ = send.send(Err(e));
                }
                if last {
                    return;
                }
            }
        });
        Self { chunks, used, chunk: Vec::new(), at: 0 }
    }
}

/// Fills `to` up to the end of the source. Returns the number of bytes, and the error if one ended the reading.
fn fill(source: &mut impl Read, to: &mut [u8]) -> (usize, Option<io::Error>) {
    let mut have = 0;
    while have < to.len() {
        match source.read(&mut to[have..]) {
            Ok(0) => break,
            Ok(n) => have += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return (have, Some(e)),
        }
    }
    (have, None)
}

impl Read for ReadAhead {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.at == self.chunk.len() {
            let done = std::mem::take(&mut self.chunk);
            self.at = 0;
            // Fails if the thread has ended.
            let _ = self.used.try_send(done);
            match self.chunks.recv() {
                Ok(Ok(chunk)) => self.chunk = chunk,
                Ok(Err(e)) => return Err(e),
                Err(_) => return Ok(0),
            }
        }
        let n = to.len().min(self.chunk.len() - self.at);
        to[..n].copy_from_slice(&self.chunk[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}
