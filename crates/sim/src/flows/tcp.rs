//! A TCP flow: two endpoints and an application; each transfer has its own connection.

use super::source::Source;
use super::{APP, Flow, FlowInfo, RECEIVER, SENDER};
use crate::network::{Arrived, Network};
use crate::record::FlowRecorder;
use crate::tcp_meter::TcpMeter;
use dumbbell_cc::{CongestionControl, External, Failure, Setup, Variant};
use dumbbell_plan::{AppPlan, FlowResult, Named, Transfer};
use dumbbell_tcp::{Config, Endpoint, State};
use dumbbell_units::param::ParamError;
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time};
use dumbbell_wire::Seq;
use std::sync::Arc;

/// The source of a flow's congestion control algorithm.
pub(crate) enum VariantSource {
    /// A row of the registry.
    Registry(&'static Variant),
    /// A library or Python; the second field receives its failures.
    External(Arc<dyn External>, Failure),
}

impl VariantSource {
    pub(crate) fn variant(&self) -> &'static Variant {
        match self {
            VariantSource::Registry(row) => row,
            VariantSource::External(external, _) => external.variant(),
        }
    }
}

/// Makes the endpoints of a flow's connections.
pub(crate) struct ConnectionFactory {
    config: Config,
    source: VariantSource,
    variant: Named,
}

impl ConnectionFactory {
    /// Checks the parameters by making one algorithm: valid parameters may contradict each other.
    pub(crate) fn new(
        config: Config,
        source: VariantSource,
        variant: Named,
    ) -> Result<ConnectionFactory, ParamError> {
        let factory = ConnectionFactory { config, source, variant };
        factory.algorithm(0).map(|_| factory)
    }

    /// Makes the algorithm of a connection; `seed`: seed of its random numbers.
    fn algorithm(&self, seed: u64) -> Result<Box<dyn CongestionControl>, ParamError> {
        let start = Setup { seed, ..self.config.cc_setup() };
        match &self.source {
            VariantSource::Registry(row) => dumbbell_cc::build(row.name, &self.variant.given(), &start),
            VariantSource::External(external, failure) => {
                external.make(&self.variant.given(), &start, failure)
            }
        }
    }

    /// Reports that an external algorithm failed to be made, although the first one with the same parameters succeeded;
    /// returns an endpoint with a fixed window for the rest of the run.
    fn idle_endpoint(&self, error: &ParamError, isn: Seq) -> Endpoint {
        let VariantSource::External(_, failure) = &self.source else {
            unreachable!("a registry row succeeded before: {error}")
        };
        failure.fail(error.to_string());
        let idle = dumbbell_cc::build("fixed", &[], &self.config.cc_setup());
        let idle = idle.unwrap_or_else(|e| unreachable!("defaults are valid: {e}"));
        Endpoint::new(self.config, idle, isn)
    }

    fn endpoint(&self, isn: Seq, seed: u64) -> Endpoint {
        match self.algorithm(seed) {
            Ok(algorithm) => Endpoint::new(self.config, algorithm, isn),
            Err(e) => self.idle_endpoint(&e, isn),
        }
    }
}

/// An end of the connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// The data sender.
    Sender,
    /// The data receiver.
    Receiver,
}

pub(crate) struct TcpFlow {
    info: FlowInfo,
    application: &'static str,
    app: AppPlan,
    factory: ConnectionFactory,
    source: Option<Source>,
    random: Stream,
    /// Seeds of the algorithms' random numbers.
    seeds: Stream,
    sender: Endpoint,
    receiver: Endpoint,
    connection: u32,
    open: bool,
    /// Scheduled times of the timers of both endpoints.
    timers: [Time; 2],
    begun: u64,
    completed: u64,
    begun_at: Time,
    first_begun_at: Time,
    completed_at: Time,
    /// Index of the running transfer in the run's list.
    running: Option<usize>,
    meter: TcpMeter,
    recorder: Option<FlowRecorder>,
    /// Set when the flow stops.
    result: Option<FlowResult>,
}

impl TcpFlow {
    pub(crate) fn new(
        info: FlowInfo,
        application: &'static str,
        app: AppPlan,
        factory: ConnectionFactory,
        source: Option<Source>,
        seed: u64,
        recorder: Option<FlowRecorder>,
    ) -> TcpFlow {
        let random = Stream::new(seed, &format!("flow/{}/isn", info.name));
        // This path names a random stream, nothing else. It is kept because another name would change the draws, and with
        // them the results of variants that draw random numbers.
        let seeds = Stream::new(seed, &format!("flow/{}/law", info.name));
        let (sender, receiver) = (factory.endpoint(Seq(0), 0), factory.endpoint(Seq(0), 0));
        TcpFlow {
            info,
            application,
            app,
            factory,
            source,
            random,
            seeds,
            sender,
            receiver,
            connection: 0,
            open: false,
            timers: [Time::NEVER; 2],
            begun: 0,
            completed: 0,
            begun_at: Time::ZERO,
            first_begun_at: Time::ZERO,
            completed_at: Time::ZERO,
            running: None,
            meter: TcpMeter::new(),
            recorder,
            result: None,
        }
    }

    /// Bytes of a transfer, number of transfers (0: no limit), time from start to start; None for other applications.
    fn transfer(&self) -> Option<(u64, u64, Dur)> {
        match self.app {
            AppPlan::Transfer { bytes, repeat, every_ns } | AppPlan::Page { bytes, repeat, every_ns, .. } => {
                Some((bytes, repeat, Dur(every_ns)))
            }
            _ => None,
        }
    }

    fn connect(&mut self, net: &mut Network) {
        let now = net.now;
        self.meter.connection_ends(&self.sender, &self.receiver);
        self.connection += 1;
        let mut isn = || Seq(self.random.next_u64() as u32);
        let mut seed = || self.seeds.next_u64();
        self.sender = self.factory.endpoint(isn(), seed());
        self.receiver = self.factory.endpoint(isn(), seed());
        self.open = true;
        if let Some((bytes, ..)) = self.transfer() {
            if self.begun == 0 {
                self.first_begun_at = now;
            }
            self.running = Some(net.transfers.len());
            net.transfers.push(Transfer {
                flow: self.info.name.clone(),
                number: self.begun,
                start_s: now.as_secs(),
                end_s: None,
                bytes,
            });
            self.begun += 1;
            self.begun_at = now;
        }
        match self.app {
            AppPlan::Bulk {} => self.sender.write(u64::MAX),
            AppPlan::Transfer { bytes, .. } => {
                self.sender.write(bytes);
                self.sender.close();
            }
            AppPlan::Page { request_bytes, .. } => self.receiver.write(request_bytes),
            _ => {}
        }
        if !self.factory.config.connection.handshake {
            Endpoint::establish_pair(&mut self.sender, &mut self.receiver);
        } else if matches!(self.app, AppPlan::Page { .. }) {
            self.sender.listen();
            self.receiver.connect();
        } else {
            self.receiver.listen();
            self.sender.connect();
        }
        self.serve_sender(net);
        self.serve_receiver(net);
    }

    /// Lets the application at the data sender act after an event, then sends.
    fn serve_sender(&mut self, net: &mut Network) {
        if let AppPlan::Page { bytes, request_bytes, .. } = self.app
            && self.sender.delivered() >= request_bytes
            && !self.sender.has_closed()
        {
            self.sender.write(bytes);
            self.sender.close();
        }
        self.pump(Side::Sender, net);
        self.observe(net.now);
        if self.sender.state() == State::Done {
            self.check_completion(net);
        }
    }

    /// Lets the application at the data receiver act after an event, then sends.
    fn serve_receiver(&mut self, net: &mut Network) {
        if self.receiver.peer_has_closed() && !self.receiver.has_closed() {
            self.receiver.close();
        }
        self.pump(Side::Receiver, net);
        self.check_completion(net);
    }

    #[inline(always)] // the side is constant at both calls
    fn pump(&mut self, side: Side, net: &mut Network) {
        let (endpoint, timer, slot) = match side {
            Side::Sender => (&mut self.sender, &mut self.timers[0], SENDER),
            Side::Receiver => (&mut self.receiver, &mut self.timers[1], RECEIVER),
        };
        net.send_segments(&self.info, side == Side::Sender, endpoint, self.connection);
        // A timer that moved to a later time expires once without effect; one that moved to an earlier time is rescheduled.
        if let Some(at) = endpoint.next_timer(net.now)
            && at < *timer
        {
            *timer = at;
            net.set_timer(self.info.index, slot, at);
        }
    }

    fn observe(&mut self, now: Time) {
        self.meter.state(&self.sender, self.open, now);
        if let Some(recorder) = &mut self.recorder {
            let delivered = self.meter.delivered(&self.receiver);
            recorder.state(now, &self.sender.snapshot(), delivered, |row| self.sender.observe_cc(row));
        }
    }

    fn check_completion(&mut self, net: &mut Network) {
        let Some((bytes, repeat, every)) = self.transfer() else { return };
        if let Some(running) = self.running
            && self.receiver.delivered() >= bytes
        {
            net.transfers[running].end_s = Some(net.now.as_secs());
            self.running = None;
            self.completed += 1;
            self.completed_at = net.now;
        }
        let over = self.open && self.running.is_none() && self.sender.state() == State::Done;
        if over {
            self.open = false;
            let more = repeat == 0 || self.begun < repeat;
            let at = if more { (self.begun_at + every).max(net.now) } else { self.info.stop };
            net.set_timer(self.info.index, APP, at.min(self.info.stop));
        }
    }

    fn stop(&mut self, net: &mut Network) {
        let result = self.metrics(net);
        self.result = Some(result);
        if self.open {
            self.sender.finish();
            self.receiver.finish();
            self.serve_sender(net);
            self.serve_receiver(net);
        }
    }

    fn metrics(&mut self, net: &Network) -> FlowResult {
        let all_done = self.transfer().is_some_and(|(_, repeat, _)| repeat > 0 && self.completed == repeat);
        let end = if all_done { self.completed_at } else { self.info.stop.min(net.end) };
        let seconds = self.info.seconds(end);
        let mut result = FlowResult {
            variant: self.factory.source.variant().name.into(),
            application: self.application.into(),
            phase_s: self.source.as_ref().map(|s| s.phase.as_secs()),
            stop_s: end.as_secs(),
            throughput_bps: if seconds > 0.0 { self.info.received_bytes as f64 * 8.0 / seconds } else { 0.0 },
            completion_time_s: all_done.then(|| self.completed_at.since(self.first_begun_at).as_secs()),
            transfers_started: self.begun,
            transfers_completed: self.completed,
            dropped_packets: net.dropped(self.info.index),
            duplicated_packets: net.duplicated(self.info.index),
            ..FlowResult::default()
        };
        self.meter.finish(&self.sender, &self.receiver, seconds, end.min(net.now), &mut result);
        result
    }
}

impl Flow for TcpFlow {
    fn info(&self) -> &FlowInfo {
        &self.info
    }

    fn info_mut(&mut self) -> &mut FlowInfo {
        &mut self.info
    }

    fn on_timer(&mut self, timer: usize, net: &mut Network) {
        let now = net.now;
        match timer {
            APP if now >= self.info.stop => {
                if self.result.is_none() {
                    self.stop(net);
                }
            }
            APP => {
                if !self.open {
                    self.connect(net);
                    let first = self.source.as_ref().map_or(self.info.stop, |s| now + s.phase);
                    net.set_timer(self.info.index, APP, first.min(self.info.stop));
                } else if let Some(source) = &mut self.source {
                    self.sender.write(u64::from(source.packet_bytes));
                    let next = source.next(now);
                    net.set_timer(self.info.index, APP, next.min(self.info.stop));
                    self.serve_sender(net);
                }
            }
            SENDER => {
                self.timers[0] = Time::NEVER;
                self.sender.on_timer(now);
                self.serve_sender(net);
            }
            _ => {
                self.timers[1] = Time::NEVER;
                self.receiver.on_timer(now);
                self.serve_receiver(net);
            }
        }
    }

    fn on_packet(&mut self, packet: Arrived, forward: bool, net: &mut Network) {
        if forward {
            self.info.received_bytes += u64::from(packet.bytes);
        }
        let body = net.body(packet.body);
        if body.connection != self.connection {
            return; // of an earlier connection
        }
        if forward {
            self.receiver.on_segment(&body.segment, packet.ecn, net.now);
            self.serve_receiver(net);
        } else {
            self.sender.on_segment(&body.segment, packet.ecn, net.now);
            self.meter.round_trips(self.sender.newly_delivered(), net.now);
            self.serve_sender(net);
        }
    }

    fn restart_meter(&mut self, now: Time) {
        self.meter.restart(&self.sender, &self.receiver, now);
        self.result = None; // a flow that stopped before the measurement has no results
    }

    fn finish(&mut self, net: &mut Network) -> FlowResult {
        let result = match self.result.take() {
            Some(result) => result,
            None => self.metrics(net),
        };
        net.trace.tables.extend(self.recorder.take().map(FlowRecorder::finish));
        result
    }
}
