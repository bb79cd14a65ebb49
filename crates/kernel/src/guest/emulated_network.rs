//! A run with link emulation in virtual time: the simulator's network between hosts whose TCP is the guest's. The link thread is
//! the host's, by the virtual clock: packets are never late, and equal runs have equal results.

use super::default_variants;
use super::packet_sockets::{PacketSockets, build};
use crate::error::{KernelError, Step};
use crate::host::emulated_network::results;
use crate::host::link_thread::{self, Period, Report, Signals};
use crate::plan::tun::TunTopology;
use crate::run::network::{LinkResults, Network, Observation};
use crate::run::output::TableFile;
use crate::run::{self, Measured, facts};
use crate::sys::Clock;
use dumbbell_plan::Plan;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

/// Runs a plan.
pub(super) fn run(plan: &Plan, sample_ns: u64, file: &mut TableFile) -> Result<Measured, KernelError> {
    let topology = TunTopology::in_guest(plan)?;
    let (flow_hosts, sockets) = build(&topology)?;
    default_variants(plan, &flow_hosts)?;
    let [interface, _] = TunTopology::pair(0, 0).ends.map(|end| end.name());
    let host = facts::kernel(&flow_hosts, &interface, topology.mtu)?;
    let network =
        EmulatedNetwork { plan, sockets: Arc::new(sockets), running: None, signals: Arc::default() };
    let mut measured = run::execute(plan, &flow_hosts, network, (Clock::Wall, sample_ns), Some(file))?;
    measured.facts["host"] = host;
    Ok(measured)
}

/// The thread of the links, and what it observes.
type Running = (JoinHandle<Result<Report, KernelError>>, Receiver<Observation>);

/// See the top of this file.
struct EmulatedNetwork<'a> {
    plan: &'a Plan,
    sockets: Arc<PacketSockets>,
    running: Option<Running>,
    signals: Arc<Signals>,
}

impl Network for EmulatedNetwork<'_> {
    fn begin(&mut self, zero: u64) -> Result<(), KernelError> {
        let (plan, sockets, signals) = (self.plan.clone(), self.sockets.clone(), self.signals.clone());
        let period = Period { clock: Clock::Wall, zero, end: self.plan.duration_ns };
        let (observer, observations) = channel();
        let thread = std::thread::Builder::new()
            .name("link".into())
            .spawn(move || link_thread::run(&plan, &*sockets, false, period, &signals, Some(observer)));
        self.running = Some((thread.step(|| "thread".into())?, observations));
        Ok(())
    }

    fn drain(&mut self, each: &mut dyn FnMut(Observation)) {
        if let Some((_, observations)) = &self.running {
            observations.try_iter().for_each(each);
        }
    }

    fn finish(&mut self, each: &mut dyn FnMut(Observation)) -> Result<LinkResults, KernelError> {
        let Some((thread, observations)) = self.running.take() else {
            return Err(KernelError::Invalid("the link emulation was not started".into()));
        };
        self.signals.stop.store(true, Ordering::Relaxed);
        let report =
            thread.join().map_err(|_| KernelError::Invalid("the link thread has failed".into()))??;
        observations.try_iter().for_each(each);
        match self.sockets.missed()? {
            0 => results(report.output, Value::Null),
            n => Err(KernelError::Invalid(format!("{n} packets were lost before the links could read them"))),
        }
    }
}
