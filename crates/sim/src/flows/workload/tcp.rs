//! Transfers over TCP, one at a time on each connection.

use super::carrier::{Carrier, Factory};
use crate::flows::FlowInfo;
use crate::flows::connection::{Connection, Side};
use crate::flows::tcp::ConnectionFactory;
use crate::network::{Arrived, Network};
use crate::tcp_meter::{Connected, Delivered};
use dumbbell_tcp::{Counters, Endpoint, State};
use dumbbell_units::Time;
use dumbbell_units::random::Stream;
use std::sync::Arc;

/// Makes the connections of a flow.
pub(crate) struct TcpFactory {
    factory: Arc<ConnectionFactory>,
    isns: Stream,
    /// Seeds of the algorithms' random numbers.
    seeds: Stream,
}

impl TcpFactory {
    pub(crate) fn new(factory: Arc<ConnectionFactory>, flow: &str, seed: u64) -> TcpFactory {
        let stream = |part: &str| Stream::new(seed, &format!("flow/{flow}/{part}"));
        TcpFactory { factory, isns: stream("isn"), seeds: stream("seeds") }
    }
}

impl Factory<TcpCarrier> for TcpFactory {
    fn connection(&mut self) -> TcpCarrier {
        let connection = self.factory.connection(Side::Sender, &mut self.isns, &mut self.seeds);
        TcpCarrier { connection, running: None, written: 0 }
    }

    fn variant(&self) -> &'static str {
        self.factory.variant().name
    }

    fn full_payload(&self) -> u64 {
        self.factory.mss()
    }
}

/// A connection, with or without TLS.
pub(crate) struct TcpCarrier {
    connection: Connection,
    /// Index of the running transfer in the run's list.
    running: Option<usize>,
    /// Payload of all transfers so far.
    written: u64,
}

impl Connected for TcpCarrier {
    fn counters(&self) -> &Counters {
        self.connection.counters()
    }

    fn arrived(&self) -> (Delivered, u64) {
        self.connection.arrived()
    }
}

impl Carrier for TcpCarrier {
    type Sender = Endpoint;
    type Factory = TcpFactory;
    const SHARED: bool = false;

    fn sender(&self) -> &Endpoint {
        self.connection.sender()
    }

    fn full_payload(&self) -> u64 {
        self.connection.sender().config().mss()
    }

    fn open(&mut self, factory: &TcpFactory, _now: Time) {
        self.connection.open(factory.factory.has_handshake());
    }

    fn begin(&mut self, bytes: u64, row: usize) {
        self.running = Some(row);
        self.written += bytes;
        self.connection.write(Side::Sender, bytes);
    }

    fn close(&mut self) {
        self.connection.close(Side::Sender);
    }

    fn abandon(&mut self, _now: Time) {
        self.running = None;
        self.connection.abandon();
    }

    #[inline]
    fn on_packet(&mut self, packet: Arrived, side: Side, net: &Network) -> bool {
        let segment = &net.body(packet.body).segment;
        let is_quiet = self.connection.end_mut(side).on_segment(segment, packet.ecn, net.now);
        self.connection.read(side);
        is_quiet && !self.connection.has_tls()
    }

    fn on_timer(&mut self, side: Side, now: Time) {
        self.connection.end_mut(side).on_timer(now);
    }

    #[inline]
    fn send(&mut self, side: Side, info: &FlowInfo, number: u32, net: &mut Network) -> Option<Time> {
        let connection = &mut self.connection;
        if side == Side::Receiver && connection.receiver().peer_has_closed() && !connection.has_closed(Side::Receiver) {
            connection.close(Side::Receiver);
        }
        let endpoint = connection.end_mut(side);
        net.send_segments(info, side == Side::Sender, endpoint, number, &mut None);
        endpoint.next_timer(net.now)
    }

    #[inline]
    fn send_acks(&mut self, info: &FlowInfo, number: u32, net: &mut Network) -> Option<Time> {
        let receiver = self.connection.end_mut(Side::Receiver);
        net.send_acks(info, receiver, number, &mut None);
        // No other timer of the endpoint has changed.
        receiver.ack_timer()
    }

    #[inline]
    fn take_completed(&mut self) -> Option<usize> {
        let is_complete = self.running.is_some() && self.connection.delivered(Side::Receiver) >= self.written;
        if is_complete { self.running.take() } else { None }
    }

    fn is_usable(&self) -> bool {
        self.running.is_none()
    }

    #[inline]
    fn is_over(&self) -> bool {
        let is_done = |side| self.connection.end(side).state() == State::Done;
        self.running.is_none() && is_done(Side::Sender) && is_done(Side::Receiver)
    }
}
