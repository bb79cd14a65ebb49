//! BIC: a binary search for the window at which the last loss came [Xu, Harfoush and Rhee, Binary Increase Congestion
//! Control for Fast Long-Distance Networks, INFOCOM 2004, "XHR"], with the parameters of Linux.
//!
//! ```text
//! avoidance    cwnd += inc for each window of ACKs, inc (at most one segment for each acknowledged) by the place:
//!   up to low_window         1, as Reno                                                                [XHR]
//!   below w_max              d = (w_max - cwnd) / B in whole segments: at most s_max, B / smooth if d <= 1 [XHR]
//!   above w_max              B / smooth up to w_max + B, then (cwnd - w_max) / (B - 1) up to s_max     [XHR]
//!   before the first loss    at least cwnd / 20                                                              [Linux]
//! loss         w_max = cwnd, or (1 + beta) / 2 of it if that is below the last w_max (fast convergence) [XHR]
//!              ssthresh = beta * window, 1/2 of it up to low_window; cwnd = ssthresh                   [XHR]
//! timeout      ssthresh likewise, cwnd = 1; w_max is forgotten                                               [Linux]
//! ```
//! B = 4. Windows in segments. The publication halves the distance (B = 2), has s_max 32, steps of 0.01 near w_max and
//! beta 0.875. Slow start is Reno's.
//! Left out: Linux's rounding of the ACKs for one segment to a whole number.

use crate::common::{LossDriven, Window};
use crate::registry::{EcnUse, Variant};
use crate::{AckEvent, Congestion, CongestionEvent, Cx, Start};
use dumbbell_units::param::{Kind, Params, Spec};

pub(crate) const ROW: Variant = Variant {
    name: "bic",
    title: "binary search for the window of the last loss",
    year: 2004,
    source: "Xu, Harfoush and Rhee, Binary Increase Congestion Control, INFOCOM 2004",
    shell: None,
    fine_timeouts: false,
    own_recovery: false,
    ecn: EcnUse::Stack,
    on_loss: "cwnd = ssthresh = beta * window, half of it in small windows; timeout: cwnd = 1 segment, w_max forgotten",
    on_delay: "none",
    on_ecn: "as to a loss, without a retransmission",
    params: &[
        Spec {
            name: "beta",
            kind: Kind::Float { min: 0.01, max: 0.99 },
            default: "0.8",
            doc: "what is left of the window after a loss; Linux: 819/1024; as published: 0.875",
        },
        Spec {
            name: "s_max",
            kind: Kind::Float { min: 1.0, max: 10000.0 },
            default: "16",
            doc: "most segments gained in a round trip (Linux: max_increment); as published: 32",
        },
        Spec {
            name: "smooth",
            kind: Kind::Float { min: 1.0, max: 1000.0 },
            default: "20",
            doc: "round trips for the last B segments up to w_max, and the first B above (Linux: smooth_part)",
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
    ],
    stacks: &[],
    columns: &["w_max", "inc"],
    build: |params, start| Ok(Box::new(Bic::new(params, start))),
};

/// The part of the distance that a step takes is 1/B; Linux's number.
const B: f64 = 4.0;
/// Before the first loss a window grows by at least this part of itself in a round trip; Linux's number.
const UNEXPLORED: f64 = 1.0 / 20.0;

/// See the top of this file.
#[derive(Clone, Debug)]
struct Bic {
    window: Window,
    beta: f64,
    s_max: f64,
    smooth: f64,
    low_window: f64,
    fast_convergence: bool,
    /// Where the search is going, segments; None before the first loss and after a timeout.
    w_max: Option<f64>,
    /// As it was before the last episode of congestion.
    before: Option<f64>,
    /// Segments for a window of ACKs as of the last of them, for the trace.
    inc: f64,
}

impl Bic {
    fn new(params: &Params, start: &Start) -> Bic {
        Bic {
            window: Window::new(start),
            beta: params.float("beta"),
            s_max: params.float("s_max"),
            smooth: params.float("smooth"),
            low_window: params.float("low_window"),
            fast_convergence: params.bool("fast_convergence"),
            w_max: None,
            before: None,
            inc: f64::NAN,
        }
    }

    /// Segments to gain in a window of ACKs.
    fn increase(&self, cwnd: f64) -> f64 {
        if cwnd <= self.low_window {
            return 1.0;
        }
        let w_max = self.w_max.unwrap_or(0.0);
        let near = B / self.smooth;
        let inc = if cwnd < w_max {
            // In whole segments, as Linux: the search slows down 2 B below w_max.
            let step = ((w_max - cwnd) / B).floor();
            if step <= 1.0 { near } else { step.min(self.s_max) }
        } else if cwnd < w_max + B {
            near
        } else {
            ((cwnd - w_max) / (B - 1.0)).min(self.s_max)
        };
        let least = if self.w_max.is_none() { UNEXPLORED * cwnd } else { 0.0 };
        inc.max(least).min(cwnd)
    }
}

impl LossDriven for Bic {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn avoid(&mut self, ev: &AckEvent, cx: &Cx) {
        self.inc = self.increase(self.window.segments(cx));
        self.window.additive(self.inc, ev.acked, cx);
    }

    fn episode_begins(&mut self) {
        self.before = self.w_max;
    }

    fn undone(&mut self, _cx: &Cx) {
        self.w_max = self.before;
    }

    fn reduce(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        let cwnd = self.window.segments(cx);
        let converge = self.fast_convergence && self.w_max.is_some_and(|w_max| cwnd < w_max);
        self.w_max = Some(if converge { cwnd * (1.0 + self.beta) / 2.0 } else { cwnd });
        let left = if cwnd <= self.low_window { 0.5 } else { self.beta };
        left * ev.window
    }

    fn reduced(&mut self, ev: &CongestionEvent, _cx: &Cx) {
        if ev.kind == Congestion::Timeout {
            self.w_max = None;
        }
    }

    fn columns(&self, row: &mut Vec<f64>) {
        row.extend([self.w_max.unwrap_or(f64::NAN), self.inc]);
    }
}
