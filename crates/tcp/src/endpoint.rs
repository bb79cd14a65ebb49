//! One end of a connection: states, handshake and closing around a sending and a receiving half.
//!
//! ```text
//! Closed -> SynSent -> Established <- SynReceived <- Listen
//! Established -> FinWait (we closed) / CloseWait (they closed) -> Closing -> Done
//! ```
//! FinWait stands for FIN-WAIT-1 and -2, Closing for CLOSING and LAST-ACK, Done for TIME-WAIT and CLOSED; which of
//! the two it is follows from what is acknowledged.

use crate::config::Config;
use crate::receiver::Receiver;
use crate::segment::{Flags, Segment};
use crate::sender::{Ack, Counters, Outgoing, Sender};
use crate::sent::Delivered;
use dumbbell_cc::{CongestionControl, Phase, Shell};
use dumbbell_units::{Dur, Seq, Time};

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not opened yet.
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// SYN sent.
    SynSent,
    /// SYN received and answered.
    SynReceived,
    /// Open both ways.
    Established,
    /// We have closed, the peer hasn't.
    FinWait,
    /// The peer has closed, we haven't.
    CloseWait,
    /// Both have closed, our FIN isn't acknowledged.
    Closing,
    /// Closed both ways.
    Done,
}

/// How a segment leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Whether its packet is ECN-capable [RFC 3168 §6.1.1].
    pub ecn_capable: bool,
    /// Whether it holds data (or a SYN) sent before.
    pub retransmission: bool,
    /// Where its payload begins, counted from the first payload byte.
    pub payload_offset: u64,
}

/// What can be seen of the sending half. Offsets count payload bytes from 0; sizes are bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// Congestion window as the endpoint uses it, inflation included.
    pub cwnd: f64,
    /// Slow start threshold.
    pub ssthresh: f64,
    /// Smoothed round-trip time; None before the first sample.
    pub srtt: Option<Dur>,
    /// Retransmission timeout in force.
    pub rto: Dur,
    /// Bytes outstanding (SACK: pipe).
    pub inflight: u64,
    /// First byte not acknowledged.
    pub snd_una: u64,
    /// Next byte to send.
    pub snd_nxt: u64,
    /// What the sender is doing.
    pub phase: Phase,
}

/// One end of a connection.
#[derive(Debug)]
pub struct Endpoint {
    state: State,
    isn: Seq,
    peer_isn: Seq,
    sender: Sender,
    receiver: Receiver,
    peer_scale: u8,
    /// What our window field says: all of the receive window, scaled.
    window_field: u16,
    peer_timestamps: bool,
    peer_sack: bool,
    /// ECN was agreed on [RFC 3168 §6.1.1].
    ecn_on: bool,
    /// The receiver echoes congestion until it hears CWR [RFC 3168 §6.1.3].
    echo_congestion: bool,
    syn_due: bool,
    handshake_rto_at: Option<Time>,
    syn_sent_at: Time,
    syn_sends: u32,
    /// TS.Recent and the rightmost byte acknowledged [RFC 7323 §4.3].
    ts_recent: u32,
    last_ack_sent: u64,
}

impl Endpoint {
    /// An endpoint that has not been opened. `isn` is its initial sequence number.
    #[must_use]
    pub fn new(config: Config, law: Box<dyn CongestionControl>, isn: Seq) -> Endpoint {
        Endpoint {
            state: State::Closed,
            isn,
            peer_isn: Seq(0),
            sender: Sender::new(config, law),
            receiver: Receiver::new(0),
            peer_scale: 0,
            window_field: (config.window >> config.window_scale()).min(0xffff) as u16,
            peer_timestamps: false,
            peer_sack: false,
            ecn_on: false,
            echo_congestion: false,
            syn_due: false,
            handshake_rto_at: None,
            syn_sent_at: Time::ZERO,
            syn_sends: 0,
            ts_recent: 0,
            last_ack_sent: 0,
        }
    }

    /// Opens the connection: a SYN goes out at the next poll.
    pub fn connect(&mut self) {
        self.state = State::SynSent;
        self.syn_due = true;
    }

    /// Waits for a SYN.
    pub fn listen(&mut self) {
        self.state = State::Listen;
    }

    /// Joins two endpoints that agree on everything, without a handshake.
    pub fn establish_pair(a: &mut Endpoint, b: &mut Endpoint) {
        let (first, second) = ((a.isn, a.sender.config), (b.isn, b.sender.config));
        a.join(second.0, &second.1);
        b.join(first.0, &first.1);
    }

    fn join(&mut self, peer_isn: Seq, peer: &Config) {
        self.peer_isn = peer_isn;
        self.receiver.nxt = 1;
        self.last_ack_sent = 1;
        self.peer_scale = peer.window_scale();
        self.peer_timestamps = peer.timestamps && self.sender.config.timestamps;
        self.peer_sack = peer.shell == Shell::Sack;
        self.ecn_on = peer.ecn && self.sender.config.ecn;
        let offered = (peer.window >> self.peer_scale).min(0xffff) << self.peer_scale;
        self.sender.open(1 + offered, self.ecn_on);
        self.state = if self.sender.closing { State::FinWait } else { State::Established };
    }

    /// Gives `bytes` more to send.
    pub fn write(&mut self, bytes: u64) {
        self.sender.written = self.sender.written.saturating_add(bytes).min(1 << 62);
    }

    /// Gives no more to send: a FIN follows what was written.
    pub fn close(&mut self) {
        if !self.sender.closing {
            self.sender.closing = true;
            self.state = match self.state {
                State::CloseWait => State::Closing,
                State::Established | State::SynReceived => State::FinWait,
                other => other,
            };
        }
    }

    /// The application stops: what was written and not sent yet is forgotten, then as [`Endpoint::close`].
    pub fn finish(&mut self) {
        if !self.sender.closing {
            self.sender.written = self.sender.max;
            self.close();
        }
    }

    /// Whether [`Endpoint::close`] was called.
    #[must_use]
    pub fn has_closed(&self) -> bool {
        self.sender.closing
    }

    /// The connection's state.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether data can go both ways.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Established | State::FinWait | State::CloseWait | State::Closing)
    }

    /// Payload bytes delivered to the application, in order, each once.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.receiver.nxt.saturating_sub(1 + u64::from(self.receiver.fin_received()))
    }

    /// Payload bytes that arrived more than once.
    #[must_use]
    pub fn duplicate_bytes(&self) -> u64 {
        self.receiver.duplicate_bytes
    }

    /// Whether the peer's FIN and all data before it have arrived.
    #[must_use]
    pub fn peer_has_closed(&self) -> bool {
        self.receiver.fin_received()
    }

    /// Whether everything written has been acknowledged (the FIN too, after [`Endpoint::close`]).
    #[must_use]
    pub fn everything_acknowledged(&self) -> bool {
        self.sender.everything_acknowledged()
    }

    /// What the sending half has done.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.sender.counters
    }

    /// The segments of which the last [`Endpoint::on_segment`] told something.
    #[must_use]
    pub fn newly_delivered(&self) -> &[Delivered] {
        &self.sender.delivered
    }

    /// The parameters in force.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.sender.config
    }

    /// Congestion window as the endpoint uses it, inflation included, bytes.
    #[must_use]
    pub fn cwnd(&self) -> f64 {
        self.sender.control.cwnd + self.sender.recovery.inflation as f64
    }

    /// Bytes outstanding (SACK: pipe).
    #[must_use]
    pub fn inflight(&self) -> u64 {
        self.sender.flight()
    }

    /// Smoothed round-trip time; None before the first sample.
    #[must_use]
    pub fn srtt(&self) -> Option<Dur> {
        self.sender.rtt.srtt()
    }

    /// Bytes of the IP packet that carries a segment of ours.
    #[must_use]
    pub fn packet_bytes(&self, segment: &Segment) -> u32 {
        if segment.payload > 0 && !self.sender.config.data_headers {
            return segment.payload;
        }
        segment.packet_bytes()
    }

    /// What can be seen of the sending half now.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let s = &self.sender;
        let control = s.control;
        let data_end = |offset: u64| offset.min(s.written).saturating_sub(1);
        Snapshot {
            cwnd: self.cwnd(),
            ssthresh: control.ssthresh,
            srtt: self.srtt(),
            rto: s.rtt.rto(),
            inflight: s.flight(),
            snd_una: data_end(s.una),
            snd_nxt: data_end(s.nxt),
            phase: s.phase(),
        }
    }

    /// The law's private columns.
    pub fn observe_law(&self, row: &mut Vec<f64>) {
        self.sender.observe_law(row);
    }

    /// When [`Endpoint::on_timer`] is due.
    #[must_use]
    pub fn next_timer(&self, now: Time) -> Option<Time> {
        let never = Time::NEVER;
        let at = self.sender.rto_at.unwrap_or(never).min(self.receiver.ack_at.unwrap_or(never));
        let at = at.min(self.handshake_rto_at.unwrap_or(never));
        let at = at.min(self.sender.paced_until(now).unwrap_or(never));
        (at != never).then_some(at)
    }

    /// The time of a timer has come; timers that aren't due are left alone.
    pub fn on_timer(&mut self, now: Time) {
        if self.handshake_rto_at.is_some_and(|at| at <= now) {
            self.syn_due = true;
            self.handshake_rto_at = None;
            self.sender.rtt.back_off();
        }
        if self.receiver.ack_at.is_some_and(|at| at <= now) {
            self.receiver.ack_at = None;
            self.receiver.ack_now += 1;
        }
        if self.sender.rto_at.is_some_and(|at| at <= now) {
            self.sender.on_timeout(now);
        }
    }

    /// A segment arrives; `ce`: its packet was marked "congestion experienced".
    pub fn on_segment(&mut self, segment: &Segment, ce: bool, now: Time) {
        self.sender.delivered.clear();
        if segment.flags.syn {
            self.on_syn(segment, now);
            return;
        }
        match self.state {
            State::Closed | State::Listen | State::SynSent => return,
            State::SynReceived if segment.flags.ack => self.on_handshake_ack(segment, now),
            _ => {}
        }
        self.take_congestion_echo(segment, ce);
        let start = segment.seq.unwrap_near(self.peer_isn, self.receiver.nxt);
        if let (Some((value, _)), Some(start)) = (segment.timestamps, start)
            && start <= self.last_ack_sent
        {
            self.ts_recent = value;
        }
        if segment.flags.ack {
            self.take_ack(segment, now);
        }
        let length = segment.sequence_length();
        if length > 0
            && let Some(start) = start
        {
            if segment.flags.fin {
                self.receiver.fin = Some(start + length - 1);
            }
            self.receiver.on_data(start, start + length, now, &self.sender.config);
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
        let answers_ours = segment.flags.ack && self.state == State::SynSent;
        let opens = !segment.flags.ack && self.state == State::Listen;
        if !answers_ours && !opens {
            // A repeated SYN or SYN-ACK: what we answered was lost.
            if self.state == State::SynReceived {
                self.syn_due = true;
            } else if self.is_open() {
                self.receiver.ack_now += 1;
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
        let ecn_offer = segment.flags.ece && (segment.flags.cwr || answers_ours);
        self.ecn_on = config.ecn && ecn_offer;
        self.ts_recent = segment.timestamps.map_or(0, |(value, _)| value);
        if opens {
            self.state = State::SynReceived;
            self.syn_due = true;
        } else {
            self.handshake_done(u64::from(segment.window), now);
            self.receiver.ack_now += 1;
        }
    }

    fn on_handshake_ack(&mut self, segment: &Segment, now: Time) {
        self.handshake_done(u64::from(segment.window) << self.peer_scale, now);
    }

    fn handshake_done(&mut self, window: u64, now: Time) {
        self.handshake_rto_at = None;
        if self.syn_sends == 1 {
            self.sender.rtt.sample(self.syn_sent_at, now);
        } else {
            self.sender.rtt.syn_was_lost();
        }
        self.sender.open(1 + window, self.ecn_on);
        self.state = if self.sender.closing { State::FinWait } else { State::Established };
    }

    fn take_congestion_echo(&mut self, segment: &Segment, ce: bool) {
        if self.ecn_on {
            self.echo_congestion = ce || (self.echo_congestion && !segment.flags.cwr);
        }
    }

    fn take_ack(&mut self, segment: &Segment, now: Time) {
        let una = self.sender.una;
        let Some(ack) = segment.ack.unwrap_near(self.isn, una) else { return };
        let mut blocks = [(0, 0); 4];
        let mut count = 0;
        for &(left, right) in segment.sack.as_slice() {
            if let (Some(l), Some(r)) = (left.unwrap_near(self.isn, una), right.unwrap_near(self.isn, una)) {
                blocks[count] = (l, r);
                count += 1;
            }
        }
        let echo = segment.timestamps.filter(|_| self.peer_timestamps).map(|(_, echo)| {
            let age = (micros(now)).wrapping_sub(echo);
            Time(now.0.saturating_sub(u64::from(age) * 1000))
        });
        let a = Ack {
            ack,
            edge: ack + (u64::from(segment.window) << self.peer_scale),
            pure: segment.payload == 0 && !segment.flags.fin,
            sack: &blocks[..count],
            echo,
            ece: segment.flags.ece,
        };
        self.sender.on_ack(&a, now);
    }

    /// Writes the next segment to send now into `out`; ask again until None.
    pub fn poll(&mut self, now: Time, out: &mut Segment) -> Option<Transmit> {
        if self.syn_due {
            self.syn_due = false;
            return Some(self.syn(now, out));
        }
        let mut next = Outgoing::default();
        if self.is_open() && self.sender.next(now, &mut next) {
            return Some(self.data(&next, now, out));
        }
        if self.receiver.ack_now > 0 {
            self.fill(self.sender.max, now, out);
            return Some(Transmit { ecn_capable: false, retransmission: false, payload_offset: 0 });
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
            flags: Flags {
                syn: true,
                ack: answer,
                ece: if answer { self.ecn_on } else { config.ecn },
                cwr: !answer && config.ecn,
                ..Flags::default()
            },
            window: config.window.min(0xffff) as u16,
            mss: Some(config.mss_option),
            window_scale: Some(config.window_scale()),
            sack_permitted: config.shell == Shell::Sack,
            timestamps: config.timestamps.then(|| (micros(now), self.ts_recent)),
            ..Segment::default()
        };
        Transmit { ecn_capable: false, retransmission: self.syn_sends > 1, payload_offset: 0 }
    }

    fn data(&mut self, next: &Outgoing, now: Time, out: &mut Segment) -> Transmit {
        self.fill(next.start, now, out);
        out.payload = next.payload;
        out.flags.fin = next.fin;
        out.flags.cwr = next.cwr;
        // Retransmissions are not ECN-capable [RFC 3168 §6.1.5].
        let ecn_capable = self.ecn_on && next.payload > 0 && !next.retransmission;
        Transmit { ecn_capable, retransmission: next.retransmission, payload_offset: next.start - 1 }
    }

    /// A segment that starts at `offset` and acknowledges all that has arrived. Field by field: a segment made
    /// elsewhere and moved here costs more than the rest of this function.
    fn fill(&mut self, offset: u64, now: Time, out: &mut Segment) {
        let config = &self.sender.config;
        out.seq = self.isn.at(offset);
        out.ack = self.peer_isn.at(self.receiver.nxt);
        out.flags = Flags { ack: true, ece: self.echo_congestion, ..Flags::default() };
        out.window = self.window_field;
        out.payload = 0;
        out.mss = None;
        out.window_scale = None;
        out.sack_permitted = false;
        out.timestamps = if self.peer_timestamps { Some((micros(now), self.ts_recent)) } else { None };
        out.sack.clear();
        if self.peer_sack && config.shell == Shell::Sack {
            let most = if self.peer_timestamps { 3 } else { 4 };
            self.receiver.sack_blocks(self.peer_isn, most, &mut out.sack);
        }
        self.last_ack_sent = self.receiver.nxt;
        self.receiver.ack_sent();
    }
}

/// The timestamp clock: microseconds, wrapping.
fn micros(now: Time) -> u32 {
    (now.0 / 1000) as u32
}
