//! Copa: steers towards the rate at which its own queueing delay is worth its throughput, 1 / (delta * delay) [Arun and
//! Balakrishnan, Copa: Practical Delay-Based Congestion Control for the Internet, NSDI 2018, "AB"].
//!
//! ```text
//! each ACK     delay = standing - base: smallest RTT of the last srtt / 2 less that of the last 10 s        [AB]
//!   target     1 / (delta * delay) segments/s;  rate = cwnd / standing
//!   cwnd       += v / (delta * cwnd) for each segment acknowledged if rate <= target, else -=; at least 2
//!   v          once a round trip: doubled if cwnd went the same way as before and in three round trips already, else 1
//! slow start   doubles each round trip until rate > target                                                  [AB]
//! pacing       2 cwnd / standing                                                                            [AB]
//! default      delta = 0.5, losses mean nothing
//! competitive  if delay wasn't below `empty` of (largest RTT of 4 round trips - base) once in 5 round trips: 1 / delta
//!              grows by 1 a round trip and is halved by a loss, not below the default's                     [AB]
//! timeout      cwnd = 1 segment, slow start
//! ```
//! n flows keep 2.5 n / delta segments in the queue at most and empty it every five round trips: 1.25 / delta each in the
//! mean [AB].
//! Left out: nothing of the publication. It has a connection without loss recovery of its own; here a timeout collapses
//! the window as with every law.

use crate::Variant;
use crate::common::{Srtt, Window, WindowedMin};
use crate::{
    AckEvent, Congestion, CongestionControl, CongestionEvent, Control, Cx, Phase, RecoveryExit, Setup,
};
use dumbbell_units::param::{Kind, Params, Spec};
use dumbbell_units::{Dur, Rate, Time};

pub(crate) const ROW: Variant = Variant {
    name: "copa",
    title: "steers towards a rate of 1 / (delta * queueing delay), competes with loss-based flows when there are any",
    year: 2018,
    source: "Arun and Balakrishnan, Copa, NSDI 2018",
    own_recovery: true,
    on_loss: "default mode: not at all; competitive mode: delta doubled once a round trip; timeout: cwnd = 1 segment",
    on_delay: "shrinks while it sends faster than 1 / (delta * queueing delay), else grows",
    on_ecn: "as to a loss",
    params: &[
        Spec {
            name: "delta",
            kind: Kind::Float { min: 0.001, max: 10.0 },
            default: "0.5",
            doc: "weight of delay against throughput: less of it, more in the queue [Arun and Balakrishnan 2018]",
        },
        Spec {
            name: "competitive",
            kind: Kind::Bool,
            default: "true",
            doc: "whether it changes its mode beside flows that fill buffers [Arun and Balakrishnan 2018]",
        },
        Spec {
            name: "empty",
            kind: Kind::Float { min: 0.0, max: 1.0 },
            default: "0.35",
            doc: "part of the largest delay up to which the queue counts as nearly empty; as published: 0.1",
        },
        Spec {
            name: "base_window",
            kind: Kind::Duration,
            default: "10 s",
            doc: "how long the smallest RTT is remembered [Arun and Balakrishnan 2018]",
        },
    ],
    columns: &["delta", "velocity", "base_rtt", "standing_rtt", "competitive"],
    build: |params, setup| Ok(Box::new(Copa::new(params, setup))),
    ..Variant::EMPTY
};

/// Segments of the smallest window.
const LEAST: f64 = 2.0;
/// Round trips in which the queue has to have been nearly empty once [AB].
const PATIENCE: f64 = 5.0;
/// Round trips that the largest RTT is remembered [AB].
const MEMORY: f64 = 4.0;
/// Round trips in the same direction before the velocity grows [AB].
const STEADY: u32 = 3;

/// Which way cwnd went in the last round trip, and since how many.
#[derive(Clone, Copy, Debug)]
struct Course {
    since: Time,
    cwnd: f64,
    up: bool,
    times: u32,
}

/// See the top of this file.
#[derive(Clone, Debug)]
struct Copa {
    window: Window,
    slow_start: bool,
    default_delta: f64,
    competes: bool,
    empty: f64,
    base_window: Dur,
    srtt: Srtt,
    base: WindowedMin,
    standing: WindowedMin,
    /// Of the negative RTT: the largest.
    largest: WindowedMin,
    delta: f64,
    competitive: bool,
    /// When the queue was nearly empty last.
    empty_at: Time,
    /// When delta last changed in competitive mode, and when it last was cut for a loss.
    changed_at: Time,
    cut_at: Option<Time>,
    velocity: f64,
    course: Option<Course>,
}

impl Copa {
    fn new(params: &Params, setup: &Setup) -> Copa {
        let delta = params.float("delta");
        Copa {
            window: Window::without_ssthresh(setup),
            slow_start: true,
            default_delta: delta,
            competes: params.bool("competitive"),
            empty: params.float("empty"),
            base_window: params.duration("base_window"),
            srtt: Srtt::default(),
            base: WindowedMin::default(),
            standing: WindowedMin::default(),
            largest: WindowedMin::default(),
            delta,
            competitive: false,
            empty_at: Time::ZERO,
            changed_at: Time::ZERO,
            cut_at: None,
            velocity: 1.0,
            course: None,
        }
    }

    fn round_trips(&self, n: f64) -> Dur {
        Dur::from_secs_f64(n * self.srtt.secs())
    }

    /// Takes in a round-trip time; gives the standing one and the queueing delay, s.
    fn measure(&mut self, rtt: Dur, now: Time) -> (f64, f64) {
        if self.base.get().is_none() {
            self.empty_at = now;
        }
        self.srtt.sample(rtt);
        let rtt = rtt.as_secs();
        let base = self.base.add(rtt, self.base_window, now);
        let standing = self.standing.add(rtt, self.round_trips(0.5), now);
        let largest = -self.largest.add(-rtt, self.round_trips(MEMORY), now);
        // A base that was forgotten can't be above what is seen now.
        let delay = (standing - base).max(0.0);
        // DIVERGES [AB]: 0.35 instead of 0.1. Alone, Copas empty the queue to between 0 and 0.3 of its largest length, not to
        // 0: a segment is a fifth of the largest delay with delta = 0.5, an ACK for two tells of the second, which has
        // waited for the first, and with a large 1 / delta a round trip is longer with a queue than without. With 0.1 two
        // of them take each other for buffer-fillers within seconds and fill the buffer; a Reno's or CUBIC's queue does
        // not fall below 0.4 of its largest within five round trips.
        if delay <= self.empty * (largest - base) {
            self.empty_at = now;
        }
        (standing, delay)
    }

    /// Default or competitive, and what competing makes of delta while nothing is lost [AB].
    fn choose_mode(&mut self, now: Time) {
        let competitive = self.competes && now.since(self.empty_at) > self.round_trips(PATIENCE);
        if competitive != self.competitive {
            (self.competitive, self.delta) = (competitive, self.default_delta);
            self.changed_at = now;
        } else if competitive && now.since(self.changed_at) >= self.round_trips(1.0) {
            self.delta = 1.0 / (1.0 / self.delta + 1.0);
            self.changed_at = now;
        }
    }

    /// The velocity, once a round trip [AB].
    fn steer(&mut self, now: Time) {
        let cwnd = self.window.cwnd;
        let fresh = Course { since: now, cwnd, up: true, times: 0 };
        let Some(last) = self.course else {
            self.course = Some(fresh);
            return;
        };
        if now.since(last.since) < self.round_trips(1.0) {
            return;
        }
        let up = cwnd > last.cwnd;
        let times = if last.times > 0 && up == last.up { last.times + 1 } else { 1 };
        self.velocity = if times > STEADY { self.velocity * 2.0 } else { 1.0 };
        self.course = Some(Course { up, times, ..fresh });
    }

    /// The window after an ACK [AB].
    fn adapt(&mut self, acked: f64, standing: f64, delay: f64, limited: bool, cx: &Cx) {
        // Both rates times standing: the windows that they mean.
        let target = if delay > 0.0 { standing / (self.delta * delay) * cx.mss } else { f64::INFINITY };
        let up = self.window.cwnd <= target;
        if self.slow_start {
            self.slow_start = up;
            if up && limited {
                self.window.cwnd += acked;
            }
            return;
        }
        self.steer(cx.now);
        if self.course.is_some_and(|course| course.times > 0 && course.up != up) && self.velocity > 1.0 {
            // DIVERGES [AB]: a turn ends the velocity at once, not at the end of the round trip, in which it would throw the
            // window as far as it has come in all those before.
            (self.velocity, self.course) = (1.0, None);
        }
        // A step of more than the window a round trip would only overshoot.
        let velocity = self.velocity.min(self.delta * self.window.segments(cx)).max(1.0);
        let step = velocity / self.delta * acked * cx.mss / self.window.cwnd;
        if !up {
            self.window.cwnd = (self.window.cwnd - step).max(LEAST * cx.mss);
        } else if limited {
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
        let (standing, delay) = self.measure(rtt, cx.now);
        self.choose_mode(cx.now);
        self.adapt(ev.delivered as f64, standing, delay, ev.cwnd_limited, cx);
    }

    fn on_congestion(&mut self, ev: &CongestionEvent, cx: &Cx) {
        if matches!(ev.kind, Congestion::Timeout | Congestion::Collapse) {
            self.window.begin_episode(ev.kind);
            self.window.set_loss_window(cx);
            (self.slow_start, self.velocity, self.course) = (true, 1.0, None);
        }
        let cut = self.cut_at.is_none_or(|at| cx.now.since(at) >= self.round_trips(1.0));
        if self.competitive && cut {
            self.delta = (2.0 * self.delta).min(self.default_delta);
            (self.cut_at, self.changed_at) = (Some(cx.now), cx.now);
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
        (self.velocity, self.course) = (1.0, None);
        self.empty_at = cx.now; // it isn't this flow that kept the queue from emptying
    }

    fn control(&self) -> Control {
        let standing = self.standing.get();
        let rate = standing.map(|standing| 2.0 * self.window.cwnd / standing * 8.0); // [AB]
        let pacing = rate.map(|rate| Rate(rate.clamp(1.0, 1e15) as u64));
        Control { cwnd: self.window.cwnd, ssthresh: f64::INFINITY, pacing, quantum: None }
    }

    fn phase(&self) -> Phase {
        if self.slow_start { Phase::SlowStart } else { Phase::Avoidance }
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let known = |least: &WindowedMin| least.get().unwrap_or(f64::NAN);
        let competitive = if self.competitive { 1.0 } else { 0.0 };
        row.extend([self.delta, self.velocity, known(&self.base), known(&self.standing), competitive]);
    }
}
