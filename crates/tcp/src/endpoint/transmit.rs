//! Segments are sent: SYN, data, pure ACKs [RFC 9293 §3.10.8; Linux tcp_output.c __tcp_transmit_skb].

use super::{Endpoint, State, Transmit};
use crate::ecn::EcnMode;
use crate::segment::{MAX_ACCECN, MAX_HEADER, Segment, TCP_HEADER, TIMESTAMPS_OPTION};
use crate::sender::Outgoing;
use crate::timestamp::timestamp;
use dumbbell_units::Time;
use dumbbell_wire::{Ecn, Seq, TcpFlags};
use std::sync::Arc;

/// A segment that is due, see [`Endpoint::due`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Due {
    kind: Kind,
    /// The segment with data.
    data: Outgoing,
}

#[derive(Clone, Copy, Debug, Default)]
enum Kind {
    Data,
    #[default]
    Ack,
    Syn,
    /// DCTCP's ACK for the segments before a change of state: its acknowledgment, and its ECE.
    PriorAck {
        nxt: u64,
        ece: bool,
    },
    /// The ACK whose blocks the next ones replace.
    EarlyAck,
}

impl Endpoint {
    /// Writes the next segment to send into `out`; must be called until it returns None.
    pub fn poll(&mut self, now: Time, out: &mut Segment) -> Option<Transmit> {
        let mut due = Due::default();
        self.due(now, &mut due).then(|| self.write_due(&due, now, out))
    }

    /// Decides about the next segment to send; must be called until it returns false: there is none. Otherwise
    /// [`Endpoint::write_due`] must follow.
    #[inline]
    pub fn due(&mut self, now: Time, due: &mut Due) -> bool {
        self.end_bulk();
        if self.rare_is_due()
            && let Some(kind) = self.rarely_due()
        {
            due.kind = kind;
            return true;
        }
        if self.is_open() && self.sender.next(now, &mut due.data) {
            due.kind = Kind::Data;
            return true;
        }
        due.kind = Kind::Ack;
        self.receiver.acks.pending > 0
    }

    /// True if something else may be due than data, or an ACK of the data that has arrived.
    #[inline]
    pub(super) fn rare_is_due(&self) -> bool {
        self.syn_due | self.handshake_ack_due | self.prior_ack.is_some() | self.receiver.early_blocks.is_some()
    }

    #[cold]
    fn rarely_due(&mut self) -> Option<Kind> {
        if std::mem::take(&mut self.syn_due) {
            return Some(Kind::Syn);
        }
        if let Some((nxt, ece)) = self.prior_ack.take() {
            return Some(Kind::PriorAck { nxt, ece });
        }
        if self.receiver.early_blocks.is_some() {
            return Some(Kind::EarlyAck);
        }
        std::mem::take(&mut self.handshake_ack_due).then_some(Kind::Ack)
    }

    /// Writes a segment that is due into `out`.
    #[inline]
    pub fn write_due(&mut self, due: &Due, now: Time, out: &mut Segment) -> Transmit {
        if matches!(due.kind, Kind::Data) {
            return self.data(&due.data, now, out);
        }
        self.write_without_data(due.kind, now, out)
    }

    #[inline(never)]
    fn write_without_data(&mut self, kind: Kind, now: Time, out: &mut Segment) -> Transmit {
        match kind {
            Kind::Data => {}
            Kind::Ack => self.fill_ack(now, out),
            Kind::Syn => return self.syn(now, out),
            Kind::PriorAck { nxt, ece } => {
                // A separate ACK: it isn't the ACK of the packet that made it due, so that other ACKs stay pending.
                let pending = self.receiver.acks.pending;
                self.fill_ack(now, out);
                (out.ack, self.receiver.acks.pending) = (self.peer_isn.at(nxt), pending);
                out.flags.set(TcpFlags::ECE, ece);
            }
            Kind::EarlyAck => {
                let acks = self.receiver.acks.clone();
                self.fill_ack(now, out);
                self.receiver.acks = acks;
                out.sack.clear();
                for (start, end) in self.receiver.early_blocks.take().unwrap_or_default() {
                    out.sack.push(self.peer_isn.at(start), self.peer_isn.at(end));
                }
            }
        }
        self.without_data(out)
    }

    /// Writes the next ACK of an endpoint that has nothing else to send.
    #[inline]
    pub fn poll_ack(&mut self, now: Time, out: &mut Segment) -> Transmit {
        self.fill(self.sender.snd.max, now, out);
        self.without_data(out)
    }

    /// True if an ACK must be sent now.
    #[must_use]
    #[inline]
    pub fn owes_ack(&self) -> bool {
        self.receiver.acks.pending > 0
    }

    #[inline]
    fn without_data(&self, segment: &Segment) -> Transmit {
        let bytes = self.packet_bytes(segment);
        Transmit { bytes, ecn: Ecn::NOT_ECT, retransmission: false, payload_offset: 0, is_last: false }
    }

    /// Bytes of the packet of a segment that isn't a SYN.
    #[inline]
    fn packet_bytes(&self, segment: &Segment) -> u32 {
        if segment.payload > 0 && !self.sender.config.connection.data_headers {
            return segment.payload;
        }
        if !segment.sack.is_empty() || segment.accecn.is_some() {
            return segment.packet_bytes(self.sender.config.connection.ip);
        }
        self.packet_bytes_without_blocks(segment)
    }

    /// The same for a segment whose only option can be that of timestamps.
    #[inline]
    pub(super) fn packet_bytes_without_blocks(&self, segment: &Segment) -> u32 {
        if segment.payload > 0 && !self.sender.config.connection.data_headers {
            return segment.payload;
        }
        let options = if segment.timestamps.is_some() { TIMESTAMPS_OPTION } else { 0 };
        self.sender.config.connection.ip.header_bytes() + TCP_HEADER + options + segment.payload
    }

    fn syn(&mut self, now: Time, out: &mut Segment) -> Transmit {
        let config = Arc::clone(&self.sender.config);
        let answer = self.state == State::SynReceived;
        if self.syn_sends == 0 {
            self.syn_sent_at = now;
        }
        self.syn_sends += 1;
        let is_first = self.syn_sends == 1;
        self.handshake_rto_at = Some(now + self.sender.rtt.rto());
        *out = Segment {
            seq: self.isn,
            ack: if answer { self.peer_isn.at(1) } else { Seq(0) },
            flags: if answer { self.ecn.mode.syn_ack_flags() } else { EcnMode::syn_flags(&config, is_first) },
            window: config.buffer.first_window().min(0xffff) as u16,
            mss: Some(config.connection.mss_option),
            window_scale: Some(config.buffer.window_scale()),
            sack_permitted: config.uses_sack(),
            timestamps: config
                .connection
                .timestamps
                .then(|| (timestamp(now, config.connection.timestamp_clock), self.ts_recent)),
            ..Segment::default()
        };
        let bytes = out.packet_bytes(config.connection.ip);
        Transmit { bytes, ecn: Ecn::NOT_ECT, retransmission: !is_first, payload_offset: 0, is_last: false }
    }

    fn data(&mut self, next: &Outgoing, now: Time, out: &mut Segment) -> Transmit {
        self.fill(next.start, now, out);
        out.payload = next.payload;
        out.flags |= TcpFlags::FIN.when(next.fin) | TcpFlags::PSH.when(next.psh) | TcpFlags::CWR.when(next.cwr);
        Transmit {
            bytes: self.packet_bytes(out),
            ecn: self.codepoint(next),
            retransmission: next.retransmission,
            payload_offset: next.start - 1,
            is_last: next.is_last && !self.owes_ack(),
        }
    }

    /// Returns the ECN field of a data packet. Retransmissions are not ECN-capable [RFC 3168 §6.1.5], except with DCTCP
    /// and scalable congestion control, where all data is.
    fn codepoint(&self, next: &Outgoing) -> Ecn {
        let config = &self.sender.config;
        let always = config.ecn.ect1 || self.ecn.mode == EcnMode::Dctcp;
        match self.ecn.mode {
            EcnMode::Off => Ecn::NOT_ECT,
            _ if next.payload == 0 || (next.retransmission && !always) => Ecn::NOT_ECT,
            EcnMode::Accurate if config.ecn.ect1 => Ecn::ECT1,
            _ => Ecn::ECT0,
        }
    }

    #[inline(never)]
    fn fill_ack(&mut self, now: Time, out: &mut Segment) {
        self.fill(self.sender.snd.max, now, out);
    }

    /// Writes SACK blocks and the feedback of ECN.
    #[inline(never)]
    fn report_blocks_and_marks(&mut self, out: &mut Segment) {
        if self.receiver.has_sack_blocks() && self.peer_sack && self.sender.config.uses_sack() {
            let most = if self.peer_timestamps { 3 } else { 4 };
            self.receiver.sack_blocks(self.peer_isn, most, &mut out.sack);
        }
        if self.ecn.mode != EcnMode::Off {
            let option_fits = out.header_bytes() + MAX_ACCECN <= MAX_HEADER;
            out.accecn = self.ecn.write_feedback(&mut out.flags, option_fits);
        }
    }

    /// Writes a segment that starts at `offset` and acknowledges all data that has arrived. Field by field, because
    /// copying a whole segment costs more than the rest of this function.
    #[inline(always)] // in two places: data, and the ACK of a receiver
    fn fill(&mut self, offset: u64, now: Time, out: &mut Segment) {
        self.fill_header(offset, now, out);
        if self.receiver.has_sack_blocks() | (self.ecn.mode != EcnMode::Off) {
            self.report_blocks_and_marks(out);
        }
        self.last_ack_sent = self.receiver.nxt;
        self.receiver.on_ack_sent();
    }

    /// The fields without SACK blocks and the feedback of ECN.
    #[inline(always)]
    fn fill_header(&mut self, offset: u64, now: Time, out: &mut Segment) {
        let window = self.offered_window();
        self.fill_fields(offset, window, now, out);
    }

    /// Returns the window field that is offered now.
    #[inline(always)]
    fn offered_window(&mut self) -> u16 {
        match &mut self.receiver.window {
            None => self.window_field,
            Some(window) => {
                let offer = window.offer(self.receiver.nxt);
                self.field_of(offer)
            }
        }
    }

    /// The window field that offers so many bytes. A small window that is scaled to zero would never open again.
    #[inline]
    pub(super) fn field_of(&self, offer: u64) -> u16 {
        (offer >> self.sender.config.buffer.window_scale()).clamp(1, 0xffff) as u16
    }

    /// The fields, with this window field.
    #[inline(always)]
    pub(super) fn fill_fields(&self, offset: u64, window: u16, now: Time, out: &mut Segment) {
        let config = &self.sender.config;
        out.seq = self.isn.at(offset);
        out.ack = self.peer_isn.at(self.receiver.nxt);
        out.flags = TcpFlags::ACK;
        out.window = window;
        out.payload = 0;
        out.mss = None;
        out.window_scale = None;
        out.sack_permitted = false;
        out.aligned = config.connection.aligned_options;
        out.timestamps = if self.peer_timestamps {
            Some((timestamp(now, config.connection.timestamp_clock), self.ts_recent))
        } else {
            None
        };
        out.sack.clear();
        out.accecn = None;
    }
}
