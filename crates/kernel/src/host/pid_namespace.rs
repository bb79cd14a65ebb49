//! A real program with all that it starts: in a process namespace, so that nothing of it outlives the run.
//!
//! ```text
//! run -- A `within`: makes the namespace -- B `init`: its first process -- the program -- whatever it starts
//! ```
//! Each is killed when the one before it ends; and the kernel ends all of a namespace with its first process.

use crate::sys;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, exit};

/// The word that starts A.
pub const WITHIN: &str = "within";
/// The word that starts B.
pub const INIT: &str = "init";

/// Runs a program and ends as it does; with `own`, in a process namespace of its own.
pub fn run(command: &[String], own: bool) -> ! {
    let Some((program, arguments)) = command.split_first() else { exit(2) };
    let mut starts = match std::env::current_exe() {
        // Where there may be none, the program does without.
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
