//! LEDBAT++: LEDBAT with a multiplicative decrease that makes flows share fairly, a gain that yields to Reno on short
//! paths too, and periodic slowdowns in which the queue drains and the base delay is measured.
//!
//! Source: draft-irtf-iccrg-ledbat-plus-plus-01; section numbers are that document's.
//!
//! ```text
//! delay        RTT: minimum of the last 4 samples less the minimum of the last 10 minutes              [§4.5]
//! GAIN         1 / min(16, ceil(2 TARGET / base))                                                      [§4.2]
//! slow start   cwnd += GAIN * acked, from 2 segments on; the first ends at a delay of 3/4 TARGET       [§4.1]
//! each ACK     its part acked / cwnd of a round trip's change                                          [§4.3]
//!                + GAIN segments below the target
//!                max(GAIN - constant * cwnd * (delay / TARGET - 1), -cwnd / 2) above it;  at least 2 segments
//! slowdown     ssthresh = cwnd, cwnd = 2 for 2 round trips, then slow start to ssthresh                [§4.4]
//!              the first 2 round trips after the first slow start, each next one after 9 times the last one's duration
//! loss         window halved, timeout: cwnd = 1 segment, both as Reno
//! ```
//! The phase "slow start" includes the slowdowns. Nothing of the draft is left out.

use crate::Variant;
use crate::common::{BaseDelay, LossDriven, Srtt, Window, window_is};
use crate::{AckEvent, Congestion, CongestionEvent, Cx, Setup};
use dumbbell_units::param::{Kind, ParamError, Params, specs};
use dumbbell_units::{Dur, Time};

pub(crate) const ROW: Variant = Variant {
    name: "ledbat++",
    title: "LEDBAT with multiplicative decrease, a gain that yields to Reno, and periodic slowdowns",
    year: 2020,
    source: "draft-irtf-iccrg-ledbat-plus-plus-01",
    on_loss: "window halved; timeout: cwnd = 1 segment",
    on_delay: "grows by the gain below the target, shrinks in proportion to window and excess above it",
    on_ecn: "as to a loss, without a retransmission",
    params: specs! {
        /// TARGET, the queueing delay to keep [draft-irtf-iccrg-ledbat-plus-plus-01 §4.5]
        target = "60 ms", Kind::Duration;
        /// GAIN is at least 1 divided by this [draft-irtf-iccrg-ledbat-plus-plus-01 §4.2]
        least_gain = "16", Kind::Float { min: 1.0, max: 1000.0 };
        /// factor of the decrease [draft-irtf-iccrg-ledbat-plus-plus-01 §4.3]
        constant = "1", Kind::Float { min: 0.01, max: 100.0 };
        /// minutes over which the base delay is the minimum [RFC 6817]
        base_history = "10", Kind::Int { min: 1, max: 1000 };
        /// whether to slow down periodically to measure the base delay [draft-irtf-iccrg-ledbat-plus-plus-01 §4.4]
        slowdown = "true", Kind::Bool;
    },
    columns: &["queueing_delay", "base_delay", "gain"],
    build: |params, setup| Ok(Box::new(LedbatPlusPlus::new(params, setup)?)),
    ..Variant::EMPTY
};

/// The smallest window, the initial window and the window of a slowdown, segments [§4.1, §4.3, §4.4].
const MIN_CWND: f64 = 2.0;
/// The part of TARGET at which the first slow start ends [§4.1].
const SLOW_START_EXIT: f64 = 0.75;
/// Round trips with the smallest window in a slowdown, and before the first slowdown [§4.4].
const SLOWDOWN_RTTS: f64 = 2.0;
/// Time between slowdowns in durations of a slowdown: they use at most a tenth of the time [§4.4].
const SLOWDOWN_INTERVAL: u64 = 9;

/// The state of the slowdowns [§4.4].
#[derive(Clone, Copy, Debug, PartialEq)]
enum SlowdownState {
    /// The first slow start.
    InitialSlowStart,
    /// Between slowdowns, with the time of the next one.
    Normal(Time),
    /// In a slowdown with a frozen cwnd: its start, and the end of the freeze.
    Frozen(Time, Time),
    /// In a slowdown with slow start back to ssthresh: its start.
    RampUp(Time),
}

/// The state of LEDBAT++.
#[derive(Clone, Debug)]
struct LedbatPlusPlus {
    window: Window,
    target: f64,
    least_gain: f64,
    constant: f64,
    slowdown: bool,
    delay: BaseDelay,
    srtt: Srtt,
    state: SlowdownState,
}

impl LedbatPlusPlus {
    fn new(params: &Params, setup: &Setup) -> Result<LedbatPlusPlus, ParamError> {
        let target = params.duration("target");
        if target == Dur::ZERO {
            return Err(ParamError { name: "target".into(), message: "0 given, more is needed".into() });
        }
        let mut window = Window::new(setup);
        window.cwnd = window.cwnd.min(MIN_CWND * setup.mss);
        Ok(LedbatPlusPlus {
            window,
            target: target.as_secs(),
            least_gain: params.float("least_gain"),
            constant: params.float("constant"),
            slowdown: params.bool("slowdown"),
            delay: BaseDelay::new(usize::try_from(params.int("base_history")).unwrap_or(usize::MAX)),
            srtt: Srtt::default(),
            state: SlowdownState::InitialSlowStart,
        })
    }

    /// GAIN, the growth in segments per round trip [§4.2].
    fn gain(&self) -> f64 {
        let base = self.delay.base().unwrap_or(self.target).max(1e-9);
        1.0 / (2.0 * self.target / base).ceil().clamp(1.0, self.least_gain)
    }

    fn queueing_delay(&self) -> f64 {
        self.delay.queueing().unwrap_or(f64::NAN)
    }

    fn round_trips(&self, n: f64) -> Dur {
        Dur::from_secs_f64(n * self.srtt.secs())
    }

    /// Changes the state of the slowdowns if it is time.
    fn update_slowdown(&mut self, cx: &Cx) {
        let slow_start = self.window.in_slow_start();
        self.state = match self.state {
            SlowdownState::InitialSlowStart if slow_start && self.queueing_delay() <= SLOW_START_EXIT * self.target => {
                SlowdownState::InitialSlowStart
            }
            SlowdownState::InitialSlowStart => {
                self.window.ssthresh = self.window.ssthresh.min(self.window.cwnd);
                SlowdownState::Normal(cx.now + self.round_trips(SLOWDOWN_RTTS))
            }
            // Slow start after a timeout ends first.
            SlowdownState::Normal(due) if self.slowdown && cx.now >= due && !slow_start => {
                self.window.ssthresh = self.window.cwnd.max(MIN_CWND * cx.mss);
                self.window.cwnd = MIN_CWND * cx.mss;
                SlowdownState::Frozen(cx.now, cx.now + self.round_trips(SLOWDOWN_RTTS))
            }
            SlowdownState::Frozen(began, until) if cx.now >= until => SlowdownState::RampUp(began),
            SlowdownState::RampUp(began) if !slow_start => {
                SlowdownState::Normal(cx.now + Dur(cx.now.since(began).0.saturating_mul(SLOWDOWN_INTERVAL)))
            }
            state => state,
        };
    }

    /// Updates the window after an ACK [§4.3].
    fn update_cwnd(&mut self, ev: &AckEvent, cx: &Cx) {
        let cwnd = self.window.segments(cx);
        let excess = self.queueing_delay() / self.target - 1.0;
        let step = if excess > 0.0 {
            (self.gain() - self.constant * cwnd * excess).max(-cwnd / 2.0)
        } else if ev.cwnd_limited {
            self.gain()
        } else {
            0.0
        };
        let part = (ev.acked as f64 / self.window.cwnd).min(1.0);
        self.window.cwnd = (self.window.cwnd + step * part * cx.mss).max(MIN_CWND * cx.mss);
        self.window.ssthresh = self.window.ssthresh.min(self.window.cwnd);
    }
}

impl LossDriven for LedbatPlusPlus {
    window_is!(window);

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        let Some(rtt) = ev.rtt else { return };
        self.srtt.sample(rtt);
        self.delay.sample(rtt.as_secs(), cx.now);
        if ev.in_recovery || ev.in_loss || ev.acked == 0 {
            return;
        }
        self.update_slowdown(cx);
        if !self.window.in_slow_start() && !matches!(self.state, SlowdownState::Frozen(..)) {
            self.update_cwnd(ev, cx);
        }
    }

    fn on_ack_slow_start(&mut self, ev: &AckEvent, _cx: &Cx) -> u64 {
        if !matches!(self.state, SlowdownState::Frozen(..)) {
            // An ACK of several segments counts for all of them [§4.1].
            let grown = self.window.cwnd + self.gain() * ev.acked as f64;
            self.window.cwnd = grown.min(self.window.ssthresh);
        }
        0
    }

    fn on_ack_avoidance(&mut self, _ev: &AckEvent, _cx: &Cx) {}

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, _cx: &Cx) -> f64 {
        0.5 * ev.window
    }

    fn on_congestion_done(&mut self, ev: &CongestionEvent, cx: &Cx) {
        // A slowdown no longer returns to its ssthresh, and the first slow start has ended.
        self.state = match self.state {
            SlowdownState::InitialSlowStart => SlowdownState::Normal(cx.now + self.round_trips(SLOWDOWN_RTTS)),
            SlowdownState::Frozen(began, _) | SlowdownState::RampUp(began) if ev.kind != Congestion::Timeout => {
                SlowdownState::RampUp(began)
            }
            state => state,
        };
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.queueing_delay(), self.delay.base().unwrap_or(f64::NAN), self.gain()]);
    }
}
