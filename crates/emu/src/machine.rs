//! The run: one loop that serves alarms and sockets, samples connections, and hands what was seen at hosts to the meters.

use crate::error::{EmuError, Step};
use crate::fabric::{DRAIN, Fabric, Seen, Site};
use crate::meter::{FlowMeter, Window};
use crate::sys::{self, Clock};
use crate::traffic::{
    Cx, Host, PingConfig, PingTraffic, ProgramConfig, ProgramTraffic, TcpTraffic, Traffic, UdpTraffic,
};
use dumbbell_sim::{
    AppPlan, FlowPlan, FlowResult, Plan, ProgramKind, QueueResult, Source, Transfer, TransportPlan,
};
use dumbbell_trace::Table;
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time};
use serde::Serialize;
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fs;
use std::os::fd::OwnedFd;

/// Token of the timer; a flow's token is its number x 256 + role.
const TIMER: u64 = u64::MAX;
/// The run goes on so long at most until the fate of what was under way at its end is known, ns.
const AFTERMATH: u64 = 5_000_000_000;

/// Servers have so long to get ready before the run, ms.
const SERVER_MS: u128 = 700;
/// Those that are known to wait for connections.
const KNOWN_SERVER_MS: u128 = 10_000;

/// What a run leaves behind.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    pub(crate) flows: Vec<FlowResult>,
    pub(crate) queues: Vec<QueueResult>,
    pub(crate) transfers: Vec<Transfer>,
    /// Counters of the kernel's TCP at each flow's data sender that aren't zero.
    pub(crate) counters: BTreeMap<String, BTreeMap<String, u64>>,
    /// What was measured of the means.
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

enum Kind {
    Tcp(TcpTraffic),
    Udp(UdpTraffic),
    Ping(PingTraffic),
    Program(ProgramTraffic),
}

impl Kind {
    fn traffic(&mut self) -> &mut dyn Traffic {
        match self {
            Kind::Tcp(t) => t,
            Kind::Udp(t) => t,
            Kind::Ping(t) => t,
            Kind::Program(t) => t,
        }
    }
}

struct Running {
    kind: Kind,
    meter: FlowMeter,
    /// Of a program's connections, by port; `meter` has what isn't TCP.
    connections: BTreeMap<u16, FlowMeter>,
    series: bool,
    start: u64,
    stop: u64,
    started: bool,
    stopped: bool,
    dropped: u64,
    duplicated: u64,
    /// Recoveries and timeouts before measurement began.
    before: [u64; 2],
    window: Window,
}

impl Running {
    /// A connection's own meter where a flow has several at a time.
    fn meter_of(&mut self, packet: &crate::packet::Packet) -> &mut FlowMeter {
        match (&self.kind, packet.tcp) {
            (Kind::Program(_), Some(tcp)) => {
                let new = || FlowMeter::new(self.window, self.series);
                self.connections.entry(tcp.connection).or_insert_with(new)
            }
            _ => &mut self.meter,
        }
    }

    /// That of the connection that has sent most.
    fn main_meter(&mut self) -> &mut FlowMeter {
        let main = self.connections.iter().max_by_key(|(_, m)| m.sent_bytes()).map(|(port, _)| *port);
        match main.and_then(|port| self.connections.get_mut(&port)) {
            Some(meter) => meter,
            None => &mut self.meter,
        }
    }

    /// Fills in the figures: of several connections the sums, round trips and windows of the one that has sent most.
    fn figures(&mut self, tcp: bool, result: &mut FlowResult) {
        self.main_meter().finish(tcp, result);
        let main = self.connections.iter().max_by_key(|(_, m)| m.sent_bytes()).map(|(port, _)| *port);
        for (_, meter) in self.connections.iter_mut().filter(|(port, _)| Some(**port) != main) {
            let mut other = FlowResult::default();
            meter.finish(tcp, &mut other);
            result.goodput_bps += other.goodput_bps;
            result.throughput_bps += other.throughput_bps;
            result.sent_packets += other.sent_packets;
            result.sent_bytes += other.sent_bytes;
            result.delivered_bytes += other.delivered_bytes;
            result.retransmitted_packets += other.retransmitted_packets;
            result.retransmitted_bytes += other.retransmitted_bytes;
            result.duplicate_bytes += other.duplicate_bytes;
        }
    }

    fn each_meter(&mut self, act: impl Fn(&mut FlowMeter)) {
        act(&mut self.meter);
        self.connections.values_mut().for_each(act);
    }
}

struct Machine<'a, F: Fabric> {
    plan: &'a Plan,
    sites: &'a [Site],
    fabric: F,
    clock: Clock,
    epoll: OwnedFd,
    timer: OwnedFd,
    /// When the run began, by the clock, ns.
    zero: u64,
    agenda: BinaryHeap<Reverse<(u64, u64, Task)>>,
    order: u64,
    flows: Vec<Running>,
    transfers: Vec<Transfer>,
    sample_ns: u64,
}

/// Runs the plan's flows between their hosts. The wall clock stands still while we work (virtual time); a steady one
/// doesn't.
pub(crate) fn run<F: Fabric>(
    plan: &Plan,
    sites: &[Site],
    fabric: F,
    clock: Clock,
    sample_ns: u64,
) -> Result<Measured, EmuError> {
    let mut machine = Machine::new(plan, sites, fabric, clock, sample_ns)?;
    machine.go()?;
    machine.finish()
}

impl<'a, F: Fabric> Machine<'a, F> {
    fn new(
        plan: &'a Plan,
        sites: &'a [Site],
        mut fabric: F,
        clock: Clock,
        sample_ns: u64,
    ) -> Result<Machine<'a, F>, EmuError> {
        let window = Window { from: plan.measure_from_ns, to: plan.duration_ns };
        let epoll = sys::epoll().step(|| "epoll".into())?;
        let timer = sys::timer(clock).step(|| "timer".into())?;
        use std::os::fd::AsRawFd;
        sys::epoll_add(&epoll, timer.as_raw_fd(), libc::EPOLLIN, TIMER).step(|| "epoll".into())?;
        let mut flows = Vec::new();
        for (n, (flow, site)) in plan.flows.iter().zip(sites).enumerate() {
            flows.push(running(plan, site, (n, flow), window)?);
        }
        start_servers(plan, &mut flows)?;
        let zero = match clock {
            // On a whole second, the first but one from now.
            Clock::Wall => (sys::now(clock) / 1_000_000_000 + 2) * 1_000_000_000,
            Clock::Steady => sys::now(clock) + 20_000_000,
        };
        fabric.begin(zero)?;
        Ok(Machine {
            plan,
            sites,
            fabric,
            clock,
            epoll,
            timer,
            zero,
            agenda: BinaryHeap::new(),
            order: 0,
            flows,
            transfers: Vec::new(),
            sample_ns,
        })
    }

    fn schedule(&mut self, at: u64, task: Task) {
        self.order += 1;
        self.agenda.push(Reverse((at, self.order, task)));
    }

    fn now(&self) -> u64 {
        sys::now(self.clock).saturating_sub(self.zero)
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
            // One look at the clock serves all: in virtual time it stands still meanwhile.
            let now = self.now();
            for (token, what) in events.drain(..) {
                if token == TIMER {
                    continue;
                }
                let over = what & (libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR) as u32 != 0;
                self.serve((token >> 8) as usize, now, now, |t, cx| t.on_event(token as u8, over, cx))?;
            }
            while let Some(Reverse((at, _, task))) = self.agenda.peek().copied() {
                if at > now {
                    break;
                }
                self.agenda.pop();
                let clock = if self.clock == Clock::Wall { at } else { self.now().max(at) };
                if self.perform(task, at, clock)? {
                    return Ok(());
                }
            }
        }
    }

    /// Lets a flow's traffic act on what was due at `now`, at the time `clock`.
    fn serve(
        &mut self,
        flow: usize,
        now: u64,
        clock: u64,
        act: impl FnOnce(&mut dyn Traffic, &mut Cx<'_>) -> Result<(), EmuError>,
    ) -> Result<(), EmuError> {
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

    /// Does what is due at `at`, at the time `clock`; gives whether the run is over.
    fn perform(&mut self, task: Task, at: u64, clock: u64) -> Result<bool, EmuError> {
        match task {
            Task::Restart => {
                for n in 0..self.flows.len() {
                    self.flows[n].kind.traffic().restart();
                    self.flows[n].before = self.recoveries(n)?;
                }
                self.fabric.restart()?;
            }
            Task::Start(n) if at < self.flows[n].stop => {
                self.flows[n].started = true;
                self.serve(n, at, clock, |t, cx| t.start(cx))?;
            }
            Task::Start(_) => {}
            Task::Alarm(n) if self.flows[n].stopped => {}
            Task::Alarm(n) => self.serve(n, at, clock, |t, cx| t.on_alarm(cx))?,
            Task::Sample => {
                self.drain(); // so that what has been sent and delivered is as of now
                for flow in self.flows.iter_mut().filter(|f| f.started && !f.stopped) {
                    let state = flow.kind.traffic().sample()?;
                    flow.main_meter().sampled(state.as_ref(), clock);
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
                if self.fabric.undecided() == 0 || at >= self.plan.duration_ns + AFTERMATH {
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
        self.flows[n].each_meter(|m| m.stop(at));
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
        sys::enter_network(&self.sites[n].hosts[0]).step(|| "namespace".into())?;
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

    /// Hands what was seen to the meters.
    fn drain(&mut self) {
        let flows = &mut self.flows;
        self.fabric.drain(&mut |seen| note(flows, &seen));
        for flow in &mut self.flows {
            if let Some(end) = flow.kind.traffic().ended() {
                flow.window.to = flow.window.to.min(end);
                flow.each_meter(|m| m.stop(end));
            }
        }
    }

    fn finish(mut self) -> Result<Measured, EmuError> {
        let flows = &mut self.flows;
        let links = self.fabric.finish(&mut |seen| note(flows, &seen))?;
        let mut tables = links.tables;
        for (n, flow) in self.flows.iter_mut().enumerate() {
            flow.dropped = links.dropped.as_ref().map_or(flow.dropped, |all| all[n]);
            flow.duplicated = links.duplicated.as_ref().map_or(0, |all| all[n]);
        }
        let mut flows = Vec::new();
        let mut counters = BTreeMap::new();
        for n in 0..self.flows.len() {
            flows.push(self.figures(n));
            counters.insert(self.plan.flows[n].name.clone(), self.counters(n)?);
            let name = &self.plan.flows[n].name;
            tables.extend(self.flows[n].main_meter().table(name));
            if let Kind::Ping(ping) = &mut self.flows[n].kind {
                tables.extend(ping.table(name));
            }
        }
        let mut facts = links.facts;
        for (flow, plan) in self.flows.iter_mut().zip(&self.plan.flows) {
            if let Kind::Program(program) = &mut flow.kind {
                facts["programs"][&plan.name] = program.report();
            }
        }
        Ok(Measured { flows, queues: links.queues, transfers: self.transfers, counters, facts, tables })
    }

    fn figures(&mut self, n: usize) -> FlowResult {
        let (plan, flow) = (&self.plan.flows[n], &mut self.flows[n]);
        let program = matches!(flow.kind, Kind::Program(_));
        let tcp = matches!(flow.kind, Kind::Tcp(_)) || program && !flow.connections.is_empty();
        let variant = match &plan.transport {
            TransportPlan::Tcp { variant, .. } => variant.name.as_str(),
            _ if plan.application.kind() == "ping" => "ping",
            _ => "udp",
        };
        let mut result = FlowResult {
            name: plan.name.clone(),
            variant: variant.into(),
            application: plan.application.kind().into(),
            start_s: flow.start as f64 * 1e-9,
            stop_s: flow.window.to as f64 * 1e-9,
            dropped_packets: flow.dropped,
            duplicated_packets: flow.duplicated,
            ..FlowResult::default()
        };
        flow.figures(tcp, &mut result);
        if tcp {
            [result.fast_retransmits, result.timeouts] = flow.before;
        }
        flow.kind.traffic().finish(&mut result);
        result.drop_rate =
            (result.sent_packets > 0).then(|| result.dropped_packets as f64 / result.sent_packets as f64);
        result
    }
}

/// Starts the servers of programs and waits until they can be connected to.
fn start_servers(plan: &Plan, flows: &mut [Running]) -> Result<(), EmuError> {
    let began = std::time::Instant::now();
    for (flow, plan) in flows.iter_mut().zip(&plan.flows) {
        let (Kind::Program(program), AppPlan::Program { name, .. }) = (&mut flow.kind, &plan.application)
        else {
            continue;
        };
        program.prepare()?;
        // What a command is nobody knows: it may wait for datagrams.
        let patience = if *name == ProgramKind::Command { SERVER_MS } else { KNOWN_SERVER_MS };
        while !program.is_ready()? && began.elapsed().as_millis() < patience {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
    Ok(())
}

/// Hands on what was seen of a flow.
fn note(flows: &mut [Running], seen: &Seen) {
    match seen {
        Seen::AtHost { side, out, packet, at } => {
            let Some(flow) = flows.get_mut(packet.direction as usize / 2) else { return };
            match (side, out, packet.direction.is_multiple_of(2)) {
                (0, true, true) => flow.meter_of(packet).sent(packet, *at),
                (0, false, false) => flow.meter_of(packet).answered(packet, *at),
                (1, false, true) => flow.meter_of(packet).arrived(packet, *at),
                _ => {}
            }
        }
        // It counts if it came while its flow was measured.
        Seen::Dropped { direction, at } => {
            let forward = direction.is_multiple_of(2);
            if let Some(flow) = flows.get_mut(*direction as usize / 2).filter(|_| forward) {
                flow.dropped += u64::from(flow.window.holds(*at));
            }
        }
    }
}

fn running(
    plan: &Plan,
    site: &Site,
    (number, flow): (usize, &FlowPlan),
    window: Window,
) -> Result<Running, EmuError> {
    let path = |part: &str| format!("flow/{}/{part}", flow.name);
    let jitter = Stream::new(plan.seed, &path("start")).uniform();
    let start = flow.start_ns + Dur(plan.start_jitter_ns).scale(jitter).0;
    let stop = flow.stop_ns.unwrap_or(plan.duration_ns).min(plan.duration_ns);
    let host = |side: usize| -> Result<Host, EmuError> {
        let network = site.hosts[side].try_clone().step(|| "namespace".into())?;
        Ok(Host { network, address: site.addresses[side] })
    };
    let hosts = [host(0)?, host(1)?];
    let source = Source::new(&flow.application, Time(start), Stream::new(plan.seed, &path("source")));
    let kind = match (site.variant.clone(), source, &flow.application) {
        (variant, _, AppPlan::Program { server, client, file, .. }) => {
            let config = ProgramConfig {
                server: server.clone(),
                client: client.clone(),
                file: file.clone(),
                number,
                seconds: (stop.saturating_sub(start) / 1_000_000_000).saturating_sub(1).max(1),
                variant: variant.unwrap_or_default(),
            };
            Kind::Program(ProgramTraffic::new(hosts, config))
        }
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
        connections: BTreeMap::new(),
        series: plan.trace.of_flow(&flow.name),
        start,
        stop,
        started: false,
        stopped: false,
        dropped: 0,
        duplicated: 0,
        before: [0; 2],
        window,
    })
}
