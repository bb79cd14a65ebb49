//! YeAH: Scalable TCP while the queue is short, Reno with early decongestion while it is long [Baiocchi, Castellani and
//! Vacirca, YeAH-TCP: Yet Another Highspeed TCP, PFLDnet 2007, "BCV"].
//!
//! ```text
//! once a round trip    Q = cwnd * (1 - RTT_base / RTT_min) segments, RTT_min: the minimum of the round  [BCV]
//!   Q <= Q_max and RTT_min - RTT_base <= RTT_base / phi:  fast mode;  otherwise slow mode               [BCV]
//!   slow    w_reno, the estimated window of a competing Reno flow: + 1, at first cwnd / 2
//!           Q > Q_max and cwnd > w_reno (early decongestion):
//!             cwnd -= min(Q / gamma, cwnd / 2), at least w_reno;  ssthresh = cwnd
//!   fast    after zeta such rounds w_reno is reset
//! avoidance    fast: cwnd += 0.01 per segment acknowledged, at least as Reno;  slow: as Reno
//! loss         fast, or fewer than rho consecutive slow rounds: window - min(max(Q, cwnd / 8), cwnd / 2)  [BCV]
//!              else 1/2;  ssthresh = cwnd, at least 2;  w_reno / 2
//! timeout      ssthresh likewise, cwnd = 1
//! ```
//! Windows in segments. The constants are those of [Linux tcp_yeah.c TCP_YEAH_ALPHA and following], which come from the
//! authors (Q_max 80, phi 8, gamma 1, zeta 50, rho 16). On a stack that counts cwnd in segments `linux.rs` has the
//! order of the steps.

mod linux;

use crate::common::{LossDriven, RoundRtt, RttPerRound, Window, window_is};
use crate::{AckEvent, Congestion, CongestionEvent, Cx, Setup, TxStart, Variant};
use dumbbell_units::param::{Kind, Params, specs};

pub(crate) const ROW: Variant = Variant {
    name: "yeah",
    title: "Scalable TCP with a short queue, Reno and early decongestion with a long queue",
    year: 2007,
    source: "Baiocchi, Castellani and Vacirca, YeAH-TCP, PFLDnet 2007",
    on_loss: "window less its segments in the queue, between 1/8 and 1/2 of it, 1/2 if Reno flows compete; timeout: cwnd = 1 \
              segment",
    on_delay: "more than q_max segments in the queue are drained once a round trip; grows as Reno with a queue, as Scalable \
               TCP without one",
    on_ecn: "as to a loss, without a retransmission",
    params: specs! {
        /// Q_max: segments in the queue above which early decongestion drains it [Linux tcp_yeah.c TCP_YEAH_ALPHA]
        q_max = "80", Kind::Float { min: 0.0, max: 1e6 };
        /// a queueing delay above base_rtt / phi is congestion [Linux tcp_yeah.c TCP_YEAH_PHY]
        phi = "8", Kind::Float { min: 0.1, max: 1000.0 };
        /// early decongestion drains 1/gamma of the flow's segments in the queue [Linux tcp_yeah.c TCP_YEAH_GAMMA]
        gamma = "1", Kind::Float { min: 1.0, max: 1000.0 };
        /// consecutive slow rounds after which a loss is attributed to competing Reno flows [Linux tcp_yeah.c
        /// TCP_YEAH_RHO]
        rho = "16", Kind::Int { min: 0, max: 100_000 };
        /// fast rounds after which no Reno flow is assumed to compete [Linux tcp_yeah.c TCP_YEAH_ZETA]
        zeta = "50", Kind::Int { min: 0, max: 100_000 };
    },
    columns: &["base_rtt", "q", "w_reno", "slow_rounds"],
    build: |params, setup| Ok(Box::new(Yeah::new(params, setup))),
    ..Variant::EMPTY
};

/// Smallest fraction by which a loss reduces the window (delta) [BCV; Linux tcp_yeah.c TCP_YEAH_DELTA].
const DELTA: f64 = 1.0 / 8.0;
/// Largest fraction by which a loss or early decongestion reduces it (epsilon) [BCV; Linux tcp_yeah.c
/// TCP_YEAH_EPSILON].
const EPSILON: f64 = 1.0 / 2.0;
/// Scalable TCP's increase per segment acknowledged [Linux tcp_yeah.c TCP_SCALABLE_AI_CNT].
const SCALABLE: f64 = 0.01;
/// w_reno without an estimate, segments.
const NO_RENO: f64 = 2.0;

/// Returns half of a number of segments, rounded down where cwnd is counted in segments.
fn half(segments: f64, cx: &Cx) -> f64 {
    let half = segments / 2.0;
    if cx.counts_segments() { half.floor() } else { half }
}

/// YeAH, by the publication and by the rules of `linux.rs`. Names in parentheses: `struct yeah` [Linux tcp_yeah.c
/// yeah].
#[derive(Clone, Debug)]
struct Yeah {
    window: Window,
    q_max: f64,
    phi: f64,
    gamma: f64,
    rho: u64,
    zeta: u64,
    rtts: RttPerRound,
    /// Q of the last round, segments (lastQ).
    q: f64,
    /// Consecutive slow rounds; 0: fast mode (doing_reno_now).
    slow_rounds: u64,
    /// Fast rounds since the last loss or reset of w_reno (fast_count).
    fast_rounds: u64,
    /// Segments (reno_count).
    w_reno: f64,
    /// fast_rounds and w_reno before the last episode of congestion.
    prior: (u64, f64),
}

impl Yeah {
    fn new(params: &Params, setup: &Setup) -> Yeah {
        Yeah {
            window: Window::new(setup),
            q_max: params.float("q_max"),
            phi: params.float("phi"),
            gamma: params.float("gamma"),
            rho: params.int("rho"),
            zeta: params.int("zeta"),
            rtts: RttPerRound::default(),
            q: 0.0,
            slow_rounds: 0,
            fast_rounds: 0,
            w_reno: NO_RENO,
            prior: (0, NO_RENO),
        }
    }

    /// Chooses fast or slow mode at the end of a round trip, with early decongestion [BCV].
    fn end_round(&mut self, round: &RoundRtt, cx: &Cx) {
        let cwnd = self.window.segments(cx);
        let delay = round.min - round.base_rtt;
        self.q = cwnd * delay / round.min;
        if cx.counts_segments() {
            self.q = self.q.floor();
        }
        if self.q <= self.q_max && delay <= round.base_rtt / self.phi {
            self.slow_rounds = 0;
            self.fast_rounds += 1;
            if self.fast_rounds > self.zeta {
                (self.w_reno, self.fast_rounds) = (NO_RENO, 0);
            }
            return;
        }
        if self.q > self.q_max && cwnd > self.w_reno {
            let reduction = (self.q / self.gamma).min(EPSILON * cwnd);
            let segments = Cx { mss: 1.0, ..*cx };
            let reduced = Window::decreased(cwnd, reduction / cwnd, &segments).max(self.w_reno);
            self.window.reduce_to(reduced * cx.mss, cx);
        }
        self.w_reno =
            if self.w_reno <= NO_RENO { half(self.window.segments(cx), cx).max(NO_RENO) } else { self.w_reno + 1.0 };
        self.slow_rounds += 1;
    }
}

impl LossDriven for Yeah {
    window_is!(window);

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        if cx.counts_segments() {
            return self.linux_sample(ev);
        }
        let round = self.rtts.on_ack(ev);
        if let Some(round) = round.filter(|_| !ev.in_recovery && ev.cwnd_limited) {
            self.end_round(&round, cx);
        }
    }

    fn on_ack_slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        let rest = self.window.slow_start(ev.acked, cx);
        if rest == 0 && cx.counts_segments() {
            self.linux_end_round(ev, cx);
        }
        rest
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        let scalable = (SCALABLE * self.window.segments(cx)).max(1.0);
        let increase = if self.slow_rounds > 0 { 1.0 } else { scalable };
        self.window.additive_increase(increase, ev.acked, cx);
        if cx.counts_segments() {
            self.linux_end_round(ev, cx);
        }
    }

    fn on_congestion_begin(&mut self) {
        self.prior = (self.fast_rounds, self.w_reno);
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        let cwnd = self.window.segments(cx);
        let reduction =
            if self.slow_rounds < self.rho { self.q.max(DELTA * cwnd).min(EPSILON * cwnd) } else { EPSILON * cwnd };
        self.fast_rounds = 0;
        self.w_reno = half(self.w_reno, cx).max(NO_RENO);
        Window::decreased(ev.window, reduction / cwnd, cx)
    }

    fn on_congestion_done(&mut self, ev: &CongestionEvent, _cx: &Cx) {
        if matches!(ev.kind, Congestion::Timeout | Congestion::Collapse) {
            self.rtts.restart_round();
        }
    }

    fn on_undo(&mut self, _reduced_cwnd: f64, _cx: &Cx) {
        (self.fast_rounds, self.w_reno) = self.prior;
    }

    fn on_recovery_exit(&mut self, cx: &Cx) {
        if cx.counts_segments() {
            self.rtts.restart_round(); // [Linux tcp_vegas.c tcp_vegas_state]
        }
    }

    fn on_tx_start(&mut self, ev: &TxStart, cx: &Cx) {
        if cx.counts_segments() {
            self.rtts.reset(ev.snd_nxt); // [Linux tcp_vegas.c tcp_vegas_cwnd_event]
        }
    }

    fn on_restart(&mut self, _cx: &Cx) {
        self.rtts.restart_round();
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.rtts.base_rtt(), self.q, self.w_reno, self.slow_rounds as f64]);
    }
}
