//! Processes and threads: their end, limits and priority [prctl(2), pidfd_open(2), getrlimit(2), sched(7)].

use super::{check, owned};
use std::io::Result;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, OwnedFd};

/// Makes the kernel kill this process when its parent ends (`PR_SET_PDEATHSIG`). Returns false if `parent` has ended
/// already.
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
        check(libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const p)).map(drop)
    }
}

/// Makes the kernel kill the started process when the thread that starts it ends. It isn't started if this process ends
/// before that is so: within a process namespace it couldn't see its parent's end from the parent's number.
pub(crate) fn kill_with_parent(command: &mut std::process::Command) -> Result<()> {
    use std::os::unix::process::CommandExt;
    let parent = pidfd_open(std::process::id())?;
    // SAFETY: between fork and exec only system calls are made; their arguments are on the stack.
    unsafe {
        command.pre_exec(move || {
            check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong))?;
            let mut parent = libc::pollfd { fd: parent.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            match check(libc::poll(&raw mut parent, 1, 0))? {
                0 => Ok(()),
                _ => Err(std::io::Error::from_raw_os_error(libc::ESRCH)),
            }
        });
    }
    Ok(())
}

/// Returns a pidfd: it becomes readable when the process ends.
pub(crate) fn pidfd_open(pid: u32) -> Result<OwnedFd> {
    // SAFETY: no arguments in memory; a descriptor that the kernel has just given to us alone.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, pid as libc::pid_t, 0);
        owned(fd as libc::c_int)
    }
}

/// Signals that a terminal sends to its foreground processes to end them.
pub(super) const KEYBOARD: [libc::c_int; 2] = [libc::SIGINT, libc::SIGQUIT];

/// Ignores the keyboard's signals, in started processes too.
pub(crate) fn ignore_keyboard() {
    for signal in KEYBOARD {
        // SAFETY: no function of ours is called.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Waits until one of these pidfds is readable: its process has ended.
pub(crate) fn wait_for_any(processes: &[&OwnedFd]) -> Result<()> {
    poll(processes, -1).map(drop)
}

/// Returns true if the process of a pidfd has ended.
pub(crate) fn has_ended(process: &OwnedFd) -> Result<bool> {
    poll(&[process], 0)
}

fn poll(descriptors: &[&OwnedFd], limit_ms: i32) -> Result<bool> {
    let mut all: Vec<libc::pollfd> =
        descriptors.iter().map(|fd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 }).collect();
    loop {
        // SAFETY: the array is valid while the call lasts.
        match check(unsafe { libc::poll(all.as_mut_ptr(), all.len() as libc::nfds_t, limit_ms) }) {
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            other => return other.map(|ready| ready > 0),
        }
    }
}

/// Kills a process.
pub(crate) fn kill(process: u32) {
    // SAFETY: no arguments in memory.
    unsafe { libc::kill(process as libc::pid_t, libc::SIGKILL) };
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
