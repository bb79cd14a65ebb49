//! Segments are sent: SYN, data, pure ACKs [RFC 9293 §3.10.8; Linux tcp_output.c __tcp_transmit_skb].

use super::{Endpoint, State, Transmit, timestamp};
use crate::ecn::EcnMode;
use crate::segment::{MAX_ACCECN, MAX_HEADER, Segment};
use crate::sender::Outgoing;
use dumbbell_units::Time;
use dumbbell_wire::{Ecn, Seq, TcpFlags};

impl Endpoint {
    /// Writes the next segment to send into `out`; must be called until it returns None.
    pub fn poll(&mut self, now: Time, out: &mut Segment) -> Option<Transmit> {
        if self.syn_due {
            self.syn_due = false;
            return Some(self.syn(now, out));
        }
        if let Some((nxt, ece)) = self.prior_ack.take() {
            // A separate ACK: it isn't the ACK of the packet that made it due, so that other ACKs stay pending.
            let pending = self.receiver.acks.pending;
            self.fill(self.sender.snd.max, now, out);
            (out.ack, self.receiver.acks.pending) = (self.peer_isn.at(nxt), pending);
            out.flags.set(TcpFlags::ECE, ece);
            return Some(Transmit { ecn: Ecn::NOT_ECT, retransmission: false, payload_offset: 0 });
        }
        if let Some(early) = self.receiver.early_blocks.take() {
            let acks = self.receiver.acks.clone();
            self.fill(self.sender.snd.max, now, out);
            self.receiver.acks = acks;
            out.sack.clear();
            for (start, end) in early {
                out.sack.push(self.peer_isn.at(start), self.peer_isn.at(end));
            }
            return Some(Transmit { ecn: Ecn::NOT_ECT, retransmission: false, payload_offset: 0 });
        }
        if std::mem::take(&mut self.handshake_ack_due) {
            self.fill(self.sender.snd.max, now, out);
            return Some(Transmit { ecn: Ecn::NOT_ECT, retransmission: false, payload_offset: 0 });
        }
        let mut next = Outgoing::default();
        if self.is_open() && self.sender.next(now, &mut next) {
            return Some(self.data(&next, now, out));
        }
        if self.receiver.acks.pending > 0 {
            self.fill(self.sender.snd.max, now, out);
            return Some(Transmit { ecn: Ecn::NOT_ECT, retransmission: false, payload_offset: 0 });
        }
        None
    }

    fn syn(&mut self, now: Time, out: &mut Segment) -> Transmit {
        let config = self.sender.config;
        let answer = self.state == State::SynReceived;
        if self.syn_sends == 0 {
            self.syn_sent_at = now;
        }
        self.syn_sends += 1;
        self.handshake_rto_at = Some(now + self.sender.rtt.rto());
        *out = Segment {
            seq: self.isn,
            ack: if answer { self.peer_isn.at(1) } else { Seq(0) },
            flags: if answer { self.ecn.mode.syn_ack_flags() } else { EcnMode::syn_flags(&config) },
            window: config.buffer.autotuning.unwrap_or(config.buffer.window).min(0xffff) as u16,
            mss: Some(config.connection.mss_option),
            window_scale: Some(config.buffer.window_scale()),
            sack_permitted: config.uses_sack(),
            timestamps: config
                .connection
                .timestamps
                .then(|| (timestamp(now, config.connection.timestamp_clock), self.ts_recent)),
            ..Segment::default()
        };
        Transmit { ecn: Ecn::NOT_ECT, retransmission: self.syn_sends > 1, payload_offset: 0 }
    }

    fn data(&mut self, next: &Outgoing, now: Time, out: &mut Segment) -> Transmit {
        self.fill(next.start, now, out);
        out.payload = next.payload;
        out.flags |=
            TcpFlags::FIN.when(next.fin) | TcpFlags::PSH.when(next.psh) | TcpFlags::CWR.when(next.cwr);
        let ecn = self.codepoint(next);
        Transmit { ecn, retransmission: next.retransmission, payload_offset: next.start - 1 }
    }

    /// Returns the ECN field of a data packet. Retransmissions are not ECN-capable [RFC 3168 §6.1.5], except with DCTCP and
    /// scalable congestion control, where all data is.
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

    /// Writes a segment that starts at `offset` and acknowledges all data that has arrived. Field by field, because copying
    /// a whole segment costs more than the rest of this function.
    fn fill(&mut self, offset: u64, now: Time, out: &mut Segment) {
        let config = &self.sender.config;
        out.seq = self.isn.at(offset);
        out.ack = self.peer_isn.at(self.receiver.nxt);
        out.flags = TcpFlags::ACK;
        out.window = match &mut self.receiver.window {
            None => self.window_field,
            // A small window that is scaled to zero would never open again.
            Some(window) => {
                (window.offer(self.receiver.nxt) >> config.buffer.window_scale()).clamp(1, 0xffff) as u16
            }
        };
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
        if self.peer_sack && config.uses_sack() {
            let most = if self.peer_timestamps { 3 } else { 4 };
            self.receiver.sack_blocks(self.peer_isn, most, &mut out.sack);
        }
        out.accecn = None;
        if self.ecn.mode != EcnMode::Off {
            let option_fits = out.header_bytes() + MAX_ACCECN <= MAX_HEADER;
            out.accecn = self.ecn.write_feedback(&mut out.flags, option_fits);
        }
        self.last_ack_sent = self.receiver.nxt;
        self.receiver.on_ack_sent();
    }
}
