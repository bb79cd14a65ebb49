//! A web flow: a video player or a page at the data receiver, a server at the data sender, HTTP over TCP or QUIC
//! between them.
//!
//! ```text
//! client (player, page) -> requests -> connections -> server -> responses -> connections -> client
//! ```
//! HTTP/1.1 opens up to six connections, each with one request at a time; HTTP/2 and HTTP/3 have one connection. The
//! client opens connections as it needs them, and a new one if QUIC's idle timeout has ended the one before: unanswered
//! requests are then made again. It closes them when everything has arrived.

mod connection;
pub(in crate::flows) mod sum;
mod video_series;

use super::algorithms::Algorithms;
use super::connection::Side;
use super::tcp::ConnectionFactory;
use super::{APP, Flow, FlowInfo, RECEIVER, SENDER, common_parts};
use crate::network::{Arrived as Packet, Network};
use crate::record::FlowRecorder;
use crate::tcp_meter::{Ends, TcpMeter};
use connection::{Connection, Wire};
use dumbbell_apps::{Client, Exchange, Http, Page, Player, Request, Server, Streams};
use dumbbell_plan::{FlowResult, Transfer};
use dumbbell_quic::Role;
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use sum::Sum;

pub(crate) use video_series::VideoSeries;

/// Most connections of a browser to one host with HTTP/1.1 [RFC 9112 §9.4; Chromium
/// net/socket/client_socket_pool_manager.cc g_max_sockets_per_group].
const H1_CONNECTIONS: usize = 6;

/// The application.
pub(crate) enum WebApp {
    Video(Box<Player>, Option<Box<VideoSeries>>),
    Page(Box<Page>),
}

impl WebApp {
    fn client(&mut self) -> &mut dyn Client {
        match self {
            WebApp::Video(player, _) => player.as_mut(),
            WebApp::Page(page) => page.as_mut(),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            WebApp::Video(..) => "video",
            WebApp::Page(_) => "page",
        }
    }

    /// Ends the measurement at `end` and sets the columns of the result.
    fn fill(&mut self, end: Time, r: &mut FlowResult) {
        match self {
            WebApp::Video(player, _) => {
                let m = player.metrics(end);
                (r.first_byte_s, r.load_time_s) = (m.first_byte_s.into(), m.load_time_s.into());
                r.startup_delay_s = m.startup_delay_s.into();
                (r.stalls, r.stall_s, r.played_s) = (Some(m.stalls), m.stall_s.into(), m.played_s.into());
                (r.stall_ratio, r.mean_bitrate_bps) = (m.stall_ratio.into(), m.mean_bitrate_bps.into());
                (r.switches, r.qoe) = (Some(m.switches), m.qoe.into());
                (r.transfers_started, r.transfers_completed) = m.segments;
                r.completion_time_s = m.load_time_s.into();
            }
            WebApp::Page(page) => {
                let m = page.metrics();
                (r.first_byte_s, r.onload_s) = (m.first_byte_s.into(), m.onload_s.into());
                r.load_time_s = m.load_time_s.into();
                (r.transfers_started, r.transfers_completed) = m.loads;
            }
        }
    }
}

/// The source of a flow's connections.
pub(crate) enum Dialer {
    Tcp { factory: Arc<ConnectionFactory>, isn: Stream },
    Quic { config: Box<dumbbell_quic::Config>, algorithms: Algorithms },
}

/// A request without a complete response.
struct Fetch {
    request: Request,
    /// Index of its row in the run's list of transfers.
    row: usize,
    received: u64,
    /// The connection that it was made on.
    connection: Option<u32>,
}

pub(crate) struct WebFlow {
    info: FlowInfo,
    app: WebApp,
    dialer: Dialer,
    /// Seeds of the algorithms' and the endpoints' random numbers.
    seeds: Stream,
    connections: Vec<Connection>,
    /// Connections opened so far.
    opened: u32,
    server: Server,
    fetches: BTreeMap<u32, Fetch>,
    /// Requests that wait for a connection.
    waiting: VecDeque<u32>,
    /// Scheduled times of the timers.
    timers: [Time; 3],
    /// Time at which everything had arrived.
    over_at: Option<Time>,
    meter: TcpMeter,
    recorder: Option<Box<FlowRecorder>>,
    /// Set when the flow stops.
    result: Option<Box<FlowResult>>,
}

impl WebFlow {
    pub(crate) fn new(
        info: FlowInfo,
        app: WebApp,
        dialer: Dialer,
        seed: u64,
        recorder: Option<Box<FlowRecorder>>,
    ) -> WebFlow {
        let seeds = Stream::new(seed, &format!("flow/{}/web", info.name));
        WebFlow {
            info,
            app,
            dialer,
            seeds,
            connections: Vec::new(),
            opened: 0,
            server: Server::default(),
            fetches: BTreeMap::new(),
            waiting: VecDeque::new(),
            timers: [Time::NEVER; 3],
            over_at: None,
            meter: TcpMeter::new(),
            recorder,
            result: None,
        }
    }

    fn version(&mut self) -> Http {
        self.app.client().http().version
    }

    /// Opens a connection; returns its index.
    fn connect(&mut self, now: Time) -> usize {
        let version = self.version();
        let wire = match &mut self.dialer {
            Dialer::Tcp { factory, isn } => {
                let mut tcp = factory.connection(Side::Receiver, isn, &mut self.seeds);
                tcp.open(factory.has_handshake());
                Wire::Tcp { tcp, exchange: Exchange::new(version) }
            }
            Dialer::Quic { config, algorithms } => {
                let mut end = |role| {
                    let algorithm = algorithms.make(&config.cc_setup(), self.seeds.next_u64());
                    dumbbell_quic::Endpoint::new(**config, algorithm, role, self.seeds.next_u64())
                };
                let (mut sender, mut receiver) = (end(Role::Server), end(Role::Client));
                sender.open(now);
                receiver.open(now);
                Wire::Quic { ends: Ends { sender, receiver }, streams: Streams::default() }
            }
        };
        self.opened += 1;
        self.connections.push(Connection { number: self.opened, wire, outstanding: BTreeSet::new() });
        self.connections.len() - 1
    }

    /// The connection for the next request: an idle one, or with HTTP/2 and HTTP/3 the only one; or a new one.
    fn connection_for_request(&mut self, now: Time) -> Option<usize> {
        let h1 = self.version() == Http::H1;
        let usable = |c: &Connection| !c.is_over() && (!h1 || c.outstanding.is_empty());
        if let Some(found) = self.connections.iter().position(usable) {
            return Some(found);
        }
        let open = self.connections.iter().filter(|c| !c.is_over()).count();
        (open < if h1 { H1_CONNECTIONS } else { 1 }).then(|| self.connect(now))
    }

    /// Makes the requests that are due, as far as there are connections.
    fn make_requests(&mut self, net: &mut Network) {
        while let Some(request) = self.app.client().take_request(net.now) {
            if self.app.client().wants_new_connections() {
                self.leave_connections(net);
            }
            let row = net.transfers.len();
            net.transfers.push(Transfer {
                flow: self.info.name.clone(),
                number: u64::from(request.id),
                start_s: net.now.as_secs(),
                bytes: request.content,
                object: Some(request.object.clone()),
                bitrate_bps: request.bitrate,
                ..Transfer::default()
            });
            self.waiting.push_back(request.id);
            let id = request.id;
            self.fetches.insert(id, Fetch { request, row, received: 0, connection: None });
        }
        while let Some(id) = self.waiting.front().copied() {
            let Some(place) = self.connection_for_request(net.now) else { return };
            self.waiting.pop_front();
            let connection = &mut self.connections[place];
            connection.request(id, self.app.client().http().request_bytes);
            if let Some(fetch) = self.fetches.get_mut(&id) {
                fetch.connection = Some(connection.number);
                net.transfers[fetch.row].connection = Some(u64::from(connection.number));
            }
        }
    }

    /// Closes all connections: the next request uses new ones.
    fn leave_connections(&mut self, net: &mut Network) {
        for connection in &mut self.connections {
            connection.close(net.now);
            connection.pump(&self.info, net);
        }
        self.meter.connection_ends(Some(&Sum::of(&self.connections)));
        self.connections.clear();
        self.server.clear();
    }

    /// Requests on a connection that has ended wait for another one.
    fn make_requests_again(&mut self) {
        for connection in self.connections.iter_mut().filter(|c| c.is_over()) {
            for id in std::mem::take(&mut connection.outstanding).into_iter().rev() {
                if let Some(fetch) = self.fetches.get_mut(&id) {
                    (fetch.received, fetch.connection) = (0, None);
                    self.server.forget(id);
                    self.waiting.push_front(id);
                }
            }
        }
    }

    /// The server takes requests and writes responses.
    fn serve(&mut self, now: Time) {
        let delay = Dur(self.app.client().http().server_delay_ns);
        for connection in &mut self.connections {
            while let Some(id) = connection.take_request() {
                let Some(fetch) = self.fetches.get(&id) else { continue };
                connection.respond(id, fetch.request.response.bytes);
                self.server.on_request(id, fetch.request.response, delay, now);
            }
        }
        while let Some((id, bytes)) = self.server.release(now) {
            let number = self.fetches.get(&id).and_then(|fetch| fetch.connection);
            if let Some(connection) = self.connections.iter_mut().find(|c| Some(c.number) == number) {
                connection.release(id, bytes);
            }
        }
        self.connections.iter_mut().for_each(Connection::serve);
    }

    /// The client reads the responses. Returns true if one is complete.
    fn read(&mut self, net: &mut Network) -> bool {
        let now = net.now;
        let header = self.app.client().http().header_bytes;
        let mut completed = false;
        for connection in &mut self.connections {
            while let Some(arrived) = connection.read() {
                let Some(fetch) = self.fetches.get_mut(&arrived.id) else { continue };
                let client = self.app.client();
                if fetch.received == 0 {
                    net.transfers[fetch.row].first_byte_s = Some(now.as_secs());
                    client.on_first_byte(arrived.id, now);
                }
                fetch.received += arrived.bytes;
                if fetch.received < fetch.request.response.bytes {
                    client.on_content(arrived.id, fetch.received.saturating_sub(header), now);
                    continue;
                }
                net.transfers[fetch.row].end_s = Some(now.as_secs());
                connection.complete(arrived.id);
                self.fetches.remove(&arrived.id);
                client.on_complete(arrived.id, now);
                completed = true;
            }
        }
        completed
    }

    /// Lets both applications act after an event, then sends.
    fn step(&mut self, net: &mut Network) {
        let now = net.now;
        if self.result.is_none() {
            self.serve(now);
            self.read(net);
            self.make_requests_again();
            self.make_requests(net);
            if self.over_at.is_none() && self.app.client().is_over() {
                self.over_at = Some(now);
                self.connections.iter_mut().for_each(|c| c.close(now));
            }
        }
        for connection in &mut self.connections {
            connection.pump(&self.info, net);
        }
        self.observe(now);
        self.arm(net);
    }

    /// Schedules the timers. A timer that moved to a later time expires once without effect; one that moved to an
    /// earlier time is rescheduled.
    fn arm(&mut self, net: &mut Network) {
        let now = net.now;
        let of = |side| self.connections.iter().filter_map(move |c| c.next_timer(side, now)).min();
        let (sender, receiver) = (of(Side::Sender), of(Side::Receiver));
        let app = if self.result.is_none() {
            let timers = [self.app.client().next_timer(), self.server.next_timer(), Some(self.info.stop)];
            timers.into_iter().flatten().min()
        } else {
            None
        };
        for (slot, at) in [(APP, app), (SENDER, sender), (RECEIVER, receiver)] {
            if let Some(at) = at
                && at < self.timers[slot]
            {
                self.timers[slot] = at;
                net.set_timer(self.info.index, slot, at.max(now));
            }
        }
    }

    fn observe(&mut self, now: Time) {
        let sum = Sum::of(&self.connections);
        self.meter.state(&sum, self.over_at.is_none(), now);
        if let (Some(recorder), Some(snapshot)) = (&mut self.recorder, sum::snapshot(&self.connections)) {
            let delivered = self.meter.delivered(&sum);
            recorder.state(now, &snapshot, delivered, |row| self.connections[0].observe_cc(row));
        }
        if let WebApp::Video(player, Some(series)) = &mut self.app {
            series.add(player.row(now), now);
        }
    }

    fn stop(&mut self, net: &mut Network) {
        let result = self.metrics(net);
        self.result = Some(Box::new(result));
        self.info.is_measured = false;
        for connection in &mut self.connections {
            connection.stop(net.now);
        }
        self.step(net);
    }

    fn metrics(&mut self, net: &Network) -> FlowResult {
        let last = self.info.stop.min(net.end);
        let end = self.over_at.unwrap_or(last);
        let seconds = self.info.seconds(end);
        let variant = match &self.dialer {
            Dialer::Tcp { factory, .. } => factory.variant(),
            Dialer::Quic { algorithms, .. } => algorithms.variant(),
        };
        let mut result = FlowResult {
            variant: variant.name.into(),
            application: self.app.kind().into(),
            stop_s: end.as_secs(),
            throughput_bps: if seconds > 0.0 { self.info.received_bytes as f64 * 8.0 / seconds } else { 0.0 },
            ..FlowResult::default()
        };
        let unit = match &self.connections.first().map(|c| &c.wire) {
            Some(Wire::Tcp { tcp, .. }) => tcp.sender().config().mss(),
            Some(Wire::Quic { ends, .. }) => ends.sender.full_payload(),
            None => 0,
        };
        self.meter.finish(Some(&Sum::of(&self.connections)), unit, seconds, end.min(net.now), &mut result);
        self.app.fill(last.min(net.now), &mut result);
        result
    }
}

impl Flow for WebFlow {
    common_parts!(info, recorder);

    fn on_timer(&mut self, timer: usize, net: &mut Network) {
        let now = net.now;
        self.timers[timer] = Time::NEVER;
        match timer {
            APP if now >= self.info.stop => {
                if self.result.is_none() {
                    self.stop(net);
                }
                return;
            }
            APP => {
                let client = self.app.client();
                if client.next_timer().is_some_and(|at| at <= now) {
                    client.on_timer(now);
                }
            }
            _ => {
                let side = if timer == SENDER { Side::Sender } else { Side::Receiver };
                for connection in &mut self.connections {
                    if connection.next_timer(side, now).is_some_and(|at| at <= now) {
                        connection.on_timer(side, now);
                    }
                }
            }
        }
        self.step(net);
    }

    fn on_packet(&mut self, packet: Packet, forward: bool, net: &mut Network) {
        if forward && self.over_at.is_none() {
            self.info.counts(packet, net.now);
        }
        let number = net.body(packet.body).connection;
        let Some(connection) = self.connections.iter_mut().find(|c| c.number == number) else {
            return; // of an earlier page
        };
        let side = if forward { Side::Receiver } else { Side::Sender };
        connection.on_packet(packet, side, net);
        if !forward {
            match &connection.wire {
                Wire::Tcp { tcp, .. } => self.meter.acknowledged(tcp.sender(), net.now),
                Wire::Quic { ends, .. } => self.meter.acknowledged(&ends.sender, net.now),
            }
            if let Some(recorder) = &mut self.recorder {
                let packets = match &connection.wire {
                    Wire::Tcp { tcp, .. } => tcp.sender().newly_delivered(),
                    Wire::Quic { ends, .. } => ends.sender.newly_delivered(),
                };
                recorder.acknowledged(packets, net.now);
            }
        }
        self.step(net);
    }

    fn restart_meter(&mut self, net: &Network) {
        self.meter.restart(Some(&Sum::of(&self.connections)), net.now);
        // Of a flow that has stopped, nothing is measured.
        if self.info.stop <= net.now {
            self.result = Some(Box::new(self.metrics(net)));
        }
    }

    fn finish(&mut self, net: &mut Network) -> FlowResult {
        let result = self.result.take().map_or_else(|| self.metrics(net), |result| *result);
        net.trace.tables.extend(self.recorder.take().into_iter().flat_map(|recorder| recorder.finish()));
        if let WebApp::Video(player, series) = &mut self.app
            && let Some(mut series) = series.take()
        {
            let end = self.info.stop.min(net.end);
            series.push(player.row(end), end);
            net.trace.tables.push(series.finish());
        }
        result
    }
}
