//! A real program of a flow in a process namespace, so that no process that it starts outlives the run, and isolated
//! from the host (`sandbox`).
//!
//! ```text
//! run -- A `within`: makes the namespace -- B `init`: its process 1, isolates itself -- the program -- its processes
//! ```
//! Each is killed when its parent ends, and the kernel kills all processes of a namespace with its process 1
//! [pid_namespaces(7)].

use super::sandbox;
use crate::sys;
use std::io::Result;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, exit};

/// The argument that starts A.
pub const WITHIN: &str = "within";
/// The argument that starts B.
pub const INIT: &str = "init";
/// The argument that starts B for a command that may change the network of its host.
pub const INIT_WITH_NETWORK: &str = "init-with-network";
/// Exit code if the program can't be isolated or started, as in a POSIX shell.
pub(super) const NOT_STARTED: i32 = 127;

/// Starts B in a new process namespace, and exits with its status.
pub fn within(command: &[String]) -> ! {
    let start = || -> Result<Command> {
        sys::new_pid_namespace()?;
        let mut starts = Command::new(std::env::current_exe()?);
        starts.arg(INIT).args(command);
        sys::kill_with_parent(&mut starts)?;
        Ok(starts)
    };
    finish(command, start().map_err(|e| format!("can't be isolated: process namespace: {e}")))
}

/// Runs the program, isolated, and exits with its status. With `network` it keeps the rights to the network of its
/// host.
pub fn init(command: &[String], network: bool) -> ! {
    let start = || -> Result<Command> {
        sandbox::enter()?;
        let mut starts = Command::new(&command[0]);
        starts.args(&command[1..]);
        sandbox::restrict(&mut starts, network);
        Ok(starts)
    };
    finish(command, start().map_err(|e| format!("can't be isolated: {e}")))
}

/// Runs a command and exits with its status; `starts` may have failed to prepare it.
pub(crate) fn finish(command: &[String], starts: std::result::Result<Command, String>) -> ! {
    let ended = starts.and_then(|mut s| s.status().map_err(|e| format!("can't be started: {e}")));
    match ended {
        Ok(status) => exit(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))),
        Err(why) => {
            eprintln!("{}: {why}", command[0]);
            exit(NOT_STARTED)
        }
    }
}
