//! BIC: a binary search for the window of the last loss [Xu, Harfoush and Rhee, Binary Increase Congestion Control for
//! Fast Long-Distance Networks, INFOCOM 2004, "XHR"].
//!
//! ```text
//! avoidance   cwnd += inc per window of ACKs, at most one segment for each acknowledged; inc:
//!   cwnd <= low_window        1, as Reno                                                                [XHR]
//!   binary search, below w_max  (w_max - cwnd) / B, from s_min to s_max                                 [XHR]
//!   max probing, above w_max  cwnd - w_max + s_min, at most s_max: the distance doubles each RTT        [XHR]
//!   before the first loss     s_max                                                                     [XHR]
//! loss        w_max = cwnd, or cwnd (1 + beta) / 2 if cwnd is below the last w_max (fast convergence)   [XHR]
//!             ssthresh = beta * window, 1/2 of it up to low_window;  cwnd = ssthresh                    [XHR]
//! timeout     w_max and ssthresh likewise, cwnd = 1
//! ```
//! B = 2, s_max = 32, s_min = 0.01, beta = 0.875. Windows in segments. Slow start is the stack's. Nothing is left out.
//! `rules = "linux"` selects `linux.rs`, the integer arithmetic of [Linux tcp_bic.c bictcp_update].

mod linux;

use crate::common::{LossDriven, Window, window_is};
use crate::{AckEvent, CongestionEvent, Cx, Setup, Variant};
use dumbbell_units::param::{Kind, Params, settings, specs};
use linux::LinuxBic;

pub(crate) const ROW: Variant = Variant {
    name: "bic",
    title: "binary search for the window of the last loss",
    year: 2004,
    source: "Xu, Harfoush and Rhee, Binary Increase Congestion Control, INFOCOM 2004",
    on_loss: "cwnd = ssthresh = beta * window, half of it in small windows; timeout: cwnd = 1 segment",
    on_delay: "none",
    on_ecn: "as to a loss, without a retransmission",
    params: specs! {
        /// factor by which a loss reduces the window [Xu, Harfoush and Rhee 2004]
        beta = "0.875", Kind::Float { min: 0.01, max: 0.99 };
        /// B: an increase is 1/B of the distance to w_max [Xu, Harfoush and Rhee 2004; Linux tcp_bic.c BICTCP_B]
        b = "2", Kind::Float { min: 1.1, max: 100.0 };
        /// most segments gained in a round trip [Xu, Harfoush and Rhee 2004; Linux tcp_bic.c max_increment]
        s_max = "32", Kind::Float { min: 1.0, max: 10000.0 };
        /// fewest segments gained in a round trip [Xu, Harfoush and Rhee 2004; Linux tcp_bic.c b / smooth_part]
        s_min = "0.01", Kind::Float { min: 0.0001, max: 1.0 };
        /// segments up to which the rules are those of Reno [Xu, Harfoush and Rhee 2004]
        low_window = "14", Kind::Float { min: 0.0, max: 1e6 };
        /// a loss below w_max lowers w_max further, which releases bandwidth to new flows
        fast_convergence = "true", Kind::Bool;
        /// the published formulas, or the integer arithmetic of Linux's tcp_bic.c
        rules = "published", Kind::Choice(&["published", "linux"]);
    },
    stack_defaults: &[
        ("linux", "beta", "0.7998"),
        ("linux", "b", "4"),
        ("linux", "s_max", "16"),
        ("linux", "s_min", "0.2"),
        ("linux", "rules", "linux"),
    ],
    columns: &["w_max", "inc"],
    build: |params, setup| match params.choice("rules") {
        "linux" => Ok(Box::new(LinuxBic::new(params, setup))),
        _ => Ok(Box::new(Bic::new(params, setup))),
    },
    ..Variant::EMPTY
};

settings! {
    /// The parameters, as in XHR; windows in segments.
    #[derive(Clone, Copy, Debug)]
    struct Settings;
    fn read(params: &Params);
    beta: f64 = params.float("beta");
    b: f64 = params.float("b");
    s_max: f64 = params.float("s_max");
    s_min: f64 = params.float("s_min");
    low_window: f64 = params.float("low_window");
    fast_convergence: bool = params.bool("fast_convergence");
}

impl Settings {
    /// Returns w_max after a loss at `cwnd`, with fast convergence [XHR].
    fn w_max(&self, cwnd: f64, last: Option<f64>) -> f64 {
        let converge = self.fast_convergence && last.is_some_and(|w_max| cwnd < w_max);
        if converge { cwnd * (1.0 + self.beta) / 2.0 } else { cwnd }
    }

    /// Returns the factor by which a loss at `cwnd` reduces the window.
    fn decrease(&self, cwnd: f64) -> f64 {
        if cwnd <= self.low_window { 0.5 } else { self.beta }
    }
}

/// BIC as published.
#[derive(Clone, Debug)]
struct Bic {
    window: Window,
    set: Settings,
    /// The target of the search, segments; None before the first loss.
    w_max: Option<f64>,
    /// w_max before the last episode of congestion.
    prior_w_max: Option<f64>,
    /// Increase per window of ACKs at the last ACK in avoidance, segments; for the trace.
    inc: f64,
}

impl Bic {
    fn new(params: &Params, setup: &Setup) -> Bic {
        Bic { window: Window::new(setup), set: Settings::read(params), w_max: None, prior_w_max: None, inc: f64::NAN }
    }

    /// Returns the increase per window of ACKs [XHR].
    fn increase(&self, cwnd: f64) -> f64 {
        let Settings { b, s_max, s_min, low_window, .. } = self.set;
        if cwnd <= low_window {
            return 1.0;
        }
        let inc = match self.w_max {
            None => s_max,
            Some(w_max) if cwnd < w_max => (w_max - cwnd) / b,
            Some(w_max) => cwnd - w_max + s_min,
        };
        inc.max(s_min).min(s_max).min(cwnd)
    }
}

impl LossDriven for Bic {
    window_is!(window);

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        self.inc = self.increase(self.window.segments(cx));
        self.window.additive_increase(self.inc, ev.acked, cx);
    }

    fn on_congestion_begin(&mut self) {
        self.prior_w_max = self.w_max;
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        let cwnd = self.window.segments(cx);
        self.w_max = Some(self.set.w_max(cwnd, self.w_max));
        self.set.decrease(cwnd) * ev.window
    }

    fn on_undo(&mut self, _reduced_cwnd: f64, _cx: &Cx) {
        self.w_max = self.prior_w_max;
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.w_max.unwrap_or(f64::NAN), self.inc]);
    }
}
