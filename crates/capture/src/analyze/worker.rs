//! Runs the second stage of the analysis ([`Connections`]) on the calling thread, or on a separate thread that receives
//! the events in batches.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

use super::connections::{Connections, Event};
use super::packets::Chunk;

/// Events in a batch: about 128 KiB, so that a batch fits into the L2 cache.
const BATCH: usize = 512;
/// Maximum number of batches that wait in the channel.
const QUEUED_BATCHES: usize = 8;

/// The second stage, as the dispatcher uses it.
pub(super) enum Worker<'scope> {
    /// Processes each event at once, on the calling thread.
    Inline(Box<Connections>),
    /// Sends batches to another thread.
    Threaded(Threaded<'scope>),
}

pub(super) struct Threaded<'scope> {
    batch: Vec<Event>,
    full: SyncSender<Vec<Event>>,
    empty: Receiver<Vec<Event>>,
    chunks: Receiver<Chunk>,
    worker: ScopedJoinHandle<'scope, Connections>,
}

impl<'scope> Worker<'scope> {
    pub(super) fn new(connections: Connections, threads: usize, scope: &'scope Scope<'scope, '_>) -> Self {
        if threads < 2 {
            return Self::Inline(Box::new(connections));
        }
        let (full, work) = sync_channel(QUEUED_BATCHES);
        let (done, empty) = channel();
        let (chunk_sender, chunks) = channel();
        let worker = scope.spawn(move || consume(connections, &work, &done, &chunk_sender));
        Self::Threaded(Threaded { batch: Vec::with_capacity(BATCH), full, empty, chunks, worker })
    }

    /// Processes an event. Returns a chunk of packet rows if one is full.
    #[inline]
    pub(super) fn event(&mut self, event: Event) -> Option<Chunk> {
        match self {
            Self::Inline(connections) => {
                connections.event(&event);
                connections.full_chunk()
            }
            Self::Threaded(there) => {
                there.batch.push(event);
                if there.batch.len() == BATCH { there.send() } else { None }
            }
        }
    }

    /// Ends the analysis. Returns the connections and the remaining chunks.
    pub(super) fn finish(self) -> (Connections, Vec<Chunk>) {
        match self {
            Self::Inline(mut connections) => {
                let last = connections.finish();
                (*connections, last.into_iter().collect())
            }
            Self::Threaded(mut there) => {
                let mut chunks: Vec<Chunk> = there.send().into_iter().collect();
                let Threaded { full, chunks: more, worker, .. } = there;
                drop(full);
                let mut connections = match worker.join() {
                    Ok(connections) => connections,
                    Err(panic) => std::panic::resume_unwind(panic),
                };
                chunks.extend(more.iter());
                chunks.extend(connections.finish());
                (connections, chunks)
            }
        }
    }
}

impl Threaded<'_> {
    fn send(&mut self) -> Option<Chunk> {
        let next = self.empty.try_recv().unwrap_or_else(|_| Vec::with_capacity(BATCH));
        // Sending fails only if the worker has panicked; joining it then reports the panic.
        let _ = self.full.send(std::mem::replace(&mut self.batch, next));
        self.chunks.try_recv().ok()
    }
}

fn consume(
    mut connections: Connections,
    work: &Receiver<Vec<Event>>,
    done: &Sender<Vec<Event>>,
    chunk_sender: &Sender<Chunk>,
) -> Connections {
    for mut batch in work {
        for event in &batch {
            connections.event(event);
        }
        if let Some(chunk) = connections.full_chunk() {
            let _ = chunk_sender.send(chunk);
        }
        batch.clear();
        let _ = done.send(batch);
    }
    connections
}
