//! The kernel as a whole: file systems, namespaces, users, BPF.

use super::{check, text};
use std::io::Result;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::null;

/// Mounts a file system without a device, such as `proc`.
pub(crate) fn mount(kind: &str, place: &str) -> Result<()> {
    let (kind, place) = (text(kind)?, text(place)?);
    // SAFETY: three texts that end in zero, no data.
    check(unsafe { libc::mount(kind.as_ptr(), place.as_ptr(), kind.as_ptr(), 0, null()) }).map(drop)
}

/// Writes everything out and switches the machine off.
pub(crate) fn power_off() {
    // SAFETY: no arguments in memory.
    unsafe {
        libc::sync();
        libc::reboot(libc::RB_POWER_OFF);
    }
}

/// Leaves the network namespace for a new one.
pub(crate) fn new_net_namespace() -> Result<()> {
    // SAFETY: no arguments in memory.
    check(unsafe { libc::unshare(libc::CLONE_NEWNET) }).map(drop)
}

/// What this process starts from now on is in a process namespace of its own, and ends with the first of it.
pub(crate) fn new_pid_namespace() -> Result<()> {
    // SAFETY: no arguments in memory.
    check(unsafe { libc::unshare(libc::CLONE_NEWPID) }).map(drop)
}

/// Enters the network namespace that `fd` stands for.
pub(crate) fn enter_net_namespace(fd: &OwnedFd) -> Result<()> {
    // SAFETY: no arguments in memory.
    check(unsafe { libc::setns(fd.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}

/// Whether we are root.
pub(crate) fn is_root() -> bool {
    // SAFETY: no arguments.
    unsafe { libc::geteuid() == 0 }
}

/// Enters a new user namespace, in which this user is root.
pub(crate) fn new_user_namespace() -> Result<()> {
    // SAFETY: no arguments in memory.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    // SAFETY: no arguments in memory.
    check(unsafe { libc::unshare(libc::CLONE_NEWUSER) })?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}

/// One call of `bpf`; `arguments` may hold addresses of memory that outlives it.
pub(crate) fn bpf(command: i32, arguments: &[u8]) -> Result<i32> {
    // SAFETY: `arguments` is valid for its length; the kernel checks what it says, and reads or writes only what the
    // addresses in it stand for.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, arguments.as_ptr(), arguments.len()) };
    check(result as libc::c_int)
}

/// A call of `bpf` that gives a descriptor.
pub(crate) fn bpf_fd(command: i32, arguments: &[u8]) -> Result<OwnedFd> {
    // SAFETY: a descriptor that the kernel has just given to us alone.
    bpf(command, arguments).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}
