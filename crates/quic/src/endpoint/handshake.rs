//! The handshake: messages by their lengths, and the keys that they give [RFC 9001 §4].
//!
//! ```text
//! client                                server
//! Initial: ClientHello (0-RTT: data)  ->
//!                                    <-  Initial: ServerHello; Handshake: EncryptedExtensions .. Finished; 1-RTT: data
//! Handshake: Finished; 1-RTT: data    ->  complete and confirmed
//! confirmed                          <-  1-RTT: HANDSHAKE_DONE
//! ```

use super::{Endpoint, Role, State};
use crate::config::Start;
use crate::packet::{Form, Space};
use dumbbell_units::Time;

/// Bytes of a Finished message with SHA-256 [RFC 8446 §4.4.4].
const FINISHED: u32 = 36;

/// Progress of the handshake.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Handshake {
    /// The messages of the peer in the Initial space, and in the Handshake space, are complete.
    hello_received: bool,
    pub(super) complete: bool,
    pub(super) confirmed: bool,
    /// Client: a Handshake packet was acknowledged, so that the server has validated the address.
    pub(super) handshake_acked: bool,
    /// Server: HANDSHAKE_DONE has to be sent.
    pub(super) done_due: bool,
}

impl Endpoint {
    /// A connection that begins established.
    pub(super) fn establish(&mut self) {
        self.discard(Space::Initial);
        self.discard(Space::Handshake);
        let application = self.space(Space::Application);
        (application.can_send, application.can_receive) = (true, true);
        self.amplification.validated = true;
        (self.handshake.complete, self.handshake.confirmed) = (true, true);
        self.ack_frequency_due = self.config.ack.frequency > 0;
        self.state = State::Established;
    }

    /// The client sends its first flight.
    pub(super) fn start_handshake(&mut self) {
        let hello = self.config.connection.client_hello;
        self.space(Space::Initial).crypto_send.write(hello.into());
        if self.config.connection.start == Start::ZeroRtt {
            self.space(Space::Application).can_send = true;
        }
    }

    /// Acts on the messages that have arrived in order.
    pub(super) fn advance_handshake(&mut self, now: Time) {
        let arrived = |space: Space| self.spaces[space as usize].crypto_receive.delivered();
        let connection = self.config.connection;
        let (hello, flight) = match self.role {
            Role::Client => (connection.server_hello, connection.server_flight),
            Role::Server => (connection.client_hello, FINISHED),
        };
        let has_hello = arrived(Space::Initial) >= u64::from(hello);
        let has_flight = arrived(Space::Handshake) >= u64::from(flight);
        if has_hello && !self.handshake.hello_received {
            self.handshake.hello_received = true;
            let keys = self.space(Space::Handshake);
            (keys.can_send, keys.can_receive) = (true, true);
            if self.role == Role::Server {
                self.space(Space::Initial).crypto_send.write(connection.server_hello.into());
                self.space(Space::Handshake).crypto_send.write(connection.server_flight.into());
                self.space(Space::Application).can_send = true;
                if connection.start == Start::ZeroRtt {
                    self.space(Space::Application).can_receive = true;
                }
            }
        }
        if has_flight && !self.handshake.complete {
            self.complete_handshake(now);
        }
    }

    fn complete_handshake(&mut self, now: Time) {
        self.handshake.complete = true;
        self.state = State::Established;
        let application = self.space(Space::Application);
        (application.can_send, application.can_receive) = (true, true);
        match self.role {
            Role::Client => self.space(Space::Handshake).crypto_send.write(FINISHED.into()),
            Role::Server => {
                self.handshake.done_due = true;
                self.confirm_handshake();
            }
        }
        let (rtt, cx) = (self.rtt.srtt(), self.cx(now));
        self.cc.notify(|cc| cc.on_established(rtt, &cx));
    }

    /// The handshake is confirmed [RFC 9001 §4.1.2]: its keys are discarded [§4.9.2].
    pub(super) fn confirm_handshake(&mut self) {
        if !self.handshake.confirmed {
            self.handshake.confirmed = true;
            self.discard(Space::Initial);
            self.discard(Space::Handshake);
            self.ack_frequency_due = self.config.ack.frequency > 0;
        }
    }

    /// Discards the keys of a space: its packets are no longer in flight [RFC 9002 §6.4].
    pub(super) fn discard(&mut self, space: Space) {
        let state = &mut self.spaces[space as usize];
        if !state.can_send && !state.can_receive {
            return;
        }
        let in_flight: u64 = state.sent.all_outstanding().map(|p| u64::from(p.bytes)).sum();
        state.sent.clear();
        (state.can_send, state.can_receive) = (false, false);
        (state.loss_time, state.eliciting_in_flight, state.probes) = (None, 0, 0);
        (state.received.due, state.received.timer) = (false, None);
        self.in_flight -= in_flight;
        self.pto_count = 0;
    }

    /// True if the keys that remove a packet's protection exist [RFC 9001 §5.7].
    pub(super) fn can_read(&self, form: Form) -> bool {
        let state = &self.spaces[form.space() as usize];
        match (form, self.role) {
            (Form::OneRtt, _) => state.can_receive && self.handshake.complete,
            (Form::ZeroRtt, Role::Client) => false,
            _ => state.can_receive,
        }
    }

    /// The type of a packet that is sent in the application's space.
    pub(super) fn application_form(&self) -> Form {
        if self.is_client() && !self.handshake.complete { Form::ZeroRtt } else { Form::OneRtt }
    }

    /// True if the server is known to have validated the client's address
    /// [RFC 9002 appendix A.8 PeerCompletedAddressValidation].
    pub(super) fn peer_validated(&self) -> bool {
        !self.is_client() || self.handshake.handshake_acked || self.handshake.confirmed
    }
}
