//! The receive ring of a packet socket: memory shared with the kernel [Linux Documentation/networking/packet_mmap.rst].

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

    /// Returns the frame status `tp_status` at `at`.
    pub(crate) fn status(&self, at: usize) -> u32 {
        assert!(at + 4 <= self.length && at.is_multiple_of(4));
        // SAFETY: inside the mapping and aligned.
        unsafe { std::sync::atomic::AtomicU32::from_ptr(self.base.add(at).cast()) }
            .load(std::sync::atomic::Ordering::Acquire)
    }

    /// Returns the frame at `at` to the kernel (`TP_STATUS_KERNEL`).
    pub(crate) fn release(&self, at: usize) {
        assert!(at + 4 <= self.length && at.is_multiple_of(4));
        // SAFETY: inside the mapping and aligned.
        unsafe { std::sync::atomic::AtomicU32::from_ptr(self.base.add(at).cast()) }
            .store(0, std::sync::atomic::Ordering::Release);
    }

    /// Returns the bytes of a frame with `TP_STATUS_USER`; the kernel doesn't change them until the frame is released.
    pub(crate) fn bytes(&self, at: usize, length: usize) -> &[u8] {
        assert!(at + length <= self.length);
        // SAFETY: inside the mapping, and not written by the kernel while the status is TP_STATUS_USER.
        unsafe { std::slice::from_raw_parts(self.base.add(at), length) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `map`.
        unsafe { libc::munmap(self.base.cast(), self.length) };
    }
}
