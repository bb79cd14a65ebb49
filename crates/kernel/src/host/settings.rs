//! The settings of network namespaces are files below `/proc/sys/net` [sysctl(8)]. Containers often mount `/proc/sys`
//! read-only: then this process mounts a `/proc` of its own, which no other process sees.

use crate::sys;
use std::io::Result;

const SETTINGS: &str = "/proc/sys";

/// Makes settings writable for this process.
///
/// # Errors
/// They are read-only, and this process may not mount another `/proc`.
pub(super) fn make_writable() -> Result<()> {
    if !sys::is_read_only(SETTINGS)? {
        return Ok(());
    }
    sys::new_mount_namespace()?;
    sys::mount("proc", "/proc")
}
