//! Compound TCP: Reno's window cwnd plus a delay window dwnd, which grows fast without a queue and shrinks when a
//! queue builds up.
//!
//! Sources: Tan, Song, Zhang and Sridharan, A Compound TCP Approach for High-Speed and Long Distance Networks, INFOCOM
//! 2006 ("TSZS"); draft-sridharan-tcpm-ctcp-02.
//!
//! ```text
//! window       win = cwnd + dwnd
//! cwnd         slow start as Reno (dwnd = 0); avoidance + 1 for each window of ACKs;  loss: 1/2        [TSZS]
//! once per round trip of avoidance   diff = win * (1 - base_rtt / rtt), segments in the queue
//!   diff < gamma   dwnd += max(alpha * win^k - 1, 0): together with cwnd's segment alpha * win^k
//!   otherwise      dwnd -= zeta * diff, not below 0
//! loss         dwnd = max((1 - beta) * win - cwnd / 2, 0): together with cwnd's half (1 - beta) * win
//! timeout      ssthresh = half of win, cwnd = 1, dwnd = 0
//! ```
//! Windows in segments. alpha = 1/8, beta = 1/2, k = 3/4, gamma = 30. alpha * win^k exceeds 1 at 16 segments; dwnd
//! grows only from low_window = 38 segments on, where HighSpeed TCP begins to differ from Reno too. Left out:
//! estimating gamma from the path ("tuning by emulation"), which the draft offers as an alternative to 30.

use crate::Variant;
use crate::common::{LossDriven, RoundRtt, RttPerRound, Window, window_is};
use crate::{AckEvent, Congestion, CongestionEvent, Cx, Setup};
use dumbbell_units::param::{Kind, Params, specs};

pub(crate) const ROW: Variant = Variant {
    name: "compound",
    title: "Compound TCP: Reno's window plus a delay-based window",
    year: 2006,
    source: "Tan, Song, Zhang and Sridharan, INFOCOM 2006; draft-sridharan-tcpm-ctcp-02",
    on_loss: "both windows halved; timeout: cwnd = 1 segment, dwnd = 0",
    on_delay: "with gamma or more segments in the queue: dwnd shrinks by zeta times these, once per round trip",
    on_ecn: "as to a loss, without a retransmission",
    params: specs! {
        /// factor of the increase alpha * win^k [Tan et al. 2006]
        alpha = "0.125", Kind::Float { min: 0.0, max: 10.0 };
        /// decrease of the window at a loss [Tan et al. 2006]
        beta = "0.5", Kind::Float { min: 0.01, max: 0.99 };
        /// exponent of the increase; with 3/4 it is as fast as HighSpeed TCP
        k = "0.75", Kind::Float { min: 0.0, max: 1.0 };
        /// decrease of dwnd in a round trip, as a part of the flow's segments in the queue
        zeta = "1", Kind::Float { min: 0.0, max: 100.0 };
        /// segments in the queue at which dwnd starts to shrink
        gamma = "30", Kind::Float { min: 0.0, max: 1e6 };
        /// smallest window, in segments, at which dwnd grows
        low_window = "38", Kind::Float { min: 0.0, max: 1e6 };
    },
    columns: &["dwnd", "diff", "base_rtt"],
    build: |params, setup| Ok(Box::new(Compound::new(params, setup))),
    ..Variant::EMPTY
};

/// The state of Compound TCP.
#[derive(Clone, Debug)]
struct Compound {
    /// win.
    window: Window,
    /// The delay window, bytes: the part of `window` that is not Reno's cwnd.
    dwnd: f64,
    /// dwnd before the last congestion episode.
    dwnd_before_episode: f64,
    alpha: f64,
    beta: f64,
    k: f64,
    zeta: f64,
    gamma: f64,
    low_window: f64,
    rtts: RttPerRound,
    /// Of the last round trip, for the trace.
    diff: f64,
}

impl Compound {
    fn new(params: &Params, setup: &Setup) -> Compound {
        Compound {
            window: Window::new(setup),
            dwnd: 0.0,
            dwnd_before_episode: 0.0,
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

    /// Sets the delay window; Reno's cwnd is unchanged.
    fn set_dwnd(&mut self, dwnd: f64) {
        self.window.cwnd += dwnd - self.dwnd;
        self.dwnd = dwnd;
    }

    /// Limits the delay window so that Reno's cwnd is at least one segment.
    fn limit_dwnd(&mut self, cx: &Cx) {
        self.dwnd = self.dwnd.min(self.window.cwnd - cx.mss).max(0.0);
    }

    /// Updates the delay window after a round trip.
    fn update_dwnd(&mut self, round: &RoundRtt, cx: &Cx) {
        let win = self.window.segments(cx);
        // DIVERGES [draft-sridharan-tcpm-ctcp-02]: the mean RTT of the round trip instead of the smoothed RTT, which
        // includes samples from before the last decision.
        self.diff = win * (1.0 - round.base_rtt / round.mean);
        if self.diff >= self.gamma {
            self.set_dwnd((self.dwnd - self.zeta * self.diff * cx.mss).max(0.0));
        } else if win >= self.low_window {
            let grown = (self.alpha * libm::pow(win, self.k) - 1.0).max(0.0);
            self.set_dwnd(self.dwnd + grown.min(win) * cx.mss);
        }
    }
}

impl LossDriven for Compound {
    window_is!(window);

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        let round = self.rtts.on_ack(ev);
        let decides = !ev.in_recovery && ev.cwnd_limited && !self.window.in_slow_start();
        if let Some(round) = round.filter(|_| decides) {
            self.update_dwnd(&round, cx);
        }
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        self.window.additive_increase(1.0, ev.acked, cx);
    }

    fn on_congestion_begin(&mut self) {
        self.dwnd_before_episode = self.dwnd;
    }

    fn on_undo(&mut self, _reduced_cwnd: f64, cx: &Cx) {
        self.dwnd = self.dwnd.max(self.dwnd_before_episode);
        self.limit_dwnd(cx);
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, _cx: &Cx) -> f64 {
        if ev.kind == Congestion::Timeout {
            return 0.5 * ev.window;
        }
        let reno = self.window.cwnd - self.dwnd;
        // If less than the window was in flight, both windows are reduced in proportion.
        let used = ev.window / self.window.cwnd;
        self.dwnd = used * ((1.0 - self.beta) * self.window.cwnd - 0.5 * reno).max(0.0);
        0.5 * used * reno + self.dwnd
    }

    fn on_congestion_done(&mut self, ev: &CongestionEvent, cx: &Cx) {
        if matches!(ev.kind, Congestion::Timeout | Congestion::Collapse) {
            self.dwnd = 0.0;
        }
        self.limit_dwnd(cx);
        self.rtts.restart_round(); // the RTTs of this round trip belong to the old window
    }

    fn on_recovery_exit(&mut self, cx: &Cx) {
        self.limit_dwnd(cx);
    }

    fn on_restart(&mut self, _cx: &Cx) {
        self.dwnd = 0.0;
        self.rtts.restart_round();
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.dwnd, self.diff, self.rtts.base_rtt()]);
    }
}
