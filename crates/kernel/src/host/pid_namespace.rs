//! A real program of a flow in a process namespace, so that no process that it starts outlives the run.
//!
//! ```text
//! run -- A `within`: makes the namespace -- B `init`: its process 1 -- the program -- its own processes
//! ```
//! Each is killed when its parent ends, and the kernel kills all processes of a namespace with its process 1
//! [pid_namespaces(7)].

use crate::sys;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, exit};

/// The argument that starts A.
pub const WITHIN: &str = "within";
/// The argument that starts B.
pub const INIT: &str = "init";

/// Runs a program and exits with its status; with `own`, in a new process namespace.
pub fn run(command: &[String], own: bool) -> ! {
    let Some((program, arguments)) = command.split_first() else { exit(2) };
    let mut starts = match std::env::current_exe() {
        // Without the right to a namespace the program runs without one.
        Ok(ours) if own && sys::new_pid_namespace().is_ok() => {
            let mut starts = Command::new(ours);
            starts.arg(INIT).args(command);
            starts
        }
        _ => {
            let mut starts = Command::new(program);
            starts.args(arguments);
            starts
        }
    };
    sys::kill_with_parent(&mut starts);
    match starts.status() {
        Ok(status) => exit(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))),
        Err(e) => {
            eprintln!("{program}: can't be started: {e}");
            exit(127)
        }
    }
}
