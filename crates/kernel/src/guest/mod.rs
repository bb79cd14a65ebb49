//! The first process of the virtual machine: it reads a plan, builds the network, runs the traffic, measures, writes the
//! results, and switches the machine off. Its root directory is a folder of the host.

mod captures;
mod setup;
mod taps;

pub(crate) use setup::{Network, OFFLOADS, build};
pub(crate) use taps::Taps;

use crate::error::{KernelError, Step};
use crate::fabric::Site;
use crate::ground::{Ground, Owner};
use crate::live::{self, Variants};
use crate::sys::{self, Clock};
use crate::{machine, output};
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
    /// Whether interfaces segment and merge.
    #[serde(default)]
    offloads: bool,
    /// Whose kernel the plan is laid out for; a host's layout runs here too.
    #[serde(default)]
    owner: Owner,
}

/// Runs `/plan.json`; leaves `/result.json` and `/tables.bin`, or `/error.txt`.
pub fn run() {
    if let Err(e) = work() {
        let _ = fs::write("/error.txt", e.to_string());
    }
    sys::power_off();
}

fn work() -> Result<(), KernelError> {
    sys::mount("proc", "/proc").step(|| "mount /proc".into())?;
    sys::open_many();
    let text = fs::read_to_string("/plan.json").step(|| "plan.json".into())?;
    let order: Order = serde_json::from_str(&text)
        .map_err(|e| KernelError::Invalid(format!("plan.json does not read: {e}")))?;
    setup::limits()?;
    let ground = Ground { owner: order.owner, offloads: order.offloads };
    let network = setup::build(&order.plan, ground, &Variants::default())?;
    let sites = network.sites(&Variants::default())?;
    let host = facts(&network, &sites)?;
    let taps = Taps::new(&order.plan, network, Clock::Wall, Path::new("/"))?;
    let mut measured = machine::run(&order.plan, &sites, taps, Clock::Wall, order.sample_ns)?;
    measured.facts["host"] = host;
    output::write(Path::new("/"), &measured)
}

/// What a network's kernel is and is set to.
pub(crate) fn facts(network: &Network, sites: &[Site]) -> Result<Value, KernelError> {
    let layout = &network.layout;
    let interface = layout.flows.first().map(|ends| layout.interface_at(ends.hosts[0])).unwrap_or_default();
    let mut facts = live::facts_of(sites, &interface, layout.mtu)?;
    facts["disciplines"] = layout.disciplines_in_words().collect::<Vec<_>>().into();
    Ok(facts)
}
