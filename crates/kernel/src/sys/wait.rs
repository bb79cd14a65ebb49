//! Waiting for descriptors with epoll, edge-triggered [epoll(7)].

use super::{check, owned};
use std::io::Result;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// Makes an epoll instance.
pub(crate) fn epoll() -> Result<OwnedFd> {
    // SAFETY: no arguments in memory.
    owned(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })
}

/// Reports `events` of `fd`, edge-triggered, as `token`.
pub(crate) fn epoll_add(epoll: &OwnedFd, fd: RawFd, events: i32, token: u64) -> Result<()> {
    let mut event = libc::epoll_event { events: (events | libc::EPOLLET) as u32, u64: token };
    // SAFETY: `event` is valid while the call lasts.
    check(unsafe { libc::epoll_ctl(epoll.as_raw_fd(), libc::EPOLL_CTL_ADD, fd, &raw mut event) }).map(drop)
}

/// Waits without a timeout; returns (token, events).
pub(crate) fn epoll_wait(epoll: &OwnedFd, into: &mut Vec<(u64, u32)>) -> Result<()> {
    wait(epoll, into, -1)
}

/// Returns (token, events) without waiting.
pub(crate) fn epoll_poll(epoll: &OwnedFd, into: &mut Vec<(u64, u32)>) -> Result<()> {
    wait(epoll, into, 0)
}

fn wait(epoll: &OwnedFd, into: &mut Vec<(u64, u32)>, limit_ms: i32) -> Result<()> {
    const MAX_EVENTS: usize = 64;
    // SAFETY: the array holds MAX_EVENTS events; only those that the kernel has filled in are read.
    unsafe {
        let mut events: [libc::epoll_event; MAX_EVENTS] = zeroed();
        into.clear();
        let n = match check(libc::epoll_wait(epoll.as_raw_fd(), events.as_mut_ptr(), MAX_EVENTS as i32, limit_ms)) {
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => return Ok(()),
            other => other?,
        };
        into.extend(events[..n as usize].iter().map(|e| (e.u64, e.events)));
    }
    Ok(())
}
