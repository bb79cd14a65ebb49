//! NV, "new Vegas": the window that the highest measured rate needs without a queue, plus a few segments [Brakmo, TCP-NV:
//! Congestion Avoidance for Data Centers, Linux Plumbers Conference 2010; Linux's tcp_nv, "L"].
//!
//! ```text
//! each ACK     rtt = (rtt + its sample) / 2;  rate = bytes delivered over the sample / rtt, the highest counts        [L]
//! once a round trip   window = highest rate * min_rtt in whole segments + pad                                    [L]
//!   above, after 60 samples (30 in the first slow start) and 2 round trips
//!              no growth; ssthresh = window; cwnd -= 30 % of the excess, 2 at least; cwnd = window if that is 2 at most
//!   above, fewer samples but more than 10 round trips without a decision: no growth
//!   below window - pad_buffer, after 20 samples:  growth
//!   a decision starts count and highest rate anew
//! growth       slow start; avoidance cwnd += 1 for each window of ACKs, 2^f with f < 0: one less after each timeout, one
//!              more after 8 decisions to grow                                                                    [L]
//! loss         window to 80 %, no growth and nothing known until the next decision;  timeout: likewise, cwnd = 1 [L]
//! min_rtt      each 5 s (3.75 to 6.25 at random, the first time after 2) the smallest since the time before      [L]
//! ```
//! Windows in segments. A round trip with one sample that acknowledges three segments or more is a batch: it then grows and
//! waits two segments longer, up to 80. Meant for data centres where every flow is NV.
//! Left out: a base RTT that the network's owner sets.

use crate::Variant;
use crate::common::{LossDriven, Window};
use crate::{AckEvent, Congestion, CongestionEvent, Cx, Setup};
use dumbbell_units::param::{Kind, Params, Spec};
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time};

pub(crate) const ROW: Variant = Variant {
    name: "nv",
    title: "TCP-NV, new Vegas: the window for the highest measured rate plus a few segments, for data centres",
    year: 2010,
    source: "Brakmo, TCP-NV, Linux Plumbers Conference 2010; Linux's tcp_nv",
    on_loss: "window to 4/5; timeout: cwnd = 1 segment",
    on_delay: "with more than pad segments in the queue: 30 % of the excess less, no growth",
    on_ecn: "as to a loss, without a retransmission",
    params: &[
        Spec {
            name: "pad",
            kind: Kind::Float { min: 0.0, max: 1e6 },
            default: "10",
            doc: "segments in the queue that it allows (Linux: nv_pad)",
        },
        Spec {
            name: "pad_buffer",
            kind: Kind::Float { min: 0.0, max: 1e6 },
            default: "2",
            doc: "segments below that from which on it doesn't grow (Linux: nv_pad_buffer)",
        },
        Spec {
            name: "reset_period",
            kind: Kind::Duration,
            default: "5 s",
            doc: "mean time after which an older min_rtt is forgotten (Linux: nv_reset_period)",
        },
        Spec {
            name: "decrease",
            kind: Kind::Float { min: 0.0, max: 1.0 },
            default: "0.3",
            doc: "part of the excess that it gives up in a round trip (Linux: nv_cong_dec_mult)",
        },
        Spec {
            name: "decrease_loss",
            kind: Kind::Float { min: 0.01, max: 0.99 },
            default: "0.8",
            doc: "what is left of the window after a loss (Linux: nv_loss_dec_factor)",
        },
        Spec {
            name: "decrease_samples",
            kind: Kind::Int { min: 1, max: 255 },
            default: "60",
            doc: "samples before it decides to shrink (Linux: nv_dec_eval_min_calls)",
        },
        Spec {
            name: "increase_samples",
            kind: Kind::Int { min: 1, max: 255 },
            default: "20",
            doc: "samples before it decides to grow (Linux: nv_inc_eval_min_calls)",
        },
    ],
    columns: &["min_rtt", "rtt", "max_win", "grows"],
    build: |params, setup| Ok(Box::new(Nv::new(params, setup))),
    ..Variant::EMPTY
};

/// Samples before the first slow start ends (nv_ssthresh_eval_min_calls).
const START_SAMPLES: u64 = 30;
/// Round trips before a decision to shrink (nv_rtt_min_cnt), and without one after which it stops growing
/// (nv_stop_rtt_cnt).
const ROUNDS: (u64, u64) = (2, 10);
/// Weight of a new sample in the RTT (nv_rtt_factor).
const WEIGHT: f64 = 0.5;
/// When min_rtt is chosen for the first time, in periods.
const FIRST: f64 = 0.4;
/// Decisions to grow before f rises (nv_cwnd_growth_rate_neg), and its smallest value.
const PATIENCE: u64 = 8;
const SLOWEST: i32 = -8;
/// Segments that a batch may have, and how they change.
const BATCH: (f64, f64, f64) = (4.0, 80.0, 2.0);

/// See the top of this file.
#[derive(Clone, Debug)]
struct Nv {
    window: Window,
    first_ssthresh: f64,
    pad: f64,
    pad_buffer: f64,
    reset_period: f64,
    decrease: f64,
    decrease_loss: f64,
    decrease_samples: u64,
    increase_samples: u64,
    random: Stream,
    /// The averaged RTT, s; None after a loss.
    rtt: Option<f64>,
    /// The smallest that counts, and the smallest since it was last chosen, s.
    min_rtt: f64,
    next_min_rtt: f64,
    reset_at: Option<Time>,
    /// The highest rate since the last decision, bytes/s.
    max_rate: f64,
    /// Offset whose acknowledgment ends the round trip.
    round: u64,
    /// Samples and round trips since the last decision, decisions to grow in a row.
    samples: u64,
    rounds: u64,
    grown: u64,
    grows: bool,
    /// log2 of the segments gained in a round trip; 0 at most.
    factor: i32,
    /// Segments that a batch is thought to have.
    batch: f64,
    /// Nothing that was measured counts any more.
    reset: bool,
    max_win: f64,
}

impl Nv {
    fn new(params: &Params, setup: &Setup) -> Nv {
        Nv {
            window: Window::new(setup),
            first_ssthresh: setup.ssthresh,
            pad: params.float("pad"),
            pad_buffer: params.float("pad_buffer"),
            reset_period: params.duration("reset_period").as_secs(),
            decrease: params.float("decrease"),
            decrease_loss: params.float("decrease_loss"),
            decrease_samples: params.int("decrease_samples"),
            increase_samples: params.int("increase_samples"),
            random: Stream::new(setup.seed, "nv"),
            rtt: None,
            min_rtt: f64::INFINITY,
            next_min_rtt: f64::INFINITY,
            reset_at: None,
            max_rate: 0.0,
            round: 0,
            samples: 0,
            rounds: 0,
            grown: 0,
            grows: true,
            factor: 0,
            batch: BATCH.0,
            reset: false,
            max_win: f64::NAN,
        }
    }

    /// Takes in a round-trip time and what was delivered over it [L].
    fn sample(&mut self, rtt: f64, delivered: u64, now: Time) {
        let rtt = match self.rtt {
            Some(last) => last + WEIGHT * (rtt - last),
            None => {
                self.min_rtt = f64::INFINITY;
                rtt
            }
        };
        self.rtt = Some(rtt);
        self.max_rate = self.max_rate.max(delivered as f64 / rtt);
        self.samples += 1;
        self.min_rtt = self.min_rtt.min(rtt);
        self.next_min_rtt = self.next_min_rtt.min(rtt);
        let first = now + Dur::from_secs_f64(FIRST * self.reset_period);
        let due = *self.reset_at.get_or_insert(first);
        if now >= due {
            self.min_rtt = std::mem::replace(&mut self.next_min_rtt, f64::INFINITY);
            let spread = 0.75 + 0.5 * self.random.uniform();
            self.reset_at = Some(now + Dur::from_secs_f64(spread * self.reset_period));
            self.batch = (self.batch / 2.0).max(BATCH.0);
        }
    }

    /// What comes after a round trip [L].
    fn decide(&mut self, cx: &Cx) {
        let cwnd = self.window.segments(cx).floor();
        self.max_win = (self.max_rate * self.min_rtt / cx.mss).floor() + self.pad;
        if cwnd > self.max_win {
            if self.rounds < ROUNDS.0 {
                return;
            }
            let starting = self.window.ssthresh == self.first_ssthresh;
            if self.samples < if starting { START_SAMPLES } else { self.decrease_samples } {
                if !starting && self.rounds > ROUNDS.1 {
                    self.grows = false;
                }
                return;
            }
            self.shrink(cwnd, cx);
        } else if cwnd <= self.max_win - self.pad_buffer {
            if self.samples < self.increase_samples {
                return;
            }
            self.grows = true;
            self.grown += 1;
            if self.factor < 0 && self.grown > PATIENCE {
                (self.factor, self.grown) = (self.factor + 1, 0);
            }
        } else {
            return;
        }
        (self.samples, self.rounds, self.max_rate) = (0, 0, 0.0);
    }

    fn shrink(&mut self, cwnd: f64, cx: &Cx) {
        let least = 2.0 * cx.mss;
        self.grows = false;
        self.grown = 0;
        self.window.ssthresh = (self.max_win * cx.mss).max(least);
        let excess = cwnd - self.max_win;
        let left = if excess > 2.0 { cwnd - (self.decrease * excess).floor().max(2.0) } else { self.max_win };
        self.window.cwnd = (left * cx.mss).max(least);
    }
}

impl LossDriven for Nv {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        if ev.in_recovery || ev.in_loss {
            return;
        }
        if std::mem::take(&mut self.reset) {
            (self.rtt, self.max_rate, self.round) = (None, 0.0, ev.snd_una);
            (self.samples, self.rounds, self.grown) = (0, 0, 0);
        }
        let (Some(rtt), Some(rate)) = (ev.rtt.filter(|rtt| *rtt > Dur::ZERO), ev.rate) else { return };
        self.sample(rtt.as_secs(), rate.delivered, cx.now);
        if ev.snd_una <= self.round {
            return;
        }
        self.round = ev.snd_nxt;
        self.rounds += 1;
        let batch = ev.acked as f64 >= (self.batch - 1.0) * cx.mss;
        if self.samples == 1 && batch && self.batch <= BATCH.1 {
            self.batch += BATCH.2;
            self.round = ev.snd_nxt + (self.batch * cx.mss) as u64;
            (self.samples, self.grows) = (0, true);
            return;
        }
        self.decide(cx);
    }

    fn on_ack_slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        if self.grows { self.window.slow_start(ev.acked, cx) } else { 0 }
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        if self.grows {
            // Not faster than a segment for every four acknowledged.
            let segments = libm::exp2(f64::from(self.factor)).min(self.window.segments(cx) / 4.0);
            self.window.additive_increase(segments, ev.acked, cx);
        }
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        // Linux has it in whole 1024ths.
        let part = self.decrease_loss;
        (if cx.counts_segments() { (1024.0 * part).floor() / 1024.0 } else { part }) * ev.window
    }

    fn on_congestion_done(&mut self, ev: &CongestionEvent, _cx: &Cx) {
        (self.reset, self.grows) = (true, false);
        if ev.kind == Congestion::Timeout {
            self.factor = (self.factor - 1).max(SLOWEST);
        }
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let min_rtt = if self.min_rtt.is_finite() { self.min_rtt } else { f64::NAN };
        let grows = if self.grows { 1.0 } else { 0.0 };
        row.extend([min_rtt, self.rtt.unwrap_or(f64::NAN), self.max_win, grows]);
    }
}
