//! BIC: a binary search for the window at which the last loss came [Xu, Harfoush and Rhee, Binary Increase Congestion
//! Control for Fast Long-Distance Networks, INFOCOM 2004, "XHR"].
//!
//! ```text
//! avoidance    cwnd += inc for each window of ACKs, inc (at most one segment for each acknowledged) by the place:
//!   up to low_window         1, as Reno                                                                  [XHR]
//!   below w_max              (w_max - cwnd) / b, s_min to s_max                                          [XHR]
//!   above w_max              what was gained above w_max, and s_min: doubles each round trip, to s_max   [XHR]
//!   before the first loss    s_max                                                                       [XHR]
//! loss         w_max = cwnd, or (1 + beta) / 2 of it if that is below the last w_max (fast convergence)  [XHR]
//!              ssthresh = beta * window, 1/2 of it up to low_window; cwnd = ssthresh                     [XHR]
//! timeout      w_max and ssthresh likewise, cwnd = 1
//! ```
//! b = 2, s_max = 32, s_min = 0.01, beta = 0.875. Windows in segments. Slow start is the stack's.
//!
//! Linux's rules (`rules`; b = 4, s_max = 16, s_min = b / 20, beta = 819/1024): (w_max - cwnd) / b in whole segments, s_min if
//! that is 1 or less; above w_max s_min up to w_max + b, then (cwnd - w_max) / (b - 1); before the first loss cwnd / 20 at
//! least; a timeout makes it forget w_max. The ACKed segments for one more are a whole number, which is divided by the mean number of segments of an ACK
//! although it counts segments: with delayed ACKs it grows twice as fast.
//! Left out: nothing.

use crate::Variant;
use crate::common::{LossDriven, Window, floor_to_jiffy};
use crate::{AckArrival, AckEvent, CaState, Congestion, CongestionEvent, Cx, Setup};
use dumbbell_units::param::{Kind, Params, Spec};
use dumbbell_units::{Dur, Time};

pub(crate) const ROW: Variant = Variant {
    name: "bic",
    title: "binary search for the window of the last loss",
    year: 2004,
    source: "Xu, Harfoush and Rhee, Binary Increase Congestion Control, INFOCOM 2004",
    on_loss: "cwnd = ssthresh = beta * window, half of it in small windows; timeout: cwnd = 1 segment",
    on_delay: "none",
    on_ecn: "as to a loss, without a retransmission",
    params: &[
        Spec {
            name: "beta",
            kind: Kind::Float { min: 0.01, max: 0.99 },
            default: "0.875",
            doc: "what is left of the window after a loss [Xu, Harfoush and Rhee 2004]",
        },
        Spec {
            name: "b",
            kind: Kind::Float { min: 1.1, max: 100.0 },
            default: "2",
            doc: "a step takes 1/b of the distance to w_max [Xu, Harfoush and Rhee 2004]",
        },
        Spec {
            name: "s_max",
            kind: Kind::Float { min: 1.0, max: 10000.0 },
            default: "32",
            doc: "most segments gained in a round trip [Xu, Harfoush and Rhee 2004] (Linux: max_increment)",
        },
        Spec {
            name: "s_min",
            kind: Kind::Float { min: 0.0001, max: 1.0 },
            default: "0.01",
            doc: "fewest segments gained in a round trip [Xu, Harfoush and Rhee 2004] (Linux: b / smooth_part)",
        },
        Spec {
            name: "low_window",
            kind: Kind::Float { min: 0.0, max: 1e6 },
            default: "14",
            doc: "segments up to which it is Reno [Xu, Harfoush and Rhee 2004]",
        },
        Spec {
            name: "fast_convergence",
            kind: Kind::Bool,
            default: "true",
            doc: "a flow that loses below its last w_max aims lower still, to make room",
        },
        Spec {
            name: "rules",
            kind: Kind::Choice(&["published", "linux"]),
            default: "published",
            doc: "how a step follows from the distance to w_max: see the model",
        },
    ],
    stack_defaults: &[
        ("linux", "beta", "0.7998"),
        ("linux", "b", "4"),
        ("linux", "s_max", "16"),
        ("linux", "s_min", "0.2"),
        ("linux", "rules", "linux"),
    ],
    columns: &["w_max", "inc"],
    build: |params, setup| Ok(Box::new(Bic::new(params, setup))),
    ..Variant::EMPTY
};

/// Before the first loss Linux's window grows by at least this part of itself in a round trip.
const UNEXPLORED: f64 = 1.0 / 20.0;
/// Weight of an ACK in the mean number of segments that one covers, and the number at the start; Linux's.
const RATIO: (f64, f64) = (1.0 / 16.0, 2.0);

/// For so long the number of ACKs for a segment stays, unless the window changes: a 32nd of a second in whole ticks; Linux's.
const HOLD: Dur = Dur::millis(28);

/// See the top of this file.
#[derive(Clone, Debug)]
struct Bic {
    window: Window,
    beta: f64,
    b: f64,
    s_max: f64,
    s_min: f64,
    low_window: f64,
    fast_convergence: bool,
    linux: bool,
    /// Where the search is going, segments; None before the first loss and after a timeout.
    w_max: Option<f64>,
    /// As it was before the last episode of congestion.
    before: Option<f64>,
    /// Segments that an ACK covers in the mean.
    ratio: f64,
    /// Segments for a window of ACKs as of the last of them, for the trace.
    inc: f64,
    /// Linux: the window for which the number of ACKs was worked out last, when, and that number.
    counted: Option<(f64, Time, f64)>,
}

impl Bic {
    fn new(params: &Params, setup: &Setup) -> Bic {
        Bic {
            window: Window::new(setup),
            beta: params.float("beta"),
            b: params.float("b"),
            s_max: params.float("s_max"),
            s_min: params.float("s_min"),
            low_window: params.float("low_window"),
            fast_convergence: params.bool("fast_convergence"),
            linux: params.choice("rules") == "linux",
            w_max: None,
            before: None,
            ratio: RATIO.1,
            inc: f64::NAN,
            counted: None,
        }
    }

    /// Segments to gain in a window of ACKs.
    fn increase(&self, cwnd: f64) -> f64 {
        if cwnd <= self.low_window {
            return 1.0;
        }
        let step = match self.w_max {
            None => self.s_max,
            Some(w_max) if cwnd < w_max => (w_max - cwnd) / self.b,
            Some(w_max) => cwnd - w_max + self.s_min,
        };
        step.max(self.s_min).min(self.s_max).min(cwnd)
    }

    /// ACKed segments for one more by Linux's rules.
    fn linux_count(&self, cwnd: f64) -> f64 {
        if cwnd <= self.low_window {
            return cwnd;
        }
        let w_max = self.w_max.unwrap_or(0.0);
        let step = if cwnd < w_max {
            let whole = ((w_max - cwnd) / self.b).floor();
            if whole <= 1.0 { self.s_min } else { whole.min(self.s_max) }
        } else if cwnd < w_max + self.b {
            self.s_min
        } else {
            ((cwnd - w_max) / (self.b - 1.0)).min(self.s_max)
        };
        let least = if self.w_max.is_none() { UNEXPLORED * cwnd } else { 0.0 };
        let count = (cwnd / step.max(least) + 1e-9).floor();
        (count / self.ratio).floor().max(1.0)
    }
}

impl LossDriven for Bic {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn wants_arrivals(&self) -> bool {
        self.linux
    }

    fn on_arrival(&mut self, ev: &AckArrival, cx: &Cx) {
        if ev.state == CaState::Open {
            let taken = if cx.counts_segments() { self.ratio.floor() } else { self.ratio };
            self.ratio += RATIO.0 * (ev.acked as f64 / cx.mss - taken);
        }
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        let cwnd = self.window.segments(cx);
        if self.linux {
            let now = floor_to_jiffy(cx.now);
            let held = |&(window, at, _): &(f64, Time, f64)| window == cwnd && now.since(at) <= HOLD;
            let each = match self.counted.filter(held) {
                Some((.., each)) => each,
                None => self.linux_count(cwnd.floor()),
            };
            if self.counted.is_none_or(|c| !held(&c)) {
                self.counted = Some((cwnd, now, each));
            }
            self.inc = cwnd / each;
            self.window.cong_avoid_ai(each, ev.acked, cx);
        } else {
            self.inc = self.increase(cwnd);
            self.window.additive_increase(self.inc, ev.acked, cx);
        }
    }

    fn on_congestion_begin(&mut self) {
        self.before = self.w_max;
    }

    fn on_undo(&mut self, _reduced_cwnd: f64, _cx: &Cx) {
        if !self.linux {
            self.w_max = self.before;
        }
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        let cwnd = self.window.segments(cx);
        let converge = self.fast_convergence && self.w_max.is_some_and(|w_max| cwnd < w_max);
        let w_max = if converge { cwnd * (1.0 + self.beta) / 2.0 } else { cwnd };
        self.w_max = Some(if self.linux { w_max.floor() } else { w_max });
        let left = if cwnd <= self.low_window { 0.5 } else { self.beta };
        left * ev.window
    }

    fn on_congestion_done(&mut self, ev: &CongestionEvent, _cx: &Cx) {
        if ev.kind == Congestion::Timeout && self.linux {
            (self.w_max, self.counted) = (None, None);
        }
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.w_max.unwrap_or(f64::NAN), self.inc]);
    }
}
