//! The run: one loop that serves alarms and sockets, samples connections, and hands what the taps saw to the meters.

use super::setup::{DRAIN, Network};
use crate::error::{EmuError, Step};
use crate::meter::{FlowMeter, LinkMeter, Window};
use crate::net;
use crate::sys;
use crate::tap::Passed;
use crate::traffic::{Cx, Host, PingConfig, PingTraffic, TcpTraffic, Traffic, UdpTraffic};
use dumbbell_sim::{
    AppPlan, FlowPlan, FlowResult, HERE, Plan, QueueResult, Routes, SeriesPlan, Source, Transfer,
    TransportPlan,
};
use dumbbell_trace::Table;
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fs;
use std::os::fd::OwnedFd;

/// Token of the timer; a flow's token is its number x 256 + role.
const TIMER: u64 = u64::MAX;
/// The run goes on so long at most until the fate of what was under way at its end is known, ns.
const AFTERMATH: u64 = 5_000_000_000;

/// What a run leaves behind.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    pub(super) flows: Vec<FlowResult>,
    pub(super) queues: Vec<QueueResult>,
    pub(super) transfers: Vec<Transfer>,
    /// Counters of the kernel's TCP at each flow's data sender that aren't zero.
    pub(super) counters: BTreeMap<String, BTreeMap<String, u64>>,
    #[serde(skip)]
    pub(super) tables: Vec<Table>,
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

enum Kind {
    Tcp(TcpTraffic),
    Udp(UdpTraffic),
    Ping(PingTraffic),
}

impl Kind {
    fn traffic(&mut self) -> &mut dyn Traffic {
        match self {
            Kind::Tcp(t) => t,
            Kind::Udp(t) => t,
            Kind::Ping(t) => t,
        }
    }
}

struct Running {
    kind: Kind,
    meter: FlowMeter,
    start: u64,
    stop: u64,
    started: bool,
    stopped: bool,
    dropped: u64,
    /// Recoveries and timeouts before measurement began.
    before: [u64; 2],
    window: Window,
}

struct Machine<'a> {
    plan: &'a Plan,
    net: Network,
    routes: Routes,
    epoll: OwnedFd,
    timer: OwnedFd,
    /// When the run began, wall clock, ns.
    zero: u64,
    agenda: BinaryHeap<Reverse<(u64, u64, Task)>>,
    order: u64,
    flows: Vec<Running>,
    links: Vec<LinkMeter>,
    /// Packets that each link's queue had dropped for being full when measurement began.
    full_before: Vec<u64>,
    transfers: Vec<Transfer>,
    /// What each tap saw and no meter has heard of yet.
    seen: Vec<Vec<Passed>>,
    sample_ns: u64,
}

/// Runs the plan on the network.
pub(super) fn run(plan: &Plan, net: Network, sample_ns: u64) -> Result<Measured, EmuError> {
    let mut machine = Machine::new(plan, net, sample_ns)?;
    machine.go()?;
    machine.finish()
}

impl<'a> Machine<'a> {
    fn new(plan: &'a Plan, net: Network, sample_ns: u64) -> Result<Machine<'a>, EmuError> {
        let window = Window { from: plan.measure_from_ns, to: plan.duration_ns };
        let (epoll, timer) = (sys::epoll().step(|| "epoll".into())?, sys::timer().step(|| "timer".into())?);
        use std::os::fd::AsRawFd;
        sys::epoll_add(&epoll, timer.as_raw_fd(), libc::EPOLLIN, TIMER).step(|| "epoll".into())?;
        let flows = plan
            .flows
            .iter()
            .enumerate()
            .map(|(n, flow)| running(plan, &net, n, flow, window))
            .collect::<Result<_, _>>()?;
        let links = plan
            .links
            .iter()
            .map(|l| {
                let series =
                    if plan.trace.of_link(&l.name) { plan.trace.series } else { SeriesPlan::default() };
                LinkMeter::new(window, l.rate_bps, l.overhead_bytes, series)
            })
            .collect();
        Ok(Machine {
            plan,
            routes: Routes::new(plan).map_err(|e| EmuError::Invalid(e.to_string()))?,
            epoll,
            timer,
            // On a whole second, the first but one from now.
            zero: (sys::now() / 1_000_000_000 + 2) * 1_000_000_000,
            agenda: BinaryHeap::new(),
            order: 0,
            flows,
            full_before: vec![0; plan.links.len()],
            links,
            transfers: Vec::new(),
            seen: net.taps.iter().map(|_| Vec::new()).collect(),
            net,
            sample_ns,
        })
    }

    fn schedule(&mut self, at: u64, task: Task) {
        self.order += 1;
        self.agenda.push(Reverse((at, self.order, task)));
    }

    fn now(&self) -> u64 {
        sys::now().saturating_sub(self.zero)
    }

    fn go(&mut self) -> Result<(), EmuError> {
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
            let Some(Reverse((at, ..))) = self.agenda.peek().copied() else { return Ok(()) };
            if set_for != Some(at) {
                sys::set_timer(&self.timer, self.zero + at).step(|| "timer".into())?;
                set_for = Some(at);
            }
            sys::epoll_wait(&self.epoll, &mut events).step(|| "epoll".into())?;
            // One look at the clock serves all: it stands still meanwhile.
            let now = self.now();
            for (token, what) in events.drain(..) {
                if token == TIMER {
                    continue;
                }
                let over = what & (libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR) as u32 != 0;
                self.serve((token >> 8) as usize, now, |t, cx| t.on_event(token as u8, over, cx))?;
            }
            while let Some(Reverse((at, _, task))) = self.agenda.peek().copied() {
                if at > now {
                    break;
                }
                self.agenda.pop();
                if self.perform(task, at)? {
                    return Ok(());
                }
            }
        }
    }

    /// Lets a flow's traffic act.
    fn serve(
        &mut self,
        flow: usize,
        now: u64,
        act: impl FnOnce(&mut dyn Traffic, &mut Cx<'_>) -> Result<(), EmuError>,
    ) -> Result<(), EmuError> {
        let mut cx = Cx::new(now, flow, &self.epoll, &mut self.transfers);
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

    /// Does what is due at `at`; gives whether the run is over.
    fn perform(&mut self, task: Task, at: u64) -> Result<bool, EmuError> {
        match task {
            Task::Restart => {
                for n in 0..self.flows.len() {
                    self.flows[n].kind.traffic().restart();
                    self.flows[n].before = self.recoveries(n)?;
                }
                for n in 0..self.links.len() {
                    self.full_before[n] = self.queue(n)?.1;
                }
            }
            Task::Start(n) if at < self.flows[n].stop => {
                self.flows[n].started = true;
                self.serve(n, at, |t, cx| t.start(cx))?;
            }
            Task::Start(_) => {}
            Task::Alarm(n) if self.flows[n].stopped => {}
            Task::Alarm(n) => self.serve(n, at, |t, cx| t.on_alarm(cx))?,
            Task::Sample => {
                for flow in self.flows.iter_mut().filter(|f| f.started && !f.stopped) {
                    let state = flow.kind.traffic().sample()?;
                    flow.meter.sampled(state.as_ref(), at);
                }
                self.schedule(at + self.sample_ns, Task::Sample);
            }
            Task::Drain => {
                self.drain();
                self.schedule(at + DRAIN, Task::Drain);
            }
            Task::Stop(n) => self.stop(n, at)?,
            Task::End => {
                self.drain();
                let undecided: usize = self.links.iter().map(LinkMeter::undecided).sum();
                if undecided == 0 || at >= self.plan.duration_ns + AFTERMATH {
                    return Ok(true);
                }
                self.schedule(at + DRAIN, Task::End);
            }
        }
        Ok(false)
    }

    /// Stops a flow before the end of the run; at the end itself everything goes on for a moment.
    fn stop(&mut self, n: usize, at: u64) -> Result<(), EmuError> {
        self.flows[n].stopped = true;
        self.flows[n].window.to = self.flows[n].window.to.min(at);
        self.flows[n].meter.stop(at);
        let [recoveries, timeouts] = self.recoveries(n)?;
        let before = self.flows[n].before;
        self.flows[n].before = [recoveries.wrapping_sub(before[0]), timeouts.wrapping_sub(before[1])];
        if at < self.plan.duration_ns {
            self.flows[n].kind.traffic().stop(at);
        }
        Ok(())
    }

    /// Recoveries without a timeout and timeouts that the kernel has counted at the flow's data sender.
    fn recoveries(&self, n: usize) -> Result<[u64; 2], EmuError> {
        let counters = self.counters(n)?;
        let count = |name: &str| counters.get(name).copied().unwrap_or(0);
        Ok([count("TCPSackRecovery") + count("TCPRenoRecovery"), count("TCPTimeouts")])
    }

    /// The kernel's TCP counters at the flow's data sender that aren't zero.
    fn counters(&self, n: usize) -> Result<BTreeMap<String, u64>, EmuError> {
        let host = self.net.layout.flows[n].hosts[0];
        sys::enter_network(&self.net.spaces[host]).step(|| "namespace".into())?;
        let mut counters = BTreeMap::new();
        for file in ["netstat", "snmp"] {
            // Of this thread's namespace: /proc/net would be that of the process as it began.
            let text = fs::read_to_string(format!("/proc/thread-self/net/{file}")).step(|| file.into())?;
            let lines: Vec<&str> = text.lines().collect();
            for pair in lines.chunks_exact(2).filter(|p| p[0].starts_with("Tcp")) {
                for (name, value) in pair[0].split_whitespace().zip(pair[1].split_whitespace()).skip(1) {
                    if let Ok(value @ 1..) = value.parse() {
                        counters.insert(name.to_owned(), value);
                    }
                }
            }
        }
        Ok(counters)
    }

    /// Packets that wait in a link's queue, and those that it has dropped because it was full.
    fn queue(&self, link: usize) -> Result<(u64, u64), EmuError> {
        let ends = &self.net.layout.links[link];
        let stats = net::statistics(&self.net.sockets[ends.from])?;
        // The shaper tells of what is inside it too; the discipline inside knows why it drops.
        let here = stats.into_iter().filter(|s| s.index == ends.out && s.kind != "tbf");
        Ok(here.fold((0, 0), |(waiting, full), s| (waiting + u64::from(s.waiting), full + s.full())))
    }

    /// Hands what the taps saw to the meters.
    fn drain(&mut self) {
        let until = sys::now();
        for ((_, tap), seen) in self.net.taps.iter_mut().zip(&mut self.seen) {
            tap.drain(seen);
        }
        // What came while the taps were being emptied is left for the next time, so that no effect is seen without its
        // cause, which may have passed another tap.
        let mut landed = Vec::new();
        for tap in 0..self.seen.len() {
            let ready = self.seen[tap].partition_point(|p| p.time <= until);
            let space = self.net.taps[tap].0;
            let passed: Vec<Passed> = self.seen[tap].drain(..ready).collect();
            for p in passed {
                self.pass(space, &p, &mut landed);
            }
        }
        for (link, p) in landed {
            let dropped = &mut self.flows;
            let now = p.time.saturating_sub(self.zero);
            self.links[link].landed(&p.packet, now, |direction, when| count_drop(dropped, direction, when));
        }
        for flow in 0..self.flows.len() {
            if let Some(end) = self.flows[flow].kind.traffic().ended() {
                self.flows[flow].window.to = self.flows[flow].window.to.min(end);
                self.flows[flow].meter.stop(end);
            }
        }
    }

    /// A packet has passed an interface of a host or node.
    fn pass(&mut self, space: usize, p: &Passed, landed: &mut Vec<(usize, Passed)>) {
        let now = p.time.saturating_sub(self.zero);
        let flow = (p.packet.direction / 2) as usize;
        let forward = p.packet.direction.is_multiple_of(2);
        let Some(ends) = self.net.layout.flows.get(flow) else { return };
        if let Some(side) = ends.hosts.iter().position(|h| *h == space) {
            let meter = &mut self.flows[flow].meter;
            match (side, p.out, forward) {
                (0, true, true) => meter.sent(&p.packet, now),
                (0, false, false) => meter.answered(&p.packet, now),
                (1, false, true) => meter.arrived(&p.packet, now),
                _ => {}
            }
            return;
        }
        let links = &self.net.layout.links;
        if p.out {
            if let Some(link) = links.iter().position(|l| l.from == space && l.out == p.index) {
                let flows = &mut self.flows;
                self.links[link]
                    .departed(&p.packet, now, |direction, when| count_drop(flows, direction, when));
            }
            return;
        }
        if let Some(link) = links.iter().position(|l| l.to == space && l.enter == p.index) {
            landed.push((link, *p));
        }
        let next = self.routes.next(space, p.packet.direction);
        if next != HERE {
            self.links[next as usize].arrived(&p.packet, now);
        }
    }

    fn finish(mut self) -> Result<Measured, EmuError> {
        for (_, tap) in &self.net.taps {
            match tap.missed()? {
                0 => {}
                n => {
                    return Err(EmuError::Invalid(format!(
                        "the taps missed {n} packets: too many between two drains"
                    )));
                }
            }
        }
        let mut queues = Vec::new();
        let mut tables = Vec::new();
        for (n, link) in self.plan.links.iter().enumerate() {
            let (waiting, full) = self.queue(n)?;
            let full = full.saturating_sub(self.full_before[n]);
            let flows = &mut self.flows;
            let meter = &mut self.links[n];
            meter.close(waiting as usize, |direction, when| count_drop(flows, direction, when));
            if meter.strays > 0 {
                let message = format!("{} packets left {} that nobody saw come", meter.strays, link.name);
                return Err(EmuError::Invalid(message));
            }
            queues.push(meter.finish(&link.name, &link.queue.name, full));
            tables.extend(meter.tables(&link.name, self.plan.trace.interval_ns));
        }
        let mut flows = Vec::new();
        let mut counters = BTreeMap::new();
        for n in 0..self.flows.len() {
            flows.push(self.figures(n));
            counters.insert(self.plan.flows[n].name.clone(), self.counters(n)?);
            let name = &self.plan.flows[n].name;
            tables.extend(self.flows[n].meter.table(name));
            if let Kind::Ping(ping) = &mut self.flows[n].kind {
                tables.extend(ping.table(name));
            }
        }
        Ok(Measured { flows, queues, transfers: self.transfers, counters, tables })
    }

    fn figures(&mut self, n: usize) -> FlowResult {
        let (plan, flow) = (&self.plan.flows[n], &mut self.flows[n]);
        let tcp = matches!(flow.kind, Kind::Tcp(_));
        let variant = match (&plan.transport, &flow.kind) {
            (TransportPlan::Tcp { variant, .. }, _) => variant.name.as_str(),
            (_, Kind::Ping(_)) => "ping",
            _ => "udp",
        };
        let mut result = FlowResult {
            name: plan.name.clone(),
            variant: variant.into(),
            application: plan.application.kind().into(),
            start_s: flow.start as f64 * 1e-9,
            stop_s: flow.window.to as f64 * 1e-9,
            dropped_packets: flow.dropped,
            ..FlowResult::default()
        };
        flow.meter.finish(tcp, &mut result);
        if tcp {
            [result.fast_retransmits, result.timeouts] = flow.before;
        }
        flow.kind.traffic().finish(&mut result);
        result.drop_rate =
            (result.sent_packets > 0).then(|| result.dropped_packets as f64 / result.sent_packets as f64);
        result
    }
}

/// A packet with payload was dropped: it counts if it came while its flow was measured.
fn count_drop(flows: &mut [Running], direction: u32, when: u64) {
    if let Some(flow) = flows.get_mut((direction / 2) as usize).filter(|_| direction.is_multiple_of(2)) {
        flow.dropped += u64::from(flow.window.holds(when));
    }
}

fn running(
    plan: &Plan,
    net: &Network,
    n: usize,
    flow: &FlowPlan,
    window: Window,
) -> Result<Running, EmuError> {
    let path = |part: &str| format!("flow/{}/{part}", flow.name);
    let jitter = Stream::new(plan.seed, &path("start")).uniform();
    let start = flow.start_ns + Dur(plan.start_jitter_ns).scale(jitter).0;
    let stop = flow.stop_ns.unwrap_or(plan.duration_ns).min(plan.duration_ns);
    let ends = &net.layout.flows[n];
    let host = |side: usize| -> Result<Host, EmuError> {
        let network = net.spaces[ends.hosts[side]].try_clone().step(|| "namespace".into())?;
        Ok(Host { network, address: ends.addresses[side] })
    };
    let hosts = [host(0)?, host(1)?];
    let source = Source::new(&flow.application, Time(start), Stream::new(plan.seed, &path("source")));
    let kind = match (ends.variant, source, &flow.application) {
        (Some(variant), source, app) => Kind::Tcp(TcpTraffic::new(hosts, app.clone(), variant, source)),
        (None, Some(source), _) => Kind::Udp(UdpTraffic::new(hosts, source)),
        (None, None, AppPlan::Ping { interval_ns, packet_bytes, count, timeout_ns }) => {
            let config = PingConfig {
                interval_ns: *interval_ns,
                packet_bytes: *packet_bytes,
                count: *count,
                timeout_ns: *timeout_ns,
            };
            Kind::Ping(PingTraffic::new(hosts, config, plan.trace.of_flow(&flow.name)))
        }
        (None, None, app) => {
            return Err(EmuError::Invalid(format!("'{}' over datagrams", app.kind())));
        }
    };
    let window = Window { from: window.from.max(start), to: window.to.min(stop) };
    Ok(Running {
        kind,
        meter: FlowMeter::new(window, plan.trace.of_flow(&flow.name)),
        start,
        stop,
        started: false,
        stopped: false,
        dropped: 0,
        before: [0; 2],
        window,
    })
}
