//! A segment arrives: handshake, acknowledgment, data, closing.

use super::{Endpoint, State, timestamp};
use crate::ecn::{Asks, Mode};
use crate::segment::Segment;
use crate::sender::Ack;
use dumbbell_units::Time;
use dumbbell_wire::{Ecn, Seq, TcpFlags};

impl Endpoint {
    /// A segment arrives; `ecn` is the ECN field of its packet.
    pub fn on_segment(&mut self, segment: &Segment, ecn: Ecn, now: Time) {
        self.sender.delivered.clear();
        if segment.flags.contains(TcpFlags::SYN) {
            self.on_syn(segment, now);
            return;
        }
        match self.state {
            State::Closed | State::Listen | State::SynSent => return,
            State::SynReceived if segment.flags.contains(TcpFlags::ACK) => {
                self.on_handshake_ack(segment, now)
            }
            _ => {}
        }
        let asks = self.take_mark(segment, ecn);
        let start = segment.seq.unwrap_near(self.peer_isn, self.receiver.nxt);
        if let (Some((value, _)), Some(start)) = (segment.timestamps, start)
            && start <= self.last_ack_sent
        {
            self.ts_recent = value;
        }
        if segment.flags.contains(TcpFlags::ACK) {
            self.take_ack(segment, now);
        }
        let length = segment.sequence_length();
        if length > 0
            && let Some(start) = start
        {
            if segment.flags.contains(TcpFlags::FIN) {
                self.receiver.fin = Some(start + length - 1);
            }
            let path = self.path();
            let tick = self.sender.config.timestamp_clock;
            if let (Some(window), Some((_, echo))) = (&mut self.receiver.window, segment.timestamps)
                && segment.payload >= self.sender.config.mss
            {
                window.on_echo(echo, tick * u64::from(timestamp(now, tick).wrapping_sub(echo)));
            }
            let range = (start, start + length);
            self.receiver.on_data(
                range,
                segment.flags.contains(TcpFlags::PSH),
                now,
                &path,
                &self.sender.config,
            );
            if asks.now {
                self.receiver.acks.now = self.receiver.acks.now.max(1);
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
        }
    }

    fn on_syn(&mut self, segment: &Segment, now: Time) {
        let answers_ours = segment.flags.contains(TcpFlags::ACK) && self.state == State::SynSent;
        let opens = !segment.flags.contains(TcpFlags::ACK) && self.state == State::Listen;
        if !answers_ours && !opens {
            // A repeated SYN or SYN-ACK: what we answered was lost.
            if self.state == State::SynReceived {
                self.syn_due = true;
            } else if self.is_open() {
                self.receiver.acks.now += 1;
            }
            return;
        }
        let config = self.sender.config;
        self.peer_isn = segment.seq;
        self.receiver.nxt = 1;
        self.last_ack_sent = 1;
        self.peer_scale = segment.window_scale.unwrap_or(0);
        self.peer_timestamps = config.timestamps && segment.timestamps.is_some();
        self.peer_sack = segment.sack_permitted;
        self.echo.mode = match answers_ours {
            true => Mode::granted(&config, segment.flags),
            false => Mode::answer(&config, segment.flags),
        };
        self.ts_recent = segment.timestamps.map_or(0, |(value, _)| value);
        if opens {
            self.state = State::SynReceived;
            self.syn_due = true;
        } else {
            self.handshake_done(u64::from(segment.window), now);
            self.receiver.acks.now += 1;
            self.handshake_ack_due = config.handshake_ack_alone;
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
            self.sender.note_rtt(rtt, now);
        } else {
            self.sender.rtt.syn_was_lost();
        }
        self.sender.open(1 + window, self.echo.mode);
        let cx = self.sender.cx(now);
        self.sender.tell_law(|law| law.on_established(rtt, &cx));
        self.state = if self.sender.closing { State::FinWait } else { State::Established };
    }

    /// The receiving half learns of a packet's ECN field.
    fn take_mark(&mut self, segment: &Segment, ecn: Ecn) -> Asks {
        if self.echo.mode == Mode::Off {
            return Asks::default();
        }
        let mut asks = self.echo.on_packet(ecn, segment.flags, segment.payload);
        // Linux: the window of the other side may be very small now.
        let reduced =
            self.echo.mode != Mode::Accurate && segment.flags.contains(TcpFlags::CWR) && segment.payload > 0;
        asks.now |= reduced && self.sender.config.quick_acks > 0;
        if asks.before && self.receiver.acks.owes() {
            self.prior_ack = Some((self.receiver.nxt, ecn != Ecn::CE));
        }
        if asks.before {
            self.echo.turn(ecn);
        }
        if asks.quick {
            self.receiver.acks.be_quick(2.min(self.sender.config.quick_acks), &self.sender.config);
        }
        asks
    }

    fn take_ack(&mut self, segment: &Segment, now: Time) {
        let una = self.sender.una;
        let Some(ack) = segment.ack.unwrap_near(self.isn, una) else { return };
        let mut blocks = [(0, 0); 4];
        let mut count = 0;
        for block in segment.sack.as_slice() {
            let offset = |seq: Seq| seq.unwrap_near(self.isn, una);
            if let (Some(l), Some(r)) = (offset(block.left), offset(block.right)) {
                blocks[count] = (l, r);
                count += 1;
            }
        }
        // The first block tells of a duplicate if the ACK, or the second block, covers it [RFC 2883 §4.2].
        let within = |(l, r): (u64, u64), (from, to): (u64, u64)| from <= l && r <= to;
        let first = blocks[0];
        let is_dsack = count > 0 && (first.1 <= ack || (count > 1 && within(first, blocks[1])));
        let dsack = (self.sender.config.dsack && is_dsack).then_some(first);
        let sack = &mut blocks[usize::from(dsack.is_some())..count];
        if self.sender.config.rack.is_some() {
            sack.sort_unstable(); // the highest is the last whose round trip RACK goes by
        }
        let tick = self.sender.config.timestamp_clock;
        let echo = segment.timestamps.filter(|_| self.peer_timestamps).map(|(_, echo)| {
            let age = timestamp(now, tick).wrapping_sub(echo);
            Time(now.0.saturating_sub(u64::from(age) * tick.0))
        });
        let a = Ack {
            ack,
            edge: ack + (u64::from(segment.window) << self.peer_scale),
            pure: segment.payload == 0 && !segment.flags.contains(TcpFlags::FIN),
            sack,
            dsack,
            echo,
            left: segment.timestamps.filter(|_| self.peer_timestamps).map(|(value, _)| value),
            flags: segment.flags,
            accecn: segment.accecn.as_ref(),
        };
        self.sender.on_ack(&a, now);
    }
}
