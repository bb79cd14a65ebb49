//! Congestion control: how much data a sender may have in flight, and how fast it may send it.
//!
//! A congestion control algorithm receives events from the endpoint ([`CongestionControl`]) and returns one thing, a
//! [`Control`]: cwnd, ssthresh, pacing rate. It is pure: no clock, no I/O, no global state. Loss detection and loss
//! recovery (Tahoe, Reno, NewReno, SACK) belong to the endpoint, crate `dumbbell-tcp`. The variants tahoe, reno,
//! newreno and sack therefore share one algorithm and differ in their [`LossRecovery`]; Vegas or CUBIC are algorithms
//! of their own.
//!
//! ```text
//! lib.rs        the trait CongestionControl, its result Control, Phase
//! event.rs      one struct for each event, and the fixed properties of a connection (Setup, Cx)
//! variant.rs    Variant: a row of the registry
//! registry.rs   all variants: registry, find, build
//! external.rs   variants from a library or from Python
//! common/       parts that variants share: Window, LossDriven, HyStart, RTT and rate filters
//! variants/     one file NAME.rs for each variant, or NAME/mod.rs (the algorithm of the RFC or paper) and
//!               NAME/linux.rs (the integer arithmetic of Linux's net/ipv4/tcp_NAME.c)
//! ```
//!
//! A new variant is one file in `variants/`, one row in `variants/mod.rs`, its test in `tests/variants/` and its page
//! in `docs/reference/variants/`.
//!
//! # Units
//! Windows are `f64` bytes, not an integer type: RFC 5681 §3.1 (3) adds SMSS*SMSS/cwnd per ACK and RFC 9438 computes
//! in real numbers, so a window has a fraction of a byte that must not be lost. Inside a variant they may be `f64`
//! segments, as in its source. RTTs and times cross the trait as [`Dur`] and [`Time`](dumbbell_units::Time); inside a
//! variant an RTT may be `f64` seconds, because it enters the formulas of its source as a real number.

pub mod common;

mod event;
mod external;
mod registry;
mod variant;
mod variants;

pub use event::{
    AckArrival, AckEvent, CaState, Congestion, CongestionEvent, CwndValidation, Cx, Increase, LostEvent, RateSample,
    RecoveryExit, SentEvent, Setup, SlowStart, TxStart,
};
pub use external::{External, Failure, validate_control};
pub use registry::{build, find, registry};
pub use variant::{Build, EcnUse, LossRecovery, Requirement, StackFeature, Variant};

use dumbbell_units::{Dur, Rate, named};

/// The result of a congestion control algorithm: how much may be in flight, and how fast it is sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    /// The congestion window, in bytes. The endpoint sends whole segments: only those that fit count.
    pub cwnd: f64,
    /// The slow start threshold, in bytes; infinite until the first loss unless the stack sets it.
    pub ssthresh: f64,
    /// The pacing rate; None: each segment is sent as soon as the window allows.
    pub pacing: Option<Rate>,
    /// Bytes that may be sent in one burst when paced; None: the stack chooses.
    pub quantum: Option<u64>,
}

named! {
    /// The phase of a congestion control algorithm, as traces and plots name it. The endpoint adds the phases of
    /// recovery.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[repr(u8)]
    pub enum Phase {
        /// cwnd is below ssthresh.
        SlowStart = "slow start",
        /// Congestion avoidance.
        Avoidance = "congestion avoidance",
        /// Fast recovery, from the first retransmission to its end.
        Recovery = "recovery",
        /// From a retransmission timeout until all data that was outstanding then is acknowledged.
        Loss = "timeout",
        /// BBR: the sending rate doubles each round trip until the delivery rate no longer grows.
        Startup = "startup",
        /// BBR: the queue of Startup drains.
        Drain = "drain",
        /// BBRv1: the cycle of pacing gains around the estimated bandwidth.
        ProbeBw = "probe bandwidth",
        /// BBRv3 ProbeBW_DOWN: below the estimated bandwidth, so that the queue drains.
        ProbeDown = "probe down",
        /// BBRv3 ProbeBW_CRUISE: at the estimated bandwidth.
        Cruise = "cruise",
        /// BBRv3 ProbeBW_REFILL: the pipe is filled before probing.
        Refill = "refill",
        /// BBRv3 ProbeBW_UP: above the estimated bandwidth.
        ProbeUp = "probe up",
        /// BBR: little data in flight, to measure the minimum RTT.
        ProbeRtt = "probe RTT",
    }
}

/// A congestion control algorithm. Where Linux has a corresponding callback, the comment names it after "Linux:" [Linux
/// include/net/tcp.h tcp_congestion_ops].
pub trait CongestionControl: Send + std::fmt::Debug {
    /// The handshake is complete. `rtt` is its duration; None if one of its segments was retransmitted. Not called for
    /// connections that begin established.
    fn on_established(&mut self, _rtt: Option<Dur>, _cx: &Cx) {}

    /// A segment is sent.
    fn on_sent(&mut self, _ev: &SentEvent, _cx: &Cx) {}

    /// A segment is declared lost. Called before [`CongestionControl::on_congestion`] and before
    /// [`CongestionControl::on_ack`] for the ACK that showed the loss.
    fn on_lost(&mut self, _ev: &LostEvent, _cx: &Cx) {}

    /// An ACK arrived, including a duplicate ACK; called before the endpoint acts on it. Linux: `in_ack_event`.
    fn on_arrival(&mut self, _ev: &AckArrival, _cx: &Cx) {}

    /// True if [`CongestionControl::on_arrival`] is needed. Otherwise the endpoint doesn't call it.
    fn wants_arrivals(&self) -> bool {
        false
    }

    /// An ACK that advanced snd_una or delivered new data by SACK. Linux: `pkts_acked`, `cong_avoid`, `cong_control`.
    fn on_ack(&mut self, ev: &AckEvent, cx: &Cx);

    /// Congestion was detected; called once an episode. The endpoint decides when an episode begins. Linux: `ssthresh`,
    /// `set_state`.
    fn on_congestion(&mut self, ev: &CongestionEvent, cx: &Cx);

    /// Fast recovery has ended.
    fn on_recovery_exit(&mut self, ev: &RecoveryExit, cx: &Cx);

    /// The reductions of the last episode were spurious, because no segment was lost: they are undone [RFC 4015, RFC
    /// 3708]. Linux: `undo_cwnd`.
    fn on_undo(&mut self, _cx: &Cx) {}

    /// The window was not used for an RTO, so it is reduced [RFC 2861].
    fn on_cwnd_validation(&mut self, _ev: &CwndValidation, _cx: &Cx) {}

    /// Sending starts again after the connection was idle for longer than an RTO [RFC 5681 §4.1].
    fn on_restart(&mut self, idle: Dur, cx: &Cx);

    /// A segment is sent with nothing in flight; called before [`CongestionControl::on_sent`]. Linux: `cwnd_event` with
    /// CA_EVENT_TX_START.
    fn on_tx_start(&mut self, _ev: &TxStart, _cx: &Cx) {}

    /// True if [`CongestionControl::on_sent`] is needed. Otherwise the endpoint doesn't call it.
    fn wants_sent(&self) -> bool {
        true
    }

    /// True if [`AckEvent::rate`] and [`CongestionControl::on_lost`] are needed. Otherwise the endpoint keeps no
    /// delivery rates: the rate is None, and losses aren't reported one by one.
    fn wants_rates(&self) -> bool {
        true
    }

    /// True if [`AckEvent::one_way`] is needed; otherwise it may be None.
    fn wants_one_way(&self) -> bool {
        true
    }

    /// Returns the window, threshold and pacing rate that apply now.
    fn control(&self) -> Control;

    /// Returns the phase; never [`Phase::Recovery`] or [`Phase::Loss`], which belong to the endpoint.
    fn phase(&self) -> Phase;

    /// Appends the values of the variant's own columns ([`Variant::columns`]); NaN for a value that is not known yet.
    fn observe(&self, _row: &mut Vec<f64>) {}
}
