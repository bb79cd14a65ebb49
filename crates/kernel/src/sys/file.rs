//! Files that are written while a run is in progress [sync_file_range(2)].

use super::check;
use std::fs::File;
use std::io::Result;
use std::os::fd::AsRawFd;

/// Writes the data of a file so far to its file system.
pub(crate) fn write_back(file: &File) -> Result<()> {
    let all = libc::SYNC_FILE_RANGE_WAIT_BEFORE | libc::SYNC_FILE_RANGE_WRITE | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    // SAFETY: a plain call on an open descriptor; a length of 0 means all.
    check(unsafe { libc::sync_file_range(file.as_raw_fd(), 0, 0, all) }).map(drop)
}
