//! Memory shared with the kernel: the ring of a packet socket.

use std::io::{Error, Result};
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::null_mut;

/// The ring of a packet socket.
pub(crate) struct Ring {
    base: *mut u8,
    length: usize,
}

impl Ring {
    /// Maps `length` bytes of `fd`'s ring.
    pub(crate) fn map(fd: &OwnedFd, length: usize) -> Result<Ring> {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        // SAFETY: a fresh mapping, at an address that the kernel chooses.
        let base = unsafe { libc::mmap(null_mut(), length, protection, flags, fd.as_raw_fd(), 0) };
        if base == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        Ok(Ring { base: base.cast(), length })
    }

    /// The word at `at` that the kernel and we hand frames over by.
    pub(crate) fn status(&self, at: usize) -> u32 {
        assert!(at + 4 <= self.length && at.is_multiple_of(4));
        // SAFETY: inside the mapping and aligned.
        unsafe { std::sync::atomic::AtomicU32::from_ptr(self.base.add(at).cast()) }
            .load(std::sync::atomic::Ordering::Acquire)
    }

    /// Gives the frame at `at` back to the kernel.
    pub(crate) fn release(&self, at: usize) {
        assert!(at + 4 <= self.length && at.is_multiple_of(4));
        // SAFETY: inside the mapping and aligned.
        unsafe { std::sync::atomic::AtomicU32::from_ptr(self.base.add(at).cast()) }
            .store(0, std::sync::atomic::Ordering::Release);
    }

    /// The bytes of a frame that the kernel has handed over; it doesn't touch them until they are released.
    pub(crate) fn bytes(&self, at: usize, length: usize) -> &[u8] {
        assert!(at + length <= self.length);
        // SAFETY: inside the mapping, and ours while the status says so.
        unsafe { std::slice::from_raw_parts(self.base.add(at), length) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `map`.
        unsafe { libc::munmap(self.base.cast(), self.length) };
    }
}
