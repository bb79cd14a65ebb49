//! A segment arrives: handshake, ECN, acknowledgment, data, close [RFC 9293 §3.10.7].

use super::predict::Expected;
use super::{Endpoint, State};
use crate::ack::IncomingAck;
use crate::ecn::{AckRequest, EcnMode};
use crate::segment::Segment;
use crate::timestamp::{sent_at, timestamp};
use dumbbell_units::Time;
use dumbbell_wire::{Ecn, Seq, TcpFlags};
use std::sync::Arc;

impl Endpoint {
    /// Handles a segment that arrives; `ecn` is the ECN field of its packet. Returns true if it surely leaves nothing
    /// to send but ACKs.
    #[inline(never)]
    pub fn on_segment(&mut self, segment: &Segment, ecn: Ecn, now: Time) -> bool {
        self.sender.delivered.clear();
        match self.on_expected_segment(segment, now) {
            Expected::Data => self.sender.is_quiet(now),
            Expected::Ack => false,
            Expected::No => {
                self.on_any_segment(segment, ecn, now);
                false
            }
        }
    }

    #[inline(never)]
    pub(super) fn on_any_segment(&mut self, segment: &Segment, ecn: Ecn, now: Time) {
        self.end_bulk();
        if segment.flags.contains(TcpFlags::SYN) {
            self.on_syn(segment, now);
            return;
        }
        match self.state {
            State::Closed | State::Listen | State::SynSent => return,
            State::SynReceived if segment.flags.contains(TcpFlags::ACK) => self.on_handshake_ack(segment, now),
            _ => {}
        }
        let request = self.count_mark(segment, ecn);
        let start = segment.seq.unwrap_near(self.peer_isn, self.receiver.nxt);
        if let Some(start) = start {
            self.store_timestamp(segment, start);
        }
        if segment.flags.contains(TcpFlags::ACK) {
            self.on_ack(segment, now);
        }
        let length = segment.sequence_length();
        if length > 0
            && let Some(start) = start
        {
            if segment.flags.contains(TcpFlags::FIN) {
                self.receiver.fin = Some(start + length - 1);
            }
            self.receive_data(segment, start, now);
            if request.now {
                self.receiver.acks.pending = self.receiver.acks.pending.max(1);
            }
            if self.receiver.fin_received() {
                self.state = match self.state {
                    State::Established => State::CloseWait,
                    State::FinWait => State::Closing,
                    other => other,
                };
            }
        }
        if self.state == State::Closing && self.sender.everything_acknowledged() {
            self.state = State::Done;
            self.sender.release_memory();
        }
    }

    /// Stores the timestamp of a segment that starts at `start`, for the echo [RFC 7323 §4.3].
    #[inline]
    pub(super) fn store_timestamp(&mut self, segment: &Segment, start: u64) {
        if let Some((value, _)) = segment.timestamps.filter(|_| start <= self.last_ack_sent) {
            self.ts_recent = value;
        }
    }

    /// Passes the data of a segment, which starts at `start`, to the receiving half.
    #[inline(always)]
    pub(super) fn receive_data(&mut self, segment: &Segment, start: u64, now: Time) {
        self.note_echo(segment, now);
        let range = (start, start + segment.sequence_length());
        let psh = segment.flags.contains(TcpFlags::PSH);
        self.receiver.on_data(range, psh, now, self.sender.rtt.path(), &self.sender.config);
    }

    /// Takes a round trip for the receive window from the timestamp that a segment echoes.
    #[inline(always)]
    pub(super) fn note_echo(&mut self, segment: &Segment, now: Time) {
        let tick = self.sender.config.connection.timestamp_clock;
        if let (Some(window), Some((_, echo))) = (&mut self.receiver.window, segment.timestamps)
            && segment.payload >= self.sender.config.connection.mss
        {
            window.on_echo(echo, || tick * u64::from(timestamp(now, tick).wrapping_sub(echo)));
        }
    }

    /// Bytes beyond its acknowledgment that a segment offers.
    #[inline]
    pub(super) fn offered(&self, segment: &Segment) -> u64 {
        u64::from(segment.window) << self.peer_scale
    }

    /// When the segment was sent whose timestamp a segment echoes.
    #[inline]
    pub(super) fn echo(&self, segment: &Segment, now: Time) -> Option<Time> {
        let tick = self.sender.config.connection.timestamp_clock;
        segment.timestamps.filter(|_| self.peer_timestamps).map(|(_, echo)| sent_at(echo, now, tick))
    }

    fn on_syn(&mut self, segment: &Segment, now: Time) {
        let answers_ours = segment.flags.contains(TcpFlags::ACK) && self.state == State::SynSent;
        let opens = !segment.flags.contains(TcpFlags::ACK) && self.state == State::Listen;
        if !answers_ours && !opens {
            // A repeated SYN or SYN-ACK: the answer to it was lost.
            if self.state == State::SynReceived {
                self.syn_due = true;
            } else if self.is_open() {
                self.receiver.acks.pending += 1;
            }
            return;
        }
        let config = Arc::clone(&self.sender.config);
        self.peer_isn = segment.seq;
        self.receiver.nxt = 1;
        self.last_ack_sent = 1;
        self.peer_scale = segment.window_scale.unwrap_or(0);
        self.peer_timestamps = config.connection.timestamps && segment.timestamps.is_some();
        self.peer_sack = segment.sack_permitted;
        self.ecn.mode = match answers_ours {
            true => EcnMode::on_syn_ack(&config, segment.flags),
            false => EcnMode::on_syn(&config, segment.flags),
        };
        self.ts_recent = segment.timestamps.map_or(0, |(value, _)| value);
        if opens {
            self.state = State::SynReceived;
            self.syn_due = true;
        } else {
            self.handshake_done(u64::from(segment.window), now);
            self.receiver.acks.pending += 1;
            self.handshake_ack_due = config.connection.handshake_ack_alone;
        }
    }

    fn on_handshake_ack(&mut self, segment: &Segment, now: Time) {
        self.handshake_done(u64::from(segment.window) << self.peer_scale, now);
    }

    fn handshake_done(&mut self, window: u64, now: Time) {
        self.handshake_rto_at = None;
        let rtt = (self.syn_sends == 1).then(|| now.since(self.syn_sent_at));
        if let Some(rtt) = rtt {
            self.sender.sample_rtt(self.syn_sent_at, now);
            self.sender.sample_min_rtt(rtt, now);
        } else {
            self.sender.rtt.on_syn_lost();
        }
        self.sender.open(1 + window, self.ecn.mode);
        self.sender.notify_established(rtt, now);
        if let Some(window) = &mut self.receiver.window {
            window.on_established(now);
        }
        self.state = if self.sender.closing { State::FinWait } else { State::Established };
    }

    /// Counts a packet's ECN field in the receiving half; returns the ACKs that it requires.
    fn count_mark(&mut self, segment: &Segment, ecn: Ecn) -> AckRequest {
        if self.ecn.mode == EcnMode::Off {
            return AckRequest::default();
        }
        let config = &self.sender.config;
        let mut request = self.ecn.on_packet(ecn, segment.flags, segment.payload);
        // After CWR the sender's window may be very small [Linux tcp_input.c tcp_ecn_accept_cwr].
        let cwr = segment.flags.contains(TcpFlags::CWR);
        let reduced = self.ecn.mode != EcnMode::Accurate && cwr && segment.payload > 0;
        request.now |= reduced && config.ack.quick > 0;
        if request.before && self.receiver.acks.has_unacknowledged() {
            self.prior_ack = Some((self.receiver.nxt, ecn != Ecn::CE));
        }
        if request.before {
            self.ecn.set_ce_state(ecn);
        }
        if request.quick {
            // [Linux tcp_input.c __tcp_ecn_check_ce]
            self.receiver.acks.enter_quickack_mode(2.min(config.ack.quick), config);
        }
        request
    }

    fn on_ack(&mut self, segment: &Segment, now: Time) {
        let una = self.sender.snd.una;
        let Some(ack) = segment.ack.unwrap_near(self.isn, una) else { return };
        let mut blocks = [(0, 0); 4];
        let mut count = 0;
        let offset = |seq: Seq| seq.unwrap_near(self.isn, una);
        for block in segment.sack.as_slice() {
            if let (Some(l), Some(r)) = (offset(block.left), offset(block.right)) {
                blocks[count] = (l, r);
                count += 1;
            }
        }
        // The first block reports a duplicate if the ACK, or the second block, covers it [RFC 2883 §4.2].
        let within = |(l, r): (u64, u64), (from, to): (u64, u64)| from <= l && r <= to;
        let first = blocks[0];
        let is_dsack = count > 0 && (first.1 <= ack || (count > 1 && within(first, blocks[1])));
        let dsack = (self.sender.config.ack.dsack && is_dsack).then_some(first);
        let sack = &mut blocks[usize::from(dsack.is_some())..count];
        if self.sender.config.uses_rack() {
            sack.sort_unstable(); // RACK.rtt is that of the last block, which must be the highest
        }
        let ack = IncomingAck {
            ack,
            wnd_end: ack + self.offered(segment),
            may_be_duplicate: segment.payload == 0 && !segment.flags.contains(TcpFlags::FIN),
            sack,
            dsack,
            echo: self.echo(segment, now),
            tsval: segment.timestamps.filter(|_| self.peer_timestamps).map(|(value, _)| value),
            flags: segment.flags,
            accecn: segment.accecn.as_ref(),
        };
        self.sender.on_ack(&ack, now);
    }
}
