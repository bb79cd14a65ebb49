//! The surroundings of a real program in the virtual machine: those of a program on a host
//! (`host::sandbox`), as far as this kernel has them.
//!
//! - Its files are the host's (hostfs), all read-only, with the rights of an unprivileged user of the machine.
//! - It writes to a directory in the machine's memory, and to `/dev/shm`.
//! - It sees the machine's processes instead of the host's. A user of its own has it (`user`), so that it can signal
//!   only those that it has started, and `end_processes` finds all of them: this kernel has no process namespaces.
//!
//! The machine itself is a process of an ordinary user, and ends with the run.

use crate::error::{KernelError, Step};
use crate::host::pid_namespace::finish;
use crate::host::sandbox::{SCRATCH, SHARED_MEMORY, failed, link_descriptors, restrict_to};
use crate::sys;
use std::fs;
use std::io::Result;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

/// The argument that starts [`inside`].
pub const INSIDE: &str = "inside";
/// The directory of the machine at which the host's files are mounted.
const FILES: &str = "/host";
/// The places of programs on the host.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";
/// Size of a program's own directory, which is in memory.
const SCRATCH_OPTIONS: &str = "size=64m,mode=700";
/// The first user of programs; each has its own.
const FIRST_USER: u32 = 60_000;
/// Devices of the machine, with major and minor number [Linux Documentation/admin-guide/devices.txt].
const DEVICES: &[(&str, u32, u32)] =
    &[("null", 1, 3), ("zero", 1, 5), ("full", 1, 7), ("random", 1, 8), ("urandom", 1, 9)];

/// Returns the user of a flow's client or server.
pub(crate) fn user(flow: usize, server: bool) -> u32 {
    FIRST_USER + 2 * flow as u32 + u32::from(server)
}

/// Makes a program's own directory at `place`; files that are there already are copied.
pub(crate) fn scratch(place: &Path, user: u32) -> std::result::Result<(), KernelError> {
    let what = || place.display().to_string();
    let mut given = Vec::new();
    for entry in fs::read_dir(place).step(what)? {
        let path = entry.step(what)?.path();
        given.push((fs::read(&path).step(what)?, path));
    }
    sys::mount_memory(&place.to_string_lossy(), SCRATCH_OPTIONS).step(what)?;
    chown(place, Some(user), Some(user)).step(what)?;
    for (content, path) in given {
        fs::write(&path, content).step(what)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).step(what)?;
    }
    Ok(())
}

/// Kills all processes of a user.
pub(crate) fn end_processes(user: u32) {
    loop {
        let mut found = false;
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(process) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            let status = fs::read_to_string(entry.path().join("status")).unwrap_or_default();
            let field = |name: &str| status.lines().find_map(|l| l.strip_prefix(name)).unwrap_or_default();
            let is_theirs = field("Uid:").split_whitespace().next() == Some(&user.to_string());
            if is_theirs && !field("State:").trim_start().starts_with('Z') {
                sys::kill(process);
                found = true;
            }
        }
        if !found {
            return;
        }
        // It dies when it is scheduled.
        std::thread::yield_now();
    }
}

/// Runs a program, isolated, and exits with its status. Its user and its own directory come before it in the arguments.
pub fn inside(arguments: &[String]) -> ! {
    let (about, command) = arguments.split_at(2);
    let start = || -> Result<Command> {
        let user: u32 = about[0].parse().map_err(std::io::Error::other)?;
        enter(&about[1])?;
        let mut starts = Command::new(&command[0]);
        starts.args(&command[1..]);
        restrict_to(&mut starts, PATH.into(), Some(user), &[]);
        Ok(starts)
    };
    finish(command, start().map_err(|e| format!("can't be isolated: {e}")))
}

/// Makes the host's files the root directory of this process; its own directory becomes [`SCRATCH`].
fn enter(own: &str) -> Result<()> {
    let within = |place: &str| format!("{FILES}{place}");
    sys::new_mounts().map_err(failed("mount namespace"))?;
    sys::mount_host_files(FILES).map_err(failed("the host's files"))?;
    sys::mount_memory(&within("/run"), "size=1m,mode=755").map_err(failed("/run"))?;
    fs::create_dir(within(SCRATCH))?;
    sys::bind_mount(own, within(SCRATCH)).map_err(failed(SCRATCH))?;
    // Settings and states of the host's devices are not those of the machine.
    sys::mount_memory(&within("/sys"), "size=4k,mode=755").map_err(failed("/sys"))?;
    sys::mount_memory(&within("/dev"), "size=64m,mode=755").map_err(failed("/dev"))?;
    for (name, major, minor) in DEVICES {
        sys::make_device(&within(&format!("/dev/{name}")), *major, *minor).map_err(failed("/dev"))?;
    }
    link_descriptors(&within("/dev"))?;
    let shared = within(SHARED_MEMORY);
    fs::create_dir(&shared)?;
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777))?;
    sys::mount("proc", &within("/proc")).map_err(failed("/proc"))?;
    std::os::unix::fs::chroot(FILES)?;
    std::env::set_current_dir(SCRATCH)
}
