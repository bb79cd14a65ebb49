//! BBR, version 3: pacing rate and window follow a model of the path, its bandwidth, its minimum RTT and the data in
//! flight that it holds without too much loss. It probes gently and reduces after losses.
//!
//! Source: draft-ietf-ccwg-bbr-06; the section numbers in this folder are that document's, names as there.
//!
//! ```text
//! max_bw        maximum delivery rate of this and of the previous ProbeBW cycle                   [§5.5.2-§5.5.6]
//! min_rtt       minimum RTT of 10 s; probe_rtt_min_delay: of 5 s, schedules ProbeRTT              [§5.3.4.3]
//! bounds        inflight_longterm: the data in flight when a probe lost too much; bw_shortterm and
//!               inflight_shortterm: times 0.7 for each round trip with a loss, but not below the
//!               latest delivered bandwidth and volume                                             [§5.5.10]
//! bw            min(max_bw, bw_shortterm);  pacing rate = 0.99 * pacing_gain * bw                 [§5.6.2]
//! cwnd          cwnd_gain * bw * min_rtt + extra_acked, at least 3 quanta and 4 segments, within the bounds [§5.6.4]
//!
//! state           pacing  cwnd   until                                                            [§5.6.1]
//! Startup         2.77    2      three round trips with less than 25 % growth of bw, or a lossy one  [§5.3.1]
//! Drain           0.5     2      at most bw * min_rtt in flight, or 3 round trips                 [§5.3.2]
//! ProbeBW_DOWN    0.9     2      drained, and 15 % of inflight_longterm free                      [§5.3.3.1]
//! ProbeBW_CRUISE  1       2      2 to 3 s since the last probe, or as many round trips as a Reno flow
//!                                with this window needs                                           [§5.3.3.2, §5.3.3.8]
//! ProbeBW_REFILL  1       2      one round trip; the short-term bounds are reset                  [§5.3.3.3]
//! ProbeBW_UP      1.25    2.25   bw no longer grows, or more than 2 % lost, or inflight_longterm of a
//!                                probe that lost too much is reached; inflight_longterm grows by
//!                                1, 2, 4... segments a round trip                                 [§5.3.3.4-§5.3.3.7]
//! ProbeRTT        1       0.5    200 ms and a round trip; 5 s after probe_rtt_min_delay           [§5.3.4]
//! ```
//! A delivery rate over an interval shorter than the minimum RTT is no sample and ends no round trip, as in
//! [Linux tcp_rate.c tcp_rate_gen]. §3.7 leaves the response to congestion marks open: here a mark counts as a round
//! trip with losses above the threshold.

mod control;
mod events;
mod loss;
mod model;
mod params;
mod probe_bw;
mod probe_rtt;
mod startup;

use crate::Setup;
use crate::common::{AppLimitedInterval, DeliveryRound, WindowedMax};
use dumbbell_units::param::Params;
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time};
use loss::Undo;
use model::MaxBwFilter;
pub(crate) use params::ROW;
use params::Settings;

/// BBR.state (§5.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBwDown,
    ProbeBwCruise,
    ProbeBwRefill,
    ProbeBwUp,
    ProbeRtt,
}

/// BBR.ack_phase: the meaning of ACKs for the current probe (§2.14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// RS, the rate sample of an ACK (§2.3); zeros where the ACK has none.
#[derive(Clone, Copy, Debug, Default)]
struct RateSample {
    delivered: u64,
    newly_acked: u64,
    delivery_rate: f64,
    prior_delivered: u64,
    tx_in_flight: f64,
    lost: f64,
    is_app_limited: bool,
    valid: bool,
}

/// The losses of a round trip (§5.5.10).
#[derive(Clone, Copy, Debug, Default)]
struct LossRound {
    /// BBR.is_loss_in_round.
    is_loss_in_round: bool,
    /// BBR.loss_round_delivered: the round ends when a segment is delivered that was sent after this.
    delivered: u64,
    /// BBR.loss_round_start: true if the last ACK ended a round.
    start: bool,
    /// The time of a loss that began a round, until its ACK is processed: the round starts with the bytes which that
    /// ACK delivers.
    noted_at: Option<Time>,
    /// Contiguous ranges of lost bytes, and the start and the end of the last segment.
    ranges: u64,
    last_start: u64,
    last_end: u64,
}

/// The state of loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recovery {
    None,
    Fast,
    Rto,
}

/// The state of BBR (§2). Rates in bytes/s, volumes in bytes, times in s; a bound that is not set is infinite.
#[derive(Clone, Debug)]
struct Bbr3 {
    set: Settings,
    mss: f64,
    initial_window: f64,
    selective_acks: bool,
    random: Stream,

    state: State,
    recovery: Recovery,
    round: DeliveryRound,
    idle_restart: bool,
    drain_start_round: u64,

    delivered: u64,
    inflight: u64,
    app_limited_interval: AppLimitedInterval,
    /// C.is_cwnd_limited is true until this byte is acknowledged.
    cwnd_limited_to: u64,
    rs: RateSample,

    max_bw_filter: MaxBwFilter,
    bw: f64,
    bw_shortterm: f64,
    bw_latest: f64,
    inflight_latest: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
    loss_round: LossRound,
    undo: Undo,

    min_rtt: f64,
    min_rtt_stamp: Time,
    probe_rtt_min_delay: f64,
    probe_rtt_min_stamp: Option<Time>,
    probe_rtt_expired: bool,
    probe_rtt_done_stamp: Option<Time>,
    probe_rtt_round_done: bool,

    extra_acked_interval_start: Option<Time>,
    extra_acked_delivered: f64,
    extra_acked_filter: WindowedMax,

    full_bw: f64,
    full_bw_count: u64,
    full_bw_now: bool,
    full_bw_reached: bool,

    ack_phase: AckPhase,
    is_bw_probe_sample: bool,
    bw_probe_up_acked: f64,
    probe_up_acked_per_inc: f64,
    bw_probe_up_rounds: u32,
    rounds_since_probe_up: u64,
    bw_probe_wait: Dur,
    cycle_stamp: Time,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,

    cwnd: f64,
    prior_cwnd: f64,
    has_seen_rtt: bool,
    pacing_rate: f64,
}

impl Bbr3 {
    /// §5.2.1 OnInit.
    fn new(params: &Params, setup: &Setup) -> Bbr3 {
        let mut bbr = Bbr3 {
            set: Settings::read(params, setup.mss),
            mss: setup.mss,
            initial_window: setup.initial_window,
            selective_acks: setup.selective_acks,
            random: Stream::new(setup.seed, "bbr3"),
            state: State::Startup,
            recovery: Recovery::None,
            round: DeliveryRound::default(),
            idle_restart: false,
            drain_start_round: 0,
            delivered: 0,
            inflight: 0,
            app_limited_interval: AppLimitedInterval::default(),
            cwnd_limited_to: 0,
            rs: RateSample::default(),
            max_bw_filter: MaxBwFilter::default(),
            bw: 0.0,
            bw_shortterm: f64::INFINITY,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            inflight_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            loss_round: LossRound::default(),
            undo: Undo::default(),
            min_rtt: f64::INFINITY,
            min_rtt_stamp: Time::ZERO,
            probe_rtt_min_delay: f64::INFINITY,
            probe_rtt_min_stamp: None,
            probe_rtt_expired: false,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            extra_acked_interval_start: None,
            extra_acked_delivered: 0.0,
            extra_acked_filter: WindowedMax::default(),
            full_bw: 0.0,
            full_bw_count: 0,
            full_bw_now: false,
            full_bw_reached: false,
            ack_phase: AckPhase::Init,
            is_bw_probe_sample: false,
            bw_probe_up_acked: 0.0,
            probe_up_acked_per_inc: f64::INFINITY,
            bw_probe_up_rounds: 0,
            rounds_since_probe_up: 0,
            bw_probe_wait: Dur::ZERO,
            cycle_stamp: Time::ZERO,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            cwnd: setup.initial_window,
            prior_cwnd: 0.0,
            has_seen_rtt: false,
            pacing_rate: 0.0,
        };
        bbr.init_pacing_rate(0.001); // until an RTT is measured, 1 ms is assumed (§5.6.2)
        bbr
    }

    fn in_probe_bw(&self) -> bool {
        matches!(self.state, State::ProbeBwDown | State::ProbeBwCruise | State::ProbeBwRefill | State::ProbeBwUp)
    }

    fn is_probing_bw(&self) -> bool {
        matches!(self.state, State::Startup | State::ProbeBwRefill | State::ProbeBwUp)
    }

    /// Returns pacing_gain and cwnd_gain of the state (§5.6.1).
    fn gains(&self) -> (f64, f64) {
        match self.state {
            State::Startup => (self.set.startup_pacing_gain, self.set.cwnd_gain),
            State::Drain => (self.set.drain_pacing_gain, self.set.cwnd_gain),
            State::ProbeBwDown => (self.set.down_pacing_gain, self.set.cwnd_gain),
            State::ProbeBwCruise | State::ProbeBwRefill => (1.0, self.set.cwnd_gain),
            State::ProbeBwUp => (self.set.up_pacing_gain, self.set.up_cwnd_gain),
            State::ProbeRtt => (1.0, self.set.probe_rtt_cwnd_gain),
        }
    }
}
