//! A run on the host's own kernel over our own link.
//!
//! ```text
//! order -> hosts (namespaces, TUN) -> calibration -> [link's thread | traffic's thread] -> figures, series, captures
//! ```
//! Nothing has a name outside of this process: namespaces and interfaces hang on its descriptors, so the kernel removes
//! them when it ends, however that happens; and it ends with the process that started it.

mod calibrate;
mod emulated_network;
mod link_thread;
pub mod pid_namespace;
pub mod probe;
mod tc;
mod tun_hosts;

use crate::bpf::LoadedVariants;
use crate::error::{KernelError, Step};
use crate::plan::tun::{INTERFACE, TunTopology};
use crate::run::{self, Measured, facts};
use crate::sys::{self, Clock};
use dumbbell_plan::Plan;
use serde::Deserialize;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// What is to be run, and how it is measured.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Order {
    plan: Plan,
    /// From one sample of the sockets to the next, ns.
    sample_ns: u64,
    /// The process that the run belongs to.
    parent_pid: u32,
    calibration: Calibration,
    /// What calibration holds the network against, if that isn't the plan: to try how a network that is off is refused.
    #[serde(default)]
    expected: Option<Plan>,
    /// What carries packets between hosts.
    #[serde(default)]
    emulation: Emulation,
    /// Whether interfaces segment and merge (not over our own link).
    #[serde(default)]
    offloads: bool,
    /// Kernel names of the variants that are to be BPF's.
    #[serde(default)]
    bpf: Vec<String>,
}

/// What carries packets between hosts.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Emulation {
    /// Our own link.
    #[default]
    Link,
    /// The kernel's queue disciplines.
    Tc,
}

/// What becomes of a run whose link isn't what it should be.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Calibration {
    /// It isn't made.
    Refuse,
    /// It is made, and its results say so.
    Mark,
    /// Nobody looks.
    Off,
}

/// Runs `plan.json` of this folder; leaves `result.json`, `tables.bin` and captures, or `error.txt`.
pub fn run() {
    if let Err(e) = work() {
        let _ = fs::write("error.txt", e.to_string());
        std::process::exit(1);
    }
}

fn work() -> Result<(), KernelError> {
    let text = fs::read_to_string("plan.json").step(|| "plan.json".into())?;
    let order: Order = serde_json::from_str(&text)
        .map_err(|e| KernelError::Invalid(format!("plan.json does not read: {e}")))?;
    if !sys::die_with_parent(order.parent_pid).step(|| "prctl".into())? {
        return Ok(()); // nobody waits for us
    }
    sys::raise_nofile_limit();
    if !sys::is_root() {
        sys::new_user_namespace().step(|| "a user namespace (needed without root)".into())?;
    }
    let mut measured = match order.emulation {
        Emulation::Link => over_own_link(&order)?,
        Emulation::Tc => tc::run(&order)?,
    };
    measured.facts["bpf"] = order.bpf.clone().into();
    run::output::write(Path::new("."), &measured)
}

fn over_own_link(order: &Order) -> Result<Measured, KernelError> {
    let plan = &order.plan;
    let flow_hosts = TunTopology::new(plan)?;
    let hosts = tun_hosts::build(&flow_hosts, LoadedVariants::load(&order.bpf)?)?;
    let measured_first = match order.calibration {
        Calibration::Off => Value::Null,
        how => {
            let expected = order.expected.as_ref().unwrap_or(plan);
            calibrate::over_own_link(plan, expected, &hosts, how == Calibration::Refuse)?
        }
    };
    let link = emulated_network::EmulatedNetwork::new(plan, &hosts);
    let mut measured = run::execute(plan, &hosts.flow_hosts, link, Clock::Steady, order.sample_ns)?;
    measured.facts["calibration"] = measured_first;
    measured.facts["host"] = facts::kernel(&hosts.flow_hosts, INTERFACE, hosts.mtu)?;
    Ok(measured)
}
