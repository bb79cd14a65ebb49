//! The back of the analysis, on this thread or on one of its own.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

use super::connections::{Connections, Event};
use super::packets::Chunk;

/// Events handed over at once: about 128 KiB, so that they pass through the second-level cache.
const BATCH: usize = 512;
/// Batches under way.
const UNDER_WAY: usize = 8;

/// Where the front's events go.
pub(super) enum Worker<'scope> {
    /// At once.
    Inline(Box<Connections>),
    /// In batches, to another thread.
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
        let (full, work) = sync_channel(UNDER_WAY);
        let (done, empty) = channel();
        let (hand_on, chunks) = channel();
        let worker = scope.spawn(move || consume(connections, &work, &done, &hand_on));
        Self::Threaded(Threaded { batch: Vec::with_capacity(BATCH), full, empty, chunks, worker })
    }

    /// Hands an event on; a full chunk of packet rows may come connections.
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

    /// Ends the analysis; the chunks that are left come connections.
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
        // It fails only if the worker has panicked: that shows when it is joined.
        let _ = self.full.send(std::mem::replace(&mut self.batch, next));
        self.chunks.try_recv().ok()
    }
}

fn consume(
    mut connections: Connections,
    work: &Receiver<Vec<Event>>,
    done: &Sender<Vec<Event>>,
    hand_on: &Sender<Chunk>,
) -> Connections {
    for mut batch in work {
        for event in &batch {
            connections.event(event);
        }
        if let Some(chunk) = connections.full_chunk() {
            let _ = hand_on.send(chunk);
        }
        batch.clear();
        let _ = done.send(batch);
    }
    connections
}
