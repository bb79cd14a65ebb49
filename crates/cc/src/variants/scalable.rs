//! Scalable TCP: the window grows by a fixed part of itself, so that recovering from a loss takes as many round trips at
//! any speed [Kelly, Scalable TCP: Improving Performance in Highspeed Wide Area Networks, ACM CCR 33(2), 2003, "K"].
//!
//! ```text
//! avoidance    cwnd += a for each segment acknowledged, a = 0.01                      [K]
//! loss         ssthresh = (1 - b) * window, b = 1/8;  cwnd = ssthresh                 [K]
//! timeout      ssthresh likewise, cwnd = 1
//! up to low_window (16 segments) all of it as Reno                                    [K]
//! ```
//! Between low_window and 1/a segments it grows more slowly than Reno would, and makes up for it by the smaller cut.
//! Linux has no low_window and never grows more slowly than Reno (`reno_growth`). Slow start is the stack's.
//! Left out: nothing.

use crate::Variant;
use crate::common::{LossDriven, Window};
use crate::{AckEvent, CongestionEvent, Cx, Setup};
use dumbbell_units::param::{Kind, Params, Spec};

pub(crate) const ROW: Variant = Variant {
    name: "scalable",
    title: "multiplicative increase, multiplicative decrease",
    year: 2003,
    source: "Kelly, Scalable TCP, ACM CCR 33(2), 2003",
    on_loss: "window down by 1/8, by 1/2 in small windows; timeout: cwnd = 1 segment",
    on_delay: "none",
    on_ecn: "as to a loss, without a retransmission",
    params: &[
        Spec {
            name: "a",
            kind: Kind::Float { min: 0.0001, max: 1.0 },
            default: "0.01",
            doc: "segments gained for each segment acknowledged [Kelly 2003]",
        },
        Spec {
            name: "b",
            kind: Kind::Float { min: 0.01, max: 0.99 },
            default: "0.125",
            doc: "part of the window that a loss takes [Kelly 2003]",
        },
        Spec {
            name: "low_window",
            kind: Kind::Float { min: 0.0, max: 1e6 },
            default: "16",
            doc: "segments up to which it is Reno (lwnd) [Kelly 2003]",
        },
        Spec {
            name: "reno_growth",
            kind: Kind::Bool,
            default: "false",
            doc: "whether it always grows by one segment a round trip at least",
        },
    ],
    stack_defaults: &[("linux", "low_window", "0"), ("linux", "reno_growth", "true")],
    build: |params, setup| Ok(Box::new(Scalable::new(params, setup))),
    ..Variant::EMPTY
};

/// See the top of this file.
#[derive(Clone, Debug)]
struct Scalable {
    window: Window,
    a: f64,
    b: f64,
    low_window: f64,
    reno_growth: bool,
}

impl Scalable {
    fn new(params: &Params, setup: &Setup) -> Scalable {
        Scalable {
            window: Window::new(setup),
            a: params.float("a"),
            b: params.float("b"),
            low_window: params.float("low_window"),
            reno_growth: params.bool("reno_growth"),
        }
    }
}

impl LossDriven for Scalable {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        let cwnd = self.window.segments(cx);
        let segments = if cwnd <= self.low_window {
            1.0 // [K]
        } else {
            (self.a * cwnd).max(if self.reno_growth { 1.0 } else { 0.0 }) // [K]
        };
        self.window.additive_increase(segments, ev.acked, cx);
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        let b = if self.window.segments(cx) <= self.low_window { 0.5 } else { self.b };
        Window::decreased(ev.window, b, cx)
    }
}
