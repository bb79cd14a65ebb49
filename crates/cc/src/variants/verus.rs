//! Verus: a window from the delay that is to be had, by a profile of which window has had which delay, learnt on the way
//! [Zaki et al., Adaptive Congestion Control for Unpredictable Cellular Networks, SIGCOMM 2015, "Z"; the authors' code, "C"].
//!
//! ```text
//! each ACK     profile[w] = 7/8 of it + 1/8 of the RTT, w the window when the segment left; d_min the smallest RTT [Z]
//! curve        profile as a function of w, anew each second                                                     [Z]
//! each epoch   d = largest RTT of it;  d_max = 1/5 d_max + 4/5 d                                                [Z, C]
//!   d_max / d_min > r:  d_est -= delta2, at least d_min
//!   d > d_max before:   d_est -= delta1, at least d_min
//!   otherwise           d_est += delta2;   w = the largest window with curve(w) <= d_est                        [Z]
//! loss         w = decrease * w of the lost segment; profile and epochs rest, w += 1 / w for each segment, until one is
//!              acknowledged that left with w or less                                                            [Z]
//! slow start   doubles each round trip, to a loss or to an RTT above exit * d_min                               [Z]
//! timeout      cwnd = 1 segment, slow start, everything is learnt anew                                          [C]
//! ```
//! What differs from the publication: the window itself holds sending back, at cwnd / srtt (twice that in slow start), where
//! Verus sends a quota each epoch that comes to the same; epochs go on with the ACKs, as a law has no clock; the curve is
//! drawn through the means of 15 groups of windows, made to rise (pooled adjacent violators), and goes on in proportion to
//! the window, where theirs is a cubic spline; at least 2 segments are outstanding.

use crate::Variant;
use crate::common::{Srtt, Window};
use crate::{
    AckEvent, Congestion, CongestionControl, CongestionEvent, Control, Cx, Phase, RecoveryExit, SentEvent,
    Setup,
};
use dumbbell_units::param::{Kind, ParamError, Params, Spec};
use dumbbell_units::{Dur, Rate, Time};
use std::collections::VecDeque;

pub(crate) const ROW: Variant = Variant {
    name: "verus",
    title: "chooses the window by a learnt profile of delays, for cellular links",
    year: 2015,
    source: "Zaki, Pötsch, Chen, Subramanian and Görg, Verus, SIGCOMM 2015",
    own_recovery: true,
    on_loss: "window to a part of that with which the lost segment left; timeout: cwnd = 1 segment, learns anew",
    on_delay: "each epoch the delay aimed at falls when the largest delay has grown or is above r times the smallest, \
               else it rises",
    on_ecn: "as to a loss",
    params: &[
        Spec {
            name: "r",
            kind: Kind::Float { min: 1.0, max: 100.0 },
            default: "2",
            doc: "largest delay over smallest from which on it only shrinks [Zaki et al. 2015]",
        },
        Spec {
            name: "epoch",
            kind: Kind::Duration,
            default: "5 ms",
            doc: "time between decisions [Zaki et al. 2015]",
        },
        Spec {
            name: "delta1",
            kind: Kind::Duration,
            default: "1 ms",
            doc: "what the delay aimed at loses when delays grow [Zaki et al. 2015]",
        },
        Spec {
            name: "delta2",
            kind: Kind::Duration,
            default: "2 ms",
            doc: "what it gains when they don't, or loses above r [Zaki et al. 2015]",
        },
        Spec {
            name: "decrease",
            kind: Kind::Float { min: 0.01, max: 0.99 },
            default: "0.7",
            doc: "what is left of the window after a loss (authors' code)",
        },
        Spec {
            name: "exit",
            kind: Kind::Float { min: 1.0, max: 1000.0 },
            default: "15",
            doc: "slow start ends when the delay is above so many times the smallest [Zaki et al. 2015]",
        },
    ],
    columns: &["d_est", "d_max", "d_min", "w"],
    build: |params, setup| Ok(Box::new(Verus::new(params, setup)?)),
    ..Variant::EMPTY
};

/// Segments of the smallest window.
const LEAST: f64 = 2.0;
/// Weight of a new delay in the profile [Z], and in d_max [C].
const WEIGHT: (f64, f64) = (0.125, 0.8);
/// Time between two curves [Z].
const REDRAW: Dur = Dur::millis(1000);
/// Groups of windows that a curve goes through [C], and the largest window that has a place in the profile.
const GROUPS: usize = 15;
const MOST: usize = 1 << 16;
/// Epochs that one ACK makes up for at most: after a longer silence nothing that the profile tells is left of them.
const SILENCE: u64 = 200;
/// What d_est is after slow start, in r * d_min [C].
const FIRST: f64 = 0.75;

/// Which window has had which delay: groups of windows, with the mean delay of each, both rising.
#[derive(Clone, Debug, Default)]
struct Curve(Vec<(f64, f64)>);

impl Curve {
    /// Through the known points (NaN: unknown) of a profile.
    fn through(profile: &[f64]) -> Curve {
        let known: Vec<(f64, f64)> =
            profile.iter().enumerate().filter(|(_, d)| !d.is_nan()).map(|(w, d)| (w as f64, *d)).collect();
        let size = known.len().div_ceil(GROUPS).max(1);
        // Groups as (windows, delays, points), pooled with the one before while that isn't lower.
        let mut groups: Vec<(f64, f64, f64)> = Vec::new();
        for part in known.chunks(size) {
            let sum = part.iter().fold((0.0, 0.0), |s, p| (s.0 + p.0, s.1 + p.1));
            groups.push((sum.0, sum.1, part.len() as f64));
            while let [.., a, b] = groups[..]
                && a.1 * b.2 >= b.1 * a.2
            {
                groups.truncate(groups.len() - 2);
                groups.push((a.0 + b.0, a.1 + b.1, a.2 + b.2));
            }
        }
        Curve(groups.into_iter().map(|(w, d, n)| (w / n, d / n)).collect())
    }

    /// The largest window with at most this delay, segments; None without any point.
    fn window(&self, delay: f64) -> Option<f64> {
        let (&(first, least), &(last, most)) = (self.0.first()?, self.0.last()?);
        if delay.is_nan() {
            return None;
        }
        if delay >= most {
            return Some(last * delay / most); // a full path's delay is in proportion to the window
        }
        if delay <= least {
            return Some(first * delay / least);
        }
        let next = self.0.partition_point(|(_, d)| *d <= delay);
        let ((w0, d0), (w1, d1)) = (self.0[next - 1], self.0[next]);
        Some(w0 + (w1 - w0) * (delay - d0) / (d1 - d0))
    }

    /// The delay of a window, s.
    fn delay(&self, window: f64) -> Option<f64> {
        let (&(first, least), &(last, most)) = (self.0.first()?, self.0.last()?);
        if window >= last {
            return Some(most * window / last.max(1.0));
        }
        if window <= first {
            return Some(least);
        }
        let next = self.0.partition_point(|(w, _)| *w <= window);
        let ((w0, d0), (w1, d1)) = (self.0[next - 1], self.0[next]);
        Some(d0 + (d1 - d0) * (window - w0) / (w1 - w0))
    }
}

/// What it is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    SlowStart,
    Epochs,
    /// After a loss.
    Loss,
}

/// See the top of this file.
#[derive(Clone, Debug)]
struct Verus {
    window: Window,
    r: f64,
    epoch: Dur,
    delta1: f64,
    delta2: f64,
    decrease: f64,
    exit: f64,
    mode: Mode,
    srtt: Srtt,
    /// End of each segment outstanding and the window when it left, segments; runs of the same window as one.
    sent: VecDeque<(u64, f64)>,
    /// By window in segments; NaN: never.
    profile: Vec<f64>,
    curve: Curve,
    drawn_at: Option<Time>,
    d_min: f64,
    d_max: Option<f64>,
    d_est: f64,
    /// The largest RTT of the running epoch, and when that began.
    largest: Option<f64>,
    began: Time,
    last_ack: Time,
}

impl Verus {
    fn new(params: &Params, setup: &Setup) -> Result<Verus, ParamError> {
        let epoch = params.duration("epoch");
        if epoch == Dur::ZERO {
            return Err(ParamError { name: "epoch".into(), message: "0 given, more is needed".into() });
        }
        Ok(Verus {
            window: Window::without_ssthresh(setup),
            r: params.float("r"),
            epoch,
            delta1: params.duration("delta1").as_secs(),
            delta2: params.duration("delta2").as_secs(),
            decrease: params.float("decrease"),
            exit: params.float("exit"),
            mode: Mode::SlowStart,
            srtt: Srtt::default(),
            sent: VecDeque::new(),
            profile: Vec::new(),
            curve: Curve::default(),
            drawn_at: None,
            d_min: f64::INFINITY,
            d_max: None,
            d_est: f64::NAN,
            largest: None,
            began: Time::ZERO,
            last_ack: Time::ZERO,
        })
    }

    /// The window with which the newest segment left that an ACK covers, segments.
    fn window_then(&mut self, snd_una: u64) -> Option<f64> {
        let mut then = None;
        while let Some((end, window)) = self.sent.front().copied() {
            // A run of one window may be acknowledged in part.
            then = Some(window);
            if end > snd_una {
                break;
            }
            self.sent.pop_front();
        }
        then
    }

    fn learn(&mut self, window: f64, rtt: f64) {
        let w = (window as usize).min(MOST - 1);
        if w >= self.profile.len() {
            self.profile.resize(w + 1, f64::NAN);
        }
        let d = &mut self.profile[w];
        *d = if d.is_nan() { rtt } else { *d + WEIGHT.0 * (rtt - *d) };
    }

    /// Slow start or a loss ends with this window, segments.
    fn resume(&mut self, window: f64, cx: &Cx) {
        self.window.cwnd = (window * cx.mss).max(LEAST * cx.mss);
        (self.largest, self.began, self.drawn_at) = (None, cx.now, None);
    }

    /// Decides at the end of each epoch that has passed [Z].
    fn epochs(&mut self, cx: &Cx) {
        let passed = cx.now.since(self.began).0 / self.epoch.0;
        if passed == 0 {
            return;
        }
        if self.drawn_at.is_none_or(|at| cx.now.since(at) >= REDRAW) {
            self.curve = Curve::through(&self.profile);
            self.drawn_at = Some(cx.now);
        }
        for n in 0..passed.min(SILENCE) {
            let end = self.began + self.epoch * (n + 1);
            self.decide(end);
        }
        self.began += self.epoch * passed;
        if let Some(w) = self.curve.window(self.d_est) {
            self.window.cwnd = (w.min(MOST as f64) * cx.mss).max(LEAST * cx.mss);
        }
    }

    /// A loss [Z].
    fn shrink(&mut self, cx: &Cx) {
        let then = self.sent.front().map_or(self.window.segments(cx), |(_, window)| *window);
        let left = self.decrease * then.min(self.window.segments(cx));
        if self.d_min.is_infinite() {
            return self.resume(left, cx); // nothing is known yet: slow start goes on from there
        }
        if self.mode == Mode::SlowStart {
            self.d_est = FIRST * self.r * self.d_min;
        }
        self.mode = Mode::Loss;
        self.curve = Curve::through(&self.profile);
        self.resume(left, cx);
        if let Some(delay) = self.curve.delay(left) {
            self.d_est = self.d_est.min(delay).max(self.d_min); // [C]
        }
    }

    fn decide(&mut self, end: Time) {
        // Without an ACK the delay is at least the time since the last one [C].
        let silence = end.since(self.last_ack).as_secs();
        let d = self.largest.take().unwrap_or_else(|| self.d_max.unwrap_or(0.0).max(silence));
        let before = self.d_max.unwrap_or(d);
        if before > self.r * self.d_min {
            self.d_est = (self.d_est - self.delta2).max(self.d_min);
        } else if d > before {
            self.d_est = (self.d_est - self.delta1).max(self.d_min);
        } else {
            self.d_est += self.delta2;
        }
        self.d_max = Some(before + WEIGHT.1 * (d - before));
    }
}

impl CongestionControl for Verus {
    fn on_sent(&mut self, ev: &SentEvent, cx: &Cx) {
        if ev.retransmission {
            return;
        }
        let window = self.window.segments(cx).floor();
        match self.sent.back_mut() {
            Some((end, w)) if *w == window => *end = ev.snd_nxt,
            _ => self.sent.push_back((ev.snd_nxt, window)),
        }
    }

    fn on_ack(&mut self, ev: &AckEvent, cx: &Cx) {
        if !ev.in_recovery && !ev.in_loss {
            self.window.end_episode();
        }
        let then = self.window_then(ev.snd_una);
        if let Some(rtt) = ev.rtt.filter(|rtt| *rtt > Dur::ZERO) {
            self.srtt.sample(rtt);
            let rtt = rtt.as_secs();
            self.d_min = self.d_min.min(rtt);
            self.largest = Some(self.largest.map_or(rtt, |d| d.max(rtt)));
            if self.mode != Mode::Loss
                && let Some(window) = then
            {
                self.learn(window, rtt);
            }
            if self.mode == Mode::SlowStart && rtt > self.exit * self.d_min {
                self.d_est = FIRST * self.r * self.d_min;
                self.mode = Mode::Epochs;
                self.resume(self.decrease * then.unwrap_or(LEAST), cx);
            }
        }
        if self.mode == Mode::SlowStart && ev.in_loss && ev.lost > 0 {
            // What a timeout began is not over, and no further loss begins anything; it ends slow start nonetheless.
            self.shrink(cx);
        }
        let acked = ev.delivered as f64;
        match self.mode {
            Mode::SlowStart if ev.cwnd_limited => self.window.cwnd += acked,
            Mode::SlowStart => {}
            Mode::Epochs => self.epochs(cx),
            Mode::Loss => {
                self.window.cwnd += cx.mss * acked / self.window.cwnd;
                if then.is_some_and(|w| w <= self.window.segments(cx)) && !ev.in_recovery {
                    self.mode = Mode::Epochs;
                    self.resume(self.window.segments(cx), cx);
                }
            }
        }
        self.last_ack = cx.now;
    }

    fn on_congestion(&mut self, ev: &CongestionEvent, cx: &Cx) {
        self.window.begin_episode(ev.kind);
        if matches!(ev.kind, Congestion::Timeout | Congestion::Collapse) {
            self.window.set_loss_window(cx);
            self.mode = Mode::SlowStart;
            self.profile.clear();
            (self.d_min, self.d_max, self.d_est) = (f64::INFINITY, None, f64::NAN);
            return;
        }
        self.shrink(cx);
    }

    fn on_recovery_exit(&mut self, _ev: &RecoveryExit, _cx: &Cx) {
        self.window.end_episode();
    }

    fn on_undo(&mut self, _cx: &Cx) {
        if self.window.undo() && self.mode == Mode::Loss {
            self.mode = Mode::Epochs;
        }
    }

    fn on_restart(&mut self, _idle: Dur, cx: &Cx) {
        self.window.restart(cx);
        (self.largest, self.began, self.last_ack) = (None, cx.now, cx.now);
    }

    fn control(&self) -> Control {
        let srtt = self.srtt.secs();
        let factor = if self.mode == Mode::SlowStart { 2.0 } else { 1.0 };
        let bits = factor * self.window.cwnd / srtt * 8.0;
        let pacing = (srtt > 0.0).then(|| Rate(bits.clamp(1.0, 1e15) as u64));
        Control { cwnd: self.window.cwnd, ssthresh: f64::INFINITY, pacing, quantum: None }
    }

    fn phase(&self) -> Phase {
        if self.mode == Mode::SlowStart { Phase::SlowStart } else { Phase::Avoidance }
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let d_min = if self.d_min.is_finite() { self.d_min } else { f64::NAN };
        let w = self.curve.window(self.d_est).unwrap_or(f64::NAN);
        row.extend([self.d_est, self.d_max.unwrap_or(f64::NAN), d_min, w]);
    }
}
