//! CUBIC: the window is a cubic function of the time since the last reduction [RFC 9438].
//!
//! ```text
//! curve       W(t) = C (t - K)^3 + W_max,  K = cbrt((W_max - cwnd_epoch) / C)                           [§4.2]
//! avoidance   target = W(t + RTT) within cwnd .. 1.5 cwnd;  cwnd += (target - cwnd) / cwnd per segment [§4.4, §4.5]
//! Reno        W_est += alpha / cwnd per segment, alpha = 3 (1 - beta) / (1 + beta), 1 from cwnd_prior on;
//!             where W(t) < W_est the window is W_est                                                   [§4.3]
//! loss        W_max = cwnd, or (1 + beta) / 2 of it if that is below the last W_max (fast convergence)  [§4.7]
//!             ssthresh = beta * window, at least 2; cwnd = ssthresh                                    [§4.6]
//! timeout     ssthresh likewise, cwnd = 1; the next curve starts at its own plateau (K = 0)            [§4.8]
//! ```
//! Windows in segments, times in seconds; t runs from the start of avoidance and stands still while the window is not
//! used. RTT is the smoothed one. Slow start is what the stack says [§4.10]. A reduction that answered no loss is taken back
//! with everything that it changed [§4.9.2].
//!
//! Linux's rules (`rules`): t + the smallest RTT instead of t + RTT; W_est and how far W(t) is from W_max in whole segments,
//! W_est one more for each 15/8 windows acknowledged, also beyond cwnd_prior; ACKed segments for one more a whole number, at
//! least 2 (so that cwnd grows by half a round trip at most) and at most 20 as long as W_max is unknown, which it is again
//! after a timeout; looked up when cwnd has changed or 32 ms have passed; t leaves out, instead of time in which the window
//! isn't used, that since the last sending where a segment leaves with nothing in flight. A reduction that is taken back
//! leaves W_max as it is, and the next stage starts anew.

use crate::Variant;
use crate::common::{Srtt, Window, ceil_to_jiffies, floor_to_jiffy};
use crate::{
    AckEvent, Congestion, CongestionControl, CongestionEvent, Control, CwndValidation, Cx, Phase,
    RecoveryExit, Setup, TxStart,
};
use dumbbell_units::param::{Kind, Params, Spec};
use dumbbell_units::{Dur, Time};

pub(crate) const ROW: Variant = Variant {
    name: "cubic",
    title: "window growth by a cubic function of time",
    year: 2008,
    source: "RFC 9438 (2023); Ha, Rhee and Xu, CUBIC, ACM SIGOPS 42(5), 2008",
    on_loss: "cwnd = ssthresh = beta * window; timeout: cwnd = 1 segment",
    on_delay: "none",
    on_ecn: "as to a loss, without a retransmission",
    params: &[
        Spec {
            name: "c",
            kind: Kind::Float { min: 0.001, max: 1000.0 },
            default: "0.4",
            doc: "steepness of the curve, segments/s^3 [RFC 9438 §5.1]",
        },
        Spec {
            name: "beta",
            kind: Kind::Float { min: 0.01, max: 0.99 },
            default: "0.7",
            doc: "what is left of the window after a loss [RFC 9438 §4.6]",
        },
        Spec {
            name: "fast_convergence",
            kind: Kind::Bool,
            default: "true",
            doc: "a flow that loses below its last W_max aims lower still, to make room [RFC 9438 §4.7]",
        },
        Spec {
            name: "reno_friendly",
            kind: Kind::Bool,
            default: "true",
            doc: "never slower than Reno would be [RFC 9438 §4.3]",
        },
        Spec {
            name: "rules",
            kind: Kind::Choice(&["rfc", "linux"]),
            default: "rfc",
            doc: "how an ACK's step follows from the curve: see the model",
        },
    ],
    stack_defaults: &[("linux", "beta", "0.7002"), ("linux", "rules", "linux")],
    columns: &["w_max", "k", "w_est"],
    build: |params, setup| Ok(Box::new(Cubic::new(params, setup))),
    ..Variant::EMPTY
};

/// A stage of congestion avoidance, from one reduction to the next.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// When t was 0; moves on while the window is not used.
    start: Time,
    /// Time from the start to the plateau, s.
    k: f64,
    /// The plateau, segments: W_max, but where the stage starts if that is higher.
    plateau: f64,
    /// The window that Reno would have, segments.
    w_est: f64,
    /// Linux: segments ACKed that it hasn't grown for.
    acked: f64,
    /// Linux: when the curve was looked at last and with which window, and the ACKed segments for one more that it gave.
    looked: Option<(Time, f64)>,
    each: f64,
}

/// How often Linux looks at the curve as long as the window is the same.
const LOOK: Dur = Dur::millis(32);

impl Epoch {
    /// W(t) [RFC 9438 §4.2, figure 1].
    fn curve(&self, t: f64, c: f64) -> f64 {
        let x = t - self.k;
        c * x * x * x + self.plateau
    }
}

/// See the top of this file.
#[derive(Clone, Debug)]
struct Cubic {
    window: Window,
    c: f64,
    beta: f64,
    fast_convergence: bool,
    reno_friendly: bool,
    linux: bool,
    srtt: Srtt,
    /// The smallest RTT, s.
    min_rtt: f64,
    /// The window before the last reduction or what fast convergence made of it, segments; 0 before the first.
    w_max: f64,
    /// cwnd before the last reduction, segments.
    cwnd_prior: f64,
    /// Whether the next stage starts at its plateau, since there was a timeout.
    flat: bool,
    epoch: Option<Epoch>,
    last_ack: Time,
    /// W_max, cwnd_prior, flat and the stage before the last episode of congestion [RFC 9438 §4.9.2].
    before: (f64, f64, bool, Option<Epoch>),
}

impl Cubic {
    fn new(params: &Params, setup: &Setup) -> Cubic {
        Cubic {
            window: Window::new(setup),
            c: params.float("c"),
            beta: params.float("beta"),
            fast_convergence: params.bool("fast_convergence"),
            reno_friendly: params.bool("reno_friendly"),
            linux: params.choice("rules") == "linux",
            srtt: Srtt::default(),
            min_rtt: f64::INFINITY,
            w_max: 0.0,
            cwnd_prior: 0.0,
            flat: false,
            epoch: None,
            last_ack: Time::ZERO,
            before: (0.0, 0.0, false, None),
        }
    }

    /// The stage that starts now with this window [RFC 9438 §4.2, §4.3].
    fn begin(&mut self, cwnd: f64, now: Time) -> Epoch {
        if self.linux {
            let (plateau, w_est) = (self.w_max.max(cwnd.floor()), cwnd.floor());
            let k = libm::cbrt((plateau - w_est) / self.c);
            return Epoch {
                start: floor_to_jiffy(now),
                k,
                plateau,
                w_est,
                acked: 0.0,
                looked: None,
                each: 2.0,
            };
        }
        if self.w_max == 0.0 {
            // Slow start ended without a loss [RFC 9438 §4.10].
            (self.cwnd_prior, self.w_max) = (cwnd, cwnd);
        } else if self.flat {
            self.w_max = cwnd; // [RFC 9438 §4.8]
        }
        self.flat = false;
        // The RFC's K would be negative where the stage starts above W_max, which the smallest windows can do: then
        // as after slow start.
        let plateau = self.w_max.max(cwnd);
        let k = libm::cbrt((plateau - cwnd) / self.c);
        Epoch { start: now, k, plateau, w_est: cwnd, acked: 0.0, looked: None, each: 2.0 }
    }

    fn avoid(&mut self, bytes: u64, cx: &Cx) {
        let cwnd = self.window.cwnd / cx.mss;
        let acked = bytes as f64 / cx.mss;
        let mut epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.begin(cwnd, cx.now),
        };
        let t = cx.now.since(epoch.start).as_secs();
        if self.linux {
            epoch.acked += acked;
            self.look(&mut epoch, cwnd.floor(), floor_to_jiffy(cx.now));
            self.window.cong_avoid_ai(epoch.each, bytes, cx);
            self.epoch = Some(epoch);
            return;
        }
        // alpha that makes an AIMD with this beta as fast as Reno; back at the old window, Reno's own [§4.3].
        let alpha =
            if epoch.w_est >= self.cwnd_prior { 1.0 } else { 3.0 * (1.0 - self.beta) / (1.0 + self.beta) };
        epoch.w_est += alpha * acked / cwnd;
        let grown = if self.reno_friendly && epoch.curve(t, self.c) < epoch.w_est {
            // DIVERGES [RFC 9438 §4.3]: cwnd may be ahead of W(t) by a round trip, and so of W_est; an ACK never
            // makes it smaller.
            epoch.w_est.max(cwnd)
        } else {
            let target = epoch.curve(t + self.srtt.secs(), self.c).clamp(cwnd, 1.5 * cwnd);
            // DIVERGES [RFC 9438 §4.4, §4.5]: per segment instead of per ACK, so that delayed ACKs follow the same
            // curve (W_est counts segments in the RFC too).
            cwnd + (target - cwnd) * (acked / cwnd).min(1.0)
        };
        self.window.cwnd = grown * cx.mss;
        self.epoch = Some(epoch);
    }

    /// Linux looks how many ACKed segments make one more: at the curve once a tick at most, at Reno each time, and at
    /// neither for a while if cwnd is the same.
    fn look(&self, epoch: &mut Epoch, cwnd: f64, now: Time) {
        if epoch.looked.is_some_and(|(at, w)| w == cwnd && now.since(at) < LOOK) {
            return;
        }
        if epoch.looked.is_none_or(|(at, _)| at != now) {
            epoch.looked = Some((now, cwnd));
            epoch.each = self.linux_count(epoch, now, cwnd);
        }
        // Reno's window: one more once there are more ACKed segments than it takes with the window of now.
        let each = (cwnd * 15.0 / 8.0).floor().max(1.0);
        let more = ((epoch.acked / each).ceil() - 1.0).max(0.0);
        (epoch.w_est, epoch.acked) = (epoch.w_est + more, epoch.acked - more * each);
        let behind = epoch.w_est - cwnd;
        if self.reno_friendly && behind > 0.0 {
            epoch.each = epoch.each.min((cwnd / behind).floor());
        }
        epoch.each = epoch.each.max(2.0);
    }

    /// The same by the curve.
    fn linux_count(&self, epoch: &Epoch, now: Time, cwnd: f64) -> f64 {
        let rtt = ceil_to_jiffies(Dur::from_secs_f64(self.min_rtt.min(1e3)));
        let x = (now.since(epoch.start) + rtt).as_secs() - epoch.k;
        let target = epoch.plateau + (self.c * x * x * x).trunc(); // the way from the plateau is in whole segments
        let mut count = if target > cwnd { (cwnd / (target - cwnd)).floor() } else { 100.0 * cwnd };
        if self.w_max == 0.0 {
            count = count.min(20.0);
        }
        count
    }

    /// Remembers the window before a reduction [RFC 9438 §4.6, §4.7].
    fn remember(&mut self, cx: &Cx) {
        let cwnd = self.window.cwnd / cx.mss;
        self.cwnd_prior = cwnd;
        let converge = self.fast_convergence && cwnd < self.w_max;
        self.w_max = if converge { cwnd * (1.0 + self.beta) / 2.0 } else { cwnd };
        if self.linux {
            self.w_max = self.w_max.floor();
        }
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, ev: &AckEvent, cx: &Cx) {
        if let Some(rtt) = ev.rtt {
            self.srtt.sample(rtt);
            self.min_rtt = self.min_rtt.min(rtt.as_secs());
        }
        let pause = cx.now.since(self.last_ack);
        self.last_ack = cx.now;
        self.window.detect_slow_start_exit(ev, cx);
        if ev.in_recovery {
            return;
        }
        if !ev.in_loss {
            self.window.end_episode();
        }
        if ev.acked == 0 {
            return;
        }
        if !ev.cwnd_limited {
            // t leaves out the time in which cwnd is not updated for lack of data [RFC 9438 §4.2].
            if let Some(epoch) = self.epoch.as_mut().filter(|_| !self.linux) {
                epoch.start += pause;
            }
        } else if self.window.in_slow_start() {
            let rest = self.window.slow_start(ev.acked, cx);
            if rest > 0 {
                self.avoid(rest, cx);
            }
        } else {
            self.avoid(ev.acked, cx);
        }
    }

    fn on_congestion(&mut self, ev: &CongestionEvent, cx: &Cx) {
        if self.window.begin_episode(ev.kind) {
            self.before = (self.w_max, self.cwnd_prior, self.flat, self.epoch);
        }
        self.epoch = None;
        self.flat = false;
        // A further timeout of the same segment leaves ssthresh as it is [RFC 5681 §3.1].
        if ev.kind != Congestion::Timeout || ev.backoffs == 0 {
            self.remember(cx);
            self.window.reduce_to(self.beta * ev.window, cx);
        }
        match ev.kind {
            Congestion::Loss => {}
            // A mark may take cwnd down to one segment, not ssthresh [RFC 9438 §4.6].
            Congestion::Ecn => self.window.cwnd = (self.beta * ev.window).max(cx.mss),
            Congestion::Collapse => self.window.set_loss_window(cx),
            Congestion::Timeout => {
                self.window.set_loss_window(cx);
                self.flat = true;
                if self.linux {
                    self.w_max = 0.0;
                }
            }
        }
    }

    fn on_recovery_exit(&mut self, ev: &RecoveryExit, _cx: &Cx) {
        self.window.limit(ev.bound);
        self.window.end_episode();
    }

    fn on_undo(&mut self, _cx: &Cx) {
        let reduced = self.window.cwnd;
        // Not where cwnd has passed what it was: the values since then are the better ones [RFC 9438 §4.9.2].
        if self.window.undo() && self.window.cwnd > reduced && !self.linux {
            (self.w_max, self.cwnd_prior, self.flat, self.epoch) = self.before;
        }
    }

    fn on_cwnd_validation(&mut self, ev: &CwndValidation, _cx: &Cx) {
        self.window.validate(ev);
    }

    fn on_restart(&mut self, _idle: Dur, cx: &Cx) {
        self.window.restart(cx);
        self.epoch = None;
    }

    /// Linux leaves out the time since something was sent, in ticks, where nothing was in flight since.
    fn on_tx_start(&mut self, ev: &TxStart, cx: &Cx) {
        if let Some(epoch) = self.epoch.as_mut().filter(|_| self.linux) {
            let pause = floor_to_jiffy(cx.now).since(floor_to_jiffy(ev.last_sent_at));
            epoch.start = (epoch.start + pause).min(floor_to_jiffy(cx.now));
        }
    }

    fn wants_sent(&self) -> bool {
        false
    }

    fn control(&self) -> Control {
        self.window.control()
    }

    fn phase(&self) -> Phase {
        self.window.phase()
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let epoch = |field: fn(&Epoch) -> f64| self.epoch.as_ref().map_or(f64::NAN, field);
        let w_max = if self.w_max == 0.0 { f64::NAN } else { self.w_max };
        row.extend([w_max, epoch(|e| e.k), epoch(|e| e.w_est)]);
    }
}
