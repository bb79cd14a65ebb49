//! The network of a run with link emulation: starts the thread, and turns its reports into results.

use super::link_thread::{self, Period};
use super::running_links::RunningLinks;
use super::tun_hosts::TunHosts;
use crate::error::{KernelError, Step};
use crate::plan::tun::INTERFACE;
use crate::run::facts::Cpu;
use crate::run::network::{LinkResults, Network, Observation};
use crate::sys::{self, Clock};
use dumbbell_plan::Plan;
use dumbbell_sim::LiveOutput;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::BufWriter;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// See the top of this file.
pub(super) struct EmulatedNetwork<'a> {
    plan: &'a Plan,
    hosts: &'a TunHosts,
    tunnels: Arc<Vec<[OwnedFd; 2]>>,
    running: RunningLinks,
    /// Time of the run's beginning by the steady clock, ns.
    zero: u64,
    cpu: Option<Cpu>,
}

impl<'a> EmulatedNetwork<'a> {
    pub(super) fn new(plan: &'a Plan, hosts: &'a TunHosts) -> EmulatedNetwork<'a> {
        EmulatedNetwork {
            plan,
            hosts,
            tunnels: hosts.tunnels.clone(),
            running: RunningLinks::default(),
            zero: 0,
            cpu: None,
        }
    }
}

impl Network for EmulatedNetwork<'_> {
    fn begin(&mut self, zero: u64) -> Result<(), KernelError> {
        self.zero = zero;
        let period = Period::real(zero, self.plan.duration_ns);
        self.running.start(self.plan, self.tunnels.clone(), self.hosts.offloads, period)?;
        self.cpu = Some(Cpu::now());
        // One below the link thread. Without the right to it packets may be late, which is measured.
        let _ = sys::real_time(link_thread::PRIORITY - 1);
        Ok(())
    }

    fn drain(&mut self, each: &mut dyn FnMut(Observation)) {
        self.running.drain(each);
    }

    fn finish(&mut self, each: &mut dyn FnMut(Observation)) -> Result<LinkResults, KernelError> {
        let elapsed = sys::now(Clock::Steady).saturating_sub(self.zero);
        if elapsed < self.plan.duration_ns {
            self.running.stop();
        }
        let report = self.running.finish(each)?;
        let seconds = elapsed.min(self.plan.duration_ns) as f64 * 1e-9;
        let late = |ms: Option<f64>| ms.unwrap_or(0.0);
        let facts = json!({
            "link": {
                "late_p50_ms": late(report.late.percentile_ms(0.5)),
                "late_p99_ms": late(report.late.percentile_ms(0.99)),
                "late_max_ms": late(report.late.max_ms()),
                "packets": report.delivered,
                "refused_by_hosts": report.refused,
                "foreign_packets": report.foreign,
                "missed": dropped_by_tun(self.hosts)?,
                "real_time": report.real_time,
                "moderation_ms": if self.hosts.offloads { link_thread::MODERATION as f64 * 1e-6 } else { 0.0 },
                "cpu_share": report.cpu_ns as f64 * 1e-9 / seconds,
            },
            "cpu": self.cpu.as_ref().map(Cpu::since),
        });
        results(report.output, facts)
    }
}

/// Writes the captures into this folder, and returns the results of the links.
pub(crate) fn results(mut output: LiveOutput, facts: Value) -> Result<LinkResults, KernelError> {
    for (n, capture) in output.captures.iter().enumerate() {
        let name = format!("capture-{n}.pcapng");
        let file = File::create(&name).step(|| name.clone())?;
        capture.write(BufWriter::new(file)).step(|| name.clone())?;
    }
    Ok(LinkResults {
        queues: std::mem::take(&mut output.queues),
        tables: output.trace.tables,
        duplicated: Some(output.duplicated),
        facts,
    })
}

/// Returns the number of packets that hosts sent and that the TUN devices dropped: their transmit queue was full.
fn dropped_by_tun(hosts: &TunHosts) -> Result<u64, KernelError> {
    let mut dropped = 0;
    for host in hosts.flow_hosts.iter().flat_map(|s| &s.namespaces) {
        sys::enter_net_namespace(host).step(|| "namespace".into())?;
        let text = fs::read_to_string("/proc/thread-self/net/dev").step(|| "net/dev".into())?;
        let line = text.lines().find_map(|l| l.trim_start().strip_prefix(INTERFACE)?.strip_prefix(':'));
        // Eight counters of received packets, then those of sent ones: bytes, packets, errs, drop
        // [Linux net/core/net-procfs.c dev_seq_printf_stats].
        let drops = line.and_then(|l| l.split_whitespace().nth(11)?.parse::<u64>().ok());
        dropped += drops.unwrap_or(0);
    }
    Ok(dropped)
}
