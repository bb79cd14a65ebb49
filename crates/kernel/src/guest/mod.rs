//! Process 1 of the virtual machine: reads a plan, makes the network, runs the traffic, measures, writes the results
//! and powers the machine off. Its root directory is a folder of the host (hostfs) [Linux
//! Documentation/virt/uml/user_mode_linux_howto_v2.rst].

mod emulated_network;
mod packet_sockets;
pub mod surroundings;

use crate::bpf::{LoadedVariants, make_default};
use crate::error::{KernelError, Step};
use crate::host::Emulation;
use crate::plan::target::{Kernel, Target};
use crate::run::network::FlowHosts;
use crate::run::output::TableFile;
use crate::run::taps::Taps;
use crate::run::veth_network::{build, set_sysctl};
use crate::run::{self, Measured};
use crate::sys::{self, Clock};
use dumbbell_plan::{AppPlan, Plan};
use serde::Deserialize;
use std::fs;
use std::hash::RandomState;
use std::path::Path;

/// `plan.json`: the plan, and how to execute and measure it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Order {
    #[serde(deserialize_with = "Plan::nested")]
    plan: Plan,
    /// Interval between two samples of the sockets, ns.
    sample_ns: u64,
    /// True if interfaces segment and merge.
    #[serde(default)]
    offloads: bool,
    /// The kernel that the plan is translated for: a host's network can be made here too.
    #[serde(default)]
    kernel: Kernel,
    /// The emulation of the network between the hosts.
    #[serde(default = "queue_disciplines")]
    emulation: Emulation,
    /// Bytes of a series in memory from which they are written to `tables.bin` while the run is in progress.
    #[serde(default = "unlimited")]
    part_bytes: usize,
}

fn unlimited() -> usize {
    usize::MAX
}

fn queue_disciplines() -> Emulation {
    Emulation::Tc
}

/// Runs `/plan.json`; leaves `/result.json` and `/tables.bin`, or `/error.txt`.
pub fn run() {
    if let Err(e) = work() {
        let _ = fs::write("/error.txt", e.to_string());
    }
    sys::power_off();
}

fn work() -> Result<(), KernelError> {
    // The first hash map of a thread draws its keys from the kernel's random numbers, which queue disciplines use too:
    // they are drawn here, whether or not captures need a map.
    drop(RandomState::new());
    sys::mount("proc", "/proc").step(|| "mount /proc".into())?;
    sys::raise_nofile_limit();
    let text = fs::read_to_string("/plan.json").step(|| "plan.json".into())?;
    let order: Order =
        serde_json::from_str(&text).map_err(|e| KernelError::Invalid(format!("plan.json can't be read: {e}")))?;
    limits()?;
    let mut file = TableFile::new(Path::new("/"), order.part_bytes)?;
    let measured = match order.emulation {
        Emulation::Tc => with_queue_disciplines(&order, &mut file)?,
        Emulation::Link => emulated_network::run(&order.plan, order.sample_ns, &mut file)?,
    };
    file.finish(Path::new("/"), &measured)
}

fn with_queue_disciplines(order: &Order, file: &mut TableFile) -> Result<Measured, KernelError> {
    let target = Target { kernel: order.kernel, offloads: order.offloads };
    let network = build(&order.plan, target, &LoadedVariants::default())?;
    let flow_hosts = network.flow_hosts(&LoadedVariants::default())?;
    default_variants(&order.plan, &flow_hosts)?;
    let host = network.facts(&flow_hosts)?;
    let taps = Taps::new(&order.plan, network, Clock::Wall, Path::new("/"))?;
    let mut measured = run::execute(&order.plan, &flow_hosts, taps, (Clock::Wall, order.sample_ns), Some(file))?;
    measured.facts["host"] = host;
    Ok(measured)
}

/// Makes the congestion control of a flow of programs the default of its hosts: programs don't choose one.
fn default_variants(plan: &Plan, flow_hosts: &[FlowHosts]) -> Result<(), KernelError> {
    for (hosts, flow) in flow_hosts.iter().zip(&plan.flows) {
        if let (Some(variant), AppPlan::Program { .. }) = (&hosts.variant, &flow.application) {
            make_default(variant, &hosts.namespaces)?;
        }
    }
    Ok(())
}

/// Raises limits: TCP may use 3/4 of the memory, because nothing else needs it (`tcp_mem`), and only the memory limits
/// the number of namespaces [Linux Documentation/admin-guide/sysctl/user.rst].
fn limits() -> Result<(), KernelError> {
    let namespaces = "/proc/sys/user/max_net_namespaces";
    fs::write(namespaces, "1000000").step(|| namespaces.into())?;
    let text = fs::read_to_string("/proc/meminfo").step(|| "meminfo".into())?;
    let total = text.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0);
    let pages = total / 4;
    set_sysctl("tcp_mem", &format!("{0} {0} {0}", pages * 3 / 4))
}
