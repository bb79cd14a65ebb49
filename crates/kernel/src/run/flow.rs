//! A flow of a run: its traffic, its meters, its results.

use crate::error::{KernelError, Step};
use crate::meter::{FlowMeter, Window};
use crate::run::meters::Meters;
use crate::run::network::{FlowHosts, Observation};
use crate::run::tcp_counters::recoveries;
use crate::sys::Clock;
use crate::traffic::{
    Host, PORT, PingConfig, PingTraffic, ProgramConfig, ProgramTraffic, TcpTraffic, Traffic, UdpTraffic,
    WorkloadConfig, WorkloadTraffic,
};
use dumbbell_plan::{AppPlan, FlowPlan, FlowResult, Plan, ProgramKind, TransportPlan};
use dumbbell_sim::Source;
use dumbbell_sim::meter::VoiceMeter;
use dumbbell_trace::Table;
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time};

/// Rate of all links, bit/s, from which a bulk receiver isn't woken for each packet: the wake-ups would take a quarter
/// of the link thread's time.
const RARE_WAKE_RATE: u64 = 200_000_000;
/// Longest wait for a server before the run, ms.
const SERVER_MS: u128 = 700;
/// Longest wait for a server that is known to listen, ms: on a busy host it starts slowly.
const KNOWN_SERVER_MS: u128 = 60_000;

pub(super) enum Kind {
    Tcp(TcpTraffic),
    Udp(UdpTraffic),
    Ping(PingTraffic),
    Program(ProgramTraffic),
    Workload(Box<WorkloadTraffic>),
}

impl Kind {
    pub(super) fn traffic(&mut self) -> &mut dyn Traffic {
        match self {
            Kind::Tcp(t) => t,
            Kind::Udp(t) => t,
            Kind::Ping(t) => t,
            Kind::Program(t) => t,
            Kind::Workload(t) => &mut **t,
        }
    }
}

/// Returns the times at which a flow starts, start jitter included, and stops, ns.
pub(crate) fn schedule(plan: &Plan, flow: &FlowPlan) -> (u64, u64) {
    (plan.start_of(flow).0, flow.stop_ns.unwrap_or(plan.duration_ns).min(plan.duration_ns))
}

/// Returns the source of a flow's application, if it is CBR, on/off or voice.
pub(crate) fn source(plan: &Plan, flow: &FlowPlan) -> Option<Source> {
    let random = Stream::new(plan.seed, &format!("flow/{}/source", flow.name));
    Source::new(flow, Time(schedule(plan, flow).0), random)
}

pub(super) struct FlowRun {
    pub(super) kind: Kind,
    /// Meters of the packets from the flow's data sender.
    forward: Meters,
    /// Meters of the packets in the other direction, for programs: `iperf3 -R` sends there.
    reverse: Option<Meters>,
    pub(super) start: u64,
    pub(super) stop: u64,
    pub(super) started: bool,
    pub(super) stopped: bool,
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
        let (start, stop) = schedule(plan, flow);
        let host = |side: usize| -> Result<Host, KernelError> {
            let network = flow_hosts.namespaces[side].try_clone().step(|| "namespace".into())?;
            let address = flow_hosts.addresses[side];
            Ok(Host { network: Some(network), address, port: PORT, local: true })
        };
        let hosts = [host(0)?, host(1)?];
        let source = source(plan, flow);
        // In virtual time waking up takes no time.
        let rare_wakes = clock == Clock::Steady && plan.links.iter().all(|link| link.rate_bps >= RARE_WAKE_RATE);
        let kind = match (flow_hosts.variant.clone(), source, &flow.application) {
            (variant, _, AppPlan::Program { server, client, file, .. }) => {
                let config = ProgramConfig {
                    server: server.as_deref().cloned(),
                    client: (**client).clone(),
                    file: file.as_deref().cloned(),
                    number,
                    seconds: (stop.saturating_sub(start) / 1_000_000_000).saturating_sub(1).max(1),
                    variant: variant.unwrap_or_default(),
                    in_machine: clock == Clock::Wall,
                };
                Kind::Program(ProgramTraffic::new(hosts, config))
            }
            (Some(variant), _, AppPlan::Workload(workload)) => {
                let config = WorkloadConfig {
                    name: flow.name.clone(),
                    variant,
                    window: flow_hosts.window,
                    nodelay: flow.sets_nodelay(),
                    seed: plan.seed,
                    start,
                    stop,
                };
                Kind::Workload(Box::new(WorkloadTraffic::new(hosts, workload, config)))
            }
            (Some(variant), source, app) => {
                let (window, nodelay) = (flow_hosts.window, flow.sets_nodelay());
                Kind::Tcp(TcpTraffic::new(hosts, app.clone(), variant, source, rare_wakes, window, nodelay))
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
        let series = plan.trace.of_flow(&flow.name).then_some(Dur(plan.trace.interval_ns));
        let program = matches!(kind, Kind::Program(_));
        let meters = || Meters::new(window, series, program);
        let mut forward = meters();
        if let AppPlan::Voice(call) = &flow.application {
            forward.hear(VoiceMeter::new(*call));
        }
        if let Kind::Workload(_) = kind {
            forward.join_connections();
        }
        Ok(FlowRun {
            kind,
            forward,
            reverse: program.then(meters),
            start,
            stop,
            started: false,
            stopped: false,
            duplicated: 0,
            before: [0; 2],
            window,
        })
    }

    /// Returns true if a program sends its data to the flow's data sender.
    pub(super) fn is_reversed(&self) -> bool {
        self.reverse.as_ref().is_some_and(|r| r.sent_bytes() > self.forward.sent_bytes())
    }

    /// Returns the meters of the direction that the data take.
    fn meters(&mut self) -> &mut Meters {
        let reversed = self.is_reversed();
        match &mut self.reverse {
            Some(reverse) if reversed => reverse,
            _ => &mut self.forward,
        }
    }

    /// Returns the meter of the connection that has sent most.
    pub(super) fn main_meter(&mut self) -> &mut FlowMeter {
        self.meters().main()
    }

    /// Passes on the rows so far of each series of the flow `name` that has at least so many bytes.
    pub(super) fn drain(&mut self, least: usize, name: &str, sink: &mut dyn FnMut(Table)) {
        self.forward.drain(least, name, sink);
    }

    pub(super) fn each_meter(&mut self, act: impl Fn(&mut FlowMeter)) {
        self.forward.each(&act);
        if let Some(reverse) = &mut self.reverse {
            reverse.each(&act);
        }
    }

    /// Returns recoveries and timeouts of the hosts that send data.
    pub(super) fn recoveries(&self, hosts: &FlowHosts) -> Result<[u64; 2], KernelError> {
        let [mut fast, mut timeouts] = recoveries(&hosts.namespaces[0])?;
        if self.reverse.is_some() {
            let [f, t] = recoveries(&hosts.namespaces[1])?;
            (fast, timeouts) = (fast + f, timeouts + t);
        }
        Ok([fast, timeouts])
    }

    /// Returns the row of results.
    pub(super) fn result(&mut self, plan: &FlowPlan) -> FlowResult {
        let program = matches!(self.kind, Kind::Program(_));
        let tcp = matches!(self.kind, Kind::Tcp(_) | Kind::Workload(_)) || program && self.meters().has_connections();
        let variant = match &plan.transport {
            TransportPlan::Tcp { variant, .. } | TransportPlan::Quic { variant, .. } => variant.name.as_str(),
            _ if plan.application.kind() == "ping" => "ping",
            _ => "udp",
        };
        let mut result = FlowResult {
            name: plan.name.clone(),
            variant: variant.to_owned().into(),
            application: plan.application.kind().into(),
            start_s: self.start as f64 * 1e-9,
            stop_s: self.window.to as f64 * 1e-9,
            duplicated_packets: self.duplicated,
            ..FlowResult::default()
        };
        self.meters().fill(tcp, &mut result);
        if tcp {
            [result.fast_retransmits, result.timeouts] = self.before;
        }
        self.kind.traffic().finish(&mut result);
        if result.sent_packets > 0 {
            result.drop_rate = (result.dropped_packets as f64 / result.sent_packets as f64).into();
        }
        result
    }
}

/// Starts the servers of programs and waits until they listen.
pub(super) fn start_servers(plan: &Plan, flows: &mut [FlowRun]) -> Result<(), KernelError> {
    let began = std::time::Instant::now();
    for (flow, plan) in flows.iter_mut().zip(&plan.flows) {
        let (Kind::Program(program), AppPlan::Program { name, .. }) = (&mut flow.kind, &plan.application) else {
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
            let forward = packet.direction.is_multiple_of(2);
            for (sender, meters) in [(0, Some(&mut flow.forward)), (1, flow.reverse.as_mut())] {
                let Some(meters) = meters else { continue };
                match (*side == sender, out, forward == (sender == 0)) {
                    (true, true, true) => meters.of(packet).sent(packet, *at),
                    (true, false, false) => meters.of(packet).answered(packet, *at),
                    (false, false, true) => meters.of(packet).arrived(packet, *at),
                    _ => {}
                }
            }
        }
        Observation::Lost { direction, key } => {
            let Some(flow) = flows.get_mut(*direction as usize / 2) else { return };
            let meters = if direction.is_multiple_of(2) { Some(&mut flow.forward) } else { flow.reverse.as_mut() };
            if let Some(meters) = meters {
                meters.each(&|meter: &mut FlowMeter| meter.lost(*key));
            }
        }
    }
}
