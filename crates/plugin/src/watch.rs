//! The calls of libraries that are in progress, so that one that never returns can be found.
//!
//! Each thread counts its calls: the count is odd during a call. A thread that shows the same odd count again and again
//! waits for one call. Counting costs two writes to memory that only this thread writes.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The calls of one thread.
#[derive(Debug, Default)]
struct Thread {
    /// Its number, from 0.
    number: u64,
    /// Begun and ended calls.
    count: AtomicU64,
    /// The library of the last call.
    library: AtomicUsize,
}

static THREADS: Mutex<Vec<Weak<Thread>>> = Mutex::new(Vec::new());
static LIBRARIES: Mutex<Vec<String>> = Mutex::new(Vec::new());
static NUMBERS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static OWN: Arc<Thread> = {
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let own = Arc::new(Thread { number, ..Thread::default() });
        let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
        threads.retain(|thread| thread.strong_count() > 0);
        threads.push(Arc::downgrade(&own));
        own
    };
}

/// A library whose calls are watched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Library(usize);

impl Library {
    pub(crate) fn new(name: &str) -> Library {
        let mut libraries = LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner);
        libraries.push(name.to_owned());
        Library(libraries.len() - 1)
    }

    /// Makes a call.
    pub(crate) fn call<T>(self, call: impl FnOnce() -> T) -> T {
        OWN.with(|own| {
            let before = own.count.load(Ordering::Relaxed);
            own.library.store(self.0, Ordering::Relaxed);
            own.count.store(before + 1, Ordering::Release);
            let result = call();
            own.count.store(before + 2, Ordering::Release);
            result
        })
    }
}

/// A call in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallInProgress {
    /// The thread's number.
    pub thread: u64,
    /// The number of the call: another call of the thread has another one.
    pub call: u64,
    /// The name of the variant or discipline.
    pub library: String,
}

/// Returns the calls in progress, of all threads.
#[must_use]
pub fn calls_in_progress() -> Vec<CallInProgress> {
    let threads: Vec<_> = {
        let threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
        threads.iter().filter_map(Weak::upgrade).collect()
    };
    let libraries = LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner);
    let running = threads.iter().filter_map(|thread| {
        let call = thread.count.load(Ordering::Acquire);
        let library = libraries.get(thread.library.load(Ordering::Relaxed))?.clone();
        (call % 2 == 1).then_some(CallInProgress { thread: thread.number, call, library })
    });
    running.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_seen_while_it_lasts() {
        let library = Library::new("mine");
        let own = || calls_in_progress().into_iter().filter(|c| c.library == "mine").collect::<Vec<_>>();
        let (first, second) = (library.call(own), library.call(own));
        let ([first], [second]) = (&first[..], &second[..]) else { panic!("{first:?} {second:?}") };
        assert_eq!(first.thread, second.thread);
        assert_eq!(second.call, first.call + 2);
        assert!(own().is_empty());
    }
}
