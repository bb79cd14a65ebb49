//! System calls for file systems, namespaces, users and BPF [mount(2), unshare(2), setns(2), user_namespaces(7),
//! bpf(2)].

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

/// Writes all data to disk and powers the machine off.
pub(crate) fn power_off() {
    // SAFETY: no arguments in memory.
    unsafe {
        libc::sync();
        libc::reboot(libc::RB_POWER_OFF);
    }
}

/// Enters a new network namespace.
pub(crate) fn new_net_namespace() -> Result<()> {
    // SAFETY: no arguments in memory.
    check(unsafe { libc::unshare(libc::CLONE_NEWNET) }).map(drop)
}

/// Makes a process namespace for the children of this process; they end with the first of them.
pub(crate) fn new_pid_namespace() -> Result<()> {
    // SAFETY: no arguments in memory.
    check(unsafe { libc::unshare(libc::CLONE_NEWPID) }).map(drop)
}

/// Enters the network namespace of `fd`.
pub(crate) fn enter_net_namespace(fd: &OwnedFd) -> Result<()> {
    // SAFETY: no arguments in memory.
    check(unsafe { libc::setns(fd.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}

/// Enters the user namespace of `fd`, with all capabilities in it.
pub(crate) fn enter_user_namespace(fd: &OwnedFd) -> Result<()> {
    // SAFETY: no arguments in memory.
    check(unsafe { libc::setns(fd.as_raw_fd(), libc::CLONE_NEWUSER) }).map(drop)
}

/// Returns true if this process is root.
pub(crate) fn is_root() -> bool {
    // SAFETY: no arguments.
    unsafe { libc::geteuid() == 0 }
}

/// Enters a new user namespace in which this user is root.
pub(crate) fn new_user_namespace() -> Result<()> {
    // SAFETY: no arguments in memory.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    // SAFETY: no arguments in memory.
    check(unsafe { libc::unshare(libc::CLONE_NEWUSER) })?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}

/// Calls `bpf`; `arguments` (`union bpf_attr`) may contain addresses of memory that outlives the call.
pub(crate) fn bpf(command: i32, arguments: &[u8]) -> Result<i32> {
    // SAFETY: `arguments` is valid for its length; the kernel checks its content, and accesses only the memory at
    // the addresses in it.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, arguments.as_ptr(), arguments.len()) };
    check(result as libc::c_int)
}

/// Calls `bpf` for a command that returns a descriptor.
pub(crate) fn bpf_fd(command: i32, arguments: &[u8]) -> Result<OwnedFd> {
    // SAFETY: a descriptor that the kernel has just given to us alone.
    bpf(command, arguments).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}
