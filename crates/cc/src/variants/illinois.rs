//! Illinois: losses decide when the window shrinks, the queueing delay decides how fast it grows and how far it shrinks
//! [Liu, Başar and Srikant, TCP-Illinois: A Loss- and Delay-Based Congestion Control Algorithm for High-Speed Networks,
//! Performance Evaluation 65(6-7), 2008, "LBS"].
//!
//! ```text
//! once a round trip    da = mean RTT - base_rtt,  dm = max_rtt - base_rtt                              [LBS]
//!   alpha   da <= d1 = 0.01 dm: alpha_max, once theta such rounds came after one that was not          [LBS]
//!           else k1 / (k2 + da), which falls from alpha_max at d1 to alpha_min at dm
//!   beta    da <= d2 = 0.1 dm: beta_min;  da >= d3 = 0.8 dm: beta_max;  a line between                 [LBS]
//!   cwnd < window_threshold: alpha = 1, beta = 1/2, as Reno                                            [LBS]
//! avoidance    cwnd += alpha for each window of ACKs;  slow start as Reno
//! loss         ssthresh = (1 - beta) * window, cwnd = ssthresh
//! timeout      ssthresh likewise, cwnd = 1; alpha = 1, beta = 1/2 until the next round                 [Linux]
//! ```
//! The numbers are the publication's; Linux's window_threshold is 15.
//! Left out: forgetting max_rtt, which neither has.

use crate::Variant;
use crate::common::{LossDriven, RoundRtt, RttPerRound, Window};
use crate::{AckEvent, Congestion, CongestionEvent, Cx, Setup};
use dumbbell_units::param::{Kind, ParamError, Params, Spec};

pub(crate) const ROW: Variant = Variant {
    name: "illinois",
    title: "AIMD whose steps follow the queueing delay",
    year: 2006,
    source: "Liu, Başar and Srikant, TCP-Illinois, Performance Evaluation 65(6-7), 2008 (VALUETOOLS 2006)",
    on_loss: "window down by 1/8 without a queue to 1/2 with a full one; timeout: cwnd = 1 segment",
    on_delay: "grows by 10 segments a round trip without a queue, by 0.3 with a full one",
    on_ecn: "as to a loss, without a retransmission",
    params: &[
        Spec {
            name: "alpha_min",
            kind: Kind::Float { min: 0.01, max: 1000.0 },
            default: "0.3",
            doc: "segments gained in a round trip with a full queue [Liu et al. 2008]",
        },
        Spec {
            name: "alpha_max",
            kind: Kind::Float { min: 0.01, max: 1000.0 },
            default: "10",
            doc: "segments gained in a round trip without a queue [Liu et al. 2008]",
        },
        Spec {
            name: "beta_min",
            kind: Kind::Float { min: 0.01, max: 0.99 },
            default: "0.125",
            doc: "part of the window that a loss takes without a queue [Liu et al. 2008]",
        },
        Spec {
            name: "beta_max",
            kind: Kind::Float { min: 0.01, max: 0.99 },
            default: "0.5",
            doc: "part of the window that a loss takes with a full queue [Liu et al. 2008]",
        },
        Spec {
            name: "window_threshold",
            kind: Kind::Float { min: 0.0, max: 1e6 },
            default: "10",
            doc: "segments below which it is Reno [Liu et al. 2008]",
        },
        Spec {
            name: "theta",
            kind: Kind::Int { min: 1, max: 1000 },
            default: "5",
            doc: "round trips without a queue, after one with, before it grows by alpha_max [Liu et al. 2008]",
        },
    ],
    stack_defaults: &[("linux", "window_threshold", "15")],
    columns: &["alpha", "beta", "base_rtt", "max_rtt"],
    build: |params, setup| Ok(Box::new(Illinois::new(params, setup)?)),
    ..Variant::EMPTY
};

/// d1, d2 and d3 as parts of the largest delay [LBS].
const ETA: (f64, f64, f64) = (0.01, 0.1, 0.8);
/// What Linux counts alpha and beta in.
const ALPHA_UNIT: f64 = 128.0;
const BETA_UNIT: f64 = 64.0;
/// Reno's alpha and beta.
const RENO: (f64, f64) = (1.0, 0.5);

/// See the top of this file.
#[derive(Clone, Debug)]
struct Illinois {
    window: Window,
    alphas: (f64, f64),
    betas: (f64, f64),
    window_threshold: f64,
    theta: u64,
    rtts: RttPerRound,
    alpha: f64,
    beta: f64,
    /// snd_una as of the last ACK, and how far that moved it: what Linux counts, told of before or not.
    una: Option<u64>,
    acked: u64,
    /// After a round with a queue: how many without one have come since. None: alpha_max is free.
    quiet: Option<u64>,
}

impl Illinois {
    fn new(params: &Params, setup: &Setup) -> Result<Illinois, ParamError> {
        let ordered = |low: &str, high: &str| {
            let (l, h) = (params.float(low), params.float(high));
            let message = format!("{l} given, at most {high}, which is {h}, is needed");
            if l > h { Err(ParamError { name: low.into(), message }) } else { Ok((l, h)) }
        };
        let alphas = ordered("alpha_min", "alpha_max")?;
        Ok(Illinois {
            window: Window::new(setup),
            alphas,
            betas: ordered("beta_min", "beta_max")?,
            window_threshold: params.float("window_threshold"),
            theta: params.int("theta"),
            rtts: RttPerRound::default(),
            alpha: alphas.1,
            beta: RENO.1,
            una: None,
            acked: 0,
            quiet: None,
        })
    }

    /// The increase after a round with this mean delay and that largest one [LBS].
    fn alpha(&mut self, da: f64, dm: f64) -> f64 {
        let (min, max) = self.alphas;
        let d1 = ETA.0 * dm;
        if da > d1 {
            self.quiet = Some(0);
            // k1 / (k2 + da), with the k's that give max at d1 and min at dm, divided by k1.
            return max / (1.0 + (da - d1) / (dm - d1) * (max - min) / min);
        }
        // One good round is no reason for a jump.
        self.quiet = self.quiet.map(|n| n + 1).filter(|n| *n < self.theta);
        if self.quiet.is_some() { self.alpha } else { max }
    }

    /// The decrease, likewise [LBS].
    fn beta(&self, da: f64, dm: f64) -> f64 {
        let (min, max) = self.betas;
        let (d2, d3) = (ETA.1 * dm, ETA.2 * dm);
        if da <= d2 {
            min
        } else if da >= d3 {
            max
        } else {
            min + (max - min) * (da - d2) / (d3 - d2)
        }
    }

    fn decide(&mut self, round: &RoundRtt, cx: &Cx) {
        if self.window.segments(cx) < self.window_threshold {
            (self.alpha, self.beta) = RENO;
            return;
        }
        let (da, dm) = (round.mean - round.base_rtt, round.max_rtt - round.base_rtt);
        (self.alpha, self.beta) = (self.alpha(da, dm), self.beta(da, dm));
    }
}

impl LossDriven for Illinois {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        self.acked = self.una.replace(ev.snd_una).map_or(ev.acked, |una| ev.snd_una - una);
        let round = if cx.counts_segments() {
            // The sample of the ACK that ends a round belongs to it, and a recovery to the round that it interrupts.
            self.rtts.sample(ev);
            if ev.in_recovery { None } else { self.rtts.end_round(ev) }
        } else {
            self.rtts.on_ack(ev)
        };
        if let Some(round) = round {
            self.decide(&round, cx);
            if cx.counts_segments() {
                self.alpha = (self.alpha * ALPHA_UNIT).floor() / ALPHA_UNIT;
                self.beta = (self.beta * BETA_UNIT).floor() / BETA_UNIT;
            }
        }
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        if !cx.counts_segments() {
            self.window.additive_increase(self.alpha, ev.acked, cx);
            return;
        }
        let acked = if self.acked == 0 { cx.mss as u64 } else { self.acked };
        let cwnd = self.window.segments(cx);
        let counted = self.window.cwnd_cnt();
        *counted += acked as f64;
        let gained = (*counted / cx.mss * self.alpha).floor();
        if gained >= cwnd {
            *counted = 0.0; // what is above goes to waste
            self.window.cwnd += (gained / cwnd).floor() * cx.mss;
        }
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        Window::decreased(ev.window, self.beta, cx)
    }

    fn on_congestion_done(&mut self, ev: &CongestionEvent, _cx: &Cx) {
        if ev.kind == Congestion::Timeout {
            (self.alpha, self.beta) = RENO;
            self.quiet = None;
            self.rtts.restart_round();
        }
    }

    fn on_restart(&mut self, _cx: &Cx) {
        self.rtts.restart_round();
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.alpha, self.beta, self.rtts.base_rtt(), self.rtts.max_rtt()]);
    }
}
