//! BBR, version 3: a model of the path's rate, delay and room bounds rate and window; it probes gently and backs off from
//! losses [draft-ietf-ccwg-bbr-06; sections are that document's].
//!
//! ```text
//! max_bw        largest delivery rate of this and the last probing cycle                                [§5.5.2-§5.5.6]
//! min_rtt       smallest RTT of 10 s; of 5 s for when to dip                                            [§5.3.4.3]
//! bounds        inflight_longterm: what a probe lost too much at; bw_shortterm, inflight_shortterm:
//!               0.7 of themselves, but no less than what was delivered, for each round trip with a loss  [§5.5.10]
//! bw            min(max_bw, bw_shortterm);  pacing = 0.99 * pacing_gain * bw                            [§5.6.2]
//! cwnd          cwnd_gain * bw * min_rtt + extra_acked, at least 3 quanta and 4 segments, within the bounds [§5.6.4]
//!
//! state         pacing  cwnd   until                                                                     [§5.6.1]
//! startup       2.77    2      three round trips with less than 25 % more, or a lossy one               [§5.3.1]
//! drain         0.5     2      no more than bw * min_rtt outstanding, or 3 round trips                  [§5.3.2]
//! probe down    0.9     2      drained, and 15 % of inflight_longterm left free                         [§5.3.3.1]
//! cruise        1       2      2 to 3 s, or as many round trips as a Reno of this window needs, since the
//!                              last probe                                                               [§5.3.3.2, §5.3.3.8]
//! refill        1       2      one round trip; the short-term bounds are forgotten                      [§5.3.3.3]
//! probe up      1.25    2.25   the rate no longer grows, more than 2 % lost, or the room of a probe that
//!                              lost too much is reached; inflight_longterm grows by 1, 2, 4... segments  [§5.3.3.4-§5.3.3.7]
//! probe rtt     1       0.5    200 ms and a round trip, 5 s after the smallest RTT of that time          [§5.3.4]
//! ```
//! A delivery rate over less than the smallest RTT isn't one and ends no round trip, as in Linux. A congestion mark, whose
//! answer §3.7 leaves open beyond that there be one, is taken for a round trip's loss above the threshold.

mod control;
mod loss;
mod model;
mod params;
mod probe_bw;
mod probe_rtt;
mod startup;

use crate::common::{AppLimitedInterval, DeliveryRound, WindowedMax, pacing_rate};
use crate::{
    AckEvent, Congestion, CongestionControl, CongestionEvent, Control, Cx, LostEvent, Phase, RateSample,
    RecoveryExit, SentEvent, Setup,
};
use dumbbell_units::param::Params;
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time};
use loss::Undo;
use model::MaxBw;
pub(crate) use params::ROW;
use params::Settings;

/// BBR.state (§5.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// What ACKs tell of a probe (§2.14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// Looks for a plateau of the delivery rate (§5.3.1.2).
#[derive(Clone, Copy, Debug, Default)]
struct FullBw {
    /// The rate to be exceeded, bytes/s.
    mark: f64,
    count: u64,
    now: bool,
}

/// What an ACK brought (§2.3), with zeros where it has no rate.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    delivered: u64,
    newly_acked: u64,
    rate: f64,
    prior_delivered: u64,
    tx_in_flight: f64,
    lost: f64,
    app_limited: bool,
    valid: bool,
}

/// Losses of the round trip.
#[derive(Clone, Copy, Debug, Default)]
struct LossRound {
    /// Whether something was lost in it.
    lossy: bool,
    /// It ends when a segment is delivered that left when so much was.
    from: u64,
    /// Whether the last ACK ended it.
    ended: bool,
    /// When losses were seen whose ACK hasn't been: it then begins with what that ACK delivers.
    begins: Option<Time>,
    /// Ranges of lost bytes that don't touch, and the end of the last.
    ranges: u64,
    last_end: u64,
}

/// Where the endpoint's loss recovery is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Episode {
    Open,
    Fast,
    Timeout,
}

/// See the top of this file. Rates are bytes/s, volumes bytes, times s; a bound that isn't set is infinite.
#[derive(Clone, Debug)]
struct Bbr3 {
    set: Settings,
    mss: f64,
    initial_window: f64,
    selective_acks: bool,
    random: Stream,

    state: State,
    episode: Episode,
    round: DeliveryRound,
    idle_restart: bool,
    drain_start_round: u64,

    delivered: u64,
    inflight: u64,
    app_limited_interval: AppLimitedInterval,
    /// Up to here sending was held back by the window: C.is_cwnd_limited until that is acknowledged.
    cwnd_limited_to: u64,
    rs: Sample,

    max_bw: MaxBw,
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

    extra_acked_since: Option<Time>,
    extra_acked_delivered: f64,
    extra_acked_filter: WindowedMax,

    full: FullBw,
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
    seen_rtt: bool,
    pacing: f64,
}

impl Bbr3 {
    /// §5.2.1.
    fn new(params: &Params, setup: &Setup) -> Bbr3 {
        let mut law = Bbr3 {
            set: Settings::read(params, setup.mss),
            mss: setup.mss,
            initial_window: setup.initial_window,
            selective_acks: setup.selective_acks,
            random: Stream::new(setup.seed, "bbr3"),
            state: State::Startup,
            episode: Episode::Open,
            round: DeliveryRound::default(),
            idle_restart: false,
            drain_start_round: 0,
            delivered: 0,
            inflight: 0,
            app_limited_interval: AppLimitedInterval::default(),
            cwnd_limited_to: 0,
            rs: Sample::default(),
            max_bw: MaxBw::default(),
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
            extra_acked_since: None,
            extra_acked_delivered: 0.0,
            extra_acked_filter: WindowedMax::default(),
            full: FullBw::default(),
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
            seen_rtt: false,
            pacing: 0.0,
        };
        law.init_pacing_rate(0.001);
        law
    }

    fn in_probe_bw(&self) -> bool {
        matches!(self.state, State::Down | State::Cruise | State::Refill | State::Up)
    }

    fn is_probing_bw(&self) -> bool {
        matches!(self.state, State::Startup | State::Refill | State::Up)
    }

    /// Pacing and window gain of the state (§5.6.1).
    fn gains(&self) -> (f64, f64) {
        match self.state {
            State::Startup => (self.set.startup_pacing_gain, self.set.cwnd_gain),
            State::Drain => (self.set.drain_pacing_gain, self.set.cwnd_gain),
            State::Down => (self.set.down_pacing_gain, self.set.cwnd_gain),
            State::Cruise | State::Refill => (1.0, self.set.cwnd_gain),
            State::Up => (self.set.up_pacing_gain, self.set.up_cwnd_gain),
            State::ProbeRtt => (1.0, self.set.probe_rtt_cwnd_gain),
        }
    }

    /// Clocks start with the first event that tells the time.
    fn start_clocks(&mut self, now: Time) {
        if self.probe_rtt_min_stamp.is_none() {
            (self.probe_rtt_min_stamp, self.min_rtt_stamp) = (Some(now), now);
            self.extra_acked_since = Some(now);
        }
    }

    fn take_sample(&mut self, ev: &AckEvent) {
        self.inflight = ev.inflight;
        let before = self.delivered;
        self.delivered = ev.rate.map_or(before + ev.delivered, |rate| rate.total_delivered);
        let newly_acked = ev.delivered;
        self.rs = match ev.rate {
            Some(rate) => Sample {
                delivered: rate.delivered,
                newly_acked,
                rate: rate.rate(),
                prior_delivered: rate.prior_delivered,
                tx_in_flight: rate.sent_in_flight as f64,
                lost: rate.lost as f64,
                app_limited: self.is_app_limited(&rate),
                valid: true,
            },
            None => Sample { newly_acked, ..Sample::default() },
        };
    }

    fn is_app_limited(&self, rate: &RateSample) -> bool {
        self.app_limited_interval.is_limited(rate)
    }

    /// §5.2.3 UpdateModelAndState.
    fn update_model_and_state(&mut self, ev: &AckEvent, now: Time) {
        self.update_latest_delivery_signals();
        self.update_congestion_signals();
        self.update_ack_aggregation(now);
        self.check_full_bw_reached();
        self.check_startup_done();
        self.check_drain_done(now);
        self.update_probe_bw_cycle_phase(ev, now);
        self.update_min_rtt(ev.rtt, now);
        self.check_probe_rtt(now);
        self.advance_latest_delivery_signals();
        self.bw = self.max_bw.get().min(self.bw_shortterm); // §5.5.10.3 BoundBWForModel
    }
}

impl CongestionControl for Bbr3 {
    fn on_established(&mut self, rtt: Option<Dur>, cx: &Cx) {
        self.start_clocks(cx.now);
        if let Some(rtt) = rtt.map(Dur::as_secs) {
            (self.min_rtt, self.seen_rtt) = (rtt, true);
            self.init_pacing_rate(rtt);
        }
    }

    /// §5.4.1 HandleRestartFromIdle.
    fn on_sent(&mut self, ev: &SentEvent, cx: &Cx) {
        self.start_clocks(cx.now);
        if ev.flight == 0 && ev.app_limited {
            self.idle_restart = true;
            self.extra_acked_since = Some(cx.now);
            if self.in_probe_bw() {
                self.set_pacing_rate_with_gain(1.0);
            } else if self.state == State::ProbeRtt {
                self.check_probe_rtt_done(cx.now);
            }
        }
        self.inflight = ev.flight + ev.bytes;
        if self.inflight as f64 + self.mss > self.cwnd {
            self.cwnd_limited_to = ev.snd_nxt;
        }
    }

    fn on_lost(&mut self, ev: &LostEvent, cx: &Cx) {
        self.inflight = self.inflight.saturating_sub(ev.bytes);
        self.handle_lost_packet(ev, cx.now);
    }

    fn on_ack(&mut self, ev: &AckEvent, cx: &Cx) {
        self.mss = cx.mss;
        self.start_clocks(cx.now);
        let before = self.delivered;
        self.take_sample(ev);
        self.begin_loss_round(before, cx.now);
        if self.episode == Episode::Timeout && !ev.in_loss && !ev.in_recovery {
            self.exit_recovery();
        }
        self.update_model_and_state(ev, cx.now);
        if let Some(rtt) = ev.rtt.filter(|_| !self.seen_rtt) {
            self.seen_rtt = true;
            self.init_pacing_rate(rtt.as_secs());
        }
        self.set_pacing_rate_with_gain(self.gains().0);
        self.set_cwnd();
    }

    fn on_congestion(&mut self, ev: &CongestionEvent, cx: &Cx) {
        match ev.kind {
            Congestion::Ecn => self.handle_mark(cx.now),
            Congestion::Loss => self.enter_recovery(Episode::Fast),
            Congestion::Timeout | Congestion::Collapse => self.enter_recovery(Episode::Timeout),
        }
    }

    fn on_recovery_exit(&mut self, _ev: &RecoveryExit, _cx: &Cx) {
        self.exit_recovery();
    }

    fn on_undo(&mut self, _cx: &Cx) {
        self.handle_spurious_loss_detection();
    }

    fn on_restart(&mut self, _idle: Dur, _cx: &Cx) {} // §5.4.2: the model holds on; on_sent sees the pause

    fn control(&self) -> Control {
        Control {
            cwnd: self.cwnd,
            ssthresh: f64::INFINITY,
            pacing: Some(pacing_rate(self.pacing)),
            quantum: Some(self.send_quantum() as u64),
        }
    }

    fn phase(&self) -> Phase {
        match self.state {
            State::Startup => Phase::Startup,
            State::Drain => Phase::Drain,
            State::Down => Phase::ProbeDown,
            State::Cruise => Phase::Cruise,
            State::Refill => Phase::Refill,
            State::Up => Phase::ProbeUp,
            State::ProbeRtt => Phase::ProbeRtt,
        }
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let set = |x: f64| if x.is_finite() { x } else { f64::NAN };
        let (pacing_gain, cwnd_gain) = self.gains();
        row.extend([
            self.bw,
            self.max_bw.get(),
            set(self.bw_shortterm),
            set(self.min_rtt),
            set(self.probe_rtt_min_delay),
            self.pacing,
            pacing_gain,
            cwnd_gain,
            self.round.round_count as f64,
            set(self.inflight_longterm),
            set(self.inflight_shortterm),
            self.extra_acked_filter.get(),
            self.full.count as f64,
            f64::from(u8::from(self.full.now)),
            f64::from(u8::from(self.full_bw_reached)),
            f64::from(u8::from(self.idle_restart)),
            self.bw_probe_wait.as_secs(),
            f64::from(self.phase() as u8),
        ]);
    }
}
