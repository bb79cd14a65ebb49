//! Illinois: losses decide when the window shrinks; the queueing delay decides how fast it grows and how much it
//! shrinks [Liu, Başar and Srikant, TCP-Illinois: A Loss- and Delay-Based Congestion Control Algorithm for High-Speed
//! Networks, Performance Evaluation 65(6-7), 2008, "LBS"].
//!
//! ```text
//! once a round trip    da = mean RTT - base_rtt,  dm = max_rtt - base_rtt                              [LBS]
//!   alpha   da <= d1 = 0.01 dm: alpha_max, if theta such rounds followed one with a queue              [LBS]
//!           else k1 / (k2 + da), which falls from alpha_max at d1 to alpha_min at dm
//!   beta    da <= d2 = 0.1 dm: beta_min;  da >= d3 = 0.8 dm: beta_max;  linear between                 [LBS]
//!   cwnd < window_threshold: alpha = 1, beta = 1/2, as Reno                                            [LBS]
//! avoidance    cwnd += alpha per window of ACKs;  slow start as Reno
//! loss         ssthresh = (1 - beta) * window, cwnd = ssthresh
//! timeout      ssthresh likewise, cwnd = 1; alpha = 1, beta = 1/2 until the next round
//!                                                              [Linux tcp_illinois.c tcp_illinois_state]
//! ```
//! The constants are those of the publication; window_threshold is 15 in [Linux tcp_illinois.c win_thresh]. On a stack
//! that counts cwnd in segments `linux.rs` has the growth and the rounding. Nothing is left out: neither source ages
//! max_rtt.

mod linux;

use crate::common::{LossDriven, RoundRtt, RttPerRound, Window, window_is};
use crate::{AckEvent, Congestion, CongestionEvent, Cx, Setup, Variant};
use dumbbell_units::param::{Kind, ParamError, Params, specs};

pub(crate) const ROW: Variant = Variant {
    name: "illinois",
    title: "AIMD whose increase and decrease depend on the queueing delay",
    year: 2006,
    source: "Liu, Başar and Srikant, TCP-Illinois, Performance Evaluation 65(6-7), 2008 (VALUETOOLS 2006)",
    on_loss: "window down by 1/8 without a queue to 1/2 with a full one; timeout: cwnd = 1 segment",
    on_delay: "grows by 10 segments a round trip without a queue, by 0.3 with a full one",
    on_ecn: "as to a loss, without a retransmission",
    params: specs! {
        /// increase per round trip with a full queue, segments [Liu et al. 2008]
        alpha_min = "0.3", Kind::Float { min: 0.01, max: 1000.0 };
        /// increase per round trip without a queue, segments [Liu et al. 2008]
        alpha_max = "10", Kind::Float { min: 0.01, max: 1000.0 };
        /// fraction by which a loss reduces the window without a queue [Liu et al. 2008]
        beta_min = "0.125", Kind::Float { min: 0.01, max: 0.99 };
        /// fraction by which a loss reduces the window with a full queue [Liu et al. 2008]
        beta_max = "0.5", Kind::Float { min: 0.01, max: 0.99 };
        /// segments below which the rules are those of Reno [Liu et al. 2008]
        window_threshold = "10", Kind::Float { min: 0.0, max: 1e6 };
        /// round trips without a queue, after one with a queue, before alpha is alpha_max [Liu et al. 2008]
        theta = "5", Kind::Int { min: 1, max: 1000 };
    },
    stack_defaults: &[("linux", "window_threshold", "15")],
    columns: &["alpha", "beta", "base_rtt", "max_rtt"],
    build: |params, setup| Ok(Box::new(Illinois::new(params, setup)?)),
    ..Variant::EMPTY
};

/// d1, d2 and d3 as fractions of dm [LBS].
const ETA: (f64, f64, f64) = (0.01, 0.1, 0.8);
/// Reno's alpha and beta.
const RENO: (f64, f64) = (1.0, 0.5);

/// Illinois, by the publication and by the rules of `linux.rs`.
#[derive(Clone, Debug)]
struct Illinois {
    window: Window,
    /// alpha_min and alpha_max, beta_min and beta_max.
    alphas: (f64, f64),
    betas: (f64, f64),
    window_threshold: f64,
    theta: u64,
    rtts: RttPerRound,
    alpha: f64,
    beta: f64,
    /// Rounds with da <= d1 since one with a queue; None: alpha_max is allowed.
    rtt_low: Option<u64>,
    /// For `linux.rs`: SND.UNA at the last ACK, and the bytes that this ACK acknowledges (ca->acked).
    snd_una: Option<u64>,
    acked: u64,
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
            rtt_low: None,
            snd_una: None,
            acked: 0,
        })
    }

    /// Returns alpha for the mean and the maximum queueing delay [LBS; Linux tcp_illinois.c alpha].
    fn alpha(&mut self, da: f64, dm: f64, cx: &Cx) -> f64 {
        let (alpha_min, alpha_max) = self.alphas;
        let d1 = ETA.0 * dm;
        if da > d1 {
            // [Linux tcp_illinois.c alpha] sets rtt_above, and rtt_low only at the end.
            self.rtt_low = Some(self.rtt_low.filter(|_| cx.counts_segments()).unwrap_or(0));
            // k1 / (k2 + da), with the k1 and k2 that give alpha_max at d1 and alpha_min at dm, divided by k1.
            return alpha_max / (1.0 + (da - d1) / (dm - d1) * (alpha_max - alpha_min) / alpha_min);
        }
        // A single round without a queue must not increase the window suddenly.
        self.rtt_low = self.rtt_low.map(|n| n + 1).filter(|n| *n < self.theta);
        if self.rtt_low.is_some() { self.alpha } else { alpha_max }
    }

    /// Returns beta for the mean and the maximum queueing delay [LBS; Linux tcp_illinois.c beta].
    fn beta(&self, da: f64, dm: f64) -> f64 {
        let (beta_min, beta_max) = self.betas;
        let (d2, d3) = (ETA.1 * dm, ETA.2 * dm);
        if da <= d2 {
            beta_min
        } else if da >= d3 {
            beta_max
        } else {
            beta_min + (beta_max - beta_min) * (da - d2) / (d3 - d2)
        }
    }

    /// Updates alpha and beta at the end of a round trip [LBS; Linux tcp_illinois.c update_params].
    fn update_params(&mut self, round: &RoundRtt, cx: &Cx) {
        if self.window.segments(cx) < self.window_threshold {
            (self.alpha, self.beta) = RENO;
            return;
        }
        let (da, dm) = (round.mean - round.base_rtt, round.max_rtt - round.base_rtt);
        (self.alpha, self.beta) = (self.alpha(da, dm, cx), self.beta(da, dm));
    }
}

impl LossDriven for Illinois {
    window_is!(window);

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        if cx.counts_segments() {
            self.linux_sample(ev, cx);
        } else if let Some(round) = self.rtts.on_ack(ev) {
            self.update_params(&round, cx);
        }
    }

    /// On a stack that counts segments, nothing is left for avoidance [Linux tcp_illinois.c tcp_illinois_cong_avoid].
    fn on_ack_slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        let rest = self.window.slow_start(ev.acked, cx);
        if cx.counts_segments() { 0 } else { rest }
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        if cx.counts_segments() {
            self.linux_cong_avoid(cx);
        } else {
            self.window.additive_increase(self.alpha, ev.acked, cx);
        }
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        Window::decreased(ev.window, self.beta, cx)
    }

    fn on_congestion_done(&mut self, ev: &CongestionEvent, _cx: &Cx) {
        if ev.kind == Congestion::Timeout {
            (self.alpha, self.beta) = RENO;
            self.rtt_low = None;
            self.rtts.restart_round();
        }
    }

    /// By the publication; [Linux tcp_illinois.c tcp_illinois] has no function for CA_EVENT_CWND_RESTART.
    fn on_restart(&mut self, cx: &Cx) {
        if !cx.counts_segments() {
            self.rtts.restart_round();
        }
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.alpha, self.beta, self.rtts.base_rtt(), self.rtts.max_rtt()]);
    }
}
