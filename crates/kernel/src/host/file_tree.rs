//! The file tree of a program: the host's files, read-only, without the host's Unix sockets and FIFOs.
//!
//! A program can connect to a Unix socket and write to a FIFO on a read-only mount. On an overlay it can't, even if
//! the socket is created later: an overlay has its own inodes, so its sockets and FIFOs aren't those of the host's
//! processes [Linux fs/overlayfs/inode.c ovl_fill_inode]. So an overlay of each directory is mounted over it.
//!
//! An overlay doesn't contain file systems that are mounted in its directory. A directory with such mounts is kept:
//! overlays are mounted over its subdirectories, and the null device over its sockets and FIFOs.
//!
//! Directories of temporary files are empty.

use super::sandbox::failed;
use crate::sys;
use std::ffi::OsString;
use std::fs::{self, FileType};
use std::io::{ErrorKind, Result};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Directories of temporary files; empty.
const EMPTY: [&str; 2] = ["/tmp", "/var/tmp"];
/// Directories that have no socket (`/sys`), or that `sandbox` mounts anew.
const OTHERS: [&str; 4] = ["/dev", "/proc", "/run", "/sys"];

/// Mounts the file tree. `empty` is an empty directory on its own file system, `null` the null device.
pub(super) fn close(empty: &str, null: &str) -> Result<()> {
    sys::read_only_tree("/").map_err(failed("read-only files (Linux 5.12 or later is needed)"))?;
    let tree = Tree { mounts: mounts()?, empty, null };
    tree.within(Path::new("/"))?;
    for place in EMPTY.iter().filter(|place| Path::new(place).is_dir()) {
        sys::mount_empty(Path::new(place)).map_err(failed(place))?;
    }
    Ok(())
}

struct Tree<'a> {
    mounts: Vec<PathBuf>,
    empty: &'a str,
    null: &'a str,
}

impl Tree<'_> {
    fn within(&self, directory: &Path) -> Result<()> {
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            // Metadata of the mounted file, if there is a mount. A program can't reach a file without metadata.
            let Ok(about) = fs::symlink_metadata(&path) else { continue };
            if OTHERS.iter().chain(&EMPTY).any(|other| path == Path::new(other)) {
                continue;
            }
            match self.cover(&path, about.file_type()) {
                Err(e) if e.kind() == ErrorKind::NotFound => {} // removed since
                done => done.map_err(failed(&path.to_string_lossy()))?,
            }
        }
        Ok(())
    }

    fn cover(&self, path: &Path, kind: FileType) -> Result<()> {
        if kind.is_socket() || kind.is_fifo() {
            return sys::bind_mount(self.null, path);
        }
        if !kind.is_dir() {
            return Ok(());
        }
        let has_mounts = self.mounts.iter().any(|mount| mount != path && mount.starts_with(path));
        let covered = if has_mounts { self.within(path) } else { sys::mount_overlay(path, self.empty) };
        let is_mount = || self.mounts.iter().any(|mount| mount == path);
        match covered {
            // Closed to this user, or of a file system that can't be a part of an overlay.
            Err(e) if e.kind() == ErrorKind::PermissionDenied || is_mount() => sys::mount_empty(path),
            done => done,
        }
    }
}

/// Returns the places of all mounts.
fn mounts() -> Result<Vec<PathBuf>> {
    let table = fs::read("/proc/self/mountinfo")?;
    let places = table.split(|byte| *byte == b'\n').filter_map(|line| line.split(|byte| *byte == b' ').nth(4));
    Ok(places.map(|place| PathBuf::from(OsString::from_vec(unescaped(place)))).collect())
}

/// Replaces the octal escapes of a path in a table of mounts [proc_pid_mountinfo(5)].
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        let octal = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()).filter(|_| first == b'\\') {
            Some(byte) => (found.push(byte), rest = &after[3..]),
            None => (found.push(first), rest = after),
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::unescaped;

    #[test]
    fn escapes_of_paths_are_read() {
        assert_eq!(unescaped(br"/a\040b\134c/d"), br"/a b\c/d");
        assert_eq!(unescaped(br"/a\04"), br"/a\04");
    }
}
