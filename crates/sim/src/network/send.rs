//! Hosts send packets: contents into the pool, the packet onto the first link of its path.

use super::{Injected, Network};
use crate::capture::{Cause, QuicSender};
use crate::flows::FlowInfo;
use crate::inbox::Incoming;
use crate::packets::Body;
use crate::qlog::ConnectionLog;
use crate::record::PacketEvent;
use dumbbell_qdisc::{Ecn, Packet};
use dumbbell_quic::{Datagram, UDP_HEADER};
use dumbbell_tcp::{BulkStep, Due, Endpoint};
use dumbbell_units::Time;
use dumbbell_units::flow_number::LANE_SHIFT;

impl Network {
    /// Sends a flow's datagram of `ip_bytes`, from the data sender if `forward`.
    pub(crate) fn send_datagram(&mut self, flow: &FlowInfo, forward: bool, ip_bytes: u32, number: u64, sent_at: Time) {
        let (handle, body) = self.pool.allocate();
        *body = Body { data: true, measured: flow.is_measured, number, sent_at, ..Body::default() };
        self.launch(flow, forward, handle, ip_bytes, Ecn::NOT_ECT);
    }

    /// Sends all segments that `endpoint` has ready now, from the data sender if `forward`. The first may take the slot
    /// of a packet that was `processed`.
    pub(crate) fn send_segments(
        &mut self,
        flow: &FlowInfo,
        forward: bool,
        endpoint: &mut Endpoint,
        connection: u32,
        processed: &mut Option<u32>,
    ) {
        if endpoint.is_bulk_sender() {
            loop {
                match endpoint.next_bulk(self.now) {
                    BulkStep::Send(next) => {
                        let (handle, body) = self.pool.reuse_or_allocate(processed);
                        let bytes = endpoint.write_bulk(&next, self.now, &mut body.segment);
                        body.connection = connection;
                        (body.data, body.measured, body.retransmission) = (true, flow.is_measured, false);
                        (body.copies, body.number) = (None, next.payload_offset());
                        self.launch(flow, forward, handle, bytes, Ecn::NOT_ECT);
                        if next.is_last() {
                            return;
                        }
                    }
                    BulkStep::Nothing => return,
                    BulkStep::Any => break,
                }
            }
        }
        self.send_any_segments(flow, forward, endpoint, connection);
    }

    #[inline(never)]
    fn send_any_segments(&mut self, flow: &FlowInfo, forward: bool, endpoint: &mut Endpoint, connection: u32) {
        let mut due = Due::default();
        while endpoint.due(self.now, &mut due) {
            let (handle, body) = self.pool.allocate();
            let how = endpoint.write_due(&due, self.now, &mut body.segment);
            body.connection = connection;
            body.data = body.segment.payload > 0;
            body.measured = body.data && flow.is_measured;
            body.copies = None;
            body.retransmission = how.retransmission;
            body.number = how.payload_offset;
            if how.retransmission && self.captures.is_some() {
                body.cause = Cause::of(endpoint.snapshot().phase, &body.segment);
            }
            self.launch(flow, forward, handle, how.bytes, how.ecn);
            if how.is_last {
                return;
            }
        }
    }

    /// The same for a data receiver that has nothing to send but ACKs.
    #[inline(always)] // it has two callers
    pub(crate) fn send_acks(
        &mut self,
        flow: &FlowInfo,
        endpoint: &mut Endpoint,
        connection: u32,
        processed: &mut Option<u32>,
    ) {
        while endpoint.owes_ack() {
            let (handle, body) = self.pool.reuse_or_allocate(processed);
            let how = endpoint.poll_ack(self.now, &mut body.segment);
            body.connection = connection;
            (body.data, body.measured, body.retransmission) = (false, false, false);
            (body.copies, body.number) = (None, 0);
            self.launch(flow, false, handle, how.bytes, how.ecn);
        }
    }

    /// Sends all datagrams that a QUIC `endpoint` has ready now, from the data sender if `forward`.
    pub(crate) fn send_quic(
        &mut self,
        flow: &FlowInfo,
        forward: bool,
        endpoint: &mut dumbbell_quic::Endpoint,
        connection: u32,
        mut log: Option<&mut ConnectionLog>,
    ) {
        loop {
            let (handle, _) = self.pool.allocate();
            let datagram = self.pool.datagram_slot(handle);
            let Some(how) = endpoint.poll(self.now, datagram) else {
                self.pool.free(handle);
                return;
            };
            let bytes = datagram.bytes + flow.ip.header_bytes() + UDP_HEADER;
            if let Some(log) = &mut log {
                log.sent(datagram, self.now);
            }
            let body = self.pool.get_mut(handle);
            let data = how.payload > 0;
            // No packet is sent again: lost data goes into new packets [RFC 9000 §13.3].
            *body = Body {
                connection,
                data,
                measured: data && flow.is_measured,
                number: how.number,
                sent_at: self.now,
                ..Body::default()
            };
            body.segment.payload = how.payload;
            if let Some(captures) = &mut self.captures {
                let sender = QuicSender::new(flow.index as u32, connection, endpoint);
                captures.quic(&sender, self.pool.datagram(handle));
            }
            self.launch(flow, forward, handle, bytes, how.ecn);
        }
    }

    /// Contents of a QUIC packet.
    #[inline]
    pub(crate) fn datagram(&self, handle: u32) -> &Datagram {
        self.pool.datagram(handle)
    }

    #[inline(always)] // for segments
    fn launch(&mut self, flow: &FlowInfo, forward: bool, handle: u32, bytes: u32, ecn: Ecn) {
        let direction = 2 * flow.index as u32 + u32::from(!forward);
        if self.watched {
            self.record_launch(if forward { flow.from } else { flow.to }, direction, handle, bytes, ecn);
        }
        let path = &mut self.paths[direction as usize];
        path.packets = path.packets.wrapping_add(1);
        let link = path.first_link;
        // Built in place: copying a struct that was just filled stalls the processor (store forwarding).
        let packet = Packet {
            bytes,
            flow: direction | flow.lane << LANE_SHIFT,
            body: handle,
            class: flow.class,
            ecn,
            enqueued: self.now,
        };
        self.carry(link as usize, Incoming { at: self.now, packet, link });
    }

    #[inline(never)]
    fn record_launch(&mut self, node: usize, direction: u32, handle: u32, bytes: u32, ecn: Ecn) {
        self.record_packet(PacketEvent::Sent, direction, handle, bytes, self.now);
        if let Some(captures) = &mut self.captures {
            captures.sent(direction, handle, self.pool.get(handle), bytes);
            captures.at_node(node, handle, ecn, self.now);
        }
    }

    /// Sends a packet whose contents are stored outside. `frame`: its bytes for captures.
    pub(crate) fn inject(&mut self, flow: &FlowInfo, from: &Injected<'_>) -> u32 {
        let (handle, body) = self.pool.allocate();
        *body = Body {
            connection: from.connection,
            data: from.payload > 0,
            measured: from.payload > 0 && flow.is_measured,
            retransmission: from.retransmission,
            number: from.number,
            sent_at: self.now,
            ..Body::default()
        };
        body.segment.payload = from.payload;
        if let Some(captures) = &mut self.captures {
            captures.frame(from.frame);
        }
        self.launch(flow, from.direction.is_multiple_of(2), handle, from.bytes, from.ecn);
        handle
    }
}
