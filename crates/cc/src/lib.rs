//! Congestion control: window laws.
//!
//! A law hears events from the endpoint and answers with one thing, its [`Control`]. It is pure: no clock, no I/O,
//! no globals. Loss detection and recovery belong to the endpoint (the *shell*: Tahoe, Reno, NewReno, SACK); a law
//! says how large the window is. Tahoe, Reno, NewReno and SACK therefore share one law ([`registry`] rows that differ
//! in the shell), while Vegas and CUBIC are laws of their own.
//!
//! All windows are bytes. Adding a variant: one file beside these, one row in [`registry`].

pub mod common;

mod event;
mod external;
mod registry;
mod variant;
mod variants;

pub use event::{
    AckArrival, AckEvent, CaState, Congestion, CongestionEvent, CwndValidation, Cx, Increase, LostEvent,
    RateSample, RecoveryExit, SentEvent, Setup, SlowStart, TxStart,
};
pub use external::{External, Failure, validate_control};
pub use registry::{build, find, registry};
pub use variant::{Build, EcnUse, LossRecovery, Variant};

use dumbbell_units::{Dur, Rate};

/// A law's answer: how much may be outstanding, and how fast it may leave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    /// The congestion window, in bytes. The endpoint sends whole segments, so what counts is its floor.
    pub cwnd: f64,
    /// The slow start threshold, in bytes; infinite until the first loss unless the stack sets it.
    pub ssthresh: f64,
    /// The rate at which segments are spaced; None sends each as soon as the window allows.
    pub pacing: Option<Rate>,
    /// Bytes that may leave in one burst when paced; None leaves it to the stack.
    pub quantum: Option<u64>,
}

/// What a law is doing, as the trace words it. A recovery phase is the endpoint's to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Phase {
    /// cwnd below ssthresh.
    SlowStart,
    /// Congestion avoidance.
    Avoidance,
    /// Fast recovery, from the retransmission to its end.
    Recovery,
    /// From a timeout until what was outstanding then is acknowledged.
    Loss,
    /// Model-based laws: the rate doubles each round trip until it no longer grows.
    Startup,
    /// The queue that startup made is let go.
    Drain,
    /// BBRv1's cycle of gains around the estimated rate.
    ProbeBw,
    /// Less than the estimated rate, to empty the queue.
    ProbeDown,
    /// The estimated rate.
    Cruise,
    /// The path is filled before probing.
    Refill,
    /// More than the estimated rate.
    ProbeUp,
    /// Little outstanding, to see the smallest RTT.
    ProbeRtt,
}

impl Phase {
    /// Every phase, in the order of its number.
    pub const ALL: [Phase; 12] = [
        Phase::SlowStart,
        Phase::Avoidance,
        Phase::Recovery,
        Phase::Loss,
        Phase::Startup,
        Phase::Drain,
        Phase::ProbeBw,
        Phase::ProbeDown,
        Phase::Cruise,
        Phase::Refill,
        Phase::ProbeUp,
        Phase::ProbeRtt,
    ];

    /// The word that traces and plots use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Phase::SlowStart => "slow start",
            Phase::Avoidance => "congestion avoidance",
            Phase::Recovery => "recovery",
            Phase::Loss => "timeout",
            Phase::Startup => "startup",
            Phase::Drain => "drain",
            Phase::ProbeBw => "probe bandwidth",
            Phase::ProbeDown => "probe down",
            Phase::Cruise => "cruise",
            Phase::Refill => "refill",
            Phase::ProbeUp => "probe up",
            Phase::ProbeRtt => "probe RTT",
        }
    }
}

/// A window law.
pub trait CongestionControl: Send + std::fmt::Debug {
    /// The handshake is over; `rtt`: how long it took, unless a segment of it was repeated. Not told of connections
    /// that begin established.
    fn on_established(&mut self, _rtt: Option<Dur>, _cx: &Cx) {}

    /// A segment leaves.
    fn on_sent(&mut self, _ev: &SentEvent, _cx: &Cx) {}

    /// A segment is taken for lost; told before [`CongestionControl::on_congestion`] and the ACK that showed it.
    fn on_lost(&mut self, _ev: &LostEvent, _cx: &Cx) {}

    /// An acknowledgment has come, whatever it tells; told before anything follows from it.
    fn on_arrival(&mut self, _ev: &AckArrival, _cx: &Cx) {}

    /// Whether it listens to [`CongestionControl::on_arrival`]: where not, it isn't called for each ACK.
    fn wants_arrivals(&self) -> bool {
        false
    }

    /// An acknowledgment that moved snd_una or delivered new data by SACK.
    fn on_ack(&mut self, ev: &AckEvent, cx: &Cx);

    /// Congestion was found: once an episode, the endpoint decides when an episode begins.
    fn on_congestion(&mut self, ev: &CongestionEvent, cx: &Cx);

    /// Fast recovery has ended.
    fn on_recovery_exit(&mut self, ev: &RecoveryExit, cx: &Cx);

    /// The last reductions since everything was well were answers to losses that weren't: they are taken back
    /// [RFC 4015, RFC 3708].
    fn on_undo(&mut self, _cx: &Cx) {}

    /// The window has not been used for long: less of it stays.
    fn on_cwnd_validation(&mut self, _ev: &CwndValidation, _cx: &Cx) {}

    /// Sending starts again after the connection was idle for longer than an RTO [RFC 5681 §4.1].
    fn on_restart(&mut self, idle: Dur, cx: &Cx);

    /// A segment leaves with nothing in flight; before [`CongestionControl::on_sent`].
    fn on_tx_start(&mut self, _ev: &TxStart, _cx: &Cx) {}

    /// Whether it listens to [`CongestionControl::on_sent`]: where not, it isn't called for each segment.
    fn wants_sent(&self) -> bool {
        true
    }

    /// The law's answer.
    fn control(&self) -> Control;

    /// Anything but [`Phase::Recovery`] and [`Phase::Loss`].
    fn phase(&self) -> Phase;

    /// The law's private state, one value for each of its registry row's columns; NaN for what isn't known yet.
    fn observe(&self, _row: &mut Vec<f64>) {}
}
