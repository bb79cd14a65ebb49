//! A window of a file that is mapped, not copied: payload that nobody looks at is never fetched from memory. All unsafe
//! code of this crate is here.
//!
//! A page of a mapping whose file was cut meanwhile, or can't be read from its disk, can't be had: the processor then
//! raises SIGBUS, which ends a process. So a range of addresses is reserved for each file as long as it is read, and a
//! handler puts zeros in the place of what is missing in it; [`Mapped::broken`] tells, and reading ends there. A fault
//! anywhere else goes on to whoever handled it before.
//!
//! What remains: someone who overwrites bytes of the file in its place while a frame is looked at can have that frame read
//! half old, half new, as with any mapping; and the frame at which a cut is met may end in zeros.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::mem::zeroed;
use std::os::fd::AsRawFd;
use std::ptr::{NonNull, null_mut};
use std::slice;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use super::limits;

/// Addresses reserved for a file: room for the longest record wherever it begins.
const ROOM: usize = 2 * limits::BLOCK as usize;
/// Bytes mapped at once, where no record needs more: what the process is said to have in memory.
const STEP: usize = 4 << 20;
/// Files at a time; further ones are read.
const PLACES: usize = 64;
/// A multiple of every page size in use.
const PAGE: usize = 64 << 10;

/// What the handler has to know of a file that is mapped.
struct Place {
    /// The first of its [`ROOM`] addresses; 0: free.
    begin: AtomicUsize,
    /// Something was missing.
    broken: AtomicBool,
}

static TABLE: [Place; PLACES] =
    [const { Place { begin: AtomicUsize::new(0), broken: AtomicBool::new(false) } }; PLACES];

/// Who handled SIGBUS before.
static BEFORE: AtomicPtr<libc::sigaction> = AtomicPtr::new(null_mut());

/// Addresses that are one file's.
struct Room {
    begin: NonNull<u8>,
    place: &'static Place,
    /// They may have become somebody else's.
    lost: bool,
}

// SAFETY: the addresses are this value's alone; nothing about them belongs to a thread.
unsafe impl Send for Room {}

impl Room {
    fn reserve() -> Option<Self> {
        // SAFETY: a new range of addresses, of the kernel's choice, behind which there is nothing.
        let begin = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            libc::mmap(null_mut(), ROOM, libc::PROT_NONE, flags, -1, 0)
        };
        if begin == libc::MAP_FAILED {
            return None;
        }
        let begin = NonNull::new(begin.cast::<u8>())?;
        let at = begin.as_ptr() as usize;
        let free =
            |place: &&Place| place.begin.compare_exchange(0, at, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        let Some(place) = TABLE.iter().find(free) else {
            // SAFETY: what was reserved above.
            unsafe { libc::munmap(begin.as_ptr().cast(), ROOM) };
            return None;
        };
        place.broken.store(false, Ordering::Release);
        Some(Self { begin, place, lost: false })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.place.begin.store(0, Ordering::Release);
        if !self.lost {
            // SAFETY: what `reserve` has reserved; no slice of it outlives `self`.
            unsafe { libc::munmap(self.begin.as_ptr().cast(), ROOM) };
        }
    }
}

/// A window on a file.
pub(super) struct Mapped {
    file: File,
    room: Room,
    /// Bytes that are mapped from the room's begin on and lie within the file.
    len: usize,
}

impl Mapped {
    /// For a plain file; gives it back where it can't be mapped.
    pub(super) fn new(file: File) -> Result<Self, File> {
        let plain = file.metadata().is_ok_and(|about| about.is_file() && about.len() > 0);
        if !plain || !catch() {
            return Err(file);
        }
        let Some(room) = Room::reserve() else { return Err(file) };
        let mut new = Self { file, room, len: 0 };
        if new.turn(0, 1).is_err() {
            return Err(new.file); // a file system that can't map
        }
        Ok(new)
    }

    /// Maps the file from `offset` on, with `need` bytes if it has so many (and `need` is at most [`limits::BLOCK`] and a
    /// bit); returns where in [`bytes`](Self::bytes) `offset` is.
    pub(super) fn turn(&mut self, offset: u64, need: usize) -> io::Result<usize> {
        let into = (offset % PAGE as u64) as usize;
        let from = offset - into as u64;
        let left = self.file.metadata()?.len().saturating_sub(from);
        let len = (into + need).clamp(STEP, ROOM).min(usize::try_from(left).unwrap_or(ROOM));
        self.len = 0;
        if len > into {
            let place = libc::off_t::try_from(from).map_err(|_| io::ErrorKind::FileTooLarge)?;
            // SAFETY: within the addresses that are this value's; no slice of them lives while it is borrowed mutably.
            let got = unsafe {
                let flags = libc::MAP_SHARED | libc::MAP_FIXED | libc::MAP_POPULATE;
                let fd = self.file.as_raw_fd();
                libc::mmap(self.room.begin.as_ptr().cast(), len, libc::PROT_READ, flags, fd, place)
            };
            if got == libc::MAP_FAILED {
                let error = io::Error::last_os_error();
                self.room.lost = true; // what was there before may be gone
                return Err(error);
            }
            self.len = len;
        }
        Ok(into.min(self.len))
    }

    /// What is mapped.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: `len` bytes from `begin` on are mapped, or filled by the handler, until `self` is borrowed mutably.
        unsafe { slice::from_raw_parts(self.room.begin.as_ptr(), self.len) }
    }

    /// Begins to bring the bytes at `at` into the cache, if there are any: they will be looked at soon.
    #[inline]
    pub(super) fn fetch(&self, at: usize) {
        #[cfg(target_arch = "x86_64")]
        for line in [at, at + 64] {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            if let Some(byte) = self.bytes().get(line) {
                // SAFETY: a hint; it can't fault.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(byte).cast()) };
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = at;
    }

    /// The file has become shorter than what is mapped. The rest of its last page reads as zeros then, without a fault.
    pub(super) fn shrunk(&self, end: u64) -> bool {
        self.file.metadata().is_ok_and(|about| about.len() < end)
    }

    /// Bytes that were looked at were missing, and read as zeros.
    #[inline]
    pub(super) fn broken(&self) -> bool {
        self.room.place.broken.load(Ordering::Relaxed)
    }
}

/// Has the handler in its place; whether it is.
fn catch() -> bool {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock();
    let handler = missing as extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
    // SAFETY: structures of the system's own layout, all zero being a valid value; what was before is never freed, since
    // the handler may be looking at it.
    unsafe {
        let mut before: libc::sigaction = zeroed();
        if libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut before) != 0 {
            return false;
        }
        if before.sa_sigaction == handler as usize {
            return true;
        }
        BEFORE.store(Box::into_raw(Box::new(before)), Ordering::Release);
        let mut ours: libc::sigaction = zeroed();
        ours.sa_sigaction = handler as usize;
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGBUS, &raw const ours, null_mut()) == 0
    }
}

/// The handler: atomic loads and two system calls, all of which a signal handler may do.
extern "C" fn missing(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the kernel gives a valid `info`; addresses are only mapped over within a place of the table, which is its
    // owner's until the thread that faults there has gone on; `errno` is the thread's own and is put back.
    unsafe {
        let errno = *libc::__errno_location();
        let fault = (*info).si_code > 0;
        let at = (*info).si_addr() as usize;
        for place in &TABLE {
            let begin = place.begin.load(Ordering::Acquire);
            if !fault || begin == 0 || at.wrapping_sub(begin) >= ROOM {
                continue;
            }
            let page = at & !(libc::sysconf(libc::_SC_PAGESIZE) as usize - 1);
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
            let rest = begin + ROOM - page;
            let got = libc::mmap(page as *mut libc::c_void, rest, libc::PROT_READ, flags, -1, 0);
            if got != libc::MAP_FAILED {
                place.broken.store(true, Ordering::Release);
                *libc::__errno_location() = errno;
                return;
            }
        }
        // Not ours: whoever was there before takes it, at once when the access is tried again.
        libc::sigaction(libc::SIGBUS, BEFORE.load(Ordering::Acquire), null_mut());
        if !fault {
            libc::raise(signal);
        }
        *libc::__errno_location() = errno;
    }
}
