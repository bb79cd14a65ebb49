//! HighSpeed TCP: AIMD whose steps grow with the window [RFC 3649].
//!
//! ```text
//! avoidance    cwnd += a(cwnd) for each window of ACKs                                                 [§4]
//! loss         ssthresh = (1 - b(cwnd)) * window, at least 2;  cwnd = ssthresh                         [§4]
//! timeout      ssthresh likewise, cwnd = 1
//! up to low_window (38):  a = 1, b = 1/2, as Reno                                                      [§5]
//! above:  b(w) = 1/2 + (high_decrease - 1/2) * x,  x = ln(w / low_window) / ln(high_window / low_window)  [§5]
//!         p(w) = low_p * (high_p / low_p)^x                    the loss rate at which w is the mean window [§5]
//!         a(w) = w^2 p(w) * 2 b(w) / (2 - b(w)), at least 1, at most one segment for each acknowledged    [§5]
//! ```
//! Windows in segments. Slow start is the stack's.
//!
//! Linux's rules (`rules`) come from the table of appendix B, in which a(w) is whole and p(w) = 0.078 / w^1.2: a is that of the
//! table's next row, a(w) rounded up, and b that row's, in 256ths. An ACK adds a / cwnd whatever it covers, so that with delayed ACKs it grows half as
//! fast. Slow start looks nothing up: a loss in it takes what the last avoidance would have lost, at first a half.
//! Left out: limited slow start (RFC 3742), which the RFC recommends beside it.

use crate::Variant;
use crate::common::{LossDriven, Window};
use crate::{AckEvent, CongestionEvent, Cx, Setup};
use dumbbell_units::param::{Kind, ParamError, Params, Spec};

pub(crate) const ROW: Variant = Variant {
    name: "highspeed",
    title: "AIMD whose steps grow with the window, for large ones",
    year: 2003,
    source: "RFC 3649",
    on_loss: "window down by 1/2 in small windows, by ever less in larger ones, by 1/10 at 83000 segments; timeout: \
              cwnd = 1 segment",
    on_delay: "none",
    on_ecn: "as to a loss, without a retransmission",
    params: &[
        Spec {
            name: "low_window",
            kind: Kind::Float { min: 2.0, max: 1e6 },
            default: "38",
            doc: "segments up to which it is Reno [RFC 3649 §5]",
        },
        Spec {
            name: "low_p",
            kind: Kind::Float { min: 1e-9, max: 0.1 },
            default: "0.001",
            doc: "loss rate at which low_window is the mean window [RFC 3649 §5]",
        },
        Spec {
            name: "high_window",
            kind: Kind::Float { min: 3.0, max: 1e7 },
            default: "83000",
            doc: "mean window, in segments, at high_p [RFC 3649 §5]",
        },
        Spec {
            name: "high_p",
            kind: Kind::Float { min: 1e-15, max: 0.01 },
            default: "1e-7",
            doc: "loss rate at which high_window is the mean window [RFC 3649 §5]",
        },
        Spec {
            name: "high_decrease",
            kind: Kind::Float { min: 0.01, max: 0.5 },
            default: "0.1",
            doc: "part of the window that a loss takes at high_window [RFC 3649 §5]",
        },
        Spec {
            name: "rules",
            kind: Kind::Choice(&["published", "linux"]),
            default: "published",
            doc: "whether a and b are what the RFC's formulas give, or steps as in Linux: see the model",
        },
    ],
    stack_defaults: &[("linux", "rules", "linux")],
    columns: &["a", "b"],
    build: |params, setup| Ok(Box::new(HighSpeed::new(params, setup)?)),
    ..Variant::EMPTY
};

/// See the top of this file.
#[derive(Clone, Debug)]
struct HighSpeed {
    window: Window,
    low_window: f64,
    high_decrease: f64,
    /// ln(high_window / low_window).
    ln_window: f64,
    /// p(w) is the first over w to the power of the second.
    p: (f64, f64),
    linux: bool,
    /// a and b as of the last ACK in avoidance, for the trace and for Linux's losses.
    seen: (f64, f64),
    /// Linux's row of the table: between which windows (the lower one excluded, the upper one included) `seen` holds.
    row: (f64, f64),
}

impl HighSpeed {
    fn new(params: &Params, setup: &Setup) -> Result<HighSpeed, ParamError> {
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
        let linux = params.choice("rules") == "linux";
        let ln_window = libm::log(high / low);
        let power = libm::log(low_p / high_p) / ln_window;
        let factor = low_p * libm::pow(low, power);
        let two_digits = libm::pow(10.0, libm::log10(factor).floor() - 1.0);
        Ok(HighSpeed {
            window: Window::new(setup),
            low_window: low,
            high_decrease: params.float("high_decrease"),
            ln_window,
            // The RFC's table comes from 0.078 / w^1.2.
            p: if linux {
                ((factor / two_digits).round() * two_digits, (10.0 * power).round() / 10.0)
            } else {
                (factor, power)
            },
            linux,
            seen: (f64::NAN, f64::NAN),
            row: (0.0, 0.0),
        })
    }

    /// Finds the row of the table for a window in whole segments, if it isn't the one found before.
    fn look_up(&mut self, w: f64) {
        if w > self.row.0 && w <= self.row.1 {
            return;
        }
        if w <= self.low_window {
            (self.seen, self.row) = ((1.0, 0.5), (0.0, self.low_window));
            return;
        }
        // The smallest whole window at which a(w) is at least so many segments.
        let first = |a: f64| {
            let (mut low, mut high) = (self.low_window, 2.0 * w);
            while self.response(high).0 < a {
                high *= 2.0;
            }
            while high - low > 1.0 {
                let middle = ((low + high) / 2.0).floor();
                if self.response(middle).0 >= a { high = middle } else { low = middle }
            }
            high
        };
        // The row whose window is the first that isn't below w.
        let below = self.response(w).0.floor().max(2.0);
        let a = if first(below) >= w { below } else { below + 1.0 };
        let lower = if a > 2.0 { first(a - 1.0) } else { self.low_window };
        let upper = first(a);
        let b = (256.0 * self.response(upper).1).floor() / 256.0;
        (self.seen, self.row) = ((a, b), (lower, upper));
    }

    /// Segments that a window of ACKs adds, and the part that a loss takes [RFC 3649 §5].
    fn response(&self, w: f64) -> (f64, f64) {
        if w <= self.low_window {
            return (1.0, 0.5);
        }
        let x = libm::log(w / self.low_window) / self.ln_window;
        // Beyond high_window the line goes on; it must not come to a decrease of nothing.
        let b = (0.5 + (self.high_decrease - 0.5) * x).max(self.high_decrease.min(0.1));
        let p = self.p.0 * libm::pow(w, -self.p.1);
        let a = w * w * p * 2.0 * b / (2.0 - b);
        (a.max(1.0).min(w), b)
    }
}

impl LossDriven for HighSpeed {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        let w = self.window.segments(cx);
        if self.linux {
            self.look_up(w.floor());
            self.window.additive_increase_per_ack(self.seen.0, cx);
        } else {
            self.seen = self.response(w);
            self.window.additive_increase(self.seen.0, ev.acked, cx);
        }
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        let b = match self.linux {
            true if self.seen.1.is_nan() => 0.5,
            true => self.seen.1,
            false => self.response(self.window.segments(cx)).1,
        };
        Window::decreased(ev.window, b, cx)
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.seen.0, self.seen.1]);
    }
}
