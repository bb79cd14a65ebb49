//! H-TCP: the increase grows with the time since the last congestion event, the decrease is the ratio of minimum and
//! maximum RTT [Leith and Shorten, H-TCP: TCP for High-Speed and Long-Distance Networks, PFLDnet 2004, "LS";
//! draft-leith-tcp-htcp-06].
//!
//! ```text
//! avoidance    cwnd += alpha per window of ACKs, at most one segment for each acknowledged              [LS]
//!   f(Delta)   1 up to Delta_L, then 1 + 10 (Delta - Delta_L) + ((Delta - Delta_L) / 2)^2; Delta: s since the event
//!   scaling    f * minRTT / 100 ms, that ratio within 0.1 .. 2, at least 1 (rtt_scaling)
//!   alpha      2 (1 - beta) f, which keeps the fairness of beta = 1/2
//! loss         beta = minRTT / maxRTT within 0.5 .. 0.8; 0.5 at the first event, and if the throughput B differs by
//!              more than 20 % from that at the last event;  ssthresh = beta * window, cwnd = ssthresh   [LS]
//! timeout      ssthresh likewise, cwnd = 1
//! ```
//! Delta starts again when a recovery ends. B is the delivery rate of the last full round trip. After each event maxRTT
//! moves 5 % towards minRTT, so that a shorter path is noticed [Linux tcp_htcp.c htcp_param_update]. Slow start
//! is the stack's. Nothing of the draft's sender is left out. `rules = "linux"` selects `linux.rs`.

mod linux;
mod linux_real;

use crate::common::{DeliveryRate, LossDriven, Window, window_is};
use crate::{AckEvent, CongestionEvent, Cx, Setup, Variant};
use dumbbell_units::param::{Kind, Params, settings, specs};
use dumbbell_units::{Dur, Time};
use linux::LinuxHtcp;

pub(crate) const ROW: Variant = Variant {
    name: "htcp",
    title: "H-TCP: the increase grows with the time since the last loss",
    year: 2004,
    source: "Leith and Shorten, H-TCP, PFLDnet 2004; draft-leith-tcp-htcp-06",
    on_loss: "window times minimum RTT / maximum RTT, within 0.5 and 0.8; times 0.5 when the throughput has changed; \
              timeout: cwnd = 1 segment",
    on_delay: "none",
    on_ecn: "as to a loss, without a retransmission",
    params: specs! {
        /// Delta_L: time after a loss in which the window grows as with Reno [Leith and Shorten 2004]
        delta_l = "1 s", Kind::Duration;
        /// the increase is proportional to the minimum RTT, so that flows of unequal RTT get equal shares
        rtt_scaling = "true", Kind::Bool;
        /// beta is the ratio of minimum and maximum RTT; otherwise it is 0.5
        adaptive_backoff = "true", Kind::Bool;
        /// the published formulas, or the integer arithmetic of Linux's tcp_htcp.c
        rules = "published", Kind::Choice(&["published", "linux"]);
    },
    stack_defaults: &[("linux", "rules", "linux")],
    columns: &["alpha", "beta", "base_rtt", "max_rtt"],
    build: |params, setup| match params.choice("rules") {
        "linux" => Ok(Box::new(LinuxHtcp::new(params, setup))),
        _ => Ok(Box::new(Htcp::new(params, setup))),
    },
    ..Variant::EMPTY
};

/// Bounds of beta [draft-leith-tcp-htcp-06].
const BETA: (f64, f64) = (0.5, 0.8);
/// A relative difference of B above this is a change [draft-leith-tcp-htcp-06].
const B_CHANGE: f64 = 0.2;
/// The RTT at which scaling has no effect, s, and the bounds of the ratio [Linux tcp_htcp.c htcp_alpha_update].
const RTT_REF: f64 = 0.1;
const RATIO: (f64, f64) = (0.1, 2.0);
/// The fraction of maxRTT - minRTT that remains after a congestion event [Linux tcp_htcp.c htcp_param_update].
const MAX_RTT_FADE: f64 = 0.95;

settings! {
    /// The parameters of a scenario.
    #[derive(Clone, Copy, Debug)]
    struct Settings;
    fn read(params: &Params);
    delta_l: Dur = params.duration("delta_l");
    rtt_scaling: bool = params.bool("rtt_scaling");
    adaptive_backoff: bool = params.bool("adaptive_backoff");
}

/// The variables of [LS].
#[derive(Clone, Copy, Debug)]
struct Variables {
    /// The time at Delta = 0: the first ACK, a congestion event, the end of its recovery.
    last_cong: Option<Time>,
    /// B at the last congestion event, bytes/s.
    old_b: Option<f64>,
    /// minRTT and maxRTT, s.
    rtts: Option<(f64, f64)>,
    beta: f64,
}

/// H-TCP as published.
#[derive(Clone, Debug)]
struct Htcp {
    window: Window,
    settings: Settings,
    rate: DeliveryRate,
    last_rtt: Dur,
    /// B: the delivery rate of the last round trip, bytes/s.
    b: Option<f64>,
    vars: Variables,
    /// The variables before the last episode of congestion.
    prior: Variables,
    /// alpha at the last ACK in avoidance, for the trace.
    alpha: f64,
}

impl Htcp {
    fn new(params: &Params, setup: &Setup) -> Htcp {
        let vars = Variables { last_cong: None, old_b: None, rtts: None, beta: BETA.0 };
        Htcp {
            window: Window::new(setup),
            settings: Settings::read(params),
            rate: DeliveryRate::default(),
            last_rtt: Dur::ZERO,
            b: None,
            vars,
            prior: vars,
            alpha: f64::NAN,
        }
    }

    /// Returns alpha [LS].
    fn alpha(&mut self, now: Time) -> f64 {
        let delta = now.since(*self.vars.last_cong.get_or_insert(now)).as_secs() - self.settings.delta_l.as_secs();
        let mut f = if delta > 0.0 { 1.0 + 10.0 * delta + (delta / 2.0) * (delta / 2.0) } else { 1.0 };
        if let Some((min_rtt, _)) = self.vars.rtts.filter(|_| self.settings.rtt_scaling) {
            f = (f * (min_rtt / RTT_REF).clamp(RATIO.0, RATIO.1)).max(1.0);
        }
        2.0 * (1.0 - self.vars.beta) * f
    }

    /// Returns beta at a congestion event [LS].
    fn beta(&mut self) -> f64 {
        let old_b = std::mem::replace(&mut self.vars.old_b, self.b);
        let steady = match (old_b, self.b) {
            (Some(old), Some(b)) => (b - old).abs() <= B_CHANGE * old,
            _ => false,
        };
        match self.vars.rtts.filter(|_| steady && self.settings.adaptive_backoff) {
            Some((min_rtt, max_rtt)) => (min_rtt / max_rtt).clamp(BETA.0, BETA.1),
            None => BETA.0,
        }
    }
}

impl LossDriven for Htcp {
    window_is!(window);

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        if ev.in_recovery {
            self.rate.restart(); // the delivery rate of a recovery is not the flow's throughput
            return;
        }
        if let Some(rtt) = ev.rtt {
            self.last_rtt = rtt;
            let rtt = rtt.as_secs();
            let (min_rtt, max_rtt) = self.vars.rtts.unwrap_or((rtt, rtt));
            self.vars.rtts = Some((min_rtt.min(rtt), max_rtt.max(rtt)));
        }
        if let Some(b) = self.rate.on_ack(ev.delivered, self.last_rtt, cx.now) {
            self.b = Some(b);
        }
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        self.alpha = self.alpha(cx.now).min(self.window.segments(cx));
        self.window.additive_increase(self.alpha, ev.acked, cx);
    }

    fn on_congestion_begin(&mut self) {
        self.prior = self.vars;
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        self.vars.beta = self.beta();
        self.vars.fade_max_rtt();
        self.vars.last_cong = Some(cx.now);
        self.vars.beta * ev.window
    }

    fn on_undo(&mut self, _reduced_cwnd: f64, _cx: &Cx) {
        self.vars.undo(&self.prior);
    }

    fn on_recovery_exit(&mut self, cx: &Cx) {
        self.vars.last_cong = Some(cx.now);
    }

    fn on_restart(&mut self, cx: &Cx) {
        self.vars.last_cong = Some(cx.now);
        self.rate.restart(); // the idle period is not part of the throughput
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let (min_rtt, max_rtt) = self.vars.rtts.unwrap_or((f64::NAN, f64::NAN));
        row.extend([self.alpha, self.vars.beta, min_rtt, max_rtt]);
    }
}

impl Variables {
    /// Moves maxRTT towards minRTT.
    fn fade_max_rtt(&mut self) {
        if let Some((min_rtt, max_rtt)) = &mut self.rtts {
            *max_rtt = *min_rtt + MAX_RTT_FADE * (*max_rtt - *min_rtt);
        }
    }

    /// Restores the variables to their values before a spurious event; RTT samples since then remain.
    fn undo(&mut self, prior: &Variables) {
        let rtts = match (self.rtts, prior.rtts) {
            (Some((min_rtt, max_rtt)), Some((_, prior_max))) => Some((min_rtt, max_rtt.max(prior_max))),
            (rtts, _) => rtts,
        };
        *self = Variables { rtts, ..*prior };
    }
}
