//! CUBIC: the window is a cubic function of the time since the last congestion event [RFC 9438].
//!
//! ```text
//! §4.2  W_cubic(t) = C (t - K)^3 + W_max,  K = cbrt((W_max - cwnd_epoch) / C)
//! §4.3  W_est += alpha_cubic * segments_acked / cwnd,  alpha_cubic = 3 (1 - beta_cubic) / (1 + beta_cubic), and 1 once
//!       W_est >= cwnd_prior;  Reno-friendly region (W_cubic(t) < W_est): cwnd = W_est
//! §4.4  concave region (cwnd < W_max), §4.5 convex region (cwnd >= W_max):
//!       target = W_cubic(t + RTT) within cwnd .. 1.5 cwnd,  cwnd += (target - cwnd) / cwnd per segment acknowledged
//! §4.6  congestion: ssthresh = max(beta_cubic * flight_size, 2), cwnd = ssthresh
//! §4.7  fast convergence: W_max = cwnd (1 + beta_cubic) / 2 if cwnd < W_max, else W_max = cwnd
//! §4.8  timeout: ssthresh likewise, cwnd = 1; the next epoch begins with K = 0
//! §4.9  spurious congestion: every variable returns to its value before the event
//! §4.10 slow start: the stack's
//! ```
//! Windows in segments, times in seconds. t is the time since epoch_start, the start of the congestion avoidance stage;
//! it doesn't advance while the application limits sending. RTT is the smoothed RTT. `rules = "linux"`: see `linux.rs`.

mod linux;

use crate::common::{LossDriven, Srtt, Window, window_is};
use crate::{AckEvent, Congestion, CongestionEvent, Cx, Requirement, Setup, StackFeature, Variant};
use dumbbell_units::Time;
use dumbbell_units::param::{Kind, Params, specs};
use linux::LinuxCubic;

pub(crate) const ROW: Variant = Variant {
    name: "cubic",
    title: "window growth by a cubic function of time",
    year: 2008,
    source: "RFC 9438 (2023); Ha, Rhee and Xu, CUBIC, ACM SIGOPS 42(5), 2008",
    requires: &[
        Requirement {
            feature: StackFeature::PartialAcks,
            source: "RFC 9438 §4.2",
            why: "it keeps the fast recovery of RFC 6582 or RFC 6675",
        },
        Requirement {
            feature: StackFeature::HyStart,
            source: "RFC 9438 §4.10",
            why: "it recommends HyStart++ as slow start",
        },
    ],
    on_loss: "cwnd = ssthresh = beta * window; timeout: cwnd = 1 segment",
    on_ecn: "as to a loss, without a retransmission",
    params: specs! {
        /// C, the steepness of the curve, segments/s^3 [RFC 9438 §5.1]
        c = "0.4", Kind::Float { min: 0.001, max: 1000.0 };
        /// beta_cubic, the factor by which a loss reduces the window [RFC 9438 §4.6]
        beta = "0.7", Kind::Float { min: 0.01, max: 0.99 };
        /// a loss below W_max lowers W_max further, which releases bandwidth to new flows [RFC 9438 §4.7]
        fast_convergence = "true", Kind::Bool;
        /// grows at least as fast as Reno [RFC 9438 §4.3]
        reno_friendly = "true", Kind::Bool;
        /// the formulas of RFC 9438, or the integer arithmetic of Linux's tcp_cubic.c
        rules = "rfc", Kind::Choice(&["rfc", "linux"]);
    },
    stack_defaults: &[("linux", "beta", "0.7002"), ("linux", "rules", "linux")],
    columns: &["w_max", "k", "w_est"],
    build: |params, setup| match params.choice("rules") {
        "linux" => Ok(Box::new(LinuxCubic::new(params, setup))),
        _ => Ok(Box::new(Cubic::new(params, setup))),
    },
    ..Variant::EMPTY
};

/// A congestion avoidance stage, from one congestion event to the next [RFC 9438 §4.1.2].
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// The time at t = 0; advances while the application limits sending.
    epoch_start: Time,
    /// K: time from the start of the epoch until the curve reaches its origin, s.
    k: f64,
    /// The window at t = K: W_max, or cwnd_epoch if that is larger.
    origin: f64,
    /// The window that Reno would have, segments.
    w_est: f64,
}

/// The variables of RFC 9438 §4.1.2 that survive an epoch; windows in segments.
#[derive(Clone, Copy, Debug, Default)]
struct Variables {
    /// The window before the last reduction, or the lower value of fast convergence; 0 before the first.
    w_max: f64,
    /// cwnd before the last reduction.
    cwnd_prior: f64,
    /// True after a timeout: the next epoch begins with K = 0.
    after_timeout: bool,
    epoch: Option<Epoch>,
}

/// CUBIC as in RFC 9438.
#[derive(Clone, Debug)]
struct Cubic {
    window: Window,
    c: f64,
    beta_cubic: f64,
    fast_convergence: bool,
    reno_friendly: bool,
    srtt: Srtt,
    last_ack: Time,
    vars: Variables,
    /// The variables before the last congestion event that can be undone [RFC 9438 §4.9].
    prior: Variables,
}

impl Cubic {
    fn new(params: &Params, setup: &Setup) -> Cubic {
        Cubic {
            window: Window::new(setup),
            c: params.float("c"),
            beta_cubic: params.float("beta"),
            fast_convergence: params.bool("fast_convergence"),
            reno_friendly: params.bool("reno_friendly"),
            srtt: Srtt::default(),
            last_ack: Time::ZERO,
            vars: Variables::default(),
            prior: Variables::default(),
        }
    }

    /// Begins an epoch with the window `cwnd_epoch`.
    fn begin_epoch(&mut self, cwnd_epoch: f64, now: Time) -> Epoch {
        let vars = &mut self.vars;
        if vars.w_max == 0.0 {
            (vars.cwnd_prior, vars.w_max) = (cwnd_epoch, cwnd_epoch); // slow start ended without a loss [§4.10]
        } else if vars.after_timeout {
            vars.w_max = cwnd_epoch; // [§4.8]
        }
        vars.after_timeout = false;
        // DIVERGES [RFC 9438 §4.2]: K would be negative where the epoch begins above W_max, which happens with windows
        // of a few segments. The curve then begins at its origin, as after slow start.
        let origin = vars.w_max.max(cwnd_epoch);
        let k = libm::cbrt((origin - cwnd_epoch) / self.c); // [§4.2]
        Epoch { epoch_start: now, k, origin, w_est: cwnd_epoch }
    }

    /// W_cubic(t) [RFC 9438 §4.2].
    fn w_cubic(&self, epoch: &Epoch, t: f64) -> f64 {
        let x = t - epoch.k;
        self.c * x * x * x + epoch.origin
    }

    /// The additive increase with which an AIMD with beta_cubic is as fast as Reno [RFC 9438 §4.3].
    fn alpha_cubic(&self, w_est: f64) -> f64 {
        if w_est >= self.vars.cwnd_prior {
            return 1.0;
        }
        3.0 * (1.0 - self.beta_cubic) / (1.0 + self.beta_cubic)
    }
}

impl LossDriven for Cubic {
    window_is!(window);

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        if let Some(rtt) = ev.rtt {
            self.srtt.sample(rtt);
        }
        let since_last_ack = cx.now.since(self.last_ack);
        self.last_ack = cx.now;
        // t excludes periods in which the application limits sending [RFC 9438 §4.2].
        let is_app_limited = !ev.in_recovery && ev.acked > 0 && !ev.cwnd_limited;
        if let Some(epoch) = self.vars.epoch.as_mut().filter(|_| is_app_limited) {
            epoch.epoch_start += since_last_ack;
        }
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        let cwnd = self.window.cwnd / cx.mss;
        let segments_acked = ev.acked as f64 / cx.mss;
        let mut epoch = match self.vars.epoch {
            Some(epoch) => epoch,
            None => self.begin_epoch(cwnd, cx.now),
        };
        let t = cx.now.since(epoch.epoch_start).as_secs();
        epoch.w_est += self.alpha_cubic(epoch.w_est) * segments_acked / cwnd; // [§4.3]
        let cwnd = if self.reno_friendly && self.w_cubic(&epoch, t) < epoch.w_est {
            // DIVERGES [RFC 9438 §4.3]: cwnd may be one RTT ahead of W_cubic(t) and W_est; an ACK never reduces it.
            epoch.w_est.max(cwnd)
        } else {
            let target = self.w_cubic(&epoch, t + self.srtt.secs()).clamp(cwnd, 1.5 * cwnd); // [§4.2]
            // DIVERGES [RFC 9438 §4.4, §4.5]: per segment instead of per ACK, so that delayed ACKs follow the same
            // curve (W_est counts segments in the RFC, too).
            cwnd + (target - cwnd) * (segments_acked / cwnd).min(1.0)
        };
        self.window.cwnd = cwnd * cx.mss;
        self.vars.epoch = Some(epoch);
    }

    fn on_congestion_begin(&mut self) {
        self.prior = self.vars; // [§4.9]
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        let cwnd = self.window.cwnd / cx.mss;
        self.vars.cwnd_prior = cwnd; // [§4.6]
        self.vars.w_max = w_max(cwnd, self.vars.w_max, self.beta_cubic, self.fast_convergence);
        self.beta_cubic * ev.window // [§4.6]
    }

    fn on_congestion_done(&mut self, ev: &CongestionEvent, cx: &Cx) {
        self.vars.epoch = None;
        self.vars.after_timeout = ev.kind == Congestion::Timeout; // [§4.8]
        if ev.kind == Congestion::Ecn {
            self.window.cwnd = ecn_cwnd(self.beta_cubic, ev, cx);
        }
    }

    /// [RFC 9438 §4.9.2]: the variables are restored, unless cwnd already exceeds its value before the event.
    fn on_undo(&mut self, reduced_cwnd: f64, _cx: &Cx) {
        if self.window.cwnd > reduced_cwnd {
            self.vars = self.prior;
        }
    }

    fn on_restart(&mut self, _cx: &Cx) {
        self.vars.epoch = None;
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let epoch = |field: fn(&Epoch) -> f64| self.vars.epoch.as_ref().map_or(f64::NAN, field);
        let w_max = if self.vars.w_max == 0.0 { f64::NAN } else { self.vars.w_max };
        row.extend([w_max, epoch(|e| e.k), epoch(|e| e.w_est)]);
    }
}

/// W_max after a reduction from `cwnd`, with fast convergence [RFC 9438 §4.7].
fn w_max(cwnd: f64, last_w_max: f64, beta_cubic: f64, fast_convergence: bool) -> f64 {
    if fast_convergence && cwnd < last_w_max { cwnd * (1.0 + beta_cubic) / 2.0 } else { cwnd }
}

/// cwnd after a congestion mark, bytes: the mark may reduce cwnd to one segment, unlike ssthresh [RFC 9438 §4.6].
fn ecn_cwnd(beta_cubic: f64, ev: &CongestionEvent, cx: &Cx) -> f64 {
    (beta_cubic * ev.window).max(cx.mss)
}
