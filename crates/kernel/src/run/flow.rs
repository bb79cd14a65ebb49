//! A flow of a run: its traffic, its meters, its results.

use crate::error::{KernelError, Step};
use crate::meter::{FlowMeter, Window};
use crate::run::network::{FlowHosts, Observation};
use crate::sys::Clock;
use crate::traffic::{
    Host, PingConfig, PingTraffic, ProgramConfig, ProgramTraffic, TcpTraffic, Traffic, UdpTraffic,
};
use dumbbell_plan::{AppPlan, FlowPlan, FlowResult, Plan, ProgramKind, TransportPlan};
use dumbbell_sim::Source;
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time};
use std::collections::BTreeMap;

/// Rate of all links, bit/s, from which a bulk receiver isn't woken for each packet: the wake-ups would take a quarter of
/// the link thread's time.
const RARE_WAKE_RATE: u64 = 200_000_000;
/// Longest wait for a server before the run, ms.
const SERVER_MS: u128 = 700;
/// Longest wait for a server that is known to listen, ms.
const KNOWN_SERVER_MS: u128 = 10_000;

pub(super) enum Kind {
    Tcp(TcpTraffic),
    Udp(UdpTraffic),
    Ping(PingTraffic),
    Program(ProgramTraffic),
}

impl Kind {
    pub(super) fn traffic(&mut self) -> &mut dyn Traffic {
        match self {
            Kind::Tcp(t) => t,
            Kind::Udp(t) => t,
            Kind::Ping(t) => t,
            Kind::Program(t) => t,
        }
    }
}

pub(super) struct FlowRun {
    pub(super) kind: Kind,
    meter: FlowMeter,
    /// Meters of a program's connections, by port; `meter` has its other packets.
    connections: BTreeMap<u16, FlowMeter>,
    series: bool,
    pub(super) start: u64,
    pub(super) stop: u64,
    pub(super) started: bool,
    pub(super) stopped: bool,
    pub(super) dropped: u64,
    pub(super) duplicated: u64,
    /// Recoveries and timeouts: at the beginning of the measurement, and after the flow's stop their difference.
    pub(super) before: [u64; 2],
    pub(super) window: Window,
}

impl FlowRun {
    /// Flow `number` of the plan, between its hosts.
    pub(super) fn new(
        plan: &Plan,
        flow_hosts: &FlowHosts,
        (number, flow): (usize, &FlowPlan),
        window: Window,
        clock: Clock,
    ) -> Result<FlowRun, KernelError> {
        let path = |part: &str| format!("flow/{}/{part}", flow.name);
        let jitter = Stream::new(plan.seed, &path("start")).uniform();
        let start = flow.start_ns + Dur(plan.start_jitter_ns).scale(jitter).0;
        let stop = flow.stop_ns.unwrap_or(plan.duration_ns).min(plan.duration_ns);
        let host = |side: usize| -> Result<Host, KernelError> {
            let network = flow_hosts.namespaces[side].try_clone().step(|| "namespace".into())?;
            Ok(Host { network, address: flow_hosts.addresses[side] })
        };
        let hosts = [host(0)?, host(1)?];
        let source = Source::new(&flow.application, Time(start), Stream::new(plan.seed, &path("source")));
        // In virtual time waking up takes no time.
        let rare_wakes =
            clock == Clock::Steady && plan.links.iter().all(|link| link.rate_bps >= RARE_WAKE_RATE);
        let kind = match (flow_hosts.variant.clone(), source, &flow.application) {
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
            (Some(variant), source, app) => {
                Kind::Tcp(TcpTraffic::new(hosts, app.clone(), variant, source, rare_wakes))
            }
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
                return Err(KernelError::Invalid(format!("'{}' over datagrams", app.kind())));
            }
        };
        let window = Window { from: window.from.max(start), to: window.to.min(stop) };
        Ok(FlowRun {
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

    /// Returns the meter of a packet's connection.
    fn meter_of(&mut self, packet: &crate::meter::packet::Packet) -> &mut FlowMeter {
        match (&self.kind, packet.tcp) {
            (Kind::Program(_), Some(tcp)) => {
                let new = || FlowMeter::new(self.window, self.series);
                self.connections.entry(tcp.connection).or_insert_with(new)
            }
            _ => &mut self.meter,
        }
    }

    /// Returns the meter of the connection that has sent most.
    pub(super) fn main_meter(&mut self) -> &mut FlowMeter {
        let main = self.connections.iter().max_by_key(|(_, m)| m.sent_bytes()).map(|(port, _)| *port);
        match main.and_then(|port| self.connections.get_mut(&port)) {
            Some(meter) => meter,
            None => &mut self.meter,
        }
    }

    /// Fills in the results. Of several connections: sums of counts and rates; RTTs and windows of the one that has sent most.
    fn fill(&mut self, tcp: bool, result: &mut FlowResult) {
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

    pub(super) fn each_meter(&mut self, act: impl Fn(&mut FlowMeter)) {
        act(&mut self.meter);
        self.connections.values_mut().for_each(act);
    }

    /// Returns the row of results.
    pub(super) fn result(&mut self, plan: &FlowPlan) -> FlowResult {
        let program = matches!(self.kind, Kind::Program(_));
        let tcp = matches!(self.kind, Kind::Tcp(_)) || program && !self.connections.is_empty();
        let variant = match &plan.transport {
            TransportPlan::Tcp { variant, .. } => variant.name.as_str(),
            _ if plan.application.kind() == "ping" => "ping",
            _ => "udp",
        };
        let mut result = FlowResult {
            name: plan.name.clone(),
            variant: variant.into(),
            application: plan.application.kind().into(),
            start_s: self.start as f64 * 1e-9,
            stop_s: self.window.to as f64 * 1e-9,
            dropped_packets: self.dropped,
            duplicated_packets: self.duplicated,
            ..FlowResult::default()
        };
        self.fill(tcp, &mut result);
        if tcp {
            [result.fast_retransmits, result.timeouts] = self.before;
        }
        self.kind.traffic().finish(&mut result);
        result.drop_rate =
            (result.sent_packets > 0).then(|| result.dropped_packets as f64 / result.sent_packets as f64);
        result
    }
}

/// Starts the servers of programs and waits until they listen.
pub(super) fn start_servers(plan: &Plan, flows: &mut [FlowRun]) -> Result<(), KernelError> {
    let began = std::time::Instant::now();
    for (flow, plan) in flows.iter_mut().zip(&plan.flows) {
        let (Kind::Program(program), AppPlan::Program { name, .. }) = (&mut flow.kind, &plan.application)
        else {
            continue;
        };
        program.prepare()?;
        // A command may be a UDP server, which never listens.
        let patience = if *name == ProgramKind::Command { SERVER_MS } else { KNOWN_SERVER_MS };
        while !program.is_ready()? && began.elapsed().as_millis() < patience {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
    Ok(())
}

/// Passes an observation to the meter of its flow.
pub(super) fn observe(flows: &mut [FlowRun], observation: &Observation) {
    match observation {
        Observation::AtHost { side, out, packet, at } => {
            let Some(flow) = flows.get_mut(packet.direction as usize / 2) else { return };
            match (side, out, packet.direction.is_multiple_of(2)) {
                (0, true, true) => flow.meter_of(packet).sent(packet, *at),
                (0, false, false) => flow.meter_of(packet).answered(packet, *at),
                (1, false, true) => flow.meter_of(packet).arrived(packet, *at),
                _ => {}
            }
        }
        // Counted if it arrived at the queue while its flow was measured.
        Observation::Dropped { direction, at } => {
            let forward = direction.is_multiple_of(2);
            if let Some(flow) = flows.get_mut(*direction as usize / 2).filter(|_| forward) {
                flow.dropped += u64::from(flow.window.holds(*at));
            }
        }
    }
}
