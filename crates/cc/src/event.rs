//! What the endpoint tells a law. Every field is valid in every call.

use dumbbell_units::{Dur, Time};

/// The moment of a call and what is fixed for the connection.
#[derive(Clone, Copy, Debug)]
pub struct Cx {
    /// Now.
    pub now: Time,
    /// Payload bytes of a full segment (SMSS).
    pub mss: f64,
    /// The window that the connection starts with, in bytes.
    pub initial_window: f64,
    /// How congestion avoidance counts.
    pub increase: Increase,
    /// Whether a reduction leaves ssthresh in whole segments, as stacks do that count segments.
    pub whole_segments: bool,
}

impl Cx {
    /// Whether the stack counts windows in whole segments, as Linux does.
    #[must_use]
    pub fn counts_segments(&self) -> bool {
        self.increase == Increase::PerWindow
    }
}

/// What an increase of one segment per round trip is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Increase {
    /// SMSS*SMSS/cwnd for each ACK of new data [RFC 5681 §3.1 (3)]: half as fast with delayed ACKs.
    PerAck,
    /// In proportion to the bytes acknowledged, one SMSS for each full window [RFC 5681 §3.1 (4)-style, RFC 3465].
    PerByte,
    /// The same, a whole SMSS as soon as a full window of bytes has been acknowledged, as stacks do that count segments.
    PerWindow,
}

/// How a law starts.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Payload bytes of a full segment.
    pub mss: f64,
    /// The first window, in bytes.
    pub initial_window: f64,
    /// The first slow start threshold, in bytes; may be infinite.
    pub ssthresh: f64,
    /// When a law that uses the common slow start leaves it before a loss.
    pub slow_start: SlowStart,
    /// Segments that an ACK adds at most in the common slow start: 1 [RFC 5681 §3.1 (2)], 2 [RFC 3465]; without
    /// bound in Linux.
    pub slow_start_limit: f64,
    /// Whether the stack spaces the segments of laws that don't give a pacing rate.
    pub paced: bool,
    /// Whether the endpoint hears of more than one loss in a round trip [RFC 2018].
    pub selective_acks: bool,
    /// The name of the stack's preset: a law may have defaults of its own on it.
    pub preset: &'static str,
    /// What a law's random numbers come from, where it draws any: another one for each connection of each flow.
    pub seed: u64,
}

impl Setup {
    /// Slow start as in RFC 5681 on the stack `rfc`, without pacing.
    #[must_use]
    pub fn new(mss: f64, initial_window: f64, ssthresh: f64) -> Setup {
        Setup {
            mss,
            initial_window,
            ssthresh,
            slow_start: SlowStart::Standard,
            slow_start_limit: 1.0,
            paced: false,
            selective_acks: true,
            preset: "rfc",
            seed: 0,
        }
    }
}

/// How the common slow start ends before a loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SlowStart {
    /// Only with ssthresh [RFC 5681 §3.1].
    #[default]
    Standard,
    /// HyStart [Ha and Rhee, Taming the elephants, Computer Networks 55(9), 2011]: on the length of ACK trains or on
    /// growing delay.
    HyStart,
    /// HyStart++ [RFC 9406]: on growing delay, through a conservative phase that can be taken back.
    HyStartPlusPlus,
}

/// A segment leaves.
#[derive(Clone, Copy, Debug)]
pub struct SentEvent {
    /// Its payload bytes.
    pub bytes: u64,
    /// Bytes outstanding before it.
    pub flight: u64,
    /// The next byte to be sent after it, as an offset from the initial sequence number.
    pub snd_nxt: u64,
    /// Whether it was sent before.
    pub retransmission: bool,
    /// Whether the application, rather than the window, has held sending back: the delivery-rate samples of what is
    /// outstanding are marked likewise.
    pub app_limited: bool,
}

/// A segment leaves although nothing is in flight: at the start, after a pause, and also where one ACK told of the whole of a
/// small window, or where all but what goes again has been delivered or lost.
#[derive(Clone, Copy, Debug)]
pub struct TxStart {
    /// When something was sent before.
    pub last_sent_at: Time,
    /// The next byte to be sent before it, as an offset from the initial sequence number.
    pub snd_nxt: u64,
}

/// A segment is taken for lost (each transmission at most once).
#[derive(Clone, Copy, Debug)]
pub struct LostEvent {
    /// Its first byte, as an offset from the initial sequence number.
    pub start: u64,
    /// Its payload bytes.
    pub bytes: u64,
    /// Bytes outstanding when it was sent, itself included.
    pub sent_in_flight: u64,
    /// Bytes taken for lost since it was sent, itself included.
    pub lost_since: u64,
    /// Bytes delivered on the connection when it was sent.
    pub prior_delivered: u64,
    /// Whether the application held sending back when it was sent.
    pub app_limited: bool,
}

/// A delivery-rate sample, made by the endpoint with each ACK that delivers something
/// [draft-ietf-ccwg-bbr, "Delivery Rate Samples"].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Bytes delivered over the interval.
    pub delivered: u64,
    /// The longer of the time the sampled segments took to be sent and to be acknowledged.
    pub interval: Dur,
    /// Bytes delivered on the connection when the sampled segment was sent.
    pub prior_delivered: u64,
    /// Bytes delivered on the connection by now.
    pub total_delivered: u64,
    /// Bytes outstanding when the sampled segment was sent, itself included.
    pub sent_in_flight: u64,
    /// Bytes taken for lost since then.
    pub lost: u64,
    /// Whether the application held sending back when it was sent.
    pub app_limited: bool,
}

impl RateSample {
    /// The rate in bytes/s.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.delivered as f64 / self.interval.as_secs()
    }
}

/// An acknowledgment with news.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
    /// Bytes newly acknowledged cumulatively.
    pub acked: u64,
    /// Bytes newly delivered, cumulatively or by SACK.
    pub delivered: u64,
    /// Round-trip time of the newest segment this ACK covers that was sent once; None if there is none.
    pub rtt: Option<Dur>,
    /// One-way delay of that segment in seconds: from its sending by our clock to the leaving of this ACK by the
    /// receiver's, as its timestamp says [RFC 7323 §3.2]. The clocks needn't agree, so that only differences mean
    /// something and it may be negative; the tick of the timestamps is its resolution. None without timestamps.
    pub one_way: Option<f64>,
    /// Bytes outstanding before this ACK.
    pub flight: u64,
    /// The oldest unacknowledged byte after this ACK, as an offset from the initial sequence number.
    pub snd_una: u64,
    /// The next byte to be sent, likewise.
    pub snd_nxt: u64,
    /// Whether the window (and not the application or the receiver) held sending back before this ACK.
    pub cwnd_limited: bool,
    /// Whether the endpoint is in fast recovery: laws that answer to loss do not grow then.
    pub in_recovery: bool,
    /// Whether what a timeout took for lost is still being repaired.
    pub in_loss: bool,
    /// Whether something has arrived out of order, or was sent again, and no loss is known yet (Linux's state "Disorder").
    pub disordered: bool,
    /// Bytes outstanding after this ACK.
    pub inflight: u64,
    /// When pacing lets the next segment out.
    pub departs: Time,
    /// Bytes taken for lost with this ACK.
    pub lost: u64,
    /// Of the bytes newly delivered, those that arrived with a congestion mark, as far as the receiver tells (accurate
    /// ECN or DCTCP's echo; 0 with the classic echo).
    pub marked: u64,
    /// The delivery-rate sample of this ACK; None where it has none (nothing delivered, or an interval too short).
    pub rate: Option<RateSample>,
}

/// How congestion showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// A loss found by duplicate ACKs or SACK: fast recovery begins.
    Loss,
    /// A loss after which the connection starts again from the loss window of one segment although no timer
    /// expired (Tahoe's answer to duplicate ACKs).
    Collapse,
    /// The retransmission timer expired.
    Timeout,
    /// The receiver echoed a congestion mark [RFC 3168 §6.1].
    Ecn,
}

/// An episode of congestion.
#[derive(Clone, Copy, Debug)]
pub struct CongestionEvent {
    /// How it showed.
    pub kind: Congestion,
    /// The window that the reduction starts from, in bytes: FlightSize without what limited transmit added
    /// [RFC 5681 §3.2 step 2], or cwnd, as the stack says.
    pub window: f64,
    /// When the lost segment was last sent.
    pub lost_sent_at: Time,
    /// How often it was sent before this retransmission.
    pub lost_transmissions: u32,
    /// For a timeout: how many came before it without an ACK of new data between.
    pub backoffs: u32,
}

/// The end of fast recovery.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryExit {
    /// The largest window that does not allow a burst now, in bytes; infinite where the shell sets no bound.
    pub bound: f64,
}

/// What stays of a window that hasn't been used for long [RFC 2861].
#[derive(Clone, Copy, Debug)]
pub struct CwndValidation {
    /// The window at most, bytes.
    pub cwnd: f64,
    /// The slow start threshold at least, bytes.
    pub ssthresh: f64,
}

/// An acknowledgment as it comes in.
#[derive(Clone, Copy, Debug)]
pub struct AckArrival {
    /// Bytes by which it moves snd_una.
    pub acked: u64,
    /// It does that and nothing else: no SACK blocks, and the window that it offers is the last one's.
    pub fast_path: bool,
    /// The round trip that the law will hear of with it.
    pub rtt: Option<Dur>,
    /// What was amiss before it.
    pub state: CaState,
}

/// What may be amiss on a connection, as a sender with SACK sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaState {
    /// Nothing.
    Open,
    /// Something arrived out of order, and nothing has been done about it.
    Disorder,
    /// cwnd is being reduced after a congestion mark or a local drop (TCP_CA_CWR).
    Cwr,
    /// Fast recovery (TCP_CA_Recovery).
    Recovery,
    /// Recovery from a timeout (TCP_CA_Loss).
    Loss,
}
