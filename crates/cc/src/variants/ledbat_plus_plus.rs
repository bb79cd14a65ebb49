//! LEDBAT++: LEDBAT with a decrease that makes flows fair to each other, an increase that yields to Reno on short paths too,
//! and pauses in which the queue empties and shows the base delay [draft-irtf-iccrg-ledbat-plus-plus-01].
//!
//! ```text
//! delay        RTT: smallest of the last 4 samples less the smallest of the last 10 minutes            [§4.5]
//! gain         1 / min(16, ceil(2 target / base))                                                      [§4.2]
//! slow start   cwnd += gain * acked, from 2 segments on; the first ends with a delay of 3/4 target     [§4.1]
//! each ACK     its part acked / cwnd of a round trip's                                                 [§4.3]
//!                gain segments below the target
//!                max(gain - constant * cwnd * (delay / target - 1), -cwnd / 2) above;  at least 2 segments
//! slowdown     ssthresh = cwnd, cwnd = 2 for 2 round trips, then slow start to ssthresh                [§4.4]
//!              first 2 round trips after the first slow start, then 9 times as long after a slowdown as that took
//! loss         window halved, timeout: cwnd = 1 segment, both as Reno
//! ```
//! The phase "slow start" covers the slowdowns.
//! Left out: nothing of the draft.

use crate::Variant;
use crate::common::{BaseDelay, LossDriven, Srtt, Window};
use crate::{AckEvent, Congestion, CongestionEvent, Cx, Setup};
use dumbbell_units::param::{Kind, ParamError, Params, Spec};
use dumbbell_units::{Dur, Time};

pub(crate) const ROW: Variant = Variant {
    name: "ledbat++",
    title: "LEDBAT with multiplicative decrease, a gain that yields to Reno, and slowdowns",
    year: 2020,
    source: "draft-irtf-iccrg-ledbat-plus-plus-01",
    on_loss: "window halved; timeout: cwnd = 1 segment",
    on_delay: "grows by the gain below the target, shrinks in proportion to window and excess above it",
    on_ecn: "as to a loss, without a retransmission",
    params: &[
        Spec {
            name: "target",
            kind: Kind::Duration,
            default: "60 ms",
            doc: "queueing delay that it keeps [draft-irtf-iccrg-ledbat-plus-plus-01 §4.5]",
        },
        Spec {
            name: "least_gain",
            kind: Kind::Float { min: 1.0, max: 1000.0 },
            default: "16",
            doc: "the gain is never below 1 divided by this [draft-irtf-iccrg-ledbat-plus-plus-01 §4.2]",
        },
        Spec {
            name: "constant",
            kind: Kind::Float { min: 0.01, max: 100.0 },
            default: "1",
            doc: "factor of the decrease [draft-irtf-iccrg-ledbat-plus-plus-01 §4.3]",
        },
        Spec {
            name: "base_history",
            kind: Kind::Int { min: 1, max: 1000 },
            default: "10",
            doc: "minutes that the smallest delay is remembered [RFC 6817]",
        },
        Spec {
            name: "slowdown",
            kind: Kind::Bool,
            default: "true",
            doc: "whether it slows down to see the base delay [draft-irtf-iccrg-ledbat-plus-plus-01 §4.4]",
        },
    ],
    columns: &["queueing_delay", "base_delay", "gain"],
    build: |params, setup| Ok(Box::new(LedbatPlusPlus::new(params, setup)?)),
    ..Variant::EMPTY
};

/// Segments of the smallest window, of the first one and of a slowdown [§4.1, §4.3, §4.4].
const LEAST: f64 = 2.0;
/// The part of the target at which the first slow start ends [§4.1].
const EXIT: f64 = 0.75;
/// Round trips of a slowdown's pause, and before the first slowdown [§4.4].
const PAUSE: f64 = 2.0;
/// Time between slowdowns, in durations of one: at most a tenth of the capacity is given up [§4.4].
const REST: u64 = 9;

/// Where it stands between slowdowns [§4.4].
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// The first slow start.
    Setup,
    /// The next slowdown is due then.
    Run(Time),
    /// A slowdown, with cwnd frozen: when it began, until when.
    Frozen(Time, Time),
    /// A slowdown, back to ssthresh: when it began.
    Ramp(Time),
}

/// See the top of this file.
#[derive(Clone, Debug)]
struct LedbatPlusPlus {
    window: Window,
    target: f64,
    least_gain: f64,
    constant: f64,
    slowdown: bool,
    delay: BaseDelay,
    srtt: Srtt,
    stage: Stage,
}

impl LedbatPlusPlus {
    fn new(params: &Params, setup: &Setup) -> Result<LedbatPlusPlus, ParamError> {
        let target = params.duration("target");
        if target == Dur::ZERO {
            return Err(ParamError { name: "target".into(), message: "0 given, more is needed".into() });
        }
        let mut window = Window::new(setup);
        window.cwnd = window.cwnd.min(LEAST * setup.mss);
        Ok(LedbatPlusPlus {
            window,
            target: target.as_secs(),
            least_gain: params.float("least_gain"),
            constant: params.float("constant"),
            slowdown: params.bool("slowdown"),
            delay: BaseDelay::new(usize::try_from(params.int("base_history")).unwrap_or(usize::MAX)),
            srtt: Srtt::default(),
            stage: Stage::Setup,
        })
    }

    /// Segments gained in a round trip [§4.2].
    fn gain(&self) -> f64 {
        let base = self.delay.base().unwrap_or(self.target).max(1e-9);
        1.0 / (2.0 * self.target / base).ceil().clamp(1.0, self.least_gain)
    }

    fn queueing(&self) -> f64 {
        self.delay.queueing().unwrap_or(f64::NAN)
    }

    fn round_trips(&self, n: f64) -> Dur {
        Dur::from_secs_f64(n * self.srtt.secs())
    }

    /// Goes on to what is due.
    fn advance(&mut self, cx: &Cx) {
        let slow_start = self.window.in_slow_start();
        self.stage = match self.stage {
            Stage::Setup if slow_start && self.queueing() <= EXIT * self.target => Stage::Setup,
            Stage::Setup => {
                self.window.ssthresh = self.window.ssthresh.min(self.window.cwnd);
                Stage::Run(cx.now + self.round_trips(PAUSE))
            }
            // Slow start after a timeout first comes to its end.
            Stage::Run(due) if self.slowdown && cx.now >= due && !slow_start => {
                self.window.ssthresh = self.window.cwnd.max(LEAST * cx.mss);
                self.window.cwnd = LEAST * cx.mss;
                Stage::Frozen(cx.now, cx.now + self.round_trips(PAUSE))
            }
            Stage::Frozen(began, until) if cx.now >= until => Stage::Ramp(began),
            Stage::Ramp(began) if !slow_start => {
                Stage::Run(cx.now + Dur(cx.now.since(began).0.saturating_mul(REST)))
            }
            stage => stage,
        };
    }

    /// The window after an ACK of avoidance [§4.3].
    fn adapt(&mut self, ev: &AckEvent, cx: &Cx) {
        let cwnd = self.window.segments(cx);
        let excess = self.queueing() / self.target - 1.0;
        let step = if excess > 0.0 {
            (self.gain() - self.constant * cwnd * excess).max(-cwnd / 2.0)
        } else if ev.cwnd_limited {
            self.gain()
        } else {
            0.0
        };
        let part = (ev.acked as f64 / self.window.cwnd).min(1.0);
        self.window.cwnd = (self.window.cwnd + step * part * cx.mss).max(LEAST * cx.mss);
        self.window.ssthresh = self.window.ssthresh.min(self.window.cwnd);
    }
}

impl LossDriven for LedbatPlusPlus {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        let Some(rtt) = ev.rtt else { return };
        self.srtt.sample(rtt);
        self.delay.sample(rtt.as_secs(), cx.now);
        if ev.in_recovery || ev.in_loss || ev.acked == 0 {
            return;
        }
        self.advance(cx);
        if !self.window.in_slow_start() && !matches!(self.stage, Stage::Frozen(..)) {
            self.adapt(ev, cx);
        }
    }

    fn on_ack_slow_start(&mut self, ev: &AckEvent, _cx: &Cx) -> u64 {
        if !matches!(self.stage, Stage::Frozen(..)) {
            // An ACK of more than a segment counts for what it acknowledges [§4.1].
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
        // What a slowdown was to come back to isn't there any more; the first slow start is over.
        self.stage = match self.stage {
            Stage::Setup => Stage::Run(cx.now + self.round_trips(PAUSE)),
            Stage::Frozen(began, _) | Stage::Ramp(began) if ev.kind != Congestion::Timeout => {
                Stage::Ramp(began)
            }
            stage => stage,
        };
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.queueing(), self.delay.base().unwrap_or(f64::NAN), self.gain()]);
    }
}
