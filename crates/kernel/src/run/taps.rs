//! The kernel's own queue disciplines as a network: observed by taps (packet sockets) at nodes and hosts
//! [packet(7)].

use super::captures::Captures;
use super::veth_network::VethNetwork;
use crate::error::KernelError;
use crate::meter::packet::Packet;
use crate::meter::tap::TappedPacket;
use crate::meter::{LinkMeter, Lost, Window};
use crate::netlink;
use crate::plan::qdisc::supported;
use crate::plan::veth::LinkPlacement;
use crate::run::facts::Cpu;
use crate::run::network::{LinkResults, Network, Observation};
use crate::sys::{self, Clock};
use dumbbell_plan::{AppPlan, LOCAL, LinkPlan, Plan, Routes, SeriesPlan};
use dumbbell_qdisc::{DropReason, KernelQdisc};
use dumbbell_trace::Table;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// See the top of this file.
pub(crate) struct Taps<'a> {
    plan: &'a Plan,
    net: VethNetwork,
    routes: Routes,
    links: Vec<LinkMeter>,
    /// By interface index: the link whose queue the interface has, and the link that ends at it.
    link_of_egress: BTreeMap<u32, usize>,
    link_of_ingress: BTreeMap<u32, usize>,
    /// Packets that each link's queue had dropped because it was full when the measurement began.
    full_before: Vec<u64>,
    /// Packets that each link's policer had dropped by then.
    policed_before: Vec<u64>,
    /// Packets of each tap that were not yet passed to a meter.
    seen: Vec<Vec<TappedPacket>>,
    captures: Option<Captures>,
    /// Folder of the capture files.
    place: &'a Path,
    clock: Clock,
    /// Time of the run's beginning by the wall clock, ns.
    zero: u64,
    /// All observations before this time of the run were made, ns.
    complete: u64,
    /// Wall clock minus steady clock at that time, ns.
    clock_offset: i64,
    /// Packets dropped because the queue was full, before the run.
    full_at_begin: Vec<u64>,
    emptied: Emptied,
    cpu: Option<Cpu>,
    real_time: bool,
}

/// The queues that were empty after the end of the run.
///
/// A packet that the queue dropped is known to be lost when a later one of its flow has passed it. A flow's last packet
/// has no later one. But once the queue was empty, every packet that had arrived before has departed, or was dropped.
/// Departures before that moment are observed in the next drain, so it counts from the next call on.
#[derive(Debug)]
struct Emptied(Vec<bool>);

impl Emptied {
    /// Returns the number of packets whose fate is still open, of `undecided` at each link; `waiting`: the packets that
    /// are in its queue now.
    fn left(&mut self, undecided: &[usize], waiting: &[u64]) -> usize {
        let open = undecided.iter().zip(&self.0).filter(|(_, emptied)| !**emptied).map(|(count, _)| *count);
        let left = open.sum();
        self.0.iter_mut().zip(waiting).for_each(|(emptied, waiting)| *emptied |= *waiting == 0);
        left
    }
}

/// Observations at nodes that are passed on after those of all taps: a host's tap may be drained after a node's, and a
/// packet may be sent and lost between two drains.
#[derive(Default)]
struct Late {
    /// Packets that have reached the end of a link: link, packet, time.
    landed: Vec<(usize, Packet, u64)>,
    lost: Vec<Lost>,
}

/// In real time, packets are passed on this long after their timestamps, ns: until then the kernel may still write
/// packets into the ring of a tap.
const SETTLED: u64 = 2_000_000;
/// Real-time priority of this thread.
const PRIORITY: i32 = 19;

/// Returns wall clock minus steady clock, ns.
fn wall_minus_steady() -> i64 {
    sys::now(Clock::Wall) as i64 - sys::now(Clock::Steady) as i64
}

/// The kernel's discipline of a link's queue.
fn kernel_row(link: &LinkPlan) -> Option<&'static KernelQdisc> {
    supported().find(|(name, _)| *name == link.queue.name).map(|(_, row)| row)
}

/// Reports a lost packet with payload to the meters of flows.
fn report_loss(lost: Lost, each: &mut dyn FnMut(Observation)) {
    if lost.payload {
        each(Observation::Lost { direction: lost.direction, key: lost.key });
    }
}

impl<'a> Taps<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        mut net: VethNetwork,
        clock: Clock,
        place: &'a Path,
    ) -> Result<Taps<'a>, KernelError> {
        let window = Window { from: plan.measure_from_ns, to: plan.duration_ns };
        let has_workloads = plan.flows.iter().any(|flow| matches!(flow.application, AppPlan::Workload(_)));
        let meter = |l: &dumbbell_plan::LinkPlan| {
            let series = if plan.trace.of_link(&l.name) { plan.trace.series } else { SeriesPlan::default() };
            let mut meter = LinkMeter::new(window, l.rate_bps, l.overhead_bytes, (series, plan.trace.interval_ns));
            if has_workloads && kernel_row(l).is_some_and(|row| row.separates_connections) {
                meter.separate_connections();
            }
            meter
        };
        let captures = Captures::new(plan);
        if captures.is_some() {
            let node_interfaces: Vec<u32> = Captures::node_interfaces(&net.layout.flows).collect();
            for (_, tap) in &mut net.taps {
                node_interfaces.iter().for_each(|index| tap.keep_heads(*index));
            }
        }
        let by = |end: fn(&LinkPlacement) -> u32| {
            net.layout.links.iter().enumerate().map(|(n, ends)| (end(ends), n)).collect()
        };
        Ok(Taps {
            link_of_egress: by(|ends| ends.egress),
            link_of_ingress: by(|ends| ends.ingress),
            plan,
            captures,
            routes: Routes::new(plan).map_err(|e| KernelError::Invalid(e.to_string()))?,
            links: plan.links.iter().map(meter).collect(),
            full_before: vec![0; plan.links.len()],
            policed_before: vec![0; plan.links.len()],
            seen: net.taps.iter().map(|_| Vec::new()).collect(),
            net,
            place,
            clock,
            zero: 0,
            complete: 0,
            clock_offset: 0,
            full_at_begin: vec![0; plan.links.len()],
            emptied: Emptied(vec![false; plan.links.len()]),
            cpu: None,
            real_time: false,
        })
    }

    /// Returns, for each link, the packets in its queue and those that the queue dropped because it was full.
    fn queues(&self) -> Result<Vec<(u64, u64)>, KernelError> {
        let mut queues = vec![(0, 0); self.links.len()];
        let nodes: BTreeSet<usize> = self.net.layout.links.iter().map(|ends| ends.from).collect();
        for node in nodes {
            // The shaper's statistics include those of the queue inside, which has the reasons of its drops.
            for s in netlink::statistics(&self.net.sockets[node])?.iter().filter(|s| s.is_queue) {
                if let Some(link) = self.link_of_egress.get(&s.index) {
                    queues[*link].0 += u64::from(s.waiting);
                    queues[*link].1 += s.full();
                }
            }
        }
        Ok(queues)
    }

    /// Returns, for each link, the packets that its policer has dropped.
    fn policed(&self) -> Result<Vec<u64>, KernelError> {
        let mut drops = vec![0; self.links.len()];
        for policer in &self.net.layout.policers {
            for (action, count) in netlink::policed(&self.net.sockets[policer.namespace])? {
                if action == policer.action() {
                    drops[policer.link] = count;
                }
            }
        }
        Ok(drops)
    }

    /// Handles a packet that has passed an interface of a host or node.
    fn pass(&mut self, namespace: usize, p: &TappedPacket, late: &mut Late, each: &mut dyn FnMut(Observation)) {
        let now = p.time.saturating_sub(self.zero);
        let flow = (p.packet.direction / 2) as usize;
        let Some(ends) = self.net.layout.flows.get(flow) else { return };
        if let Some(side) = ends.hosts.iter().position(|h| *h == namespace) {
            each(Observation::AtHost { side: side as u8, out: p.out, packet: p.packet, at: now });
            return;
        }
        if p.out {
            if let Some(&link) = self.link_of_egress.get(&p.index) {
                let captures = &mut self.captures;
                self.links[link].departed(&p.packet, now, |lost| {
                    late.lost.push(lost);
                    captures.iter_mut().for_each(|c| c.lost(link, lost));
                });
            }
            return;
        }
        if let Some(&link) = self.link_of_ingress.get(&p.index) {
            late.landed.push((link, p.packet, now));
        }
        let next = self.routes.next(namespace, p.packet.direction);
        let next = (next != LOCAL).then_some(next as usize);
        if let Some(link) = next {
            self.links[link].arrived(&p.packet, now);
        }
        if let Some(captures) = &mut self.captures {
            captures.arrived(namespace, next, p, now);
        }
    }
}

impl Network for Taps<'_> {
    fn begin(&mut self, zero: u64) -> Result<(), KernelError> {
        self.zero = zero;
        if self.clock == Clock::Steady {
            self.clock_offset = wall_minus_steady();
            self.zero = zero.saturating_add_signed(self.clock_offset);
            self.cpu = Some(Cpu::now());
            self.real_time = sys::real_time(PRIORITY).is_ok();
        }
        // Packets from before the run are discarded.
        for (_, tap) in &mut self.net.taps {
            tap.drain(&mut Vec::new());
            tap.missed()?;
        }
        self.full_at_begin = self.queues()?.iter().map(|(_, full)| *full).collect();
        Ok(())
    }

    fn restart(&mut self) -> Result<(), KernelError> {
        self.full_before = self.queues()?.iter().map(|(_, full)| *full).collect();
        self.policed_before = self.policed()?;
        Ok(())
    }

    fn drain(&mut self, each: &mut dyn FnMut(Observation)) {
        let settled = if self.clock == Clock::Wall { 0 } else { SETTLED };
        self.drain_until(sys::now(Clock::Wall).saturating_sub(settled), each);
    }

    fn drain_series(&mut self, least: usize, sink: &mut dyn FnMut(Table)) {
        for (meter, link) in self.links.iter_mut().zip(&self.plan.links) {
            meter.drain(&link.name, least, self.complete, sink);
        }
    }

    fn undecided(&mut self) -> Result<usize, KernelError> {
        let undecided: Vec<usize> = self.links.iter().map(LinkMeter::undecided).collect();
        if undecided.iter().all(|count| *count == 0) {
            return Ok(0);
        }
        let waiting: Vec<u64> = self.queues()?.iter().map(|(waiting, _)| *waiting).collect();
        Ok(self.emptied.left(&undecided, &waiting))
    }

    fn finish(&mut self, each: &mut dyn FnMut(Observation)) -> Result<LinkResults, KernelError> {
        if self.clock == Clock::Steady {
            self.drain_until(u64::MAX, each);
        }
        let mut missed = 0;
        for (_, tap) in &self.net.taps {
            missed += u64::from(tap.missed()?);
        }
        if missed > 0 && self.clock == Clock::Wall {
            return Err(KernelError::Invalid(format!("the taps missed {missed} packets: too many between two drains")));
        }
        let (mut queues, mut tables) = (Vec::new(), Vec::new());
        let mut ever_full = Vec::new();
        let state = self.queues()?;
        let policed = self.policed()?;
        for (n, link) in self.plan.links.iter().enumerate() {
            let (waiting, full) = state[n];
            ever_full.push(full > self.full_at_begin[n]);
            let full = full.saturating_sub(self.full_before[n]);
            let (meter, captures) = (&mut self.links[n], &mut self.captures);
            meter.close(waiting as usize, |lost| {
                report_loss(lost, each);
                captures.iter_mut().for_each(|c| c.lost(n, lost));
            });
            if meter.strays > 0 && self.clock == Clock::Wall {
                let message = format!("{} packets left {} without an observed arrival", meter.strays, link.name);
                return Err(KernelError::Invalid(message));
            }
            queues.push(meter.finish(
                &link.name,
                &link.queue.name,
                full,
                policed[n].saturating_sub(self.policed_before[n]),
            ));
            tables.extend(meter.tables(&link.name));
        }
        if let Some(mut captures) = self.captures.take() {
            captures.settle();
            captures.write(self.place, |link| {
                let (plan, was_full) = (&self.plan.links[link], ever_full[link]);
                let only_full = kernel_row(plan).is_some_and(|row| row.overlimit.is_none());
                match (only_full, plan.policer.is_some(), was_full) {
                    (true, true, false) => Some(DropReason::Policed),
                    (true, false, _) => Some(DropReason::Full),
                    (_, false, false) => Some(DropReason::Early),
                    // A policer and a queue: the kernel doesn't report which of them dropped a packet.
                    (_, true, _) => None,
                    // An AQM whose queue was full at times: the kernel doesn't report which packets that affected.
                    (_, false, true) => None,
                }
            })?;
        }
        let facts = match self.clock {
            Clock::Wall => Value::Null,
            Clock::Steady => json!({
                "link": {
                    "missed": missed,
                    "strays": self.links.iter().map(|l| l.strays).sum::<u64>(),
                    "clock_moved_ms": (wall_minus_steady() - self.clock_offset) as f64 * 1e-6,
                    "real_time": self.real_time,
                },
                "cpu": self.cpu.as_ref().map(Cpu::since),
            }),
        };
        Ok(LinkResults { queues, tables, duplicated: None, facts })
    }
}

impl Taps<'_> {
    /// Passes on the packets up to a time of the wall clock.
    fn drain_until(&mut self, until: u64, each: &mut dyn FnMut(Observation)) {
        for ((_, tap), seen) in self.net.taps.iter_mut().zip(&mut self.seen) {
            tap.drain(seen);
        }
        // Packets that arrived while the taps were being drained are kept for the next call: their causes may have
        // passed another tap after it was drained.
        let mut late = Late::default();
        for tap in 0..self.seen.len() {
            if self.clock == Clock::Steady {
                // Several processors write into a ring, so its packets may be out of order.
                self.seen[tap].sort_by_key(|p| p.time);
            }
            let ready = self.seen[tap].partition_point(|p| p.time <= until);
            let namespace = self.net.taps[tap].0;
            let passed: Vec<TappedPacket> = self.seen[tap].drain(..ready).collect();
            for p in passed {
                self.pass(namespace, &p, &mut late, each);
            }
        }
        for (link, packet, now) in late.landed {
            let captures = &mut self.captures;
            self.links[link].landed(&packet, now, |lost| {
                late.lost.push(lost);
                captures.iter_mut().for_each(|c| c.lost(link, lost));
            });
        }
        late.lost.into_iter().for_each(|lost| report_loss(lost, each));
        self.complete = until.saturating_sub(self.zero);
        if let Some(captures) = &mut self.captures {
            captures.settle();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Emptied;

    #[test]
    fn packets_of_an_empty_queue_are_decided() {
        let mut emptied = Emptied(vec![false; 2]);
        assert_eq!(emptied.left(&[1, 2], &[3, 1]), 3, "both queues hold packets");
        assert_eq!(emptied.left(&[1, 2], &[0, 1]), 3, "departures from the first may not be observed yet");
        assert_eq!(emptied.left(&[1, 2], &[5, 1]), 2, "later arrivals don't matter");
        assert_eq!(emptied.left(&[1, 2], &[5, 0]), 2);
        assert_eq!(emptied.left(&[1, 2], &[5, 0]), 0);
    }
}
