//! HighSpeed TCP: AIMD whose increase a(w) and decrease b(w) depend on the window [RFC 3649].
//!
//! ```text
//! avoidance    cwnd += a(cwnd) per window of ACKs                                                        [§4]
//! loss         ssthresh = (1 - b(cwnd)) * window, at least 2;  cwnd = ssthresh                           [§4]
//! timeout      ssthresh likewise, cwnd = 1
//! w <= Low_Window (38):  a(w) = 1, b(w) = 1/2, as Reno                                                   [§5]
//! above:  b(w) = 1/2 + (High_Decrease - 1/2) x,  x = ln(w / Low_Window) / ln(High_Window / Low_Window)   [§5]
//!         p(w) = Low_P (High_P / Low_P)^x, the loss rate at which w is the average window                [§5]
//!         a(w) = w^2 p(w) 2 b(w) / (2 - b(w)), at least 1, at most one segment for each acknowledged     [§5]
//! ```
//! Windows in segments. Slow start is the stack's. `rules = "linux"` selects `linux.rs`, the table of appendix B.
//! Left out: Limited Slow-Start (RFC 3742), which the RFC recommends.

mod linux;

use crate::common::{LossDriven, Window, window_is};
use crate::{AckEvent, CongestionEvent, Cx, Variant};
use dumbbell_units::param::{Kind, ParamError, Params, specs};
use linux::LinuxHighSpeed;

pub(crate) const ROW: Variant = Variant {
    name: "highspeed",
    title: "AIMD whose increase and decrease depend on the window, for large windows",
    year: 2003,
    source: "RFC 3649",
    on_loss: "window down by 1/2 in small windows, by ever less in larger ones, by 1/10 at 83000 segments; timeout: \
              cwnd = 1 segment",
    on_delay: "none",
    on_ecn: "as to a loss, without a retransmission",
    params: specs! {
        /// Low_Window: segments up to which the rules are those of Reno [RFC 3649 §5]
        low_window = "38", Kind::Float { min: 2.0, max: 1e6 };
        /// Low_P: loss rate at which low_window is the average window [RFC 3649 §5]
        low_p = "0.001", Kind::Float { min: 1e-9, max: 0.1 };
        /// High_Window: average window at high_p, segments [RFC 3649 §5]
        high_window = "83000", Kind::Float { min: 3.0, max: 1e7 };
        /// High_P: loss rate at which high_window is the average window [RFC 3649 §5]
        high_p = "1e-7", Kind::Float { min: 1e-15, max: 0.01 };
        /// High_Decrease: fraction by which a loss reduces the window at high_window [RFC 3649 §5]
        high_decrease = "0.1", Kind::Float { min: 0.01, max: 0.5 };
        /// the formulas of RFC 3649, or the table of its appendix B as in Linux's tcp_highspeed.c
        rules = "published", Kind::Choice(&["published", "linux"]);
    },
    stack_defaults: &[("linux", "rules", "linux")],
    columns: &["a", "b"],
    build: |params, setup| {
        let response = Response::read(params)?;
        match params.choice("rules") {
            "linux" => Ok(Box::new(LinuxHighSpeed::new(&response, setup))),
            _ => Ok(Box::new(HighSpeed { window: Window::new(setup), response, trace: (f64::NAN, f64::NAN) })),
        }
    },
    ..Variant::EMPTY
};

/// The response function: a(w) and b(w) from the parameters [RFC 3649 §5].
#[derive(Clone, Copy, Debug)]
struct Response {
    low_window: f64,
    high_decrease: f64,
    /// ln(High_Window / Low_Window).
    ln_window: f64,
    /// p(w) = factor / w^power.
    factor: f64,
    power: f64,
}

impl Response {
    fn read(params: &Params) -> Result<Response, ParamError> {
        let (low, high) = (params.float("low_window"), params.float("high_window"));
        if high <= low {
            let message = format!("{high} given, more than low_window, which is {low}, is needed");
            return Err(ParamError { name: "high_window".into(), message });
        }
        let (low_p, high_p) = (params.float("low_p"), params.float("high_p"));
        if high_p >= low_p {
            let message = format!("{high_p} given, less than low_p, which is {low_p}, is needed");
            return Err(ParamError { name: "high_p".into(), message });
        }
        let ln_window = libm::log(high / low);
        let power = libm::log(low_p / high_p) / ln_window;
        let factor = low_p * libm::pow(low, power);
        Ok(Response { low_window: low, high_decrease: params.float("high_decrease"), ln_window, factor, power })
    }

    /// Returns a(w) in segments and b(w).
    fn at(&self, w: f64) -> (f64, f64) {
        if w <= self.low_window {
            return (1.0, 0.5);
        }
        let x = libm::log(w / self.low_window) / self.ln_window;
        // Beyond High_Window the line continues; the lower bound keeps the decrease above zero.
        let b = (0.5 + (self.high_decrease - 0.5) * x).max(self.high_decrease.min(0.1));
        let p = self.factor * libm::pow(w, -self.power);
        let a = w * w * p * 2.0 * b / (2.0 - b);
        (a.max(1.0).min(w), b)
    }
}

/// HighSpeed TCP as in RFC 3649.
#[derive(Clone, Debug)]
struct HighSpeed {
    window: Window,
    response: Response,
    /// a(w) and b(w) at the last ACK in avoidance, for the trace.
    trace: (f64, f64),
}

impl LossDriven for HighSpeed {
    window_is!(window);

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        self.trace = self.response.at(self.window.segments(cx));
        self.window.additive_increase(self.trace.0, ev.acked, cx); // [§4]
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        let (_, b) = self.response.at(self.window.segments(cx));
        Window::decreased(ev.window, b, cx) // [§4]
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.trace.0, self.trace.1]);
    }
}
