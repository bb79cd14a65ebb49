//! A TCP flow: two endpoints and an application; each transfer has its own connection.

use super::algorithms::Algorithms;
use super::connection::{Connection, Side};
use super::source::Source;
use super::transfers::Transfers;
use super::{APP, Flow, FlowInfo, RECEIVER, SENDER, common_parts};
use crate::network::{Arrived, Network};
use crate::packets::Body;
use crate::record::FlowRecorder;
use crate::tcp_meter::{Ends, TcpMeter};
use dumbbell_cc::Variant;
use dumbbell_plan::{AppPlan, FlowResult};
use dumbbell_tcp::{Config, Endpoint, State};
use dumbbell_units::Time;
use dumbbell_units::param::ParamError;
use dumbbell_units::random::Stream;
use dumbbell_wire::{Seq, TcpFlags};
use std::sync::Arc;

/// Makes the endpoints of a flow's connections.
pub(crate) struct ConnectionFactory {
    config: Arc<Config>,
    algorithms: Algorithms,
    tls: Option<dumbbell_tls::Config>,
}

impl ConnectionFactory {
    /// Checks the parameters by making one algorithm: valid parameters may contradict each other.
    pub(crate) fn new(
        config: Config,
        algorithms: Algorithms,
        tls: Option<dumbbell_tls::Config>,
    ) -> Result<ConnectionFactory, ParamError> {
        algorithms.check(&config.cc_setup())?;
        Ok(ConnectionFactory { config: Arc::new(config), algorithms, tls })
    }

    pub(crate) fn variant(&self) -> &'static Variant {
        self.algorithms.variant()
    }

    /// True if the algorithms are those of the registry.
    pub(crate) fn is_of_registry(&self) -> bool {
        self.algorithms.are_of_registry()
    }

    /// Payload of a full segment, bytes.
    pub(crate) fn mss(&self) -> u64 {
        self.config.mss()
    }

    /// True if connections begin with a handshake.
    pub(crate) fn has_handshake(&self) -> bool {
        self.config.connection.handshake
    }

    /// A new connection; `client` will open it.
    pub(crate) fn connection(&self, client: Side, isns: &mut Stream, seeds: &mut Stream) -> Connection {
        let mut end = || self.endpoint(Seq(isns.next_u64() as u32), seeds.next_u64());
        Connection::new(Ends { sender: end(), receiver: end() }, client, self.tls)
    }

    fn endpoint(&self, isn: Seq, seed: u64) -> Endpoint {
        Endpoint::new(Arc::clone(&self.config), self.algorithms.make(&self.config.cc_setup(), seed), isn)
    }
}

/// A run may have very many flows, so that rarely used parts are boxed.
pub(crate) struct TcpFlow {
    info: FlowInfo,
    application: &'static str,
    app: AppPlan,
    /// The transfers of the application.
    transfers: Option<Transfers>,
    factory: Arc<ConnectionFactory>,
    source: Option<Box<Source>>,
    random: Stream,
    /// Seeds of the algorithms' random numbers.
    seeds: Stream,
    /// The current or last connection; None before the first, and after the end of the last one.
    current: Option<Box<Connection>>,
    connection: u32,
    /// Packets that have arrived at both ends, modulo 2^32.
    arrived: u32,
    open: bool,
    /// The time until which packets may be processed ahead of the clock: of a flow without TLS and recorder, while a
    /// connection is open, its stop.
    ahead_until: Time,
    /// Scheduled times of the timers of both endpoints.
    timers: [Time; 2],
    meter: TcpMeter,
    recorder: Option<Box<FlowRecorder>>,
    /// Set when the flow stops.
    result: Option<Box<FlowResult>>,
}

impl TcpFlow {
    pub(crate) fn new(
        info: FlowInfo,
        application: &'static str,
        app: AppPlan,
        factory: Arc<ConnectionFactory>,
        source: Option<Source>,
        seed: u64,
        recorder: Option<Box<FlowRecorder>>,
    ) -> TcpFlow {
        let random = Stream::new(seed, &format!("flow/{}/isn", info.name));
        // This path names a random stream, nothing else. It is kept because another name would change the draws, and
        // with them the results of variants that draw random numbers.
        let seeds = Stream::new(seed, &format!("flow/{}/law", info.name));
        TcpFlow {
            info,
            application,
            transfers: Transfers::of(&app),
            app,
            factory,
            source: source.map(Box::new),
            random,
            seeds,
            current: None,
            connection: 0,
            arrived: 0,
            open: false,
            ahead_until: Time::ZERO,
            timers: [Time::NEVER; 2],
            meter: TcpMeter::new(),
            recorder,
            result: None,
        }
    }

    fn connect(&mut self, net: &mut Network) {
        self.meter.connection_ends(self.current.as_deref());
        self.connection += 1;
        let client = if matches!(self.app, AppPlan::Page { .. }) { Side::Receiver } else { Side::Sender };
        let mut connection = Box::new(self.factory.connection(client, &mut self.random, &mut self.seeds));
        self.open = true;
        if self.factory.tls.is_none() && self.recorder.is_none() {
            self.ahead_until = self.info.stop;
        }
        if let Some(transfers) = &mut self.transfers {
            transfers.begin(&self.info, net);
        }
        match self.app {
            AppPlan::Bulk {} => connection.write(Side::Sender, u64::MAX),
            AppPlan::Transfer { bytes, .. } => {
                connection.write(Side::Sender, bytes);
                connection.close(Side::Sender);
            }
            AppPlan::Page { request_bytes, .. } => connection.write(Side::Receiver, request_bytes),
            _ => {}
        }
        connection.open(self.factory.config.connection.handshake);
        self.current = Some(connection);
        self.serve_sender(net);
        self.serve_receiver(net);
    }

    /// Lets the application at the data sender act after an event, then sends.
    fn serve_sender(&mut self, net: &mut Network) {
        self.act_and_send(net, &mut None);
    }

    /// The same; `processed`: see [`Network::send_segments`].
    #[inline(always)] // after each ACK
    fn act_and_send(&mut self, net: &mut Network, processed: &mut Option<u32>) {
        let Some(connection) = &mut self.current else { return };
        if let AppPlan::Page { bytes, request_bytes, .. } = self.app
            && connection.delivered(Side::Sender) >= request_bytes
            && !connection.has_closed(Side::Sender)
        {
            connection.write(Side::Sender, bytes);
            connection.close(Side::Sender);
        }
        self.pump(Side::Sender, net, processed);
        if self.observe(net.now) == Some(State::Done) {
            self.check_completion(net);
        }
    }

    /// Lets the application at the data receiver act after an event, then sends.
    fn serve_receiver(&mut self, net: &mut Network) {
        let Some(connection) = &mut self.current else { return };
        if connection.receiver().peer_has_closed() && !connection.has_closed(Side::Receiver) {
            connection.close(Side::Receiver);
        }
        self.pump(Side::Receiver, net, &mut None);
        self.check_completion(net);
    }

    #[inline(always)] // the side is constant at both calls
    fn pump(&mut self, side: Side, net: &mut Network, processed: &mut Option<u32>) {
        let Some(connection) = &mut self.current else { return };
        let endpoint = connection.end_mut(side);
        net.send_segments(&self.info, side == Side::Sender, endpoint, self.connection, processed);
        let timer = endpoint.next_timer(net.now);
        self.arm(side, timer, net);
    }

    /// Schedules a timer of an endpoint. A timer that moved to a later time expires once without effect; one that moved
    /// to an earlier time is rescheduled.
    #[inline(always)]
    fn arm(&mut self, side: Side, at: Option<Time>, net: &mut Network) {
        let (timer, slot) = match side {
            Side::Sender => (&mut self.timers[0], SENDER),
            Side::Receiver => (&mut self.timers[1], RECEIVER),
        };
        if let Some(at) = at
            && at < *timer
        {
            *timer = at;
            net.set_timer(self.info.index, slot, at);
        }
    }

    #[inline(always)] // after each ACK
    fn observe(&mut self, now: Time) -> Option<State> {
        let connection = self.current.as_deref()?;
        let sender = connection.sender();
        self.meter.state(sender, self.open, now);
        if let Some(recorder) = &mut self.recorder {
            let delivered = self.meter.delivered(connection);
            recorder.state(now, &sender.snapshot(), delivered, |row| sender.observe_cc(row));
        }
        Some(sender.state())
    }

    #[inline]
    fn check_completion(&mut self, net: &mut Network) {
        if self.transfers.is_some() {
            self.check_transfer(net);
        }
    }

    #[inline(never)]
    fn check_transfer(&mut self, net: &mut Network) {
        let (Some(transfers), Some(connection)) = (&mut self.transfers, &self.current) else { return };
        if let Some(running) = transfers.running.filter(|_| transfers.requested && connection.receiver().is_open()) {
            net.transfers[running].connected_s.get_or_insert(net.now.as_secs());
        }
        transfers.arrived(connection.delivered(Side::Receiver), &mut self.meter, net);
        let over = self.open && transfers.running.is_none() && connection.sender().state() == State::Done;
        if over {
            (self.open, self.ahead_until) = (false, Time::ZERO);
            let at = transfers.next_start().map_or(self.info.stop, |at| at.max(net.now));
            net.set_timer(self.info.index, APP, at.min(self.info.stop));
        }
    }

    /// Frees the last connection after its end: both endpoints are closed and have nothing to send, and no packet of
    /// the flow is in the network. No event can change a result from here on.
    fn release(&mut self, net: &mut Network) {
        let ended = |end: &Endpoint| end.state() == State::Done && !end.owes_ack() && end.ack_timer().is_none();
        let Some(connection) = self.current.as_deref() else { return };
        if self.recorder.is_none()
            && ended(connection.sender())
            && ended(connection.receiver())
            && net.arrivals(self.info.index) == self.arrived
        {
            self.meter.connection_ends(Some(connection));
            self.current = None;
            net.free_buffers(self.info.index);
        }
    }

    fn stop(&mut self, net: &mut Network) {
        if self.all_transfers_completed() && self.current.is_none() {
            return; // nothing changes until the results are made
        }
        let result = self.metrics(net);
        self.result = Some(Box::new(result));
        self.meter.forget_ack_times();
        self.info.is_measured = false;
        if let Some(connection) = self.current.as_mut().filter(|_| self.open) {
            connection.abandon();
            self.serve_sender(net);
            self.serve_receiver(net);
        }
    }

    /// True if a packet that arrives at `at` can be processed now; see [`Flow::on_packet_ahead`].
    #[inline(always)] // the direction is constant
    fn goes_ahead(&self, body: &Body, forward: bool, at: Time) -> bool {
        if body.connection != self.connection || at >= self.ahead_until {
            return false;
        }
        let Some(connection) = self.current.as_deref() else { return false };
        if forward {
            return self.transfers.is_none() || self.stays_incomplete(connection, body);
        }
        // The sender has no further writes, and the connection stays open.
        self.source.is_none()
            && matches!(connection.sender().state(), State::Established | State::FinWait)
            && !body.segment.flags.contains(TcpFlags::FIN)
            // The arrival of the last byte ends the averages, and may be earlier than this ACK.
            && !(self.is_last_transfer() && connection.sender().unsent() == 0)
    }

    /// True if the data of a segment doesn't complete the transfer.
    #[inline]
    fn stays_incomplete(&self, connection: &Connection, body: &Body) -> bool {
        let arrived = connection.receiver().delivered() + u64::from(body.segment.payload);
        self.transfers.as_ref().is_some_and(|transfers| !transfers.requested && arrived < transfers.bytes)
    }

    /// Processes a packet that arrives now. Another packet may take its slot in the pool, if that is `processed`.
    #[inline(always)] // the direction is constant ahead of the clock
    fn process(
        &mut self,
        packet: Arrived,
        forward: bool,
        net: &mut Network,
        mut processed: Option<u32>,
    ) -> Option<u32> {
        let body = net.body(packet.body);
        let Some(connection) = self.current.as_deref_mut() else { return processed };
        if forward {
            let quiet = connection.end_mut(Side::Receiver).on_data_segment(&body.segment, packet.ecn, net.now);
            if quiet && !connection.has_tls() {
                let receiver = connection.end_mut(Side::Receiver);
                net.send_acks(&self.info, receiver, self.connection, &mut processed);
                // No other timer of the endpoint has changed.
                let timer = receiver.ack_timer();
                self.arm(Side::Receiver, timer, net);
                self.check_completion(net);
            } else {
                connection.read(Side::Receiver);
                self.serve_receiver(net);
            }
        } else {
            connection.end_mut(Side::Sender).on_ack_segment(&body.segment, packet.ecn, net.now);
            connection.read(Side::Sender);
            let sender = connection.sender();
            self.meter.acknowledged(sender, net.now);
            if let Some(recorder) = &mut self.recorder {
                recorder.acknowledged(sender.newly_delivered(), net.now);
            }
            self.act_and_send(net, &mut processed);
        }
        processed
    }

    /// See [`Flow::on_packet_ahead`].
    #[inline(always)] // the direction is constant
    fn process_ahead(&mut self, packet: Arrived, forward: bool, at: Time, net: &mut Network) -> bool {
        if !self.goes_ahead(net.body(packet.body), forward, at) {
            return false;
        }
        let (side, timer) = if forward { (1, RECEIVER) } else { (0, SENDER) };
        while self.timers[side] < at {
            net.now = self.timers[side];
            self.on_timer(timer, net);
        }
        net.begin_ahead(&packet, at);
        self.count(packet, forward, at);
        if let Some(slot) = self.process(packet, forward, net, Some(packet.body)) {
            net.free(slot);
        }
        true
    }

    /// Counts a packet that arrives now.
    #[inline(always)]
    fn count(&mut self, packet: Arrived, forward: bool, now: Time) {
        if forward && !self.all_transfers_completed() {
            self.info.counts(packet, now);
        }
        self.arrived = self.arrived.wrapping_add(1);
    }

    /// True after the last transfer has arrived and its connection was closed by the sender.
    fn is_over(&self) -> bool {
        !self.open && self.all_transfers_completed()
    }

    fn is_last_transfer(&self) -> bool {
        self.transfers.as_ref().is_some_and(Transfers::is_last)
    }

    fn all_transfers_completed(&self) -> bool {
        self.transfers.as_ref().is_some_and(Transfers::all_completed)
    }

    fn metrics(&mut self, net: &Network) -> FlowResult {
        let (end, result) = Transfers::result(self.transfers.as_ref(), &self.info, net);
        let mut result = FlowResult {
            variant: self.factory.algorithms.variant().name.into(),
            application: self.application.into(),
            phase_s: self.source.as_ref().map(|s| s.phase.as_secs()).into(),
            ..result
        };
        let mss = self.factory.config.mss();
        self.meter.finish(self.current.as_deref(), mss, self.info.seconds(end), end.min(net.now), &mut result);
        result
    }
}

impl Flow for TcpFlow {
    common_parts!(info, recorder);

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
                } else if let (Some(source), Some(connection)) = (&mut self.source, &mut self.current) {
                    connection.write(Side::Sender, u64::from(source.packet_bytes));
                    let next = source.next(now);
                    net.set_timer(self.info.index, APP, next.min(self.info.stop));
                    self.serve_sender(net);
                }
            }
            SENDER => {
                if self.timers[0] != now {
                    return; // it was processed ahead of the clock
                }
                self.timers[0] = Time::NEVER;
                if let Some(connection) = &mut self.current {
                    connection.end_mut(Side::Sender).on_timer(now);
                }
                self.serve_sender(net);
            }
            _ => {
                if self.timers[1] != now {
                    return;
                }
                self.timers[1] = Time::NEVER;
                if let Some(connection) = &mut self.current {
                    connection.end_mut(Side::Receiver).on_timer(now);
                }
                self.serve_receiver(net);
            }
        }
    }

    fn on_packet_ahead(&mut self, n: usize, net: &mut Network) -> bool {
        let Some((packet, at)) = net.arrives_ahead(n) else { return false };
        if packet.flow.is_multiple_of(2) {
            self.process_ahead(packet, true, at, net)
        } else {
            self.process_ahead(packet, false, at, net)
        }
    }

    fn on_packet(&mut self, packet: Arrived, _forward: bool, net: &mut Network) {
        let forward = packet.flow.is_multiple_of(2);
        self.count(packet, forward, net.now);
        if net.body(packet.body).connection == self.connection {
            self.process(packet, forward, net, None);
        }
        if self.is_over() {
            self.release(net);
        }
    }

    fn restart_meter(&mut self, net: &Network) {
        self.meter.restart(self.current.as_deref(), net.now);
        // Of a flow that has stopped, nothing is measured.
        self.result = (self.info.stop <= net.now).then(|| Box::new(self.metrics(net)));
    }

    fn finish(&mut self, net: &mut Network) -> FlowResult {
        let result = self.result.take().map_or_else(|| self.metrics(net), |result| *result);
        net.trace.tables.extend(self.recorder.take().into_iter().flat_map(|recorder| recorder.finish()));
        result
    }
}
