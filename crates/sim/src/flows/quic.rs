//! A QUIC flow: two endpoints and an application; each transfer has its own connection. The client is the data sender,
//! in a download (`page`) the data receiver; it closes the connection.

use super::algorithms::Algorithms;
use super::connection::Side;
use super::source::Source;
use super::transfers::Transfers;
use super::{APP, Flow, FlowInfo, RECEIVER, SENDER, common_parts};
use crate::capture::addresses;
use crate::network::{Arrived, Network};
use crate::qlog::ConnectionLog;
use crate::record::FlowRecorder;
use crate::tcp_meter::{Ends, TcpMeter};
use dumbbell_plan::{AppPlan, FlowResult, QlogVersion};
use dumbbell_quic::{Config, Endpoint, Role};
use dumbbell_units::Time;
use dumbbell_units::random::Stream;

/// Data of a stream without end, bytes: more than any run sends, and the sum over 100 streams fits.
pub(crate) const ENDLESS: u64 = 1 << 56;

/// The application of a flow.
pub(crate) struct QuicApplication {
    pub(crate) kind: &'static str,
    pub(crate) plan: AppPlan,
    pub(crate) source: Option<Source>,
}

impl QuicApplication {
    fn is_page(&self) -> bool {
        matches!(self.plan, AppPlan::Page { .. })
    }
}

pub(crate) struct QuicFlow {
    info: FlowInfo,
    app: QuicApplication,
    config: Config,
    algorithms: Algorithms,
    /// Seeds of the algorithms' and the endpoints' random numbers.
    seeds: Stream,
    ends: Ends<Endpoint>,
    connection: u32,
    open: bool,
    /// True once the answer of a download was written.
    answered: bool,
    /// Scheduled times of the timers of both endpoints.
    timers: [Time; 2],
    transfers: Option<Transfers>,
    /// Writes of the application so far: they go to the streams in turn.
    writes: u64,
    meter: TcpMeter,
    recorder: Option<Box<FlowRecorder>>,
    /// Version of the qlog files, and the logs of both ends of the running connection.
    qlog: Option<QlogVersion>,
    logs: Option<Box<Ends<ConnectionLog>>>,
    /// Set when the flow stops.
    result: Option<FlowResult>,
}

impl QuicFlow {
    pub(crate) fn new(
        info: FlowInfo,
        app: QuicApplication,
        config: Config,
        algorithms: Algorithms,
        seed: u64,
        recorder: Option<Box<FlowRecorder>>,
        qlog: Option<QlogVersion>,
    ) -> QuicFlow {
        let seeds = Stream::new(seed, &format!("flow/{}/quic", info.name));
        let setup = config.cc_setup();
        let end = |role| Endpoint::new(config, algorithms.make(&setup, 0), role, 0);
        let (sender, receiver) = (end(Role::Client), end(Role::Server));
        QuicFlow {
            info,
            transfers: Transfers::of(&app.plan),
            app,
            config,
            algorithms,
            seeds,
            ends: Ends { sender, receiver },
            connection: 0,
            open: false,
            answered: false,
            timers: [Time::NEVER; 2],
            writes: 0,
            meter: TcpMeter::new(),
            recorder,
            qlog,
            logs: None,
            result: None,
        }
    }

    fn endpoint(&mut self, role: Role) -> Endpoint {
        let algorithm = self.algorithms.make(&self.config.cc_setup(), self.seeds.next_u64());
        Endpoint::new(self.config, algorithm, role, self.seeds.next_u64())
    }

    fn client(&mut self) -> &mut Endpoint {
        if self.app.is_page() { &mut self.ends.receiver } else { &mut self.ends.sender }
    }

    fn connect(&mut self, net: &mut Network) {
        let now = net.now;
        self.meter.connection_ends(Some(&self.ends));
        self.connection += 1;
        let (of_sender, of_receiver) =
            if self.app.is_page() { (Role::Server, Role::Client) } else { (Role::Client, Role::Server) };
        self.ends.sender = self.endpoint(of_sender);
        self.ends.receiver = self.endpoint(of_receiver);
        (self.open, self.answered) = (true, false);
        if let Some(transfers) = &mut self.transfers {
            transfers.begin(&self.info, net);
        }
        self.ends.sender.open(now);
        self.ends.receiver.open(now);
        self.begin_logs(net);
        match self.app.plan {
            AppPlan::Bulk {} => {
                (0..self.config.streams.streams).for_each(|stream| self.ends.sender.write(stream, ENDLESS));
            }
            AppPlan::Transfer { bytes, .. } => self.write_all(bytes),
            AppPlan::Page { request_bytes, .. } => {
                self.ends.receiver.write(0, request_bytes);
                self.ends.receiver.finish(0);
            }
            _ => {}
        }
        self.serve_sender(net);
        self.serve_receiver(net);
    }

    /// Ends the logs of the previous connection and begins those of this one.
    fn begin_logs(&mut self, net: &mut Network) {
        self.finish_logs(net);
        let Some(version) = self.qlog else { return };
        let (info, number) = (&self.info, self.connection);
        let [of_sender, of_receiver] =
            addresses(info.ip, info.index as u32, [info.from, info.to], self.app.is_page(), number);
        let Ends { sender, receiver } = &mut self.ends;
        let begin = |endpoint, ends| ConnectionLog::new(version, &info.name, number, endpoint, ends, net.now);
        self.logs = Some(Box::new(Ends {
            sender: begin(sender, [of_sender, of_receiver]),
            receiver: begin(receiver, [of_receiver, of_sender]),
        }));
    }

    fn finish_logs(&mut self, net: &mut Network) {
        if let Some(logs) = self.logs.take() {
            net.qlogs.extend([logs.sender.finish(), logs.receiver.finish()]);
        }
    }

    /// Divides data over the streams, and ends them.
    fn write_all(&mut self, bytes: u64) {
        let streams = self.config.streams.streams;
        for stream in 0..streams {
            let rest = u64::from(u64::from(stream) < bytes % u64::from(streams));
            self.ends.sender.write(stream, bytes / u64::from(streams) + rest);
            self.ends.sender.finish(stream);
        }
    }

    /// Lets the application at the data sender act after an event, then sends.
    fn serve_sender(&mut self, net: &mut Network) {
        if let AppPlan::Page { bytes, request_bytes, .. } = self.app.plan
            && self.ends.sender.delivered() >= request_bytes
            && !self.answered
        {
            self.answered = true;
            self.write_all(bytes);
        }
        let sends = matches!(self.app.plan, AppPlan::Transfer { .. });
        if sends && self.ends.sender.is_open() && self.ends.sender.everything_acknowledged() {
            self.ends.sender.close(net.now);
        }
        self.pump(Side::Sender, net);
        self.observe(net.now);
        self.check_completion(net);
    }

    /// Lets the application at the data receiver act after an event, then sends.
    fn serve_receiver(&mut self, net: &mut Network) {
        self.check_completion(net);
        if self.app.is_page() && self.ends.receiver.is_open() && self.ends.receiver.peer_has_finished() {
            self.ends.receiver.close(net.now);
        }
        self.pump(Side::Receiver, net);
        self.check_completion(net);
    }

    fn pump(&mut self, side: Side, net: &mut Network) {
        let (endpoint, timer, slot) = match side {
            Side::Sender => (&mut self.ends.sender, &mut self.timers[0], SENDER),
            Side::Receiver => (&mut self.ends.receiver, &mut self.timers[1], RECEIVER),
        };
        let mut log = self.logs.as_mut().map(|logs| match side {
            Side::Sender => &mut logs.sender,
            Side::Receiver => &mut logs.receiver,
        });
        if let Some(log) = &mut log {
            log.after_event(endpoint, net.now);
        }
        net.send_quic(&self.info, side == Side::Sender, endpoint, self.connection, log.as_deref_mut());
        if let Some(log) = log {
            log.after_event(endpoint, net.now);
        }
        // A timer that moved to a later time expires once without effect; one that moved to an earlier time is
        // rescheduled.
        if let Some(at) = endpoint.next_timer()
            && at < *timer
        {
            *timer = at;
            net.set_timer(self.info.index, slot, at);
        }
    }

    fn observe(&mut self, now: Time) {
        self.meter.state(&self.ends.sender, self.open, now);
        if let Some(recorder) = &mut self.recorder {
            let delivered = self.meter.delivered(&self.ends);
            recorder.state(now, &self.ends.sender.snapshot(), delivered, |row| self.ends.sender.observe_cc(row));
        }
    }

    fn check_completion(&mut self, net: &mut Network) {
        if let Some(transfers) = &mut self.transfers {
            transfers.arrived(self.ends.receiver.delivered(), &mut self.meter, net);
        }
        if !self.open || !self.client().is_over() {
            return;
        }
        self.open = false;
        let at = match &mut self.transfers {
            Some(transfers) => {
                // The client has closed the connection, or it was idle for too long: a running one remains incomplete.
                transfers.running = None;
                transfers.next_start().unwrap_or(self.info.stop)
            }
            // The application has more to send: it connects again; a source does with its next packet.
            None if self.app.source.is_some() => return,
            None => net.now,
        };
        net.set_timer(self.info.index, APP, at.max(net.now).min(self.info.stop));
    }

    /// The application of a source writes a packet; after an idle timeout over a new connection.
    fn write_packet(&mut self, net: &mut Network) {
        if !self.open {
            self.connect(net);
        }
        let Some(source) = &mut self.app.source else { return };
        let stream = (self.writes % u64::from(self.config.streams.streams)) as u32;
        self.writes += 1;
        self.ends.sender.write(stream, u64::from(source.packet_bytes));
        let next = source.next(net.now);
        net.set_timer(self.info.index, APP, next.min(self.info.stop));
        self.serve_sender(net);
    }

    fn stop(&mut self, net: &mut Network) {
        let result = self.metrics(net);
        self.result = Some(result);
        self.info.is_measured = false;
        if self.open {
            let now = net.now;
            self.client().close(now);
            self.open = false;
            self.pump(Side::Sender, net);
            self.pump(Side::Receiver, net);
            self.observe(now);
        }
    }

    fn all_transfers_completed(&self) -> bool {
        self.transfers.as_ref().is_some_and(Transfers::all_completed)
    }

    fn metrics(&mut self, net: &Network) -> FlowResult {
        let (end, result) = Transfers::result(self.transfers.as_ref(), &self.info, net);
        let mut result = FlowResult {
            variant: self.algorithms.variant().name.into(),
            application: self.app.kind.into(),
            phase_s: self.app.source.as_ref().map(|s| s.phase.as_secs()).into(),
            ..result
        };
        let payload = self.ends.sender.full_payload();
        self.meter.finish(Some(&self.ends), payload, self.info.seconds(end), end.min(net.now), &mut result);
        result
    }
}

impl Flow for QuicFlow {
    common_parts!(info, recorder);

    fn on_timer(&mut self, timer: usize, net: &mut Network) {
        let now = net.now;
        match timer {
            APP if now >= self.info.stop => {
                if self.result.is_none() {
                    self.stop(net);
                }
            }
            APP => match &self.app.source {
                // The first packet follows the start after the source's phase.
                Some(source) if self.connection == 0 => {
                    let first = now + source.phase;
                    self.connect(net);
                    net.set_timer(self.info.index, APP, first.min(self.info.stop));
                }
                Some(_) => self.write_packet(net),
                None if !self.open => {
                    net.set_timer(self.info.index, APP, self.info.stop);
                    self.connect(net);
                }
                None => {}
            },
            SENDER => {
                self.timers[0] = Time::NEVER;
                self.ends.sender.on_timer(now);
                self.serve_sender(net);
            }
            _ => {
                self.timers[1] = Time::NEVER;
                self.ends.receiver.on_timer(now);
                self.serve_receiver(net);
            }
        }
    }

    fn on_packet(&mut self, packet: Arrived, forward: bool, net: &mut Network) {
        if forward && !self.all_transfers_completed() {
            self.info.counts(packet, net.now);
        }
        if net.body(packet.body).connection != self.connection {
            return; // of an earlier connection
        }
        let datagram = net.datagram(packet.body);
        if forward {
            self.ends.receiver.on_datagram(datagram, packet.ecn, net.now);
            if let Some(logs) = &mut self.logs {
                logs.receiver.received(datagram, &mut self.ends.receiver, net.now);
            }
            self.serve_receiver(net);
        } else {
            self.ends.sender.on_datagram(datagram, packet.ecn, net.now);
            if let Some(logs) = &mut self.logs {
                logs.sender.received(datagram, &mut self.ends.sender, net.now);
            }
            self.meter.acknowledged(&self.ends.sender, net.now);
            if let Some(recorder) = &mut self.recorder {
                recorder.acknowledged(self.ends.sender.newly_delivered(), net.now);
            }
            self.serve_sender(net);
        }
    }

    fn restart_meter(&mut self, net: &Network) {
        self.meter.restart(Some(&self.ends), net.now);
        // Of a flow that has stopped, nothing is measured.
        self.result = (self.info.stop <= net.now).then(|| self.metrics(net));
    }

    fn finish(&mut self, net: &mut Network) -> FlowResult {
        let result = self.result.take().unwrap_or_else(|| self.metrics(net));
        self.finish_logs(net);
        net.trace.tables.extend(self.recorder.take().into_iter().flat_map(|recorder| recorder.finish()));
        result
    }
}
