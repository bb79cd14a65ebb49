//! A run with link emulation in virtual time: the simulator's network between hosts whose TCP is the guest's. The link
//! thread is the host's, by the virtual clock: packets are never late, and equal runs have equal results.

use super::default_variants;
use super::packet_sockets::{PacketSockets, build};
use crate::error::KernelError;
use crate::host::emulated_network::results;
use crate::host::link_thread::Period;
use crate::host::running_links::RunningLinks;
use crate::plan::tun::TunTopology;
use crate::run::network::{LinkResults, Network, Observation};
use crate::run::output::TableFile;
use crate::run::{self, Measured, facts};
use crate::sys::Clock;
use dumbbell_plan::Plan;
use serde_json::Value;
use std::sync::Arc;

/// Runs a plan.
pub(super) fn run(plan: &Plan, sample_ns: u64, file: &mut TableFile) -> Result<Measured, KernelError> {
    let topology = TunTopology::in_guest(plan)?;
    let (flow_hosts, sockets) = build(&topology)?;
    default_variants(plan, &flow_hosts)?;
    let [interface, _] = TunTopology::pair(0, 0).ends.map(|end| end.name());
    let host = facts::kernel(&flow_hosts, &interface, topology.mtu)?;
    let network = EmulatedNetwork { plan, sockets: Arc::new(sockets), running: RunningLinks::default() };
    let mut measured = run::execute(plan, &flow_hosts, network, (Clock::Wall, sample_ns), Some(file))?;
    measured.facts["host"] = host;
    Ok(measured)
}

/// See the top of this file.
struct EmulatedNetwork<'a> {
    plan: &'a Plan,
    sockets: Arc<PacketSockets>,
    running: RunningLinks,
}

impl Network for EmulatedNetwork<'_> {
    fn begin(&mut self, zero: u64) -> Result<(), KernelError> {
        let period = Period { clock: Clock::Wall, zero, end: self.plan.duration_ns };
        self.running.start(self.plan, self.sockets.clone(), false, period)
    }

    fn drain(&mut self, each: &mut dyn FnMut(Observation)) {
        self.running.drain(each);
    }

    fn finish(&mut self, each: &mut dyn FnMut(Observation)) -> Result<LinkResults, KernelError> {
        self.running.stop();
        let report = self.running.finish(each)?;
        match self.sockets.missed()? {
            0 => results(report.output, Value::Null),
            n => Err(KernelError::Invalid(format!("{n} packets were lost before the links could read them"))),
        }
    }
}
