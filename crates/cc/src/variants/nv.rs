//! TCP-NV, "new Vegas": the window holds the data that the highest measured rate needs without a queue, plus a few
//! segments.
//!
//! Sources: Brakmo, TCP-NV: Congestion Avoidance for Data Centers, Linux Plumbers Conference 2010; details and names:
//! Linux 6.12 [Linux net/ipv4/tcp_nv.c tcpnv_acked] ("L").
//!
//! ```text
//! each ACK     rtt = (rtt + its sample) / 2;  rate = bytes delivered over the sample / rtt, the maximum counts [L
//!              tcpnv_acked]
//! once per round trip   max_win = maximum rate * min_rtt in whole segments + pad                       [L tcpnv_acked]
//!   cwnd > max_win, after 60 samples (30 in the first slow start) and 2 round trips:
//!              no growth; ssthresh = max_win; cwnd -= 30 % of the excess, at least 2; an excess up to 2: cwnd =
//!              max_win
//!   cwnd > max_win, fewer samples but more than 10 round trips without a decision: no growth
//!   cwnd <= max_win - pad_buffer, after 20 samples:  growth
//!   a decision restarts the counters and the maximum rate
//! growth       slow start; avoidance cwnd += 1 for each window of ACKs, or 2^f with cwnd_growth_factor f < 0: one less
//!              after each timeout, one more after 8 decisions to grow              [L tcpnv_cong_avoid, tcpnv_state]
//! loss         window to 80 %, no growth and no measurements until the next decision;  timeout: the same, cwnd = 1
//!                                                                                    [L tcpnv_recalc_ssthresh]
//! min_rtt      every 5 s (3.75 to 6.25 s at random, the first time after 2 s) the minimum since the last time
//! ```
//! Windows in segments. If the only sample of a round trip acknowledges three segments or more, ACKs arrive in batches:
//! then it grows, and waits two segments longer for the next decision (nv_min_cwnd), up to 80. NV is meant for data
//! centers in which every flow uses it. Left out: a base RTT that the operator sets [Linux tcp_nv.c tcpnv_init].

use crate::Variant;
use crate::common::{LossDriven, Window};
use crate::{AckEvent, Congestion, CongestionEvent, Cx, Setup};
use dumbbell_units::param::{Kind, Params, specs};
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time};

pub(crate) const ROW: Variant = Variant {
    name: "nv",
    title: "TCP-NV, new Vegas: the window for the highest measured rate plus a few segments, for data centers",
    year: 2010,
    source: "Brakmo, TCP-NV, Linux Plumbers Conference 2010; Linux tcp_nv.c",
    on_loss: "window to 4/5; timeout: cwnd = 1 segment",
    on_delay: "with more than pad segments in the queue: window reduced by 30 % of the excess, no growth",
    on_ecn: "as to a loss, without a retransmission",
    params: specs! {
        /// segments in the queue that are allowed [Linux tcp_nv.c nv_pad]
        pad = "10", Kind::Float { min: 0.0, max: 1e6 };
        /// the window doesn't grow within this many segments of the limit [Linux tcp_nv.c nv_pad_buffer]
        pad_buffer = "2", Kind::Float { min: 0.0, max: 1e6 };
        /// mean time after which min_rtt is replaced [Linux tcp_nv.c nv_reset_period]
        reset_period = "5 s", Kind::Duration;
        /// decrease of the window in a round trip, as a part of the excess [Linux tcp_nv.c nv_cong_dec_mult]
        decrease = "0.3", Kind::Float { min: 0.0, max: 1.0 };
        /// factor of the window after a loss [Linux tcp_nv.c nv_loss_dec_factor]
        decrease_loss = "0.8", Kind::Float { min: 0.01, max: 0.99 };
        /// samples before a decision to shrink [Linux tcp_nv.c nv_dec_eval_min_calls]
        decrease_samples = "60", Kind::Int { min: 1, max: 255 };
        /// samples before a decision to grow [Linux tcp_nv.c nv_inc_eval_min_calls]
        increase_samples = "20", Kind::Int { min: 1, max: 255 };
    },
    columns: &["min_rtt", "rtt", "max_win", "grows"],
    random: true,
    build: |params, setup| Ok(Box::new(Nv::new(params, setup))),
    ..Variant::EMPTY
};

/// Samples before the first slow start ends [Linux tcp_nv.c nv_ssthresh_eval_min_calls].
const SSTHRESH_EVAL_MIN_CALLS: u64 = 30;
/// Round trips before a decision to shrink [Linux tcp_nv.c nv_rtt_min_cnt].
const RTT_MIN_CNT: u64 = 2;
/// Round trips without a decision after which growth stops [Linux tcp_nv.c nv_stop_rtt_cnt].
const STOP_RTT_CNT: u64 = 10;
/// The weight of a new sample in the RTT [Linux tcp_nv.c nv_rtt_factor].
const RTT_FACTOR: f64 = 0.5;
/// The first reset of min_rtt, in periods: 2 s [Linux tcp_nv.c tcpnv_init].
const FIRST_RESET: f64 = 0.4;
/// Decisions to grow before cwnd_growth_factor rises [Linux tcp_nv.c nv_cwnd_growth_rate_neg].
const CWND_GROWTH_RATE_NEG: u64 = 8;
/// The smallest cwnd_growth_factor [Linux tcp_nv.c tcpnv_state].
const MIN_GROWTH_FACTOR: i32 = -8;
/// The smallest nv_min_cwnd, segments [Linux tcp_nv.c NV_MIN_CWND].
const MIN_CWND: f64 = 4.0;
/// The increase of nv_min_cwnd, segments [Linux tcp_nv.c NV_MIN_CWND_GROW].
const MIN_CWND_GROW: f64 = 2.0;
/// The largest nv_min_cwnd that still grows, segments [Linux tcp_nv.c NV_TSO_CWND_BOUND].
const TSO_CWND_BOUND: f64 = 80.0;

/// The state of NV (struct tcpnv).
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
    /// nv_last_rtt, the averaged RTT, s; None after a loss.
    last_rtt: Option<f64>,
    /// The minimum RTT in use, and the minimum since it was last replaced (nv_min_rtt_new), s.
    min_rtt: f64,
    min_rtt_new: f64,
    /// When min_rtt is replaced.
    min_rtt_reset: Option<Time>,
    /// nv_rtt_max_rate, the maximum rate since the last decision, bytes/s.
    rtt_max_rate: f64,
    /// An ACK beyond this offset ends the round trip.
    rtt_start_seq: u64,
    /// SND.UNA at the last ACK with a sample (nv_last_snd_una).
    last_snd_una: u64,
    /// Samples since the last decision.
    eval_call_cnt: u64,
    /// Round trips since the last decision.
    rtt_cnt: u64,
    /// Consecutive decisions to grow.
    no_cong_cnt: u64,
    allow_cwnd_growth: bool,
    /// log2 of the growth in segments per round trip; at most 0.
    cwnd_growth_factor: i32,
    /// nv_min_cwnd, the estimated size of a batch, segments.
    min_cwnd: f64,
    /// True until the measurements are restarted after congestion.
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
            last_rtt: None,
            min_rtt: f64::INFINITY,
            min_rtt_new: f64::INFINITY,
            min_rtt_reset: None,
            rtt_max_rate: 0.0,
            rtt_start_seq: 0,
            last_snd_una: 0,
            eval_call_cnt: 0,
            rtt_cnt: 0,
            no_cong_cnt: 0,
            allow_cwnd_growth: true,
            cwnd_growth_factor: 0,
            min_cwnd: MIN_CWND,
            reset: false,
            max_win: f64::NAN,
        }
    }

    /// Returns the first time at which min_rtt is replaced, for a connection that begins at `now` [Linux tcp_nv.c
    /// tcpnv_init].
    fn first_reset(&self, now: Time) -> Time {
        now + Dur::from_secs_f64(FIRST_RESET * self.reset_period)
    }

    /// Takes an RTT sample and the bytes delivered over it [Linux tcp_nv.c tcpnv_acked].
    fn sample(&mut self, rtt: f64, delivered: u64, now: Time) {
        let rtt = match self.last_rtt {
            Some(last_rtt) => last_rtt + RTT_FACTOR * (rtt - last_rtt),
            None => {
                self.min_rtt = f64::INFINITY;
                rtt
            }
        };
        self.last_rtt = Some(rtt);
        self.rtt_max_rate = self.rtt_max_rate.max(delivered as f64 / rtt);
        self.eval_call_cnt += 1;
        self.min_rtt = self.min_rtt.min(rtt);
        self.min_rtt_new = self.min_rtt_new.min(rtt);
        let due = *self.min_rtt_reset.get_or_insert(self.first_reset(now));
        if now >= due {
            self.min_rtt = std::mem::replace(&mut self.min_rtt_new, f64::INFINITY);
            let spread = 0.75 + 0.5 * self.random.uniform();
            self.min_rtt_reset = Some(now + Dur::from_secs_f64(spread * self.reset_period));
            self.min_cwnd = (self.min_cwnd / 2.0).max(MIN_CWND);
        }
    }

    /// Decides after a round trip [Linux tcp_nv.c tcpnv_acked].
    fn decide(&mut self, cx: &Cx) {
        let cwnd = self.window.segments(cx).floor();
        self.max_win = (self.rtt_max_rate * self.min_rtt / cx.mss).floor() + self.pad;
        if cwnd > self.max_win {
            if self.rtt_cnt < RTT_MIN_CNT {
                return;
            }
            let first_slow_start = self.window.ssthresh == self.first_ssthresh;
            if self.eval_call_cnt < if first_slow_start { SSTHRESH_EVAL_MIN_CALLS } else { self.decrease_samples } {
                if !first_slow_start && self.rtt_cnt > STOP_RTT_CNT {
                    self.allow_cwnd_growth = false;
                }
                return;
            }
            self.shrink(cwnd, cx);
        } else if cwnd <= self.max_win - self.pad_buffer {
            if self.eval_call_cnt < self.increase_samples {
                return;
            }
            self.allow_cwnd_growth = true;
            self.no_cong_cnt += 1;
            if self.cwnd_growth_factor < 0 && self.no_cong_cnt > CWND_GROWTH_RATE_NEG {
                (self.cwnd_growth_factor, self.no_cong_cnt) = (self.cwnd_growth_factor + 1, 0);
            }
        } else {
            return;
        }
        (self.eval_call_cnt, self.rtt_cnt, self.rtt_max_rate) = (0, 0, 0.0);
        // After a decision, also one to grow [Linux tcp_nv.c tcpnv_acked: nv_min_cwnd].
        self.window.cwnd = self.window.cwnd.max(2.0 * cx.mss);
    }

    /// Reduces the window towards max_win.
    fn shrink(&mut self, cwnd: f64, cx: &Cx) {
        self.allow_cwnd_growth = false;
        self.no_cong_cnt = 0;
        self.window.ssthresh = (self.max_win * cx.mss).max(2.0 * cx.mss);
        let excess = cwnd - self.max_win;
        let decrease = in_units(self.decrease, 128.0, cx);
        let left = if excess > 2.0 { cwnd - (decrease * excess).floor().max(2.0) } else { self.max_win };
        self.window.cwnd = left * cx.mss;
    }
}

/// Returns a factor as Linux computes with it, in whole `units` [Linux tcp_nv.c tcpnv_acked, tcpnv_recalc_ssthresh];
/// itself on a stack that doesn't count segments.
fn in_units(factor: f64, units: f64, cx: &Cx) -> f64 {
    if cx.counts_segments() { (units * factor).floor() / units } else { factor }
}

impl LossDriven for Nv {
    fn window(&self) -> &Window {
        &self.window
    }

    fn wants_one_way(&self) -> bool {
        false
    }

    fn wants_rates(&self) -> bool {
        true
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_established(&mut self, _rtt: Option<Dur>, cx: &Cx) {
        self.min_rtt_reset = Some(self.first_reset(cx.now));
    }

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        if ev.in_recovery || ev.in_loss {
            return;
        }
        // The ACK that ends the recovery gives no sample: the state is Open after it [Linux tcp_nv.c tcpnv_state].
        if std::mem::take(&mut self.reset) {
            (self.last_rtt, self.rtt_max_rate) = (None, 0.0);
            (self.rtt_start_seq, self.last_snd_una) = (ev.snd_una, ev.snd_una);
            (self.eval_call_cnt, self.rtt_cnt, self.no_cong_cnt) = (0, 0, 0);
            return;
        }
        let Some(rtt) = ev.rtt.filter(|rtt| *rtt > Dur::ZERO) else { return };
        let bytes_acked = ev.snd_una - std::mem::replace(&mut self.last_snd_una, ev.snd_una);
        let Some(rate) = ev.rate else { return };
        self.sample(rtt.as_secs(), rate.delivered, cx.now);
        if ev.snd_una <= self.rtt_start_seq {
            return;
        }
        self.rtt_start_seq = ev.snd_nxt;
        self.rtt_cnt += 1;
        let batch = bytes_acked as f64 >= (self.min_cwnd - 1.0) * cx.mss;
        if self.eval_call_cnt == 1 && batch && self.min_cwnd <= TSO_CWND_BOUND {
            self.min_cwnd += MIN_CWND_GROW;
            self.rtt_start_seq = ev.snd_nxt + (self.min_cwnd * cx.mss) as u64;
            (self.eval_call_cnt, self.allow_cwnd_growth) = (0, true);
            return;
        }
        self.decide(cx);
    }

    fn on_ack_slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        if self.allow_cwnd_growth { self.window.slow_start(ev.acked, cx) } else { 0 }
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        if self.allow_cwnd_growth {
            // Without a timeout at most a segment for every four acknowledged [Linux tcp_nv.c tcpnv_cong_avoid].
            let segments = libm::exp2(f64::from(self.cwnd_growth_factor));
            let most = if self.cwnd_growth_factor < 0 { segments } else { self.window.segments(cx) / 4.0 };
            self.window.additive_increase(segments.min(most), ev.acked, cx);
        }
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        in_units(self.decrease_loss, 1024.0, cx) * ev.window // [Linux tcp_nv.c tcpnv_recalc_ssthresh]
    }

    fn on_congestion_done(&mut self, ev: &CongestionEvent, _cx: &Cx) {
        (self.reset, self.allow_cwnd_growth) = (true, false);
        if ev.kind == Congestion::Timeout {
            self.cwnd_growth_factor = (self.cwnd_growth_factor - 1).max(MIN_GROWTH_FACTOR);
        }
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let min_rtt = if self.min_rtt.is_finite() { self.min_rtt } else { f64::NAN };
        let growth = if self.allow_cwnd_growth { 1.0 } else { 0.0 };
        row.extend([min_rtt, self.last_rtt.unwrap_or(f64::NAN), self.max_win, growth]);
    }
}
