//! Copa: steers the window to a target rate of 1 / (delta * queueing delay), and competes with loss-based flows if it
//! detects them.
//!
//! Source: Arun and Balakrishnan, Copa: Practical Delay-Based Congestion Control for the Internet, NSDI 2018 ("AB").
//!
//! ```text
//! each ACK     d_q = RTTstanding - RTTmin: minimum RTT of the last srtt / 2 less that of the last 10 s        [AB]
//!   target     lambda_t = 1 / (delta * d_q) segments/s;  current rate lambda = cwnd / RTTstanding
//!   cwnd       += v / (delta * cwnd) for each acknowledged segment if lambda <= lambda_t, else -=; at least 2
//!   velocity   v, once per round trip: doubled if cwnd moved in the same direction as before, for the fourth time or
//!              more; otherwise 1
//! slow start   doubles each round trip until lambda > lambda_t                                                [AB]
//! pacing       2 cwnd / RTTstanding                                                                           [AB]
//! default mode       delta = 0.5, no response to losses
//! competitive mode   if d_q was not below `empty` of (maximum RTT of 4 round trips - RTTmin) for 5 round trips: 1 /
//!                    delta
//!              grows by 1 per round trip and is halved by a loss, not below that of the default mode          [AB]
//! timeout      cwnd = 1 segment, slow start
//! ```
//! n flows keep at most 2.5 n / delta segments in the queue and drain it every five round trips: 1.25 / delta each on
//! average [AB]. The published implementation doesn't share TCP's loss recovery; here a timeout collapses the window as
//! with every variant. Nothing else is left out.

use crate::Variant;
use crate::common::{Srtt, Window, WindowedMin};
use crate::{AckEvent, Congestion, CongestionControl, CongestionEvent, Control, Cx, Phase, RecoveryExit, Setup};
use dumbbell_units::param::{Kind, Params, specs};
use dumbbell_units::{Dur, Rate, Time};

pub(crate) const ROW: Variant = Variant {
    name: "copa",
    title: "steers to a rate of 1 / (delta * queueing delay), and competes with loss-based flows if it detects them",
    year: 2018,
    source: "Arun and Balakrishnan, Copa, NSDI 2018",
    own_recovery: true,
    on_loss: "default mode: none; competitive mode: delta doubled, at most once per round trip; timeout: cwnd = 1 segment",
    on_delay: "shrinks while the rate is above 1 / (delta * queueing delay), otherwise grows",
    on_ecn: "as to a loss",
    params: specs! {
        /// weight of delay against throughput: a smaller delta keeps more segments in the queue [Arun and Balakrishnan
        /// 2018]
        delta = "0.5", Kind::Float { min: 0.001, max: 10.0 };
        /// whether it changes to competitive mode beside buffer-filling flows [Arun and Balakrishnan 2018]
        competitive = "true", Kind::Bool;
        /// part of the maximum queueing delay up to which the queue counts as nearly empty; published: 0.1
        empty = "0.35", Kind::Float { min: 0.0, max: 1.0 };
        /// length of the minimum filter of RTTmin [Arun and Balakrishnan 2018]
        base_window = "10 s", Kind::Duration;
    },
    columns: &["delta", "velocity", "base_rtt", "standing_rtt", "competitive"],
    build: |params, setup| Ok(Box::new(Copa::new(params, setup))),
    ..Variant::EMPTY
};

/// The smallest window, segments.
const MIN_CWND: f64 = 2.0;
/// Round trips without a nearly empty queue after which competitive mode begins [AB].
const MODE_SWITCH_RTTS: f64 = 5.0;
/// Length of the maximum filter of the RTT, in round trips [AB].
const MAX_RTT_RTTS: f64 = 4.0;
/// Round trips in one direction before the velocity doubles [AB].
const DOUBLING_AFTER: u32 = 3;

/// The direction in which cwnd moves, updated once per round trip.
#[derive(Clone, Copy, Debug)]
struct Direction {
    /// Time and window of the last update.
    updated_at: Time,
    cwnd: f64,
    up: bool,
    /// Consecutive round trips in this direction.
    round_trips: u32,
}

/// The state of Copa.
#[derive(Clone, Debug)]
struct Copa {
    window: Window,
    slow_start: bool,
    default_delta: f64,
    may_compete: bool,
    empty: f64,
    base_window: Dur,
    srtt: Srtt,
    rtt_min: WindowedMin,
    rtt_standing: WindowedMin,
    /// The minimum of the negative RTT: the maximum RTT.
    rtt_max: WindowedMin,
    delta: f64,
    competitive: bool,
    /// The last time the queue was nearly empty.
    nearly_empty_at: Time,
    /// The last change of delta in competitive mode.
    delta_changed_at: Time,
    /// The last doubling of delta after a loss.
    delta_doubled_at: Option<Time>,
    velocity: f64,
    direction: Option<Direction>,
}

impl Copa {
    fn new(params: &Params, setup: &Setup) -> Copa {
        let delta = params.float("delta");
        Copa {
            window: Window::without_ssthresh(setup),
            slow_start: true,
            default_delta: delta,
            may_compete: params.bool("competitive"),
            empty: params.float("empty"),
            base_window: params.duration("base_window"),
            srtt: Srtt::default(),
            rtt_min: WindowedMin::default(),
            rtt_standing: WindowedMin::default(),
            rtt_max: WindowedMin::default(),
            delta,
            competitive: false,
            nearly_empty_at: Time::ZERO,
            delta_changed_at: Time::ZERO,
            delta_doubled_at: None,
            velocity: 1.0,
            direction: None,
        }
    }

    fn round_trips(&self, n: f64) -> Dur {
        Dur::from_secs_f64(n * self.srtt.secs())
    }

    /// Takes an RTT sample. Returns RTTstanding and the queueing delay, s.
    fn on_rtt(&mut self, rtt: Dur, now: Time) -> (f64, f64) {
        if self.rtt_min.get().is_none() {
            self.nearly_empty_at = now;
        }
        self.srtt.sample(rtt);
        let rtt = rtt.as_secs();
        let rtt_min = self.rtt_min.add(rtt, self.base_window, now);
        let rtt_standing = self.rtt_standing.add(rtt, self.round_trips(0.5), now);
        let rtt_max = -self.rtt_max.add(-rtt, self.round_trips(MAX_RTT_RTTS), now);
        // RTTmin may be above RTTstanding if its minimum has left the filter.
        let queueing_delay = (rtt_standing - rtt_min).max(0.0);
        // DIVERGES [AB]: 0.35 instead of 0.1. Copa flows alone drain the queue to between 0 and 0.3 of its maximum, not
        // to 0: with delta = 0.5 one segment is a fifth of the maximum delay; the RTT of an ACK for two segments is
        // that of the second, which was queued behind the first; and with a large 1 / delta a round trip takes longer
        // with a queue than without. With 0.1 two Copa flows therefore mistake each other for buffer-filling flows
        // within seconds and fill the buffer. The queue of a Reno or CUBIC flow doesn't fall below 0.4 of its maximum
        // within five round trips.
        if queueing_delay <= self.empty * (rtt_max - rtt_min) {
            self.nearly_empty_at = now;
        }
        (rtt_standing, queueing_delay)
    }

    /// Selects the mode, and updates delta in competitive mode [AB].
    fn update_mode(&mut self, now: Time) {
        let competitive = self.may_compete && now.since(self.nearly_empty_at) > self.round_trips(MODE_SWITCH_RTTS);
        if competitive != self.competitive {
            (self.competitive, self.delta) = (competitive, self.default_delta);
            self.delta_changed_at = now;
        } else if competitive && now.since(self.delta_changed_at) >= self.round_trips(1.0) {
            self.delta = 1.0 / (1.0 / self.delta + 1.0);
            self.delta_changed_at = now;
        }
    }

    /// Updates the velocity once per round trip [AB].
    fn update_velocity(&mut self, now: Time) {
        let cwnd = self.window.cwnd;
        let fresh = Direction { updated_at: now, cwnd, up: true, round_trips: 0 };
        let Some(last) = self.direction else {
            self.direction = Some(fresh);
            return;
        };
        if now.since(last.updated_at) < self.round_trips(1.0) {
            return;
        }
        let up = cwnd > last.cwnd;
        let round_trips = if last.round_trips > 0 && up == last.up { last.round_trips + 1 } else { 1 };
        self.velocity = if round_trips > DOUBLING_AFTER { self.velocity * 2.0 } else { 1.0 };
        self.direction = Some(Direction { up, round_trips, ..fresh });
    }

    /// Updates the window after an ACK [AB].
    fn update_cwnd(&mut self, acked: f64, rtt_standing: f64, queueing_delay: f64, cwnd_limited: bool, cx: &Cx) {
        // Both rates multiplied by RTTstanding, as windows.
        let target =
            if queueing_delay > 0.0 { rtt_standing / (self.delta * queueing_delay) * cx.mss } else { f64::INFINITY };
        let up = self.window.cwnd <= target;
        if self.slow_start {
            self.slow_start = up;
            if up && cwnd_limited {
                self.window.cwnd += acked;
            }
            return;
        }
        self.update_velocity(cx.now);
        if self.direction.is_some_and(|direction| direction.round_trips > 0 && direction.up != up)
            && self.velocity > 1.0
        {
            // DIVERGES [AB]: a change of direction resets the velocity immediately, not at the end of the round trip.
            // Until then the window would move as far as in all round trips before.
            (self.velocity, self.direction) = (1.0, None);
        }
        // More than one window per round trip would only overshoot.
        let velocity = self.velocity.min(self.delta * self.window.segments(cx)).max(1.0);
        let step = velocity / self.delta * acked * cx.mss / self.window.cwnd;
        if !up {
            self.window.cwnd = (self.window.cwnd - step).max(MIN_CWND * cx.mss);
        } else if cwnd_limited {
            self.window.cwnd += step;
        }
    }
}

impl CongestionControl for Copa {
    fn on_ack(&mut self, ev: &AckEvent, cx: &Cx) {
        if !ev.in_recovery && !ev.in_loss {
            self.window.end_episode();
        }
        let Some(rtt) = ev.rtt.filter(|rtt| *rtt > Dur::ZERO) else { return };
        let (rtt_standing, queueing_delay) = self.on_rtt(rtt, cx.now);
        self.update_mode(cx.now);
        self.update_cwnd(ev.delivered as f64, rtt_standing, queueing_delay, ev.cwnd_limited, cx);
    }

    fn on_congestion(&mut self, ev: &CongestionEvent, cx: &Cx) {
        if matches!(ev.kind, Congestion::Timeout | Congestion::Collapse) {
            self.window.begin_episode(ev.kind);
            self.window.set_loss_window(cx);
            (self.slow_start, self.velocity, self.direction) = (true, 1.0, None);
        }
        let may_double = self.delta_doubled_at.is_none_or(|at| cx.now.since(at) >= self.round_trips(1.0));
        if self.competitive && may_double {
            self.delta = (2.0 * self.delta).min(self.default_delta);
            (self.delta_doubled_at, self.delta_changed_at) = (Some(cx.now), cx.now);
        }
    }

    fn on_recovery_exit(&mut self, _ev: &RecoveryExit, _cx: &Cx) {
        self.window.end_episode();
    }

    fn on_undo(&mut self, _cx: &Cx) {
        if self.window.undo() {
            self.slow_start = false;
        }
    }

    fn on_restart(&mut self, _idle: Dur, cx: &Cx) {
        self.window.restart(cx);
        (self.velocity, self.direction) = (1.0, None);
        self.nearly_empty_at = cx.now; // this flow didn't keep the queue from draining
    }

    fn wants_one_way(&self) -> bool {
        false
    }

    fn wants_rates(&self) -> bool {
        false
    }

    fn control(&self) -> Control {
        let rtt_standing = self.rtt_standing.get();
        let rate = rtt_standing.map(|rtt| 2.0 * self.window.cwnd / rtt * 8.0); // [AB]
        let pacing = rate.map(|rate| Rate(rate.clamp(1.0, 1e15) as u64));
        Control { cwnd: self.window.cwnd, ssthresh: f64::INFINITY, pacing, quantum: None }
    }

    fn phase(&self) -> Phase {
        if self.slow_start { Phase::SlowStart } else { Phase::Avoidance }
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let known = |least: &WindowedMin| least.get().unwrap_or(f64::NAN);
        let competitive = if self.competitive { 1.0 } else { 0.0 };
        row.extend([self.delta, self.velocity, known(&self.rtt_min), known(&self.rtt_standing), competitive]);
    }
}
