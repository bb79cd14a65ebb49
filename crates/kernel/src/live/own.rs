//! Our own link as what lies between hosts: its thread, and what it tells.

use super::facts::{Cpu, dropped_before_us};
use super::hosts::Hosts;
use super::link::{self, Report, Signals};
use crate::error::{KernelError, Step};
use crate::fabric::{Fabric, Links, Seen};
use crate::sys;
use dumbbell_plan::Plan;
use serde_json::json;
use std::fs::File;
use std::io::BufWriter;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

type Thread = JoinHandle<Result<Report, KernelError>>;

/// See the top of this file.
pub(super) struct OwnLink<'a> {
    plan: &'a Plan,
    hosts: &'a Hosts,
    tunnels: Arc<Vec<[OwnedFd; 2]>>,
    running: Option<(Thread, Receiver<Seen>)>,
    cpu: Option<Cpu>,
}

impl<'a> OwnLink<'a> {
    pub(super) fn new(plan: &'a Plan, hosts: &'a Hosts) -> OwnLink<'a> {
        OwnLink { plan, hosts, tunnels: hosts.tunnels.clone(), running: None, cpu: None }
    }
}

impl Fabric for OwnLink<'_> {
    fn begin(&mut self, zero: u64) -> Result<(), KernelError> {
        let (plan, tunnels) = (self.plan.clone(), self.tunnels.clone());
        let (told, hears) = channel();
        let thread = std::thread::Builder::new().name("link".into()).spawn(move || {
            link::run(&plan, &tunnels, (zero, plan.duration_ns), &Signals::default(), Some(told))
        });
        self.running = Some((thread.step(|| "thread".into())?, hears));
        self.cpu = Some(Cpu::now());
        // Below the link: without it, or without the right to it, things are late and that is measured.
        let _ = sys::real_time(link::PRIORITY - 1);
        Ok(())
    }

    fn drain(&mut self, each: &mut dyn FnMut(Seen)) {
        if let Some((_, hears)) = &self.running {
            hears.try_iter().for_each(each);
        }
    }

    fn finish(&mut self, each: &mut dyn FnMut(Seen)) -> Result<Links, KernelError> {
        let Some((thread, hears)) = self.running.take() else {
            return Err(KernelError::Invalid("the link was never begun".into()));
        };
        let report =
            thread.join().map_err(|_| KernelError::Invalid("the link's thread has failed".into()))??;
        hears.try_iter().for_each(each);
        let seconds = self.plan.duration_ns as f64 * 1e-9;
        let late = |ms: Option<f64>| ms.unwrap_or(0.0);
        let facts = json!({
            "link": {
                "late_p50_ms": late(report.late.percentile_ms(0.5)),
                "late_p99_ms": late(report.late.percentile_ms(0.99)),
                "late_max_ms": late(report.late.max_ms()),
                "packets": report.handed,
                "refused_by_hosts": report.refused,
                "foreign_packets": report.foreign,
                "missed": dropped_before_us(self.hosts)?,
                "real_time": report.real_time,
                "cpu_share": report.cpu_ns as f64 * 1e-9 / seconds,
            },
            "cpu": self.cpu.as_ref().map(Cpu::since),
        });
        let mut output = report.output;
        for (n, capture) in output.captures.iter().enumerate() {
            let name = format!("capture-{n}.pcapng");
            let file = File::create(&name).step(|| name.clone())?;
            capture.write(BufWriter::new(file)).step(|| name.clone())?;
        }
        Ok(Links {
            queues: std::mem::take(&mut output.queues),
            tables: output.trace.tables,
            dropped: Some(output.dropped),
            duplicated: Some(output.duplicated),
            facts,
        })
    }
}
