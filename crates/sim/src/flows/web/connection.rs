//! A connection of a web flow: both endpoints, and the HTTP messages on it. The server is the data sender.

use crate::flows::FlowInfo;
use crate::flows::connection::{Connection as TcpConnection, Side};
use crate::network::{Arrived as Packet, Network};
use crate::tcp_meter::Ends;
use dumbbell_apps::{Arrived, Exchange, Streams};
use dumbbell_tcp::Snapshot;
use dumbbell_units::Time;
use std::collections::BTreeSet;

/// The transport and its messages.
#[expect(clippy::large_enum_variant, reason = "a flow has few connections, all of one kind")]
pub(super) enum Wire {
    Tcp { tcp: TcpConnection, exchange: Exchange },
    Quic { ends: Ends<dumbbell_quic::Endpoint>, streams: Streams },
}

pub(super) struct Connection {
    pub(super) number: u32,
    pub(super) wire: Wire,
    /// Requests without a complete response.
    pub(super) outstanding: BTreeSet<u32>,
}

impl Connection {
    /// True if no request can be made any more.
    pub(super) fn is_over(&self) -> bool {
        match &self.wire {
            Wire::Tcp { tcp, .. } => tcp.has_closed(Side::Receiver),
            Wire::Quic { ends, .. } => ends.receiver.is_over(),
        }
    }

    /// The client makes a request.
    pub(super) fn request(&mut self, id: u32, bytes: u64) {
        self.outstanding.insert(id);
        match &mut self.wire {
            Wire::Tcp { tcp, exchange } => tcp.write(Side::Receiver, exchange.request(id, bytes)),
            Wire::Quic { ends, streams } => {
                let stream = streams.request(id, bytes);
                ends.receiver.write(stream, bytes);
                ends.receiver.finish(stream);
            }
        }
    }

    /// The next request that has arrived at the server.
    pub(super) fn take_request(&mut self) -> Option<u32> {
        match &mut self.wire {
            Wire::Tcp { tcp, exchange } => exchange.take_request(tcp.delivered(Side::Sender)),
            Wire::Quic { ends, streams } => streams.take_request(|stream| ends.sender.delivered_of(stream)),
        }
    }

    /// The server begins a response of `total` bytes.
    pub(super) fn respond(&mut self, id: u32, total: u64) {
        match &mut self.wire {
            Wire::Tcp { exchange, .. } => exchange.respond(id, total),
            Wire::Quic { streams, .. } => streams.respond(id, total),
        }
    }

    /// The server has the next `bytes` of a response.
    pub(super) fn release(&mut self, id: u32, bytes: u64) {
        match &mut self.wire {
            Wire::Tcp { exchange, .. } => exchange.release(id, bytes),
            Wire::Quic { ends, streams } => {
                if let Some((stream, ends_here)) = streams.release(id, bytes) {
                    ends.sender.write(stream, bytes);
                    if ends_here {
                        ends.sender.finish(stream);
                    }
                }
            }
        }
    }

    /// The server writes as much as it can, and closes after the client.
    pub(super) fn serve(&mut self) {
        if let Wire::Tcp { tcp, exchange } = &mut self.wire {
            let bytes = exchange.write(tcp.sender().unsent());
            if bytes > 0 {
                tcp.write(Side::Sender, bytes);
            }
            if tcp.sender().peer_has_closed() && !tcp.has_closed(Side::Sender) {
                tcp.close(Side::Sender);
            }
        }
    }

    /// The next bytes of a response that have arrived at the client.
    pub(super) fn read(&mut self) -> Option<Arrived> {
        match &mut self.wire {
            Wire::Tcp { tcp, exchange } => exchange.read(tcp.delivered(Side::Receiver)),
            Wire::Quic { ends, streams } => streams.read(|stream| ends.receiver.delivered_of(stream)),
        }
    }

    /// A response is complete.
    pub(super) fn complete(&mut self, id: u32) {
        self.outstanding.remove(&id);
        if let Wire::Quic { streams, .. } = &mut self.wire {
            streams.forget(id);
        }
    }

    /// The client closes the connection.
    pub(super) fn close(&mut self, now: Time) {
        match &mut self.wire {
            Wire::Tcp { tcp, .. } => tcp.close(Side::Receiver),
            Wire::Quic { ends, .. } => ends.receiver.close(now),
        }
    }

    /// Both ends stop: nothing more is written, sent data is still delivered.
    pub(super) fn stop(&mut self, now: Time) {
        match &mut self.wire {
            Wire::Tcp { tcp, .. } => tcp.abandon(),
            Wire::Quic { ends, .. } => ends.receiver.close(now),
        }
    }

    /// Sends all that both ends have ready.
    pub(super) fn pump(&mut self, info: &FlowInfo, net: &mut Network) {
        match &mut self.wire {
            Wire::Tcp { tcp, .. } => {
                net.send_segments(info, true, tcp.end_mut(Side::Sender), self.number, &mut None);
                net.send_segments(info, false, tcp.end_mut(Side::Receiver), self.number, &mut None);
            }
            Wire::Quic { ends, .. } => {
                net.send_quic(info, true, &mut ends.sender, self.number, None);
                net.send_quic(info, false, &mut ends.receiver, self.number, None);
            }
        }
    }

    pub(super) fn next_timer(&self, side: Side, now: Time) -> Option<Time> {
        match (&self.wire, side) {
            (Wire::Tcp { tcp, .. }, side) => tcp.end(side).next_timer(now),
            (Wire::Quic { ends, .. }, Side::Sender) => ends.sender.next_timer(),
            (Wire::Quic { ends, .. }, Side::Receiver) => ends.receiver.next_timer(),
        }
    }

    pub(super) fn on_timer(&mut self, side: Side, now: Time) {
        match (&mut self.wire, side) {
            (Wire::Tcp { tcp, .. }, side) => tcp.end_mut(side).on_timer(now),
            (Wire::Quic { ends, .. }, Side::Sender) => ends.sender.on_timer(now),
            (Wire::Quic { ends, .. }, Side::Receiver) => ends.receiver.on_timer(now),
        }
    }

    /// A packet arrives at the server or the client.
    pub(super) fn on_packet(&mut self, packet: Packet, side: Side, net: &Network) {
        match &mut self.wire {
            Wire::Tcp { tcp, .. } => {
                tcp.end_mut(side).on_segment(&net.body(packet.body).segment, packet.ecn, net.now);
                tcp.read(side);
            }
            Wire::Quic { ends, .. } => {
                let end = if side == Side::Receiver { &mut ends.receiver } else { &mut ends.sender };
                end.on_datagram(net.datagram(packet.body), packet.ecn, net.now);
            }
        }
    }

    /// The server's sending half.
    pub(super) fn snapshot(&self) -> Snapshot {
        match &self.wire {
            Wire::Tcp { tcp, .. } => tcp.sender().snapshot(),
            Wire::Quic { ends, .. } => ends.sender.snapshot(),
        }
    }

    pub(super) fn observe_cc(&self, row: &mut Vec<f64>) {
        match &self.wire {
            Wire::Tcp { tcp, .. } => tcp.sender().observe_cc(row),
            Wire::Quic { ends, .. } => ends.sender.observe_cc(row),
        }
    }
}
