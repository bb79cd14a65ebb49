//! Compound TCP: Reno's window plus one that grows fast while there is no queue and gives way to one [Tan, Song, Zhang and
//! Sridharan, A Compound TCP Approach for High-Speed and Long Distance Networks, INFOCOM 2006, "TSZS";
//! draft-sridharan-tcpm-ctcp-02].
//!
//! ```text
//! window       win = cwnd + dwnd
//! cwnd         slow start as Reno (dwnd = 0); avoidance + 1 for each window of ACKs;  loss: 1/2        [TSZS]
//! once a round trip of avoidance   diff = win * (1 - base_rtt / srtt), segments in the queue
//!   diff < gamma   dwnd += max(alpha * win^k - 1, 0): with cwnd's segment alpha * win^k in all
//!   otherwise      dwnd -= zeta * diff, not below 0
//! loss         dwnd = max((1 - beta) * win - cwnd / 2, 0): with cwnd's half (1 - beta) * win in all
//! timeout      ssthresh = half of win, cwnd = 1, dwnd = 0
//! ```
//! Windows in segments. alpha = 1/8, beta = 1/2, k = 3/4, gamma = 30. alpha * win^k passes 1 at 16 segments; dwnd waits
//! for low_window, 38, from where HighSpeed TCP differs from Reno too.
//! Left out: finding gamma from the path ("tuning by emulation"), which the draft offers beside the fixed 30.

use crate::Variant;
use crate::common::{LossDriven, RoundRtt, RttPerRound, Window};
use crate::{AckEvent, Congestion, CongestionEvent, Cx, Setup};
use dumbbell_units::param::{Kind, Params, Spec};

pub(crate) const ROW: Variant = Variant {
    name: "compound",
    title: "Compound TCP: Reno's window plus one that follows the delay",
    year: 2006,
    source: "Tan, Song, Zhang and Sridharan, INFOCOM 2006; draft-sridharan-tcpm-ctcp-02",
    on_loss: "both windows halved; timeout: cwnd = 1 segment, the delay window is gone",
    on_delay: "the delay window gives up zeta times what is in the queue once a round trip, if that is gamma segments \
               or more",
    on_ecn: "as to a loss, without a retransmission",
    params: &[
        Spec {
            name: "alpha",
            kind: Kind::Float { min: 0.0, max: 10.0 },
            default: "0.125",
            doc: "factor of the increase alpha * win^k [Tan et al. 2006]",
        },
        Spec {
            name: "beta",
            kind: Kind::Float { min: 0.01, max: 0.99 },
            default: "0.5",
            doc: "part of the window that a loss takes [Tan et al. 2006]",
        },
        Spec {
            name: "k",
            kind: Kind::Float { min: 0.0, max: 1.0 },
            default: "0.75",
            doc: "exponent of the increase; 3/4 makes it as fast as HighSpeed TCP",
        },
        Spec {
            name: "zeta",
            kind: Kind::Float { min: 0.0, max: 100.0 },
            default: "1",
            doc: "part of its segments in the queue that the delay window gives up in a round trip",
        },
        Spec {
            name: "gamma",
            kind: Kind::Float { min: 0.0, max: 1e6 },
            default: "30",
            doc: "segments in the queue from which on the delay window shrinks",
        },
        Spec {
            name: "low_window",
            kind: Kind::Float { min: 0.0, max: 1e6 },
            default: "38",
            doc: "segments up to which the delay window doesn't grow",
        },
    ],
    columns: &["dwnd", "diff", "base_rtt"],
    build: |params, setup| Ok(Box::new(Compound::new(params, setup))),
    ..Variant::EMPTY
};

/// See the top of this file.
#[derive(Clone, Debug)]
struct Compound {
    /// win.
    window: Window,
    /// The delay window, bytes: this much of `window` is not Reno's.
    dwnd: f64,
    /// As it was before the last episode of congestion.
    before: f64,
    alpha: f64,
    beta: f64,
    k: f64,
    zeta: f64,
    gamma: f64,
    low_window: f64,
    rtts: RttPerRound,
    /// Of the last round, for the trace.
    diff: f64,
}

impl Compound {
    fn new(params: &Params, setup: &Setup) -> Compound {
        Compound {
            window: Window::new(setup),
            dwnd: 0.0,
            before: 0.0,
            alpha: params.float("alpha"),
            beta: params.float("beta"),
            k: params.float("k"),
            zeta: params.float("zeta"),
            gamma: params.float("gamma"),
            low_window: params.float("low_window"),
            rtts: RttPerRound::default(),
            diff: f64::NAN,
        }
    }

    /// Gives the delay window this size; Reno's stays as it is.
    fn set_delay_window(&mut self, dwnd: f64) {
        self.window.cwnd += dwnd - self.dwnd;
        self.dwnd = dwnd;
    }

    /// Reno's part is one segment at least.
    fn bound_delay_window(&mut self, cx: &Cx) {
        self.dwnd = self.dwnd.min(self.window.cwnd - cx.mss).max(0.0);
    }

    fn decide(&mut self, round: &RoundRtt, cx: &Cx) {
        let win = self.window.segments(cx);
        // DIVERGES [draft-sridharan-tcpm-ctcp-02]: the mean of the round instead of the smoothed RTT, whose memory
        // reaches further back than the decision.
        self.diff = win * (1.0 - round.base_rtt / round.mean);
        if self.diff >= self.gamma {
            self.set_delay_window((self.dwnd - self.zeta * self.diff * cx.mss).max(0.0));
        } else if win >= self.low_window {
            let grown = (self.alpha * libm::pow(win, self.k) - 1.0).max(0.0);
            self.set_delay_window(self.dwnd + grown.min(win) * cx.mss);
        }
    }
}

impl LossDriven for Compound {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        let round = self.rtts.on_ack(ev);
        let decides = !ev.in_recovery && ev.cwnd_limited && !self.window.in_slow_start();
        if let Some(round) = round.filter(|_| decides) {
            self.decide(&round, cx);
        }
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        self.window.additive_increase(1.0, ev.acked, cx);
    }

    fn on_congestion_begin(&mut self) {
        self.before = self.dwnd;
    }

    fn on_undo(&mut self, _reduced_cwnd: f64, cx: &Cx) {
        self.dwnd = self.dwnd.max(self.before);
        self.bound_delay_window(cx);
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, _cx: &Cx) -> f64 {
        if ev.kind == Congestion::Timeout {
            return 0.5 * ev.window;
        }
        let reno = self.window.cwnd - self.dwnd;
        // Where less than the window was outstanding, that much of both.
        let used = ev.window / self.window.cwnd;
        self.dwnd = used * ((1.0 - self.beta) * self.window.cwnd - 0.5 * reno).max(0.0);
        0.5 * used * reno + self.dwnd
    }

    fn on_congestion_done(&mut self, ev: &CongestionEvent, cx: &Cx) {
        if matches!(ev.kind, Congestion::Timeout | Congestion::Collapse) {
            self.dwnd = 0.0;
        }
        self.bound_delay_window(cx);
        self.rtts.restart_round(); // the queue of the round that runs is not that of this window
    }

    fn on_recovery_exit(&mut self, cx: &Cx) {
        self.bound_delay_window(cx);
    }

    fn on_restart(&mut self, _cx: &Cx) {
        self.dwnd = 0.0;
        self.rtts.restart_round();
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.dwnd, self.diff, self.rtts.base_rtt()]);
    }
}
