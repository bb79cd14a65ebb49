//! Clocks and timers [clock_gettime(2), timerfd_create(2)].

use super::{check, owned};
use std::io::Result;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::null_mut;

/// A clock of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// CLOCK_REALTIME, which also stamps captured packets. It can be set.
    Wall,
    /// CLOCK_MONOTONIC.
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

/// Returns the time of a clock, ns.
pub(crate) fn now(clock: Clock) -> u64 {
    // SAFETY: `t` is valid for writing.
    let t = unsafe {
        let mut t: libc::timespec = zeroed();
        libc::clock_gettime(clock.id(), &raw mut t);
        t
    };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Returns the CPU time of this thread, ns.
pub(crate) fn thread_time() -> u64 {
    // SAFETY: `t` is valid for writing.
    let t = unsafe {
        let mut t: libc::timespec = zeroed();
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut t);
        t
    };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Makes a timer on a clock.
pub(crate) fn timer(clock: Clock) -> Result<OwnedFd> {
    // SAFETY: no arguments in memory.
    owned(unsafe { libc::timerfd_create(clock.id(), libc::TFD_NONBLOCK | libc::TFD_CLOEXEC) })
}

/// Arms the timer for a time of its clock, ns. Arming discards earlier expirations, so it need not be read.
pub(crate) fn set_timer(timer: &OwnedFd, at: u64) -> Result<()> {
    let at = at.max(1); // 0 would disarm it
    // SAFETY: `spec` is valid while the call lasts.
    unsafe {
        let mut spec: libc::itimerspec = zeroed();
        spec.it_value.tv_sec = (at / 1_000_000_000) as i64;
        spec.it_value.tv_nsec = (at % 1_000_000_000) as i64;
        let flags = libc::TFD_TIMER_ABSTIME;
        check(libc::timerfd_settime(timer.as_raw_fd(), flags, &raw const spec, null_mut())).map(drop)
    }
}
