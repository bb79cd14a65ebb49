//! A run on the host's own kernel, in real time: with link emulation (here) or with the kernel's queue disciplines
//! (`tc`).
//!
//! ```text
//! order -> hosts (namespaces, TUN) -> calibration -> [link thread | traffic thread] -> results, series, captures
//! ```
//! Namespaces and interfaces have no names outside of this process: its descriptors hold them, so the kernel removes
//! them when it ends, for any reason. It ends with the process that started it.

mod calibrate;
pub(crate) mod emulated_network;
pub mod entrance;
mod file_tree;
pub(crate) mod link_thread;
mod live;
pub mod pid_namespace;
pub mod probe;
pub(crate) mod running_links;
pub(crate) mod sandbox;
mod settings;
mod super_packet;
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
use tun_hosts::TunHosts;

/// `plan.json`: the plan, and how to execute and measure it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Order {
    #[serde(deserialize_with = "Plan::nested")]
    plan: Plan,
    /// Interval between two samples of the sockets, ns.
    sample_ns: u64,
    /// The process that has started this one.
    parent_pid: u32,
    calibration: Calibration,
    /// The plan that calibration compares with, if it isn't `plan`: for tests of networks that differ from their plan.
    #[serde(default)]
    expected: Option<Plan>,
    /// The emulation of the network between the hosts.
    #[serde(default)]
    emulation: Emulation,
    /// True if interfaces segment and merge; None: where the links are so fast that link emulation needs it.
    #[serde(default)]
    offloads: Option<bool>,
    /// Congestion control to load as BPF, by the kernel's names.
    #[serde(default)]
    bpf: Vec<String>,
    /// True if the network stays after the run: descriptor 0 is then a socket, and the network ends when its other end
    /// is closed.
    #[serde(default)]
    hold: bool,
}

/// The emulation of the network between the hosts.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Emulation {
    /// Our link emulation.
    #[default]
    Link,
    /// The kernel's own queue disciplines.
    Tc,
}

/// The treatment of a run whose measured link differs from its plan.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Calibration {
    /// It is refused.
    Refuse,
    /// It is executed, and its results list the differences.
    Mark,
    /// Nothing is measured.
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
    let order: Order =
        serde_json::from_str(&text).map_err(|e| KernelError::Invalid(format!("plan.json can't be read: {e}")))?;
    if !sys::die_with_parent(order.parent_pid).step(|| "prctl".into())? {
        return Ok(()); // the parent has ended already
    }
    sys::raise_nofile_limit();
    if !sys::is_root() {
        sys::new_user_namespace().step(|| "a user namespace (needed without root)".into())?;
    }
    settings::make_writable().step(|| "a writable /proc/sys".into())?;
    match order.emulation {
        Emulation::Link => {
            let topology = TunTopology::new(&order.plan, order.offloads)?;
            let hosts = tun_hosts::build(&topology, LoadedVariants::load(&order.bpf)?)?;
            live::publish(&hosts.places(&topology))?;
            write(&order, with_link_emulation(&order, &hosts)?)?;
            if order.hold {
                live::wait_with_links(&order.plan, &hosts)?;
            }
        }
        Emulation::Tc => {
            // The namespaces and the variants last until the end of this block.
            let (measured, _network) = tc::run(&order)?;
            write(&order, measured)?;
            if order.hold {
                live::wait()?;
            }
        }
    }
    Ok(())
}

fn write(order: &Order, mut measured: Measured) -> Result<(), KernelError> {
    measured.facts["bpf"] = order.bpf.clone().into();
    run::output::write(Path::new("."), &measured)
}

fn with_link_emulation(order: &Order, hosts: &TunHosts) -> Result<Measured, KernelError> {
    let plan = &order.plan;
    let calibration = match order.calibration {
        Calibration::Off => Value::Null,
        how => {
            let expected = order.expected.as_ref().unwrap_or(plan);
            calibrate::with_link_emulation(plan, expected, hosts, how == Calibration::Refuse)?
        }
    };
    let network = emulated_network::EmulatedNetwork::new(plan, hosts);
    let mut measured = run::execute(plan, &hosts.flow_hosts, network, (Clock::Steady, order.sample_ns), None)?;
    measured.facts["calibration"] = calibration;
    measured.facts["host"] = facts::kernel(&hosts.flow_hosts, INTERFACE, hosts.mtu)?;
    Ok(measured)
}
