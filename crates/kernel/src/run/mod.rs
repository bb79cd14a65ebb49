//! The event loop of a run in which the Linux kernel's own TCP carries the flows. It starts and stops the flows, serves
//! timers and sockets, reads each connection's state at a fixed interval, passes the packets from the taps to the
//! meters, and collects the results. It runs on one thread and waits with timerfd and epoll [timerfd_create(2),
//! epoll(7)].

mod captures;
pub(crate) mod facts;
pub(crate) mod flow;
mod meters;
pub(crate) mod network;
pub(crate) mod output;
pub(crate) mod taps;
mod tcp_counters;
pub(crate) mod veth_network;

use crate::error::{KernelError, Step};
use crate::meter::Window;
use crate::plan::memory::DRAIN;
use crate::run::network::{FlowHosts, Network};
use crate::sys::{self, Clock};
use crate::traffic::{Cx, Traffic};
use dumbbell_plan::{FlowResult, Plan, QueueResult, Transfer};
use dumbbell_trace::Table;
use flow::{FlowRun, Kind, observe, start_servers};
use output::TableFile;
use serde::Serialize;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::os::fd::OwnedFd;

/// epoll token of the timer; a flow's token is its number x 2^32 + role.
const TIMER: u64 = u64::MAX;
/// Longest time after the end of the run, ns, for which packets in the network are observed further.
const MAX_DRAIN_NS: u64 = 5_000_000_000;
/// Time that the last packets of finished flows take beside the delays of all links, ns.
const LAST_PACKETS_NS: u64 = 1_000_000_000;
/// Whole seconds between the start of the guest and that of the run. CoDel takes time 0 for the time of its last drop,
/// and a drop within 16 intervals for a recent one [Linux include/net/codel_impl.h codel_dequeue]: after them the first
/// drop begins anew.
const UPTIME_S: u64 = 10;
/// Time between two looks at the lengths of series, ns: a multiple of `DRAIN`.
const PART_TIME: u64 = 10 * DRAIN;

/// The results of a run.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    pub(crate) flows: Vec<FlowResult>,
    pub(crate) queues: Vec<QueueResult>,
    pub(crate) transfers: Vec<Transfer>,
    /// The nonzero TCP counters of the namespace of each flow's data sender (SNMP and TcpExt).
    pub(crate) counters: BTreeMap<String, BTreeMap<String, u64>>,
    /// How the run was made: kernel, settings, lateness.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub(crate) facts: Value,
    #[serde(skip)]
    pub(crate) tables: Vec<Table>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Task {
    Restart,
    Start(usize),
    Alarm(usize),
    Sample,
    Drain,
    Stop(usize),
    End,
}

struct Runner<'a, F: Network> {
    plan: &'a Plan,
    flow_hosts: &'a [FlowHosts],
    network: F,
    clock: Clock,
    epoll: OwnedFd,
    timer: OwnedFd,
    /// Time of the run's beginning by the clock, ns.
    zero: u64,
    tasks: BinaryHeap<Reverse<(u64, u64, Task)>>,
    order: u64,
    flows: Vec<FlowRun>,
    transfers: Vec<Transfer>,
    sample_ns: u64,
    /// True once all flows have ended by themselves.
    ends_early: bool,
    /// The file for the rows of long series.
    parts: Option<&'a mut TableFile>,
}

/// Runs the plan's flows between their hosts. `Clock::Wall` is for the guest: there the wall clock shows virtual time,
/// which stops while this process works. With a file for `parts`, the rows of long series are written to it while the
/// run is in progress, and the returned tables have those after them.
pub(crate) fn execute<'a, F: Network>(
    plan: &'a Plan,
    flow_hosts: &'a [FlowHosts],
    network: F,
    (clock, sample_ns): (Clock, u64),
    parts: Option<&'a mut TableFile>,
) -> Result<Measured, KernelError> {
    let mut runner = Runner::new(plan, flow_hosts, network, clock, sample_ns)?;
    runner.parts = parts;
    runner.event_loop()?;
    runner.finish()
}

impl<'a, F: Network> Runner<'a, F> {
    fn new(
        plan: &'a Plan,
        flow_hosts: &'a [FlowHosts],
        mut network: F,
        clock: Clock,
        sample_ns: u64,
    ) -> Result<Runner<'a, F>, KernelError> {
        let window = Window { from: plan.measure_from_ns, to: plan.duration_ns };
        let epoll = sys::epoll().step(|| "epoll".into())?;
        let timer = sys::timer(clock).step(|| "timer".into())?;
        use std::os::fd::AsRawFd;
        sys::epoll_add(&epoll, timer.as_raw_fd(), libc::EPOLLIN, TIMER).step(|| "epoll".into())?;
        let mut flows = Vec::new();
        for (n, (flow, flow_hosts)) in plan.flows.iter().zip(flow_hosts).enumerate() {
            flows.push(FlowRun::new(plan, flow_hosts, (n, flow), window, clock)?);
        }
        start_servers(plan, &mut flows)?;
        let zero = match clock {
            Clock::Wall => (sys::now(clock) / 1_000_000_000 + UPTIME_S) * 1_000_000_000,
            Clock::Steady => sys::now(clock) + 20_000_000,
        };
        network.begin(zero)?;
        Ok(Runner {
            plan,
            flow_hosts,
            network,
            clock,
            epoll,
            timer,
            zero,
            tasks: BinaryHeap::new(),
            order: 0,
            flows,
            transfers: Vec::new(),
            sample_ns,
            ends_early: false,
            parts: None,
        })
    }

    fn schedule(&mut self, at: u64, task: Task) {
        self.order += 1;
        self.tasks.push(Reverse((at, self.order, task)));
    }

    fn now(&self) -> u64 {
        sys::now(self.clock).saturating_sub(self.zero)
    }

    fn event_loop(&mut self) -> Result<(), KernelError> {
        self.schedule(self.plan.measure_from_ns, Task::Restart);
        for n in 0..self.flows.len() {
            self.schedule(self.flows[n].start, Task::Start(n));
            self.schedule(self.flows[n].stop, Task::Stop(n));
        }
        self.schedule(0, Task::Sample);
        self.schedule(DRAIN, Task::Drain);
        self.schedule(self.plan.duration_ns, Task::End);
        let mut events = Vec::new();
        let mut set_for = None;
        loop {
            let Some(Reverse((at, ..))) = self.tasks.peek().copied() else { return Ok(()) };
            if set_for != Some(at) {
                sys::set_timer(&self.timer, self.zero + at).step(|| "timer".into())?;
                set_for = Some(at);
            }
            sys::epoll_wait(&self.epoll, &mut events).step(|| "epoll".into())?;
            // The clock is read once for all events: in virtual time it stops meanwhile.
            let now = self.now();
            for (token, what) in events.drain(..) {
                if token == TIMER {
                    continue;
                }
                let over = what & (libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR) as u32 != 0;
                self.serve((token >> 32) as usize, now, now, |t, cx| t.on_event(token as u32, over, cx))?;
            }
            while let Some(Reverse((at, _, task))) = self.tasks.peek().copied() {
                if at > now {
                    break;
                }
                self.tasks.pop();
                let clock = if self.clock == Clock::Wall { at } else { self.now().max(at) };
                if self.perform(task, at, clock)? {
                    return Ok(());
                }
            }
        }
    }

    /// Calls a flow's traffic for an event that was due at `now`; the clock has the time `clock`.
    fn serve(
        &mut self,
        flow: usize,
        now: u64,
        clock: u64,
        act: impl FnOnce(&mut dyn Traffic, &mut Cx<'_>) -> Result<(), KernelError>,
    ) -> Result<(), KernelError> {
        let mut cx = Cx::new(now, clock, flow, &self.epoll, &mut self.transfers);
        let before = cx.transfers.len();
        act(self.flows[flow].kind.traffic(), &mut cx)?;
        for transfer in &mut cx.transfers[before..] {
            transfer.flow.clone_from(&self.plan.flows[flow].name);
        }
        if let Some(at) = cx.take_alarm() {
            self.schedule(at.max(now + 1), Task::Alarm(flow));
        }
        Ok(())
    }

    /// Executes a task that was due at `at`; the clock has the time `clock`. Returns true if the run is over.
    fn perform(&mut self, task: Task, at: u64, clock: u64) -> Result<bool, KernelError> {
        match task {
            Task::Restart => {
                for n in 0..self.flows.len() {
                    self.flows[n].kind.traffic().restart();
                    self.flows[n].before = self.flows[n].recoveries(&self.flow_hosts[n])?;
                }
                self.network.restart()?;
            }
            Task::Start(n) if at < self.flows[n].stop => {
                self.flows[n].started = true;
                self.serve(n, at, clock, |t, cx| t.start(cx))?;
            }
            Task::Start(_) => {}
            Task::Alarm(n) if self.flows[n].stopped => {}
            Task::Alarm(n) => self.serve(n, at, clock, |t, cx| t.on_alarm(cx))?,
            Task::Sample => {
                self.drain(); // so that the counts of sent and delivered bytes are current
                for flow in self.flows.iter_mut().filter(|f| f.started && !f.stopped) {
                    let state = flow.kind.traffic().sample()?;
                    flow.main_meter().sampled(state.as_ref(), clock);
                }
                self.schedule(at + self.sample_ns, Task::Sample);
            }
            Task::Drain => {
                self.drain();
                self.write_parts(at)?;
                self.schedule(at + DRAIN, Task::Drain);
                self.end_early(at);
            }
            Task::Stop(n) => self.stop(n, at)?,
            Task::End => {
                self.drain();
                if self.network.undecided()? == 0 || at >= self.plan.duration_ns + MAX_DRAIN_NS {
                    // Those that have ended by themselves.
                    for n in (0..self.flows.len()).filter(|n| !self.flows[*n].stopped).collect::<Vec<_>>() {
                        self.stop(n, at)?;
                    }
                    return Ok(true);
                }
                self.schedule(at + DRAIN, Task::End);
            }
        }
        Ok(false)
    }

    /// Stops a flow. At the end of the run its traffic continues until its packets have departed or were dropped.
    fn stop(&mut self, n: usize, at: u64) -> Result<(), KernelError> {
        self.flows[n].stopped = true;
        self.flows[n].window.to = self.flows[n].window.to.min(at);
        self.flows[n].each_meter(|m| m.stop(at));
        let [recoveries, timeouts] = self.flows[n].recoveries(&self.flow_hosts[n])?;
        let before = self.flows[n].before;
        self.flows[n].before = [recoveries.wrapping_sub(before[0]), timeouts.wrapping_sub(before[1])];
        if at < self.plan.duration_ns {
            self.flows[n].kind.traffic().stop(at);
        }
        Ok(())
    }

    /// Ends the run once all flows have ended by themselves and their last packets have left the network: nothing
    /// happens after that. The measured interval of queues stays the plan's.
    fn end_early(&mut self, at: u64) {
        let mut flows = self.flows.iter_mut();
        if self.ends_early || at < self.plan.measure_from_ns || !flows.all(|f| f.kind.traffic().ended().is_some()) {
            return;
        }
        self.ends_early = true;
        let delays: u64 = self.plan.links.iter().map(|link| link.delay_ns).sum();
        let end = at + 2 * delays + LAST_PACKETS_NS;
        if end < self.plan.duration_ns {
            self.schedule(end, Task::End);
        }
    }

    /// Passes observed packets to the meters.
    fn drain(&mut self) {
        let flows = &mut self.flows;
        self.network.drain(&mut |observation| observe(flows, &observation));
        for flow in &mut self.flows {
            if let Some(end) = flow.kind.traffic().ended() {
                flow.window.to = flow.window.to.min(end);
                flow.each_meter(|m| m.stop(end));
            }
        }
    }

    /// Writes the rows so far of long series.
    fn write_parts(&mut self, at: u64) -> Result<(), KernelError> {
        let Some(file) = self.parts.as_deref_mut().filter(|_| at.is_multiple_of(PART_TIME)) else {
            return Ok(());
        };
        let least = file.part_bytes();
        let mut written = Ok(());
        let mut write = |table: Table| {
            if written.is_ok() {
                written = file.append(&table);
            }
        };
        self.network.drain_series(least, &mut write);
        for (flow, plan) in self.flows.iter_mut().zip(&self.plan.flows) {
            flow.drain(least, &plan.name, &mut write);
        }
        written
    }

    fn finish(mut self) -> Result<Measured, KernelError> {
        let flows = &mut self.flows;
        let links = self.network.finish(&mut |observation| observe(flows, &observation))?;
        let mut tables = links.tables;
        for (n, flow) in self.flows.iter_mut().enumerate() {
            flow.duplicated = links.duplicated.as_ref().map_or(0, |all| all[n]);
        }
        let mut flows = Vec::new();
        let mut counters = BTreeMap::new();
        for n in 0..self.flows.len() {
            flows.push(self.flows[n].result(&self.plan.flows[n]));
            counters.insert(self.plan.flows[n].name.clone(), tcp_counters::of(&self.flow_hosts[n].namespaces[0])?);
            let name = &self.plan.flows[n].name;
            tables.extend(self.flows[n].main_meter().tables(name));
            if let Kind::Ping(ping) = &mut self.flows[n].kind {
                tables.extend(ping.table(name));
            }
        }
        let mut facts = links.facts;
        for (flow, plan) in self.flows.iter_mut().zip(&self.plan.flows) {
            let reversed = flow.is_reversed();
            if let Kind::Program(program) = &mut flow.kind {
                let mut report = program.report();
                report["reversed"] = reversed.into();
                facts["programs"][&plan.name] = report;
            }
            if let (Kind::Workload(workload), Clock::Steady) = (&flow.kind, self.clock) {
                let [p99, most] = workload.late_ms();
                facts["workloads"][&plan.name] = json!({"late_p99_ms": p99, "late_max_ms": most});
            }
        }
        Ok(Measured { flows, queues: links.queues, transfers: self.transfers, counters, facts, tables })
    }
}
