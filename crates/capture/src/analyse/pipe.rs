//! The back of the analysis, on this thread or on one of its own.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

use super::back::{Back, Event};
use super::packets::Chunk;

/// Events handed over at once: about 128 KiB, so that they pass through the second-level cache.
const BATCH: usize = 512;
/// Batches under way.
const UNDER_WAY: usize = 8;

/// Where the front's events go.
pub(super) enum Pipe<'scope> {
    /// At once.
    Here(Box<Back>),
    /// In batches, to another thread.
    There(There<'scope>),
}

pub(super) struct There<'scope> {
    batch: Vec<Event>,
    full: SyncSender<Vec<Event>>,
    empty: Receiver<Vec<Event>>,
    chunks: Receiver<Chunk>,
    worker: ScopedJoinHandle<'scope, Back>,
}

impl<'scope> Pipe<'scope> {
    pub(super) fn new(back: Back, threads: usize, scope: &'scope Scope<'scope, '_>) -> Self {
        if threads < 2 {
            return Self::Here(Box::new(back));
        }
        let (full, work) = sync_channel(UNDER_WAY);
        let (done, empty) = channel();
        let (hand_on, chunks) = channel();
        let worker = scope.spawn(move || consume(back, &work, &done, &hand_on));
        Self::There(There { batch: Vec::with_capacity(BATCH), full, empty, chunks, worker })
    }

    /// Hands an event on; a full chunk of packet rows may come back.
    #[inline]
    pub(super) fn event(&mut self, event: Event) -> Option<Chunk> {
        match self {
            Self::Here(back) => {
                back.event(&event);
                back.full_chunk()
            }
            Self::There(there) => {
                there.batch.push(event);
                if there.batch.len() == BATCH { there.send() } else { None }
            }
        }
    }

    /// Ends the analysis; the chunks that are left come back.
    pub(super) fn finish(self) -> (Back, Vec<Chunk>) {
        match self {
            Self::Here(mut back) => {
                let last = back.finish();
                (*back, last.into_iter().collect())
            }
            Self::There(mut there) => {
                let mut chunks: Vec<Chunk> = there.send().into_iter().collect();
                let There { full, chunks: more, worker, .. } = there;
                drop(full);
                let mut back = match worker.join() {
                    Ok(back) => back,
                    Err(panic) => std::panic::resume_unwind(panic),
                };
                chunks.extend(more.iter());
                chunks.extend(back.finish());
                (back, chunks)
            }
        }
    }
}

impl There<'_> {
    fn send(&mut self) -> Option<Chunk> {
        let next = self.empty.try_recv().unwrap_or_else(|_| Vec::with_capacity(BATCH));
        // It fails only if the worker has panicked: that shows when it is joined.
        let _ = self.full.send(std::mem::replace(&mut self.batch, next));
        self.chunks.try_recv().ok()
    }
}

fn consume(
    mut back: Back,
    work: &Receiver<Vec<Event>>,
    done: &Sender<Vec<Event>>,
    hand_on: &Sender<Chunk>,
) -> Back {
    for mut batch in work {
        for event in &batch {
            back.event(event);
        }
        if let Some(chunk) = back.full_chunk() {
            let _ = hand_on.send(chunk);
        }
        batch.clear();
        let _ = done.send(batch);
    }
    back
}
