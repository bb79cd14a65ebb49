//! The calls of libraries that are in progress, so that one that never returns can be found.
//!
//! Each thread counts its calls: the count is odd during a call. A thread that shows the same odd count again and again
//! waits for one call. Counting costs two writes to memory that only this thread writes.
//!
//! A library can end the process, with an exit code of its choice. `exit` first destroys the calling thread's variables
//! [glibc stdlib/exit.c __run_exit_handlers]: a count that is odd at this time is a call of `exit` within a library.

use std::ffi::c_int;
use std::io::Write as _;
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

/// A thread's calls, in a variable of this thread.
struct Own(Arc<Thread>);

impl Drop for Own {
    fn drop(&mut self) {
        if self.0.count.load(Ordering::Relaxed) % 2 == 1 {
            ended_by(self.0.library.load(Ordering::Relaxed));
        }
    }
}

/// Exit code of the command line for an error.
const ERROR: c_int = 2;

unsafe extern "C" {
    fn _exit(status: c_int) -> !;
}

/// Ends the process with an error, because a library has called `exit`: its exit code could mean success.
fn ended_by(library: usize) -> ! {
    let libraries = LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner);
    let name = libraries.get(library).map_or("", String::as_str);
    let _ = writeln!(std::io::stderr(), "error: the library of '{}' has ended the process", name.escape_debug());
    // SAFETY: the function has no preconditions [POSIX _exit].
    unsafe { _exit(ERROR) }
}

static THREADS: Mutex<Vec<Weak<Thread>>> = Mutex::new(Vec::new());
static LIBRARIES: Mutex<Vec<String>> = Mutex::new(Vec::new());
static NUMBERS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static OWN: Own = {
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let own = Arc::new(Thread { number, ..Thread::default() });
        let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
        threads.retain(|thread| thread.strong_count() > 0);
        threads.push(Arc::downgrade(&own));
        Own(own)
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
        OWN.with(|Own(own)| {
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
        // No other test, which may run at the same time, has a library of this name.
        let name = "watched only here";
        let library = Library::new(name);
        let own = || calls_in_progress().into_iter().filter(|c| c.library == name).collect::<Vec<_>>();
        let (first, second) = (library.call(own), library.call(own));
        let ([first], [second]) = (&first[..], &second[..]) else { panic!("{first:?} {second:?}") };
        assert_eq!(first.thread, second.thread);
        assert_eq!(second.call, first.call + 2);
        assert!(own().is_empty());
    }
}
