//! The network of a run for other processes: its hosts by name, as `network.json`, and its links after the run, until
//! the process that has started this one ends them.
//!
//! ```text
//! network.json -> { pid, hosts: [{ name, address, descriptor }] }     entered as /proc/PID/fd/DESCRIPTOR by `entrance`
//! run -> results -> "held\n" on descriptor 0 -> links from time 0 again -> end of input on descriptor 0 -> end
//! ```

use super::link_thread::{self, Signals};
use super::tun_hosts::{Place, TunHosts};
use crate::error::{KernelError, Step};
use crate::sys::{self, Clock};
use dumbbell_plan::{CapturePlan, Plan, TracePlan};
use serde_json::json;
use std::fs;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Writes `network.json`.
pub(super) fn publish(places: &[Place<'_>]) -> Result<(), KernelError> {
    let hosts: Vec<_> = places
        .iter()
        .map(|(name, address, fd)| json!({"name": name, "address": address, "descriptor": fd.as_raw_fd()}))
        .collect();
    let document = json!({"pid": std::process::id(), "hosts": hosts}).to_string();
    // A reader finds the whole file or none.
    fs::write("network.json.new", document).step(|| "network.json".into())?;
    fs::rename("network.json.new", "network.json").step(|| "network.json".into())
}

/// Reports that the run is over, and returns when the other end of descriptor 0 is closed.
pub(super) fn wait() -> Result<(), KernelError> {
    let mut control = UnixStream::from(sys::standard_input().step(|| "descriptor 0".into())?);
    control.write_all(b"held\n").step(|| "descriptor 0".into())?;
    let _ = control.read(&mut [0]);
    Ok(())
}

/// Runs the links of a plan from time 0 again while [`wait`] lasts.
pub(super) fn wait_with_links(plan: &Plan, hosts: &TunHosts) -> Result<(), KernelError> {
    let plan = Plan { trace: TracePlan::default(), capture: CapturePlan::default(), ..plan.clone() };
    let (tunnels, offloads, signals) = (hosts.tunnels.clone(), hosts.offloads, Arc::new(Signals::default()));
    let theirs = signals.clone();
    let zero = sys::now(Clock::Steady);
    let thread = std::thread::Builder::new()
        .name("link".into())
        .spawn(move || {
            link_thread::run(&plan, &*tunnels, offloads, link_thread::Period::real(zero, u64::MAX >> 1), &theirs, None)
        })
        .step(|| "thread".into())?;
    let waited = wait();
    signals.stop.store(true, Ordering::Relaxed);
    thread.join().map_err(|_| KernelError::Invalid("the link thread has failed".into()))??;
    waited
}
