//! System calls that the standard library lacks, each in a safe function. All unsafe code of this crate is here. The
//! files cite the manual pages of their calls.

#![expect(unsafe_code, reason = "system calls; all other modules are safe")]

mod file;
mod interface;
mod isolation;
mod kernel;
mod process;
mod ring;
mod socket;
mod time;
mod wait;

pub(crate) use file::write_back;
pub(crate) use interface::{
    interface_addresses, interface_number, is_running, offload, read, read_parts, set_offload, tunnel, write,
};
pub(crate) use isolation::{
    bind_mount, is_read_only, make_device, mount_empty, mount_host_files, mount_memory, mount_overlay,
    new_mount_namespace, new_mounts, open_place, path_of, read_only, read_only_tree, without_rights, writable,
};
pub(crate) use kernel::{
    bpf, bpf_fd, enter_net_namespace, enter_user_namespace, is_root, mount, new_net_namespace, new_pid_namespace,
    new_user_namespace, power_off,
};
pub(crate) use process::{
    die_with_parent, has_ended, ignore_keyboard, ignore_signals, kill, kill_group, kill_with_parent, pidfd_open,
    raise_nofile_limit, real_time, wait_for_any,
};
pub(crate) use ring::Ring;
pub(crate) use socket::{
    accept, bind, bind_to_interface, blocking_socket, connect, discard, enable_timestamps, family_of, listen, option,
    receive, receive_from, receive_with_timestamp, send, send_part, send_to, set_option, set_option_bytes, shutdown,
    socket,
};
pub(crate) use time::{Clock, now, set_timer, thread_time, timer};
pub(crate) use wait::{epoll, epoll_add, epoll_poll, epoll_wait};

use std::ffi::{CString, OsStr};
use std::io::{Error, Result};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

fn check(result: libc::c_int) -> Result<libc::c_int> {
    if result < 0 { Err(Error::last_os_error()) } else { Ok(result) }
}

fn owned(result: libc::c_int) -> Result<OwnedFd> {
    // SAFETY: a descriptor that the kernel has just given to us alone.
    check(result).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Returns a duplicate of descriptor 0.
pub(crate) fn standard_input() -> Result<OwnedFd> {
    use std::os::fd::AsFd;
    std::io::stdin().as_fd().try_clone_to_owned()
}

fn text(s: impl AsRef<OsStr>) -> Result<CString> {
    CString::new(s.as_ref().as_bytes()).map_err(|_| Error::from_raw_os_error(libc::EINVAL))
}

fn would_block<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => Ok(None),
        Err(e) => Err(e),
    }
}
