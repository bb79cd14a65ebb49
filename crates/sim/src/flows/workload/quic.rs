//! Transfers over QUIC. Each has streams of its own: as many as the stack's parameter `streams`, between which it is
//! divided. The transfers of a flow that reuses connections share one connection, as the requests of HTTP/3 do.

use super::carrier::{Carrier, Factory};
use crate::flows::FlowInfo;
use crate::flows::algorithms::Algorithms;
use crate::flows::connection::Side;
use crate::network::{Arrived, Network};
use crate::tcp_meter::{Connected, Delivered, Ends};
use dumbbell_quic::{Config, Endpoint, Role, State};
use dumbbell_tcp::Counters;
use dumbbell_units::Time;
use dumbbell_units::random::Stream;
use std::collections::BTreeMap;

/// Makes the connections of a flow.
pub(crate) struct QuicFactory {
    config: Config,
    algorithms: Algorithms,
    /// Seeds of the algorithms' and the endpoints' random numbers.
    seeds: Stream,
    /// Payload of a full packet of a new connection, bytes.
    payload: u64,
}

impl QuicFactory {
    pub(crate) fn new(config: Config, algorithms: Algorithms, flow: &str, seed: u64) -> QuicFactory {
        let algorithm = algorithms.make(&config.cc_setup(), 0);
        let payload = Endpoint::new(config, algorithm, Role::Client, 0).full_payload();
        QuicFactory { config, algorithms, seeds: Stream::new(seed, &format!("flow/{flow}/quic")), payload }
    }

    fn endpoint(&mut self, role: Role) -> Endpoint {
        let algorithm = self.algorithms.make(&self.config.cc_setup(), self.seeds.next_u64());
        Endpoint::new(self.config, algorithm, role, self.seeds.next_u64())
    }
}

impl Factory<QuicCarrier> for QuicFactory {
    fn connection(&mut self) -> QuicCarrier {
        QuicCarrier {
            ends: Ends { sender: self.endpoint(Role::Client), receiver: self.endpoint(Role::Server) },
            streams: self.config.streams.streams,
            begun: 0,
            running: BTreeMap::new(),
            closes: false,
        }
    }

    fn variant(&self) -> &'static str {
        self.algorithms.variant().name
    }

    fn full_payload(&self) -> u64 {
        self.payload
    }
}

/// A transfer under way.
struct Running {
    /// Index in the run's list.
    row: usize,
    /// Streams that are not complete.
    streams: u32,
}

/// A connection.
pub(crate) struct QuicCarrier {
    ends: Ends<Endpoint>,
    /// Streams of a transfer: transfer n has those from n * streams on.
    streams: u32,
    /// Transfers so far.
    begun: u32,
    /// By number of the transfer.
    running: BTreeMap<u32, Running>,
    /// True if no transfer follows.
    closes: bool,
}

impl QuicCarrier {
    fn end_mut(&mut self, side: Side) -> &mut Endpoint {
        match side {
            Side::Sender => &mut self.ends.sender,
            Side::Receiver => &mut self.ends.receiver,
        }
    }
}

impl Connected for QuicCarrier {
    fn counters(&self) -> &Counters {
        self.ends.counters()
    }

    fn arrived(&self) -> (Delivered, u64) {
        self.ends.arrived()
    }
}

impl Carrier for QuicCarrier {
    type Sender = Endpoint;
    type Factory = QuicFactory;
    const SHARED: bool = true;

    fn sender(&self) -> &Endpoint {
        &self.ends.sender
    }

    fn full_payload(&self) -> u64 {
        self.ends.sender.full_payload()
    }

    fn open(&mut self, _factory: &QuicFactory, now: Time) {
        self.ends.sender.open(now);
        self.ends.receiver.open(now);
    }

    fn begin(&mut self, bytes: u64, row: usize) {
        let (count, first) = (u64::from(self.streams), self.begun * self.streams);
        for n in 0..self.streams {
            let rest = u64::from(u64::from(n) < bytes % count);
            self.ends.sender.write(first + n, bytes / count + rest);
            self.ends.sender.finish(first + n);
        }
        self.running.insert(self.begun, Running { row, streams: self.streams });
        self.begun += 1;
    }

    fn close(&mut self) {
        self.closes = true;
    }

    fn abandon(&mut self, now: Time) {
        self.running.clear();
        self.ends.sender.close(now);
    }

    fn on_packet(&mut self, packet: Arrived, side: Side, net: &Network) -> bool {
        self.end_mut(side).on_datagram(net.datagram(packet.body), packet.ecn, net.now);
        false
    }

    fn on_timer(&mut self, side: Side, now: Time) {
        self.end_mut(side).on_timer(now);
    }

    fn send(&mut self, side: Side, info: &FlowInfo, number: u32, net: &mut Network) -> Option<Time> {
        let closes = side == Side::Sender && self.closes;
        let endpoint = self.end_mut(side);
        if closes && endpoint.is_open() && endpoint.everything_acknowledged() {
            endpoint.close(net.now);
        }
        net.send_quic(info, side == Side::Sender, endpoint, number, None);
        endpoint.next_timer()
    }

    fn take_completed(&mut self) -> Option<usize> {
        while let Some(stream) = self.ends.receiver.take_finished() {
            let transfer = stream / self.streams;
            let Some(running) = self.running.get_mut(&transfer) else { continue };
            running.streams -= 1;
            if running.streams == 0 {
                return self.running.remove(&transfer).map(|running| running.row);
            }
        }
        None
    }

    fn is_usable(&self) -> bool {
        self.ends.sender.is_open()
    }

    fn is_over(&self) -> bool {
        self.ends.sender.state() == State::Closed && self.ends.receiver.state() == State::Closed
    }
}
