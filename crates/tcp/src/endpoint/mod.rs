//! One end of a connection: states, handshake and closing around a sending and a receiving half.
//!
//! ```text
//! Closed -> SynSent -> Established <- SynReceived <- Listen
//! Established -> FinWait (we closed) / CloseWait (they closed) -> Closing -> Done
//! ```
//! FinWait stands for FIN-WAIT-1 and -2, Closing for CLOSING and LAST-ACK, Done for TIME-WAIT and CLOSED; which of
//! the two it is follows from what is acknowledged.

mod receive;
mod transmit;
mod view;

use crate::config::Config;
use crate::ecn::{Echo, Mode};
use crate::receiver::{Path, Receiver};
use crate::sender::Sender;
use dumbbell_cc::{CongestionControl, LossRecovery, Phase};
use dumbbell_units::{Dur, Time};
use dumbbell_wire::{Ecn, Seq};

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
    /// The ECN field of its packet [RFC 3168 §6.1.1].
    pub ecn: Ecn,
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
    /// The receiving half's part of ECN, and what was agreed on.
    echo: Echo,
    /// DCTCP: an ACK that is due for what came before a change, up to here, and its ECE.
    prior_ack: Option<(u64, bool)>,
    syn_due: bool,
    /// The ACK that completes the handshake leaves before anything else.
    handshake_ack_due: bool,
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
            receiver: Receiver::new(0, &config),
            sender: Sender::new(config, law),
            peer_scale: 0,
            window_field: (config.window >> config.window_scale()).min(0xffff) as u16,
            peer_timestamps: false,
            peer_sack: false,
            echo: Echo::default(),
            prior_ack: None,
            syn_due: false,
            handshake_ack_due: false,
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
        self.peer_sack = peer.shell == LossRecovery::Sack;
        self.echo.mode = Mode::common(peer, &self.sender.config);
        let window = peer.autotuning.unwrap_or(peer.window);
        let offered = (window >> self.peer_scale).min(0xffff) << self.peer_scale;
        self.sender.open(1 + offered, self.echo.mode);
        self.state = if self.sender.closing { State::FinWait } else { State::Established };
    }

    /// Gives `bytes` more to send.
    pub fn write(&mut self, bytes: u64) {
        self.sender.check_app_limited();
        self.sender.written = self.sender.written.saturating_add(bytes).min(1 << 62);
        self.sender.reconsider_burst();
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

    /// When [`Endpoint::on_timer`] is due.
    #[must_use]
    pub fn next_timer(&self, now: Time) -> Option<Time> {
        let never = Time::NEVER;
        let at = self.sender.timer_at.unwrap_or(never).min(self.receiver.acks.timer().unwrap_or(never));
        let at = at.min(self.handshake_rto_at.unwrap_or(never));
        let at = at.min(self.sender.paced_until(now).unwrap_or(never));
        (at != never).then_some(at)
    }

    /// The time of a timer has come; timers that aren't due are left alone.
    pub fn on_timer(&mut self, now: Time) {
        self.sender.check_app_limited();
        if self.handshake_rto_at.is_some_and(|at| at <= now) {
            self.syn_due = true;
            self.handshake_rto_at = None;
            self.sender.rtt.back_off();
        }
        if self.receiver.acks.timer().is_some_and(|at| at <= now) {
            let path = self.path();
            self.receiver.acks.on_timer(now, &path, &self.sender.config);
        }
        if self.sender.timer_at.is_some_and(|at| at <= now) {
            self.sender.on_timer(now);
        }
    }
}

impl Endpoint {
    /// What the receiving half may know of the path.
    fn path(&self) -> Path {
        Path { srtt: self.sender.rtt.srtt(), rto: self.sender.rtt.rto() }
    }
}

/// The timestamp clock: its ticks, wrapping.
pub(crate) fn timestamp(now: Time, tick: Dur) -> u32 {
    (now.0 / tick.0) as u32
}
