//! Processes and threads: their end, limits and priority [prctl(2), pidfd_open(2), getrlimit(2), sched(7)].

use super::{check, owned};
use std::io::Result;
use std::mem::zeroed;
use std::os::fd::OwnedFd;

/// Makes the kernel kill this process when its parent ends (`PR_SET_PDEATHSIG`). Returns false if `parent` has ended already.
pub(crate) fn die_with_parent(parent: u32) -> Result<bool> {
    // SAFETY: no arguments in memory.
    unsafe {
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong))?;
        Ok(libc::getppid() == parent as i32)
    }
}

/// Raises the limit of open descriptors as far as allowed: every namespace takes three.
pub(crate) fn raise_nofile_limit() {
    const MANY: libc::rlim_t = 1 << 16;
    // SAFETY: `limit` is valid while the calls last.
    unsafe {
        let mut limit: libc::rlimit = zeroed();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) != 0 || limit.rlim_cur >= MANY {
            return;
        }
        let hard = limit.rlim_max;
        // Only root may raise the hard limit.
        for most in [hard.max(MANY), hard] {
            let wanted = libc::rlimit { rlim_cur: most.min(MANY), rlim_max: most };
            if libc::setrlimit(libc::RLIMIT_NOFILE, &raw const wanted) == 0 {
                return;
            }
        }
    }
}

/// Gives this thread real-time priority (`SCHED_FIFO`, 1: lowest).
pub(crate) fn real_time(priority: i32) -> Result<()> {
    // SAFETY: `p` is valid while the call lasts.
    unsafe {
        let mut p: libc::sched_param = zeroed();
        p.sched_priority = priority;
        // Not inherited by children.
        check(libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const p))
            .map(drop)
    }
}

/// Makes the kernel kill the started process when the thread that starts it ends.
pub(crate) fn kill_with_parent(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt;
    // SAFETY: between fork and exec only a system call is made, without arguments in memory.
    unsafe {
        command.pre_exec(|| {
            check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong)).map(drop)
        });
    }
}

/// Returns a pidfd: it becomes readable when the process ends.
pub(crate) fn pidfd_open(pid: u32) -> Result<OwnedFd> {
    // SAFETY: no arguments in memory; a descriptor that the kernel has just given to us alone.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, pid as libc::pid_t, 0);
        owned(fd as libc::c_int)
    }
}

/// Kills a process group.
pub(crate) fn kill_group(leader: u32) {
    // SAFETY: no arguments in memory.
    unsafe { libc::kill(-(leader as libc::pid_t), libc::SIGKILL) };
}

/// Ignores the signals that end a session: this process outlives them, to clean up.
pub(crate) fn ignore_signals() {
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM, libc::SIGPIPE] {
        // SAFETY: no function of ours is called.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}
