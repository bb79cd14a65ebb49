//! What a law in Python is told: times in seconds, sizes in bytes.

use dumbbell_cc as cc;
use dumbbell_units::{Dur, Time};
use pyo3::prelude::*;

/// How a connection starts.
#[pyclass(frozen, get_all, module = "dumbbell._core")]
pub(crate) struct Start {
    /// Payload bytes of a full segment.
    mss: f64,
    /// The first window, bytes.
    initial_window: f64,
    /// The first slow start threshold, bytes; may be infinite.
    ssthresh: f64,
    /// The name of the stack's preset.
    preset: &'static str,
    /// Where random numbers are to come from: random.Random(start.seed). Another one for each connection.
    seed: u64,
}

impl Start {
    pub(crate) fn new(s: &cc::Setup) -> Start {
        Start {
            mss: s.mss,
            initial_window: s.initial_window,
            ssthresh: s.ssthresh,
            preset: s.preset,
            seed: s.seed,
        }
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
    /// Bytes delivered on the connection by now.
    total_delivered: u64,
    /// Bytes outstanding when the sampled segment was sent, itself included.
    sent_in_flight: u64,
    /// Bytes taken for lost since then.
    lost: u64,
    /// Whether the application held sending back when it was sent.
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

/// An acknowledgment with news.
#[pyclass(frozen, module = "dumbbell._core")]
pub(crate) struct Ack {
    now: Time,
    ev: cc::AckEvent,
}

#[pymethods]
impl Ack {
    /// Now, s of simulated time.
    #[getter]
    fn now(&self) -> f64 {
        self.now.as_secs()
    }

    /// Bytes newly acknowledged cumulatively.
    #[getter]
    fn acked(&self) -> u64 {
        self.ev.acked
    }

    /// Bytes newly delivered, cumulatively or by SACK.
    #[getter]
    fn delivered(&self) -> u64 {
        self.ev.delivered
    }

    /// Round-trip time of the newest segment that this covers and that was sent once, s; None if there is none.
    #[getter]
    fn rtt(&self) -> Option<f64> {
        self.ev.rtt.map(Dur::as_secs)
    }

    /// One-way delay of that segment, s, up to a constant; None without timestamps.
    #[getter]
    fn one_way(&self) -> Option<f64> {
        self.ev.one_way
    }

    /// Bytes outstanding before this.
    #[getter]
    fn flight(&self) -> u64 {
        self.ev.flight
    }

    /// Bytes outstanding after it.
    #[getter]
    fn inflight(&self) -> u64 {
        self.ev.inflight
    }

    /// The oldest unacknowledged byte after it, from the first of the connection.
    #[getter]
    fn snd_una(&self) -> u64 {
        self.ev.snd_una
    }

    /// The next byte to be sent, likewise.
    #[getter]
    fn snd_nxt(&self) -> u64 {
        self.ev.snd_nxt
    }

    /// Whether the window (and not the application or the receiver) held sending back.
    #[getter]
    fn cwnd_limited(&self) -> bool {
        self.ev.cwnd_limited
    }

    /// Whether fast recovery is under way: laws that answer to loss do not grow then.
    #[getter]
    fn in_recovery(&self) -> bool {
        self.ev.in_recovery
    }

    /// Whether what a timeout took for lost is still being repaired.
    #[getter]
    fn in_loss(&self) -> bool {
        self.ev.in_loss
    }

    /// Whether something has arrived out of order, or was sent again, and no loss is known yet.
    #[getter]
    fn disordered(&self) -> bool {
        self.ev.disordered
    }

    /// Bytes taken for lost with this.
    #[getter]
    fn lost(&self) -> u64 {
        self.ev.lost
    }

    /// Of the bytes newly delivered, those that arrived with a congestion mark, as far as the receiver tells.
    #[getter]
    fn marked(&self) -> u64 {
        self.ev.marked
    }

    /// The delivery-rate sample; None where there is none.
    #[getter]
    fn rate(&self) -> Option<RateSample> {
        self.ev.rate.map(|r| RateSample {
            delivered: r.delivered,
            interval: r.interval.as_secs(),
            prior_delivered: r.prior_delivered,
            total_delivered: r.total_delivered,
            sent_in_flight: r.sent_in_flight,
            lost: r.lost,
            app_limited: r.app_limited,
        })
    }
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
    /// "loss", "timeout", "ecn" (a mark was echoed), or "collapse" (Tahoe: start again from one segment).
    kind: &'static str,
    /// The window that a reduction starts from, bytes.
    window: f64,
    /// When the lost segment was last sent, s.
    lost_sent_at: f64,
    /// How often it was sent before this retransmission.
    lost_transmissions: u32,
    /// For a timeout: how many came before it without an ACK of new data between.
    backoffs: u32,
}

impl Congestion {
    pub(crate) fn new(ev: &cc::CongestionEvent, cx: &cc::Cx) -> Congestion {
        Congestion {
            now: cx.now.as_secs(),
            kind: match ev.kind {
                cc::Congestion::Loss => "loss",
                cc::Congestion::Collapse => "collapse",
                cc::Congestion::Timeout => "timeout",
                cc::Congestion::Ecn => "ecn",
            },
            window: ev.window,
            lost_sent_at: ev.lost_sent_at.as_secs(),
            lost_transmissions: ev.lost_transmissions,
            backoffs: ev.backoffs,
        }
    }
}

/// A segment leaves.
#[pyclass(frozen, get_all, module = "dumbbell._core")]
pub(crate) struct Sent {
    /// Now, s.
    now: f64,
    /// Its payload bytes.
    bytes: u64,
    /// Bytes outstanding before it.
    flight: u64,
    /// The next byte to be sent after it.
    snd_nxt: u64,
    /// Whether it was sent before.
    retransmission: bool,
    /// Whether the application, rather than the window, has held sending back.
    app_limited: bool,
}

impl Sent {
    pub(crate) fn new(ev: &cc::SentEvent, cx: &cc::Cx) -> Sent {
        let cc::SentEvent { bytes, flight, snd_nxt, retransmission, app_limited } = *ev;
        Sent { now: cx.now.as_secs(), bytes, flight, snd_nxt, retransmission, app_limited }
    }
}

/// A segment is taken for lost.
#[pyclass(frozen, get_all, module = "dumbbell._core")]
pub(crate) struct Lost {
    /// Now, s.
    now: f64,
    /// Its first byte.
    start: u64,
    /// Its payload bytes.
    bytes: u64,
    /// Bytes outstanding when it was sent, itself included.
    sent_in_flight: u64,
    /// Bytes taken for lost since it was sent, itself included.
    lost_since: u64,
    /// Bytes delivered on the connection when it was sent.
    prior_delivered: u64,
    /// Whether the application held sending back when it was sent.
    app_limited: bool,
}

impl Lost {
    pub(crate) fn new(ev: &cc::LostEvent, cx: &cc::Cx) -> Lost {
        let cc::LostEvent { start, bytes, sent_in_flight, lost_since, prior_delivered, app_limited } = *ev;
        let now = cx.now.as_secs();
        Lost { now, start, bytes, sent_in_flight, lost_since, prior_delivered, app_limited }
    }
}

/// Anything else that happens to a connection; what an event doesn't have is None.
#[pyclass(frozen, get_all, module = "dumbbell._core")]
#[derive(Default)]
pub(crate) struct Moment {
    /// Now, s.
    now: f64,
    /// The end of recovery: the largest window that does not allow a burst, bytes; may be infinite.
    bound: Option<f64>,
    /// A restart: how long the connection was idle, s.
    idle: Option<f64>,
    /// The handshake: how long it took, s; None if a segment of it was repeated.
    rtt: Option<f64>,
    /// A window that was not used for long: what stays of it at most, bytes.
    cwnd: Option<f64>,
    /// The same: the slow start threshold at least, bytes.
    ssthresh: Option<f64>,
}

impl Moment {
    pub(crate) fn at(cx: &cc::Cx) -> Moment {
        Moment { now: cx.now.as_secs(), ..Moment::default() }
    }

    pub(crate) fn recovery_exit(ev: &cc::RecoveryExit, cx: &cc::Cx) -> Moment {
        Moment { bound: Some(ev.bound), ..Moment::at(cx) }
    }

    pub(crate) fn restart(idle: Dur, cx: &cc::Cx) -> Moment {
        Moment { idle: Some(idle.as_secs()), ..Moment::at(cx) }
    }

    pub(crate) fn established(rtt: Option<Dur>, cx: &cc::Cx) -> Moment {
        Moment { rtt: rtt.map(Dur::as_secs), ..Moment::at(cx) }
    }

    pub(crate) fn unused(ev: &cc::CwndValidation, cx: &cc::Cx) -> Moment {
        Moment { cwnd: Some(ev.cwnd), ssthresh: Some(ev.ssthresh), ..Moment::at(cx) }
    }
}

/// Adds the classes to the module.
pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Start>()?;
    m.add_class::<Ack>()?;
    m.add_class::<RateSample>()?;
    m.add_class::<Congestion>()?;
    m.add_class::<Sent>()?;
    m.add_class::<Lost>()?;
    m.add_class::<Moment>()
}
