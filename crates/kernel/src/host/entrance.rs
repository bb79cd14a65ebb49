//! A command in a host of a live network, isolated like a program of a run ([`pid_namespace`](super::pid_namespace)).
//!
//! ```text
//! enter PARENT RUN DESCRIPTOR RIGHTS COMMAND ... -- INIT or INIT_WITH_NETWORK COMMAND ... -- the command
//! ```
//! It ends with the command, with the process PARENT that has started it, and with the run RUN, whichever is first.
//! Signals of the terminal reach the command alone.

use super::pid_namespace::{INIT, INIT_WITH_NETWORK, NOT_STARTED};
use crate::sys;
use crate::traffic::allow_ping;
use std::fs::{self, File};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, exit};

/// The argument that starts it.
pub const ENTER: &str = "enter";
/// The right to change the network of the host, and to see its packets.
const NETWORK: &str = "network";
/// Exit code if the network ends first.
const ENDED: i32 = 125;

/// Runs the command, and exits with its status.
pub fn enter(arguments: &[String]) -> ! {
    let [parent, run, descriptor, rights, command @ ..] = arguments else { exit(NOT_STARTED) };
    match work(parent, run, descriptor, rights == NETWORK, command) {
        Ok(status) => exit(status),
        Err(e) => {
            eprintln!("{}: can't be started: {e}", command.first().map_or("", String::as_str));
            exit(NOT_STARTED)
        }
    }
}

fn work(parent: &str, run: &str, descriptor: &str, network: bool, command: &[String]) -> Result<i32> {
    let number = |text: &str| text.parse::<u32>().map_err(Error::other);
    let gone = || Error::new(ErrorKind::NotFound, "the network has ended");
    let alive = sys::pidfd_open(number(run)?).map_err(|_| gone())?;
    let open =
        |name: &str| Ok::<_, Error>(OwnedFd::from(File::open(format!("/proc/{run}/{name}")).map_err(|_| gone())?));
    let host = open(&format!("fd/{}", number(descriptor)?))?;
    let user = "ns/user";
    if fs::read_link(format!("/proc/{run}/{user}"))? != fs::read_link(format!("/proc/self/{user}"))? {
        sys::enter_user_namespace(&open(user)?)?;
    }
    sys::enter_net_namespace(&host)?;
    // A number may have become that of another process before it was opened.
    if sys::has_ended(&alive)? {
        return Err(gone());
    }
    allow_ping();
    sys::ignore_keyboard();
    if !sys::die_with_parent(number(parent)?)? {
        return Ok(ENDED);
    }
    sys::new_pid_namespace()?;
    let mut starts = Command::new(std::env::current_exe()?);
    starts.arg(if network { INIT_WITH_NETWORK } else { INIT }).args(command);
    sys::kill_with_parent(&mut starts)?;
    let mut child = starts.spawn()?;
    let ends = sys::pidfd_open(child.id())?;
    sys::wait_for_any(&[&alive, &ends])?;
    match child.try_wait()? {
        Some(status) => Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))),
        None => {
            eprintln!("{}: the network has ended", command.first().map_or("", String::as_str));
            Ok(ENDED)
        }
    }
}
