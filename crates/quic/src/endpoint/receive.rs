//! A datagram arrives.

use super::{Endpoint, State};
use crate::frame::Frame;
use crate::notes::{Note, Refusal};
use crate::packet::{Datagram, Form, Packet, Space};
use dumbbell_units::Time;
use dumbbell_wire::Ecn;

impl Endpoint {
    /// Processes a datagram that arrived with an ECN field.
    pub fn on_datagram(&mut self, datagram: &Datagram, ecn: Ecn, now: Time) {
        self.newly_delivered.clear();
        match self.state {
            State::Closing => {
                self.close_due = true; // [RFC 9000 §10.2.1]
                return;
            }
            State::Draining | State::Closed => return,
            State::Idle => self.state = State::Handshaking,
            State::Handshaking | State::Established => {}
        }
        self.amplification.received += u64::from(datagram.bytes);
        for (packet, frames) in datagram.packets() {
            let space = packet.form.space();
            let refusal = if !self.can_read(packet.form) {
                Some(Refusal::KeysUnavailable)
            } else {
                let duplicate = self.space(space).received.is_duplicate(packet.number);
                duplicate.then_some(Refusal::Duplicate)
            };
            if let Some(why) = refusal {
                if let Some(notes) = &mut self.notes {
                    notes.push(Note::Refused(packet.form, packet.number, why));
                }
                continue;
            }
            self.on_packet(packet, frames, datagram, ecn, now);
            if matches!(self.state, State::Closing | State::Draining) {
                return;
            }
        }
        self.set_loss_timer(now);
    }

    fn on_packet(&mut self, packet: &Packet, frames: &[Frame], datagram: &Datagram, ecn: Ecn, now: Time) {
        (self.idle_since, self.eliciting_sent) = (now, false);
        if packet.form == Form::Initial && self.config.connection.token > 0 {
            self.amplification.validated = true;
        }
        if packet.form == Form::Handshake && !self.is_client() {
            self.amplification.validated = true; // [RFC 9000 §8.1]
            self.discard(Space::Initial); // [RFC 9001 §4.9.1]
        }
        if packet.form == Form::OneRtt {
            self.update_spin(packet);
        }
        let space = packet.form.space();
        let mut eliciting = false;
        for frame in frames {
            eliciting |= frame.is_ack_eliciting();
            self.on_frame(frame, space, datagram, now);
            if matches!(self.state, State::Closing | State::Draining) {
                return;
            }
        }
        // A frame may have led to the discard of the keys.
        let state = self.space(space);
        if state.can_receive {
            state.received.add(packet.number, eliciting, ecn, now);
            if frames.contains(&Frame::ImmediateAck) {
                state.received.due = true;
            }
        }
    }

    /// The server returns the spin bit of the highest packet number, the client its inverse [RFC 9000 §17.4].
    fn update_spin(&mut self, packet: &Packet) {
        let largest = self.space(Space::Application).received.largest();
        if self.config.connection.spin_bit && largest.is_none_or(|largest| packet.number > largest) {
            self.spin = packet.spin != self.is_client();
        }
    }

    fn on_frame(&mut self, frame: &Frame, space: Space, datagram: &Datagram, now: Time) {
        match *frame {
            Frame::Ack { delay, ecn, .. } => self.on_ack(space, datagram.ranges_of(frame), delay, ecn, now),
            Frame::Crypto { offset, len } => {
                self.space(space).crypto_receive.add(offset, len, false);
                self.advance_handshake(now);
            }
            Frame::Stream(chunk) => {
                if !self.streams.receive(&chunk) {
                    self.close(now); // FLOW_CONTROL_ERROR [RFC 9000 §4.1]
                }
            }
            Frame::MaxData(max) => self.streams.on_max_data(max),
            Frame::MaxStreamData { stream, max } => self.streams.on_max_stream_data(stream, max),
            Frame::AckFrequency { threshold, max_ack_delay } => {
                self.space(Space::Application).received.set_frequency(threshold, max_ack_delay);
            }
            Frame::HandshakeDone => self.confirm_handshake(),
            Frame::ConnectionClose => self.leave(State::Draining, now),
            Frame::Ping | Frame::ImmediateAck => {}
        }
    }
}
