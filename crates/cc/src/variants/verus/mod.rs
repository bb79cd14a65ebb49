//! Verus: sets the window to that which the delay profile, a learned relation of window and delay, gives for a target
//! delay.
//!
//! Sources: Zaki, Pötsch, Chen, Subramanian and Görg, Adaptive Congestion Control for Unpredictable Cellular Networks,
//! SIGCOMM 2015 ("Z"); the authors' code ("C").
//!
//! ```text
//! each ACK     profile[w] = 7/8 profile[w] + 1/8 RTT, with w the window when the segment was sent; d_min the minimum
//!              RTT [Z]
//! curve        the profile as a function of w, computed every second                                            [Z]
//! each epoch   d = maximum RTT of it;  d_max = 1/5 d_max + 4/5 d                                                [Z, C]
//!   d_max / d_min > r:    d_est -= delta2, at least d_min
//!   d > previous d_max:   d_est -= delta1, at least d_min
//!   otherwise             d_est += delta2;   w = the largest window with curve(w) <= d_est                      [Z]
//! loss         w = decrease * w of the lost segment; profile and epochs stop, w += 1 / w for each segment, until a
//!              segment is acknowledged that was sent with w or less                                             [Z]
//! slow start   doubles each round trip, until a loss or an RTT above exit * d_min                               [Z]
//! timeout      cwnd = 1 segment, slow start, the profile is reset                                               [C]
//! ```
//! Differences from the publication: the window limits sending, paced at cwnd / srtt (twice that in slow start), where
//! Verus sends an equivalent quota each epoch; epochs end with the next ACK, as a variant has no timer; the curve
//! interpolates the means of 15 groups of windows, made monotonic (pooled adjacent violators) and extrapolated in
//! proportion to the window, where theirs is a cubic spline; at least 2 segments are in flight.

mod curve;
mod profile;

use crate::Variant;
use crate::common::{Srtt, Window};
use crate::{
    AckEvent, Congestion, CongestionControl, CongestionEvent, Control, Cx, Phase, RecoveryExit, SentEvent, Setup,
};
use curve::Curve;
use dumbbell_units::param::{Kind, ParamError, Params, specs};
use dumbbell_units::{Dur, Rate, Time};
use profile::{MAX_WINDOWS, Profile};
use std::collections::VecDeque;

pub(crate) const ROW: Variant = Variant {
    name: "verus",
    title: "sets the window by a learned delay profile, for cellular links",
    year: 2015,
    source: "Zaki, Pötsch, Chen, Subramanian and Görg, Verus, SIGCOMM 2015",
    own_recovery: true,
    on_loss: "window = decrease * the window with which the lost segment was sent; timeout: cwnd = 1 segment, profile reset",
    on_delay: "each epoch the target delay falls if the maximum delay has grown or is above r times the minimum, \
               otherwise it rises",
    on_ecn: "as to a loss",
    params: specs! {
        /// ratio of maximum and minimum delay above which the target delay falls [Zaki et al. 2015]
        r = "2", Kind::Float { min: 1.0, max: 100.0 };
        /// length of an epoch [Zaki et al. 2015]
        epoch = "5 ms", Kind::Duration;
        /// decrease of the target delay when delays grow [Zaki et al. 2015]
        delta1 = "1 ms", Kind::Duration;
        /// increase of the target delay when they don't grow, and its decrease above r [Zaki et al. 2015]
        delta2 = "2 ms", Kind::Duration;
        /// factor of the window after a loss (authors' code)
        decrease = "0.7", Kind::Float { min: 0.01, max: 0.99 };
        /// slow start ends when the delay is above this many times the minimum [Zaki et al. 2015]
        exit = "15", Kind::Float { min: 1.0, max: 1000.0 };
    },
    columns: &["d_est", "d_max", "d_min", "w"],
    build: |params, setup| Ok(Box::new(Verus::new(params, setup)?)),
    ..Variant::EMPTY
};

/// The smallest window, segments.
const MIN_CWND: f64 = 2.0;
/// The weight of a new delay in d_max [C].
const D_MAX_WEIGHT: f64 = 0.8;
/// Time between computations of the curve [Z].
const CURVE_INTERVAL: Dur = Dur::millis(1000);
/// The most epochs that one ACK ends: after more epochs without an ACK, d_est no longer changes.
const MAX_EPOCHS: u64 = 200;
/// d_est after slow start, in r * d_min [C].
const INITIAL_D_EST: f64 = 0.75;

/// The mode of Verus.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    SlowStart,
    /// Congestion avoidance: the window follows d_est.
    Normal,
    /// Loss recovery.
    Recovery,
}

/// The state of Verus.
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
    /// The window with which each segment in flight was sent, as (end offset, segments); one entry for consecutive
    /// segments with the same window.
    sent: VecDeque<(u64, f64)>,
    profile: Profile,
    curve: Curve,
    curve_at: Option<Time>,
    d_min: f64,
    d_max: Option<f64>,
    d_est: f64,
    /// The maximum RTT of the current epoch.
    epoch_max: Option<f64>,
    epoch_start: Time,
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
            profile: Profile::default(),
            curve: Curve::default(),
            curve_at: None,
            d_min: f64::INFINITY,
            d_max: None,
            d_est: f64::NAN,
            epoch_max: None,
            epoch_start: Time::ZERO,
            last_ack: Time::ZERO,
        })
    }

    /// Returns the window with which the newest acknowledged segment was sent, segments.
    fn sent_window(&mut self, snd_una: u64) -> Option<f64> {
        let mut sent_with = None;
        while let Some((end, window)) = self.sent.front().copied() {
            // The segments of an entry may be acknowledged in part.
            sent_with = Some(window);
            if end > snd_una {
                break;
            }
            self.sent.pop_front();
        }
        sent_with
    }

    /// Starts the epochs with this window, segments, after slow start or recovery.
    fn start_epochs(&mut self, window: f64, cx: &Cx) {
        self.window.cwnd = (window * cx.mss).max(MIN_CWND * cx.mss);
        (self.epoch_max, self.epoch_start, self.curve_at) = (None, cx.now, None);
    }

    /// Ends the epochs that have passed, and sets the window [Z].
    fn end_epochs(&mut self, cx: &Cx) {
        let passed = cx.now.since(self.epoch_start).0 / self.epoch.0;
        if passed == 0 {
            return;
        }
        if self.curve_at.is_none_or(|at| cx.now.since(at) >= CURVE_INTERVAL) {
            self.curve = Curve::through(self.profile.points());
            self.curve_at = Some(cx.now);
        }
        for n in 0..passed.min(MAX_EPOCHS) {
            let end = self.epoch_start + self.epoch * (n + 1);
            self.update_d_est(end);
        }
        self.epoch_start += self.epoch * passed;
        if let Some(w) = self.curve.window(self.d_est) {
            self.window.cwnd = (w.min(MAX_WINDOWS as f64) * cx.mss).max(MIN_CWND * cx.mss);
        }
    }

    /// Reduces the window after a loss [Z].
    fn reduce(&mut self, cx: &Cx) {
        let lost_window = self.sent.front().map_or(self.window.segments(cx), |(_, window)| *window);
        let window = self.decrease * lost_window.min(self.window.segments(cx));
        if self.d_min.is_infinite() {
            return self.start_epochs(window, cx); // without an RTT sample slow start continues
        }
        if self.mode == Mode::SlowStart {
            self.d_est = INITIAL_D_EST * self.r * self.d_min;
        }
        self.mode = Mode::Recovery;
        self.curve = Curve::through(self.profile.points());
        self.start_epochs(window, cx);
        if let Some(delay) = self.curve.delay(window) {
            self.d_est = self.d_est.min(delay).max(self.d_min); // [C]
        }
    }

    /// Updates d_est at the end of an epoch [Z].
    fn update_d_est(&mut self, end: Time) {
        // In an epoch without an ACK the delay is at least the time since the last ACK [C].
        let since_ack = end.since(self.last_ack).as_secs();
        let d = self.epoch_max.take().unwrap_or_else(|| self.d_max.unwrap_or(0.0).max(since_ack));
        let d_max = self.d_max.unwrap_or(d);
        if d_max > self.r * self.d_min {
            self.d_est = (self.d_est - self.delta2).max(self.d_min);
        } else if d > d_max {
            self.d_est = (self.d_est - self.delta1).max(self.d_min);
        } else {
            self.d_est += self.delta2;
        }
        self.d_max = Some(d_max + D_MAX_WEIGHT * (d - d_max));
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
        let sent_with = self.sent_window(ev.snd_una);
        if let Some(rtt) = ev.rtt.filter(|rtt| *rtt > Dur::ZERO) {
            self.srtt.sample(rtt);
            let rtt = rtt.as_secs();
            self.d_min = self.d_min.min(rtt);
            self.epoch_max = Some(self.epoch_max.map_or(rtt, |d| d.max(rtt)));
            if self.mode != Mode::Recovery
                && let Some(window) = sent_with
            {
                self.profile.add(window, rtt);
            }
            if self.mode == Mode::SlowStart && rtt > self.exit * self.d_min {
                self.d_est = INITIAL_D_EST * self.r * self.d_min;
                self.mode = Mode::Normal;
                self.start_epochs(self.decrease * sent_with.unwrap_or(MIN_CWND), cx);
            }
        }
        if self.mode == Mode::SlowStart && ev.in_loss && ev.lost > 0 {
            // While recovering from a timeout, a loss begins no other episode, but it ends slow start.
            self.reduce(cx);
        }
        let acked = ev.delivered as f64;
        match self.mode {
            Mode::SlowStart if ev.cwnd_limited => self.window.cwnd += acked,
            Mode::SlowStart => {}
            Mode::Normal => self.end_epochs(cx),
            Mode::Recovery => {
                self.window.cwnd += cx.mss * acked / self.window.cwnd;
                if sent_with.is_some_and(|w| w <= self.window.segments(cx)) && !ev.in_recovery {
                    self.mode = Mode::Normal;
                    self.start_epochs(self.window.segments(cx), cx);
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
        self.reduce(cx);
    }

    fn on_recovery_exit(&mut self, _ev: &RecoveryExit, _cx: &Cx) {
        self.window.end_episode();
    }

    fn on_undo(&mut self, _cx: &Cx) {
        if self.window.undo() && self.mode == Mode::Recovery {
            self.mode = Mode::Normal;
        }
    }

    fn on_restart(&mut self, _idle: Dur, cx: &Cx) {
        self.window.restart(cx);
        (self.epoch_max, self.epoch_start, self.last_ack) = (None, cx.now, cx.now);
    }

    fn wants_one_way(&self) -> bool {
        false
    }

    fn wants_rates(&self) -> bool {
        false
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
