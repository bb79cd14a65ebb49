//! BBR, version 1: pacing rate and window follow a model of the path, its bandwidth and its minimum RTT.
//!
//! Sources: Cardwell et al., BBR: Congestion-Based Congestion Control, ACM Queue 14(5), 2016 ("CQ"). Where the paper
//! leaves a rule open, the source is Linux 6.12 [Linux net/ipv4/tcp_bbr.c bbr_main] ("L"): its names, its gains in
//! 256ths, its clock of microseconds, and its ticks of 4 ms for PROBE_RTT.
//!
//! ```text
//! bw           maximum delivery rate of the last 10 round trips; a sample limited by the application
//!              counts only if it is not below that maximum                                [CQ, L bbr_update_bw]
//! min_rtt      minimum RTT of the last 10 s                                               [CQ]
//! pacing rate  0.99 * pacing_gain * bw; until the pipe is full it only rises              [L bbr_set_pacing_rate]
//! cwnd         cwnd_gain * bw * min_rtt + extra_acked + 3 quanta, rounded up to even (+ 2 where the gain
//!              is 1.25); grows by the segments delivered, at least 4 segments             [L bbr_set_cwnd]
//!
//! STARTUP      gains 2/ln 2 = 2.885, until bw has grown by less than 25 % in three round trips
//! DRAIN        pacing gain 1/2.885, until at most bw * min_rtt is in flight
//! PROBE_BW     pacing gains 1.25, 0.75 and six times 1, a min_rtt each, from a random phase except 0.75; cwnd gain 2.
//!              1.25 lasts until 1.25 * bw * min_rtt is in flight or a segment is lost; 0.75 ends early when
//!              the queue is drained
//! PROBE_RTT    after 10 s without a smaller RTT: 4 segments for 200 ms and a round trip
//! recovery     packet conservation for the first round trip, afterwards the window is restored; bw is unchanged
//! policer      two lossy intervals with consistent bandwidth: that bandwidth for 48 round trips, without probing
//! ```
//! A quantum is about 1 ms of the pacing rate, at least 2 segments (1 below 1.2 Mbit/s) [L bbr_tso_segs_goal].
//! extra_acked is the largest excess of delivered segments over bw in 5 to 10 round trips, at most 100 ms of bw
//! [L bbr_update_ack_aggregation]. Left out: ssthresh, which has no effect on BBR [L bbr_check_drain].

mod ack_aggregation;
mod control;
mod cwnd;
mod long_term_bw;
mod minmax;
mod model;
mod params;
mod probe_bw;
mod probe_rtt;

use crate::common::{AppLimitedInterval, DeliveryRound, floor_to_jiffy, pacing_rate};
use crate::{
    AckEvent, Congestion, CongestionControl, CongestionEvent, Control, Cx, LostEvent, Phase, RecoveryExit, SentEvent,
    Setup,
};
use crate::{Requirement, StackFeature, Variant};
use ack_aggregation::AckAggregation;
use cwnd::Window;
use dumbbell_units::param::Params;
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time};
use long_term_bw::LongTermBw;
use minmax::MinMax;
use params::Settings;

pub(crate) const ROW: Variant = Variant {
    name: "bbr1",
    aliases: &["bbr"],
    title: "BBR, version 1, as in Linux: paced by a model of the path's bandwidth and RTT",
    year: 2016,
    source: "Cardwell et al., BBR: Congestion-Based Congestion Control, ACM Queue 14(5), 2016; Linux 6.12 tcp_bbr.c",
    // The paper does not specify the endpoint: the requirements are those of version 3.
    requires: &[
        Requirement {
            feature: StackFeature::Sack,
            source: "draft-ietf-ccwg-bbr-06 §4.1.1.1",
            why: "its delivery rate samples are accurate during recovery only with SACK",
        },
        Requirement {
            feature: StackFeature::Rack,
            source: "draft-ietf-ccwg-bbr-06 §3.1",
            why: "its goal of full throughput at 1 % loss needs lost retransmissions to be found before a timeout",
        },
    ],
    own_recovery: true,
    on_loss: "packet conservation for a round trip, then the window as before; timeout: cwnd = 1 segment",
    on_delay: "cwnd at most about twice the bandwidth times the minimum RTT",
    on_ecn: "none",
    params: params::PARAMS,
    columns: &[
        "bw",
        "min_rtt",
        "pacing_rate",
        "pacing_gain",
        "cwnd_gain",
        "round_count",
        "extra_acked",
        "policed_bw",
        "state",
    ],
    random: true,
    build: |params, setup| Ok(Box::new(Bbr1::new(params, setup))),
    ..Variant::EMPTY
};

/// Returns a span in whole microseconds, as in [Linux tcp_bbr.c bbr_is_next_cycle_phase].
fn micros(span: Dur) -> f64 {
    (span.0 / 1000) as f64
}

/// The mode [Linux tcp_bbr.c bbr_mode].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    /// With cycle_idx, the phase of the gain cycle.
    ProbeBw(usize),
    ProbeRtt,
}

/// The state of BBR (struct bbr). Bandwidths and rates in bytes/s, windows in segments.
#[derive(Clone, Debug)]
struct Bbr1 {
    set: Settings,
    mss: f64,
    initial_window: f64,
    random: Stream,
    mode: Mode,
    round: DeliveryRound,
    /// Bytes delivered and marked lost on the connection.
    delivered: u64,
    lost: u64,
    max_bw: MinMax,
    lt_bw: LongTermBw,
    ack_aggregation: AckAggregation,
    app_limited_interval: AppLimitedInterval,
    /// s.
    min_rtt: Option<f64>,
    /// When min_rtt was measured, or the last PROBE_RTT ended.
    min_rtt_stamp: Option<Time>,
    /// The earliest end of PROBE_RTT; None until the window has decreased.
    probe_rtt_done_stamp: Option<Time>,
    probe_rtt_round_done: bool,
    full_bw: f64,
    full_bw_cnt: u64,
    full_bw_reached: bool,
    /// The start of the phase of the gain cycle (cycle_mstamp).
    cycle_stamp: Time,
    idle_restart: bool,
    has_seen_rtt: bool,
    pacing_gain: f64,
    cwnd_gain: f64,
    pacing_rate: f64,
    window: Window,
}

impl Bbr1 {
    /// [Linux tcp_bbr.c bbr_init]
    fn new(params: &Params, setup: &Setup) -> Bbr1 {
        let set = Settings::new(params);
        let initial_window = setup.initial_window / setup.mss;
        let mut bbr = Bbr1 {
            set,
            mss: setup.mss,
            initial_window,
            random: Stream::new(setup.seed, "bbr1"),
            mode: Mode::Startup,
            round: DeliveryRound::default(),
            delivered: 0,
            lost: 0,
            max_bw: MinMax::default(),
            lt_bw: LongTermBw::default(),
            ack_aggregation: AckAggregation::default(),
            app_limited_interval: AppLimitedInterval::default(),
            min_rtt: None,
            min_rtt_stamp: None,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            full_bw: 0.0,
            full_bw_cnt: 0,
            full_bw_reached: false,
            cycle_stamp: Time::ZERO,
            idle_restart: false,
            has_seen_rtt: false,
            pacing_gain: set.high_gain,
            cwnd_gain: set.high_gain,
            pacing_rate: 0.0,
            window: Window::new(initial_window),
        };
        // Until an RTT is measured, 1 ms is assumed [Linux tcp_bbr.c bbr_init_pacing_rate_from_rtt].
        bbr.init_pacing_rate_from_rtt(0.001);
        bbr
    }

    /// [Linux tcp_bbr.c bbr_update_model]
    fn update_model(&mut self, ev: &AckEvent, now: Time) {
        self.update_bw(ev, now);
        self.update_ack_aggregation(ev, now);
        self.update_cycle_phase(ev, now);
        self.check_full_bw_reached(ev.rate.as_ref());
        self.check_drain(ev, now);
        self.update_min_rtt(ev, now);
        self.update_gains();
    }

    /// [Linux tcp_bbr.c bbr_update_gains, bbr_pacing_gain]
    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (self.set.high_gain, self.set.high_gain),
            Mode::Drain => (self.set.drain_gain, self.set.high_gain),
            Mode::ProbeBw(_) if self.lt_bw.get().is_some() => (1.0, self.set.cwnd_gain),
            Mode::ProbeBw(0) => (self.set.probe_gain, self.set.cwnd_gain),
            Mode::ProbeBw(1) => (2.0 - self.set.probe_gain, self.set.cwnd_gain),
            Mode::ProbeBw(_) => (1.0, self.set.cwnd_gain),
            Mode::ProbeRtt => (1.0, 1.0),
        };
    }
}

impl CongestionControl for Bbr1 {
    fn on_established(&mut self, rtt: Option<Dur>, cx: &Cx) {
        self.min_rtt_stamp = Some(floor_to_jiffy(cx.now));
        if let Some(rtt) = rtt.map(|rtt| micros(rtt) * 1e-6) {
            (self.min_rtt, self.has_seen_rtt) = (Some(rtt), true);
            self.init_pacing_rate_from_rtt(rtt);
        }
    }

    /// Restart from idle [Linux tcp_bbr.c bbr_cwnd_event, CA_EVENT_TX_START].
    fn on_sent(&mut self, ev: &SentEvent, cx: &Cx) {
        if ev.flight == 0 && ev.app_limited {
            self.idle_restart = true;
            self.ack_aggregation.reset_epoch(cx.now);
            match self.mode {
                Mode::ProbeBw(_) => self.set_pacing_rate(1.0),
                Mode::ProbeRtt => self.check_probe_rtt_done(cx.now),
                _ => {}
            }
        }
        self.window.on_sent(ev);
    }

    fn on_lost(&mut self, ev: &LostEvent, _cx: &Cx) {
        self.lost += ev.bytes;
        self.window.on_lost(ev);
    }

    /// [Linux tcp_bbr.c bbr_main]
    fn on_ack(&mut self, ev: &AckEvent, cx: &Cx) {
        self.mss = cx.mss;
        self.delivered = ev.rate.map_or(self.delivered + ev.delivered, |rate| rate.total_delivered);
        self.update_model(ev, cx.now);
        if let Some(rtt) = ev.rtt.filter(|_| !self.has_seen_rtt) {
            self.has_seen_rtt = true;
            self.init_pacing_rate_from_rtt(rtt.as_secs());
        }
        self.set_pacing_rate(self.pacing_gain);
        if self.window.begins_recovery(ev) {
            self.round.start_round(self.delivered);
        }
        self.set_cwnd(ev);
    }

    /// [Linux tcp_bbr.c bbr_ssthresh, bbr_set_state]
    fn on_congestion(&mut self, ev: &CongestionEvent, cx: &Cx) {
        match ev.kind {
            Congestion::Ecn => {
                self.window.save(self.mode == Mode::ProbeRtt);
                self.window.enter_cwr();
            }
            Congestion::Loss => {
                self.window.save(self.mode == Mode::ProbeRtt);
                self.window.enter_recovery();
            }
            Congestion::Timeout | Congestion::Collapse => {
                self.window.save(self.mode == Mode::ProbeRtt);
                self.window.enter_loss(cx.mss);
                self.full_bw = 0.0;
                self.round.round_start = true; // a timeout counts as the end of a round trip
                self.lt_bw_sampling(true, false, cx.now);
            }
        }
    }

    fn on_recovery_exit(&mut self, _ev: &RecoveryExit, _cx: &Cx) {
        self.window.exit_recovery();
    }

    /// [Linux tcp_bbr.c bbr_undo_cwnd]
    fn on_undo(&mut self, _cx: &Cx) {
        if self.window.undo() {
            (self.full_bw, self.full_bw_cnt) = (0.0, 0);
            self.lt_bw.reset();
        }
    }

    /// The model remains valid after idling; [`Bbr1::on_sent`] handles the restart.
    fn on_restart(&mut self, _idle: Dur, _cx: &Cx) {}

    fn control(&self) -> Control {
        Control {
            cwnd: self.window.cwnd * self.mss,
            ssthresh: f64::INFINITY,
            pacing: Some(pacing_rate(self.pacing_rate)),
            quantum: Some((self.tso_segs_goal() * self.mss) as u64),
        }
    }

    fn phase(&self) -> Phase {
        match self.mode {
            Mode::Startup => Phase::Startup,
            Mode::Drain => Phase::Drain,
            Mode::ProbeBw(_) => Phase::ProbeBw,
            Mode::ProbeRtt => Phase::ProbeRtt,
        }
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([
            self.bw(),
            self.min_rtt.unwrap_or(f64::NAN),
            self.pacing_rate,
            self.pacing_gain,
            self.cwnd_gain,
            self.round.round_count as f64,
            self.mss * self.ack_aggregation.cwnd(self.bw() / self.mss),
            self.lt_bw.get().unwrap_or(f64::NAN),
            f64::from(self.phase() as u8),
        ]);
    }
}
