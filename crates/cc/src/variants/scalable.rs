//! Scalable TCP: the window grows by a fixed fraction of itself per round trip, so that the recovery from a loss takes
//! the same number of round trips at any speed [Kelly, Scalable TCP: Improving Performance in Highspeed Wide Area
//! Networks, ACM CCR 33(2), 2003, "K"].
//!
//! ```text
//! avoidance    cwnd += a per segment acknowledged, a = 0.01                           [K]
//! loss         ssthresh = (1 - b) * window, b = 1/8;  cwnd = ssthresh                 [K]
//! timeout      ssthresh likewise, cwnd = 1
//! cwnd <= low_window (16 segments): both as Reno                                      [K]
//! ```
//! Between low_window and 1/a segments it grows more slowly than Reno, and its smaller decrease compensates for that.
//! Linux has no low_window, and grows at least by one segment per window [Linux tcp_scalable.c
//! tcp_scalable_cong_avoid]: the stack `linux` sets `low_window` and `reno_growth`. Slow start is the stack's. Nothing
//! is left out.

use crate::Variant;
use crate::common::{LossDriven, Window, window_is};
use crate::{AckEvent, CongestionEvent, Cx, Setup};
use dumbbell_units::param::{Kind, Params, specs};

pub(crate) const ROW: Variant = Variant {
    name: "scalable",
    title: "multiplicative increase, multiplicative decrease",
    year: 2003,
    source: "Kelly, Scalable TCP, ACM CCR 33(2), 2003",
    on_loss: "window down by 1/8, by 1/2 in small windows; timeout: cwnd = 1 segment",
    on_delay: "none",
    on_ecn: "as to a loss, without a retransmission",
    params: specs! {
        /// increase per segment acknowledged, segments [Kelly 2003; Linux tcp_scalable.c 1 / TCP_SCALABLE_AI_CNT]
        a = "0.01", Kind::Float { min: 0.0001, max: 1.0 };
        /// fraction by which a loss reduces the window [Kelly 2003; Linux tcp_scalable.c 1 / 2^TCP_SCALABLE_MD_SCALE]
        b = "0.125", Kind::Float { min: 0.01, max: 0.99 };
        /// lwnd: segments up to which the rules are those of Reno [Kelly 2003]
        low_window = "16", Kind::Float { min: 0.0, max: 1e6 };
        /// grows by at least one segment per round trip
        reno_growth = "false", Kind::Bool;
    },
    stack_defaults: &[("linux", "low_window", "0"), ("linux", "reno_growth", "true")],
    build: |params, setup| Ok(Box::new(Scalable::new(params, setup))),
    ..Variant::EMPTY
};

/// Scalable TCP.
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
    window_is!(window);

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        let cwnd = self.window.segments(cx);
        let segments = if cwnd <= self.low_window {
            1.0 // [K]
        } else {
            let least = if self.reno_growth { 1.0 } else { 0.0 }; // [Linux tcp_scalable.c tcp_scalable_cong_avoid]
            (self.a * cwnd).max(least) // [K]
        };
        self.window.additive_increase(segments, ev.acked, cx);
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        let b = if self.window.segments(cx) <= self.low_window { 0.5 } else { self.b };
        Window::decreased(ev.window, b, cx)
    }
}
