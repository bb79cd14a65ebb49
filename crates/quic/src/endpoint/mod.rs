//! One end of a connection [RFC 9000 §5, §10].
//!
//! ```text
//! Idle -> Handshaking -> Established -> Closing (we closed) / Draining (they closed) -> Closed
//! ```
//! An idle connection goes to Closed directly.

mod acknowledged;
mod handshake;
mod loss;
mod receive;
mod space;
mod timers;
mod transmit;
mod view;

use crate::cc_driver::CcDriver;
use crate::config::{Config, Start};
use crate::ecn::EcnPath;
use crate::mtu::MtuDiscovery;
use crate::notes::Note;
use crate::pacer::Pacer;
use crate::packet::Space;
use crate::rtt::RttEstimator;
use crate::streams::Streams;
use dumbbell_cc::{CongestionControl, Cx};
use dumbbell_tcp::{Counters, DeliveredSegment, DeliveryRate};
use dumbbell_units::Time;
use dumbbell_units::random::Stream;
use handshake::Handshake;
use space::SpaceState;

pub use transmit::Transmit;

/// The part of an end in the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It opens the connection.
    Client,
    /// It answers.
    Server,
}

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not opened yet; a server waits.
    Idle,
    /// The handshake is not complete.
    Handshaking,
    /// The handshake is complete.
    Established,
    /// This end has closed the connection.
    Closing,
    /// The peer has closed the connection.
    Draining,
    /// Closed: nothing is sent any more.
    Closed,
}

/// Bytes that a server may send to an address that is not validated [RFC 9000 §8.1].
#[derive(Clone, Copy, Debug, Default)]
struct Amplification {
    received: u64,
    sent: u64,
    validated: bool,
}

/// One end of a connection.
#[derive(Debug)]
pub struct Endpoint {
    config: Config,
    role: Role,
    state: State,
    spaces: [SpaceState; 3],
    handshake: Handshake,
    streams: Streams,
    rtt: RttEstimator,
    cc: CcDriver,
    delivery_rate: DeliveryRate,
    pacer: Pacer,
    mtu: MtuDiscovery,
    ecn: EcnPath,
    /// bytes_in_flight [RFC 9002 appendix B.2].
    in_flight: u64,
    /// Bytes of all ack-eliciting packets sent so far.
    sent_bytes: u64,
    /// True if the window or pacing, not the application, limited sending last.
    cwnd_limited: bool,
    last_sent_at: Time,
    /// When pacing permits the packet that it holds back.
    paced_until: Option<Time>,
    /// The timer of loss detection and PTO, and expiries of the PTO without an ACK (pto_count).
    loss_timer: Option<Time>,
    pto_count: u32,
    amplification: Amplification,
    /// Start of the idle time; true after an ack-eliciting packet was sent since a packet was received [RFC 9000
    /// §10.1].
    idle_since: Time,
    eliciting_sent: bool,
    /// End of the closing or draining period.
    closed_at: Time,
    close_due: bool,
    /// Spin bit of the packets that are sent.
    spin: bool,
    ack_frequency_due: bool,
    /// Draws the packet numbers that are skipped; the next one, and the length of the interval it is drawn from.
    random: Stream,
    skip_at: u64,
    skip_interval: u64,
    counters: Counters,
    /// Packets declared lost.
    lost_packets: u64,
    /// The packets that the last ACK newly acknowledged.
    newly_delivered: Vec<DeliveredSegment>,
    /// Events of packets since they were last taken, if a log asks for them.
    notes: Option<Vec<Note>>,
}

impl Endpoint {
    /// Returns an endpoint that is not open; `seed` is that of its random numbers.
    #[must_use]
    pub fn new(config: Config, algorithm: Box<dyn CongestionControl>, role: Role, seed: u64) -> Endpoint {
        let mut random = Stream::new(seed, "quic");
        let skip_interval = 128;
        let skip_at = if config.connection.skip_numbers { random.next_u64() % skip_interval } else { u64::MAX };
        let connection = &config.connection;
        Endpoint {
            role,
            state: State::Idle,
            spaces: Space::ALL.map(|space| SpaceState::new(space, &config)),
            handshake: Handshake::default(),
            streams: Streams::new(config.streams),
            rtt: RttEstimator::new(config.recovery),
            cc: CcDriver::new(algorithm),
            delivery_rate: DeliveryRate::default(),
            pacer: Pacer::new(config.growth.pacing_refill),
            mtu: MtuDiscovery::new(connection.initial_datagram, connection.max_datagram),
            ecn: EcnPath::new(config.growth.ecn, config.growth.ect1),
            in_flight: 0,
            sent_bytes: 0,
            cwnd_limited: false,
            last_sent_at: Time::ZERO,
            paced_until: None,
            loss_timer: None,
            pto_count: 0,
            amplification: Amplification::default(),
            idle_since: Time::ZERO,
            eliciting_sent: false,
            closed_at: Time::NEVER,
            close_due: false,
            spin: false,
            ack_frequency_due: false,
            random,
            skip_at,
            skip_interval,
            counters: Counters::default(),
            lost_packets: 0,
            newly_delivered: Vec::new(),
            notes: None,
            config,
        }
    }

    /// Opens the connection.
    pub fn open(&mut self, now: Time) {
        self.idle_since = now;
        if self.config.connection.start == Start::Established {
            self.establish();
        } else if self.role == Role::Client {
            self.state = State::Handshaking;
            self.start_handshake();
        }
    }

    /// Keeps notes from now on.
    pub fn keep_notes(&mut self) {
        self.notes = Some(Vec::new());
    }

    /// Takes the notes since the last call.
    pub fn take_notes(&mut self) -> Vec<Note> {
        self.notes.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Writes `bytes` to a stream.
    pub fn write(&mut self, stream: u32, bytes: u64) {
        self.streams.write(stream, bytes);
    }

    /// Ends a stream after the data that was written to it.
    pub fn finish(&mut self, stream: u32) {
        self.streams.finish(stream);
    }

    /// Discards data that was not sent yet, and ends all streams.
    pub fn finish_now(&mut self) {
        self.streams.finish_now();
    }

    /// Closes the connection at once; data that is not acknowledged is given up [RFC 9000 §10.2].
    pub fn close(&mut self, now: Time) {
        if matches!(self.state, State::Handshaking | State::Established) {
            self.leave(State::Closing, now);
            self.close_due = true;
        }
    }

    /// Begins the closing or draining period: three PTOs [RFC 9000 §10.2].
    fn leave(&mut self, state: State, now: Time) {
        self.state = state;
        self.closed_at = now + self.rtt.pto() * 3;
        self.loss_timer = None;
        self.paced_until = None;
    }

    fn is_client(&self) -> bool {
        self.role == Role::Client
    }

    fn space(&mut self, space: Space) -> &mut SpaceState {
        &mut self.spaces[space as usize]
    }

    fn cx(&self, now: Time) -> Cx {
        self.config.cc_cx(now)
    }
}
