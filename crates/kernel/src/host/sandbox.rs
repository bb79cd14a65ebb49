//! The surroundings of a real program. It has
//!
//! - a user of its own (65534, nobody) if the run belongs to root; else the user's own, without any capability;
//! - the host's files, all read-only, without set-user-ID, Unix sockets and FIFOs ([`file_tree`]); of `/dev` only the
//!   harmless devices; an empty `/run`, no temporary files of others, no keys of the session;
//! - one directory to write to, [`SCRATCH`], and [`SHARED_MEMORY`];
//! - no process, no System V IPC and no host name of the host, and the network of its own host in the run;
//! - none of the environment but `PATH`.
//!
//! Sources: [namespaces(7), mount_namespaces(7), user_namespaces(7), capabilities(7)].

use super::file_tree;
use crate::sys;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Error, Result};
use std::os::unix::fs::{chown, symlink};
use std::path::Path;
use std::process::Command;

/// The directory that a program may write to: its home, its working directory and its directory for temporary files.
pub(crate) const SCRATCH: &str = "/run/dumbbell";
/// Memory that processes share [shm_overview(7)].
pub(crate) const SHARED_MEMORY: &str = "/dev/shm";
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom"];
/// `CAP_NET_ADMIN` and `CAP_NET_RAW`: interfaces, routes and settings of a network namespace; sockets for packets
/// [capabilities(7)].
const NETWORK: [u32; 2] = [12, 13];
/// The user and group of a program.
const NOBODY: u32 = 65_534;
/// Largest file that a program may write, its output included, bytes.
const FILE_BYTES: u64 = 256 << 20;

/// A reason that something can't be isolated.
pub(crate) fn failed(what: &str) -> impl Fn(Error) -> Error + '_ {
    move |e| Error::new(e.kind(), format!("{what}: {e}"))
}

/// Isolates this process, which is process 1 of a process namespace; the working directory becomes the scratch
/// directory.
pub(super) fn enter() -> Result<()> {
    let scratch = std::env::current_dir()?;
    let user = user();
    if let Some(id) = user {
        chown(&scratch, Some(id), Some(id)).map_err(failed("scratch directory"))?;
    }
    sys::new_mount_namespace().map_err(failed("mount namespace"))?;
    let scratch = sys::open_place(&scratch)?;
    let devices: Vec<_> = DEVICES
        .iter()
        .map(|name| Ok((name, sys::open_place(format!("/dev/{name}")).map_err(failed("/dev"))?)))
        .collect::<Result<_>>()?;
    let null = sys::open_place("/dev/null").map_err(failed("/dev"))?;
    sys::mount_memory("/run", "size=1m,mode=755").map_err(failed("/run"))?;
    fs::create_dir(SCRATCH)?;
    file_tree::close(SCRATCH, &sys::path_of(&null))?;
    sys::bind_mount(&sys::path_of(&scratch), SCRATCH).map_err(failed(SCRATCH))?;
    sys::writable(SCRATCH).map_err(failed(SCRATCH))?;
    sys::mount_memory("/dev", "size=1m,mode=755").map_err(failed("/dev"))?;
    for (name, device) in &devices {
        let place = format!("/dev/{name}");
        File::create(&place)?;
        sys::bind_mount(&sys::path_of(device), &place).map_err(failed(&place))?;
    }
    link_descriptors("/dev")?;
    fs::create_dir(SHARED_MEMORY)?;
    sys::mount_memory(SHARED_MEMORY, "size=256m,mode=1777").map_err(failed(SHARED_MEMORY))?;
    sys::read_only("/dev").map_err(failed("/dev"))?;
    sys::mount("proc", "/proc").map_err(failed("/proc"))?;
    std::env::set_current_dir(SCRATCH)
}

/// Makes the usual names of a process's descriptors in its `/dev`, which is at `devices`.
pub(crate) fn link_descriptors(devices: &str) -> Result<()> {
    for (name, to) in [("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")] {
        symlink(format!("/proc/self/{to}"), format!("{devices}/{name}"))?;
    }
    Ok(())
}

/// Makes a command start as an unprivileged user, without the environment. With `network` it has the capabilities
/// [`NETWORK`].
pub(super) fn restrict(command: &mut Command, network: bool) {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    restrict_to(command, path, user(), if network { &NETWORK } else { &[] });
}

/// Makes a command start as `user` (None: as the present one) with these capabilities alone, with this PATH and nothing
/// else of the environment.
pub(crate) fn restrict_to(command: &mut Command, path: OsString, user: Option<u32>, capabilities: &'static [u32]) {
    command.env_clear().env("PATH", path).env("LANG", "C.UTF-8");
    for name in ["HOME", "TMPDIR"] {
        command.env(name, SCRATCH);
    }
    sys::without_rights(command, user, capabilities, FILE_BYTES);
}

/// Returns the user of programs; None if this process can't become it, because its user namespace has only its own
/// user.
fn user() -> Option<u32> {
    let map = fs::read_to_string(Path::new("/proc/self/uid_map")).unwrap_or_default();
    // First number within, first number outside, how many [user_namespaces(7)].
    let has = map.lines().any(|line| {
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|n| n.parse().ok()).collect();
        matches!(numbers[..], [first, _, many] if (first..first + many).contains(&u64::from(NOBODY)))
    });
    has.then_some(NOBODY)
}
