//! Clocks and timers.

use super::{check, owned};
use std::io::Result;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::null_mut;

/// A clock of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// Time since 1970, which the packet taps use too. It may be set.
    Wall,
    /// Time since the machine was started: it only ever goes on.
    Steady,
}

impl Clock {
    fn id(self) -> libc::clockid_t {
        match self {
            Clock::Wall => libc::CLOCK_REALTIME,
            Clock::Steady => libc::CLOCK_MONOTONIC,
        }
    }
}

/// Nanoseconds of a clock.
pub(crate) fn now(clock: Clock) -> u64 {
    // SAFETY: `t` is valid for writing.
    let t = unsafe {
        let mut t: libc::timespec = zeroed();
        libc::clock_gettime(clock.id(), &raw mut t);
        t
    };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// CPU time that this thread has used, ns.
pub(crate) fn thread_time() -> u64 {
    // SAFETY: `t` is valid for writing.
    let t = unsafe {
        let mut t: libc::timespec = zeroed();
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut t);
        t
    };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// A timer on a clock.
pub(crate) fn timer(clock: Clock) -> Result<OwnedFd> {
    // SAFETY: no arguments in memory.
    owned(unsafe { libc::timerfd_create(clock.id(), libc::TFD_NONBLOCK | libc::TFD_CLOEXEC) })
}

/// Sets the timer to a time of its clock, ns. What it told before counts no more, so it need not be read.
pub(crate) fn set_timer(timer: &OwnedFd, at: u64) -> Result<()> {
    let at = at.max(1); // 0 would stop it
    // SAFETY: `spec` is valid while the call lasts.
    unsafe {
        let mut spec: libc::itimerspec = zeroed();
        spec.it_value.tv_sec = (at / 1_000_000_000) as i64;
        spec.it_value.tv_nsec = (at % 1_000_000_000) as i64;
        let flags = libc::TFD_TIMER_ABSTIME;
        check(libc::timerfd_settime(timer.as_raw_fd(), flags, &raw const spec, null_mut())).map(drop)
    }
}
