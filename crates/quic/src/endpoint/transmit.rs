//! A datagram is sent: one packet of each space that has something to send [RFC 9000 §12.2].

use super::{Endpoint, State};
use crate::config::MIN_DATAGRAM;
use crate::ecn::EcnPath;
use crate::frame::{Frame, crypto_header};
use crate::packet::{Datagram, Form, Space, number_bytes};
use crate::sent::{Fate, SentPacket};
use dumbbell_cc::{SentEvent, TxStart};
use dumbbell_units::Time;
use dumbbell_wire::Ecn;

/// The least room for a packet besides its header: a shorter rest of a datagram stays empty.
const LEAST_FRAMES: u32 = 32;

/// The properties of a datagram that is sent, besides its contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transmit {
    /// The ECN field of its IP packet.
    pub ecn: Ecn,
    /// Bytes of stream data.
    pub payload: u32,
    /// True if it has stream data that was sent before.
    pub retransmission: bool,
    /// Number of its last packet.
    pub number: u64,
}

/// A packet under construction.
#[derive(Debug)]
struct Draft {
    form: Form,
    number: u64,
    /// Bytes so far, header included, and at most.
    bytes: u32,
    limit: u32,
    /// Index of its first frame in the datagram.
    first_frame: usize,
    acks: Option<u64>,
    payload: u32,
    repeated: u32,
    mtu_probe: bool,
}

impl Draft {
    fn room(&self) -> u32 {
        self.limit - self.bytes
    }

    fn push(&mut self, frame: Frame, out: &mut Datagram) {
        self.bytes += frame.bytes(&out.ranges);
        out.push_frame(frame);
    }
}

impl Endpoint {
    /// Writes the next datagram that window, pacing and peer allow into `out`. None: nothing is sent now.
    pub fn poll(&mut self, now: Time, out: &mut Datagram) -> Option<Transmit> {
        out.clear();
        match self.state {
            State::Idle | State::Closed | State::Draining => return None,
            State::Closing => return self.send_close(now, out),
            State::Handshaking | State::Established => {}
        }
        self.paced_until = None;
        let credit = self.amplification_credit();
        let limit = u64::from(self.mtu.current).min(credit) as u32;
        let mut sent = Transmit { ecn: self.ecn.codepoint(), ..Transmit::default() };
        let mut is_padded = false;
        let mut has_handshake = false;
        for space in Space::ALL {
            if !self.spaces[space as usize].can_send {
                continue;
            }
            let first_frame = out.frame_count();
            if self.write_packet(space, limit, now, out, &mut sent) {
                // Datagrams with an Initial packet are padded to 1200 bytes: all of a client, ack-eliciting ones of a
                // server [RFC 9000 §14.1].
                let ack_eliciting = out.frames_from(first_frame).iter().any(Frame::is_ack_eliciting);
                is_padded |= space == Space::Initial && (self.is_client() || ack_eliciting);
                has_handshake |= space == Space::Handshake;
            }
        }
        if out.bytes == 0 {
            return None;
        }
        if is_padded {
            out.bytes = out.bytes.max(MIN_DATAGRAM.min(limit));
        }
        self.amplification.sent += u64::from(out.bytes);
        if has_handshake && self.is_client() {
            self.discard(Space::Initial); // [RFC 9001 §4.9.1]
        }
        self.set_loss_timer(now);
        Some(sent)
    }

    /// Adds a packet of a space to the datagram, if there is something to send; returns true if it did.
    fn write_packet(&mut self, space: Space, limit: u32, now: Time, out: &mut Datagram, sent: &mut Transmit) -> bool {
        let form = match space {
            Space::Initial => Form::Initial,
            Space::Handshake => Form::Handshake,
            Space::Application => self.application_form(),
        };
        self.skip_number(space);
        let state = &self.spaces[space as usize];
        let number = state.sent.next_number();
        let token = if self.is_client() { self.config.connection.token } else { 0 };
        let header = form.overhead(number_bytes(number, state.largest_acked), token);
        if limit < out.bytes + header + LEAST_FRAMES {
            return false;
        }
        let mut draft = Draft {
            form,
            number,
            bytes: header,
            limit: limit - out.bytes,
            first_frame: out.frame_count(),
            acks: None,
            payload: 0,
            repeated: 0,
            mtu_probe: false,
        };
        let eliciting = self.may_send_data(space, &draft, now);
        let state = &self.spaces[space as usize];
        // Client 0-RTT packets carry no ACK [RFC 9000 §17.2.3].
        let has_ack = form != Form::ZeroRtt && (state.received.due || (eliciting && state.received.has_unacked()));
        if !has_ack && !eliciting {
            return false;
        }
        if has_ack {
            self.write_ack(space, &mut draft, out, now);
        }
        if eliciting {
            self.write_frames(space, &mut draft, out);
        }
        if out.frame_count() == draft.first_frame {
            return false;
        }
        self.finish_packet(space, draft, now, out, sent);
        true
    }

    fn write_ack(&mut self, space: Space, draft: &mut Draft, out: &mut Datagram, now: Time) {
        let state = &mut self.spaces[space as usize];
        let Some(frame) = state.received.frame(out, now) else { return };
        draft.push(frame, out);
        draft.acks = state.received.largest();
        state.received.on_ack_sent();
        // A receiver that only sends ACKs asks for an ACK now and then, so that it can forget old ranges
        // [RFC 9000 §13.2.4].
        if state.received.has_many_ranges() && space == Space::Application && state.eliciting_in_flight == 0 {
            draft.push(Frame::Ping, out);
        }
    }

    /// True if ack-eliciting frames are waiting, and window and pacing allow a packet with them.
    fn may_send_data(&mut self, space: Space, draft: &Draft, now: Time) -> bool {
        if self.spaces[space as usize].probes > 0 {
            return true;
        }
        let room = u64::from(draft.room());
        let waiting = self.waiting_bytes(space, room);
        if waiting == 0 {
            if space == Space::Application {
                self.note_no_data();
            }
            return false;
        }
        // DIVERGES [RFC 9002 §7]: the window doesn't limit the handshake. Early data fills it before the peer can
        // acknowledge that data, and no PTO would repeat it [RFC 9002 §6.2.1]: the handshake would wait for ever.
        if space != Space::Application {
            return true;
        }
        let size = u64::from(draft.bytes) + waiting.min(room);
        let window = self.cc.window(&self.config);
        if (self.in_flight + size) as f64 > window {
            self.cwnd_limited = true;
            return false;
        }
        if let Some(at) = self.pacing_permits(size, now).filter(|at| *at > now) {
            self.paced_until = Some(at);
            self.cwnd_limited = true; // [RFC 9002 §7.8]
            return false;
        }
        true
    }

    /// About the bytes of the ack-eliciting frames that are waiting, at most about `limit`.
    fn waiting_bytes(&self, space: Space, limit: u64) -> u64 {
        let crypto = self.spaces[space as usize].crypto_send.sendable(u64::MAX);
        if space != Space::Application {
            return if crypto > 0 { crypto + 8 } else { 0 };
        }
        let control = self.handshake.done_due || self.ack_frequency_due || self.streams.has_updates();
        if self.wants_mtu_probe() {
            return self.mtu.next_probe().map_or(0, u64::from);
        }
        if !self.streams.has_data() {
            return if control { 16 } else { 0 };
        }
        self.streams.sendable(limit) + 16
    }

    /// Probes of the datagram size are sent by an end that has data to send, after the handshake.
    fn wants_mtu_probe(&self) -> bool {
        self.handshake.confirmed && self.mtu.next_probe().is_some() && self.streams.has_data()
    }

    /// When pacing permits a packet of `bytes`; None without pacing.
    pub(super) fn pacing_permits(&self, bytes: u64, now: Time) -> Option<Time> {
        let (rate, burst) = self.cc.pacing(&self.config, self.rtt.estimate().as_secs())?;
        Some(self.pacer.allows_at(bytes, rate, burst, now))
    }

    /// The application, not the window, limits sending: rate samples of the data in flight are marked.
    fn note_no_data(&mut self) {
        self.cwnd_limited = false;
        if ((self.in_flight + u64::from(self.mtu.current)) as f64) <= self.cc.window(&self.config) {
            self.delivery_rate.set_app_limited(self.in_flight);
        }
    }

    /// Adds the ack-eliciting frames.
    fn write_frames(&mut self, space: Space, draft: &mut Draft, out: &mut Datagram) {
        let probing = self.spaces[space as usize].probes > 0;
        if space == Space::Application {
            self.write_application_frames(probing, draft, out);
        } else {
            let crypto = &mut self.spaces[space as usize].crypto_send;
            let offset = crypto.next_offset();
            let room = draft.room().saturating_sub(crypto_header(offset, draft.room()));
            if let Some(piece) = crypto.take(room, u64::MAX) {
                draft.push(Frame::Crypto { offset: piece.offset, len: piece.len }, out);
            }
        }
        let state = &mut self.spaces[space as usize];
        let has_eliciting = out.frames_from(draft.first_frame).iter().any(Frame::is_ack_eliciting);
        if probing {
            state.probes -= 1;
            if !has_eliciting {
                draft.push(Frame::Ping, out);
            }
        }
    }

    fn write_application_frames(&mut self, probing: bool, draft: &mut Draft, out: &mut Datagram) {
        let size = self.mtu.next_probe().filter(|_| !probing && self.wants_mtu_probe());
        if let Some(size) = size {
            draft.push(Frame::Ping, out);
            draft.mtu_probe = true;
            self.mtu.on_probe_sent(size);
            return;
        }
        if self.handshake.done_due {
            self.handshake.done_due = false;
            draft.push(Frame::HandshakeDone, out);
        }
        if self.ack_frequency_due {
            self.ack_frequency_due = false;
            let threshold = self.config.ack.frequency - 1;
            draft.push(Frame::AckFrequency { threshold, max_ack_delay: self.config.ack.max_delay }, out);
        }
        // The peer's ACK of a probe must not wait [draft-ietf-quic-ack-frequency §5].
        if probing && self.config.ack.frequency > 0 {
            draft.push(Frame::ImmediateAck, out);
        }
        while draft.room() > LEAST_FRAMES
            && let Some(frame) = self.streams.take_update()
        {
            draft.push(frame, out);
        }
        while let Some((chunk, again)) = self.streams.take(draft.room()) {
            draft.payload += chunk.len;
            draft.repeated += if again { chunk.len } else { 0 };
            draft.push(Frame::Stream(chunk), out);
        }
    }

    /// Records the packet as sent [RFC 9002 appendix A.5 OnPacketSent].
    fn finish_packet(&mut self, space: Space, draft: Draft, now: Time, out: &mut Datagram, sent: &mut Transmit) {
        let bytes = match self.mtu.probe_size().filter(|_| draft.mtu_probe) {
            Some(size) => size,
            None => draft.bytes,
        };
        let frames = out.frames_from(draft.first_frame);
        let ack_eliciting = frames.iter().any(Frame::is_ack_eliciting);
        let mut chunk = None;
        let mut rest = Vec::new();
        for frame in frames {
            match *frame {
                Frame::Stream(first) if chunk.is_none() => chunk = Some(first),
                Frame::Ack { .. } | Frame::Ping | Frame::ImmediateAck | Frame::ConnectionClose => {}
                other => rest.push(other),
            }
        }
        let spin = draft.form == Form::OneRtt && self.spin;
        out.end_packet(draft.form, draft.number, spin, bytes);
        let ect = sent.ecn != Ecn::NOT_ECT;
        let flight = self.in_flight;
        let start = self.sent_bytes;
        let tx = if ack_eliciting {
            self.in_flight += u64::from(bytes);
            self.sent_bytes += u64::from(bytes);
            self.delivery_rate.on_sent(flight == 0, self.in_flight, now)
        } else {
            dumbbell_tcp::TxState::default()
        };
        let state = &mut self.spaces[space as usize];
        if ect {
            EcnPath::on_sent(&mut state.ecn);
        }
        state.sent.push(SentPacket {
            fate: if ack_eliciting { Fate::Outstanding } else { Fate::Untracked },
            sent_at: now,
            bytes,
            start,
            ack_eliciting,
            ect,
            mtu_probe: draft.mtu_probe,
            tx,
            chunk,
            rest,
            acks: draft.acks,
            payload: draft.payload,
        });
        sent.payload += draft.payload;
        sent.retransmission |= draft.repeated > 0;
        sent.number = draft.number;
        if draft.payload > 0 {
            self.counters.sent_segments += 1;
            self.counters.sent_bytes += u64::from(draft.payload);
            self.counters.retransmitted_segments += u64::from(draft.repeated > 0);
            self.counters.retransmitted_bytes += u64::from(draft.repeated);
        }
        if !ack_eliciting {
            return;
        }
        state.eliciting_in_flight += 1;
        state.last_eliciting = now;
        if !self.eliciting_sent {
            (self.eliciting_sent, self.idle_since) = (true, now);
        }
        self.notify_sent(bytes.into(), flight, draft.repeated > 0, now);
        if (space == Space::Application || self.config.growth.pacing_refill)
            && let Some((rate, burst)) = self.cc.pacing(&self.config, self.rtt.estimate().as_secs())
        {
            self.pacer.on_sent(bytes.into(), rate, burst, now);
        }
    }

    fn notify_sent(&mut self, bytes: u64, flight: u64, retransmission: bool, now: Time) {
        let cx = self.cx(now);
        if flight == 0 {
            let ev = TxStart { last_sent_at: self.last_sent_at, snd_nxt: self.sent_bytes - bytes };
            self.cc.notify(|cc| cc.on_tx_start(&ev, &cx));
        }
        self.last_sent_at = now;
        if self.cc.wants_sent {
            let app_limited = self.delivery_rate.is_app_limited();
            let ev = SentEvent { bytes, flight, snd_nxt: self.sent_bytes, retransmission, app_limited };
            self.cc.notify(|cc| cc.on_sent(&ev, &cx));
        }
    }

    /// Leaves out a packet number, if its turn has come; the interval between two of them doubles.
    fn skip_number(&mut self, space: Space) {
        let state = &mut self.spaces[space as usize];
        if space == Space::Application && state.sent.next_number() == self.skip_at {
            state.sent.push_skipped();
            let from = state.sent.next_number() + self.skip_interval;
            self.skip_interval = (2 * self.skip_interval).min(1 << 20);
            self.skip_at = from + self.random.next_u64() % self.skip_interval;
        }
    }

    /// Sends CONNECTION_CLOSE once for each datagram that arrives in the closing period, and at its start.
    fn send_close(&mut self, now: Time, out: &mut Datagram) -> Option<Transmit> {
        if !std::mem::take(&mut self.close_due) || self.closed_at <= now {
            return None;
        }
        // The most protected packet that the peer can read.
        let space = Space::ALL.into_iter().rev().find(|s| self.spaces[*s as usize].can_send)?;
        let form = match space {
            Space::Initial => Form::Initial,
            Space::Handshake => Form::Handshake,
            Space::Application => self.application_form(),
        };
        let number = self.spaces[space as usize].sent.next_number();
        out.push_frame(Frame::ConnectionClose);
        out.end_packet(form, number, false, form.overhead(4, 0) + Frame::ConnectionClose.bytes(&[]));
        self.spaces[space as usize].sent.push_skipped();
        if form == Form::Initial {
            out.bytes = MIN_DATAGRAM;
        }
        Some(Transmit { number, ..Transmit::default() })
    }
}
