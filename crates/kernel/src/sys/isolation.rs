//! Isolation of a process: mounts, users, capabilities, limits [mount(2), mount_setattr(2), setresuid(2),
//! capabilities(7), prctl(2), setrlimit(2)].

use super::{check, text};
use std::ffi::{CString, OsStr};
use std::io::Result;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::ptr::null;

/// `struct mount_attr` [Linux include/uapi/linux/mount.h].
#[repr(C)]
struct MountAttr {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// `_LINUX_CAPABILITY_VERSION_3` [Linux include/uapi/linux/capability.h].
const CAPABILITY_VERSION: u32 = 0x2008_0522;
/// `KEYCTL_JOIN_SESSION_KEYRING` [Linux security/keys/keyctl.c keyctl_join_session_keyring].
const JOIN_SESSION_KEYRING: libc::c_int = 1;
/// Above the largest capability.
const CAPABILITIES: libc::c_ulong = 64;

fn mount_raw(
    source: Option<&str>,
    place: impl AsRef<OsStr>,
    kind: Option<&str>,
    flags: libc::c_ulong,
    data: &str,
) -> Result<()> {
    let optional = |s: Option<&str>| s.map(text).transpose();
    let (source, kind, place, data) = (optional(source)?, optional(kind)?, text(place)?, text(data)?);
    let address = |s: &Option<CString>| s.as_ref().map_or(null(), |s| s.as_ptr());
    // SAFETY: each text ends in zero and is valid while the call lasts.
    let result = unsafe {
        libc::mount(address(&source), place.as_ptr(), address(&kind), flags, data.as_ptr().cast::<libc::c_void>())
    };
    check(result).map(drop)
}

/// Enters new namespaces of mounts, host name and System V IPC; mounts don't reach other namespaces.
pub(crate) fn new_mount_namespace() -> Result<()> {
    // SAFETY: no arguments in memory.
    check(unsafe { libc::unshare(libc::CLONE_NEWNS | libc::CLONE_NEWUTS | libc::CLONE_NEWIPC) })?;
    mount_raw(None, "/", None, libc::MS_REC | libc::MS_PRIVATE, "")
}

/// Enters a new namespace of mounts alone; mounts don't reach other namespaces.
pub(crate) fn new_mounts() -> Result<()> {
    // SAFETY: no arguments in memory.
    check(unsafe { libc::unshare(libc::CLONE_NEWNS) })?;
    mount_raw(None, "/", None, libc::MS_REC | libc::MS_PRIVATE, "")
}

/// Mounts the files of the host of a virtual machine (hostfs), read-only, without devices and set-user-ID.
pub(crate) fn mount_host_files(place: &str) -> Result<()> {
    mount_raw(Some("host"), place, Some("hostfs"), CLOSED, "/")
}

/// Makes a character device for every user.
pub(crate) fn make_device(place: &str, major: u32, minor: u32) -> Result<()> {
    let place = text(place)?;
    // SAFETY: texts that end in zero.
    unsafe {
        check(libc::mknod(place.as_ptr(), libc::S_IFCHR | 0o666, libc::makedev(major, minor)))?;
        check(libc::chmod(place.as_ptr(), 0o666)).map(drop) // independent of the umask
    }
}

/// Mounts a file system in memory.
pub(crate) fn mount_memory(place: &str, options: &str) -> Result<()> {
    mount_raw(Some("tmpfs"), place, Some("tmpfs"), libc::MS_NOSUID, options)
}

/// Mounts a file or directory at a second place.
pub(crate) fn bind_mount(from: &str, place: impl AsRef<OsStr>) -> Result<()> {
    mount_raw(Some(from), place, None, libc::MS_BIND, "")
}

const CLOSED: libc::c_ulong = libc::MS_RDONLY | libc::MS_NOSUID | libc::MS_NODEV;

/// Mounts an empty directory.
pub(crate) fn mount_empty(place: impl AsRef<OsStr>) -> Result<()> {
    mount_raw(Some("tmpfs"), place, Some("tmpfs"), CLOSED, "size=4k,mode=755")
}

/// Mounts an overlay of a directory over itself. An overlay without a writable layer needs two lower layers:
/// `empty` is the second [Linux fs/overlayfs/super.c ovl_get_lowerstack].
pub(crate) fn mount_overlay(place: &Path, empty: &str) -> Result<()> {
    let directory = open_place(place)?; // its number needs no escapes
    let layers = format!("lowerdir={}:{empty}", path_of(&directory));
    mount_raw(Some("overlay"), place, Some("overlay"), CLOSED, &layers)
}

const READ_ONLY: u64 = 1; // MOUNT_ATTR_RDONLY
const NO_SUID: u64 = 2; // MOUNT_ATTR_NOSUID

/// Makes the mount at a place and all below it read-only, and set-user-ID bits there without effect.
pub(crate) fn read_only_tree(place: &str) -> Result<()> {
    set_attributes(place, libc::AT_RECURSIVE, READ_ONLY | NO_SUID, 0)
}

/// Makes the mount at a place read-only.
pub(crate) fn read_only(place: &str) -> Result<()> {
    set_attributes(place, 0, READ_ONLY, 0)
}

/// Makes the mount at a place writable.
pub(crate) fn writable(place: &str) -> Result<()> {
    set_attributes(place, 0, 0, READ_ONLY)
}

fn set_attributes(place: &str, flags: libc::c_int, set: u64, clear: u64) -> Result<()> {
    let attributes = MountAttr { set, clear, propagation: 0, user_namespace: 0 };
    let (place, at) = (text(place)?, &raw const attributes);
    // SAFETY: the text and the attributes are valid while the call lasts.
    let result = unsafe {
        let size = size_of::<MountAttr>();
        libc::syscall(libc::SYS_mount_setattr, libc::AT_FDCWD, place.as_ptr(), flags, at, size)
    };
    check(result as libc::c_int).map(drop)
}

/// Returns true if the file system at a place is read-only.
pub(crate) fn is_read_only(place: &str) -> Result<bool> {
    let place = text(place)?;
    // SAFETY: `about` is valid for writing.
    unsafe {
        let mut about: libc::statvfs = zeroed();
        check(libc::statvfs(place.as_ptr(), &raw mut about))?;
        Ok(about.f_flag & libc::ST_RDONLY != 0)
    }
}

/// Opens a file as a place only, so that it can be mounted elsewhere.
pub(crate) fn open_place(path: impl AsRef<OsStr>) -> Result<OwnedFd> {
    let path = text(path)?;
    // SAFETY: a text that ends in zero.
    super::owned(unsafe { libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC) })
}

/// Returns the path under which a descriptor can be mounted.
pub(crate) fn path_of(fd: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", fd.as_raw_fd())
}

/// Gives up rights for good: all capabilities but those to keep, those that a later program would bring, and, with
/// `user`, root's identity. Files are limited to `file_bytes`.
pub(crate) fn give_up_rights(user: Option<u32>, keep: &[u32], file_bytes: u64) -> Result<()> {
    // SAFETY: all structures are valid while the calls last.
    unsafe {
        for capability in (0..CAPABILITIES).filter(|c| !keep.iter().any(|k| libc::c_ulong::from(*k) == *c)) {
            // Beyond the kernel's last one, and without the right to it, this fails; the check is below.
            libc::prctl(libc::PR_CAPBSET_DROP, capability);
        }
        if let Some(id) = user {
            check(libc::prctl(libc::PR_SET_KEEPCAPS, 1, 0, 0, 0))?;
            check(libc::setgroups(0, null()))?;
            check(libc::setresgid(id, id, id))?;
            check(libc::setresuid(id, id, id))?;
        }
        libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
        let header = [CAPABILITY_VERSION, 0];
        let kept = keep.iter().fold(0u32, |mask, capability| mask | 1 << capability);
        // Effective, permitted, inheritable: capabilities 0 to 31, then 32 to 63.
        let sets = [kept, kept, kept, 0, 0, 0];
        check(libc::syscall(libc::SYS_capset, header.as_ptr(), sets.as_ptr()) as libc::c_int)?;
        for capability in keep {
            let raise = libc::PR_CAP_AMBIENT_RAISE as libc::c_ulong;
            check(libc::prctl(libc::PR_CAP_AMBIENT, raise, libc::c_ulong::from(*capability), 0, 0))?;
        }
        check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
        for (what, most) in [(libc::RLIMIT_FSIZE, file_bytes), (libc::RLIMIT_CORE, 0)] {
            let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
            check(libc::setrlimit(what, &raw const limit))?;
        }
        // A new session keyring: the keys of the old one can be read by all processes of the session. A kernel
        // without this call has no keys.
        libc::syscall(libc::SYS_keyctl, JOIN_SESSION_KEYRING, null::<libc::c_char>());
        // The program has the keyboard's signals, which the processes above it may ignore.
        for signal in super::process::KEYBOARD {
            libc::signal(signal, libc::SIG_DFL);
        }
        // A change of the user clears it [prctl(2)].
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong)).map(drop)
    }
}

/// Makes the started process give up its rights; see [`give_up_rights`].
pub(crate) fn without_rights(
    command: &mut std::process::Command,
    user: Option<u32>,
    keep: &'static [u32],
    file_bytes: u64,
) {
    use std::os::unix::process::CommandExt;
    // SAFETY: between fork and exec only system calls are made; their arguments are on the stack or constant.
    unsafe { command.pre_exec(move || give_up_rights(user, keep, file_bytes)) };
}
