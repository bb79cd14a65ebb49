//! The events that a variant in Python receives, as classes of `dumbbell._core`: times in seconds, sizes in bytes.
//!
//! They mirror the events of `dumbbell_cc`, which document them; AckEvent's fields are computed when they are read.

use dumbbell_cc as cc;
use dumbbell_units::{Dur, Time};
use pyo3::prelude::*;

/// The connection that a variant is created for.
#[pyclass(frozen, get_all, module = "dumbbell._core")]
pub(crate) struct Setup {
    /// Payload bytes of a full segment.
    mss: f64,
    /// The initial window, bytes.
    initial_window: f64,
    /// The initial slow start threshold, bytes; may be infinite.
    ssthresh: f64,
    /// The name of the stack's preset.
    preset: &'static str,
    /// The seed for random numbers: random.Random(setup.seed). Different for each connection.
    seed: u64,
}

impl Setup {
    pub(crate) fn new(s: &cc::Setup) -> Setup {
        Setup { mss: s.mss, initial_window: s.initial_window, ssthresh: s.ssthresh, preset: s.preset, seed: s.seed }
    }
}

/// A delivery-rate sample.
#[pyclass(frozen, get_all, module = "dumbbell._core")]
pub(crate) struct RateSample {
    /// Bytes delivered over the interval.
    delivered: u64,
    /// The interval, s.
    interval: f64,
    /// Bytes delivered on the connection when the sampled segment was sent.
    prior_delivered: u64,
    /// Bytes delivered on the connection until now.
    total_delivered: u64,
    /// Bytes in flight when the sampled segment was sent, itself included.
    sent_in_flight: u64,
    /// Bytes marked lost since then.
    lost: u64,
    /// True if sending was limited by the application when it was sent.
    app_limited: bool,
}

#[pymethods]
impl RateSample {
    /// The rate, bit/s.
    #[getter]
    fn bps(&self) -> f64 {
        self.delivered as f64 * 8.0 / self.interval
    }
}

/// An ACK that acknowledges or delivers new data.
#[pyclass(frozen, module = "dumbbell._core")]
pub(crate) struct Ack {
    now: Time,
    ev: cc::AckEvent,
}

/// The getters of [`Ack`]: comment, name, type and value of each.
macro_rules! getters_of_ack {
    ($ack:ident: $($(#[$doc:meta])+ $name:ident: $type:ty = $value:expr;)+) => {
        #[pymethods]
        impl Ack {
            $($(#[$doc])+
            #[getter]
            fn $name(&self) -> $type {
                let $ack = self;
                $value
            })+
        }
    };
}

getters_of_ack! {
    ack:
    /// Now, s of simulated time.
    now: f64 = ack.now.as_secs();
    /// Bytes newly acknowledged cumulatively.
    acked: u64 = ack.ev.acked;
    /// Bytes newly delivered, cumulatively or by SACK.
    delivered: u64 = ack.ev.delivered;
    /// Round-trip time of the newest segment that this ACK covers and that was sent once, s; None without such a
    /// segment.
    rtt: Option<f64> = ack.ev.rtt.map(Dur::as_secs);
    /// One-way delay of that segment, s, up to a constant; None without timestamps.
    one_way: Option<f64> = ack.ev.one_way;
    /// Bytes in flight before this ACK.
    flight: u64 = ack.ev.flight;
    /// Bytes in flight after it.
    inflight: u64 = ack.ev.inflight;
    /// The oldest unacknowledged byte after it, as an offset from the initial sequence number.
    snd_una: u64 = ack.ev.snd_una;
    /// The next byte to be sent, as an offset from the initial sequence number.
    snd_nxt: u64 = ack.ev.snd_nxt;
    /// True if sending was limited by the congestion window, not by the application or the receiver.
    cwnd_limited: bool = ack.ev.cwnd_limited;
    /// True during fast recovery: loss-based algorithms don't increase their window then.
    in_recovery: bool = ack.ev.in_recovery;
    /// True while recovering from an RTO.
    in_loss: bool = ack.ev.in_loss;
    /// True if segments were reordered or retransmitted and no loss is known (TCP_CA_Disorder in Linux).
    disordered: bool = ack.ev.disordered;
    /// Bytes marked lost with this ACK.
    lost: u64 = ack.ev.lost;
    /// Of the newly delivered bytes, those that the receiver reports as congestion-marked.
    marked: u64 = ack.ev.marked;
    /// The delivery-rate sample; None without one.
    rate: Option<RateSample> = ack.ev.rate.map(|r| RateSample {
        delivered: r.delivered,
        interval: r.interval.as_secs(),
        prior_delivered: r.prior_delivered,
        total_delivered: r.total_delivered,
        sent_in_flight: r.sent_in_flight,
        lost: r.lost,
        app_limited: r.app_limited,
    });
}

impl Ack {
    pub(crate) fn new(ev: &cc::AckEvent, cx: &cc::Cx) -> Ack {
        Ack { now: cx.now, ev: *ev }
    }
}

/// An episode of congestion.
#[pyclass(frozen, get_all, module = "dumbbell._core")]
pub(crate) struct Congestion {
    /// Now, s.
    now: f64,
    /// "loss", "timeout", "ecn" (a congestion mark was echoed), or "collapse" (Tahoe: restart from one segment).
    kind: &'static str,
    /// The window that a reduction is computed from, bytes.
    window: f64,
    /// When the lost segment was last sent, s.
    lost_sent_at: f64,
    /// How often it was sent before this retransmission.
    lost_transmissions: u32,
    /// For a timeout: the consecutive timeouts before it without an ACK of new data.
    backoffs: u32,
}

impl Congestion {
    pub(crate) fn new(ev: &cc::CongestionEvent, cx: &cc::Cx) -> Congestion {
        Congestion {
            now: cx.now.as_secs(),
            kind: ev.kind.name(),
            window: ev.window,
            lost_sent_at: ev.lost_sent_at.as_secs(),
            lost_transmissions: ev.lost_transmissions,
            backoffs: ev.backoffs,
        }
    }
}

/// A segment is sent.
#[pyclass(frozen, get_all, module = "dumbbell._core")]
pub(crate) struct Sent {
    /// Now, s.
    now: f64,
    /// Its bytes: payload, or a full segment where the stack counts segments.
    bytes: u64,
    /// Bytes in flight before it.
    flight: u64,
    /// The next byte to be sent after it.
    snd_nxt: u64,
    /// True if it was sent before.
    retransmission: bool,
    /// True if sending is limited by the application, not by the window.
    app_limited: bool,
}

impl Sent {
    pub(crate) fn new(ev: &cc::SentEvent, cx: &cc::Cx) -> Sent {
        let cc::SentEvent { bytes, flight, snd_nxt, retransmission, app_limited } = *ev;
        Sent { now: cx.now.as_secs(), bytes, flight, snd_nxt, retransmission, app_limited }
    }
}

/// A segment is marked lost.
#[pyclass(frozen, get_all, module = "dumbbell._core")]
pub(crate) struct Lost {
    /// Now, s.
    now: f64,
    /// Its first byte.
    start: u64,
    /// Its bytes: payload, or a full segment where the stack counts segments.
    bytes: u64,
    /// Bytes in flight when it was sent, itself included.
    sent_in_flight: u64,
    /// Bytes marked lost since it was sent, itself included.
    lost_since: u64,
    /// Bytes delivered on the connection when it was sent.
    prior_delivered: u64,
    /// True if sending was limited by the application when it was sent.
    app_limited: bool,
}

impl Lost {
    pub(crate) fn new(ev: &cc::LostEvent, cx: &cc::Cx) -> Lost {
        let cc::LostEvent { start, bytes, sent_in_flight, lost_since, prior_delivered, app_limited } = *ev;
        let now = cx.now.as_secs();
        Lost { now, start, bytes, sent_in_flight, lost_since, prior_delivered, app_limited }
    }
}

/// Any other event of the connection. A field that the event doesn't have is None.
#[pyclass(frozen, get_all, module = "dumbbell._core")]
#[derive(Default)]
pub(crate) struct ConnectionEvent {
    /// Now, s.
    now: f64,
    /// End of recovery: the largest window that doesn't cause a burst, bytes; may be infinite.
    bound: Option<f64>,
    /// Restart: the idle time, s.
    idle: Option<f64>,
    /// Handshake: its RTT, s; None if one of its segments was retransmitted.
    rtt: Option<f64>,
    /// Congestion window validation: the window at most, bytes [RFC 2861].
    cwnd: Option<f64>,
    /// Congestion window validation: the slow start threshold at least, bytes [RFC 2861].
    ssthresh: Option<f64>,
}

impl ConnectionEvent {
    pub(crate) fn at(cx: &cc::Cx) -> ConnectionEvent {
        ConnectionEvent { now: cx.now.as_secs(), ..ConnectionEvent::default() }
    }

    pub(crate) fn recovery_exit(ev: &cc::RecoveryExit, cx: &cc::Cx) -> ConnectionEvent {
        ConnectionEvent { bound: Some(ev.bound), ..ConnectionEvent::at(cx) }
    }

    pub(crate) fn restart(idle: Dur, cx: &cc::Cx) -> ConnectionEvent {
        ConnectionEvent { idle: Some(idle.as_secs()), ..ConnectionEvent::at(cx) }
    }

    pub(crate) fn established(rtt: Option<Dur>, cx: &cc::Cx) -> ConnectionEvent {
        ConnectionEvent { rtt: rtt.map(Dur::as_secs), ..ConnectionEvent::at(cx) }
    }

    pub(crate) fn cwnd_validation(ev: &cc::CwndValidation, cx: &cc::Cx) -> ConnectionEvent {
        ConnectionEvent { cwnd: Some(ev.cwnd), ssthresh: Some(ev.ssthresh), ..ConnectionEvent::at(cx) }
    }
}
