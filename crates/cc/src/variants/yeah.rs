//! YeAH: Scalable TCP while the queue is short, Reno and a decrease before the loss while it isn't [Baiocchi, Castellani and
//! Vacirca, YeAH-TCP: Yet Another Highspeed TCP, PFLDnet 2007, "BCV"].
//!
//! ```text
//! once a round trip    q = cwnd * (1 - base_rtt / rtt) segments, rtt the smallest of the round         [BCV]
//!   q <= q_max and rtt - base_rtt <= base_rtt / phi:  fast;  otherwise slow
//!   slow    w_reno, a guess at what a Reno beside it has: + 1, at first cwnd / 2
//!           q > q_max and cwnd > w_reno:  cwnd -= min(q / gamma, cwnd / 2), not below w_reno; ssthresh = cwnd
//!   fast    zeta rounds of it: w_reno is forgotten
//! avoidance    fast: cwnd += 0.01 for each segment acknowledged, at least as Reno;  slow: as Reno
//! loss         fast or less than rho slow rounds in a row: window - min(max(q, cwnd / 8), cwnd / 2)   [BCV]
//!              else 1/2;  ssthresh = cwnd = what is left, at least 2;  w_reno / 2
//! timeout      ssthresh likewise, cwnd = 1
//! ```
//! Windows in segments; the numbers are Linux's, which are the authors' own (q_max 80, phi 8, gamma 1, zeta 50, rho 16).
//! On a stack that counts segments base_rtt is forgotten when a segment leaves with nothing in flight, as in Linux.
//! Left out: waiting for three samples before a decision, with which Linux guards against delayed ACKs: here a sample is
//! that of the newest segment that an ACK covers.

use crate::Variant;
use crate::common::{LossDriven, RoundRtt, RttPerRound, Window};
use crate::{AckEvent, Congestion, CongestionEvent, Cx, Setup, TxStart};
use dumbbell_units::param::{Kind, Params, Spec};

pub(crate) const ROW: Variant = Variant {
    name: "yeah",
    title: "Scalable TCP on a short queue, Reno with a decrease before the loss on a long one",
    year: 2007,
    source: "Baiocchi, Castellani and Vacirca, YeAH-TCP, PFLDnet 2007",
    on_loss: "window less what it has in the queue, between 1/8 and 1/2 of it, 1/2 beside a Reno; timeout: cwnd = 1 \
              segment",
    on_delay: "more than q_max segments in the queue are taken away once a round trip; grows as Reno with a queue, \
               as Scalable without",
    on_ecn: "as to a loss, without a retransmission",
    params: &[
        Spec {
            name: "q_max",
            kind: Kind::Float { min: 0.0, max: 1e6 },
            default: "80",
            doc: "segments in the queue from which on it makes room (Linux: TCP_YEAH_ALPHA)",
        },
        Spec {
            name: "phi",
            kind: Kind::Float { min: 0.1, max: 1000.0 },
            default: "8",
            doc: "a queueing delay above base_rtt / phi counts as congestion",
        },
        Spec {
            name: "gamma",
            kind: Kind::Float { min: 1.0, max: 1000.0 },
            default: "1",
            doc: "a decrease before the loss takes 1/gamma of its segments out of the queue",
        },
        Spec {
            name: "rho",
            kind: Kind::Int { min: 0, max: 100_000 },
            default: "16",
            doc: "slow rounds in a row from which on a loss is taken as one beside a Reno",
        },
        Spec {
            name: "zeta",
            kind: Kind::Int { min: 0, max: 100_000 },
            default: "50",
            doc: "fast rounds after which no Reno is believed to be beside it",
        },
    ],
    columns: &["base_rtt", "q", "w_reno", "slow_rounds"],
    build: |params, setup| Ok(Box::new(Yeah::new(params, setup))),
    ..Variant::EMPTY
};

/// The parts of the window that a loss takes at least [BCV, delta] and a decrease before a loss at most [epsilon].
const LEAST: f64 = 1.0 / 8.0;
const MOST: f64 = 1.0 / 2.0;
/// Scalable TCP's increase for a segment acknowledged.
const SCALABLE: f64 = 0.01;
/// w_reno when there is no guess, segments.
const NONE: f64 = 2.0;

/// Half of so many segments; in whole ones where the stack counts so.
fn half(segments: f64, cx: &Cx) -> f64 {
    let half = segments / 2.0;
    if cx.counts_segments() { half.floor() } else { half }
}

/// See the top of this file.
#[derive(Clone, Debug)]
struct Yeah {
    window: Window,
    q_max: f64,
    phi: f64,
    gamma: f64,
    rho: u64,
    zeta: u64,
    rtts: RttPerRound,
    /// Segments in the queue in the last round.
    q: f64,
    /// Slow rounds in a row; 0: fast.
    slow: u64,
    /// Fast rounds since the last loss or since w_reno was forgotten.
    fast: u64,
    w_reno: f64,
    /// fast and w_reno before the last episode of congestion.
    before: (u64, f64),
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
            slow: 0,
            fast: 0,
            w_reno: NONE,
            before: (0, NONE),
        }
    }

    /// Linux: a round whose end is looked at after the window has grown, with three samples at least.
    fn look(&mut self, ev: &AckEvent, cx: &Cx) {
        if cx.counts_segments() {
            let enough = self.rtts.samples() > 2;
            if let Some(round) = self.rtts.end_round(ev).filter(|_| enough) {
                self.decide(&round, cx);
            }
        }
    }

    /// Fast or slow, and the decrease before a loss [BCV].
    fn decide(&mut self, round: &RoundRtt, cx: &Cx) {
        let cwnd = self.window.segments(cx);
        let delay = round.min - round.base_rtt;
        self.q = cwnd * delay / round.min;
        if cx.counts_segments() {
            self.q = self.q.floor();
        }
        if self.q <= self.q_max && delay <= round.base_rtt / self.phi {
            self.slow = 0;
            self.fast += 1;
            if self.fast > self.zeta {
                (self.w_reno, self.fast) = (NONE, 0);
            }
            return;
        }
        if self.q > self.q_max && cwnd > self.w_reno {
            let taken = (self.q / self.gamma).min(MOST * cwnd);
            let left = (Window::decreased(cwnd, taken / cwnd, &Cx { mss: 1.0, ..*cx })).max(self.w_reno);
            self.window.reduce_to(left * cx.mss, cx);
        }
        self.w_reno = if self.w_reno <= NONE {
            half(self.window.segments(cx), cx).max(NONE)
        } else {
            self.w_reno + 1.0
        };
        self.slow += 1;
    }
}

impl LossDriven for Yeah {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        if cx.counts_segments() {
            self.rtts.sample(ev); // Linux: counts for the round that the ACK ends, and that is seen after growth
            return;
        }
        let round = self.rtts.on_ack(ev);
        if let Some(round) = round.filter(|_| !ev.in_recovery && ev.cwnd_limited) {
            self.decide(&round, cx);
        }
    }

    fn on_ack_slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        let rest = self.window.slow_start(ev.acked, cx);
        if rest == 0 {
            self.look(ev, cx);
        }
        rest
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        let fast = (SCALABLE * self.window.segments(cx)).max(1.0);
        self.window.additive_increase(if self.slow > 0 { 1.0 } else { fast }, ev.acked, cx);
        self.look(ev, cx);
    }

    fn on_recovery_exit(&mut self, cx: &Cx) {
        if cx.counts_segments() {
            self.rtts.restart_round();
        }
    }

    fn on_congestion_begin(&mut self) {
        self.before = (self.fast, self.w_reno);
    }

    fn on_undo(&mut self, _reduced_cwnd: f64, _cx: &Cx) {
        (self.fast, self.w_reno) = self.before;
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        let cwnd = self.window.segments(cx);
        let taken =
            if self.slow < self.rho { self.q.max(LEAST * cwnd).min(MOST * cwnd) } else { MOST * cwnd };
        self.fast = 0;
        self.w_reno = half(self.w_reno, cx).max(NONE);
        Window::decreased(ev.window, taken / cwnd, cx)
    }

    fn on_congestion_done(&mut self, ev: &CongestionEvent, _cx: &Cx) {
        if matches!(ev.kind, Congestion::Timeout | Congestion::Collapse) {
            self.rtts.restart_round();
        }
    }

    fn on_tx_start(&mut self, ev: &TxStart, cx: &Cx) {
        if cx.counts_segments() {
            self.rtts.reset(ev.snd_nxt);
        }
    }

    fn on_restart(&mut self, _cx: &Cx) {
        self.rtts.restart_round();
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.rtts.base_rtt(), self.q, self.w_reno, self.slow as f64]);
    }
}
