//! The events that the endpoint reports to a variant, and the properties that are fixed for a connection. Every field
//! is valid in every call; a value that may be missing is an Option. Sequence numbers are 64-bit offsets from the
//! initial sequence number.

use dumbbell_units::{Dur, Time, named};
use std::ops::Range;

/// The time of a call and the properties of the connection that every rule needs.
#[derive(Clone, Copy, Debug)]
pub struct Cx {
    /// Now.
    pub now: Time,
    /// Payload bytes of a full segment (SMSS).
    pub mss: f64,
    /// The initial window, in bytes.
    pub initial_window: f64,
    /// How congestion avoidance counts acknowledged data.
    pub increase: Increase,
    /// True if ssthresh is rounded down to whole segments after a reduction, as in ns-2.
    pub whole_segments: bool,
}

impl Cx {
    /// True if the stack counts cwnd in whole segments [Linux tcp_cong.c tcp_cong_avoid_ai, snd_cwnd_cnt].
    #[must_use]
    pub fn counts_segments(&self) -> bool {
        self.increase == Increase::PerWindow
    }
}

named! {
    /// How an increase of one segment per round trip is computed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Increase {
        /// SMSS*SMSS/cwnd for each ACK of new data [RFC 5681 §3.1 (3)]; half as fast with delayed ACKs.
        PerAck = "ack",
        /// In proportion to the bytes acknowledged, one SMSS for each full window [RFC 3465 §2.1].
        PerByte = "bytes",
        /// One SMSS at once, when a full window of bytes has been acknowledged [Linux tcp_cong.c tcp_cong_avoid_ai].
        PerWindow = "window",
    }
}

/// The properties of a connection that a variant is built with.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Payload bytes of a full segment.
    pub mss: f64,
    /// The initial window, in bytes.
    pub initial_window: f64,
    /// The initial slow start threshold, in bytes; may be infinite.
    pub ssthresh: f64,
    /// The rule that may end slow start before the first loss.
    pub slow_start: SlowStart,
    /// Most segments by which one ACK increases cwnd in slow start: 1 [RFC 5681 §3.1 (2)], 2 [RFC 3465 §2.2]; infinite
    /// in Linux [Linux tcp_cong.c tcp_slow_start].
    pub slow_start_limit: f64,
    /// True if the stack paces the segments of variants that give no pacing rate.
    pub paced: bool,
    /// True if the endpoint can detect more than one loss per round trip [RFC 2018].
    pub selective_acks: bool,
    /// The name of the stack's preset (`linux` also for `linux-tuned`); parameters of a variant may have other defaults
    /// on it.
    pub preset: &'static str,
    /// The seed of the variant's random numbers; differs for each connection of each flow.
    pub seed: u64,
}

impl Setup {
    /// Returns the setup of an RFC 5681 stack: standard slow start, no pacing.
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

named! {
    /// The rule that may end the common slow start before a loss.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum SlowStart {
        /// None: slow start ends at ssthresh [RFC 5681 §3.1].
        #[default]
        Standard = "standard",
        /// HyStart [Ha and Rhee, Taming the elephants, Computer Networks 55(9), 2011]: the length of ACK trains, or
        /// growing delay.
        HyStart = "hystart",
        /// HyStart++ [RFC 9406]: growing delay, followed by a conservative phase that can be revoked.
        HyStartPlusPlus = "hystart++",
    }
}

/// A segment is sent.
#[derive(Clone, Copy, Debug)]
pub struct SentEvent {
    /// Its bytes: payload, or a full segment where the stack counts segments.
    pub bytes: u64,
    /// Bytes in flight before it.
    pub flight: u64,
    /// SND.NXT after it.
    pub snd_nxt: u64,
    /// True for a retransmission.
    pub retransmission: bool,
    /// True if the application, not the window, limits sending; rate samples of the data in flight are marked likewise.
    pub app_limited: bool,
}

/// A segment is sent while nothing is in flight [Linux tcp_output.c tcp_event_data_sent, CA_EVENT_TX_START]. This
/// happens at the start, after a pause, when one ACK covers a small window completely, and when everything except a
/// retransmission has been delivered or lost.
#[derive(Clone, Copy, Debug)]
pub struct TxStart {
    /// When the previous segment was sent.
    pub last_sent_at: Time,
    /// SND.NXT before the segment.
    pub snd_nxt: u64,
}

/// A segment is declared lost; each transmission at most once.
#[derive(Clone, Copy, Debug)]
pub struct LostEvent {
    /// Its first byte.
    pub start: u64,
    /// Its bytes: payload, or a full segment where the stack counts segments.
    pub bytes: u64,
    /// Bytes in flight when it was sent, including itself.
    pub sent_in_flight: u64,
    /// Bytes declared lost since it was sent, including itself.
    pub lost_since: u64,
    /// Bytes delivered on the connection when it was sent.
    pub prior_delivered: u64,
    /// True if sending was application-limited when it was sent.
    pub app_limited: bool,
}

/// A delivery rate sample, computed by the endpoint for each ACK that delivers data [draft-ietf-ccwg-bbr, "Delivery
/// Rate Samples"; Linux tcp_rate.c tcp_rate_gen].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Bytes delivered in the interval.
    pub delivered: u64,
    /// The interval: the longer of the send phase and the ACK phase of the sampled segments.
    pub interval: Dur,
    /// Bytes delivered on the connection when the sampled segment was sent.
    pub prior_delivered: u64,
    /// Bytes delivered on the connection up to now.
    pub total_delivered: u64,
    /// Bytes in flight when the sampled segment was sent, including itself.
    pub sent_in_flight: u64,
    /// Bytes declared lost since then.
    pub lost: u64,
    /// True if sending was application-limited when it was sent.
    pub app_limited: bool,
}

impl RateSample {
    /// Returns the delivery rate in bytes/s.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.delivered as f64 / self.interval.as_secs()
    }
}

/// An ACK that advanced snd_una or delivered new data.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
    /// Bytes newly acknowledged cumulatively.
    pub acked: u64,
    /// Bytes newly delivered, cumulatively or by SACK.
    pub delivered: u64,
    /// RTT of the most recently sent segment that this ACK covers and that was sent once; None without such a segment.
    pub rtt: Option<Dur>,
    /// One-way delay of that segment in seconds: from its transmission by our clock to the transmission of this ACK by
    /// the receiver's clock, from its timestamp [RFC 7323 §3.2]. The two clocks are not synchronized: only differences
    /// have a meaning, and the value may be negative (so it is not a Dur). Its resolution is one timestamp tick. None
    /// without timestamps.
    pub one_way: Option<f64>,
    /// Bytes in flight before this ACK.
    pub flight: u64,
    /// SND.UNA after this ACK.
    pub snd_una: u64,
    /// SND.NXT after this ACK.
    pub snd_nxt: u64,
    /// True if cwnd, not the application or the receive window, limited sending before this ACK [Linux tcp.h
    /// tcp_is_cwnd_limited].
    pub cwnd_limited: bool,
    /// True in fast recovery; variants that respond to loss don't grow then.
    pub in_recovery: bool,
    /// True while recovering from an RTO: the state [`CaState::Loss`].
    pub in_loss: bool,
    /// True if a segment arrived out of order, or was retransmitted, and no loss is known yet: the state
    /// [`CaState::Disorder`].
    pub disordered: bool,
    /// Bytes in flight after this ACK.
    pub inflight: u64,
    /// The time at which pacing permits the next segment.
    pub departs: Time,
    /// Bytes declared lost with this ACK.
    pub lost: u64,
    /// Those of the newly delivered bytes that arrived with a congestion mark, as the receiver reports them (Accurate
    /// ECN or the echo of DCTCP); 0 with the echo of RFC 3168.
    pub marked: u64,
    /// The delivery rate sample of this ACK; None if nothing was delivered or the interval is too short.
    pub rate: Option<RateSample>,
}

impl AckEvent {
    /// The next ACK of a connection that cwnd limits: it acknowledges `acked` bytes and nothing else is to report.
    /// `outstanding`: SND.UNA and SND.NXT after it. Others are this one with the fields that differ.
    #[must_use]
    #[inline(always)] // for each ACK
    pub fn in_order(acked: u64, outstanding: Range<u64>, now: Time) -> AckEvent {
        let inflight = outstanding.end - outstanding.start;
        AckEvent {
            acked,
            delivered: acked,
            rtt: None,
            one_way: None,
            flight: inflight + acked,
            snd_una: outstanding.start,
            snd_nxt: outstanding.end,
            cwnd_limited: true,
            in_recovery: false,
            in_loss: false,
            disordered: false,
            inflight,
            departs: now,
            lost: 0,
            marked: 0,
            rate: None,
        }
    }
}

named! {
    /// The signal of congestion.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Congestion {
        /// A loss found by duplicate ACKs, SACK or RACK: fast recovery begins.
        Loss = "loss",
        /// A loss found by duplicate ACKs in a stack without fast recovery (Tahoe): cwnd falls to the loss window of
        /// one segment, as after a timeout.
        Collapse = "collapse",
        /// The retransmission timer expired.
        Timeout = "timeout",
        /// The receiver echoed a congestion mark [RFC 3168 §6.1].
        Ecn = "ecn",
    }
}

/// An episode of congestion.
#[derive(Clone, Copy, Debug)]
pub struct CongestionEvent {
    /// The signal.
    pub kind: Congestion,
    /// The window that the reduction starts from, in bytes: FlightSize without the segments of limited transmit [RFC
    /// 5681 §3.2 step 2], or cwnd, by the setting of the stack.
    pub window: f64,
    /// When the lost segment was last sent.
    pub lost_sent_at: Time,
    /// Its transmissions before this retransmission.
    pub lost_transmissions: u32,
    /// For a timeout: consecutive timeouts before it without an ACK of new data [Linux tcp_timer.c icsk_backoff].
    pub backoffs: u32,
}

/// The end of fast recovery.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryExit {
    /// The largest window that doesn't cause a burst now, in bytes; infinite if the loss recovery sets no bound.
    pub bound: f64,
}

/// The reduction of a window that was not used [RFC 2861; Linux tcp_output.c tcp_cwnd_application_limited].
#[derive(Clone, Copy, Debug)]
pub struct CwndValidation {
    /// Upper bound of the new cwnd, bytes.
    pub cwnd: f64,
    /// Lower bound of the new ssthresh, bytes.
    pub ssthresh: f64,
}

/// An ACK before the endpoint acts on it [Linux tcp_input.c tcp_in_ack_event].
#[derive(Clone, Copy, Debug)]
pub struct AckArrival {
    /// Bytes by which it advances snd_una.
    pub acked: u64,
    /// True if it advances snd_una, has no SACK blocks and doesn't change the receive window: CA_ACK_SLOWPATH is not
    /// set [Linux tcp_input.c tcp_in_ack_event].
    pub fast_path: bool,
    /// The RTT sample of this ACK.
    pub rtt: Option<Dur>,
    /// The state before this ACK.
    pub state: CaState,
}

/// The congestion state of the sender [Linux include/uapi/linux/tcp.h enum tcp_ca_state].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaState {
    /// TCP_CA_Open: nothing is lost or out of order.
    Open,
    /// TCP_CA_Disorder: segments arrived out of order, and no loss is known.
    Disorder,
    /// TCP_CA_CWR: cwnd is being reduced after a congestion mark.
    Cwr,
    /// TCP_CA_Recovery: fast recovery.
    Recovery,
    /// TCP_CA_Loss: recovery from an RTO.
    Loss,
}
