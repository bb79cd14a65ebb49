//! BBR, version 1: a model of the path, its rate and its delay, says how fast and how much [Cardwell et al., BBR:
//! Congestion-Based Congestion Control, ACM Queue 14(5), 2016, "CQ"; what that leaves open as Linux 6.12's tcp_bbr.c, "L"].
//!
//! ```text
//! bw           the largest delivery rate of the last 10 round trips; samples held back by the application
//!              count only if they are larger                                                            [CQ, L]
//! min_rtt      the smallest RTT of the last 10 s                                                        [CQ]
//! pacing       0.99 * pacing_gain * bw; until the pipe is full it only rises                            [L]
//! cwnd         cwnd_gain * bw * min_rtt + 3 quanta (even, + 2 where the gain is 1.25) + extra_acked;
//!              grows by what is acknowledged, at least 4 segments                                       [L]
//!
//! startup      gains 2/ln 2 = 2.885 until the rate grew by less than 25 % in three round trips
//! drain        pacing gain 1/2.885 until no more than bw * min_rtt is outstanding
//! probe bw     pacing gains 1.25, 0.75, six times 1, a min_rtt each, from a random one but 0.75; cwnd gain 2.
//!              1.25 lasts until as much is outstanding or something is lost, 0.75 no longer than until drained
//! probe rtt    10 s without a smaller RTT: 4 segments for 200 ms and a round trip, then back
//! loss         the first round trip of a recovery sends what is delivered, after it the old window holds; no rate falls
//! policer      two lossy intervals of like rate: that rate without probing for 48 round trips
//! ```
//! The quantum is a millisecond of the pacing rate, at least 2 segments (1 below 1.2 Mbit/s) [L]. extra_acked is the largest
//! excess of ACKs over bw in five to ten round trips, at most 100 ms of bw [L].
//! Gains are in 256ths, round trips and intervals in microseconds, the dip's times in ticks of 4 ms [L]. Left out: the
//! cosmetic ssthresh.

mod aggregation;
mod cwnd;
mod params;
mod policer;
mod recent_max;

use crate::Variant;
use crate::common::{AppLimitedInterval, DeliveryRound, floor_to_jiffy, pacing_rate};
use crate::{
    AckEvent, Congestion, CongestionControl, CongestionEvent, Control, Cx, LostEvent, Phase, RateSample,
    RecoveryExit, SentEvent, Setup,
};
use aggregation::Aggregation;
use cwnd::{Wanted, Window};
use dumbbell_units::param::Params;
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time};
use params::Settings;
use policer::{Policer, Seen};
use recent_max::RecentMax;

pub(crate) const ROW: Variant = Variant {
    name: "bbr1",
    aliases: &["bbr"],
    title: "BBR, version 1, as in Linux: paced by a model of the path's rate and delay",
    year: 2016,
    source: "Cardwell et al., BBR: Congestion-Based Congestion Control, ACM Queue 14(5), 2016; Linux 6.12 tcp_bbr.c",
    own_recovery: true,
    on_loss: "for a round trip no more than is delivered, then as before; timeout: cwnd = 1 segment",
    on_delay: "cwnd within twice the smallest delay times the rate",
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
    build: |params, setup| Ok(Box::new(Bbr1::new(params, setup))),
    ..Variant::EMPTY
};

/// Rates are whole multiples of so many segments/s, 2^-24 a microsecond, rounded down [L]: with rates that are never above
/// the real one, ACKs that come at just that rate are always a segment ahead, which the window's target includes.
const BW_UNIT: f64 = 1e6 / 16_777_216.0;

/// A span by a clock of microseconds [L].
fn micros(span: Dur) -> f64 {
    (span.0 / 1000) as f64
}

/// Phases of the gain cycle.
const CYCLE: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    /// In this phase of the cycle.
    ProbeBw(usize),
    ProbeRtt,
}

/// See the top of this file. Rates are bytes/s, windows in segments.
#[derive(Clone, Debug)]
struct Bbr1 {
    set: Settings,
    mss: f64,
    initial_window: f64,
    random: Stream,
    mode: Mode,
    round: DeliveryRound,
    delivered: u64,
    lost: u64,
    max_bw: RecentMax,
    policer: Policer,
    aggregation: Aggregation,
    app_limited_interval: AppLimitedInterval,
    /// s.
    min_rtt: Option<f64>,
    /// When min_rtt was seen, or the last dip ended.
    min_rtt_at: Option<Time>,
    /// When the dip is long enough; None until the window has come down.
    probe_rtt_done: Option<Time>,
    probe_rtt_round_done: bool,
    full_bw: f64,
    full_bw_count: u64,
    full_bw_reached: bool,
    phase_since: Time,
    idle_restart: bool,
    seen_rtt: bool,
    pacing_gain: f64,
    cwnd_gain: f64,
    pacing: f64,
    window: Window,
}

impl Bbr1 {
    fn new(params: &Params, setup: &Setup) -> Bbr1 {
        let set = Settings::new(params);
        let initial_window = setup.initial_window / setup.mss;
        let mut law = Bbr1 {
            set,
            mss: setup.mss,
            initial_window,
            random: Stream::new(setup.seed, "bbr1"),
            mode: Mode::Startup,
            round: DeliveryRound::default(),
            delivered: 0,
            lost: 0,
            max_bw: RecentMax::default(),
            policer: Policer::default(),
            aggregation: Aggregation::default(),
            app_limited_interval: AppLimitedInterval::default(),
            min_rtt: None,
            min_rtt_at: None,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            full_bw: 0.0,
            full_bw_count: 0,
            full_bw_reached: false,
            phase_since: Time::ZERO,
            idle_restart: false,
            seen_rtt: false,
            pacing_gain: set.high_gain,
            cwnd_gain: set.high_gain,
            pacing: 0.0,
            window: Window::new(initial_window),
        };
        law.pace_initially(0.001); // until an RTT is known, one of a millisecond [L]
        law
    }

    fn pace_initially(&mut self, rtt: f64) {
        let rate = self.window.cwnd * self.mss / rtt.max(1e-6);
        self.pacing = self.set.pace * self.set.high_gain * rate;
    }

    /// The rate that the model goes by.
    fn bw(&self) -> f64 {
        self.policer.rate().unwrap_or_else(|| self.max_bw.get())
    }

    /// Segments that are scheduled at once.
    fn quantum(&self) -> f64 {
        let least = if self.pacing < 150_000.0 { 1.0 } else { 2.0 }; // 1.2 Mbit/s
        let most = (65_535.0 - 320.0f64).min(self.pacing / 1024.0); // 64 kB with headers; 1/1024 s
        (most / self.mss).floor().max(least).min(127.0)
    }

    /// A rate over the smallest delay, whole segments; the initial window while no delay is known.
    fn bdp(&self, bw: f64, gain: f64) -> f64 {
        self.min_rtt.map_or(self.initial_window, |rtt| (gain * bw * rtt / self.mss).ceil())
    }

    /// Room for the quanta that are on their way through the hosts.
    fn with_quanta(&self, segments: f64) -> f64 {
        let even = 2.0 * ((segments + 3.0 * self.quantum()) / 2.0).ceil();
        even + if self.mode == Mode::ProbeBw(0) { 2.0 } else { 0.0 }
    }

    fn inflight(&self, bw: f64, gain: f64) -> f64 {
        self.with_quanta(self.bdp(bw, gain))
    }

    /// Segments that will be in the network when the next may leave: while pacing holds it back, others arrive.
    fn in_network(&self, outstanding: u64, ev: &AckEvent, now: Time) -> f64 {
        let coming = if self.pacing_gain > 1.0 { self.quantum() } else { 0.0 };
        let leaves = (self.bw() * micros(ev.departs.since(now)) * 1e-6 / self.mss).floor();
        (outstanding as f64 / self.mss + coming - leaves).max(0.0)
    }

    fn update_bw(&mut self, ev: &AckEvent, now: Time) {
        self.round.round_start = false;
        let Some(rate) = ev.rate else { return };
        self.round.on_ack(rate.prior_delivered, self.delivered);
        if self.round.round_start {
            self.window.round_ended();
        }
        self.watch_for_policer(ev.lost > 0, self.app_limited_interval.is_limited(&rate), now);
        let unit = BW_UNIT * self.mss;
        let bw = (rate.delivered as f64 * 1e6 / micros(rate.interval).max(1.0) / unit).floor() * unit;
        if !self.app_limited_interval.is_limited(&rate) || bw >= self.max_bw.get() {
            self.max_bw.update(bw, self.round.round_count, self.set.bw_window);
        }
    }

    fn watch_for_policer(&mut self, loss: bool, app_limited: bool, now: Time) {
        if !self.set.policer_detection {
            return;
        }
        let (delivered, lost, round_start) = (self.delivered, self.lost, self.round.round_start);
        let seen = Seen { now, delivered, lost, loss, round_start, app_limited };
        let was_policed = self.policer.rate().is_some();
        if self.policer.on_ack(&seen, matches!(self.mode, Mode::ProbeBw(_))) {
            self.start_cycle(now);
        } else if !was_policed && self.policer.rate().is_some() {
            self.pacing_gain = 1.0;
        }
    }

    fn update_aggregation(&mut self, ev: &AckEvent, now: Time) {
        if self.set.extra_acked_gain > 0.0 && ev.rate.is_some() {
            let (segments, bw) = (ev.delivered as f64 / self.mss, self.bw() / self.mss);
            self.aggregation.on_ack(segments, bw, self.window.cwnd, self.round.round_start, now);
        }
    }

    /// The gain cycle from a random phase, but not from the one that gives up bandwidth.
    fn start_cycle(&mut self, now: Time) {
        let skipped = (self.random.uniform() * (CYCLE - 1) as f64) as usize;
        self.mode = Mode::ProbeBw((CYCLE - skipped) % CYCLE);
        self.phase_since = now;
    }

    fn update_cycle(&mut self, ev: &AckEvent, now: Time) {
        let Mode::ProbeBw(phase) = self.mode else { return };
        let full_length = self.min_rtt.is_some_and(|rtt| now.since(self.phase_since).as_secs() > rtt);
        let over = if self.pacing_gain == 1.0 {
            full_length
        } else {
            let outstanding = self.in_network(ev.flight, ev, now);
            let target = self.inflight(self.max_bw.get(), self.pacing_gain.max(1.0));
            if self.pacing_gain > 1.0 {
                full_length && (ev.lost > 0 || outstanding >= target)
            } else {
                full_length || outstanding <= target
            }
        };
        if over {
            self.mode = Mode::ProbeBw((phase + 1) % CYCLE);
            self.phase_since = now;
        }
    }

    fn check_full_bw(&mut self, rate: Option<&RateSample>) {
        let limited = rate.is_some_and(|rate| self.app_limited_interval.is_limited(rate));
        if self.full_bw_reached || !self.round.round_start || limited {
            return;
        }
        let bw = self.max_bw.get();
        if bw >= self.set.full_bw_growth * self.full_bw {
            (self.full_bw, self.full_bw_count) = (bw, 0);
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_reached = self.full_bw_count >= self.set.full_bw_rounds;
    }

    fn check_drain(&mut self, ev: &AckEvent, now: Time) {
        if self.mode == Mode::Startup && self.full_bw_reached {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain
            && self.in_network(ev.inflight, ev, now) <= self.inflight(self.max_bw.get(), 1.0)
        {
            self.start_cycle(now);
        }
    }

    fn update_min_rtt(&mut self, ev: &AckEvent, now: Time) {
        let seen_at = *self.min_rtt_at.get_or_insert(floor_to_jiffy(now));
        let expired = floor_to_jiffy(now) > seen_at + self.set.min_rtt_window;
        // The ACK of a lone piece of a segment may have waited at the receiver.
        let delayed = ev.flight == ev.delivered && (ev.flight as f64) < self.mss;
        if let Some(rtt) = ev.rtt.map(|rtt| micros(rtt) * 1e-6)
            && (self.min_rtt.is_none_or(|min| rtt < min) || (expired && !delayed))
        {
            (self.min_rtt, self.min_rtt_at) = (Some(rtt), Some(floor_to_jiffy(now)));
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.window.save(true);
            self.probe_rtt_done = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(ev, now);
        }
        if ev.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn probe_rtt(&mut self, ev: &AckEvent, now: Time) {
        self.app_limited_interval.mark(self.delivered, ev.inflight);
        if self.probe_rtt_done.is_some() {
            self.probe_rtt_round_done |= self.round.round_start;
            if self.probe_rtt_round_done {
                self.check_probe_rtt_done(now);
            }
        } else if ev.inflight as f64 <= self.set.min_cwnd * self.mss {
            self.probe_rtt_done = Some(floor_to_jiffy(now) + self.set.probe_rtt_duration);
            self.probe_rtt_round_done = false;
            self.round.start_round(self.delivered);
        }
    }

    fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt_done.is_none_or(|done| floor_to_jiffy(now) <= done) {
            return;
        }
        self.min_rtt_at = Some(floor_to_jiffy(now)); // the next dip is a whole window away
        self.window.restore();
        if self.full_bw_reached {
            self.start_cycle(now);
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (self.set.high_gain, self.set.high_gain),
            Mode::Drain => (self.set.drain_gain, self.set.high_gain),
            Mode::ProbeBw(_) if self.policer.rate().is_some() => (1.0, self.set.cwnd_gain),
            Mode::ProbeBw(0) => (self.set.probe_gain, self.set.cwnd_gain),
            Mode::ProbeBw(1) => (2.0 - self.set.probe_gain, self.set.cwnd_gain),
            Mode::ProbeBw(_) => (1.0, self.set.cwnd_gain),
            Mode::ProbeRtt => (1.0, 1.0),
        };
    }

    fn set_pacing(&mut self, gain: f64) {
        let rate = self.set.pace * gain * self.bw();
        if self.full_bw_reached || rate > self.pacing {
            self.pacing = rate;
        }
    }

    fn set_cwnd(&mut self, ev: &AckEvent) {
        if ev.delivered > 0 {
            let extra = if self.full_bw_reached {
                self.set.extra_acked_gain * self.aggregation.extra(self.bw() / self.mss)
            } else {
                0.0
            };
            let target = self.with_quanta(self.bdp(self.bw(), self.cwnd_gain) + extra.floor());
            let wanted = Wanted {
                target,
                full: self.full_bw_reached,
                little: (self.delivered as f64) < self.initial_window * self.mss,
                least: self.set.min_cwnd,
            };
            self.window.on_ack(ev, self.mss, &wanted);
        }
        if self.mode == Mode::ProbeRtt {
            self.window.cwnd = self.window.cwnd.min(self.set.min_cwnd);
        }
    }
}

impl CongestionControl for Bbr1 {
    fn on_established(&mut self, rtt: Option<Dur>, cx: &Cx) {
        self.min_rtt_at = Some(floor_to_jiffy(cx.now));
        if let Some(rtt) = rtt.map(|rtt| micros(rtt) * 1e-6) {
            (self.min_rtt, self.seen_rtt) = (Some(rtt), true);
            self.pace_initially(rtt);
        }
    }

    fn on_sent(&mut self, ev: &SentEvent, cx: &Cx) {
        if ev.flight == 0 && ev.app_limited {
            self.idle_restart = true;
            self.aggregation.restart(cx.now);
            match self.mode {
                Mode::ProbeBw(_) => self.set_pacing(1.0),
                Mode::ProbeRtt => self.check_probe_rtt_done(cx.now),
                _ => {}
            }
        }
        self.window.sent(ev);
    }

    fn on_lost(&mut self, ev: &LostEvent, _cx: &Cx) {
        self.lost += ev.bytes;
        self.window.lost(ev);
    }

    fn on_ack(&mut self, ev: &AckEvent, cx: &Cx) {
        self.mss = cx.mss;
        self.delivered = ev.rate.map_or(self.delivered + ev.delivered, |rate| rate.total_delivered);
        self.update_bw(ev, cx.now);
        self.update_aggregation(ev, cx.now);
        self.update_cycle(ev, cx.now);
        self.check_full_bw(ev.rate.as_ref());
        self.check_drain(ev, cx.now);
        self.update_min_rtt(ev, cx.now);
        self.update_gains();
        if let Some(rtt) = ev.rtt.filter(|_| !self.seen_rtt) {
            self.seen_rtt = true;
            self.pace_initially(rtt.as_secs());
        }
        self.set_pacing(self.pacing_gain);
        if self.window.begins_recovery(ev) {
            self.round.start_round(self.delivered);
        }
        self.set_cwnd(ev);
    }

    fn on_congestion(&mut self, ev: &CongestionEvent, cx: &Cx) {
        match ev.kind {
            Congestion::Ecn => {}
            Congestion::Loss => {
                self.window.save(self.mode == Mode::ProbeRtt);
                self.window.enter_recovery();
            }
            Congestion::Timeout | Congestion::Collapse => {
                self.window.save(self.mode == Mode::ProbeRtt);
                self.window.enter_loss(cx.mss);
                self.full_bw = 0.0; // what the path carries may have changed
                self.round.round_start = true; // counts as the end of a round trip
                self.watch_for_policer(true, false, cx.now);
            }
        }
    }

    fn on_recovery_exit(&mut self, _ev: &RecoveryExit, _cx: &Cx) {
        self.window.exit_recovery();
    }

    fn on_undo(&mut self, _cx: &Cx) {
        if self.window.undo() {
            (self.full_bw, self.full_bw_count) = (0.0, 0);
            self.policer.reset();
        }
    }

    fn on_restart(&mut self, _idle: Dur, _cx: &Cx) {} // the model holds on; [`Bbr1::on_sent`] sees the pause

    fn control(&self) -> Control {
        Control {
            cwnd: self.window.cwnd * self.mss,
            ssthresh: f64::INFINITY,
            pacing: Some(pacing_rate(self.pacing)),
            quantum: Some((self.quantum() * self.mss) as u64),
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
            self.pacing,
            self.pacing_gain,
            self.cwnd_gain,
            self.round.round_count as f64,
            self.mss * self.aggregation.extra(self.bw() / self.mss),
            self.policer.rate().unwrap_or(f64::NAN),
            f64::from(self.phase() as u8),
        ]);
    }
}
