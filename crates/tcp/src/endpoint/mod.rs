//! One end of a connection: states, handshake and close around a sending and a receiving half [RFC 9293 §3.3.2, §3.5,
//! §3.6].
//!
//! ```text
//! Closed -> SynSent -> Established <- SynReceived <- Listen
//! Established -> FinWait (we closed) / CloseWait (they closed) -> Closing -> Done
//! ```
//! FinWait is FIN-WAIT-1 or FIN-WAIT-2, Closing is CLOSING or LAST-ACK, Done is TIME-WAIT or CLOSED; which of the two
//! follows from the data acknowledged.

mod bulk;
mod predict;
mod receive;
mod transmit;
mod view;

pub use transmit::Due;

use crate::config::Config;
use crate::ecn::{EcnMode, EcnReceiver};
use crate::receiver::Receiver;
use crate::sender::Sender;
use bulk::Role;
use dumbbell_cc::{CongestionControl, Phase};
use dumbbell_units::{Dur, Time};
use dumbbell_wire::{Ecn, Seq};
use std::sync::Arc;

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
    /// Open in both directions.
    Established,
    /// This end has closed, the peer has not.
    FinWait,
    /// The peer has closed, this end has not.
    CloseWait,
    /// Both ends have closed; the FIN of this end is not acknowledged.
    Closing,
    /// Closed in both directions.
    Done,
}

/// The packet of a segment that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Bytes of its packet.
    pub bytes: u32,
    /// The ECN field of its packet [RFC 3168 §6.1.1].
    pub ecn: Ecn,
    /// True if it contains data (or a SYN) that was sent before.
    pub retransmission: bool,
    /// Offset of its payload from the first payload byte of the connection.
    pub payload_offset: u64,
    /// True if surely nothing else is to be sent now.
    pub is_last: bool,
}

/// A snapshot of the sending half. Offsets count payload bytes from 0; sizes are bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// Congestion window in use, inflation included.
    pub cwnd: f64,
    /// Slow start threshold.
    pub ssthresh: f64,
    /// Smoothed round-trip time; None before the first sample.
    pub srtt: Option<Dur>,
    /// Current retransmission timeout.
    pub rto: Dur,
    /// Bytes outstanding (pipe with SACK).
    pub inflight: u64,
    /// First byte not acknowledged.
    pub snd_una: u64,
    /// Next byte to send.
    pub snd_nxt: u64,
    /// Phase of recovery or congestion control.
    pub phase: Phase,
    /// Expiries of the retransmission timer so far.
    pub timeouts: u64,
}

/// One end of a connection.
#[derive(Debug)]
pub struct Endpoint {
    state: State,
    role: Role,
    /// The window field of a bulk sender.
    bulk_window: u16,
    isn: Seq,
    peer_isn: Seq,
    sender: Sender,
    receiver: Receiver,
    peer_scale: u8,
    /// The window field, if the receive window is constant: all of it, scaled.
    window_field: u16,
    peer_timestamps: bool,
    peer_sack: bool,
    /// The receiving half's part of ECN, and the negotiated mode.
    ecn: EcnReceiver,
    /// DCTCP: an ACK that is due for the segments before a change of state: its acknowledgment, and its ECE.
    prior_ack: Option<(u64, bool)>,
    syn_due: bool,
    /// True if the ACK that completes the handshake is sent before any data.
    handshake_ack_due: bool,
    handshake_rto_at: Option<Time>,
    syn_sent_at: Time,
    syn_sends: u32,
    /// TS.Recent and the rightmost byte acknowledged [RFC 7323 §4.3].
    ts_recent: u32,
    last_ack_sent: u64,
}

impl Endpoint {
    /// Returns an endpoint that is not open; `isn` is its initial sequence number.
    #[must_use]
    pub fn new(config: impl Into<Arc<Config>>, algorithm: Box<dyn CongestionControl>, isn: Seq) -> Endpoint {
        let config = config.into();
        Endpoint {
            state: State::Closed,
            role: Role::Any,
            bulk_window: 0,
            isn,
            peer_isn: Seq(0),
            receiver: Receiver::new(0, &config),
            peer_scale: 0,
            window_field: (config.buffer.window >> config.buffer.window_scale()).min(0xffff) as u16,
            sender: Sender::new(config, algorithm),
            peer_timestamps: false,
            peer_sack: false,
            ecn: EcnReceiver::default(),
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

    /// Opens the connection: the next poll returns a SYN.
    pub fn connect(&mut self) {
        self.state = State::SynSent;
        self.syn_due = true;
    }

    /// Waits for a SYN.
    pub fn listen(&mut self) {
        self.state = State::Listen;
    }

    /// Connects two endpoints without a handshake.
    pub fn establish_pair(a: &mut Endpoint, b: &mut Endpoint) {
        let (first, second) = ((a.isn, Arc::clone(&a.sender.config)), (b.isn, Arc::clone(&b.sender.config)));
        a.connect_to(second.0, &second.1);
        b.connect_to(first.0, &first.1);
    }

    fn connect_to(&mut self, peer_isn: Seq, peer: &Config) {
        self.end_bulk();
        self.peer_isn = peer_isn;
        self.receiver.nxt = 1;
        self.last_ack_sent = 1;
        self.peer_scale = peer.buffer.window_scale();
        self.peer_timestamps = peer.connection.timestamps && self.sender.config.connection.timestamps;
        self.peer_sack = peer.uses_sack();
        self.ecn.mode = EcnMode::common(peer, &self.sender.config);
        let window = peer.buffer.first_window();
        let offered = (window >> self.peer_scale).min(0xffff) << self.peer_scale;
        self.sender.open(1 + offered, self.ecn.mode);
        self.state = if self.sender.closing { State::FinWait } else { State::Established };
    }

    /// Writes `bytes` to send.
    pub fn write(&mut self, bytes: u64) {
        self.end_bulk();
        self.sender.check_app_limited();
        self.sender.write_seq = self.sender.write_seq.saturating_add(bytes).min(1 << 62);
        self.sender.reconsider_burst();
    }

    /// Closes: a FIN follows the data that was written.
    pub fn close(&mut self) {
        self.end_bulk();
        if !self.sender.closing {
            self.sender.closing = true;
            self.state = match self.state {
                State::CloseWait => State::Closing,
                State::Established | State::SynReceived => State::FinWait,
                other => other,
            };
        }
    }

    /// Discards data that was not sent yet, then closes as [`Endpoint::close`].
    pub fn finish(&mut self) {
        if !self.sender.closing {
            self.sender.write_seq = self.sender.snd.max;
            self.close();
        }
    }

    /// True if [`Endpoint::close`] was called.
    #[must_use]
    pub fn has_closed(&self) -> bool {
        self.sender.closing
    }

    /// Returns when [`Endpoint::on_timer`] must be called.
    #[must_use]
    #[inline(always)] // after each event
    pub fn next_timer(&self, now: Time) -> Option<Time> {
        if self.role == Role::BulkSender && self.sender.cc.control.pacing.is_none() {
            return self.sender.timer.expires;
        }
        let never = Time::NEVER;
        let at = self.sender.timer.expires.unwrap_or(never).min(self.receiver.acks.timer().unwrap_or(never));
        let at = at.min(self.handshake_rto_at.unwrap_or(never));
        let at = at.min(self.sender.paced_until(now).unwrap_or(never));
        (at != never).then_some(at)
    }

    /// Returns when the timer of a delayed ACK expires; it is a part of [`Endpoint::next_timer`].
    #[must_use]
    #[inline]
    pub fn ack_timer(&self) -> Option<Time> {
        self.receiver.acks.timer()
    }

    /// Handles the timers that have expired.
    pub fn on_timer(&mut self, now: Time) {
        self.end_bulk();
        self.sender.check_app_limited();
        if self.handshake_rto_at.is_some_and(|at| at <= now) {
            self.syn_due = true;
            self.handshake_rto_at = None;
            self.sender.rtt.back_off();
        }
        if self.receiver.acks.timer().is_some_and(|at| at <= now) {
            self.receiver.acks.on_timer(now, self.sender.rtt.path(), &self.sender.config);
        }
        if self.sender.timer.expires.is_some_and(|at| at <= now) {
            self.sender.on_timer(now);
        }
    }
}
